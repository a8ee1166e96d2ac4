/*
 * extent.h - the face of the extent room: from logical to physical blocks, for extent trees and indirect maps alike.
 *
 * The unit of caching is the whole leaf, decoded once, immutable, 12 bytes an extent and a quarter for the search; the decoded tree
 * mirrors the one on disk, so a lookup is a search per level and takes no lock. A node is published in its parent by one atomic store, only when complete
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

/*
 * Finds the piece that covers lblk (any of 32 bits: 2^32-1, which no file has, lies in the last hole); a hole is a result too. A hole is
 * whole within its leaf, and may be followed by another. Cached: no lock, no shared write, no memory. An inode that has no
 * blocks (inline data, fast symlink, device) is the caller's mistake: -EINVAL.
 */
int extent_lookup(struct inode *ip, lblk_t lblk, struct extent_piece *ret) E4_MUST_CHECK;
/* Only what is cached: 1 found, 0 not cached. */
int extent_lookup_cached(struct inode *ip, lblk_t lblk, struct extent_piece *ret) E4_MUST_CHECK;
/* Drops the decoded map (the tree changed). On a volume opened read-only nobody may be inside a lookup of this inode meanwhile; else
 * readers are protected by their epoch sections. */
void extent_map_drop(struct inode *ip);
/* For inode_cache_ops. */
void extent_evict(struct inode *ip);

/*
 * For recovery and checks: calls meta for each block that the map itself uses (tree nodes, indirect blocks), before what is below it is
 * read, and run for each data run, in rising order. Either may be NULL. Stops at an answer that is not 0, and returns it.
 */
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
