/*
 * extent_impl.h - what the files of the extent room tell each other.
 */
#ifndef EXTENT_EXTENT_IMPL_H
#define EXTENT_EXTENT_IMPL_H

#include "extent/extent.h"
#include "extent/node.h"

#define EXTENT_END UINT64_C(0x100000000) /* behind the last logical block */

/* Where a node hangs: what its parent says about it. */
struct extent_place {
	pblk_t pblk;   /* 0 = the root, inside the inode; EXTENT_PBLK_DIRECT */
	uint8_t depth; /* that it must have */
	lblk_t first;  /* its first key, or first block of an indirect block */
	uint64_t end;  /* the parent's next key, or the parent's own end */
};

/* Stands for the twelve direct pointers of an inode where a child's block is named; no block of 48 bits. */
#define EXTENT_PBLK_DIRECT (UINT64_C(1) << 48)

static inline bool extent_is_tree(const struct inode *ip)
{
	return (ip->flags & INODE_FL_EXTENTS) != 0;
}

static inline const struct disk_extent_header *extent_root_header(const struct inode *ip)
{
	return (const struct disk_extent_header *)(const void *)ip->block;
}

/* Entries follow the header. */
static inline const struct disk_extent *extent_entries(const struct disk_extent_header *h)
{
	return (const struct disk_extent *)(const void *)(h + 1);
}

static inline const struct disk_extent_idx *extent_indexes(const struct disk_extent_header *h)
{
	return (const struct disk_extent_idx *)(const void *)(h + 1);
}

/* --- check.c --- */

/* Structure of the root in the inode: header, order, lengths. Blocks are verified through buf_kind_extent. */
int extent_check_root(struct inode *ip) E4_MUST_CHECK;
/* What only the parent and the volume know: depth, first key, end, and that every block named may be this inode's. */
int extent_check_place(struct inode *ip, const struct disk_extent_header *h,
	const struct extent_place *place) E4_MUST_CHECK;

/* --- indirect.c --- */

/* Where child `index` (0 direct, 1 to 3 single to triple) of an indirect map begins, and its place. */
lblk_t indirect_root_key(const struct inode *ip, uint32_t index);
pblk_t indirect_root_pblk(const struct inode *ip, uint32_t index);
/* A decoded node from pointers: checked, coalesced into runs (depth 0) or children and holes. */
int indirect_decode(struct inode *ip, const struct extent_place *place, const struct le32 *pointers,
	uint32_t count, struct es_node **ret) E4_MUST_CHECK;

/* --- decode.c --- */

/* What the inode has for a map: ES_LEAF (with *ret_leaf, not published), ES_TREE or ES_INLINE. The root is checked. */
int extent_decode_root(
	struct inode *ip, enum es_kind *ret_kind, struct es_node **ret_root) E4_MUST_CHECK;
/* Reads, checks and decodes the node at `place`. The caller owns it. */
int extent_read_node(
	struct inode *ip, const struct extent_place *place, struct es_node **ret) E4_MUST_CHECK;
/* How deep child `index` of a node of `depth` must be, and its place. */
uint8_t extent_child_depth(const struct inode *ip, uint8_t depth, uint32_t index);
struct extent_place extent_child_place(
	const struct inode *ip, const struct es_node *n, uint32_t index);

#endif
