/*
 * node.h - a decoded node of the map, inside the room: how it lies in memory and how it is searched.
 *
 * One allocation: this header, the values, (in a node with children) their slots, then the keys. Keys of more than NODE_FLAT_MAX
 * entries carry one or two levels of samples, every 16th key of the level below, so that a search looks at two or three cache
 * lines and branches nowhere. A run takes 12 bytes, as on disk; the samples add a quarter of one.
 */
#ifndef EXTENT_NODE_H
#define EXTENT_NODE_H

#include "base/epoch.h"
#include "base/types.h"
#include "format/extent.h"

struct env;

#define NODE_FAN      16u /* keys under one sample: a cache line of them */
#define NODE_FLAT_MAX 32u /* so many keys are compared without samples */
#define NODE_HOLE                                                                                  \
	0u /* value of an entry, in a node of an indirect map, under which nothing is mapped */

/* Immutable once published, but for the slots of children. */
struct es_node {
	struct epoch_item garbage;
	uint64_t end;       /* first block that does not belong to it; up to 2^32 */
	lblk_t first;       /* first block that does */
	uint16_t count;     /* entries: at most a block of pointers and one */
	uint8_t depth;      /* 0: values are runs; else children */
	uint8_t levels;     /* of keys: 1 to 3 */
	uint16_t top_count; /* keys of the topmost level, with its padding */
	uint16_t top_at, middle_at,
		keys_at; /* where levels begin, in units of 16 bytes from the node; keys hold every entry */
};

/* A run as 48 bits of block and the raw length of the disk, which tells unwritten from written. */
static inline uint64_t es_run(pblk_t pblk, uint16_t raw_len)
{
	return pblk << 16 | raw_len;
}

static inline pblk_t es_run_pblk(uint64_t run)
{
	return run >> 16;
}

static inline bool es_run_unwritten(uint64_t run)
{
	return (uint16_t)run > EXTENT_LEN_MAX;
}

static inline uint32_t es_run_len(uint64_t run)
{
	uint32_t raw = (uint16_t)run;

	return raw - (raw > EXTENT_LEN_MAX ? EXTENT_LEN_MAX : 0);
}

/* Keys are kept with the top bit inverted, so that signed comparison, which every processor has for vectors, orders them. */
static inline int32_t key_of(lblk_t lblk)
{
	return (int32_t)(lblk ^ 0x80000000u);
}

static inline lblk_t key_lblk(int32_t key)
{
	return (lblk_t)key ^ 0x80000000u;
}

#define NODE_KEY_UNUSED INT32_MAX /* of 2^32-1, which no extent begins at */

static inline const int32_t *node_at(const struct es_node *n, uint16_t at)
{
	return (const int32_t *)(const void *)((const char *)n + (size_t)at * 16);
}

static inline lblk_t node_key(const struct es_node *n, uint32_t index)
{
	return key_lblk(node_at(n, n->keys_at)[index]);
}

static inline const uint64_t *node_values(const struct es_node *n)
{
	return (const uint64_t *)(const void *)(n + 1);
}

static inline _Atomic(struct es_node *) *node_children(struct es_node *n)
{
	return (_Atomic(struct es_node *) *)(void *)((uint64_t *)(void *)(n + 1) + n->count);
}

/* Four keys at a time; each compiler has its processor's vectors for this, or does without. Bytes of memory may be anything. */
typedef int32_t node_vec __attribute__((vector_size(16), may_alias));

static inline int32_t vec_sum(node_vec v)
{
	v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
	v += __builtin_shufflevector(v, v, 1, 0, 3, 2);
	return v[0];
}

/* Which of NODE_FAN keys, the first of which is <= key, is the last that is. */
static inline uint32_t search_fan(const int32_t *keys, node_vec key)
{
	const node_vec *v = (const node_vec *)(const void *)keys;
	node_vec above = ((v[0] > key) + (v[1] > key)) + ((v[2] > key) + (v[3] > key));

	return (uint32_t)((int32_t)NODE_FAN - 1 + vec_sum(above));
}

/* The same among `count` keys, a multiple of 4; UINT32_MAX when all are above. */
static inline uint32_t search_top(const int32_t *keys, uint32_t count, node_vec key)
{
	const node_vec *v = (const node_vec *)(const void *)keys;
	node_vec above = {0, 0, 0, 0};

	for (uint32_t i = 0; i < count / 4; i++)
		above += v[i] > key;
	return (uint32_t)((int32_t)count - 1 + vec_sum(above));
}

#define NODE_BEFORE_FIRST UINT32_MAX

/* The entry that lblk (not 2^32-1) falls under: the last whose key is <= lblk; NODE_BEFORE_FIRST when all are above. */
static inline uint32_t node_search(const struct es_node *n, lblk_t lblk)
{
	int32_t k = key_of(lblk);
	node_vec key = {k, k, k, k};
	uint32_t index = search_top(node_at(n, n->top_at), n->top_count, key);

	if (n->levels == 1 || index == NODE_BEFORE_FIRST)
		return index;
	if (n->levels > 2) {
		index *= NODE_FAN;
		index += search_fan(node_at(n, n->middle_at) + index, key);
	}
	index *= NODE_FAN;
	return index + search_fan(node_at(n, n->keys_at) + index, key);
}

/* A node of `count` entries for blocks first..end-1, all keys unused, no children; NULL without memory. */
struct es_node *node_new(
	struct env *env, uint32_t count, uint8_t depth, lblk_t first, uint64_t end) E4_MUST_CHECK;
/* While it is being filled, in rising order of keys. */
void node_set(struct es_node *n, uint32_t index, lblk_t key, uint64_t value);
/* Makes the samples, after the last node_set(). */
void node_finish(struct es_node *n);
size_t node_bytes(const struct es_node *n);
/* With everything below. Nobody may look at it any more. NULL is fine. */
void node_free(struct env *env, struct es_node *n);
/* The same, once no epoch section can hold it. */
void node_retire(struct env *env, struct es_node *n);

#endif
