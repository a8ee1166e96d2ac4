/*
 * read.c - from a directory's logical blocks to verified buffers.
 *
 * Owns:    nothing.
 * Locks:   none; reads may wait for the device.
 * Always:  what is handed out was verified as the kind that was asked for.
 */
#include "base/math.h"
#include "dir/dir_impl.h"
#include "extent/extent.h"

uint64_t dir_blocks_count(const struct inode *ip)
{
	return min_u64(ip->size >> ip->vol->block_bits, (uint64_t)LBLK_MAX + 1);
}

bool dir_is_indexed(const struct inode *ip)
{
	return (ip->flags & INODE_FL_INDEX) != 0 && (ip->flags & INODE_FL_INLINE_DATA) == 0 &&
	       volume_has_compat(ip->vol, FEATURE_COMPAT_DIR_INDEX);
}

bool dir_is_encrypted_casefolded(const struct inode *ip)
{
	return (ip->flags & INODE_FL_ENCRYPT) != 0 && (ip->flags & INODE_FL_CASEFOLD) != 0;
}

uint8_t dir_hash_version(const struct volume *vol, uint8_t disk_version)
{
	if (disk_version <= HASH_TEA && vol->hash_unsigned)
		return (uint8_t)(disk_version + HASH_LEGACY_UNSIGNED);
	return disk_version;
}

static void ask_ahead(struct inode *ip, lblk_t lblk, const struct extent_piece *piece, pblk_t pblk)
{
	uint64_t in_piece = piece->len - (lblk - piece->lblk);
	uint64_t count = min_u64(in_piece, dir_blocks_count(ip) - lblk);

	if (lblk % DIR_READ_AHEAD == 0 && count > 1)
		buf_read_ahead(ip->vol->bufs, pblk, (uint32_t)min_u64(count, DIR_READ_AHEAD));
}

static int get_block(struct inode *ip, pblk_t pblk, const struct buf_kind *kind, struct buf **ret)
{
	int r = buf_get(ip->vol->bufs, pblk, kind, ip->ino, ip->csum_seed, ret);

	return r < 0 ? r : 1;
}

int dir_read(struct inode *ip, lblk_t lblk, const struct buf_kind *kind, struct buf **ret)
{
	struct extent_piece piece;
	int r = extent_lookup(ip, lblk, &piece);

	if (r < 0)
		return r;
	if (piece.type != EXTENT_MAPPED)
		return 0;
	return get_block(ip, piece.pblk + (lblk - piece.lblk), kind, ret);
}

int dir_read_next(struct inode *ip, lblk_t lblk, struct buf **ret, uint64_t *ret_next)
{
	struct extent_piece piece;
	int r = extent_lookup(ip, lblk, &piece);

	*ret_next = DIR_NO_MAP;
	if (r < 0)
		return r;
	*ret_next = piece.lblk + piece.len;
	if (piece.type != EXTENT_MAPPED)
		return 0;
	*ret_next = (uint64_t)lblk + 1;
	pblk_t pblk = piece.pblk + (lblk - piece.lblk);
	ask_ahead(ip, lblk, &piece, pblk);
	return get_block(ip, pblk, &buf_kind_dir_leaf, ret);
}

int dir_report_hole(struct inode *ip, lblk_t lblk)
{
	return fail(ip->vol->env, E4_WHY_DIR_HOLE, .ino = ip->ino, .found = lblk);
}
