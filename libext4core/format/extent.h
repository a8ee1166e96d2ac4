/* extent.h - extent tree nodes on disk (format/extents.md). */
#ifndef FORMAT_EXTENT_H
#define FORMAT_EXTENT_H

#include "base/le.h"
#include "base/types.h"

#define EXTENT_MAGIC         0xF30Au
#define EXTENT_DEPTH_MAX     5u
#define EXTENT_ROOT_ENTRIES  4u
#define EXTENT_LEN_MAX       32768u /* written; larger raw lengths are unwritten */
#define EXTENT_UNWRITTEN_MAX 32767u
#define EXTENT_TAIL_SIZE     4u

struct disk_extent_header {
	struct le16 magic;
	struct le16 entries;
	struct le16 max;
	struct le16 depth;
	struct le32 generation;
};

struct disk_extent {
	struct le32 block;
	struct le16 len;
	struct le16 start_hi;
	struct le32 start_lo;
};

struct disk_extent_idx {
	struct le32 block;
	struct le32 leaf_lo;
	struct le16 leaf_hi;
	struct le16 unused;
};

static inline pblk_t disk_extent_pblk(const struct disk_extent *e)
{
	return (pblk_t)le32_get(e->start_lo) | (pblk_t)le16_get(e->start_hi) << 32;
}

static inline bool disk_extent_unwritten(const struct disk_extent *e)
{
	return le16_get(e->len) > EXTENT_LEN_MAX;
}

/* Blocks covered; 0 only in a corrupt entry. */
static inline uint32_t disk_extent_len(const struct disk_extent *e)
{
	uint32_t raw = le16_get(e->len);

	return raw > EXTENT_LEN_MAX ? raw - EXTENT_LEN_MAX : raw;
}

static inline pblk_t disk_extent_idx_pblk(const struct disk_extent_idx *x)
{
	return (pblk_t)le32_get(x->leaf_lo) | (pblk_t)le16_get(x->leaf_hi) << 32;
}

static inline struct disk_extent disk_extent_make(
	lblk_t lblk, uint32_t len, bool unwritten, pblk_t pblk)
{
	return (struct disk_extent){
		.block = le32_put(lblk),
		.len = le16_put((uint16_t)(unwritten ? len + EXTENT_LEN_MAX : len)),
		.start_hi = le16_put((uint16_t)(pblk >> 32)),
		.start_lo = le32_put((uint32_t)pblk),
	};
}

static inline struct disk_extent_idx disk_extent_idx_make(lblk_t lblk, pblk_t pblk)
{
	return (struct disk_extent_idx){
		.block = le32_put(lblk),
		.leaf_lo = le32_put((uint32_t)pblk),
		.leaf_hi = le16_put((uint16_t)(pblk >> 32)),
	};
}

/* Entries that fit a block node. */
static inline uint32_t extent_block_capacity(uint32_t block_size)
{
	return (block_size - (uint32_t)sizeof(struct disk_extent_header)) /
	       (uint32_t)sizeof(struct disk_extent);
}

#endif
