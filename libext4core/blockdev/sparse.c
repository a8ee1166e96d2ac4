/*
 * sparse.c - a radix tree of chunks, 64 ways a level, its height fixed by the highest number.
 *
 * Owns:    its tables and chunks.
 * Locks:   s->lock guards adding; readers follow pointers published with release and loaded with acquire.
 * Always:  a slot goes from NULL to its final value once. Level 0 holds chunks, the levels above hold tables.
 */
#include "blockdev/sparse.h"

#include <errno.h>
#include <string.h>

#define SHIFT      6
#define WAYS       (1u << SHIFT)
#define HEIGHT_MAX 11 /* 64 bits in steps of 6 */

struct table {
	_Atomic(void *) slot[WAYS];
};

void sparse_init(struct sparse *s, struct env *env, uint32_t chunk_size, uint64_t count)
{
	*s = (struct sparse){.env = env, .chunk_size = chunk_size, .height = 1};
	while (s->height < HEIGHT_MAX && (count - 1) >> (SHIFT * s->height) != 0)
		s->height++;
	mutex_init(&s->lock, RANK_LEAF);
}

static _Atomic(void *) *slot_of(void *node, uint64_t index, uint32_t level)
{
	struct table *t = node;

	return &t->slot[(index >> (SHIFT * level)) % WAYS];
}

void *sparse_find(struct sparse *s, uint64_t index)
{
	void *node = atomic_load_explicit(&s->root, memory_order_acquire);

	for (uint32_t level = s->height; level > 0 && node != NULL; level--)
		node = atomic_load_explicit(slot_of(node, index, level - 1), memory_order_acquire);
	return node;
}

void *sparse_chunk_new(struct sparse *s)
{
	return mem_alloc_aligned(s->env, s->chunk_size, s->chunk_size < 4096 ? s->chunk_size : 4096);
}

/* The table in *slot, made if absent. */
static struct table *table_get(struct sparse *s, _Atomic(void *) *slot)
{
	struct table *t = atomic_load_explicit(slot, memory_order_relaxed);

	if (t == NULL) {
		t = mem_zalloc(s->env, sizeof(*t));
		atomic_store_explicit(slot, t, memory_order_release);
	}
	return t;
}

static void *insert_locked(struct sparse *s, uint64_t index, void *chunk) E4_REQUIRES(s->lock)
{
	_Atomic(void *) *slot = &s->root;

	for (uint32_t level = s->height; level > 0; level--) {
		struct table *t = table_get(s, slot);

		if (t == NULL)
			return NULL;
		slot = slot_of(t, index, level - 1);
	}
	void *there = atomic_load_explicit(slot, memory_order_relaxed);
	if (there != NULL)
		return there;
	atomic_store_explicit(slot, chunk, memory_order_release);
	uint64_t n = atomic_load_explicit(&s->count_chunks, memory_order_relaxed);
	atomic_store_explicit(&s->count_chunks, n + 1, memory_order_relaxed);
	return chunk;
}

int sparse_insert(struct sparse *s, uint64_t index, void *chunk, void **ret)
{
	mutex_lock(&s->lock);
	void *there = insert_locked(s, index, chunk);
	mutex_unlock(&s->lock);
	if (there != chunk)
		mem_free(s->env, chunk, s->chunk_size);
	if (there == NULL)
		return -ENOMEM;
	*ret = there;
	return 0;
}

int sparse_get(struct sparse *s, uint64_t index, void **ret)
{
	void *chunk = sparse_find(s, index);

	if (chunk != NULL) {
		*ret = chunk;
		return 0;
	}
	chunk = sparse_chunk_new(s);
	if (chunk == NULL)
		return -ENOMEM;
	memset(chunk, 0, s->chunk_size);
	return sparse_insert(s, index, chunk, ret);
}

/* The chunk at index, or NULL and in *ret_level the level at which the path ended. */
static void *probe(struct sparse *s, uint64_t index, uint32_t *ret_level)
{
	void *node = atomic_load_explicit(&s->root, memory_order_acquire);
	uint32_t level = s->height;

	while (level > 0 && node != NULL)
		node = atomic_load_explicit(slot_of(node, index, --level), memory_order_acquire);
	*ret_level = level;
	return node;
}

void *sparse_next(struct sparse *s, uint64_t *index)
{
	uint64_t i = *index;

	for (;;) {
		uint32_t level;
		void *chunk = probe(s, i, &level);

		if (chunk != NULL) {
			*index = i;
			return chunk;
		}
		/* Nothing in this whole subtree: on to the next one of its level. */
		if (SHIFT * level >= 64)
			return NULL;
		uint64_t next = ((i >> (SHIFT * level)) + 1) << (SHIFT * level);
		if (next <= i || (SHIFT * s->height < 64 && next >> (SHIFT * s->height) != 0))
			return NULL;
		i = next;
	}
}

/* Frees the tables that stand `level` levels above the chunks; those below are gone already. */
static void free_level(struct sparse *s, uint32_t level)
{
	uint64_t span = SHIFT * level < 64 ? (uint64_t)1 << (SHIFT * level) : 0;
	uint64_t index = 0;

	for (;;) {
		_Atomic(void *) *slot = &s->root;
		void *node = atomic_load_explicit(slot, memory_order_relaxed);
		uint32_t at = s->height;

		while (at > level && node != NULL) {
			slot = slot_of(node, index, --at);
			node = atomic_load_explicit(slot, memory_order_relaxed);
		}
		if (node != NULL) {
			mem_free(s->env, node, level == 0 ? s->chunk_size : sizeof(struct table));
			atomic_store_explicit(slot, NULL, memory_order_relaxed);
		}
		uint32_t skip = node != NULL ? level : at;
		uint64_t step = SHIFT * skip < 64 ? (uint64_t)1 << (SHIFT * skip) : 0;
		uint64_t next = step == 0 ? 0 : (index / step + 1) * step;
		if (span == 0 || next <= index ||
			(SHIFT * s->height < 64 && next >> (SHIFT * s->height) != 0))
			return;
		index = next;
	}
}

void sparse_fini(struct sparse *s)
{
	for (uint32_t level = 0; level <= s->height; level++)
		free_level(s, level);
	mutex_fini(&s->lock);
}
