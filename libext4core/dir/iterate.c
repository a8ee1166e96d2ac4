/*
 * iterate.c - lists a directory as the kernel does: the same order, the same cookies.
 *
 * Three ways, chosen once: by hash through the index, by hash all at once (one block, inline data), or by byte offset (several
 * blocks without an index, a volume without dir_index, a root of the index that is bad, names that cannot be hashed here). An
 * entry's cookie is the position of the next one, so each call looks one entry ahead; an error met there is told by the
 * following call.
 *
 * What is bad: the rest of a block behind a bad entry is passed over, in every mode; by offset, so are holes and blocks that fail
 * their checks. By hash, a leaf or node that fails its checks is an error and the listing stands still, since what is behind it is
 * not known. All of it is in the ring. (Tried on Linux 6.18; there too, entries behind a bad one vanish without an errno.)
 *
 * Owns:    the iterator: arena, records, fold buffer.
 * Locks:   none; one thread at a time. The inode is borrowed.
 * Always:  no buf is held between calls; `tell` is where the next call goes on.
 */
#include "base/math.h"
#include "dir/dir_impl.h"

#include <errno.h>
#include <string.h>

int iter_arena_add(struct dir_iter *it, const void *data, uint32_t len, uint32_t *ret)
{
	struct env *env = it->ip->vol->env;
	uint64_t need = (uint64_t)it->arena_used + len;

	if (need > it->arena_size) {
		uint64_t size = max_u64(need, min_u64((uint64_t)it->arena_size * 2, UINT32_MAX));
		uint8_t *bigger = size > UINT32_MAX ? NULL : mem_zalloc(env, (size_t)size);

		if (bigger == NULL)
			return fail(
				env, E4_WHY_DIR_NOMEM_ARENA, .ino = it->ip->ino, .expected = size);
		if (it->arena_used > 0)
			memcpy(bigger, it->arena, it->arena_used);
		mem_free(env, it->arena, it->arena_size);
		it->arena = bigger;
		it->arena_size = (uint32_t)size;
	}
	if (len > 0)
		memcpy(it->arena + it->arena_used, data, len);
	*ret = it->arena_used;
	it->arena_used += len;
	return 0;
}

static void put_dots(uint8_t *p, inum_t ino, uint8_t name_len)
{
	struct disk_dirent d = {
		.inode = le32_put(ino),
		.rec_len = le16_put(DIRENT_MIN_SIZE),
		.name_len = name_len,
		.file_type = DIRENT_DIR,
	};

	memcpy(p, &d, sizeof(d));
	memcpy(p + sizeof(d), "..", name_len);
}

int iter_arena_add_dots(struct dir_iter *it, inum_t self, inum_t parent, uint32_t *ret)
{
	uint8_t dots[ITER_DOTS_SIZE] = {0};

	put_dots(dots, self, 1);
	put_dots(dots + DIRENT_MIN_SIZE, parent, 2);
	return iter_arena_add(it, dots, sizeof(dots), ret);
}

int iter_arena_add_inline(
	struct dir_iter *it, uint32_t part, struct dir_area *ret, uint32_t *ret_base)
{
	struct buf *b = NULL;
	int r = dir_inline_area(it->ip, part, ret, &b);

	if (r < 0)
		return r;
	r = iter_arena_add(it, ret->data, ret->len, ret_base);
	if (b != NULL)
		buf_put(b);
	if (r == 0)
		ret->data = it->arena + *ret_base;
	return r;
}

/* The kernel's test for a "dx" directory. */
static bool listed_by_hash(const struct inode *ip)
{
	bool in_hash_order = (ip->flags & (INODE_FL_INDEX | INODE_FL_INLINE_DATA)) != 0 ||
			     dir_blocks_count(ip) == 1;

	return volume_has_compat(ip->vol, FEATURE_COMPAT_DIR_INDEX) && in_hash_order &&
	       dir_can_hash(ip);
}

/* Whether the index can be used; if not, the reason is in the ring and the blocks are listed one after the other. */
static int try_index(struct dir_iter *it)
{
	struct htree_path path;
	int r = htree_open(it->ip, &path);

	if (r == -EUCLEAN || r == -EBADMSG)
		return 0;
	if (r < 0)
		return r;
	it->mode = ITER_INDEX;
	it->version = path.version;
	htree_close(&path);
	return 0;
}

static int choose_mode(struct dir_iter *it)
{
	struct inode *ip = it->ip;

	it->mode = ITER_OFFSET;
	if (!listed_by_hash(ip))
		return 0;
	if (dir_is_indexed(ip))
		return try_index(it);
	it->version = dir_hash_version(ip->vol, ip->vol->def_hash_version);
	if (dir_hash_version_known(it->version) || dir_is_encrypted_casefolded(ip))
		it->mode = ITER_ONCE;
	return 0;
}

static void seek(struct dir_iter *it, uint64_t cookie)
{
	if (it->mode == ITER_OFFSET)
		iter_offset_seek(it, cookie);
	else
		iter_hash_seek(it, cookie);
}

static int init(struct dir_iter *it)
{
	struct env *env = it->ip->vol->env;

	if ((it->ip->flags & INODE_FL_CASEFOLD) != 0) {
		it->fold = mem_zalloc(env, DIR_FOLDED_MAX);
		if (it->fold == NULL)
			return fail(env, E4_WHY_DIR_NOMEM_FOLD, .ino = it->ip->ino);
	}
	int r = choose_mode(it);
	if (r == 0)
		seek(it, 0);
	return r;
}

int dir_iter_new(struct inode *ip, struct dir_iter **ret)
{
	struct env *env = ip->vol->env;

	if (!inode_is(ip, INODE_DIR))
		return fail(env, E4_WHY_DIR_NOT_DIR_ITER, .ino = ip->ino);
	struct dir_iter *it = mem_zalloc(env, sizeof(*it));
	if (it == NULL)
		return fail(env, E4_WHY_DIR_NOMEM_ITER, .ino = ip->ino);
	it->ip = ip;
	int r = init(it);
	if (r < 0) {
		dir_iter_free(it);
		return r;
	}
	*ret = it;
	return 0;
}

void dir_iter_free(struct dir_iter *it)
{
	if (it == NULL)
		return;
	struct env *env = it->ip->vol->env;
	mem_free(env, it->fold, DIR_FOLDED_MAX);
	mem_free(env, it->arena, it->arena_size);
	mem_free(env, it->batch.records, it->batch.size * sizeof(*it->batch.records));
	mem_free(env, it, sizeof(*it));
}

static int peek(struct dir_iter *it, struct iter_spot *ret)
{
	return it->mode == ITER_OFFSET ? iter_offset_peek(it, ret) : iter_hash_peek(it, ret);
}

static void step(struct dir_iter *it)
{
	if (it->mode == ITER_OFFSET)
		iter_offset_step(it);
	else
		iter_hash_step(it);
}

static uint64_t end_cookie(const struct dir_iter *it)
{
	return it->mode == ITER_OFFSET ? iter_offset_end(it) : ITER_COOKIE_EOF;
}

static uint32_t public_type(const struct inode *ip, uint8_t type)
{
	static const uint32_t types[] = {
		[DIRENT_UNKNOWN] = 0,
		[DIRENT_REG] = E4_FT_REG,
		[DIRENT_DIR] = E4_FT_DIR,
		[DIRENT_CHR] = E4_FT_CHR,
		[DIRENT_BLK] = E4_FT_BLK,
		[DIRENT_FIFO] = E4_FT_FIFO,
		[DIRENT_SOCK] = E4_FT_SOCK,
		[DIRENT_LNK] = E4_FT_LNK,
	};
	bool kept = volume_has_incompat(ip->vol, FEATURE_INCOMPAT_FILETYPE);

	return kept && type < sizeof(types) / sizeof(types[0]) ? types[type] : 0;
}

/* Entries in the arena were checked when they came in, and nobody else can change them. */
static void fill(const struct dir_iter *it, const struct iter_spot *spot, struct e4_dirent *ret)
{
	const struct disk_dirent *d = (const void *)(it->arena + spot->at);
	const uint8_t *name = it->arena + spot->at + DIRENT_HEADER_SIZE;
	struct dir_entry e = {.name = name, .name_len = d->name_len};

	ret->ino = le32_get(d->inode);
	ret->type = public_type(it->ip, d->file_type);
	if ((it->ip->flags & INODE_FL_ENCRYPT) != 0 && !dir_entry_is_dots(&e)) {
		ret->name_len = dir_nokey_name(&spot->hash, name, d->name_len, ret->name);
		return;
	}
	ret->name_len = d->name_len;
	memcpy(ret->name, name, d->name_len);
	ret->name[d->name_len] = 0;
}

/* The position of what follows the entry just told. */
static uint64_t look_ahead(struct dir_iter *it)
{
	struct iter_spot spot;
	int r = peek(it, &spot);

	if (r > 0)
		return spot.cookie;
	if (r == 0)
		return end_cookie(it);
	it->pending = r;
	return it->mode == ITER_OFFSET ? iter_offset_resume(it) : iter_hash_resume(it);
}

int dir_iter_next(struct dir_iter *it, struct e4_dirent *ret)
{
	struct iter_spot spot = {0};
	int r = it->pending;

	it->pending = 0;
	if (r == 0)
		r = peek(it, &spot);
	if (r == 0)
		it->tell = end_cookie(it);
	if (r <= 0)
		return r;
	fill(it, &spot, ret);
	step(it);
	it->tell = look_ahead(it);
	ret->cookie = it->tell;
	return 1;
}

int dir_iter_seek(struct dir_iter *it, uint64_t cookie)
{
	if (cookie == it->tell)
		return 0;
	it->tell = cookie;
	it->pending = 0;
	seek(it, cookie);
	return 0;
}

uint64_t dir_iter_tell(const struct dir_iter *it)
{
	return it->tell;
}
