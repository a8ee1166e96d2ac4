/*
 * dir_edit.c - adds and removes names: in inline, linear and indexed directories (directories.md "Insert / delete in a leaf").
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  every chain of entries is checked step by step before it is trusted; a changed block is sealed at once.
 * Uses:    dir_index.c for indexed directories; dir for kinds, hashes and folding.
 */
#include "recover/dir_edit.h"

#include "base/math.h"
#include "base/mem.h"
#include "format/xattr.h"

#include <errno.h>
#include <string.h>

/* --- chains ------------------------------------------------------------------------------------------------------------- */

/* 1 and the entry at `at`, 0 behind the last, -EUCLEAN. */
static int chain_entry(struct recovery *r, const struct chain *c, uint32_t at,
	struct disk_dirent **ret, uint32_t *ret_len)
{
	if (at >= c->len)
		return 0;
	struct disk_dirent *d = (void *)(c->data + at);

	if (c->len - at < DIRENT_HEADER_SIZE)
		return fail(r->env, E4_WHY_DIR_EDIT_CHAIN, .ino = c->ino, .found = at,
			.expected = c->len);
	uint32_t len = dirent_rec_len(d, r->vol->block_size);

	if (len < DIRENT_HEADER_SIZE || len % 4 != 0 || len > c->size - at ||
		dirent_need(d->name_len, false) > len)
		return fail(r->env, E4_WHY_DIR_EDIT_ENTRY, .ino = c->ino, .found = len,
			.expected = c->size - at);
	*ret = d;
	*ret_len = len;
	return 1;
}

struct chain dir_chain_of_block(
	const struct recovery *r, const struct rinode *dir, uint8_t *data, bool leaf)
{
	uint32_t bs = r->vol->block_size;

	return (struct chain){.data = data,
		.size = bs,
		.len = leaf && r->vol->csum ? bs - DIRENT_TAIL_SIZE : bs,
		.ino = dir->ip.ino};
}

/* By bytes; in a casefolded directory also by the folded form. */
static bool name_matches(
	const struct rinode *dir, const struct disk_dirent *d, const uint8_t *name, uint32_t len)
{
	const uint8_t *other = (const uint8_t *)(d + 1);
	uint8_t a[1024];
	uint8_t b[sizeof(a) / 2];

	if (d->name_len == len && memcmp(other, name, len) == 0)
		return true;
	if ((dir->ip.flags & INODE_FL_CASEFOLD) == 0)
		return false;
	int n = casefold(name, len, a, sizeof(b));
	int m = casefold(other, d->name_len, b, sizeof(b));

	return n > 0 && n == m && memcmp(a, b, (size_t)n) == 0;
}

/* 1 and the places of the entry and of the one before it (UINT32_MAX: none). */
int dir_chain_find(struct recovery *r, const struct rinode *dir, const struct chain *c,
	const uint8_t *name, uint32_t len, struct found *ret)
{
	uint32_t prev = UINT32_MAX;
	struct disk_dirent *d;
	uint32_t rec_len;
	int more;

	for (uint32_t at = 0; (more = chain_entry(r, c, at, &d, &rec_len)) > 0; at += rec_len) {
		if (le32_get(d->inode) != 0 && name_matches(dir, d, name, len)) {
			*ret = (struct found){.at = at, .prev = prev, .ino = le32_get(d->inode)};
			return 1;
		}
		prev = at;
	}
	return more;
}

static void remove_at(struct recovery *r, const struct chain *c, const struct found *f)
{
	struct disk_dirent *d = (void *)(c->data + f->at);
	uint32_t bs = r->vol->block_size;
	uint32_t len = dirent_rec_len(d, bs);

	if (f->prev == UINT32_MAX) {
		d->inode = le32_put(0);
		memset((uint8_t *)(d + 1), 0, len - DIRENT_HEADER_SIZE);
		return;
	}
	struct disk_dirent *p = (void *)(c->data + f->prev);

	p->rec_len = dirent_rec_len_put(dirent_rec_len(p, bs) + len);
	memset(d, 0, len);
}

void dir_put_entry(const struct recovery *r, void *at, uint32_t rec_len, const struct new_entry *e)
{
	struct disk_dirent *d = at;
	bool typed = volume_has_incompat(r->vol, FEATURE_INCOMPAT_FILETYPE);

	memset(d, 0, dirent_need(e->len, false));
	d->inode = le32_put(e->ino);
	d->rec_len = dirent_rec_len_put(rec_len);
	d->name_len = (uint8_t)e->len;
	d->file_type = typed ? e->type : 0;
	memcpy((uint8_t *)(d + 1), e->name, e->len);
}

/* 1 when the chain had room. */
int dir_chain_add(struct recovery *r, const struct chain *c, const struct new_entry *e)
{
	uint32_t need = dirent_need(e->len, false);
	struct disk_dirent *d;
	uint32_t rec_len;
	int more;

	for (uint32_t at = 0; (more = chain_entry(r, c, at, &d, &rec_len)) > 0; at += rec_len) {
		uint32_t keep = le32_get(d->inode) != 0 ? dirent_need(d->name_len, false) : 0;

		if (rec_len - keep < need)
			continue;
		if (keep > 0)
			d->rec_len = dirent_rec_len_put(keep);
		dir_put_entry(r, c->data + at + keep, rec_len - keep, e);
		return 1;
	}
	return more;
}

/* One unused entry that fills a block, and the tail. */
void dir_make_empty_block(const struct recovery *r, uint8_t *data)
{
	uint32_t bs = r->vol->block_size;
	uint32_t len = r->vol->csum ? bs - DIRENT_TAIL_SIZE : bs;
	struct disk_dirent *d = (void *)data;

	memset(data, 0, bs);
	d->rec_len = dirent_rec_len_put(len);
	if (r->vol->csum) {
		struct disk_dirent_tail *t = (void *)(data + len);

		t->rec_len = le16_put(DIRENT_TAIL_SIZE);
		t->type = DIRENT_TAIL_TYPE;
	}
}

/* --- blocks --------------------------------------------------------------------------------------------------------------- */

uint32_t dir_edit_blocks(const struct recovery *r, const struct rinode *dir)
{
	return (uint32_t)min_u64(dir->ip.size >> r->vol->block_bits, UINT32_MAX);
}

int dir_edit_block(struct recovery *r, struct rinode *dir, lblk_t lblk, const struct buf_kind *kind,
	struct buf **ret)
{
	const struct map_piece *p = map_find(dir, lblk);

	if (p == NULL || p->unwritten)
		return fail(r->env, E4_WHY_DIR_EDIT_HOLE, .ino = dir->ip.ino, .found = lblk);
	return tx_get(r, p->pblk + (lblk - p->lblk), kind, dir->ip.ino, dir->ip.csum_seed, ret);
}

/* Appends a block: mapped, zeroed, counted in the size. */
int dir_edit_append(struct recovery *r, struct rinode *dir, const struct buf_kind *kind,
	lblk_t *ret_lblk, struct buf **ret)
{
	lblk_t lblk = dir_edit_blocks(r, dir);
	const struct map_piece *last = lblk > 0 ? map_find(dir, lblk - 1) : NULL;
	const struct map_piece *there = map_find(dir, lblk);
	pblk_t pblk;
	int err = 0;

	if (there != NULL) {
		pblk = there->pblk + (lblk - there->lblk);
	} else if (r->vol->cluster_ratio > 1 && lblk % r->vol->cluster_ratio != 0 && last != NULL) {
		/* The rest of the last block's cluster is this directory's already. */
		pblk = last->pblk + (lblk - last->lblk);
	} else {
		pblk_t goal = last != NULL ? last->pblk + last->len : r->vol->first_data_block;

		err = bitmap_alloc_block(r, goal, &pblk);
	}
	if (err == 0)
		err = map_set(r, dir, &(struct map_piece){.lblk = lblk, .len = 1, .pblk = pblk});
	if (err == 0)
		err = tx_get_zeroed(r, pblk, kind, dir->ip.ino, dir->ip.csum_seed, ret);
	if (err != 0)
		return err;
	dir->ip.size = ((uint64_t)lblk + 1) << r->vol->block_bits;
	*ret_lblk = lblk;
	return map_write(r, dir);
}

static bool is_indexed(const struct recovery *r, const struct rinode *dir)
{
	return (dir->ip.flags & INODE_FL_INDEX) != 0 &&
	       volume_has_compat(r->vol, FEATURE_COMPAT_DIR_INDEX);
}

/* --- inline directories ---------------------------------------------------------------------------------------------------- */

/* The two chains of an inline directory, in the raw inode. */
static int inline_chains(struct recovery *r, struct rinode *dir, struct chain ret[2])
{
	struct disk_inode *di = (void *)dir->raw;
	const uint8_t *value;
	uint32_t len;
	struct buf *b;
	int err = inline_data_parts(&dir->ip, &value, &len, &b);

	if (err != 0)
		return err;
	ret[0] = (struct chain){
		di->block + 4, INODE_BLOCK_BYTES - 4, INODE_BLOCK_BYTES - 4, dir->ip.ino};
	ret[1] = (struct chain){NULL, 0, 0, dir->ip.ino};
	if (len > 0) {
		/* The value lies in the inode's own slot, which this recovery may change. */
		uint8_t *own = dir->raw + (value - dir->raw);

		ret[1] = (struct chain){own, len, len, dir->ip.ino};
	}
	if (b != NULL)
		buf_put(b);
	(void)r;
	return 0;
}

/* The raw bytes were changed in place. */
static void inline_changed(struct rinode *dir)
{
	const struct disk_inode *di = (const void *)dir->raw;

	memcpy(dir->ip.block, di->block, sizeof(dir->ip.block));
	rinode_store(dir);
}

/* Takes system.data out of the inode's own attributes. Values of others stay where they are. */
static void drop_inline_attribute(struct recovery *r, struct rinode *dir)
{
	const struct disk_inode *di = (const void *)dir->raw;
	uint32_t start = INODE_CLASSIC_SIZE + le16_get(di->extra_isize) + 4;
	uint32_t end = r->vol->inode_size;

	for (uint32_t at = start; at + sizeof(struct disk_xattr_entry) <= end;) {
		struct disk_xattr_entry *e = (void *)(dir->raw + at);
		uint32_t size = (uint32_t)sizeof(*e) + ((e->name_len + 3u) & ~3u);
		uint32_t last = at + size;

		if (le32_at(e) == 0 || last > end)
			return;
		if (e->name_index != XATTR_INDEX_SYSTEM || e->name_len != 4 ||
			memcmp(e + 1, "data", 4) != 0) {
			at = last;
			continue;
		}
		uint32_t value = start + le16_get(e->value_offs);
		uint32_t len = (le32_get(e->value_size) + 3u) & ~3u;

		if (le16_get(e->value_offs) != 0 && value <= end && len <= end - value)
			memset(dir->raw + value, 0, len);
		while (last + 4 <= end && le32_at(dir->raw + last) != 0) {
			const struct disk_xattr_entry *n = (const void *)(dir->raw + last);
			uint32_t n_size = (uint32_t)sizeof(*n) + ((n->name_len + 3u) & ~3u);

			if (n_size > end - last)
				break;
			last += n_size;
		}
		memmove(dir->raw + at, dir->raw + at + size, last - at - size);
		memset(dir->raw + last - size, 0, size);
		return;
	}
}

/* All entries of a chain into another, which has room. */
static int copy_chain(struct recovery *r, const struct chain *from, const struct chain *to)
{
	struct disk_dirent *d;
	uint32_t rec_len;
	int more;

	for (uint32_t at = 0; (more = chain_entry(r, from, at, &d, &rec_len)) > 0; at += rec_len) {
		struct new_entry e = {.name = (const uint8_t *)(d + 1),
			.len = d->name_len,
			.ino = le32_get(d->inode),
			.type = d->file_type};

		if (e.ino == 0)
			continue;
		int added = dir_chain_add(r, to, &e);

		if (added <= 0)
			return added < 0 ? added
					 : fail(r->env, E4_WHY_DIR_EDIT_INLINE, .ino = from->ino);
	}
	return more;
}

/* "." and ".." and then one unused entry. */
static void make_dots(struct recovery *r, uint8_t *data, inum_t self, inum_t parent)
{
	uint32_t bs = r->vol->block_size;
	uint32_t len = r->vol->csum ? bs - DIRENT_TAIL_SIZE : bs;
	struct new_entry dot = {
		.name = (const uint8_t *)".", .len = 1, .ino = self, .type = DIRENT_DIR};
	struct new_entry dots = {
		.name = (const uint8_t *)"..", .len = 2, .ino = parent, .type = DIRENT_DIR};

	dir_make_empty_block(r, data);
	dir_put_entry(r, data, DIRENT_MIN_SIZE, &dot);
	dir_put_entry(r, data + DIRENT_MIN_SIZE, len - DIRENT_MIN_SIZE, &dots);
}

/* An inline directory that is full moves to a block. */
static int inline_to_block(struct recovery *r, struct rinode *dir)
{
	struct chain inl[2];
	uint32_t bs = r->vol->block_size;
	uint8_t *block = mem_zalloc(r->env, bs);
	struct chain to = dir_chain_of_block(r, dir, block, true);
	lblk_t lblk;
	struct buf *b;

	if (block == NULL)
		return -ENOMEM;
	make_dots(r, block, dir->ip.ino, le32_at(dir->ip.block));
	int err = inline_chains(r, dir, inl);

	for (uint32_t i = 0; i < 2 && err == 0; i++)
		err = copy_chain(r, &inl[i], &to);
	if (err != 0)
		goto out_free;
	drop_inline_attribute(r, dir);
	dir->ip.flags = (dir->ip.flags & ~INODE_FL_INLINE_DATA) | INODE_FL_EXTENTS;
	dir->ip.size = 0;
	memset(dir->ip.block, 0, sizeof(dir->ip.block));
	map_fini(r->env, &dir->map);
	dir->map_loaded = true;
	dir->map_changed = true;
	err = dir_edit_append(r, dir, &buf_kind_dir_leaf, &lblk, &b);
	if (err == 0) {
		memcpy(b->data, block, bs);
		buf_seal(b);
	}

out_free:
	mem_free(r->env, block, bs);
	return err;
}

/* 1 done, 0 not there (or, for add, no room). op is add when e is given. */
static int inline_op(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	const struct new_entry *e, struct found *ret)
{
	struct chain c[2];
	int done = inline_chains(r, dir, c);

	for (uint32_t i = 0; i < 2 && done == 0; i++) {
		if (c[i].len == 0)
			continue;
		done = e != NULL ? dir_chain_add(r, &c[i], e)
				 : dir_chain_find(r, dir, &c[i], name, len, ret);
		if (done > 0)
			ret->chain = c[i];
	}
	if (done > 0 && e != NULL)
		inline_changed(dir);
	return done;
}

/* --- linear directories ------------------------------------------------------------------------------------------------------ */

static int linear_find(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	struct found *ret)
{
	uint32_t count = dir_edit_blocks(r, dir);

	for (lblk_t lblk = 0; lblk < count; lblk++) {
		struct buf *b;
		int err = dir_edit_block(r, dir, lblk, &buf_kind_dir_leaf, &b);

		if (err != 0)
			return err;
		struct chain c = dir_chain_of_block(r, dir, b->data, true);
		int found = dir_chain_find(r, dir, &c, name, len, ret);

		if (found != 0) {
			ret->buf = b;
			ret->chain = c;
			return found;
		}
	}
	return 0;
}

static int linear_add(struct recovery *r, struct rinode *dir, const struct new_entry *e)
{
	uint32_t count = dir_edit_blocks(r, dir);
	lblk_t lblk;
	struct buf *b;
	int err;

	for (lblk = 0; lblk < count; lblk++) {
		err = dir_edit_block(r, dir, lblk, &buf_kind_dir_leaf, &b);
		if (err != 0)
			return err;
		struct chain c = dir_chain_of_block(r, dir, b->data, true);
		int added = dir_chain_add(r, &c, e);

		if (added > 0)
			buf_seal(b);
		if (added != 0)
			return added < 0 ? added : 0;
	}
	err = dir_edit_append(r, dir, &buf_kind_dir_leaf, &lblk, &b);
	if (err != 0)
		return err;
	dir_make_empty_block(r, b->data);
	struct chain c = dir_chain_of_block(r, dir, b->data, true);

	err = dir_chain_add(r, &c, e);
	buf_seal(b);
	return err < 0 ? err : 0;
}

/* --- the face ------------------------------------------------------------------------------------------------------------------ */

static int check_dir(struct recovery *r, struct rinode *dir)
{
	if (!inode_is(&dir->ip, INODE_DIR))
		return fail(r->env, E4_WHY_DIR_EDIT_NO_DIR, .ino = dir->ip.ino,
			.found = dir->ip.mode, .expected = INODE_DIR);
	if ((dir->ip.flags & INODE_FL_ENCRYPT) != 0 && (dir->ip.flags & INODE_FL_CASEFOLD) != 0)
		return fail(r->env, E4_WHY_DIR_EDIT_SECRET, .ino = dir->ip.ino);
	return (dir->ip.flags & INODE_FL_INLINE_DATA) != 0 ? 0 : map_load(r, dir);
}

static int locate(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	struct found *ret)
{
	int err = check_dir(r, dir);

	*ret = (struct found){.buf = NULL};
	if (err != 0)
		return err;
	if ((dir->ip.flags & INODE_FL_INLINE_DATA) != 0)
		return inline_op(r, dir, name, len, NULL, ret);
	if (is_indexed(r, dir))
		return dir_index_find(r, dir, name, len, ret);
	return linear_find(r, dir, name, len, ret);
}

int dir_edit_find(
	struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len, inum_t *ret_ino)
{
	struct found f;
	int found = locate(r, dir, name, len, &f);

	if (found > 0)
		*ret_ino = f.ino;
	return found;
}

int dir_edit_remove(
	struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len, inum_t ino)
{
	struct found f;
	int found = locate(r, dir, name, len, &f);

	if (found <= 0 || f.ino != ino)
		return found < 0 ? found : 0;
	remove_at(r, &f.chain, &f);
	if (f.buf != NULL)
		buf_seal(f.buf);
	else
		inline_changed(dir);
	return 1;
}

int dir_edit_add(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	inum_t ino, uint8_t type)
{
	struct new_entry e = {.name = name, .len = len, .ino = ino, .type = type};
	struct found f;
	int err = check_dir(r, dir);

	if (err == 0 && (dir->ip.flags & INODE_FL_INLINE_DATA) != 0) {
		int done = inline_op(r, dir, name, len, &e, &f);

		if (done != 0)
			return done < 0 ? done : 0;
		err = inline_to_block(r, dir);
	}
	if (err != 0)
		return err;
	return is_indexed(r, dir) ? dir_index_add(r, dir, &e) : linear_add(r, dir, &e);
}

int dir_edit_init(struct recovery *r, struct rinode *dir, inum_t parent)
{
	struct buf *b;
	lblk_t lblk;
	int err = check_dir(r, dir);

	if (err != 0)
		return err;
	if ((dir->ip.flags & INODE_FL_INLINE_DATA) != 0) {
		struct disk_inode *di = (void *)dir->raw;

		if (le32_at(di->block) == 0) {
			struct le32 p = le32_put(parent);

			memcpy(di->block, &p, sizeof(p));
			((struct disk_dirent *)(void *)(di->block + 4))->rec_len = dirent_rec_len_put(
				INODE_BLOCK_BYTES - 4);
			dir->ip.size = INODE_BLOCK_BYTES;
			inline_changed(dir);
		}
		return 0;
	}
	dir->ip.size = 0;
	err = dir_edit_append(r, dir, &buf_kind_dir_leaf, &lblk, &b);
	if (err != 0)
		return err;
	make_dots(r, b->data, dir->ip.ino, parent);
	buf_seal(b);
	return 0;
}
