/* jbd2.h - the log on disk (format/journal.md). Big-endian, except fast-commit records. */
#ifndef FORMAT_JBD2_H
#define FORMAT_JBD2_H

#include "base/be.h"
#include "base/le.h"
#include "base/types.h"

#define JBD2_MAGIC           0xC03B3998u
#define JBD2_SUPER_SIZE      1024u
#define JBD2_MIN_BLOCKS      1024u
#define JBD2_DEFAULT_FC_BLKS 256u
#define JBD2_CSUM_CRC32C     4u
#define JBD2_CSUM_V1_CRC32   1u

enum jbd2_blocktype {
	JBD2_DESCRIPTOR = 1,
	JBD2_COMMIT = 2,
	JBD2_SUPER_V1 = 3,
	JBD2_SUPER_V2 = 4,
	JBD2_REVOKE = 5,
};

enum jbd2_tag_flags {
	JBD2_TAG_ESCAPE = 1,
	JBD2_TAG_SAME_UUID = 2,
	JBD2_TAG_DELETED = 4,
	JBD2_TAG_LAST = 8,
};

struct disk_jbd2_header {
	struct be32 magic;
	struct be32 blocktype;
	struct be32 sequence;
};

struct disk_jbd2_super {
	struct disk_jbd2_header header;
	struct be32 blocksize;
	struct be32 maxlen;
	struct be32 first;
	struct be32 sequence;
	struct be32 start;
	struct be32 error;
	struct be32 feature_compat;
	struct be32 feature_incompat;
	struct be32 feature_ro_compat;
	uint8_t uuid[16];
	struct be32 nr_users;
	struct be32 dynsuper;
	struct be32 max_transaction;
	struct be32 max_trans_data;
	uint8_t checksum_type;
	uint8_t padding2[3];
	struct be32 num_fc_blks;
	struct be32 head;
	uint8_t padding[160];
	struct be32 checksum;
	uint8_t users[768];
};

struct disk_jbd2_tag3 {
	struct be32 blocknr;
	struct be32 flags;
	struct be32 blocknr_high;
	struct be32 checksum;
};

/* v2 and earlier; v2 pads 2 bytes after it, 64BIT adds blocknr_high. */
struct disk_jbd2_tag {
	struct be32 blocknr;
	struct be16 checksum;
	struct be16 flags;
};

struct disk_jbd2_revoke {
	struct disk_jbd2_header header;
	struct be32 count; /* bytes used, header included */
};

struct disk_jbd2_commit {
	struct disk_jbd2_header header;
	uint8_t chksum_type;
	uint8_t chksum_size;
	uint8_t padding[2];
	struct be32 chksum[8];
	struct be64 commit_sec;
	struct be32 commit_nsec;
};

enum fc_tag {
	FC_ADD_RANGE = 1,
	FC_DEL_RANGE = 2,
	FC_CREAT = 3,
	FC_LINK = 4,
	FC_UNLINK = 5,
	FC_INODE = 6,
	FC_PAD = 7,
	FC_TAIL = 8,
	FC_HEAD = 9,
};

struct disk_fc_tl {
	struct le16 tag;
	struct le16 len;
};

#endif
