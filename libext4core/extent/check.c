/*
 * check.c - is this node a node: the validity rules of format/extents.md.
 *
 * Owns:    buf_kind_extent: what is verified once a block is in memory (a rule of the block alone), and its checksum.
 * Locks:   none; bytes of a held buf do not change.
 * Always:  nobody decodes a node before both halves are passed: the block's own rules, and extent_check_place() for those that need its
 *          parent and the volume. Depth falls by one at each step down, which bounds every walk: a cycle cannot be closed.
 */
#include "base/math.h"
#include "extent/extent_impl.h"
#include "format/csum.h"

#include <stddef.h>

/* Whose node is being checked, for reports. */
struct subject {
	struct env *env;
	inum_t ino;
	pblk_t pblk;
};

static int check_header(const struct subject *s, const struct disk_extent_header *h,
	uint32_t capacity, uint32_t depth_max)
{
	uint32_t entries = le16_get(h->entries);
	uint32_t max = le16_get(h->max);
	uint32_t depth = le16_get(h->depth);

	if (le16_get(h->magic) != EXTENT_MAGIC)
		return fail(s->env, E4_WHY_EXTENT_MAGIC, .ino = s->ino, .block = s->pblk,
			.found = le16_get(h->magic), .expected = EXTENT_MAGIC);
	if (depth > depth_max)
		return fail(s->env, E4_WHY_EXTENT_DEPTH, .ino = s->ino, .block = s->pblk,
			.found = depth, .expected = depth_max);
	if (max == 0 || max > capacity)
		return fail(s->env, E4_WHY_EXTENT_MAX, .ino = s->ino, .block = s->pblk,
			.found = max, .expected = capacity);
	if (entries > max)
		return fail(s->env, E4_WHY_EXTENT_ENTRIES, .ino = s->ino, .block = s->pblk,
			.found = entries, .expected = max);
	/* An empty leaf is what a removal may leave for a moment; an index over nothing is not. */
	if (entries == 0 && depth > 0)
		return fail(s->env, E4_WHY_EXTENT_EMPTY_INDEX, .ino = s->ino, .block = s->pblk);
	return 0;
}

/* Ends are 64-bit: one that passes 2^32-1 is found, not wrapped. */
static int check_leaf(const struct subject *s, const struct disk_extent_header *h)
{
	const struct disk_extent *e = extent_entries(h);
	uint64_t free_from = 0;

	for (uint32_t i = 0; i < le16_get(h->entries); i++) {
		lblk_t lblk = le32_get(e[i].block);
		uint32_t len = disk_extent_len(&e[i]);

		if (len == 0)
			return fail(s->env, E4_WHY_EXTENT_LEN, .ino = s->ino, .block = s->pblk,
				.found = i);
		if (lblk < free_from)
			return fail(s->env, E4_WHY_EXTENT_ORDER, .ino = s->ino, .block = s->pblk,
				.found = lblk, .expected = free_from);
		free_from = (uint64_t)lblk + len;
		if (free_from > (uint64_t)LBLK_MAX + 1)
			return fail(s->env, E4_WHY_EXTENT_WRAP, .ino = s->ino, .block = s->pblk,
				.found = free_from, .expected = (uint64_t)LBLK_MAX + 1);
	}
	return 0;
}

static int check_index(const struct subject *s, const struct disk_extent_header *h)
{
	const struct disk_extent_idx *x = extent_indexes(h);
	uint64_t next_min = 0;

	for (uint32_t i = 0; i < le16_get(h->entries); i++) {
		lblk_t lblk = le32_get(x[i].block);

		if (lblk < next_min || lblk > LBLK_MAX)
			return fail(s->env, E4_WHY_EXTENT_INDEX_ORDER, .ino = s->ino,
				.block = s->pblk, .found = lblk, .expected = next_min);
		next_min = (uint64_t)lblk + 1;
	}
	return 0;
}

static int check_structure(const struct subject *s, const struct disk_extent_header *h,
	uint32_t capacity, uint32_t depth_max)
{
	int r = check_header(s, h, capacity, depth_max);

	if (r < 0)
		return r;
	return le16_get(h->depth) == 0 ? check_leaf(s, h) : check_index(s, h);
}

int extent_check_root(struct inode *ip)
{
	struct subject s = {.env = ip->vol->env, .ino = ip->ino};

	return check_structure(&s, extent_root_header(ip), EXTENT_ROOT_ENTRIES, EXTENT_DEPTH_MAX);
}

static int node_verify(const struct buf_owner *o, const void *data)
{
	struct subject s = {.env = o->env, .ino = o->ino, .pblk = o->pblk};

	return check_structure(&s, data, extent_block_capacity(o->block_size), EXTENT_DEPTH_MAX - 1);
}

/* Bytes that the checksum covers, which stands right behind them; 0 when the header's word for it is out of range. */
static uint32_t covered_bytes(const struct buf_owner *o, const void *data)
{
	const struct disk_extent_header *h = data;
	uint32_t max = le16_get(h->max);

	if (max > extent_block_capacity(o->block_size))
		return 0;
	return (uint32_t)(sizeof(*h) + max * sizeof(struct disk_extent));
}

static bool node_csum_ok(const struct buf_owner *o, const void *data)
{
	uint32_t len = covered_bytes(o, data);

	/* A header that does not even say where its checksum is has none: the structure's check names the rule. */
	return len == 0 || csum_run(o->seed, data, len) == le32_at((const uint8_t *)data + len);
}

static void node_seal(const struct buf_owner *o, void *data)
{
	uint32_t len = covered_bytes(o, data);

	*(struct le32 *)(void *)((uint8_t *)data + len) = le32_put(csum_run(o->seed, data, len));
}

const struct buf_kind buf_kind_extent = {
	.name = "extent node",
	.verify = node_verify,
	.csum_ok = node_csum_ok,
	.seal = node_seal,
};

/* First and last of what the node covers lie where its parent says. h is structurally right and not empty. */
static int check_range(
	struct inode *ip, const struct disk_extent_header *h, const struct extent_place *place)
{
	struct env *env = ip->vol->env;
	uint32_t last = le16_get(h->entries) - 1u;
	const struct disk_extent *e = extent_entries(h);
	/* Keys stand at the same place in both kinds of entry. */
	lblk_t first = le32_get(e[0].block);
	uint64_t end = (uint64_t)le32_get(e[last].block) +
		       (place->depth == 0 ? disk_extent_len(&e[last]) : 1);

	if (place->pblk != 0 && first != place->first)
		return fail(env, E4_WHY_EXTENT_FIRST_KEY, .ino = ip->ino, .block = place->pblk,
			.found = first, .expected = place->first);
	if (end > place->end)
		return fail(env, E4_WHY_EXTENT_BEYOND_NEXT, .ino = ip->ino, .block = place->pblk,
			.found = end, .expected = place->end);
	return 0;
}

int extent_check_place(
	struct inode *ip, const struct disk_extent_header *h, const struct extent_place *place)
{
	uint32_t depth = le16_get(h->depth);
	uint32_t entries = le16_get(h->entries);
	int r;

	if (depth != place->depth)
		return fail(ip->vol->env, E4_WHY_EXTENT_DEPTH_STEP, .ino = ip->ino,
			.block = place->pblk, .found = depth, .expected = place->depth);
	if (entries == 0)
		return 0;
	r = check_range(ip, h, place);
	for (uint32_t i = 0; r == 0 && i < entries; i++) {
		if (depth == 0)
			r = volume_check_mapping(ip->vol, ip->ino,
				disk_extent_pblk(&extent_entries(h)[i]),
				disk_extent_len(&extent_entries(h)[i]));
		else
			r = volume_check_mapping(
				ip->vol, ip->ino, disk_extent_idx_pblk(&extent_indexes(h)[i]), 1);
	}
	return r;
}
