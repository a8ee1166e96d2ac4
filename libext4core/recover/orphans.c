/*
 * orphans.c - finishes deletions and truncations that a crash interrupted (orphans-mmp-quota-verity-crypt.md 1).
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  each record is tried once. One that cannot be processed stays where it is, is reported, and marks the volume as having errors;
 *          nothing of it was changed. Walks are bounded by the number of inodes.
 * Uses:    inode_edit.c, extent_edit.c, indirect_edit.c.
 */
#include "base/log.h"
#include "base/math.h"
#include "extent/extent.h"
#include "format/csum.h"
#include "format/orphan_file.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

#define REWRITE_MAX                                                                                \
	64u /* blocks of a tree that is made afresh when it is cut; a larger one is cut in place */

bool orphans_present(const struct recovery *r)
{
	return le32_get(r->super.last_orphan) != 0 ||
	       (disk_super_has_compat(&r->super, FEATURE_COMPAT_ORPHAN_FILE) &&
		       disk_super_has_ro_compat(&r->super, FEATURE_RO_COMPAT_ORPHAN_PRESENT));
}

/* --- one orphan -------------------------------------------------------------------------------------------------------- */

/* Old bytes behind the end must not show when the file grows again. Without its key an encrypted block cannot be changed. */
static int zero_tail(struct recovery *r, struct rinode *ri)
{
	uint32_t bs = r->vol->block_size;
	uint32_t keep = (uint32_t)(ri->ip.size % bs);
	struct extent_piece piece;
	struct buf *b;

	if (keep == 0 || !inode_is(&ri->ip, INODE_REG) || (ri->ip.flags & INODE_FL_ENCRYPT) != 0)
		return 0;
	lblk_t lblk = (lblk_t)(ri->ip.size / bs);
	int err = extent_lookup(&ri->ip, lblk, &piece);

	if (err != 0 || piece.type != EXTENT_MAPPED)
		return err;
	err = tx_get(r, piece.pblk + (lblk - piece.lblk), &buf_kind_plain, 0, 0, &b);
	if (err == 0)
		memset(b->data + keep, 0, bs - keep);
	return err;
}

static int truncate_extents(struct recovery *r, struct rinode *ri, uint64_t first, bool *ret_changed)
{
	int err = map_load(r, ri);

	if (err != 0 || ri->map.count == 0)
		return err;
	const struct map_piece *last = &ri->map.pieces[ri->map.count - 1];

	if ((uint64_t)last->lblk + last->len <= first)
		return 0;
	for (uint32_t i = 0; i < ri->map.count; i++) {
		err = bitmap_prepare_blocks(r, ri->map.pieces[i].pblk, ri->map.pieces[i].len);
		if (err != 0)
			return err;
	}
	*ret_changed = true;
	if (ri->map.meta_count > REWRITE_MAX && !ri->map_changed)
		return map_cut(r, ri, first);
	err = map_remove(r, ri, first, (uint64_t)1 << 32);
	return err != 0 ? err : map_write(r, ri);
}

/* Where an orphan's blocks begin to go; 2^32 = all stay. */
static uint64_t first_to_go(const struct recovery *r, const struct rinode *ri)
{
	if (ri->ip.nlink == 0)
		return 0;
	if ((ri->ip.flags & INODE_FL_VERITY) != 0)
		return (uint64_t)1 << 32;
	return div_up_u64(ri->ip.size, r->vol->block_size);
}

/* A file that is still linked: blocks behind its size go. */
static int truncate_orphan(struct recovery *r, struct rinode *ri, bool *ret_changed)
{
	struct inode *ip = &ri->ip;
	int err = 0;

	*ret_changed = false;
	if (rinode_has_map(ri) && (ip->flags & INODE_FL_VERITY) == 0) {
		uint64_t first = first_to_go(r, ri);

		if ((ip->flags & INODE_FL_EXTENTS) != 0)
			err = truncate_extents(r, ri, first, ret_changed);
		else
			err = indirect_truncate(r, ri, first, ret_changed);
		if (err == 0)
			err = zero_tail(r, ri);
	}
	if (err == 0) {
		*ret_changed = true;
		ip->dtime = 0;
		rinode_store(ri);
		r->result->orphans_truncated++;
	}
	return err;
}

static bool number_ok(const struct recovery *r, inum_t ino)
{
	return (ino >= r->vol->first_ino || ino == INODE_ROOT) && ino <= r->vol->inodes_count;
}

/* All of it, or with recovery->more what fits this round. */
static int finish_orphan(struct recovery *r, struct rinode *ri, bool *ret_changed)
{
	int whole = shrink_orphan(r, ri, first_to_go(r, ri), ret_changed);

	if (whole <= 0)
		return whole;
	r->progress = true;
	if (ri->ip.nlink > 0)
		return truncate_orphan(r, ri, ret_changed);
	int err = rinode_delete(r, ri, ret_changed);

	if (err == 0)
		r->result->orphans_deleted++;
	return err;
}

/* 1 done and *ret_next, or put off (recovery->more); 0 skipped with a report; negative when recovery itself cannot go on. */
static int process(struct recovery *r, inum_t ino, inum_t *ret_next)
{
	struct rinode *ri;
	bool used = false;
	bool changed = false;
	int err;

	if (!number_ok(r, ino)) {
		err = fail(r->env, E4_WHY_ORPHAN_NUMBER, .found = ino,
			.expected = r->vol->inodes_count);
		goto out_skip;
	}
	err = bitmap_inode_used(r, ino, &used);
	if (err != 0)
		goto out_skip;
	if (!used) {
		err = fail(r->env, E4_WHY_ORPHAN_FREE, .ino = ino);
		goto out_skip;
	}
	err = rinode_get(r, ino, INODE_FOR_ORPHAN, &ri);
	if (err != 0)
		goto out_skip;
	*ret_next = ri->ip.dtime;
	err = finish_orphan(r, ri, &changed);
	if (err == 0)
		return 1;

out_skip:
	if (changed || err == -ENOMEM || err == -EIO)
		return err;
	log_line(r->env, E4_LOG_WARN, "image: orphan inode %u is left to a checker", ino);
	r->super.state = le16_put(le16_get(r->super.state) | SUPER_STATE_ERROR);
	return 0;
}

static bool enough(struct recovery *r)
{
	if (r->dirty_limit != 0 && recover_blocks_changed(r) >= r->dirty_limit &&
		(r->progress || !r->forced))
		r->more = true;
	return r->more;
}

/* --- the list ----------------------------------------------------------------------------------------------------------- */

static int process_list(struct recovery *r)
{
	inum_t ino = le32_get(r->super.last_orphan);

	for (uint32_t steps = 0; ino != 0 && steps < r->vol->inodes_count && !enough(r); steps++) {
		inum_t next;
		int done = process(r, ino, &next);

		if (done <= 0 || r->more)
			return done < 0 ? done : 0;
		ino = next;
		r->super.last_orphan = le32_put(ino);
	}
	return 0;
}

int orphans_on_list(struct recovery *r, inum_t ino)
{
	inum_t at = le32_get(r->super.last_orphan);

	for (uint32_t steps = 0; at != 0 && steps < r->vol->inodes_count; steps++) {
		struct buf *b;
		const uint8_t *raw;

		if (at == ino)
			return 1;
		if (!number_ok(r, at))
			return 0;
		int err = inode_raw(r->vol, at, &b, &raw);

		if (err != 0)
			return err;
		at = le32_get(((const struct disk_inode *)(const void *)raw)->dtime);
		buf_put(b);
	}
	return 0;
}

/* --- the file ----------------------------------------------------------------------------------------------------------- */

static struct disk_orphan_tail *tail_of(const struct buf_owner *o, void *data)
{
	return (void *)((uint8_t *)data + o->block_size - sizeof(struct disk_orphan_tail));
}

static int orphan_block_verify(const struct buf_owner *o, const void *data)
{
	const uint8_t *tail = (const uint8_t *)data + o->block_size - sizeof(struct disk_orphan_tail);

	if (le32_at(tail) != ORPHAN_BLOCK_MAGIC)
		return fail(o->env, E4_WHY_ORPHAN_BLOCK, .block = o->pblk, .ino = o->ino,
			.found = le32_at(tail), .expected = ORPHAN_BLOCK_MAGIC);
	return 0;
}

static bool orphan_block_csum_ok(const struct buf_owner *o, const void *data)
{
	const uint8_t *tail = (const uint8_t *)data + o->block_size - sizeof(struct disk_orphan_tail);

	return le32_at(tail + 4) == csum_orphan_block(o->seed, o->pblk, data, o->block_size);
}

static void orphan_block_seal(const struct buf_owner *o, void *data)
{
	tail_of(o, data)->checksum = le32_put(
		csum_orphan_block(o->seed, o->pblk, data, o->block_size));
}

static const struct buf_kind buf_kind_orphan = {
	.name = "orphan file",
	.verify = orphan_block_verify,
	.csum_ok = orphan_block_csum_ok,
	.seal = orphan_block_seal,
};

/* All slots of one block; *ret_left when one stays. */
static int process_block(struct recovery *r, const struct inode *file, pblk_t pblk, bool *ret_left)
{
	uint32_t slots = (r->vol->block_size - (uint32_t)sizeof(struct disk_orphan_tail)) / 4;
	struct buf *b;
	int err = tx_get(r, pblk, &buf_kind_orphan, file->ino, file->csum_seed, &b);

	if (err != 0)
		return err;
	struct le32 *slot = (void *)b->data;

	for (uint32_t i = 0; i < slots; i++) {
		inum_t next;

		if (le32_get(slot[i]) == 0)
			continue;
		if (enough(r)) {
			*ret_left = true;
			return 0;
		}
		int done = process(r, le32_get(slot[i]), &next);

		if (done < 0)
			return done;
		if (done == 0 || r->more)
			*ret_left = true;
		else
			slot[i] = le32_put(0);
	}
	buf_seal(b);
	return 0;
}

static int process_file(struct recovery *r)
{
	struct rinode *file;
	bool left = false;
	int err = rinode_get(r, le32_get(r->super.orphan_file_inum), INODE_FOR_SYSTEM, &file);

	if (err == 0 && !inode_is(&file->ip, INODE_REG))
		err = fail(r->env, E4_WHY_ORPHAN_FILE, .ino = file->ip.ino, .found = file->ip.mode,
			.expected = INODE_REG);
	if (err == 0)
		err = map_load(r, file);
	if (err != 0)
		return err;
	for (uint32_t i = 0; i < file->map.count && !r->more; i++) {
		const struct map_piece *p = &file->map.pieces[i];

		for (uint32_t k = 0; k < p->len && !r->more; k++) {
			err = process_block(r, &file->ip, p->pblk + k, &left);
			if (err != 0)
				return err;
		}
	}
	if (!left && !r->more) {
		uint32_t bits = le32_get(r->super.feature_ro_compat);

		r->super.feature_ro_compat = le32_put(
			bits & ~(uint32_t)FEATURE_RO_COMPAT_ORPHAN_PRESENT);
	}
	return 0;
}

/* First the list, then the file, as Linux does. Stops between two when recovery->dirty_limit is reached. */
int orphans_process(struct recovery *r)
{
	int err = process_list(r);

	if (err == 0 && !r->more && disk_super_has_compat(&r->super, FEATURE_COMPAT_ORPHAN_FILE) &&
		disk_super_has_ro_compat(&r->super, FEATURE_RO_COMPAT_ORPHAN_PRESENT)) {
		err = process_file(r);
		/* A bad orphan file is a checker's business, as a bad orphan is. */
		if (err == -EUCLEAN || err == -EBADMSG) {
			r->super.state = le16_put(le16_get(r->super.state) | SUPER_STATE_ERROR);
			err = 0;
		}
	}
	return err;
}
