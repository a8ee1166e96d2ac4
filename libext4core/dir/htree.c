/*
 * htree.c - the index of a directory: from a hash to the leaves that may hold it.
 *
 * A path is walked with one frame a level, three at most. References from one block to another are checked where they are
 * followed: inside the directory, never to a block that the path already stands on. Going from leaf to leaf is bounded by the
 * number of blocks, as an honest index names each once.
 *
 * Owns:    the frames of a path and the bufs they hold.
 * Locks:   none.
 * Always:  frames[0..depth) are filled after a probe; entry 0 of a block stands for all hashes below entry 1.
 */
#include "dir/dir_impl.h"

#include <string.h>

#define FLAG_INCOMPATIBLE 0x1u

static uint32_t entry_hash(const struct htree_frame *f, uint32_t i)
{
	const struct disk_htree_entry *e = (const void *)(f->buf->data + f->entries_offset);

	return le32_get(e[i].hash);
}

static lblk_t entry_block(const struct htree_frame *f, uint32_t i)
{
	const struct disk_htree_entry *e = (const void *)(f->buf->data + f->entries_offset);

	return le32_get(e[i].block) & HTREE_BLOCK_MASK;
}

static void frame_fill(struct htree_frame *f, struct buf *b, lblk_t lblk, uint32_t entries_offset)
{
	const struct disk_htree_countlimit *cl = (const void *)(b->data + entries_offset);

	*f = (struct htree_frame){.buf = b,
		.lblk = lblk,
		.entries_offset = entries_offset,
		.count = le16_get(cl->count)};
}

static void frames_drop(struct htree_path *path, uint32_t from)
{
	for (uint32_t i = from; i < DIR_HTREE_LEVELS; i++) {
		if (path->frames[i].buf != NULL)
			buf_put(path->frames[i].buf);
		path->frames[i].buf = NULL;
	}
}

void htree_close(struct htree_path *path)
{
	frames_drop(path, 0);
}

/* What the root says that depends on the volume and the directory. */
static int check_info(struct inode *ip, const struct buf *b)
{
	const struct disk_htree_root_info *info = (const void *)(b->data + HTREE_ROOT_INFO_OFFSET);
	bool large = volume_has_incompat(ip->vol, FEATURE_INCOMPAT_LARGEDIR);
	uint32_t levels = large ? DIR_HTREE_LEVELS : DIR_HTREE_LEVELS - 1;
	bool with_key = dir_is_encrypted_casefolded(ip);
	bool known = with_key ? info->hash_version == HASH_SIPHASH : info->hash_version <= HASH_TEA;

	if (!known)
		return fail(ip->vol->env, E4_WHY_DIR_ROOT_HASH, .ino = ip->ino, .block = b->pblk,
			.found = info->hash_version);
	if ((info->unused_flags & FLAG_INCOMPATIBLE) != 0)
		return fail(ip->vol->env, E4_WHY_DIR_ROOT_FLAGS, .ino = ip->ino, .block = b->pblk,
			.found = info->unused_flags);
	if (info->indirect_levels >= levels)
		return fail(ip->vol->env, E4_WHY_DIR_ROOT_LEVELS, .ino = ip->ino, .block = b->pblk,
			.found = info->indirect_levels, .expected = levels - 1);
	return 0;
}

int htree_open(struct inode *ip, struct htree_path *path)
{
	struct buf *b = NULL;
	int r = dir_read(ip, 0, &buf_kind_dir_root, &b);

	if (r == 0)
		return dir_report_hole(ip, 0);
	if (r < 0)
		return r;
	r = check_info(ip, b);
	if (r < 0) {
		buf_put(b);
		return r;
	}
	const struct disk_htree_root_info *info = (const void *)(b->data + HTREE_ROOT_INFO_OFFSET);
	*path = (struct htree_path){
		.ip = ip,
		.version = dir_hash_version(ip->vol, info->hash_version),
		.depth = info->indirect_levels + 1u,
		.leaves_left = dir_blocks_count(ip),
	};
	frame_fill(&path->frames[0], b, 0, HTREE_ROOT_ENTRIES_OFFSET);
	return 0;
}

/* The block that the entry followed at `level` names, checked. */
static int follow(const struct htree_path *path, uint32_t level, lblk_t *ret)
{
	const struct htree_frame *f = &path->frames[level];
	struct inode *ip = path->ip;
	lblk_t lblk = entry_block(f, f->at);

	if (lblk >= dir_blocks_count(ip))
		return fail(ip->vol->env, E4_WHY_DIR_INDEX_BLOCK, .ino = ip->ino,
			.block = f->buf->pblk, .found = lblk, .expected = dir_blocks_count(ip));
	for (uint32_t i = 0; i <= level; i++) {
		if (path->frames[i].lblk == lblk)
			return fail(ip->vol->env, E4_WHY_DIR_INDEX_CYCLE, .ino = ip->ino,
				.block = f->buf->pblk, .found = lblk);
	}
	*ret = lblk;
	return 0;
}

/* Reads the block that an entry names; a hole is an error here, as something should be there. */
static int read_named(const struct htree_path *path, uint32_t level, const struct buf_kind *kind,
	lblk_t *ret_lblk, struct buf **ret)
{
	int r = follow(path, level, ret_lblk);

	if (r < 0)
		return r;
	r = dir_read(path->ip, *ret_lblk, kind, ret);
	if (r == 0)
		return dir_report_hole(path->ip, *ret_lblk);
	return r < 0 ? r : 0;
}

/* Fills the frame below `level`. */
static int descend(struct htree_path *path, uint32_t level)
{
	struct buf *b = NULL;
	lblk_t lblk;
	int r = read_named(path, level, &buf_kind_dir_node, &lblk, &b);

	if (r < 0)
		return r;
	frame_fill(&path->frames[level + 1], b, lblk, HTREE_NODE_ENTRIES_OFFSET);
	return 0;
}

/* The last entry whose hash is not above. A continued hash has bit 0 set, so that its first leaf is found. */
static uint32_t find(const struct htree_frame *f, uint32_t hash)
{
	uint32_t lo = 0;        /* this entry is not above, */
	uint32_t hi = f->count; /* this one is */

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (entry_hash(f, mid) <= hash)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int htree_probe(struct htree_path *path, uint32_t hash)
{
	frames_drop(path, 1);
	for (uint32_t level = 0; level < path->depth; level++) {
		path->frames[level].at = find(&path->frames[level], hash);
		if (level + 1 == path->depth)
			break;
		int r = descend(path, level);
		if (r < 0)
			return r;
	}
	return 0;
}

int htree_leaf(struct htree_path *path, struct buf **ret)
{
	struct inode *ip = path->ip;
	lblk_t lblk;

	if (path->leaves_left == 0)
		return fail(ip->vol->env, E4_WHY_DIR_INDEX_LOOP, .ino = ip->ino,
			.expected = dir_blocks_count(ip));
	path->leaves_left--;
	return read_named(path, path->depth - 1, &buf_kind_dir_leaf, &lblk, ret);
}

/* The lowest level that has an entry left; depth when none has. */
static uint32_t level_to_move(const struct htree_path *path)
{
	for (uint32_t level = path->depth; level-- > 0;) {
		if (path->frames[level].at + 1 < path->frames[level].count)
			return level;
	}
	return path->depth;
}

bool htree_next_hash(const struct htree_path *path, uint32_t *ret)
{
	uint32_t level = level_to_move(path);

	if (level == path->depth)
		return false;
	*ret = entry_hash(&path->frames[level], path->frames[level].at + 1);
	return true;
}

int htree_advance(struct htree_path *path)
{
	uint32_t level = level_to_move(path);

	frames_drop(path, level + 1);
	path->frames[level].at++;
	for (; level + 1 < path->depth; level++) {
		int r = descend(path, level);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The leaf that the path leads to. */
static int search_leaf(const struct dir_query *q, struct htree_path *path, struct dir_entry *ret)
{
	struct buf *b = NULL;
	int r = htree_leaf(path, &b);

	if (r != 0)
		return r;
	struct dir_area a = dir_area_of(q->ip, b->pblk, b->data, q->ip->vol->block_size);
	r = dir_search_area(q, &a, ret);
	buf_put(b);
	return r;
}

static int search_path(const struct dir_query *q, struct htree_path *path, struct dir_entry *ret)
{
	uint32_t hash = dir_query_hash(q, path->version).hash;
	uint32_t next;
	int r = htree_probe(path, hash);

	while (r == 0) {
		r = search_leaf(q, path, ret);
		if (r != 0 || !htree_next_hash(path, &next) || (next & ~1u) != hash)
			return r;
		r = htree_advance(path);
	}
	return r;
}

int dir_search_htree(const struct dir_query *q, inum_t *ret_ino, uint8_t *ret_type)
{
	struct htree_path path;
	struct dir_entry e = {0};
	int r = htree_open(q->ip, &path);

	if (r < 0)
		return r;
	r = search_path(q, &path, &e);
	if (r > 0) {
		*ret_ino = e.ino;
		*ret_type = e.type;
	}
	htree_close(&path);
	return r;
}
