/*
 * iterate_hash.c - listing in the order of (hash, minor hash), a batch at a time.
 *
 * A batch is one leaf and those that continue its last hash, copied and sorted; memory is bounded by the leaf, except where a
 * very long run of names shares one hash. In an indexed directory "." has hash 0 and ".." hash 2.
 *
 * Cookies: hash >> 1 in the high half, the minor hash in the low half, as the kernel's. Entries that agree in both would share
 * one, and a reader that comes back with it would get the first again, without end; so the second and further ones have bit 63 set
 * and, in the low half, their number among the entries of that hash. The kernel never makes such a cookie, and takes up from the
 * shared one in the same order as here.
 *
 * Owns:    it->batch, and the arena while a batch is loaded.
 * Locks:   none.
 * Always:  batches begin at ever higher hashes, so that a listing ends on any image.
 */
#include "base/assert.h"
#include "dir/dir_impl.h"

#include <string.h>

static int compare(const struct iter_record *a, const struct iter_record *b)
{
	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static bool equal(const struct iter_record *a, const struct iter_record *b)
{
	return a->hash == b->hash && a->minor == b->minor;
}

static void swap(struct iter_record *a, struct iter_record *b)
{
	struct iter_record t = *a;

	*a = *b;
	*b = t;
}

static void sift_down(struct iter_record *r, uint32_t at, uint32_t count)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= count)
			return;
		if (child + 1 < count && compare(&r[child], &r[child + 1]) < 0)
			child++;
		if (compare(&r[at], &r[child]) >= 0)
			return;
		swap(&r[at], &r[child]);
		at = child;
	}
}

/* In place, as qsort(3) may take memory that no hook knows of. */
static void heap_sort(struct iter_record *r, uint32_t count)
{
	for (uint32_t i = count / 2; i-- > 0;)
		sift_down(r, i, count);
	for (uint32_t n = count; n > 1; n--) {
		swap(&r[0], &r[n - 1]);
		sift_down(r, 0, n - 1);
	}
}

/* The kernel lists entries of one position as first, last, ..., second. */
static void order_equals(struct iter_record *r, uint32_t count)
{
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && equal(&r[i], &r[end]);)
			end++;
		for (uint32_t a = i + 1, b = end - 1; a < b; a++, b--)
			swap(&r[a], &r[b]);
	}
}

static int add_record(struct dir_iter *it, struct dir_hash h, uint32_t at)
{
	struct iter_batch *batch = &it->batch;
	struct env *env = it->ip->vol->env;

	if (h.hash < batch->start_hash)
		return 0;
	if (batch->count == batch->size) {
		uint32_t size = batch->size == 0 ? it->ip->vol->block_size / 16 : batch->size * 2;
		struct iter_record *bigger = mem_zalloc_array(env, size, sizeof(*bigger));

		if (bigger == NULL)
			return fail(env, E4_WHY_DIR_NOMEM_RECORDS, .ino = it->ip->ino,
				.expected = size);
		if (batch->count > 0)
			memcpy(bigger, batch->records, batch->count * sizeof(*bigger));
		mem_free(env, batch->records, batch->size * sizeof(*bigger));
		batch->records = bigger;
		batch->size = size;
	}
	batch->records[batch->count++] = (struct iter_record){h.hash, h.minor, at};
	return 0;
}

static struct dir_hash hash_of(
	const struct dir_iter *it, const struct dir_area *a, const struct dir_entry *e)
{
	if (a->with_hash)
		return dir_entry_stored_hash(e);
	return dir_hash_in(it->ip, it->version, e->name, e->name_len, it->fold);
}

/* All entries of a chain that was copied to `base`. Behind a bad entry the rest is passed over; its fault is in the ring. */
static int add_chain(struct dir_iter *it, const struct dir_area *a, uint32_t base)
{
	struct dir_entry e;
	uint32_t offset = 0;

	while (dir_area_next_used(a, &offset, &e) > 0) {
		int r = add_record(it, hash_of(it, a, &e), base + e.offset);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_block(struct dir_iter *it, const struct buf *b)
{
	uint32_t block_size = it->ip->vol->block_size;
	uint32_t base;
	int r = iter_arena_add(it, b->data, block_size, &base);

	if (r < 0)
		return r;
	struct dir_area a = dir_area_of(it->ip, b->pblk, it->arena + base, block_size);
	return add_chain(it, &a, base);
}

static int load_inline(struct dir_iter *it)
{
	struct inode *ip = it->ip;
	uint32_t base;
	int r = iter_arena_add_dots(it, ip->ino, dir_inline_parent(ip), &base);

	if (r < 0)
		return r;
	struct dir_area dots = dir_area_of(ip, 0, it->arena + base, ITER_DOTS_SIZE);
	r = add_chain(it, &dots, base);
	for (uint32_t part = 0; part < 2 && r == 0; part++) {
		struct dir_area a;

		r = iter_arena_add_inline(it, part, &a, &base);
		if (r == 0)
			r = add_chain(it, &a, base);
	}
	return r;
}

static int load_only_block(struct dir_iter *it)
{
	struct buf *b = NULL;
	int r = dir_read(it->ip, 0, &buf_kind_dir_leaf, &b);

	if (r == 0)
		return dir_report_hole(it->ip, 0);
	if (r < 0)
		return r;
	r = add_block(it, b);
	buf_put(b);
	return r;
}

static int load_once(struct dir_iter *it)
{
	bool is_inline = (it->ip->flags & INODE_FL_INLINE_DATA) != 0;

	it->batch.last = true;
	return is_inline ? load_inline(it) : load_only_block(it);
}

/* From the root, where they are outside the index. */
static int add_root_dots(struct dir_iter *it, const struct htree_path *path)
{
	const uint8_t *root = path->frames[0].buf->data;
	inum_t self = le32_at(root);
	inum_t parent = le32_at(root + DIRENT_MIN_SIZE);
	uint32_t base;

	if (it->batch.start_hash > 2)
		return 0;
	int r = iter_arena_add_dots(it, self, parent, &base);
	if (r == 0 && self != 0 && self <= it->ip->vol->inodes_count)
		r = add_record(it, (struct dir_hash){0, 0}, base);
	if (r == 0 && parent != 0 && parent <= it->ip->vol->inodes_count)
		r = add_record(it, (struct dir_hash){2, 0}, base + DIRENT_MIN_SIZE);
	return r;
}

static int add_leaf(struct dir_iter *it, struct htree_path *path)
{
	struct buf *b = NULL;

	if (it->batch.count == 0)
		it->arena_used = 0;
	int r = htree_leaf(path, &b);
	if (r < 0)
		return r;
	r = add_block(it, b);
	buf_put(b);
	return r;
}

/* Leaves up to one that begins a new hash, once something was found. */
static int add_leaves(struct dir_iter *it, struct htree_path *path)
{
	struct iter_batch *batch = &it->batch;

	for (;;) {
		int r = add_leaf(it, path);

		if (r < 0)
			return r;
		batch->last = !htree_next_hash(path, &batch->next_hash);
		if (batch->last || (batch->count > 0 && (batch->next_hash & 1) == 0))
			break;
		r = htree_advance(path);
		if (r < 0)
			return r;
	}
	if (!batch->last && batch->next_hash <= batch->start_hash)
		return fail(it->ip->vol->env, E4_WHY_DIR_INDEX_BACK, .ino = it->ip->ino,
			.found = batch->next_hash, .expected = batch->start_hash);
	return 0;
}

static int load_index(struct dir_iter *it)
{
	struct htree_path path;
	int r = htree_open(it->ip, &path);

	if (r < 0)
		return r;
	path.leaves_left = it->batch.leaves_left;
	r = htree_probe(&path, it->batch.start_hash);
	if (r == 0)
		r = add_root_dots(it, &path);
	if (r == 0)
		r = add_leaves(it, &path);
	it->batch.leaves_left = path.leaves_left;
	htree_close(&path);
	return r;
}

static uint32_t cookie_hash(uint64_t cookie)
{
	return (uint32_t)(cookie >> 32 & 0x7FFFFFFF) << 1;
}

/* Whether record i comes before the position that a seek asked for. */
static bool before_start(const struct iter_batch *batch, uint32_t i)
{
	const struct iter_record *r = &batch->records[i];
	uint32_t hash = cookie_hash(batch->start);
	uint32_t low = (uint32_t)batch->start;

	if (r->hash != hash)
		return r->hash < hash;
	if ((batch->start & ITER_COOKIE_EQUAL) != 0)
		return i - batch->equal_from < low;
	return r->minor < low;
}

static void move_to(struct iter_batch *batch, uint32_t at)
{
	batch->at = at;
	if (at < batch->count &&
		(at == 0 || batch->records[at].hash != batch->records[batch->equal_from].hash))
		batch->equal_from = at;
}

static int load(struct dir_iter *it)
{
	struct iter_batch *batch = &it->batch;

	it->arena_used = 0;
	batch->count = 0;
	batch->equal_from = 0;
	int r = it->mode == ITER_INDEX ? load_index(it) : load_once(it);
	if (r < 0)
		return r;
	heap_sort(batch->records, batch->count);
	order_equals(batch->records, batch->count);
	move_to(batch, 0);
	while (batch->at < batch->count && before_start(batch, batch->at))
		move_to(batch, batch->at + 1);
	it->loaded = true;
	return 0;
}

static uint64_t cookie_of(const struct iter_batch *batch)
{
	const struct iter_record *r = &batch->records[batch->at];
	uint64_t high = (uint64_t)(r->hash >> 1) << 32;

	if (batch->at > 0 && equal(r, r - 1))
		return ITER_COOKIE_EQUAL | high | (batch->at - batch->equal_from);
	return high | r->minor;
}

uint64_t iter_hash_resume(const struct dir_iter *it)
{
	return (uint64_t)(it->batch.start_hash >> 1) << 32;
}

int iter_hash_peek(struct dir_iter *it, struct iter_spot *ret)
{
	struct iter_batch *batch = &it->batch;

	for (;;) {
		if (!it->loaded) {
			int r = load(it);

			if (r < 0)
				return r;
		}
		if (batch->at < batch->count)
			break;
		if (batch->last)
			return 0;
		batch->start_hash = batch->next_hash & ~1u;
		batch->start = iter_hash_resume(it);
		it->loaded = false;
	}
	const struct iter_record *r = &batch->records[batch->at];
	*ret = (struct iter_spot){
		.cookie = cookie_of(batch), .at = r->at, .hash = {r->hash, r->minor}};
	return 1;
}

void iter_hash_step(struct dir_iter *it)
{
	E4_ASSERT(it->loaded && it->batch.at < it->batch.count);
	move_to(&it->batch, it->batch.at + 1);
}

void iter_hash_seek(struct dir_iter *it, uint64_t cookie)
{
	struct iter_batch *batch = &it->batch;

	batch->leaves_left = dir_blocks_count(it->ip);
	batch->count = 0;
	batch->at = 0;
	batch->start = cookie;
	if (cookie == ITER_COOKIE_EOF) {
		batch->last = true;
		it->loaded = true;
		return;
	}
	/* One that comes all at once is loaded from its beginning, so that equal entries are counted alike. */
	batch->start_hash = it->mode == ITER_INDEX ? cookie_hash(cookie) : 0;
	it->loaded = false;
}
