/*
 * shrink.c - an orphan whose blocks lie in more groups than one transaction can change loses them in steps, from its end.
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  the inode stays on its list with a smaller map until a round can do the rest, so each round ends in a state that any recovery
 *          takes up. A step frees something, so rounds end.
 * Uses:    extent, extent_edit.c, indirect_edit.c, bitmap.c.
 */
#include "base/bits.h"
#include "base/math.h"
#include "base/mem.h"
#include "extent/extent.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

#define BLOCKS_PER_GROUP 3u  /* changed for each: bitmaps, descriptor */
#define BLOCKS_ASIDE     32u /* the path to the cut, the inode, the superblock */
#define GROUPS_MIN                                                                                 \
	16u /* the first orphan of a round may change so many, whatever fast commits took */

/* What a map consists of, in rising order; a block of the map itself comes before what is below it. */
struct item {
	lblk_t lblk;
	uint32_t len; /* 0: a block of the map itself */
	pblk_t pblk;
};

struct plan {
	struct recovery *r;
	struct item *items;
	uint32_t count, capacity;
	uint8_t *seen;        /* a bit a group: paid for */
	uint32_t groups_left; /* that may still be paid for */
	bool over;            /* a block of the map took more */
};

static int add_item(struct plan *p, struct item item)
{
	if (p->count == p->capacity) {
		uint32_t capacity = p->capacity == 0 ? 64 : p->capacity * 2;
		struct item *bigger = mem_zalloc_array(p->r->env, capacity, sizeof(*bigger));

		if (bigger == NULL)
			return -ENOMEM;
		if (p->count > 0)
			memcpy(bigger, p->items, p->count * sizeof(*bigger));
		mem_free(p->r->env, p->items, p->capacity * sizeof(*p->items));
		p->items = bigger;
		p->capacity = capacity;
	}
	p->items[p->count++] = item;
	return 0;
}

static int add_meta(void *arg, pblk_t pblk)
{
	return add_item(arg, (struct item){.pblk = pblk});
}

static int add_run(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	(void)unwritten;
	return add_item(arg, (struct item){lblk, len, pblk});
}

static size_t seen_bytes(const struct recovery *r)
{
	return r->vol->groups_count / 8u + 1;
}

/* Groups that this round has changed already cost nothing more. */
static int plan_init(struct recovery *r, struct rinode *ri, struct plan *p)
{
	uint32_t used = recover_blocks_changed(r) + BLOCKS_ASIDE;

	*p = (struct plan){.r = r};
	p->groups_left = r->dirty_limit > used ? (r->dirty_limit - used) / BLOCKS_PER_GROUP : 0;
	if (!r->progress)
		p->groups_left = max_u32(p->groups_left, GROUPS_MIN);
	p->seen = mem_zalloc(r->env, seen_bytes(r));
	if (p->seen == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for (it, &r->groups[i]) {
			bit_set(p->seen, container_of(it, struct rgroup, hash)->number);
		}
	}
	return extent_visit_all(
		&ri->ip, &(struct extent_visit){.meta = add_meta, .run = add_run, .arg = p});
}

static void plan_fini(struct plan *p)
{
	mem_free(p->r->env, p->items, p->capacity * sizeof(*p->items));
	mem_free(p->r->env, p->seen, seen_bytes(p->r));
}

/* Whether the group of pblk may be changed as well. */
static bool pay(struct plan *p, pblk_t pblk)
{
	group_t g = volume_group_of_block(p->r->vol, pblk);

	if (bit_test(p->seen, g))
		return true;
	if (p->groups_left == 0)
		return false;
	p->groups_left--;
	bit_set(p->seen, g);
	return true;
}

/* Where the run can be cut so that what lies behind is paid for; its first block if all of it is. */
static uint64_t pay_run(struct plan *p, const struct item *run, uint64_t first)
{
	struct volume *vol = p->r->vol;
	uint64_t start = max_u64(run->lblk, first);
	uint64_t end = (uint64_t)run->lblk + run->len;

	while (end > start) {
		pblk_t last = run->pblk + (end - 1 - run->lblk);

		if (p->over || !pay(p, last))
			return end;
		pblk_t group_first = volume_group_first_block(vol, volume_group_of_block(vol, last));
		uint64_t n = min_u64(last - group_first + 1, end - start);

		end -= n;
	}
	return start;
}

/*
 * Walks back from the end of the map as far as can be paid for. True: down to `first`. Else *ret_cut is how far. A block of the map
 * goes with what was below it; one that cannot be paid for is the last (it is one a level at most: BLOCKS_ASIDE has room).
 */
static bool plan_cut(struct plan *p, uint64_t first, uint64_t *ret_cut)
{
	*ret_cut = (uint64_t)1 << 32;
	for (uint32_t i = p->count; i-- > 0;) {
		const struct item *it = &p->items[i];

		if (it->len == 0) {
			p->over = p->over || !pay(p, it->pblk);
			continue;
		}
		if ((uint64_t)it->lblk + it->len <= first)
			return true;
		uint64_t cut = pay_run(p, it, first);

		if (cut < (uint64_t)it->lblk + it->len)
			*ret_cut = cut;
		if (cut > max_u64(it->lblk, first))
			return false;
	}
	return true;
}

static int cut_map(struct recovery *r, struct rinode *ri, uint64_t cut, bool *ret_changed)
{
	int err;

	if ((ri->ip.flags & INODE_FL_EXTENTS) == 0) {
		err = indirect_truncate(r, ri, cut, ret_changed);
		rinode_store(ri);
		return err;
	}
	*ret_changed = true;
	return map_cut(r, ri, cut);
}

/*
 * Whether all blocks from `first` on can be freed in this round: 1. If not, as many as can are, recovery->more is set, and the answer is 0.
 * An orphan that others were processed before in this round waits for the next.
 */
int shrink_orphan(struct recovery *r, struct rinode *ri, uint64_t first, bool *ret_changed)
{
	struct plan p;
	uint64_t cut = 0;

	/* With map_changed the list is newer than the tree, which is what is planned with and cut here. */
	if (r->dirty_limit == 0 || !rinode_has_map(ri) || ri->map_changed)
		return 1;
	int err = plan_init(r, ri, &p);
	bool whole = err == 0 && plan_cut(&p, first, &cut);

	plan_fini(&p);
	if (err != 0 || whole)
		return err != 0 ? err : 1;
	/* Nothing but blocks of the map at its end: no cut would make it smaller. */
	if (!r->progress && cut > LBLK_MAX)
		return 1;
	r->more = true;
	if (r->progress)
		return 0;
	err = cut_map(r, ri, cut, ret_changed);
	r->progress = true;
	return err;
}
