/*
 * codec.c - an inode's fields from disk to memory and back.
 *
 * Owns:    nothing; the inode is the caller's.
 * Locks:   none; an inode is filled in before others see it.
 * Always:  a field counts only as far as i_extra_isize reaches; encoding changes the bytes of the fields it names and the
 *          checksum, nothing else.
 * Uses:    format, and volume for features.
 */
#include "base/math.h"
#include "format/csum.h"
#include "inode/inode_impl.h"

#include <string.h>

#define NSEC_PER_SEC    1000000000u
#define TIME_SEC_MIN    (-(INT64_C(1) << 31))
#define TIME_SEC_MAX    ((INT64_C(1) << 34) - (INT64_C(1) << 31) - 1)
#define TIME_SEC_MAX_32 ((INT64_C(1) << 31) - 1)
#define TIME_EPOCH_MASK 3u
#define TIME_EPOCH_BITS 2
#define EXTRA_ISIZE_ALL (sizeof(struct disk_inode) - INODE_CLASSIC_SIZE)

/* Whether a field that ends at byte `end` exists, with `extra` bytes of extra fields. */
static bool has_field(const struct volume *vol, uint32_t extra, size_t end)
{
	return vol->inode_size > INODE_CLASSIC_SIZE && end <= vol->inode_size &&
	       INODE_CLASSIC_SIZE + extra >= end;
}
#define HAS(vol, extra, field) has_field(vol, extra, INODE_FIELD_END(field))

/* i_extra_isize as stored; classic inodes have none. */
static uint32_t stored_extra(const struct volume *vol, const struct disk_inode *di)
{
	return vol->inode_size > INODE_CLASSIC_SIZE ? le16_get(di->extra_isize) : 0;
}

/* Nanoseconds of a second and more, which only a hostile image has, are carried over: the sum is what stat(2) callers compute. */
static struct inode_time time_decode(struct le32 base, uint32_t extra)
{
	struct inode_time t = {
		.sec = (int32_t)le32_get(base) + ((int64_t)(extra & TIME_EPOCH_MASK) << 32),
		.nsec = extra >> TIME_EPOCH_BITS,
	};

	if (t.nsec >= NSEC_PER_SEC) {
		t.nsec -= NSEC_PER_SEC;
		t.sec++;
	}
	return t;
}

/* Times beyond what can be stored are clamped, as the kernel does. */
static void time_encode(struct inode_time t, struct le32 *base, struct le32 *extra)
{
	int64_t max = extra != NULL ? TIME_SEC_MAX : TIME_SEC_MAX_32;

	if (t.sec < TIME_SEC_MIN)
		t = (struct inode_time){TIME_SEC_MIN, 0};
	if (t.sec > max)
		t = (struct inode_time){max, 0};
	int32_t low = (int32_t)(uint32_t)t.sec;
	*base = le32_put((uint32_t)t.sec);
	if (extra != NULL) {
		uint32_t epoch = (uint32_t)((uint64_t)(t.sec - low) >> 32) & TIME_EPOCH_MASK;

		*extra = le32_put(epoch | t.nsec << TIME_EPOCH_BITS);
	}
}

static void decode_times(struct inode *ip, const struct disk_inode *di)
{
	uint32_t extra = ip->extra_isize;
	const struct volume *vol = ip->vol;

	ip->atime = time_decode(
		di->atime, HAS(vol, extra, atime_extra) ? le32_get(di->atime_extra) : 0);
	ip->mtime = time_decode(
		di->mtime, HAS(vol, extra, mtime_extra) ? le32_get(di->mtime_extra) : 0);
	ip->ctime = time_decode(
		di->ctime, HAS(vol, extra, ctime_extra) ? le32_get(di->ctime_extra) : 0);
	ip->has_btime = HAS(vol, extra, crtime);
	if (ip->has_btime)
		ip->btime = time_decode(
			di->crtime, HAS(vol, extra, crtime_extra) ? le32_get(di->crtime_extra) : 0);
	ip->dtime = le32_get(di->dtime);
}

/* Both encodings of a device number; the old one wherever it is not zero. */
static void decode_rdev(struct inode *ip)
{
	uint32_t before = le32_at(ip->block);
	uint32_t after = le32_at(ip->block + 4);

	if (!inode_is(ip, INODE_CHR) && !inode_is(ip, INODE_BLK))
		return;
	if (before != 0) {
		ip->rdev_major = before >> 8 & 0xFF;
		ip->rdev_minor = before & 0xFF;
	} else {
		ip->rdev_major = after >> 8 & 0xFFF;
		ip->rdev_minor = (after & 0xFF) | (after >> 12 & 0xFFF00);
	}
}

/* i_blocks in units of 512 bytes, whatever its unit on disk. */
static uint64_t decode_blocks(const struct inode *ip, const struct disk_inode *di)
{
	uint64_t n = le32_get(di->blocks_lo);

	if (!volume_has_ro_compat(ip->vol, FEATURE_RO_COMPAT_HUGE_FILE))
		return n;
	n |= (uint64_t)le16_get(di->blocks_hi) << 32;
	return (ip->flags & INODE_FL_HUGE_FILE) != 0 ? n << (ip->vol->block_bits - 9) : n;
}

/* The high half of i_size is a size only in regular files, and in directories of a volume with large_dir. */
static bool has_size_hi(const struct inode *ip)
{
	return inode_is(ip, INODE_REG) ||
	       (inode_is(ip, INODE_DIR) && volume_has_incompat(ip->vol, FEATURE_INCOMPAT_LARGEDIR));
}

static void decode_classic(struct inode *ip, const struct disk_inode *di)
{
	ip->generation = le32_get(di->generation);
	ip->csum_seed = csum_inode_seed(ip->vol->csum_seed, ip->ino, ip->generation);
	ip->mode = le16_get(di->mode);
	ip->uid = le16_get(di->uid_lo) | (uint32_t)le16_get(di->uid_hi) << 16;
	ip->gid = le16_get(di->gid_lo) | (uint32_t)le16_get(di->gid_hi) << 16;
	ip->nlink = le16_get(di->links_count);
	ip->flags = le32_get(di->flags);
	ip->size = le32_get(di->size_lo);
	if (has_size_hi(ip))
		ip->size |= (uint64_t)le32_get(di->size_hi) << 32;
	ip->blocks512 = decode_blocks(ip, di);
	ip->file_acl = le32_get(di->file_acl_lo);
	if (volume_has_incompat(ip->vol, FEATURE_INCOMPAT_64BIT))
		ip->file_acl |= (pblk_t)le16_get(di->file_acl_hi) << 32;
	memcpy(ip->block, di->block, sizeof(ip->block));
	decode_rdev(ip);
}

static void decode_extra(struct inode *ip, const struct disk_inode *di)
{
	const struct volume *vol = ip->vol;
	uint32_t stored = stored_extra(vol, di);

	/* Linux takes 0 on a volume with large inodes as "all of them, from now on"; the project id is read before that. */
	if (volume_has_ro_compat(vol, FEATURE_RO_COMPAT_PROJECT) && HAS(vol, stored, projid))
		ip->projid = le32_get(di->projid);
	ip->extra_isize = (uint16_t)stored;
	if (stored == 0 && vol->inode_size > INODE_CLASSIC_SIZE)
		ip->extra_isize = (uint16_t)EXTRA_ISIZE_ALL;
	decode_times(ip, di);
	/* The Hurd keeps a translator's block where Linux keeps the version. */
	if (le32_get(vol->super.creator_os) == CREATOR_HURD)
		return;
	ip->version = le32_get(di->version_lo);
	if (HAS(vol, ip->extra_isize, version_hi))
		ip->version |= (uint64_t)le32_get(di->version_hi) << 32;
}

int inode_fill(struct inode *ip, const void *raw, enum inode_purpose purpose)
{
	const struct disk_inode *di = raw;
	struct xattr_area area;
	int r = inode_check_raw(ip->vol, ip->ino, raw);

	if (r < 0)
		return r;
	decode_classic(ip, di);
	decode_extra(ip, di);
	/* What is free may hold anything: asked before the rest is judged. */
	r = inode_check_purpose(ip, purpose);
	if (r < 0)
		return r;
	r = xattr_area_in_inode(ip->vol, ip->ino, raw, &area);
	if (r < 0)
		return r;
	ip->in_inode_xattrs = r > 0;
	if (ip->in_inode_xattrs) {
		r = inode_check_purpose(ip, purpose);
		if (r < 0)
			return r;
	}
	return inode_check_fields(ip, purpose);
}

int inode_decode(struct volume *vol, inum_t ino, const void *raw, enum inode_purpose purpose,
	struct inode *ip)
{
	memset(ip, 0, sizeof(*ip));
	ip->vol = vol;
	ip->ino = ino;
	int r = inode_check_number(vol, ino, purpose);
	if (r < 0)
		return r;
	r = inode_fill(ip, raw, purpose);
	if (r == 0)
		mutex_init(&ip->es.lock, RANK_EXTENT_STATUS);
	return r;
}

/*
 * Units of 512 bytes while the count fits 48 bits, else blocks with the flag; as the kernel writes it. Without huge_file there
 * are only 32 bits, which a count that was read from such a volume and only shrinks fits.
 */
static uint32_t encode_blocks(const struct inode *ip, struct disk_inode *di)
{
	uint64_t n = ip->blocks512;
	uint32_t flags = ip->flags;

	if (volume_has_ro_compat(ip->vol, FEATURE_RO_COMPAT_HUGE_FILE)) {
		flags &= ~INODE_FL_HUGE_FILE;
		if (n >> 48 != 0) {
			flags |= INODE_FL_HUGE_FILE;
			n >>= ip->vol->block_bits - 9;
		}
		di->blocks_hi = le16_put((uint16_t)(n >> 32));
	}
	di->blocks_lo = le32_put((uint32_t)n);
	return flags;
}

static void encode_times(const struct inode *ip, struct disk_inode *di)
{
	uint32_t extra = stored_extra(ip->vol, di);

	time_encode(
		ip->atime, &di->atime, HAS(ip->vol, extra, atime_extra) ? &di->atime_extra : NULL);
	time_encode(
		ip->mtime, &di->mtime, HAS(ip->vol, extra, mtime_extra) ? &di->mtime_extra : NULL);
	time_encode(
		ip->ctime, &di->ctime, HAS(ip->vol, extra, ctime_extra) ? &di->ctime_extra : NULL);
	di->dtime = le32_put(ip->dtime);
}

void inode_encode(const struct inode *ip, void *raw)
{
	struct disk_inode *di = raw;

	di->mode = le16_put(ip->mode);
	di->links_count = le16_put((uint16_t)ip->nlink);
	di->size_lo = le32_put((uint32_t)ip->size);
	if (has_size_hi(ip))
		di->size_hi = le32_put((uint32_t)(ip->size >> 32));
	di->flags = le32_put(encode_blocks(ip, di));
	di->file_acl_lo = le32_put((uint32_t)ip->file_acl);
	if (volume_has_incompat(ip->vol, FEATURE_INCOMPAT_64BIT))
		di->file_acl_hi = le16_put((uint16_t)(ip->file_acl >> 32));
	encode_times(ip, di);
	memcpy(di->block, ip->block, sizeof(di->block));
	inode_seal(ip->vol, ip->ino, raw);
}

void inode_seal(const struct volume *vol, inum_t ino, void *raw)
{
	struct disk_inode *di = raw;
	bool has_hi;

	if (!inode_has_csum(vol))
		return;
	uint32_t seed = csum_inode_seed(vol->csum_seed, ino, le32_get(di->generation));
	uint32_t sum = csum_inode(seed, raw, vol->inode_size, &has_hi);
	di->checksum_lo = le16_put((uint16_t)sum);
	if (has_hi)
		di->checksum_hi = le16_put((uint16_t)(sum >> 16));
}

/*
 * Whether the target stands in i_block. By i_blocks where all blocks are the inode's own; with ea_inode these count values
 * elsewhere, so the size decides.
 */
bool inode_is_fast_symlink(const struct inode *ip)
{
	uint64_t acl512 = ip->file_acl != 0
				  ? (uint64_t)ip->vol->cluster_ratio << (ip->vol->block_bits - 9)
				  : 0;

	if (!inode_is(ip, INODE_LNK) || (ip->flags & INODE_FL_INLINE_DATA) != 0)
		return false;
	if (volume_has_incompat(ip->vol, FEATURE_INCOMPAT_EA_INODE))
		return ip->size > 0 && ip->size < INODE_BLOCK_BYTES &&
		       (ip->flags & INODE_FL_EXTENTS) == 0;
	return ip->blocks512 == acl512;
}
