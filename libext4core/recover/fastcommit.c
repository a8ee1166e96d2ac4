/*
 * fastcommit.c - applies fast-commit records to the replayed volume (journal.md "Replay").
 *
 * Owns:    recovery->claims: blocks that later records name, which are not allocated meanwhile.
 * Locks:   none.
 * Always:  records come checked for their length. Each step asks for the state it wants, not for a change, so that a record whose effect
 *          is there already does nothing. What the records leave to be derived (bitmaps, block counts, directory counts) is derived.
 * Uses:    inode_edit.c, extent_edit.c, dir_edit.c, bitmap.c.
 */
#include "base/log.h"
#include "base/math.h"
#include "base/mem.h"
#include "format/dirent.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

#define TL_BYTES ((uint32_t)sizeof(struct disk_fc_tl))

struct record {
	uint32_t tag, len;
	const uint8_t *value;
};

/* 1 and the next record, 0 at the end. */
static int next_record(const uint8_t *p, uint32_t len, uint32_t *at, struct record *ret)
{
	if (len - *at < TL_BYTES)
		return 0;
	ret->tag = le16_at(p + *at);
	ret->len = le16_at(p + *at + 2);
	ret->value = p + *at + TL_BYTES;
	if (ret->len > len - *at - TL_BYTES)
		return 0;
	*at += TL_BYTES + ret->len;
	return 1;
}

static bool number_ok(const struct recovery *r, inum_t ino)
{
	return ino >= 1 && ino <= r->vol->inodes_count;
}

/* An inode that a record names. *ret NULL: unknown number, or free; to be passed over, as Linux does. */
static int get_inode(struct recovery *r, inum_t ino, struct rinode **ret)
{
	bool used = false;

	*ret = NULL;
	if (!number_ok(r, ino))
		return 0;
	int err = bitmap_inode_used(r, ino, &used);

	if (err != 0 || !used)
		return err;
	return rinode_get(r, ino, INODE_FOR_ORPHAN, ret);
}

/* --- ranges --------------------------------------------------------------------------------------------------------------- */

static struct map_piece decode_range(const uint8_t *value)
{
	const struct disk_extent *e = (const void *)(value + 4);

	return (struct map_piece){
		.lblk = le32_get(e->block),
		.len = disk_extent_len(e),
		.pblk = disk_extent_pblk(e),
		.unwritten = disk_extent_unwritten(e),
	};
}

static int check_range(struct recovery *r, inum_t ino, const struct map_piece *p)
{
	if (p->len == 0 || p->lblk > LBLK_MAX - (p->len - 1))
		return fail(r->env, E4_WHY_FC_RANGE, .ino = ino, .block = p->pblk, .found = p->lblk,
			.expected = p->len);
	return volume_check_mapping(r->vol, ino, p->pblk, p->len);
}

/* Maps can be rewritten only as trees. */
static int check_map_kind(struct recovery *r, const struct rinode *ri)
{
	if (!rinode_has_map(ri) || (ri->ip.flags & INODE_FL_EXTENTS) == 0)
		return fail(r->env, E4_WHY_FC_MAP, .ino = ri->ip.ino, .found = ri->ip.flags,
			.expected = INODE_FL_EXTENTS);
	return 0;
}

static int add_range(struct recovery *r, const struct record *rec)
{
	struct map_piece piece = decode_range(rec->value);
	struct rinode *ri;
	int err = get_inode(r, le32_at(rec->value), &ri);

	if (err != 0 || ri == NULL)
		return err;
	err = check_map_kind(r, ri);
	if (err == 0)
		err = check_range(r, ri->ip.ino, &piece);
	return err != 0 ? err : map_set(r, ri, &piece);
}

static int del_range(struct recovery *r, const struct record *rec)
{
	uint64_t lblk = le32_at(rec->value + 4);
	uint64_t len = le32_at(rec->value + 8);
	struct rinode *ri;
	int err = get_inode(r, le32_at(rec->value), &ri);

	if (err != 0 || ri == NULL || len == 0)
		return err;
	err = check_map_kind(r, ri);
	return err != 0 ? err : map_remove(r, ri, lblk, min_u64(lblk + len, (uint64_t)1 << 32));
}

/* --- inodes --------------------------------------------------------------------------------------------------------------- */

static bool is_dir_mode(uint32_t mode)
{
	return (mode & INODE_TYPE_MASK) == INODE_DIR;
}

/*
 * A slot that becomes an inode: zeroed first, since what a free slot holds is nobody's. One that is in use under another generation
 * was deleted by an UNLINK before; what it had is freed now.
 */
static int claim_slot(
	struct recovery *r, inum_t ino, const struct disk_inode *image, uint8_t **ret_raw)
{
	bool used = false;
	pblk_t pblk;
	uint32_t offset;
	struct buf *b;
	int err = bitmap_inode_used(r, ino, &used);

	if (err == 0 && used) {
		struct rinode *old;
		bool changed;

		err = rinode_get(r, ino, INODE_FOR_ORPHAN, &old);
		if (err == 0 && old->ip.nlink == 0 &&
			old->ip.generation != le32_get(image->generation)) {
			err = rinode_delete(r, old, &changed);
			used = false;
		}
		/* The list of pieces goes with the object; the tree must say the same first. */
		if (err == 0 && used && old->map_changed)
			err = map_write(r, old);
	}
	if (err == 0)
		err = volume_inode_location(r->vol, ino, &pblk, &offset);
	if (err == 0)
		err = tx_get(r, pblk, &buf_kind_plain, 0, 0, &b);
	if (err != 0)
		return err;
	*ret_raw = b->data + offset;
	if (used)
		return 0;
	memset(*ret_raw, 0, r->vol->inode_size);
	err = usage_note_free(r, ino);
	return err != 0 ? err : bitmap_use_inode(r, ino, is_dir_mode(le16_get(image->mode)));
}

/* The image over the slot, but for i_block (unless the data is there) and the links of the orphan list. */
static int overlay_image(
	struct recovery *r, inum_t ino, const uint8_t *image, uint32_t len, uint8_t *raw)
{
	struct disk_inode *di = (void *)raw;
	size_t before = offsetof(struct disk_inode, block);
	size_t after = offsetof(struct disk_inode, generation);
	struct le32 dtime = di->dtime;
	int listed = orphans_on_list(r, ino);

	if (listed < 0)
		return listed;
	memcpy(raw, image, before);
	memcpy(raw + after, image + after, len - after);
	di->dtime = listed > 0 ? dtime : le32_put(0);
	uint32_t flags = le32_get(di->flags);
	uint32_t type = le16_get(di->mode) & INODE_TYPE_MASK;

	if ((flags & INODE_FL_INLINE_DATA) != 0) {
		memcpy(di->block, image + before, sizeof(di->block));
	} else if ((flags & INODE_FL_EXTENTS) != 0) {
		if (le16_at(di->block) != EXTENT_MAGIC) {
			struct disk_extent_header *h = (void *)di->block;

			memset(di->block, 0, sizeof(di->block));
			h->magic = le16_put(EXTENT_MAGIC);
			h->max = le16_put(EXTENT_ROOT_ENTRIES);
		}
	} else if (type != INODE_REG && type != INODE_DIR) {
		/* A short link's target, a device's number: not in any range record. */
		memcpy(di->block, image + before, sizeof(di->block));
	}
	return 0;
}

static int apply_inode(struct recovery *r, const struct record *rec)
{
	inum_t ino = le32_at(rec->value);
	const struct disk_inode *image = (const void *)(rec->value + 4);
	uint32_t len = min_u32(rec->len - 4, r->vol->inode_size);
	struct rinode *ri;
	uint8_t *raw;

	if (!number_ok(r, ino))
		return 0;
	int err = claim_slot(r, ino, image, &raw);

	if (err == 0)
		err = overlay_image(r, ino, rec->value + 4, len, raw);
	if (err != 0)
		return err;
	/* The checksum in the image is that of a whole inode with another map. */
	rinode_seal_raw(r, ino, raw);
	return rinode_reload(r, ino, INODE_FOR_ORPHAN, &ri);
}

/* --- names ------------------------------------------------------------------------------------------------------------------- */

static uint8_t type_of(const struct rinode *ri)
{
	switch ((enum inode_type)(ri->ip.mode & INODE_TYPE_MASK)) {
	case INODE_REG:
		return DIRENT_REG;
	case INODE_DIR:
		return DIRENT_DIR;
	case INODE_CHR:
		return DIRENT_CHR;
	case INODE_BLK:
		return DIRENT_BLK;
	case INODE_FIFO:
		return DIRENT_FIFO;
	case INODE_SOCK:
		return DIRENT_SOCK;
	case INODE_LNK:
		return DIRENT_LNK;
	case INODE_TYPE_MASK:
		break;
	}
	return DIRENT_UNKNOWN;
}

/* A directory's count of 1 stands for "too many to count" and stays. */
static void change_links(struct rinode *ri, int delta)
{
	bool many = inode_is(&ri->ip, INODE_DIR) && ri->ip.nlink == 1;

	if (!many && (delta > 0 || ri->ip.nlink > 0))
		ri->ip.nlink = (uint32_t)((int64_t)ri->ip.nlink + delta);
	if (inode_is(&ri->ip, INODE_DIR) && ri->ip.nlink > INODE_LINKS_MAX)
		ri->ip.nlink = 1;
	rinode_store(ri);
}

/* "." and ".." of a directory that was made in this fast commit, its own links and its parent's. */
static int start_directory(struct recovery *r, struct rinode *ri, struct rinode *parent)
{
	int err = dir_edit_init(r, ri, parent->ip.ino);

	if (err != 0)
		return err;
	ri->ip.nlink = 2;
	rinode_store(ri);
	change_links(parent, 1);
	return 0;
}

static int check_name(struct recovery *r, const struct record *rec)
{
	const uint8_t *name = rec->value + 8;
	uint32_t len = rec->len - 8;
	bool dots = name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));

	if (dots || memchr(name, '/', len) != NULL || memchr(name, 0, len) != NULL)
		return fail(r->env, E4_WHY_FC_NAME, .ino = le32_at(rec->value), .found = len);
	return 0;
}

/* CREAT and LINK. */
static int add_name(struct recovery *r, const struct record *rec)
{
	const uint8_t *name = rec->value + 8;
	uint32_t len = rec->len - 8;
	struct rinode *parent;
	struct rinode *ri;
	inum_t there;
	int err = get_inode(r, le32_at(rec->value), &parent);

	if (err == 0 && parent != NULL)
		err = get_inode(r, le32_at(rec->value + 4), &ri);
	if (err != 0 || parent == NULL || ri == NULL)
		return err;
	err = check_name(r, rec);
	if (err != 0)
		return err;
	int found = dir_edit_find(r, parent, name, len, &there);

	if (found != 0) {
		if (found > 0 && there != ri->ip.ino)
			log_line(r->env,
				E4_LOG_WARN, "image: fast commit: a name in directory %u stands for inode %u, not %u",
				parent->ip.ino, there, ri->ip.ino);
		return found < 0 ? found : 0;
	}
	err = dir_edit_add(r, parent, name, len, ri->ip.ino, type_of(ri));
	if (err != 0)
		return err;
	if (rec->tag == FC_CREAT && inode_is(&ri->ip, INODE_DIR))
		return start_directory(r, ri, parent);
	if (rec->tag == FC_CREAT) {
		ri->ip.nlink = 1;
		rinode_store(ri);
	} else {
		change_links(ri, 1);
	}
	return 0;
}

/* At 0 links the inode goes at the end, when no later record brought it back. */
static int remove_name(struct recovery *r, const struct record *rec)
{
	struct rinode *parent;
	struct rinode *ri;
	int err = get_inode(r, le32_at(rec->value), &parent);

	if (err == 0 && parent != NULL)
		err = get_inode(r, le32_at(rec->value + 4), &ri);
	if (err != 0 || parent == NULL || ri == NULL)
		return err;
	int removed = dir_edit_remove(r, parent, rec->value + 8, rec->len - 8, ri->ip.ino);

	if (removed <= 0)
		return removed;
	if (inode_is(&ri->ip, INODE_DIR)) {
		ri->ip.nlink = 0;
		rinode_store(ri);
		change_links(parent, -1);
	} else {
		change_links(ri, -1);
	}
	return 0;
}

/* --- all --------------------------------------------------------------------------------------------------------------------- */

static int apply(struct recovery *r, const struct record *rec)
{
	switch ((enum fc_tag)rec->tag) {
	case FC_ADD_RANGE:
		return add_range(r, rec);
	case FC_DEL_RANGE:
		return del_range(r, rec);
	case FC_CREAT:
	case FC_LINK:
		return add_name(r, rec);
	case FC_UNLINK:
		return remove_name(r, rec);
	case FC_INODE:
		return apply_inode(r, rec);
	case FC_PAD:
	case FC_TAIL:
	case FC_HEAD:
		break;
	}
	return 0;
}

/* What later records map must not be taken for a tree or directory block meanwhile. */
static int claim_ranges(struct recovery *r, const uint8_t *records, uint32_t len)
{
	struct record rec;
	uint32_t at = 0;
	uint32_t count = 0;

	while (next_record(records, len, &at, &rec) != 0)
		count += rec.tag == FC_ADD_RANGE;
	if (count == 0)
		return 0;
	r->claims = mem_zalloc_array(r->env, count, sizeof(*r->claims));
	if (r->claims == NULL)
		return -ENOMEM;
	r->claim_count = count;
	count = at = 0;
	while (next_record(records, len, &at, &rec) != 0) {
		if (rec.tag == FC_ADD_RANGE) {
			struct map_piece p = decode_range(rec.value);

			r->claims[count++] = (struct claim){p.pblk, p.len};
		}
	}
	return 0;
}

/* Bits of everything that a touched inode has, and its count; or its deletion. */
static int finish_inode(struct recovery *r, struct rinode *ri)
{
	bool changed;
	int listed = ri->ip.nlink == 0 ? orphans_on_list(r, ri->ip.ino) : 0;
	int err = 0;

	if (listed < 0)
		return listed;
	if (ri->ip.nlink == 0 && ri->ip.dtime == 0 && listed == 0)
		return rinode_delete(r, ri, &changed);
	if (ri->ip.nlink == 0)
		return 0;
	if (rinode_has_map(ri) && (ri->ip.flags & INODE_FL_EXTENTS) != 0) {
		err = map_load(r, ri);
		if (err == 0)
			err = map_write(r, ri);
		for (uint32_t i = 0; i < ri->map.count && err == 0; i++)
			err = bitmap_use_blocks(r, ri->map.pieces[i].pblk, ri->map.pieces[i].len);
		for (uint32_t i = 0; i < ri->map.meta_count && err == 0; i++)
			err = bitmap_use_blocks(r, ri->map.meta[i], 1);
	}
	if (err == 0 && ri->ip.file_acl != 0)
		err = bitmap_use_blocks(r, ri->ip.file_acl, 1);
	return err;
}

static int finish(struct recovery *r)
{
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for_safe (it, tmp, &r->inodes[i]) {
			int err = finish_inode(r, container_of(it, struct rinode, hash));

			if (err != 0)
				return err;
		}
	}
	return 0;
}

static int apply_all(struct recovery *r, const uint8_t *records, uint32_t len)
{
	struct record rec;
	uint32_t at = 0;
	int err = claim_ranges(r, records, len);

	while (err == 0 && next_record(records, len, &at, &rec) != 0) {
		err = apply(r, &rec);
		r->result->fast_commits++;
	}
	return err != 0 ? err : finish(r);
}

/* Fast commits on top of the last full commit. */
int fastcommit_replay(struct recovery *r)
{
	uint8_t *records;
	uint32_t len;
	int err = journal_fc_read(r->journal, r->log.next_tid, &records, &len);

	if (err != 0 || len == 0)
		return err;
	err = apply_all(r, records, len);
	mem_free(r->env, records, len);
	return err;
}
