/*
 * node.h - a decoded node of the map, inside the room: how it lies in memory and how it is searched.
 *
 * One allocation: this header, then the keys, then the values, then (in a node with children) their slots. Keys of more than
 * NODE_FLAT_MAX entries carry one or two levels of samples, every 16th key of the level below, so that a search
 * looks at two or three cache lines and branches nowhere. A run takes 12 bytes, as on disk; the samples add a quarter of one.
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
	uint16_t top_count; /* keys of the topmost level, with its padding */
	uint8_t depth;      /* 0: values are runs; else children */
	uint8_t levels;     /* of keys: 1 to 3 */
	uint16_t at[3]; /* where each level of keys begins, in units of 16 bytes from the node; [0] holds every key */
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

	return raw > EXTENT_LEN_MAX ? raw - EXTENT_LEN_MAX : raw;
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

static inline const int32_t *node_level(const struct es_node *n, uint32_t level)
{
	return (const int32_t *)(const void *)((const char *)n + (size_t)n->at[level] * 16);
}

static inline lblk_t node_key(const struct es_node *n, uint32_t index)
{
	return key_lblk(node_level(n, 0)[index]);
}

static inline uint32_t node_pad(uint32_t count, uint32_t levels)
{
	uint32_t unit = levels > 1 ? NODE_FAN : 4;

	return (count + unit - 1) / unit * unit;
}

static inline const uint64_t *node_values(const struct es_node *n)
{
	return (const uint64_t *)(const void *)(node_level(n, 0) + node_pad(n->count, n->levels));
}

static inline _Atomic(struct es_node *) *node_children(struct es_node *n)
{
	return (_Atomic(struct es_node *) *)(void *)(uintptr_t)(node_values(n) + n->count);
}

typedef int32_t node_vec __attribute__((vector_size(16)));

/* How many of the first `count` keys (a multiple of 4, 16-byte aligned) are <= key. */
static inline uint32_t keys_up_to(const int32_t *keys, uint32_t count, int32_t key)
{
	const node_vec *v = (const node_vec *)(const void *)keys;
	node_vec wanted = {key, key, key, key};
	node_vec sum = {0, 0, 0, 0};

	for (uint32_t i = 0; i < count / 4; i++)
		sum -= v[i] <= wanted;
	return (uint32_t)(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* The entry that lblk (not 2^32-1) falls under: the last whose key is <= lblk; -1 when all are above. */
static inline int64_t node_search(const struct es_node *n, lblk_t lblk)
{
	int32_t key = key_of(lblk);
	uint32_t level = n->levels - 1u;
	/* The topmost level is so short that looking at all of it is quickest. */
	int64_t index = (int64_t)keys_up_to(node_level(n, level), n->top_count, key) - 1;

	if (index < 0)
		return -1;
	while (level > 0) {
		level--;
		index *= NODE_FAN;
		index += (int64_t)keys_up_to(node_level(n, level) + index, NODE_FAN, key) - 1;
	}
	return index;
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
