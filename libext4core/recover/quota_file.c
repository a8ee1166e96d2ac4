/*
 * quota_file.c - entries of a usage file: found, changed, made (orphans-mmp-quota-verity-crypt.md 3).
 *
 * Owns:    nothing that lasts; what it changes is joined like any other block of recovery.
 * Locks:   none.
 * Always:  a block number is held to the header's count before it is followed, and a path has five blocks.
 * Uses:    extent, extent_edit.c, bitmap.c, tx.c.
 */
#include "recover/quota_file.h"

#include "base/math.h"
#include "extent/extent.h"

#include <errno.h>
#include <string.h>

#define QUOTA_BLOCK   1024u /* whatever the volume's block size */
#define QUOTA_VERSION 1u
#define QUOTA_ROOT    1u /* the tree's first block */
#define QUOTA_DEPTH   4u /* a byte of the id each, the highest first */
#define LEAF_HEADER   16u
#define LEAF_ENTRIES  14u
#define ENTRY_BYTES   72u

/* Bytes in block 0, in a leaf, in an entry. */
enum quota_field {
	HEADER_MAGIC = 0,
	HEADER_VERSION = 4,
	HEADER_BLOCKS = 20,
	HEADER_FREE_BLOCK = 24,
	HEADER_FREE_ENTRY = 28,
	LEAF_NEXT = 0,
	LEAF_PREV = 4,
	LEAF_USED = 8,
	ENTRY_ID = 0,
	ENTRY_INODES_SOFT = 16,
	ENTRY_INODES = 24,
	ENTRY_SPACE_SOFT = 40, /* KiB */
	ENTRY_SPACE = 48,      /* bytes */
	ENTRY_SPACE_TIME = 56,
	ENTRY_INODES_TIME = 64,
};

static void put32(uint8_t *block, uint32_t at, uint32_t v)
{
	*(struct le32 *)(void *)(block + at) = le32_put(v);
}

static void put64(uint8_t *block, uint32_t at, uint64_t v)
{
	*(struct le64 *)(void *)(block + at) = le64_put(v);
}

static int damaged(const struct quota_file *q, uint32_t block, uint64_t found, uint64_t expected)
{
	return fail(q->r->env, E4_WHY_QUOTA_FILE, .ino = q->file->ip.ino, .block = block,
		.found = found, .expected = expected);
}

/* --- blocks --------------------------------------------------------------------------------------------------------------- */

/* Block n of the file, to be changed. */
static int get_block(struct quota_file *q, uint32_t n, uint8_t **ret)
{
	struct volume *vol = q->r->vol;
	uint64_t at = (uint64_t)n * QUOTA_BLOCK;
	lblk_t lblk = (lblk_t)(at >> vol->block_bits);
	struct extent_piece piece;
	struct buf *b;
	int err = extent_lookup(&q->file->ip, lblk, &piece);

	if (err == 0 && piece.type != EXTENT_MAPPED)
		err = damaged(q, n, lblk, piece.lblk + piece.len);
	if (err == 0)
		err = tx_get(q->r, piece.pblk + (lblk - piece.lblk), &buf_kind_plain, 0, 0, &b);
	if (err == 0)
		*ret = b->data + at % vol->block_size;
	return err;
}

/* The same, for a number that stands in the file. */
static int follow(struct quota_file *q, uint32_t n, uint8_t **ret)
{
	if (n <= QUOTA_ROOT || n >= q->blocks)
		return damaged(q, n, n, q->blocks);
	return get_block(q, n, ret);
}

/* One more block of the volume behind the end of the file. */
static int map_block(struct quota_file *q, lblk_t lblk)
{
	struct volume *vol = q->r->vol;
	struct buf *b;
	pblk_t pblk;

	if ((q->file->ip.flags & INODE_FL_EXTENTS) == 0)
		return fail(q->r->env, E4_WHY_QUOTA_FULL, .ino = q->file->ip.ino, .name = "quota");
	int err = map_load(q->r, q->file);

	if (err != 0)
		return err;
	const struct map_piece *last = lblk > 0 ? map_find(q->file, lblk - 1) : NULL;

	if (vol->cluster_ratio > 1 && lblk % vol->cluster_ratio != 0 && last != NULL)
		pblk = last->pblk + (lblk - last->lblk);
	else
		err = bitmap_alloc_block(
			q->r, last != NULL ? last->pblk + last->len : vol->first_data_block, &pblk);
	if (err == 0)
		err = map_set(
			q->r, q->file, &(struct map_piece){.lblk = lblk, .len = 1, .pblk = pblk});
	if (err == 0)
		err = tx_get_zeroed(q->r, pblk, &buf_kind_plain, 0, 0, &b);
	return err != 0 ? err : map_write(q->r, q->file);
}

/* Block n, the first that the header does not count, made part of the file. */
static int append_block(struct quota_file *q, uint32_t n)
{
	uint64_t end = ((uint64_t)n + 1) * QUOTA_BLOCK;
	lblk_t lblk = (lblk_t)((end - 1) >> q->r->vol->block_bits);
	struct extent_piece piece;
	int err = extent_lookup(&q->file->ip, lblk, &piece);

	if (err == 0 && piece.type != EXTENT_MAPPED)
		err = map_block(q, lblk);
	if (err != 0)
		return err;
	q->file->ip.size = max_u64(q->file->ip.size, end);
	rinode_store(q->file);
	q->blocks = n + 1;
	put32(q->header, HEADER_BLOCKS, q->blocks);
	return 0;
}

/* A block that nothing uses, zeroed: off the list of free ones, else a new one. */
static int take_block(struct quota_file *q, uint32_t *ret_n, uint8_t **ret)
{
	uint32_t n = le32_at(q->header + HEADER_FREE_BLOCK);
	int err;

	if (n != 0) {
		err = follow(q, n, ret);
		if (err == 0)
			put32(q->header, HEADER_FREE_BLOCK, le32_at(*ret));
	} else {
		n = q->blocks;
		err = append_block(q, n);
		if (err == 0)
			err = get_block(q, n, ret);
	}
	if (err != 0)
		return err;
	memset(*ret, 0, QUOTA_BLOCK);
	*ret_n = n;
	return 0;
}

/* --- entries -------------------------------------------------------------------------------------------------------------- */

static bool is_zero(const uint8_t *p, uint32_t len)
{
	uint8_t any = 0;

	for (uint32_t i = 0; i < len; i++)
		any |= p[i];
	return any == 0;
}

/* The slot of a leaf that holds the id, or (want_free) a free one; NULL when there is none. */
static uint8_t *find_slot(uint8_t *leaf, uint32_t id, bool want_free)
{
	for (uint32_t i = 0; i < LEAF_ENTRIES; i++) {
		uint8_t *e = leaf + LEAF_HEADER + i * ENTRY_BYTES;

		if (is_zero(e, ENTRY_BYTES) ? want_free : !want_free && le32_at(e + ENTRY_ID) == id)
			return e;
	}
	return NULL;
}

static uint32_t pointer_offset(uint32_t id, uint32_t depth)
{
	return (id >> (8 * (QUOTA_DEPTH - 1 - depth)) & 0xFF) * 4;
}

/* The entry of an id; NULL when the tree does not know it. */
static int find(struct quota_file *q, uint32_t id, uint8_t **ret)
{
	uint32_t n = QUOTA_ROOT;
	uint8_t *block;
	int err = get_block(q, n, &block);

	*ret = NULL;
	for (uint32_t depth = 0; depth < QUOTA_DEPTH && err == 0; depth++) {
		n = le32_at(block + pointer_offset(id, depth));
		if (n == 0)
			return 0;
		err = follow(q, n, &block);
	}
	if (err != 0)
		return err;
	*ret = find_slot(block, id, false);
	return *ret == NULL ? damaged(q, n, 0, id) : 0;
}

/* A full leaf leaves the list of those with room. */
static int unlist_leaf(struct quota_file *q, uint8_t *leaf)
{
	uint32_t next = le32_at(leaf + LEAF_NEXT);
	uint32_t prev = le32_at(leaf + LEAF_PREV);
	uint8_t *before = NULL;
	uint8_t *behind = NULL;
	int err = prev != 0 ? follow(q, prev, &before) : 0;

	if (err == 0 && next != 0)
		err = follow(q, next, &behind);
	if (err != 0)
		return err;
	if (before != NULL)
		put32(before, LEAF_NEXT, next);
	else
		put32(q->header, HEADER_FREE_ENTRY, next);
	if (behind != NULL)
		put32(behind, LEAF_PREV, prev);
	put32(leaf, LEAF_NEXT, 0);
	put32(leaf, LEAF_PREV, 0);
	return 0;
}

/* A free slot, counted as used, and its leaf's number. */
static int take_slot(struct quota_file *q, uint32_t *ret_leaf, uint8_t **ret)
{
	uint32_t n = le32_at(q->header + HEADER_FREE_ENTRY);
	uint8_t *leaf;
	int err;

	if (n != 0) {
		err = follow(q, n, &leaf);
	} else {
		err = take_block(q, &n, &leaf);
		if (err == 0)
			put32(q->header, HEADER_FREE_ENTRY, n);
	}
	if (err != 0)
		return err;
	uint32_t used = le16_at(leaf + LEAF_USED) + 1u;
	uint8_t *e = find_slot(leaf, 0, true);

	if (e == NULL || used > LEAF_ENTRIES)
		return damaged(q, n, used, LEAF_ENTRIES);
	*(struct le16 *)(void *)(leaf + LEAF_USED) = le16_put((uint16_t)used);
	*ret_leaf = n;
	*ret = e;
	return used == LEAF_ENTRIES ? unlist_leaf(q, leaf) : 0;
}

/* An entry for an id that the tree does not know. */
static int insert(struct quota_file *q, uint32_t id, uint8_t **ret)
{
	uint8_t *block;
	uint8_t *below;
	int err = get_block(q, QUOTA_ROOT, &block);

	for (uint32_t depth = 0; depth < QUOTA_DEPTH && err == 0; depth++) {
		uint32_t at = pointer_offset(id, depth);
		uint32_t n = le32_at(block + at);

		if (depth == QUOTA_DEPTH - 1)
			err = take_slot(q, &n, ret);
		else
			err = n != 0 ? follow(q, n, &below) : take_block(q, &n, &below);
		if (err != 0)
			return err;
		put32(block, at, n);
		block = below;
	}
	if (err == 0)
		put32(*ret, ENTRY_ID, id);
	return err;
}

static uint64_t add(uint64_t v, int64_t delta)
{
	if (delta < 0)
		return v - min_u64(v, (uint64_t)-delta);
	return v + min_u64(UINT64_MAX - v, (uint64_t)delta);
}

/* Usage that falls to its soft limit stops the clock, as in Linux. */
static void change_entry(uint8_t *e, int64_t space, int64_t inodes)
{
	uint64_t new_space = add(le64_at(e + ENTRY_SPACE), space);
	uint64_t new_inodes = add(le64_at(e + ENTRY_INODES), inodes);
	bool only_mark = is_zero(e, ENTRY_INODES_TIME) && le64_at(e + ENTRY_INODES_TIME) == 1;

	put64(e, ENTRY_SPACE, new_space);
	put64(e, ENTRY_INODES, new_inodes);
	if (space < 0 && div_up_u64(new_space, 1024) <= le64_at(e + ENTRY_SPACE_SOFT))
		put64(e, ENTRY_SPACE_TIME, 0);
	if (only_mark || (inodes < 0 && new_inodes <= le64_at(e + ENTRY_INODES_SOFT)))
		put64(e, ENTRY_INODES_TIME, 0);
	/* All zeros would be a free slot. */
	if (is_zero(e, ENTRY_BYTES))
		put64(e, ENTRY_INODES_TIME, 1);
}

/* --- the face ------------------------------------------------------------------------------------------------------------ */

inum_t quota_file_inum(const struct recovery *r, enum quota_type type)
{
	const struct disk_super *s = &r->super;

	switch (type) {
	case QUOTA_USER:
		return le32_get(s->usr_quota_inum);
	case QUOTA_GROUP:
		return le32_get(s->grp_quota_inum);
	case QUOTA_PROJECT:
		return le32_get(s->prj_quota_inum);
	case QUOTA_TYPES:
		break;
	}
	return 0;
}

int quota_file_open(struct recovery *r, enum quota_type type, struct quota_file *ret)
{
	static const uint32_t magics[QUOTA_TYPES] = {0xD9C01F11, 0xD9C01927, 0xD9C03F14};
	int err = rinode_get(r, quota_file_inum(r, type), INODE_FOR_SYSTEM, &ret->file);

	ret->r = r;
	if (err != 0)
		return err;
	if (!inode_is(&ret->file->ip, INODE_REG) || !rinode_has_map(ret->file))
		return damaged(ret, 0, ret->file->ip.mode, INODE_REG);
	err = get_block(ret, 0, &ret->header);
	if (err != 0)
		return err;
	if (le32_at(ret->header + HEADER_MAGIC) != magics[type])
		return damaged(ret, 0, le32_at(ret->header + HEADER_MAGIC), magics[type]);
	if (le32_at(ret->header + HEADER_VERSION) != QUOTA_VERSION)
		return damaged(ret, 0, le32_at(ret->header + HEADER_VERSION), QUOTA_VERSION);
	ret->blocks = le32_at(ret->header + HEADER_BLOCKS);
	return ret->blocks > QUOTA_ROOT ? 0 : damaged(ret, 0, ret->blocks, QUOTA_ROOT + 1);
}

int quota_file_change(struct quota_file *q, uint32_t id, int64_t space, int64_t inodes)
{
	uint8_t *entry;
	int err = find(q, id, &entry);

	if (err == 0 && entry == NULL && (space > 0 || inodes > 0))
		err = insert(q, id, &entry);
	if (err == 0 && entry != NULL)
		change_entry(entry, space, inodes);
	return err;
}
