/*
 * walk.c - every block of a map, from root to leaf and from left to right, for those who free, count or check them.
 *
 * Locks:   none. What is walked is private to the caller: nothing is published, nothing cached but the blocks.
 * Always:  at most one decoded node a level is held. Depth bounds the way down, the entries of each node bound its width; keys rise,
 *          as every node was checked against its parent, so a walk ends.
 */
#include "base/assert.h"
#include "extent/extent_impl.h"

#include <errno.h>

struct walk {
	struct inode *ip;
	const struct extent_visit *visit;
	uint32_t top; /* levels in use */
	struct {
		struct es_node *node;
		uint32_t index; /* next entry */
	} level[EXTENT_DEPTH_MAX + 1];
};

static void walk_push(struct walk *w, struct es_node *n)
{
	E4_ASSERT(w->top <= EXTENT_DEPTH_MAX);
	w->level[w->top].node = n;
	w->level[w->top].index = 0;
	w->top++;
}

static void walk_pop(struct walk *w)
{
	w->top--;
	node_free(w->ip->vol->env, w->level[w->top].node);
}

static int visit_run(struct walk *w, const struct es_node *leaf, uint32_t index)
{
	uint64_t run = node_values(leaf)[index];

	if (w->visit->run == NULL)
		return 0;
	return w->visit->run(w->visit->arg, node_key(leaf, index), es_run_len(run),
		es_run_pblk(run), es_run_unwritten(run));
}

static int visit_child(struct walk *w, const struct es_node *n, uint32_t index)
{
	struct extent_place place = extent_child_place(w->ip, n, index);
	struct es_node *child;
	int r = 0;

	if (place.pblk == NODE_HOLE)
		return 0;
	if (w->visit->meta != NULL && place.pblk != EXTENT_PBLK_DIRECT)
		r = w->visit->meta(w->visit->arg, place.pblk);
	if (r == 0)
		r = extent_read_node(w->ip, &place, &child);
	if (r == 0)
		walk_push(w, child);
	return r;
}

static int walk_step(struct walk *w)
{
	struct es_node *n = w->level[w->top - 1].node;
	uint32_t index = w->level[w->top - 1].index;

	if (index == n->count) {
		walk_pop(w);
		return 0;
	}
	w->level[w->top - 1].index++;
	return n->depth == 0 ? visit_run(w, n, index) : visit_child(w, n, index);
}

/* Stops at the first answer of a callback that is not 0, and returns it. */
int extent_visit_all(struct inode *ip, const struct extent_visit *v)
{
	struct walk w = {.ip = ip, .visit = v};
	struct es_node *root;
	enum es_kind kind;
	int r = extent_decode_root(ip, &kind, &root);

	if (r < 0 || kind == ES_INLINE)
		return r;
	walk_push(&w, root);
	while (r == 0 && w.top > 0)
		r = walk_step(&w);
	while (w.top > 0)
		walk_pop(&w);
	return r;
}
