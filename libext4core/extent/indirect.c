/*
 * indirect.c - the block map of ext2 and ext3: twelve direct pointers, then blocks of pointers, one, two and three deep.
 *
 * Owns:    buf_kind_indirect (plain bytes: such blocks have neither header nor checksum), the arithmetic of the map.
 * Locks:   none.
 * Always:  ends are 64-bit and cut at 2^32-1, the limit of logical blocks: with blocks of 64 KiB a triple map could name 2^42. Every
 *          pointer is checked against the volume before it is followed or handed out. A piece is never empty.
 */
#include "base/math.h"
#include "extent/extent_impl.h"

#include <errno.h>
#include <stddef.h>

#define DIRECT_COUNT 12u

const struct buf_kind buf_kind_indirect = {.name = "indirect block"};

static uint32_t pointer_bits(const struct inode *ip)
{
	return ip->vol->block_bits - 2;
}

/* Logical blocks under one pointer of a block at `depth` (0: the pointers name data). */
static uint64_t pointer_span(const struct inode *ip, uint32_t depth)
{
	return UINT64_C(1) << (pointer_bits(ip) * depth);
}

lblk_t indirect_root_key(const struct inode *ip, uint32_t index)
{
	uint64_t key = index == 0 ? 0 : DIRECT_COUNT;

	for (uint32_t depth = 1; depth < index; depth++)
		key += pointer_span(ip, depth);
	return (lblk_t)key; /* at most 12 + 2^14 + 2^28 */
}

pblk_t indirect_root_pblk(const struct inode *ip, uint32_t index)
{
	const struct le32 *pointers = (const struct le32 *)(const void *)ip->block;

	return index == 0 ? EXTENT_PBLK_DIRECT : le32_get(pointers[DIRECT_COUNT + index - 1]);
}

/* Pointers that become one entry of the decoded node. */
struct piece {
	uint32_t index, count; /* pointers */
	pblk_t pblk;           /* 0 = hole */
};

/* The piece that begins at pointer `index` < count: a hole of any length, one child, or a run of data. */
static struct piece piece_at(
	const struct le32 *pointers, uint32_t index, uint32_t count, uint8_t depth)
{
	struct piece p = {.index = index, .count = 1, .pblk = le32_get(pointers[index])};

	if (depth > 0 && p.pblk != 0)
		return p;
	while (index + p.count < count && p.count < EXTENT_LEN_MAX) {
		pblk_t next = le32_get(pointers[index + p.count]);

		if (next != (p.pblk == 0 ? 0 : p.pblk + p.count))
			break;
		p.count++;
	}
	return p;
}

/* Pointers that name logical blocks below the limit. */
static uint32_t usable_pointers(
	const struct inode *ip, const struct extent_place *place, uint32_t count)
{
	uint64_t end = min_u64(place->end, (uint64_t)LBLK_MAX + 1);
	uint64_t most = div_up_u64(end - place->first, pointer_span(ip, place->depth));

	return (uint32_t)min_u64(count, most);
}

/* Counts the entries that pass 2 makes, and checks each pointer. */
static int count_entries(struct inode *ip, const struct extent_place *place,
	const struct le32 *pointers, uint32_t count, uint32_t *ret)
{
	uint32_t entries = 0;
	struct piece p;

	for (uint32_t i = 0; i < count; i += p.count) {
		p = piece_at(pointers, i, count, place->depth);
		if (p.pblk != 0) {
			int r = volume_check_mapping(ip->vol, ip->ino, p.pblk, p.count);

			if (r < 0)
				return r;
		}
		entries += p.pblk != 0 || place->depth > 0;
	}
	*ret = entries;
	return 0;
}

int indirect_decode(struct inode *ip, const struct extent_place *place, const struct le32 *pointers,
	uint32_t count, struct es_node **ret)
{
	uint64_t span = pointer_span(ip, place->depth);
	uint32_t entries;
	struct piece p;

	count = usable_pointers(ip, place, count);
	int r = count_entries(ip, place, pointers, count, &entries);
	if (r < 0)
		return r;
	/* What lies behind the last pointer of a map, up to the end of all files, is a hole too. */
	uint64_t covered_end = place->first + span * count;
	bool tail = place->depth > 0 && covered_end < min_u64(place->end, (uint64_t)LBLK_MAX + 1);
	struct es_node *n = node_new(
		ip->vol->env, entries + tail, place->depth, place->first, place->end);
	if (n == NULL)
		return -ENOMEM;
	entries = 0;
	for (uint32_t i = 0; i < count; i += p.count) {
		lblk_t key = (lblk_t)(place->first + span * i);

		p = piece_at(pointers, i, count, place->depth);
		if (place->depth > 0)
			node_set(n, entries++, key, p.pblk);
		else if (p.pblk != 0)
			node_set(n, entries++, key, es_run(p.pblk, (uint16_t)p.count));
	}
	if (tail)
		node_set(n, entries++, (lblk_t)covered_end, NODE_HOLE);
	node_finish(n);
	*ret = n;
	return 0;
}
