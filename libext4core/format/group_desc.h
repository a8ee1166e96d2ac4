/* group_desc.h - block group descriptors on disk (format/groups-and-bitmaps.md). */
#ifndef FORMAT_GROUP_DESC_H
#define FORMAT_GROUP_DESC_H

#include "base/le.h"
#include "base/types.h"

#define GROUP_DESC_SIZE_MIN   32u
#define GROUP_DESC_SIZE_64BIT 64u

enum group_flags {
	GROUP_INODE_UNINIT = 0x1,
	GROUP_BLOCK_UNINIT = 0x2,
	GROUP_INODE_ZEROED = 0x4,
};

/* The hi half exists only where the descriptor size is 64 or more. */
struct disk_group_desc {
	struct le32 block_bitmap_lo;
	struct le32 inode_bitmap_lo;
	struct le32 inode_table_lo;
	struct le16 free_blocks_count_lo;
	struct le16 free_inodes_count_lo;
	struct le16 used_dirs_count_lo;
	struct le16 flags;
	struct le32 exclude_bitmap_lo;
	struct le16 block_bitmap_csum_lo;
	struct le16 inode_bitmap_csum_lo;
	struct le16 itable_unused_lo;
	struct le16 checksum;
	struct le32 block_bitmap_hi;
	struct le32 inode_bitmap_hi;
	struct le32 inode_table_hi;
	struct le16 free_blocks_count_hi;
	struct le16 free_inodes_count_hi;
	struct le16 used_dirs_count_hi;
	struct le16 itable_unused_hi;
	struct le32 exclude_bitmap_hi;
	struct le16 block_bitmap_csum_hi;
	struct le16 inode_bitmap_csum_hi;
	struct le32 reserved;
};

#endif
