/*
 * node.c - the life of decoded nodes.
 *
 * Owns:    the layout that node.h describes.
 * Locks:   none; a node belongs to one thread until it is published.
 * Always:  keys beyond the last entry are NODE_KEY_UNUSED up to the padding, so that a search needs no tail.
 */
#include "extent/node.h"

#include "base/assert.h"
#include "base/env.h"
#include "base/math.h"

#include <string.h>

struct layout {
	uint32_t levels;
	uint32_t count[3]; /* keys of a level, with its padding; [0] all of them */
	size_t at[3];      /* bytes from the node */
	size_t bytes;
};

/* Sixteen keys under a sample are one cache line; the topmost level only fills its vectors. */
static struct layout layout_of(uint32_t count, uint8_t depth)
{
	struct layout l = {.levels = 1, .count = {count}};
	size_t at = sizeof(struct es_node) + count * sizeof(uint64_t);

	if (depth > 0)
		at += count * sizeof(struct es_node *);
	while (l.levels < 3 && l.count[l.levels - 1] > NODE_FLAT_MAX) {
		l.count[l.levels] = (l.count[l.levels - 1] - 1) / NODE_FAN + 1;
		l.levels++;
	}
	for (uint32_t level = l.levels; level-- > 0;) {
		bool top = level + 1 == l.levels;

		l.count[level] = (uint32_t)round_up_u64(l.count[level], top ? 4 : NODE_FAN);
		at = (size_t)round_up_u64(at, top ? sizeof(node_vec) : E4_CACHE_LINE);
		l.at[level] = at;
		at += l.count[level] * sizeof(int32_t);
	}
	l.bytes = at;
	return l;
}

static void node_init(struct es_node *n, const struct layout *l)
{
	uint32_t top = l->levels - 1;

	n->levels = (uint8_t)l->levels;
	n->top_count = (uint16_t)l->count[top];
	n->top_at = (uint16_t)(l->at[top] / 16);
	n->middle_at = (uint16_t)(l->at[1] / 16);
	n->keys_at = (uint16_t)(l->at[0] / 16);
	for (uint32_t level = 0; level < l->levels; level++) {
		int32_t *keys = (int32_t *)(void *)((char *)n + l->at[level]);

		for (uint32_t i = 0; i < l->count[level]; i++)
			keys[i] = NODE_KEY_UNUSED;
	}
}

struct es_node *node_new(struct env *env, uint32_t count, uint8_t depth, lblk_t first, uint64_t end)
{
	struct layout l = layout_of(count, depth);

	_Static_assert(sizeof(struct es_node) % sizeof(uint64_t) == 0, "values follow it");
	E4_ASSERT(count <= UINT16_MAX && l.at[0] / 16 <= UINT16_MAX);
	struct es_node *n = mem_alloc_aligned(env, l.bytes, E4_CACHE_LINE);
	if (n == NULL)
		return NULL;
	memset(n, 0, l.bytes);
	n->first = first;
	n->end = end;
	n->count = (uint16_t)count;
	n->depth = depth;
	node_init(n, &l);
	return n;
}

void node_set(struct es_node *n, uint32_t index, lblk_t key, uint64_t value)
{
	E4_ASSERT(index < n->count);
	((int32_t *)(void *)((char *)n + (size_t)n->keys_at * 16))[index] = key_of(key);
	((uint64_t *)(void *)(n + 1))[index] = value;
}

void node_finish(struct es_node *n)
{
	struct layout l = layout_of(n->count, n->depth);

	for (uint32_t level = 1; level < l.levels; level++) {
		const int32_t *below = (const int32_t *)(const void *)((const char *)n +
								       l.at[level - 1]);
		int32_t *samples = (int32_t *)(void *)((char *)n + l.at[level]);

		for (uint32_t i = 0; i * NODE_FAN < l.count[level - 1]; i++)
			samples[i] = below[i * NODE_FAN];
	}
}

size_t node_bytes(const struct es_node *n)
{
	return layout_of(n->count, n->depth).bytes;
}

/* A way down and back up by hand: what is below goes before what is above. */
void node_free(struct env *env, struct es_node *n)
{
	struct es_node *path[EXTENT_DEPTH_MAX + 1];
	uint32_t at[EXTENT_DEPTH_MAX + 1];
	uint32_t top = 0;

	if (n == NULL)
		return;
	path[0] = n;
	at[0] = 0;
	for (;;) {
		n = path[top];
		if (n->depth > 0 && at[top] < n->count) {
			struct es_node *child = atomic_load_explicit(
				&node_children(n)[at[top]++], memory_order_acquire);

			if (child != NULL) {
				E4_ASSERT(top < EXTENT_DEPTH_MAX);
				path[++top] = child;
				at[top] = 0;
			}
			continue;
		}
		mem_free(env, n, node_bytes(n));
		if (top-- == 0)
			return;
	}
}

static void node_release(struct env *env, struct epoch_item *item)
{
	node_free(env, container_of(item, struct es_node, garbage));
}

void node_retire(struct env *env, struct es_node *n)
{
	if (n != NULL)
		epoch_retire(env, &n->garbage, node_release);
}
