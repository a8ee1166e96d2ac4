/*
 * check.c - what an inode must be before anybody may use it (format/inode.md "Kernel sanity checks when loading an inode").
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the errno is the kernel's: -EBADMSG for a checksum, -ESTALE for an inode that is free, -EUCLEAN for the rest.
 * Uses:    format, and volume to know what is metadata.
 */
#include "format/csum.h"
#include "inode/inode_impl.h"

#include <errno.h>
#include <string.h>

#define INODE_BAD_BLOCKS 1u

/* Numbers below the first ordinary one, and the quota and orphan files wherever they are. */
static bool is_reserved(const struct volume *vol, inum_t ino)
{
	if (ino == INODE_ROOT)
		return false;
	return ino < vol->first_ino || ino == le32_get(vol->super.usr_quota_inum) ||
	       ino == le32_get(vol->super.grp_quota_inum) ||
	       ino == le32_get(vol->super.prj_quota_inum) ||
	       ino == le32_get(vol->super.orphan_file_inum);
}

int inode_check_number(struct volume *vol, inum_t ino, enum inode_purpose purpose)
{
	if (ino == 0 || ino > vol->inodes_count)
		return fail(vol->env, E4_WHY_INODE_BEYOND, .ino = ino, .found = ino,
			.expected = vol->inodes_count);
	if ((purpose == INODE_FOR_USE || purpose == INODE_FOR_EA) && is_reserved(vol, ino))
		return fail(vol->env, E4_WHY_INODE_RESERVED, .ino = ino, .found = ino,
			.expected = vol->first_ino);
	return 0;
}

bool inode_has_csum(const struct volume *vol)
{
	return vol->csum && le32_get(vol->super.creator_os) == CREATOR_LINUX;
}

static bool is_zero(const void *raw)
{
	static const uint8_t zeros[INODE_CLASSIC_SIZE];

	return memcmp(raw, zeros, sizeof(zeros)) == 0;
}

/* A slot that was never used is zero and has no checksum. */
static int check_csum(struct volume *vol, inum_t ino, const void *raw)
{
	const struct disk_inode *di = raw;
	uint32_t seed = csum_inode_seed(vol->csum_seed, ino, le32_get(di->generation));
	bool has_hi;
	uint32_t want = csum_inode(seed, raw, vol->inode_size, &has_hi);
	uint32_t stored = le16_get(di->checksum_lo);

	if (has_hi)
		stored |= (uint32_t)le16_get(di->checksum_hi) << 16;
	else
		want &= 0xFFFF;
	if (stored == want || is_zero(raw))
		return 0;
	int r = fail(vol->env, E4_WHY_INODE_CSUM, .ino = ino, .found = stored, .expected = want);
	return vol->opts.ignore_csum ? 0 : r;
}

int inode_check_raw(struct volume *vol, inum_t ino, const void *raw)
{
	const struct disk_inode *di = raw;

	if (vol->inode_size > INODE_CLASSIC_SIZE) {
		uint32_t extra = le16_get(di->extra_isize);

		if (extra % 4 != 0 || INODE_CLASSIC_SIZE + extra > vol->inode_size)
			return fail(vol->env, E4_WHY_INODE_EXTRA_ISIZE, .ino = ino, .found = extra,
				.expected = vol->inode_size - INODE_CLASSIC_SIZE);
	}
	return inode_has_csum(vol) ? check_csum(vol, ino, raw) : 0;
}

/* Inodes that live without a link: orphans, the boot loader's that was never installed, the list of bad blocks. */
static bool may_be_unlinked(const struct inode *ip, enum inode_purpose purpose)
{
	if (ip->ino == INODE_BOOT_LOADER || ip->ino == INODE_BAD_BLOCKS)
		return true;
	return purpose == INODE_FOR_ORPHAN && ip->mode != 0;
}

int inode_check_purpose(const struct inode *ip, enum inode_purpose purpose)
{
	struct env *env = ip->vol->env;
	bool ea = (ip->flags & INODE_FL_EA_INODE) != 0;

	if (ip->nlink == 0 && !may_be_unlinked(ip, purpose)) {
		if (purpose == INODE_FOR_SYSTEM)
			return fail(env, E4_WHY_INODE_SYSTEM_FREE, .ino = ip->ino);
		return fail(env, E4_WHY_INODE_FREE, .ino = ip->ino);
	}
	if (purpose == INODE_FOR_EA) {
		if (!ea)
			return fail(env, E4_WHY_INODE_NOT_EA, .ino = ip->ino, .found = ip->flags);
		if (ip->file_acl != 0 || ip->in_inode_xattrs)
			return fail(env, E4_WHY_INODE_EA_HAS_XATTRS, .ino = ip->ino,
				.block = ip->file_acl);
		return 0;
	}
	/* One whose last reference went away is an orphan like others. */
	if (ea && purpose != INODE_FOR_ORPHAN)
		return fail(env, E4_WHY_INODE_EA_NAMED, .ino = ip->ino, .found = ip->flags);
	return 0;
}

static int check_symlink(const struct inode *ip, enum inode_purpose purpose)
{
	struct env *env = ip->vol->env;

	if ((ip->flags & (INODE_FL_IMMUTABLE | INODE_FL_APPEND)) != 0)
		return fail(env, E4_WHY_INODE_LINK_FLAGS, .ino = ip->ino, .found = ip->flags);
	/* Recovery meets half-made links; the target of an encrypted one is not text. */
	if ((ip->flags & INODE_FL_ENCRYPT) != 0 || !inode_is_fast_symlink(ip) ||
		(purpose == INODE_FOR_ORPHAN && ip->nlink == 0))
		return 0;
	if (ip->size == 0 || ip->size >= INODE_BLOCK_BYTES ||
		strnlen((const char *)ip->block, (size_t)ip->size + 1) != ip->size)
		return fail(env, E4_WHY_INODE_FAST_LINK, .ino = ip->ino, .found = ip->size,
			.expected = INODE_BLOCK_BYTES - 1);
	return 0;
}

static int check_mode(const struct inode *ip, enum inode_purpose purpose)
{
	switch (ip->mode & INODE_TYPE_MASK) {
	case INODE_LNK:
		return check_symlink(ip, purpose);
	case INODE_FIFO:
	case INODE_CHR:
	case INODE_DIR:
	case INODE_BLK:
	case INODE_REG:
	case INODE_SOCK:
		return 0;
	default:
		if (ip->ino == INODE_BOOT_LOADER || ip->ino == INODE_BAD_BLOCKS)
			return 0;
		return fail(ip->vol->env, E4_WHY_INODE_MODE, .ino = ip->ino, .found = ip->mode);
	}
}

static int check_flags(const struct inode *ip)
{
	struct volume *vol = ip->vol;
	uint32_t both = INODE_FL_INLINE_DATA | INODE_FL_EXTENTS;

	if ((ip->flags & both) == both)
		return fail(
			vol->env, E4_WHY_INODE_INLINE_EXTENTS, .ino = ip->ino, .found = ip->flags);
	/* Index blocks read as plain ones would pass for empty space, were it not for their checksums. */
	if ((ip->flags & INODE_FL_INDEX) != 0 && vol->csum &&
		!volume_has_compat(vol, FEATURE_COMPAT_DIR_INDEX))
		return fail(vol->env, E4_WHY_INODE_INDEX, .ino = ip->ino, .found = ip->flags);
	if ((ip->flags & INODE_FL_CASEFOLD) != 0 &&
		!volume_has_incompat(vol, FEATURE_INCOMPAT_CASEFOLD))
		return fail(vol->env, E4_WHY_INODE_CASEFOLD, .ino = ip->ino, .found = ip->flags);
	return 0;
}

int inode_check_fields(const struct inode *ip, enum inode_purpose purpose)
{
	struct volume *vol = ip->vol;
	uint64_t max = volume_max_file_bytes(vol, (ip->flags & INODE_FL_EXTENTS) != 0);
	int r;

	if (ip->size > max)
		return fail(vol->env, E4_WHY_INODE_SIZE, .ino = ip->ino, .found = ip->size,
			.expected = max);
	r = check_flags(ip);
	if (r < 0)
		return r;
	if (ip->file_acl != 0) {
		r = volume_check_mapping(vol, ip->ino, ip->file_acl, 1);
		if (r < 0)
			return r;
	}
	return check_mode(ip, purpose);
}
