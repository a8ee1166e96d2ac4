/* orphan_file.h, MMP and other small blocks on disk (format/orphans-mmp-quota-verity-crypt.md). */
#ifndef FORMAT_ORPHAN_FILE_H
#define FORMAT_ORPHAN_FILE_H

#include "base/le.h"
#include "base/types.h"

#define ORPHAN_BLOCK_MAGIC 0x0B10CA04u
#define MMP_MAGIC          0x004D4D50u
#define MMP_SEQ_CLEAN      0xFF4D4D50u
#define MMP_SEQ_FSCK       0xE24D4D50u
#define MMP_SEQ_MAX        0xE24D4D4Fu
#define MMP_CSUM_OFFSET    0x3FCu

/* The last 8 bytes of each orphan file block. */
struct disk_orphan_tail {
	struct le32 magic;
	struct le32 checksum;
};

struct disk_mmp {
	struct le32 magic;
	struct le32 seq;
	struct le64 time;
	uint8_t nodename[64];
	uint8_t bdevname[32];
	struct le16 check_interval;
	struct le16 pad1;
	struct le32 pad2[226];
	struct le32 checksum;
};

#endif
