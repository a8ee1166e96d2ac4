/*
 * block.c - entries in a block: their checks, and the checksums of the three kinds of directory block.
 *
 * A chain is checked entry by entry as somebody walks it, never as a whole: what stands before a bad entry is still served, as
 * the kernel does. Each step is at least 12 bytes long and stays inside the area, so a walk ends.
 *
 * Owns:    nothing.
 * Locks:   none; bytes of a held buf do not change.
 * Always:  an entry that is handed out lies inside its area, name and stored hash included.
 */
#include "base/log.h"
#include "dir/dir_impl.h"
#include "format/csum.h"

#include <string.h>

struct dir_area dir_area_of(const struct inode *ip, pblk_t pblk, const uint8_t *data, uint32_t len)
{
	const struct volume *vol = ip->vol;

	return (struct dir_area){
		.owner = {.env = vol->env,
			.block_size = vol->block_size,
			.csum = vol->csum,
			.seed = ip->csum_seed,
			.ino = ip->ino,
			.pblk = pblk},
		.data = data,
		.len = len,
		.inodes_count = vol->inodes_count,
		.with_hash = dir_is_encrypted_casefolded(ip),
		.encrypted = (ip->flags & INODE_FL_ENCRYPT) != 0,
	};
}

bool dir_entry_is_dots(const struct dir_entry *e)
{
	if (e->name_len == 1)
		return e->name[0] == '.';
	return e->name_len == 2 && e->name[0] == '.' && e->name[1] == '.';
}

struct dir_hash dir_entry_stored_hash(const struct dir_entry *e)
{
	const uint8_t *p = e->name + ((e->name_len + 3u) & ~3u);

	if (dir_entry_is_dots(e))
		return (struct dir_hash){0, 0};
	return (struct dir_hash){dir_hash_clean(le32_at(p)), le32_at(p + 4)};
}

static bool is_tail(const struct dir_area *a, uint32_t offset)
{
	const struct disk_dirent_tail *t = (const void *)(a->data + offset);

	return le32_get(t->zero) == 0 && le16_get(t->rec_len) == DIRENT_TAIL_SIZE &&
	       t->name_len == 0 && t->type == DIRENT_TAIL_TYPE;
}

/* Where the chain ends: before the tail, if this is a block that has one there. */
static uint32_t end_of(const struct dir_area *a, uint32_t offset)
{
	bool tail_here = a->owner.csum && a->len == a->owner.block_size &&
			 offset == a->len - DIRENT_TAIL_SIZE && is_tail(a, offset);

	return tail_here ? offset : a->len;
}

/* The rules of directories.md "Structural validity", in the order in which they make sense. */
static int check(const struct dir_area *a, const struct dir_entry *e)
{
	const struct buf_owner *o = &a->owner;
	bool with_hash = a->with_hash && !dir_entry_is_dots(e) && e->type != DIRENT_TAIL_TYPE;
	uint32_t end = e->offset + e->rec_len;

	if (e->rec_len < DIRENT_MIN_SIZE)
		return fail(o->env, E4_WHY_DIR_REC_LEN_MIN, .ino = o->ino, .block = o->pblk,
			.found = e->rec_len, .expected = DIRENT_MIN_SIZE);
	if (e->rec_len % 4 != 0)
		return fail(o->env, E4_WHY_DIR_REC_LEN_ALIGN, .ino = o->ino, .block = o->pblk,
			.found = e->rec_len);
	if (e->rec_len > a->len - e->offset)
		return fail(o->env, E4_WHY_DIR_REC_LEN_END, .ino = o->ino, .block = o->pblk,
			.found = end, .expected = a->len);
	if (e->rec_len < dirent_need(e->name_len, with_hash))
		return fail(o->env, E4_WHY_DIR_REC_LEN_NAME, .ino = o->ino, .block = o->pblk,
			.found = e->rec_len, .expected = dirent_need(e->name_len, with_hash));
	if (end != a->len && a->len - end < DIRENT_MIN_SIZE)
		return fail(o->env, E4_WHY_DIR_REC_LEN_REST, .ino = o->ino, .block = o->pblk,
			.found = end, .expected = a->len);
	if (e->ino > a->inodes_count)
		return fail(o->env, E4_WHY_DIR_ENTRY_INO, .ino = o->ino, .block = o->pblk,
			.found = e->ino, .expected = a->inodes_count);
	if (end == a->len && e->name_len == 1 && e->name[0] == '.')
		return fail(o->env, E4_WHY_DIR_DOT_LAST, .ino = o->ino, .block = o->pblk);
	return 0;
}

int dir_entry_parse(const struct dir_area *a, uint32_t offset, struct dir_entry *ret)
{
	const struct disk_dirent *d = (const void *)(a->data + offset);

	/* Also what makes reading two bytes of name safe, in check(). */
	if (offset > a->len || a->len - offset < DIRENT_MIN_SIZE)
		return fail(a->owner.env, E4_WHY_DIR_AREA_SHORT, .ino = a->owner.ino,
			.block = a->owner.pblk, .found = a->len, .expected = offset);
	*ret = (struct dir_entry){
		.offset = offset,
		.rec_len = dirent_rec_len(d, a->owner.block_size),
		.ino = le32_get(d->inode),
		.type = d->file_type,
		.name_len = d->name_len,
		.name = a->data + offset + DIRENT_HEADER_SIZE,
	};
	return check(a, ret);
}

int dir_area_next(const struct dir_area *a, uint32_t *offset, struct dir_entry *ret)
{
	if (*offset >= end_of(a, *offset))
		return 0;
	int r = dir_entry_parse(a, *offset, ret);
	if (r != 0)
		return r;
	*offset += ret->rec_len;
	return 1;
}

/* No look-up could name it, or a caller would take it for a path. */
static int check_name(const struct dir_area *a, const struct dir_entry *e)
{
	const struct buf_owner *o = &a->owner;

	if (a->encrypted && !dir_entry_is_dots(e)) {
		if (e->name_len < DIR_CIPHER_MIN)
			return fail(o->env, E4_WHY_DIR_NAME_CIPHER, .ino = o->ino, .block = o->pblk,
				.found = e->name_len, .expected = DIR_CIPHER_MIN);
		return 0;
	}
	if (e->name_len == 0)
		return fail(o->env, E4_WHY_DIR_NAME_EMPTY, .ino = o->ino, .block = o->pblk);
	if (memchr(e->name, '/', e->name_len) != NULL || memchr(e->name, 0, e->name_len) != NULL)
		return fail(o->env, E4_WHY_DIR_NAME_BYTE, .ino = o->ino, .block = o->pblk,
			.found = e->offset);
	return 0;
}

int dir_area_next_used(const struct dir_area *a, uint32_t *offset, struct dir_entry *ret)
{
	int r;

	while ((r = dir_area_next(a, offset, ret)) > 0) {
		if (ret->ino != 0 && check_name(a, ret) == 0)
			return 1;
	}
	return r;
}

int dir_block_next(const struct buf_owner *o, const uint8_t *area, uint32_t area_len,
	uint32_t *offset, uint32_t *ret_entry)
{
	struct dir_area a = {.owner = *o, .data = area, .len = area_len, .inodes_count = UINT32_MAX};
	struct dir_entry e;
	int r = dir_area_next(&a, offset, &e);

	if (r > 0)
		*ret_entry = e.offset;
	return r;
}

/* --- leaf: checksum in a tail that looks like an unused entry --- */

enum tail_found {
	TAIL_FOUND,
	TAIL_NONE,   /* the chain reaches the end of the block: no room was left for one */
	TAIL_UNSURE, /* the chain is broken */
};

/* By walking: stale bytes that look like a tail can stand inside an entry. Says nothing about what is wrong; readers will. */
static enum tail_found find_tail(const struct dir_area *a)
{
	uint32_t tail = a->len - DIRENT_TAIL_SIZE;
	uint32_t offset = 0;

	while (offset < tail) {
		const struct disk_dirent *d = (const void *)(a->data + offset);
		uint32_t rec_len = dirent_rec_len(d, a->len);

		if (rec_len < DIRENT_HEADER_SIZE || rec_len % 4 != 0 || rec_len > a->len - offset)
			return TAIL_UNSURE;
		offset += rec_len;
	}
	if (offset == tail)
		return is_tail(a, tail) ? TAIL_FOUND : TAIL_NONE;
	return offset == a->len ? TAIL_NONE : TAIL_UNSURE;
}

static bool leaf_sum_equal(const struct buf_owner *o, const uint8_t *data)
{
	uint32_t covered = o->block_size - DIRENT_TAIL_SIZE;
	const struct disk_dirent_tail *t = (const void *)(data + covered);

	return le32_get(t->checksum) == csum_run(o->seed, data, covered);
}

/* An index node, met by somebody who goes through all blocks: one unused entry. */
static bool is_node_like(const struct buf_owner *o, const uint8_t *data)
{
	const struct disk_dirent *d = (const void *)data;

	return le32_get(d->inode) == 0 && d->name_len == 0 &&
	       dirent_rec_len(d, o->block_size) == o->block_size;
}

static bool dot_entry_ok(
	const struct buf_owner *o, const uint8_t *p, uint8_t name_len, uint32_t rec_len)
{
	const struct disk_dirent *d = (const void *)p;

	return d->name_len == name_len && dirent_rec_len(d, o->block_size) == rec_len &&
	       memcmp(p + DIRENT_HEADER_SIZE, "..", name_len) == 0;
}

/* An index root: "." and "..", the latter up to the end. Its own checksum is looked at by who uses the index. */
static bool is_root_like(const struct buf_owner *o, const uint8_t *data)
{
	return dot_entry_ok(o, data, 1, DIRENT_MIN_SIZE) &&
	       dot_entry_ok(o, data + DIRENT_MIN_SIZE, 2, o->block_size - DIRENT_MIN_SIZE);
}

static bool leaf_csum_ok(const struct buf_owner *o, const void *data)
{
	struct dir_area a = {.owner = *o, .data = data, .len = o->block_size};

	switch (find_tail(&a)) {
	case TAIL_FOUND:
		return leaf_sum_equal(o, data);
	case TAIL_UNSURE:
		return !is_tail(&a, a.len - DIRENT_TAIL_SIZE) || leaf_sum_equal(o, data);
	case TAIL_NONE:
		break;
	}
	if (!is_node_like(o, data) && !is_root_like(o, data))
		log_line(o->env,
			E4_LOG_WARN, "image: directory %u: block %llu has no room for its checksum; e2fsck -D makes some",
			o->ino, (unsigned long long)o->pblk);
	return true;
}

static void leaf_seal(const struct buf_owner *o, void *data)
{
	struct dir_area a = {.owner = *o, .data = data, .len = o->block_size};
	uint32_t covered = o->block_size - DIRENT_TAIL_SIZE;
	struct disk_dirent_tail *t = (void *)((uint8_t *)data + covered);

	if (find_tail(&a) == TAIL_FOUND)
		t->checksum = le32_put(csum_run(o->seed, data, covered));
}

/* --- index blocks --- */

static uint32_t index_limit(const struct buf_owner *o, uint32_t entries_offset)
{
	uint32_t room = o->block_size - entries_offset - (o->csum ? HTREE_TAIL_SIZE : 0);

	return room / (uint32_t)sizeof(struct disk_htree_entry);
}

static const struct disk_htree_countlimit *countlimit(const void *data, uint32_t entries_offset)
{
	return (const void *)((const uint8_t *)data + entries_offset);
}

/* Sorted; two entries are equal only where one leaf's last hash goes on in several further ones. */
static int check_order(
	const struct buf_owner *o, const void *data, uint32_t entries_offset, uint32_t count)
{
	const struct disk_htree_entry *e = (const void *)((const uint8_t *)data + entries_offset);
	uint32_t before = 0;

	for (uint32_t i = 1; i < count; i++) {
		uint32_t hash = le32_get(e[i].hash);

		if (hash < before || (hash == before && (hash & 1) == 0 && i > 1))
			return fail(o->env, E4_WHY_DIR_INDEX_ORDER, .ino = o->ino, .block = o->pblk,
				.found = hash, .expected = before);
		before = hash;
	}
	return 0;
}

static int check_entries(const struct buf_owner *o, const void *data, uint32_t entries_offset)
{
	uint32_t limit = le16_get(countlimit(data, entries_offset)->limit);
	uint32_t count = le16_get(countlimit(data, entries_offset)->count);
	uint32_t expected = index_limit(o, entries_offset);

	if (limit != expected)
		return fail(o->env, E4_WHY_DIR_INDEX_LIMIT, .ino = o->ino, .block = o->pblk,
			.found = limit, .expected = expected);
	if (count == 0 || count > limit)
		return fail(o->env, E4_WHY_DIR_INDEX_COUNT, .ino = o->ino, .block = o->pblk,
			.found = count, .expected = limit);
	return check_order(o, data, entries_offset, count);
}

static int root_verify(const struct buf_owner *o, const void *data)
{
	const struct disk_htree_root_info *info = (const void *)((const uint8_t *)data +
								 HTREE_ROOT_INFO_OFFSET);

	if (!is_root_like(o, data))
		return fail(o->env, E4_WHY_DIR_ROOT_DOTS, .ino = o->ino, .block = o->pblk);
	if (info->info_length != sizeof(*info))
		return fail(o->env, E4_WHY_DIR_ROOT_INFO, .ino = o->ino, .block = o->pblk,
			.found = info->info_length, .expected = sizeof(*info));
	return check_entries(o, data, HTREE_ROOT_ENTRIES_OFFSET);
}

static int node_verify(const struct buf_owner *o, const void *data)
{
	if (!is_node_like(o, data))
		return fail(o->env, E4_WHY_DIR_NODE_HEAD, .ino = o->ino, .block = o->pblk);
	return check_entries(o, data, HTREE_NODE_ENTRIES_OFFSET);
}

/* False when the fields that say where the checksum is cannot be right: nothing then proves the block. */
static bool index_csum(const struct buf_owner *o, const void *data, uint32_t entries_offset,
	uint32_t *ret, uint32_t *ret_tail)
{
	uint32_t limit = le16_get(countlimit(data, entries_offset)->limit);
	uint32_t count = le16_get(countlimit(data, entries_offset)->count);
	uint32_t entry = sizeof(struct disk_htree_entry);

	if (limit != index_limit(o, entries_offset) || count > limit)
		return false;
	*ret_tail = entries_offset + limit * entry;
	*ret = csum_htree(
		o->seed, data, entries_offset + count * entry, (const uint8_t *)data + *ret_tail);
	return true;
}

static bool index_csum_ok(const struct buf_owner *o, const void *data, uint32_t entries_offset)
{
	uint32_t sum;
	uint32_t tail;

	if (!index_csum(o, data, entries_offset, &sum, &tail))
		return false;
	const struct disk_htree_tail *t = (const void *)((const uint8_t *)data + tail);
	return le32_get(t->checksum) == sum;
}

static void index_seal(const struct buf_owner *o, void *data, uint32_t entries_offset)
{
	uint32_t sum;
	uint32_t tail;

	if (index_csum(o, data, entries_offset, &sum, &tail)) {
		struct disk_htree_tail *t = (void *)((uint8_t *)data + tail);

		t->checksum = le32_put(sum);
	}
}

static bool root_csum_ok(const struct buf_owner *o, const void *data)
{
	return index_csum_ok(o, data, HTREE_ROOT_ENTRIES_OFFSET);
}

static bool node_csum_ok(const struct buf_owner *o, const void *data)
{
	return index_csum_ok(o, data, HTREE_NODE_ENTRIES_OFFSET);
}

static void root_seal(const struct buf_owner *o, void *data)
{
	index_seal(o, data, HTREE_ROOT_ENTRIES_OFFSET);
}

static void node_seal(const struct buf_owner *o, void *data)
{
	index_seal(o, data, HTREE_NODE_ENTRIES_OFFSET);
}

const struct buf_kind buf_kind_dir_leaf = {
	.name = "directory leaf", .csum_ok = leaf_csum_ok, .seal = leaf_seal};
const struct buf_kind buf_kind_dir_root = {.name = "directory index root",
	.verify = root_verify,
	.csum_ok = root_csum_ok,
	.seal = root_seal};
const struct buf_kind buf_kind_dir_node = {.name = "directory index node",
	.verify = node_verify,
	.csum_ok = node_csum_ok,
	.seal = node_seal};
