/* inode.h - inodes on disk (format/inode.md). */
#ifndef FORMAT_INODE_H
#define FORMAT_INODE_H

#include "base/le.h"
#include "base/types.h"

#define INODE_CLASSIC_SIZE 128u
#define INODE_BLOCK_BYTES  60u /* i_block */
#define INODE_LINKS_MAX    65000u
#define INODE_ROOT         2u
#define INODE_USR_QUOTA    3u
#define INODE_GRP_QUOTA    4u
#define INODE_BOOT_LOADER  5u
#define INODE_RESIZE       7u
#define INODE_JOURNAL      8u
#define INODE_FIRST_REV0   11u

enum inode_type {
	INODE_TYPE_MASK = 0xF000,
	INODE_FIFO = 0x1000,
	INODE_CHR = 0x2000,
	INODE_DIR = 0x4000,
	INODE_BLK = 0x6000,
	INODE_REG = 0x8000,
	INODE_LNK = 0xA000,
	INODE_SOCK = 0xC000,
};

#define INODE_FL_SECRM        0x00000001u
#define INODE_FL_UNRM         0x00000002u
#define INODE_FL_COMPR        0x00000004u
#define INODE_FL_SYNC         0x00000008u
#define INODE_FL_IMMUTABLE    0x00000010u
#define INODE_FL_APPEND       0x00000020u
#define INODE_FL_NODUMP       0x00000040u
#define INODE_FL_NOATIME      0x00000080u
#define INODE_FL_ENCRYPT      0x00000800u
#define INODE_FL_INDEX        0x00001000u
#define INODE_FL_IMAGIC       0x00002000u
#define INODE_FL_JOURNAL_DATA 0x00004000u
#define INODE_FL_NOTAIL       0x00008000u
#define INODE_FL_DIRSYNC      0x00010000u
#define INODE_FL_TOPDIR       0x00020000u
#define INODE_FL_HUGE_FILE    0x00040000u
#define INODE_FL_EXTENTS      0x00080000u
#define INODE_FL_VERITY       0x00100000u
#define INODE_FL_EA_INODE     0x00200000u
#define INODE_FL_EOFBLOCKS    0x00400000u
#define INODE_FL_DAX          0x02000000u
#define INODE_FL_INLINE_DATA  0x10000000u
#define INODE_FL_PROJINHERIT  0x20000000u
#define INODE_FL_CASEFOLD     0x40000000u

/* The first 160 bytes. Bytes from extra_isize on exist as far as i_extra_isize says (inode_has_field). */
struct disk_inode {
	struct le16 mode;
	struct le16 uid_lo;
	struct le32 size_lo;
	struct le32 atime;
	struct le32 ctime;
	struct le32 mtime;
	struct le32 dtime;
	struct le16 gid_lo;
	struct le16 links_count;
	struct le32 blocks_lo;
	struct le32 flags;
	struct le32 version_lo;
	uint8_t block[INODE_BLOCK_BYTES];
	struct le32 generation;
	struct le32 file_acl_lo;
	struct le32 size_hi;
	struct le32 faddr;
	struct le16 blocks_hi;
	struct le16 file_acl_hi;
	struct le16 uid_hi;
	struct le16 gid_hi;
	struct le16 checksum_lo;
	struct le16 reserved;
	struct le16 extra_isize;
	struct le16 checksum_hi;
	struct le32 ctime_extra;
	struct le32 mtime_extra;
	struct le32 atime_extra;
	struct le32 crtime;
	struct le32 crtime_extra;
	struct le32 version_hi;
	struct le32 projid;
};

/* End offset of a field, for "does this inode have it". */
#define INODE_FIELD_END(field)                                                                     \
	(offsetof(struct disk_inode, field) + sizeof(((struct disk_inode *)0)->field))

#endif
