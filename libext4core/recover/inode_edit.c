/*
 * inode_edit.c - inodes that recovery changes: held, stored, deleted.
 *
 * Owns:    recovery->inodes.
 * Locks:   none.
 * Always:  the raw bytes are sealed after each change, so that other rooms can read them at any time.
 * Uses:    inode, extent, bitmap.c.
 */
#include "base/math.h"
#include "base/mem.h"
#include "extent/extent.h"
#include "format/csum.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

static void unhash(struct recovery *r, struct rinode *ri)
{
	list_del(&ri->hash);
	extent_map_drop(&ri->ip);
	map_fini(r->env, &ri->map);
	inode_unload(&ri->ip);
	mem_free(r->env, ri, sizeof(*ri));
}

static struct rinode *find(struct recovery *r, inum_t ino)
{
	list_for (it, &r->inodes[ino % RECOVER_HASH]) {
		struct rinode *ri = container_of(it, struct rinode, hash);

		if (ri->ip.ino == ino)
			return ri;
	}
	return NULL;
}

static int load(struct recovery *r, struct rinode *ri, inum_t ino, enum inode_purpose purpose)
{
	pblk_t pblk;
	uint32_t offset;
	int err = inode_load(r->vol, ino, purpose, &ri->ip);

	if (err != 0)
		return err;
	err = volume_inode_location(r->vol, ino, &pblk, &offset);
	if (err == 0)
		err = tx_get(r, pblk, &buf_kind_plain, 0, 0, &ri->buf);
	if (err != 0) {
		inode_unload(&ri->ip);
		return err;
	}
	ri->raw = ri->buf->data + offset;
	err = purpose == INODE_FOR_ORPHAN ? usage_note_inode(r, &ri->ip) : 0;
	if (err != 0)
		inode_unload(&ri->ip);
	return err;
}

int rinode_get(struct recovery *r, inum_t ino, enum inode_purpose purpose, struct rinode **ret)
{
	struct rinode *ri = find(r, ino);

	if (ri == NULL) {
		ri = mem_zalloc(r->env, sizeof(*ri));
		if (ri == NULL)
			return -ENOMEM;
		int err = load(r, ri, ino, purpose);

		if (err != 0) {
			mem_free(r->env, ri, sizeof(*ri));
			return err;
		}
		list_add(&r->inodes[ino % RECOVER_HASH], &ri->hash);
	}
	*ret = ri;
	return 0;
}

int rinode_reload(struct recovery *r, inum_t ino, enum inode_purpose purpose, struct rinode **ret)
{
	struct rinode *ri = find(r, ino);

	if (ri != NULL)
		unhash(r, ri);
	return rinode_get(r, ino, purpose, ret);
}

void rinode_store(struct rinode *ri)
{
	inode_encode(&ri->ip, ri->raw);
}

void rinode_seal_raw(const struct recovery *r, inum_t ino, uint8_t *raw)
{
	struct disk_inode *di = (void *)raw;
	bool has_hi;

	if (!r->vol->csum)
		return;
	uint32_t seed = csum_inode_seed(r->vol->csum_seed, ino, le32_get(di->generation));
	uint32_t csum = csum_inode(seed, raw, r->vol->inode_size, &has_hi);

	di->checksum_lo = le16_put((uint16_t)csum);
	if (has_hi)
		di->checksum_hi = le16_put((uint16_t)(csum >> 16));
}

void rinodes_drop(struct recovery *r)
{
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for_safe (it, tmp, &r->inodes[i]) {
			unhash(r, container_of(it, struct rinode, hash));
		}
	}
}

/* Whether i_block is a map of blocks. */
bool rinode_has_map(const struct rinode *ri)
{
	const struct inode *ip = &ri->ip;

	if ((ip->flags & INODE_FL_INLINE_DATA) != 0)
		return false;
	if (inode_is(ip, INODE_LNK))
		return !inode_is_fast_symlink(ip) && ip->blocks512 != 0;
	return inode_is(ip, INODE_REG) || inode_is(ip, INODE_DIR);
}

/* --- attributes ------------------------------------------------------------------------------------------------------ */

/* EA inodes that an inode's own entries refer to; those of a block that others share as well keep their references. */
struct ea_refs {
	struct recovery *r;
	pblk_t skip_block; /* entries in this block do not count; 0 = all do */
	struct ea_ref {
		inum_t ino;
		uint32_t size;
	} * refs;
	uint32_t count, capacity;
	uint64_t bytes; /* values, rounded up to clusters */
};

static int add_ea_ref(void *arg, const struct xattr_value *v)
{
	struct ea_refs *e = arg;
	struct volume *vol = e->r->vol;

	if (v->value_ino == 0)
		return 0;
	e->bytes += round_up_u64(v->size, (uint64_t)vol->block_size << vol->cluster_bits);
	if (e->skip_block != 0 && v->buf->pblk == e->skip_block)
		return 0;
	if (e->count == e->capacity) {
		uint32_t capacity = e->capacity == 0 ? 8 : e->capacity * 2;
		struct ea_ref *bigger = mem_zalloc_array(e->r->env, capacity, sizeof(*bigger));

		if (bigger == NULL)
			return -ENOMEM;
		if (e->count > 0)
			memcpy(bigger, e->refs, e->count * sizeof(*bigger));
		mem_free(e->r->env, e->refs, e->capacity * sizeof(*e->refs));
		e->refs = bigger;
		e->capacity = capacity;
	}
	e->refs[e->count++] = (struct ea_ref){v->value_ino, v->size};
	return 0;
}

static void ea_refs_fini(struct ea_refs *e)
{
	mem_free(e->r->env, e->refs, e->capacity * sizeof(*e->refs));
}

/* The xattr block, to be changed, and how many inodes share it. */
static int get_xattr_block(
	struct recovery *r, struct rinode *ri, struct buf **ret, uint32_t *ret_refs)
{
	int err = tx_get(r, ri->ip.file_acl, &buf_kind_xattr, ri->ip.ino, r->vol->csum_seed, ret);

	if (err == 0) {
		const struct disk_xattr_block_header *h = (const void *)(*ret)->data;

		*ret_refs = le32_get(h->refcount);
	}
	return err;
}

/* --- deletion --------------------------------------------------------------------------------------------------------- */

static int prepare_meta(void *arg, pblk_t pblk)
{
	return bitmap_prepare_blocks(arg, pblk, 1);
}

static int prepare_run(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	(void)lblk;
	(void)unwritten;
	return bitmap_prepare_blocks(arg, pblk, len);
}

static int free_meta(void *arg, pblk_t pblk)
{
	return bitmap_free_blocks(arg, pblk, 1);
}

static int free_run(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	(void)lblk;
	(void)unwritten;
	return bitmap_free_blocks(arg, pblk, len);
}

/* Everything that deletion will read, read; so that what follows fails only for want of memory. */
static int prepare_delete(struct recovery *r, struct rinode *ri, struct ea_refs *ea)
{
	struct extent_visit visit = {.meta = prepare_meta, .run = prepare_run, .arg = r};
	struct inode *ip = &ri->ip;
	uint32_t refs = 0;
	struct buf *b;
	int err = bitmap_prepare_inode(r, ip->ino);

	if (err == 0 && rinode_has_map(ri))
		err = extent_visit_all(ip, &visit);
	if (err == 0 && ip->file_acl != 0) {
		err = bitmap_prepare_blocks(r, ip->file_acl, 1);
		if (err == 0)
			err = get_xattr_block(r, ri, &b, &refs);
		if (refs > 1)
			ea->skip_block = ip->file_acl;
	}
	if (err == 0)
		err = xattr_foreach(ip, add_ea_ref, ea);
	return err;
}

static void make_empty_root(struct inode *ip)
{
	memset(ip->block, 0, sizeof(ip->block));
	if ((ip->flags & INODE_FL_EXTENTS) != 0) {
		struct disk_extent_header *h = (void *)ip->block;

		h->magic = le16_put(EXTENT_MAGIC);
		h->max = le16_put(EXTENT_ROOT_ENTRIES);
	}
}

static int free_map(struct recovery *r, struct rinode *ri)
{
	struct extent_visit visit = {.meta = free_meta, .run = free_run, .arg = r};

	if (!rinode_has_map(ri))
		return 0;
	if (!ri->map_changed)
		return extent_visit_all(&ri->ip, &visit);
	/* The list is newer than the tree on disk. */
	for (uint32_t i = 0; i < ri->map.count; i++) {
		int err = bitmap_free_blocks(r, ri->map.pieces[i].pblk, ri->map.pieces[i].len);

		if (err != 0)
			return err;
	}
	for (uint32_t i = 0; i < ri->map.meta_count; i++) {
		int err = bitmap_free_blocks(r, ri->map.meta[i], 1);

		if (err != 0)
			return err;
	}
	return 0;
}

static int drop_xattr_block(struct recovery *r, struct rinode *ri)
{
	uint32_t refs;
	struct buf *b;

	if (ri->ip.file_acl == 0)
		return 0;
	int err = get_xattr_block(r, ri, &b, &refs);

	if (err != 0)
		return err;
	pblk_t pblk = ri->ip.file_acl;

	ri->ip.file_acl = 0;
	if (refs <= 1)
		return bitmap_free_blocks(r, pblk, 1);
	struct disk_xattr_block_header *h = (void *)b->data;

	h->refcount = le32_put(refs - 1);
	buf_seal(b);
	return 0;
}

/* The inode itself, without attributes: also the way an EA inode goes. */
static int delete_body(struct recovery *r, struct rinode *ri)
{
	struct inode *ip = &ri->ip;
	bool fast = inode_is_fast_symlink(ip);
	bool is_dir = inode_is(ip, INODE_DIR);
	int err = free_map(r, ri);

	if (err != 0)
		return err;
	map_fini(r->env, &ri->map);
	ri->map_loaded = ri->map_changed = false;
	extent_map_drop(ip);
	make_empty_root(ip);
	if (!fast)
		ip->size = 0;
	ip->blocks512 = 0;
	ip->nlink = 0;
	ip->dtime = r->now;
	rinode_store(ri);
	return bitmap_free_inode(r, ip->ino, is_dir);
}

/* One reference less; the last deletes the value. The count stands in ctime (high) and version (low). */
static int drop_ea_ref(struct recovery *r, inum_t ino)
{
	struct rinode *ri;
	int err = rinode_get(r, ino, INODE_FOR_EA, &ri);

	if (err != 0)
		return err;
	struct disk_inode *di = (void *)ri->raw;
	uint64_t refs = (uint64_t)le32_get(di->ctime) << 32 | le32_get(di->version_lo);

	if (refs > 1) {
		di->ctime = le32_put((uint32_t)((refs - 1) >> 32));
		di->version_lo = le32_put((uint32_t)(refs - 1));
		/* Decoded anew, as encoding would put the old ctime back. */
		ri->ip.ctime.sec = (int32_t)le32_get(di->ctime);
		rinode_store(ri);
		return 0;
	}
	di->version_lo = le32_put(0);
	return delete_body(r, ri);
}

int rinode_delete(struct recovery *r, struct rinode *ri, bool *ret_changed)
{
	struct ea_refs ea = {.r = r};
	int err = prepare_delete(r, ri, &ea);

	*ret_changed = false;
	if (err == 0) {
		*ret_changed = true;
		err = drop_xattr_block(r, ri);
	}
	for (uint32_t i = 0; i < ea.count && err == 0; i++)
		err = drop_ea_ref(r, ea.refs[i].ino);
	if (err == 0)
		err = delete_body(r, ri);
	ea_refs_fini(&ea);
	return err;
}

/* --- i_blocks --------------------------------------------------------------------------------------------------------- */

/* Clusters that pieces use: each counts once, also where two pieces share it (they are neighbours then). */
static uint64_t count_clusters(const struct volume *vol, const struct map_list *m)
{
	uint64_t clusters = m->meta_count;
	uint64_t last = UINT64_MAX;

	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t from = (uint64_t)m->pieces[i].lblk >> vol->cluster_bits;
		uint64_t to = ((uint64_t)m->pieces[i].lblk + m->pieces[i].len - 1) >>
			      vol->cluster_bits;

		clusters += to - from + 1 - (from == last ? 1 : 0);
		last = to;
	}
	return clusters;
}

int rinode_count_blocks(struct recovery *r, struct rinode *ri)
{
	struct ea_refs ea = {.r = r};
	uint32_t shift = r->vol->block_bits - 9 + r->vol->cluster_bits;
	uint64_t clusters = 0;
	int err = 0;

	if (rinode_has_map(ri)) {
		err = map_load(r, ri);
		clusters = count_clusters(r->vol, &ri->map);
	}
	if (err == 0 && (ri->ip.flags & INODE_FL_EA_INODE) == 0)
		err = xattr_foreach(&ri->ip, add_ea_ref, &ea);
	if (ri->ip.file_acl != 0)
		clusters++;
	ri->ip.blocks512 = (clusters << shift) + ea.bytes / 512;
	ea_refs_fini(&ea);
	return err;
}
