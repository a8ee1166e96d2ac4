/*
 * xattr_area.c - the places that hold attributes, and a checked walk over one of them.
 *
 * Owns:    buf_kind_xattr.
 * Locks:   none; an area borrows bytes that do not change while their buf is held.
 * Always:  a struct xattr_area that was returned has been walked once, names and values; the walk goes only where that check went.
 *          One bad entry makes the whole area bad, as in the kernel.
 * Uses:    format, volume for features and the inode count.
 */
#include "base/math.h"
#include "format/csum.h"
#include "inode/inode_impl.h"

#include <errno.h>
#include <string.h>

#define ENTRY_SIZE      ((uint32_t)sizeof(struct disk_xattr_entry))
#define TERMINATOR_SIZE 4u
#define MAGIC_SIZE      4u /* header of the in-inode area */

static uint32_t padded(uint32_t len)
{
	return (len + 3u) & ~3u;
}

/* Walks the names to the terminator; at least that fits the area, whose length is a multiple of 4. */
static int check_names(struct env *env, struct xattr_area *a)
{
	const uint8_t *at = a->first;

	while (le32_at(at) != 0) {
		size_t room = (size_t)(a->end - at);
		const struct disk_xattr_entry *e = (const void *)at;
		uint32_t offset = (uint32_t)(at - a->base);

		if (room <= ENTRY_SIZE + padded(e->name_len))
			return fail(env, E4_WHY_XATTR_NAME_BOUNDS, .ino = a->ino, .block = a->pblk,
				.found = offset);
		if (memchr(at + ENTRY_SIZE, 0, e->name_len) != NULL)
			return fail(env, E4_WHY_XATTR_NAME_NUL, .ino = a->ino, .block = a->pblk,
				.found = offset);
		at += ENTRY_SIZE + padded(e->name_len);
	}
	a->names_end = at;
	return 0;
}

/* A value in an inode of its own. */
static int check_external(const struct xattr_area *a, const struct xattr_value *v)
{
	struct volume *vol = a->vol;
	bool valid = v->value_ino >= vol->first_ino && v->value_ino <= vol->inodes_count;

	if (!volume_has_incompat(vol, FEATURE_INCOMPAT_EA_INODE))
		return fail(vol->env, E4_WHY_XATTR_EA_FEATURE, .ino = a->ino, .block = a->pblk,
			.found = v->value_ino);
	if (!valid)
		return fail(vol->env, E4_WHY_XATTR_EA_NUMBER, .ino = a->ino, .block = a->pblk,
			.found = v->value_ino, .expected = vol->inodes_count);
	if (v->size == 0)
		return fail(vol->env, E4_WHY_XATTR_EA_EMPTY, .ino = a->ino, .block = a->pblk,
			.found = v->value_ino);
	return 0;
}

int xattr_area_next(const struct xattr_area *area, const uint8_t **at, struct xattr_value *v)
{
	const struct disk_xattr_entry *e = (const void *)*at;
	struct env *env = area->vol->env;

	if (*at >= area->names_end)
		return 0;
	uint32_t offset = le16_get(e->value_offs);
	*v = (struct xattr_value){
		.size = le32_get(e->value_size),
		.value_ino = le32_get(e->value_inum),
		.hash = le32_get(e->hash),
		.index = e->name_index,
		.name_len = e->name_len,
		.name = *at + ENTRY_SIZE,
	};
	if (v->size > XATTR_VALUE_SIZE_MAX)
		return fail(env, E4_WHY_XATTR_VALUE_SIZE, .ino = area->ino, .block = area->pblk,
			.found = v->size, .expected = XATTR_VALUE_SIZE_MAX);
	if (v->value_ino != 0) {
		int r = check_external(area, v);

		if (r < 0)
			return r;
	} else if (v->size == 0) {
		v->data = area->names_end;
	} else {
		/* Names and values may not share bytes, nor the padding leave the area. */
		size_t lowest = (size_t)(area->names_end - area->base) + TERMINATOR_SIZE;
		size_t room = (size_t)(area->end - area->base);

		if (offset < lowest || offset > room || padded(v->size) > room - offset)
			return fail(env, E4_WHY_XATTR_VALUE_BOUNDS, .ino = area->ino,
				.block = area->pblk, .found = offset, .expected = room);
		v->data = area->base + offset;
	}
	*at += ENTRY_SIZE + padded(e->name_len);
	return 1;
}

static int check_area(struct xattr_area *a)
{
	struct xattr_value v;
	int r = check_names(a->vol->env, a);

	if (r < 0)
		return r;
	const uint8_t *at = a->first;
	do {
		r = xattr_area_next(a, &at, &v);
	} while (r > 0);
	return r;
}

int xattr_area_in_inode(struct volume *vol, inum_t ino, const void *raw, struct xattr_area *ret)
{
	const struct disk_inode *di = raw;
	const uint8_t *p = raw;

	if (vol->inode_size <= INODE_CLASSIC_SIZE || le16_get(di->extra_isize) == 0)
		return 0;
	uint32_t start = INODE_CLASSIC_SIZE + le16_get(di->extra_isize);
	if (start % 4 != 0 || start + MAGIC_SIZE + TERMINATOR_SIZE > vol->inode_size ||
		le32_at(p + start) != XATTR_MAGIC)
		return 0;
	*ret = (struct xattr_area){
		.vol = vol,
		.ino = ino,
		.first = p + start + MAGIC_SIZE,
		.base = p + start + MAGIC_SIZE,
		.end = p + vol->inode_size,
	};
	int r = check_area(ret);
	return r < 0 ? r : 1;
}

int xattr_area_in_block(struct volume *vol, inum_t ino, const struct buf *b, struct xattr_area *ret)
{
	*ret = (struct xattr_area){
		.vol = vol,
		.ino = ino,
		.pblk = b->pblk,
		.first = b->data + sizeof(struct disk_xattr_block_header),
		.base = b->data,
		.end = b->data + vol->block_size,
	};
	return check_area(ret);
}

/* What needs no knowledge of the volume; entries are checked when the block is used. A wrong refcount hurts no reader. */
static int block_verify(const struct buf_owner *o, const void *data)
{
	const struct disk_xattr_block_header *h = data;

	if (le32_get(h->magic) != XATTR_MAGIC)
		return fail(o->env, E4_WHY_XATTR_BLOCK_MAGIC, .ino = o->ino, .block = o->pblk,
			.found = le32_get(h->magic), .expected = XATTR_MAGIC);
	if (le32_get(h->blocks) != 1)
		return fail(o->env, E4_WHY_XATTR_BLOCK_COUNT, .ino = o->ino, .block = o->pblk,
			.found = le32_get(h->blocks), .expected = 1);
	return 0;
}

static uint32_t block_csum(const struct buf_owner *o, const void *data)
{
	return csum_xattr_block(o->seed, o->pblk, data, o->block_size);
}

static bool block_csum_ok(const struct buf_owner *o, const void *data)
{
	const struct disk_xattr_block_header *h = data;

	return le32_get(h->checksum) == block_csum(o, data);
}

static void block_seal(const struct buf_owner *o, void *data)
{
	struct disk_xattr_block_header *h = data;

	h->checksum = le32_put(block_csum(o, data));
}

const struct buf_kind buf_kind_xattr = {
	.name = "xattr block",
	.verify = block_verify,
	.csum_ok = block_csum_ok,
	.seal = block_seal,
};
