/*
 * dir_index.c - names in indexed directories: down to the leaf, and splits of leaves and index nodes (directories.md "htree").
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  a path has at most three levels; counts and limits are checked before an entry is read. Blocks are joined, so pointers into
 *          them hold while the directory grows.
 * Uses:    dir_edit.c.
 */
#include "base/math.h"
#include "base/mem.h"
#include "format/htree.h"
#include "recover/dir_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 3u

struct frame {
	struct buf *buf;
	struct disk_htree_entry *entries; /* entry 0's hash slot holds limit and count */
	uint32_t count, limit;
	uint32_t at; /* the entry that was followed */
};

struct path {
	struct frame frames[LEVELS_MAX];
	uint32_t depth; /* frames in use, at least 1 */
	uint8_t version;
	lblk_t leaf;
};

static uint32_t entry_hash(const struct frame *f, uint32_t i)
{
	return i == 0 ? 0 : le32_get(f->entries[i].hash);
}

static lblk_t entry_block(const struct frame *f, uint32_t i)
{
	return le32_get(f->entries[i].block) & HTREE_BLOCK_MASK;
}

static void set_count(struct frame *f, uint32_t count)
{
	struct disk_htree_countlimit *c = (void *)f->entries;

	c->limit = le16_put((uint16_t)f->limit);
	c->count = le16_put((uint16_t)count);
	f->count = count;
}

static int bad_index(struct recovery *r, const struct rinode *dir, uint64_t found, uint64_t expected)
{
	return fail(r->env, E4_WHY_DIR_EDIT_INDEX, .ino = dir->ip.ino, .found = found,
		.expected = expected);
}

static uint32_t limit_of(const struct recovery *r, uint32_t offset)
{
	uint32_t tail = r->vol->csum ? HTREE_TAIL_SIZE : 0;

	return (r->vol->block_size - offset - tail) / (uint32_t)sizeof(struct disk_htree_entry);
}

static int open_frame(struct recovery *r, struct rinode *dir, lblk_t lblk, bool root, struct frame *f)
{
	uint32_t offset = root ? HTREE_ROOT_ENTRIES_OFFSET : HTREE_NODE_ENTRIES_OFFSET;
	int err = dir_edit_block(
		r, dir, lblk, root ? &buf_kind_dir_root : &buf_kind_dir_node, &f->buf);

	if (err != 0)
		return err;
	f->entries = (void *)(f->buf->data + offset);
	const struct disk_htree_countlimit *c = (const void *)f->entries;

	f->limit = le16_get(c->limit);
	f->count = le16_get(c->count);
	f->at = 0;
	if (f->limit != limit_of(r, offset) || f->count == 0 || f->count > f->limit)
		return bad_index(r, dir, f->count, f->limit);
	return 0;
}

static void choose(struct frame *f, uint32_t hash)
{
	uint32_t lo = 1;
	uint32_t hi = f->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (entry_hash(f, mid) <= hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	f->at = lo - 1;
}

/* The root, and what it says about the index. */
static int open_root(struct recovery *r, struct rinode *dir, struct path *p)
{
	int err = open_frame(r, dir, 0, true, &p->frames[0]);

	if (err != 0)
		return err;
	const struct disk_htree_root_info *info = (const void *)(p->frames[0].buf->data +
								 HTREE_ROOT_INFO_OFFSET);
	uint32_t max = volume_has_incompat(r->vol, FEATURE_INCOMPAT_LARGEDIR) ? LEVELS_MAX
									      : LEVELS_MAX - 1;

	if (info->info_length != 8 || info->indirect_levels >= max || info->hash_version > HASH_TEA)
		return bad_index(r, dir, info->hash_version, info->indirect_levels);
	p->depth = info->indirect_levels + 1u;
	p->version = (uint8_t)(info->hash_version +
			       (r->vol->hash_unsigned ? HASH_LEGACY_UNSIGNED : 0));
	return 0;
}

/* Frames below `level` follow what the ones above chose; the first of each when hash is NULL. */
static int descend(struct recovery *r, struct rinode *dir, struct path *p, uint32_t level,
	const uint32_t *hash)
{
	for (; level + 1 < p->depth; level++) {
		const struct frame *above = &p->frames[level];
		int err = open_frame(
			r, dir, entry_block(above, above->at), false, &p->frames[level + 1]);

		if (err != 0)
			return err;
		if (hash != NULL)
			choose(&p->frames[level + 1], *hash);
	}
	p->leaf = entry_block(&p->frames[p->depth - 1], p->frames[p->depth - 1].at);
	return 0;
}

static int probe(struct recovery *r, struct rinode *dir, uint32_t hash, struct path *p)
{
	choose(&p->frames[0], hash);
	return descend(r, dir, p, 0, &hash);
}

/* The next leaf: 1 and the hash of the entry that leads there. */
static int next_leaf(struct recovery *r, struct rinode *dir, struct path *p, uint32_t *ret_hash)
{
	uint32_t level = p->depth;

	while (level > 0 && p->frames[level - 1].at + 1 == p->frames[level - 1].count)
		level--;
	if (level == 0)
		return 0;
	struct frame *f = &p->frames[level - 1];

	f->at++;
	*ret_hash = entry_hash(f, f->at);
	int err = descend(r, dir, p, level - 1, NULL);

	return err != 0 ? err : 1;
}

static int hash_of(struct recovery *r, const struct rinode *dir, uint8_t version,
	const uint8_t *name, uint32_t len, uint32_t *ret)
{
	uint8_t folded[768];

	if ((dir->ip.flags & INODE_FL_CASEFOLD) != 0) {
		int n = casefold(name, len, folded, sizeof(folded));

		if (n == -EOPNOTSUPP)
			return n;
		if (n > 0) {
			name = folded;
			len = (uint32_t)n;
		}
	}
	*ret = dir_hash_name(version, r->vol->hash_seed, name, len).hash;
	return 0;
}

int dir_index_find(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	struct found *ret)
{
	struct path p;
	uint32_t hash;
	int err = open_root(r, dir, &p);

	if (err == 0)
		err = hash_of(r, dir, p.version, name, len, &hash);
	if (err == 0)
		err = probe(r, dir, hash, &p);
	/* A hash may go on in the next leaves; there are no more leaves than blocks. */
	for (uint32_t left = dir_edit_blocks(r, dir); err == 0 && left > 0; left--) {
		struct buf *b;
		uint32_t next;

		err = dir_edit_block(r, dir, p.leaf, &buf_kind_dir_leaf, &b);
		if (err != 0)
			return err;
		struct chain c = dir_chain_of_block(r, dir, b->data, true);
		int found = dir_chain_find(r, dir, &c, name, len, ret);

		if (found != 0) {
			ret->buf = b;
			ret->chain = c;
			return found;
		}
		int more = next_leaf(r, dir, &p, &next);

		if (more <= 0 || next != (hash | 1))
			return more < 0 ? more : 0;
	}
	return err;
}

/* --- growing --------------------------------------------------------------------------------------------------------------------- */

/* Puts (hash, block) behind the followed entry. There is room. */
static void insert_entry(struct frame *f, uint32_t hash, lblk_t block)
{
	struct disk_htree_entry *e = &f->entries[f->at + 1];

	memmove(e + 1, e, (f->count - f->at - 1) * sizeof(*e));
	*e = (struct disk_htree_entry){le32_put(hash), le32_put(block)};
	set_count(f, f->count + 1);
	buf_seal(f->buf);
}

/* A new index node with entries from[0 .. n). */
static int new_node(struct recovery *r, struct rinode *dir, const struct disk_htree_entry *from,
	uint32_t n, lblk_t *ret)
{
	struct frame f = {.at = 0};
	int err = dir_edit_append(r, dir, &buf_kind_dir_node, ret, &f.buf);

	if (err != 0)
		return err;
	((struct disk_dirent *)(void *)f.buf->data)->rec_len = dirent_rec_len_put(r->vol->block_size);
	f.entries = (void *)(f.buf->data + HTREE_NODE_ENTRIES_OFFSET);
	f.limit = limit_of(r, HTREE_NODE_ENTRIES_OFFSET);
	memcpy(f.entries, from, n * sizeof(*from));
	set_count(&f, n);
	buf_seal(f.buf);
	return 0;
}

/* Everything in the root moves one level down. */
static int deepen(struct recovery *r, struct rinode *dir, struct path *p)
{
	struct frame *root = &p->frames[0];
	struct disk_htree_root_info *info = (void *)(root->buf->data + HTREE_ROOT_INFO_OFFSET);
	uint32_t max = volume_has_incompat(r->vol, FEATURE_INCOMPAT_LARGEDIR) ? LEVELS_MAX
									      : LEVELS_MAX - 1;
	lblk_t lblk;

	if (p->depth >= max)
		return fail(r->env, E4_WHY_DIR_EDIT_FULL, .ino = dir->ip.ino, .found = p->depth,
			.expected = max);
	int err = new_node(r, dir, root->entries, root->count, &lblk);

	if (err != 0)
		return err;
	root->entries[0].block = le32_put(lblk);
	set_count(root, 1);
	info->indirect_levels++;
	buf_seal(root->buf);
	return 0;
}

/* Room in the lowest index node on the path: its upper half moves, or that of the nearest full node whose parent has room. */
static int make_room(struct recovery *r, struct rinode *dir, struct path *p)
{
	uint32_t level = p->depth - 1;

	while (level > 0 && p->frames[level - 1].count == p->frames[level - 1].limit)
		level--;
	if (level == 0)
		return deepen(r, dir, p);
	struct frame *f = &p->frames[level];
	uint32_t keep = f->count - f->count / 2;
	uint32_t hash = entry_hash(f, keep);
	lblk_t lblk;
	int err = new_node(r, dir, &f->entries[keep], f->count - keep, &lblk);

	if (err != 0)
		return err;
	set_count(f, keep);
	buf_seal(f->buf);
	insert_entry(&p->frames[level - 1], hash, lblk);
	return 0;
}

/* --- splitting a leaf ------------------------------------------------------------------------------------------------------------ */

struct live {
	uint32_t hash, at, rec_len, order;
};

static int cmp_live(const void *a, const void *b)
{
	const struct live *x = a;
	const struct live *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int collect(struct recovery *r, const struct rinode *dir, const struct path *p,
	const struct chain *c, struct live *live, uint32_t *ret)
{
	uint32_t n = 0;

	for (uint32_t at = 0; at < c->len;) {
		const struct disk_dirent *d = (const void *)(c->data + at);
		uint32_t rec_len = dirent_rec_len(d, r->vol->block_size);

		if (rec_len < DIRENT_HEADER_SIZE || rec_len > c->size - at ||
			dirent_need(d->name_len, false) > rec_len)
			return bad_index(r, dir, rec_len, c->size - at);
		if (le32_get(d->inode) != 0) {
			int err = hash_of(r, dir, p->version, (const uint8_t *)(d + 1), d->name_len,
				&live[n].hash);

			if (err != 0)
				return err;
			live[n].at = at;
			live[n].rec_len = rec_len;
			live[n].order = n;
			n++;
		}
		at += rec_len;
	}
	*ret = n;
	return 0;
}

/* The first entry that moves: from the highest hash down, while the moved ones fill no more than half a block. */
static uint32_t choose_split(const struct recovery *r, const struct live *live, uint32_t n)
{
	uint32_t moved = 0;
	uint32_t i = n;

	while (i > 0 && moved + live[i - 1].rec_len / 2 <= r->vol->block_size / 2)
		moved += live[--i].rec_len;
	return i == 0 || i == n ? n / 2 : i;
}

/* Entries packed into a fresh block. */
static void pack(const struct recovery *r, uint8_t *to, const uint8_t *from,
	const struct live *live, uint32_t n)
{
	uint32_t end = r->vol->csum ? r->vol->block_size - DIRENT_TAIL_SIZE : r->vol->block_size;
	uint32_t at = 0;

	dir_make_empty_block(r, to);
	for (uint32_t i = 0; i < n; i++) {
		const struct disk_dirent *d = (const void *)(from + live[i].at);
		uint32_t need = dirent_need(d->name_len, false);

		memcpy(to + at, d, DIRENT_HEADER_SIZE + d->name_len);
		((struct disk_dirent *)(void *)(to + at))->rec_len = dirent_rec_len_put(
			i + 1 < n ? need : end - at);
		at += need;
	}
}

static int split_with(struct recovery *r, struct rinode *dir, struct path *p, struct buf *leaf,
	uint8_t *copy, struct live *live)
{
	struct chain c = dir_chain_of_block(r, dir, copy, true);
	struct buf *b;
	lblk_t lblk;
	uint32_t n = 0;

	memcpy(copy, leaf->data, r->vol->block_size);
	int err = collect(r, dir, p, &c, live, &n);

	if (err != 0)
		return err;
	if (n < 2)
		return bad_index(r, dir, n, 2);
	qsort(live, n, sizeof(*live), cmp_live);
	uint32_t split = choose_split(r, live, n);
	bool goes_on = live[split].hash == live[split - 1].hash;

	err = dir_edit_append(r, dir, &buf_kind_dir_leaf, &lblk, &b);
	if (err != 0)
		return err;
	pack(r, leaf->data, copy, live, split);
	pack(r, b->data, copy, live + split, n - split);
	buf_seal(leaf);
	buf_seal(b);
	insert_entry(&p->frames[p->depth - 1], live[split].hash | (goes_on ? 1 : 0), lblk);
	return 0;
}

static int split_leaf(struct recovery *r, struct rinode *dir, struct path *p, struct buf *leaf)
{
	uint32_t bs = r->vol->block_size;
	size_t max = bs / DIRENT_HEADER_SIZE;
	uint8_t *copy = mem_zalloc(r->env, bs);
	struct live *live = mem_zalloc_array(r->env, max, sizeof(*live));
	int err = -ENOMEM;

	if (copy != NULL && live != NULL)
		err = split_with(r, dir, p, leaf, copy, live);
	mem_free(r->env, copy, bs);
	mem_free(r->env, live, max * sizeof(*live));
	return err;
}

/* Each round adds a block to the directory, so there are few: a leaf split after at most three index splits. */
int dir_index_add(struct recovery *r, struct rinode *dir, const struct new_entry *e)
{
	for (uint32_t round = 0; round < 4 * LEVELS_MAX; round++) {
		struct path p;
		struct buf *b;
		uint32_t hash;
		int err = open_root(r, dir, &p);

		if (err == 0)
			err = hash_of(r, dir, p.version, e->name, e->len, &hash);
		if (err == 0)
			err = probe(r, dir, hash, &p);
		if (err == 0)
			err = dir_edit_block(r, dir, p.leaf, &buf_kind_dir_leaf, &b);
		if (err != 0)
			return err;
		struct chain c = dir_chain_of_block(r, dir, b->data, true);
		int added = dir_chain_add(r, &c, e);

		if (added > 0)
			buf_seal(b);
		if (added != 0)
			return added < 0 ? added : 0;
		const struct frame *last = &p.frames[p.depth - 1];

		err = last->count == last->limit ? make_room(r, dir, &p) : split_leaf(r, dir, &p, b);
		if (err != 0)
			return err;
	}
	return fail(r->env, E4_WHY_DIR_EDIT_ROUNDS, .ino = dir->ip.ino);
}
