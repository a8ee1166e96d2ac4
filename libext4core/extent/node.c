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

#include <string.h>

struct layout {
	uint8_t levels;
	uint16_t top_count;
	uint16_t at[3]; /* units of 16 bytes */
	size_t bytes;
};

/* The levels lie from the topmost down, so that what is looked at first is together with the header. */
static struct layout layout_of(uint32_t count, uint8_t depth)
{
	struct layout l = {.levels = 1};
	uint32_t counts[3] = {count, 0, 0};
	size_t at = sizeof(struct es_node);

	while (l.levels < 3 && counts[l.levels - 1] > NODE_FLAT_MAX) {
		counts[l.levels] = (counts[l.levels - 1] - 1) / NODE_FAN + 1;
		l.levels++;
	}
	for (uint32_t level = l.levels; level-- > 0;) {
		bool top = level + 1u == l.levels;

		/* The 16 keys under a sample are one cache line. */
		if (!top)
			at = (at + E4_CACHE_LINE - 1) / E4_CACHE_LINE * E4_CACHE_LINE;
		l.at[level] = (uint16_t)(at / 16);
		at += sizeof(int32_t) * node_pad(counts[level], top ? 1 : 2);
	}
	l.top_count = (uint16_t)node_pad(counts[l.levels - 1], 1);
	l.bytes = at + sizeof(uint64_t) * count;
	if (depth > 0)
		l.bytes += sizeof(struct es_node *) * count;
	return l;
}

struct es_node *node_new(struct env *env, uint32_t count, uint8_t depth, lblk_t first, uint64_t end)
{
	_Static_assert(sizeof(struct es_node) % 16 == 0, "keys are compared as vectors");
	struct layout l = layout_of(count, depth);
	struct es_node *n = mem_alloc_aligned(env, l.bytes, E4_CACHE_LINE);

	E4_ASSERT(count <= UINT16_MAX && l.bytes / 16 <= UINT16_MAX);
	if (n == NULL)
		return NULL;
	memset(n, 0, l.bytes);
	n->first = first;
	n->end = end;
	n->count = (uint16_t)count;
	n->top_count = l.top_count;
	n->depth = depth;
	n->levels = l.levels;
	memcpy(n->at, l.at, sizeof(n->at));
	int32_t *keys = (int32_t *)(uintptr_t)node_level(n, n->levels - 1u);
	const int32_t *keys_end = (const int32_t *)(const void *)node_values(n);
	while (keys < keys_end)
		*keys++ = NODE_KEY_UNUSED;
	return n;
}

void node_set(struct es_node *n, uint32_t index, lblk_t key, uint64_t value)
{
	E4_ASSERT(index < n->count);
	((int32_t *)(uintptr_t)node_level(n, 0))[index] = key_of(key);
	((uint64_t *)(uintptr_t)node_values(n))[index] = value;
}

void node_finish(struct es_node *n)
{
	uint32_t count = n->count;

	for (uint32_t level = 1; level < n->levels; level++) {
		const int32_t *below = node_level(n, level - 1);
		int32_t *samples = (int32_t *)(uintptr_t)node_level(n, level);

		count = (count - 1) / NODE_FAN + 1;
		for (uint32_t i = 0; i < count; i++)
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
