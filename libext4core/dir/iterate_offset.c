/*
 * iterate_offset.c - listing in the order of the blocks; a cookie is the byte offset of the next entry.
 *
 * An inline directory counts as three chains one after the other: "." and ".." as two entries of 12 bytes that nobody stored,
 * the entries in i_block, those in the attribute. That gives the kernel's positions.
 *
 * Owns:    it->chain, and the arena.
 * Locks:   none.
 * Always:  positions only grow, by 12 at least, up to the directory's size.
 */
#include "base/assert.h"
#include "base/math.h"
#include "dir/dir_impl.h"

#include <errno.h>

#define PART_0_POS  ITER_DOTS_SIZE
#define PART_0_SIZE (INODE_BLOCK_BYTES - 4u)
#define PART_1_POS  (PART_0_POS + PART_0_SIZE)

static bool is_inline(const struct dir_iter *it)
{
	return (it->ip->flags & INODE_FL_INLINE_DATA) != 0;
}

uint64_t iter_offset_end(const struct dir_iter *it)
{
	if (is_inline(it))
		return max_u64(it->ip->size, INODE_BLOCK_BYTES) - INODE_BLOCK_BYTES + PART_1_POS;
	return dir_blocks_count(it->ip) << it->ip->vol->block_bits;
}

static void set_chain(struct dir_iter *it, const struct dir_area *a, uint32_t base, uint64_t pos)
{
	it->chain.area = *a;
	it->chain.area.data = it->arena + base;
	it->chain.base = base;
	it->chain.pos = pos;
	it->chain.offset = 0;
	it->loaded = true;
}

/* 1, or 0 for a hole. *ret_next: the position behind it; DIR_NO_MAP when the map ends the listing. */
static int load_block(struct dir_iter *it, uint64_t pos, uint64_t *ret_next)
{
	struct inode *ip = it->ip;
	lblk_t lblk = (lblk_t)(pos >> ip->vol->block_bits);
	struct buf *b = NULL;
	uint32_t base;
	uint64_t next;
	int r = dir_read_next(ip, lblk, &b, &next);

	*ret_next = next == DIR_NO_MAP ? next : next << ip->vol->block_bits;

	if (r == 0 && !it->chain.hole_told) {
		(void)dir_report_hole(ip, lblk);
		it->chain.hole_told = true;
	}
	if (r <= 0)
		return r;
	r = iter_arena_add(it, b->data, ip->vol->block_size, &base);
	if (r == 0) {
		struct dir_area a = dir_area_of(ip, b->pblk, b->data, ip->vol->block_size);

		set_chain(it, &a, base, pos);
	}
	buf_put(b);
	return r < 0 ? r : 1;
}

static int load_inline(struct dir_iter *it, uint64_t pos)
{
	struct inode *ip = it->ip;
	struct dir_area a = dir_area_of(ip, 0, NULL, ITER_DOTS_SIZE);
	uint32_t base;
	int r;

	if (pos < PART_0_POS)
		r = iter_arena_add_dots(it, ip->ino, dir_inline_parent(ip), &base);
	else
		r = iter_arena_add_inline(it, pos < PART_1_POS ? 0 : 1, &a, &base);
	if (r < 0)
		return r;
	set_chain(it, &a, base, pos);
	return 1;
}

/* Where the chain that holds `pos` begins. */
static uint64_t chain_start(const struct dir_iter *it, uint64_t pos)
{
	if (!is_inline(it))
		return round_down_u64(pos, it->ip->vol->block_size);
	if (pos < PART_0_POS)
		return 0;
	return pos < PART_1_POS ? PART_0_POS : PART_1_POS;
}

/* Where the next one begins; the end behind the last. */
static uint64_t chain_after(const struct dir_iter *it, uint64_t pos)
{
	if (!is_inline(it))
		return pos + it->ip->vol->block_size;
	if (pos < PART_0_POS)
		return PART_0_POS;
	return pos < PART_1_POS ? PART_1_POS : iter_offset_end(it);
}

/* The first chain at or after chain.pos that can be read: 1, 0 at the end. */
static int load(struct dir_iter *it)
{
	struct iter_chain *c = &it->chain;

	for (uint64_t next; c->pos < iter_offset_end(it); c->pos = next) {
		it->arena_used = 0;
		next = chain_after(it, c->pos);
		int r = is_inline(it) ? load_inline(it, c->pos) : load_block(it, c->pos, &next);

		if (r > 0 || (r < 0 && r != -EUCLEAN && r != -EBADMSG) || next == DIR_NO_MAP)
			return r;
	}
	return 0;
}

/* The next entry of the loaded chain; false when it has no more, or a bad one (which is in the ring). */
static bool find_in_chain(struct iter_chain *c)
{
	struct dir_entry e;

	while (!c->found && dir_area_next_used(&c->area, &c->offset, &e) > 0) {
		c->current = e.offset;
		c->found = c->pos + e.offset >= c->start;
	}
	return c->found;
}

int iter_offset_peek(struct dir_iter *it, struct iter_spot *ret)
{
	struct iter_chain *c = &it->chain;

	while (!it->loaded || !find_in_chain(c)) {
		if (it->loaded)
			c->pos = chain_after(it, c->pos);
		it->loaded = false;
		int r = load(it);
		if (r <= 0)
			return r;
	}
	*ret = (struct iter_spot){.cookie = c->pos + c->current, .at = c->base + c->current};
	return 1;
}

void iter_offset_step(struct dir_iter *it)
{
	E4_ASSERT(it->chain.found);
	it->chain.found = false;
}

void iter_offset_seek(struct dir_iter *it, uint64_t cookie)
{
	it->chain.start = cookie;
	it->chain.pos = chain_start(it, cookie);
	it->chain.found = false;
	it->loaded = false;
}

uint64_t iter_offset_resume(const struct dir_iter *it)
{
	return it->chain.pos;
}
