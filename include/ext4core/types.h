/** @file types.h
 *  Handles and plain values that several headers share. */
#ifndef EXT4CORE_TYPES_H
#define EXT4CORE_TYPES_H

#include <ext4core/blockdev.h>
#include <ext4core/error.h>
#include <ext4core/hooks.h>
#include <ext4core/version.h>

#include <stdint.h>

struct e4_fs;      /**< a mount */
struct e4_inode;   /**< a held inode */
struct e4_file;    /**< an open regular file (or anything opened by e4_open) */
struct e4_dir;     /**< an open directory stream */
struct e4_context; /**< what a thread, or a fibre, holds of a mount */

#define E4_ROOT_INO 2u

/** File type as in st_mode, so that S_ISDIR() and its kin work on e4_stat.mode. */
enum e4_file_type {
	E4_FT_FIFO = 0x1000,
	E4_FT_CHR = 0x2000,
	E4_FT_DIR = 0x4000,
	E4_FT_BLK = 0x6000,
	E4_FT_REG = 0x8000,
	E4_FT_LNK = 0xA000,
	E4_FT_SOCK = 0xC000,
};

/** What statx(2) tells, and what only ext4 knows. */
struct e4_stat {
	uint32_t struct_size; /**< set by the caller */
	uint32_t ino;
	uint32_t generation;
	uint32_t mode; /**< type and permissions */
	uint32_t uid, gid;
	uint32_t nlink;   /**< of a directory: 1 = too many to count */
	uint32_t flags;   /**< i_flags as chattr(1) knows them: the bits of FS_IOC_GETFLAGS */
	uint64_t size;    /**< bytes */
	uint64_t blocks;  /**< units of 512 bytes */
	uint32_t blksize; /**< preferred I/O size, bytes */
	uint32_t rdev_major, rdev_minor;
	uint32_t projid;
	uint64_t version; /**< i_version */
	struct e4_timespec atime, mtime, ctime,
		btime; /**< btime 0.0 where the inode has no room for it */
	uint32_t has_btime;
	uint32_t dio_align; /**< alignment for direct I/O, bytes; as STATX_DIOALIGN */
};

/** Totals as statfs(2) defines them. */
struct e4_statfs {
	uint32_t struct_size;
	uint32_t block_size;
	uint64_t blocks; /**< usable blocks: without the volume's own metadata */
	uint64_t blocks_free;
	uint64_t blocks_avail; /**< without those reserved for root */
	uint64_t files;
	uint64_t files_free;
	uint32_t name_max;
	uint32_t reserved;
	uint8_t fsid[8];
};

#endif
