/*
 * extent.h - the face of the extent room: from logical to physical blocks, for extent trees and indirect maps alike.
 *
 * The unit of caching is the whole leaf, decoded once, immutable, 16 bytes an extent; the decoded tree mirrors the one on disk, so a
 * lookup is a binary search per level and takes no lock. A node is published in its parent by one atomic store, only when complete
 * and checked: headers, order, bounds, checksum, and that no block belongs to the volume's own metadata.
 */
#ifndef EXTENT_EXTENT_H
#define EXTENT_EXTENT_H

#include "base/types.h"
#include "inode/inode.h"

enum extent_type {
	EXTENT_HOLE = 0,
	EXTENT_MAPPED = 1,
	EXTENT_UNWRITTEN = 2,
};

/* The piece that covers a block: the whole extent or hole as it stands in its leaf, always len >= 1. */
struct extent_piece {
	enum extent_type type;
	lblk_t lblk;
	uint64_t len; /* blocks; a last hole reaches to 2^32 */
	pblk_t pblk;  /* 0 for a hole */
};

/* Finds the piece that covers lblk; a hole is a result too. Cached: no lock, no shared write, no memory. */
int extent_lookup(struct inode *ip, lblk_t lblk, struct extent_piece *ret) E4_MUST_CHECK;
/* Only what is cached: 1 found, 0 not cached. */
int extent_lookup_cached(struct inode *ip, lblk_t lblk, struct extent_piece *ret) E4_MUST_CHECK;
/* Drops the decoded map (eviction, or the tree changed under recovery). No reader may be inside unless an epoch protects it. */
void extent_map_drop(struct inode *ip);
/* For inode_cache_ops. */
void extent_evict(struct inode *ip);

/* Calls fn for each block that the map itself uses (tree nodes, indirect blocks), then each data run, in order. For recovery and checks. */
struct extent_visit {
	int (*meta)(void *arg, pblk_t pblk);
	int (*run)(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten);
	void *arg;
};
int extent_visit_all(struct inode *ip, const struct extent_visit *v) E4_MUST_CHECK;

/* Blocks of tree nodes and of indirect blocks. */
extern const struct buf_kind buf_kind_extent;
extern const struct buf_kind buf_kind_indirect;

#endif
