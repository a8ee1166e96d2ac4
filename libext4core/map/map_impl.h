/*
 * map_impl.h - what the files of the map room tell each other.
 */
#ifndef MAP_MAP_IMPL_H
#define MAP_MAP_IMPL_H

#include "extent/extent.h"
#include "map/map.h"

/* Bytes of a file that can ever be mapped: 2^32 - 1 blocks. */
static inline uint64_t map_limit(const struct inode *ip)
{
	return ((uint64_t)LBLK_MAX + 1) << ip->vol->block_bits;
}

static inline bool map_is_inline(const struct inode *ip)
{
	return (ip->flags & INODE_FL_INLINE_DATA) != 0;
}

/* A mapping that says where nothing is, with what holds for the whole file filled in. */
struct e4_mapping map_blank(struct inode *ip, uint64_t offset, uint64_t length);
/* The piece of the tree that covers offset < map_limit(), whole as it stands there. Not for inline files. */
int map_piece(struct inode *ip, uint64_t offset, struct e4_mapping *ret) E4_MUST_CHECK;
/* The piece of an inline file that covers offset. */
void map_inline_piece(struct inode *ip, uint64_t offset, struct e4_mapping *ret);

#endif
