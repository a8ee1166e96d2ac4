/* htree.h - directory index blocks on disk (format/directories.md "htree"). */
#ifndef FORMAT_HTREE_H
#define FORMAT_HTREE_H

#include "base/le.h"
#include "base/types.h"

#define HTREE_ROOT_ENTRIES_OFFSET 0x20u
#define HTREE_NODE_ENTRIES_OFFSET 0x08u
#define HTREE_BLOCK_MASK          0x0FFFFFFFu
#define HTREE_TAIL_SIZE           8u
#define HTREE_EOF_HASH            0x7FFFFFFFu

enum hash_version {
	HASH_LEGACY = 0,
	HASH_HALF_MD4 = 1,
	HASH_TEA = 2,
	HASH_LEGACY_UNSIGNED = 3,
	HASH_HALF_MD4_UNSIGNED = 4,
	HASH_TEA_UNSIGNED = 5,
	HASH_SIPHASH = 6,
};

/* At 0x18 of block 0, after the "." and ".." entries. */
struct disk_htree_root_info {
	struct le32 reserved;
	uint8_t hash_version;
	uint8_t info_length; /* 8 */
	uint8_t indirect_levels;
	uint8_t unused_flags;
};
#define HTREE_ROOT_INFO_OFFSET 0x18u

/* Overlays the hash slot of entry 0. */
struct disk_htree_countlimit {
	struct le16 limit;
	struct le16 count;
};

struct disk_htree_entry {
	struct le32 hash;
	struct le32 block;
};

struct disk_htree_tail {
	struct le32 reserved;
	struct le32 checksum;
};

#endif
