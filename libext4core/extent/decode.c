/*
 * decode.c - from blocks of the volume to decoded nodes: reads, has them checked, packs them.
 *
 * Locks:   none; called without any, as it waits for I/O.
 * Always:  what comes out was checked as a whole. A caller that meets an error has no node.
 */
#include "base/assert.h"
#include "extent/extent_impl.h"

#include <errno.h>
#include <stddef.h>

#define DIRECT_COUNT 12u
#define INDIRECT_DEPTH                                                                             \
	3u /* of the root of an indirect map: its children are as deep as their index says */
#define INDIRECT_ROOTS 4u /* direct, single, double, triple */

static const struct le32 *inode_pointers(const struct inode *ip)
{
	return (const struct le32 *)(const void *)ip->block;
}

/* h passed both checks. */
static int decode_tree(struct inode *ip, const struct disk_extent_header *h,
	const struct extent_place *place, struct es_node **ret)
{
	uint32_t entries = le16_get(h->entries);
	struct es_node *n = node_new(ip->vol->env, entries, place->depth, place->first, place->end);

	if (n == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < entries; i++) {
		const struct disk_extent *e = &extent_entries(h)[i];
		const struct disk_extent_idx *x = &extent_indexes(h)[i];

		if (place->depth == 0)
			node_set(n, i, le32_get(e->block),
				es_run(disk_extent_pblk(e), le16_get(e->len)));
		else
			node_set(n, i, le32_get(x->block), disk_extent_idx_pblk(x));
	}
	node_finish(n);
	*ret = n;
	return 0;
}

static int decode_tree_root(struct inode *ip, struct es_node **ret)
{
	const struct disk_extent_header *h = extent_root_header(ip);
	int r = extent_check_root(ip);

	if (r < 0)
		return r;
	struct extent_place place = {.depth = (uint8_t)le16_get(h->depth), .end = EXTENT_END};
	r = extent_check_place(ip, h, &place);
	return r < 0 ? r : decode_tree(ip, h, &place, ret);
}

/* The twelve direct pointers; they reach to the single indirect block's range, or to the end where there is none at all. */
static int decode_direct(struct inode *ip, uint64_t end, struct es_node **ret)
{
	struct extent_place place = {.pblk = EXTENT_PBLK_DIRECT, .end = end};

	return indirect_decode(ip, &place, inode_pointers(ip), DIRECT_COUNT, ret);
}

static bool has_indirect_blocks(const struct inode *ip)
{
	for (uint32_t i = 1; i < INDIRECT_ROOTS; i++) {
		if (indirect_root_pblk(ip, i) != 0)
			return true;
	}
	return false;
}

static int decode_indirect_root(struct inode *ip, struct es_node **ret)
{
	for (uint32_t i = 1; i < INDIRECT_ROOTS; i++) {
		pblk_t pblk = indirect_root_pblk(ip, i);
		int r = pblk == 0 ? 0 : volume_check_mapping(ip->vol, ip->ino, pblk, 1);

		if (r < 0)
			return r;
	}
	struct es_node *n = node_new(ip->vol->env, INDIRECT_ROOTS, INDIRECT_DEPTH, 0, EXTENT_END);
	if (n == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < INDIRECT_ROOTS; i++)
		node_set(n, i, indirect_root_key(ip, i), indirect_root_pblk(ip, i));
	node_finish(n);
	*ret = n;
	return 0;
}

static bool has_map(const struct inode *ip)
{
	if (ip->flags & INODE_FL_INLINE_DATA)
		return false;
	/* Mode 0 is the list of bad blocks. */
	return inode_is(ip, INODE_REG) || inode_is(ip, INODE_DIR) ||
	       (ip->mode & INODE_TYPE_MASK) == 0 ||
	       (inode_is(ip, INODE_LNK) && !inode_is_fast_symlink(ip));
}

/* An indirect map without indirect blocks is a leaf where its runs fit the inode. */
static int decode_pointers(struct inode *ip, struct es_node **ret)
{
	if (has_indirect_blocks(ip))
		return decode_indirect_root(ip, ret);
	int r = decode_direct(ip, EXTENT_END, ret);
	if (r < 0 || (*ret)->count <= EXTENT_ROOT_ENTRIES)
		return r;
	node_free(ip->vol->env, *ret);
	return decode_indirect_root(ip, ret);
}

int extent_decode_root(struct inode *ip, enum es_kind *ret_kind, struct es_node **ret_root)
{
	if (!has_map(ip)) {
		*ret_kind = ES_INLINE;
		*ret_root = NULL;
		return 0;
	}
	int r = extent_is_tree(ip) ? decode_tree_root(ip, ret_root) : decode_pointers(ip, ret_root);
	if (r < 0)
		return r;
	*ret_kind = (*ret_root)->depth == 0 ? ES_LEAF : ES_TREE;
	return 0;
}

static int read_tree_node(struct inode *ip, const struct extent_place *place, struct es_node **ret)
{
	struct buf *b;
	int r = buf_get(ip->vol->bufs, place->pblk, &buf_kind_extent, ip->ino, ip->csum_seed, &b);

	if (r < 0)
		return r;
	const struct disk_extent_header *h = (const struct disk_extent_header *)(const void *)b->data;
	r = extent_check_place(ip, h, place);
	if (r == 0)
		r = decode_tree(ip, h, place, ret);
	buf_put(b);
	return r;
}

static int read_indirect_block(
	struct inode *ip, const struct extent_place *place, struct es_node **ret)
{
	struct buf *b;
	int r = buf_get(ip->vol->bufs, place->pblk, &buf_kind_indirect, ip->ino, ip->csum_seed, &b);

	if (r < 0)
		return r;
	r = indirect_decode(ip, place, (const struct le32 *)(const void *)b->data,
		ip->vol->block_size / 4, ret);
	buf_put(b);
	return r;
}

int extent_read_node(struct inode *ip, const struct extent_place *place, struct es_node **ret)
{
	if (extent_is_tree(ip))
		return read_tree_node(ip, place, ret);
	if (place->pblk == EXTENT_PBLK_DIRECT)
		return decode_direct(ip, place->end, ret);
	return read_indirect_block(ip, place, ret);
}

uint8_t extent_child_depth(const struct inode *ip, uint8_t depth, uint32_t index)
{
	E4_ASSERT(depth > 0);
	if (!extent_is_tree(ip) && depth == INDIRECT_DEPTH)
		return (uint8_t)(index == 0 ? 0 : index - 1);
	return (uint8_t)(depth - 1);
}

struct extent_place extent_child_place(
	const struct inode *ip, const struct es_node *n, uint32_t index)
{
	return (struct extent_place){
		.pblk = node_values(n)[index],
		.depth = extent_child_depth(ip, n->depth, index),
		.first = node_key(n, index),
		.end = index + 1u < n->count ? node_key(n, index + 1) : n->end,
	};
}
