/*
 * stat.c - an inode as stat(2) shows it.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  numbers are those of the kernel without encryption keys.
 * Uses:    the device's geometry, for the alignment of direct I/O.
 */
#include "base/math.h"
#include "inode/inode_impl.h"

/* What FS_IOC_GETFLAGS shows. */
#define FLAGS_VISIBLE                                                                              \
	(INODE_FL_SECRM | INODE_FL_UNRM | INODE_FL_COMPR | INODE_FL_SYNC | INODE_FL_IMMUTABLE |    \
		INODE_FL_APPEND | INODE_FL_NODUMP | INODE_FL_NOATIME | FLAGS_COMPRESSION |         \
		INODE_FL_ENCRYPT | INODE_FL_INDEX | INODE_FL_JOURNAL_DATA | INODE_FL_NOTAIL |      \
		INODE_FL_DIRSYNC | INODE_FL_TOPDIR | INODE_FL_EXTENTS | INODE_FL_VERITY |          \
		INODE_FL_EOFBLOCKS | INODE_FL_DAX | INODE_FL_INLINE_DATA | INODE_FL_PROJINHERIT |  \
		INODE_FL_CASEFOLD)
#define FLAGS_COMPRESSION 0x00000700u /* DIRTY, COMPRBLK, NOCOMPR */

/* Encrypted links: le16 length, ciphertext. Without the key the target shows as base64url of two hash words and the ciphertext. */
#define CRYPT_LINK_HEADER 2u
#define NOKEY_HASHES      8u
#define NOKEY_BYTES_MAX   149u /* a longer ciphertext is cut here ... */
#define NOKEY_DIGEST      32u  /* ... and a SHA-256 of the rest put behind */

/* The length as the file room will find it: what the stored le16 says, where it stands in the inode; else from i_size. */
static uint64_t nokey_target_len(const struct inode *ip)
{
	uint64_t cipher = ip->size > CRYPT_LINK_HEADER ? ip->size - CRYPT_LINK_HEADER : 0;

	if (inode_is_fast_symlink(ip))
		cipher = min_u64(le16_at(ip->block), INODE_BLOCK_BYTES - CRYPT_LINK_HEADER);
	uint64_t bytes = NOKEY_HASHES +
			 (cipher > NOKEY_BYTES_MAX ? NOKEY_BYTES_MAX + NOKEY_DIGEST : cipher);
	return div_up_u64(bytes * 4, 3);
}

/* 0 = none: the kernel falls back to the page cache for these. */
static uint32_t dio_align(const struct inode *ip)
{
	uint32_t never = INODE_FL_VERITY | INODE_FL_ENCRYPT | INODE_FL_JOURNAL_DATA |
			 INODE_FL_INLINE_DATA;

	if (!inode_is(ip, INODE_REG) || (ip->flags & never) != 0)
		return 0;
	return ip->vol->dev->geo.logical_block;
}

static struct e4_timespec timespec(struct inode_time t)
{
	return (struct e4_timespec){.sec = t.sec, .nsec = t.nsec};
}

void inode_to_stat(const struct inode *ip, struct e4_stat *ret)
{
	*ret = (struct e4_stat){
		.struct_size = ret->struct_size,
		.ino = ip->ino,
		.generation = ip->generation,
		.mode = ip->mode,
		.uid = ip->uid,
		.gid = ip->gid,
		.nlink = ip->nlink,
		.flags = ip->flags & FLAGS_VISIBLE,
		.size = ip->size,
		.blocks = ip->blocks512,
		.blksize = ip->vol->block_size,
		.rdev_major = ip->rdev_major,
		.rdev_minor = ip->rdev_minor,
		.projid = ip->projid,
		.version = ip->version,
		.atime = timespec(ip->atime),
		.mtime = timespec(ip->mtime),
		.ctime = timespec(ip->ctime),
		.btime = timespec(ip->btime),
		.has_btime = ip->has_btime,
		.dio_align = dio_align(ip),
	};
	if (inode_is(ip, INODE_REG)) {
		ret->flags &= ~INODE_FL_PROJINHERIT;
		/* The kernel pretends blocks for inline files, so that tools do not take them for holes. */
		if ((ip->flags & INODE_FL_INLINE_DATA) != 0)
			ret->blocks += div_up_u64(ip->size, 512);
	}
	if (inode_is(ip, INODE_LNK) && (ip->flags & INODE_FL_ENCRYPT) != 0)
		ret->size = nokey_target_len(ip);
}
