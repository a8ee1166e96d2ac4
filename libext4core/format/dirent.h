/* dirent.h - directory entries on disk (format/directories.md). */
#ifndef FORMAT_DIRENT_H
#define FORMAT_DIRENT_H

#include "base/le.h"
#include "base/types.h"

#define BLOCK_SIZE_MAX_DIRENT 65536u /* the block size whose rec_len does not fit 16 bits */
#define DIRENT_HEADER_SIZE    8u
#define DIRENT_NAME_MAX       255u
#define DIRENT_MIN_SIZE       12u
#define DIRENT_TAIL_SIZE      12u
#define DIRENT_TAIL_TYPE      0xDEu
#define DIRENT_HASH_SIZE      8u /* hash and minor after the name, in encrypted casefolded directories */

enum dirent_type {
	DIRENT_UNKNOWN = 0,
	DIRENT_REG = 1,
	DIRENT_DIR = 2,
	DIRENT_CHR = 3,
	DIRENT_BLK = 4,
	DIRENT_FIFO = 5,
	DIRENT_SOCK = 6,
	DIRENT_LNK = 7,
};

struct disk_dirent {
	struct le32 inode;
	struct le16 rec_len;
	uint8_t name_len;
	uint8_t file_type; /* high byte of name_len without the filetype feature */
};

struct disk_dirent_tail {
	struct le32 zero;
	struct le16 rec_len; /* 12 */
	uint8_t name_len;    /* 0 */
	uint8_t type;        /* DIRENT_TAIL_TYPE */
	struct le32 checksum;
};

static inline uint32_t dirent_rec_len(const struct disk_dirent *d, uint32_t block_size)
{
	uint32_t raw = le16_get(d->rec_len);

	if (block_size < BLOCK_SIZE_MAX_DIRENT)
		return raw;
	return raw == 0xFFFF || raw == 0 ? 65536u : raw;
}

static inline struct le16 dirent_rec_len_put(uint32_t len)
{
	return le16_put(len >= 65536u ? 0xFFFF : (uint16_t)len);
}

/* Smallest record for a name. */
static inline uint32_t dirent_need(uint32_t name_len, bool with_hash)
{
	return ((DIRENT_HEADER_SIZE + name_len + 3u) & ~3u) + (with_hash ? DIRENT_HASH_SIZE : 0u);
}

#endif
