/*
 * indirect_edit.c - cuts an indirect map at a block.
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  only the path to the cut is changed; what lies behind it is freed. Every pointer is checked before it is followed. Levels are
 *          walked with a path of fixed depth.
 * Uses:    extent (the kind of such blocks), bitmap.c, tx.c.
 */
#include "base/math.h"
#include "extent/extent.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

#define DIRECT_COUNT 12u
#define LEVELS       3u

struct cut {
	struct recovery *r;
	struct rinode *ri;
	uint64_t first;     /* blocks from here on go */
	uint32_t per_block; /* pointers in a block */
	bool apply;         /* second round: nothing can fail any more but memory */
	uint64_t freed;     /* blocks */
};

static uint64_t span(const struct cut *c, uint32_t depth)
{
	uint64_t n = 1;

	while (depth-- > 0)
		n *= c->per_block;
	return n;
}

static int free_block(struct cut *c, pblk_t pblk)
{
	int err = volume_check_mapping(c->r->vol, c->ri->ip.ino, pblk, 1);

	if (err != 0)
		return err;
	c->freed++;
	return c->apply ? bitmap_free_blocks(c->r, pblk, 1) : bitmap_prepare_blocks(c->r, pblk, 1);
}

struct level {
	struct buf *buf;
	uint64_t start; /* first block it maps */
	uint32_t next;  /* pointer to look at */
	uint32_t depth; /* 1: its pointers name data */
	pblk_t pblk;
	bool gone; /* all that it maps goes, and so it stays as it is: only looked at */
};

static int open_level(struct cut *c, struct level *l, pblk_t pblk, uint32_t depth, uint64_t start)
{
	int err = volume_check_mapping(c->r->vol, c->ri->ip.ino, pblk, 1);

	*l = (struct level){.start = start, .depth = depth, .pblk = pblk, .gone = start >= c->first};
	if (err != 0)
		return err;
	if (l->gone)
		return buf_get(c->r->vol->bufs, pblk, &buf_kind_indirect, c->ri->ip.ino,
			c->ri->ip.csum_seed, &l->buf);
	return tx_get(c->r, pblk, &buf_kind_indirect, c->ri->ip.ino, c->ri->ip.csum_seed, &l->buf);
}

static void close_level(struct level *l)
{
	if (l->gone && l->buf != NULL)
		buf_put(l->buf);
	l->buf = NULL;
}

/*
 * Everything behind the cut under the block at pblk, which maps [start, ...). The block itself goes when its whole range does; then
 * *ret_gone. `steps` bounds a map that names a block twice.
 */
static int cut_tree(struct cut *c, pblk_t pblk, uint32_t depth, uint64_t start, bool *ret_gone)
{
	struct level path[LEVELS];
	uint32_t at = 0;
	int err = open_level(c, &path[0], pblk, depth, start);

	while (err == 0) {
		struct level *l = &path[at];

		if (l->next == c->per_block) {
			bool gone = l->gone;

			if (gone)
				err = free_block(c, l->pblk);
			if (err != 0)
				break;
			close_level(l);
			if (at == 0) {
				*ret_gone = gone;
				return 0;
			}
			at--;
			struct le32 *slot = (struct le32 *)(void *)path[at].buf->data +
					    path[at].next - 1;

			if (gone && c->apply && !path[at].gone)
				*slot = le32_put(0);
			continue;
		}
		uint64_t sub = span(c, l->depth - 1);
		uint64_t from = l->start + l->next * sub;
		struct le32 *p = (struct le32 *)(void *)l->buf->data + l->next++;
		pblk_t child = le32_get(*p);

		if (child == 0 || from + sub <= c->first)
			continue;
		if (l->depth == 1) {
			err = free_block(c, child);
			if (c->apply && !l->gone)
				*p = le32_put(0);
		} else {
			err = open_level(c, &path[++at], child, l->depth - 1, from);
		}
	}
	for (uint32_t i = 0; i <= at; i++)
		close_level(&path[i]);
	return err;
}

static int cut_all(struct cut *c)
{
	struct le32 *slots = (struct le32 *)(void *)c->ri->ip.block;
	uint64_t start = DIRECT_COUNT;

	for (uint32_t i = 0; i < DIRECT_COUNT; i++) {
		pblk_t pblk = le32_get(slots[i]);

		if (i < c->first || pblk == 0)
			continue;
		int err = free_block(c, pblk);

		if (err != 0)
			return err;
		if (c->apply)
			slots[i] = le32_put(0);
	}
	for (uint32_t depth = 1; depth <= LEVELS; depth++) {
		struct le32 *slot = &slots[DIRECT_COUNT + depth - 1];
		bool gone = false;

		if (le32_get(*slot) != 0 && start + span(c, depth) > c->first) {
			int err = cut_tree(c, le32_get(*slot), depth, start, &gone);

			if (err != 0)
				return err;
		}
		if (gone && c->apply)
			*slot = le32_put(0);
		start += span(c, depth);
	}
	return 0;
}

/* Frees the blocks from `first` on. Changes nothing when it fails before *ret_changed. */
int indirect_truncate(struct recovery *r, struct rinode *ri, uint64_t first, bool *ret_changed)
{
	struct cut c = {.r = r, .ri = ri, .first = first, .per_block = r->vol->block_size / 4};

	*ret_changed = false;
	int err = cut_all(&c);

	if (err != 0 || c.freed == 0)
		return err;
	uint64_t sectors = c.freed << (r->vol->block_bits - 9);

	*ret_changed = true;
	c.apply = true;
	err = cut_all(&c);
	extent_map_drop(&ri->ip);
	ri->ip.blocks512 -= min_u64(ri->ip.blocks512, sectors);
	return err;
}
