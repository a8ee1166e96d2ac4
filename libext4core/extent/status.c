/*
 * status.c - the decoded map of an inode: looked up without a lock, filled in a node at a time.
 *
 * Owns:    ip->es and the nodes below it.
 * Locks:   es.lock for whoever publishes or drops; never held across I/O. Readers take none: the words of the root are read between two
 *          loads of es.state, nodes inside an epoch section.
 * Always:  - a node is complete and checked before one store puts it into its parent's slot; it never changes afterwards.
 *          - es.state tells what the root's words mean. They change only while it says ES_NONE, and each drop gives it a number
 *            that it did not have before: a reader that sees the same state before and after has read one map.
 *          - a lookup of what is cached does no read-modify-write and writes to its own context only.
 * Uses:    decode.c for everything that touches the volume.
 */
#include "base/assert.h"
#include "base/atomic.h"
#include "base/env.h"
#include "base/math.h"
#include "extent/extent_impl.h"

#include <errno.h>

/*
 * State: two bits of kind, three of the root's depth, the rest counts drops. Pairs: whoever publishes stores it last with release, after
 * the words, which are stored with release after the ES_NONE before; readers load all of these with acquire.
 */
#define STATE_KIND(s)  ((enum es_kind)((s)&3u))
#define STATE_DEPTH(s) ((uint8_t)((s) >> 2 & 7u))
#define STATE_DROP     32u /* one more drop */
#define STATE_DROPS(s) ((s) & ~31u)

#define ROOT_KEY_UNUSED UINT32_MAX
/* Each turn reads one node; only a map that is dropped again and again takes more than the depth. */
#define LOOKUP_TURNS_MAX 64

/* Where the descent ended for want of a node. */
struct gap {
	uint32_t state;            /* as of the descent */
	struct extent_place place; /* of the missing node; not set when the root itself is missing */
};

enum found {
	FOUND_PIECE,
	FOUND_GAP,
	FOUND_NO_MAP, /* ES_INLINE */
};

static void set_hole(struct extent_piece *ret, uint64_t first, uint64_t end)
{
	*ret = (struct extent_piece){.type = EXTENT_HOLE, .lblk = (lblk_t)first, .len = end - first};
}

/* The piece around lblk, from the run before it (if any) and the bounds of its node. */
static inline void set_piece(
	struct extent_piece *ret, lblk_t lblk, lblk_t key, uint64_t run, uint64_t next)
{
	uint32_t len = es_run_len(run);

	if (E4_LIKELY(lblk - key < len)) {
		ret->type = es_run_unwritten(run) ? EXTENT_UNWRITTEN : EXTENT_MAPPED;
		ret->lblk = key;
		ret->len = len;
		ret->pblk = es_run_pblk(run);
		return;
	}
	set_hole(ret, (uint64_t)key + len, next);
}

/* 2^32-1 lies in no extent, and in the hole that ends every map. It is searched for as its neighbour. */
static inline lblk_t search_key(lblk_t lblk)
{
	return lblk < LBLK_MAX ? lblk : LBLK_MAX;
}

static void leaf_piece(const struct es_node *leaf, lblk_t lblk, struct extent_piece *ret)
{
	int64_t index = node_search(leaf, search_key(lblk));

	if (E4_LIKELY(index >= 0)) {
		uint32_t i = (uint32_t)index;

		set_piece(ret, lblk, node_key(leaf, i), node_values(leaf)[i],
			i + 1 < leaf->count ? node_key(leaf, i + 1) : leaf->end);
		return;
	}
	set_hole(ret, leaf->first, leaf->count > 0 ? node_key(leaf, 0) : leaf->end);
}

/* The root's words as one reader saw them. */
struct root_view {
	int32_t index; /* of the entry; -1 before the first */
	lblk_t key[EXTENT_ROOT_ENTRIES + 1];
	uint64_t value;
};

static inline uint64_t root_next(const struct root_view *v)
{
	lblk_t next = v->key[v->index + 1];

	return next == ROOT_KEY_UNUSED ? EXTENT_END : next;
}

static inline void root_search(struct es_map *es, lblk_t lblk, struct root_view *v)
{
	int32_t count = 0;

	for (uint32_t i = 0; i < EXTENT_ROOT_ENTRIES; i++) {
		v->key[i] = atomic_load_explicit(&es->key[i], memory_order_acquire);
		count += v->key[i] <= search_key(lblk);
	}
	v->key[EXTENT_ROOT_ENTRIES] = ROOT_KEY_UNUSED;
	v->index = count - 1;
	v->value = count > 0 ? atomic_load_explicit(&es->value[count - 1], memory_order_acquire) : 0;
}

static inline bool state_is_still(struct es_map *es, uint32_t state)
{
	return E4_LIKELY(atomic_load_explicit(&es->state, memory_order_relaxed) == state);
}

/* A root of extents: no epoch, as nothing it uses is ever freed. False when the map was changed meanwhile. */
static inline bool find_in_root(
	struct es_map *es, uint32_t state, lblk_t lblk, struct extent_piece *ret)
{
	struct root_view v;

	root_search(es, lblk, &v);
	if (!state_is_still(es, state))
		return false;
	if (E4_LIKELY(v.index >= 0))
		set_piece(ret, lblk, v.key[v.index], v.value, root_next(&v));
	else
		set_hole(ret, 0, root_next(&v));
	return true;
}

/* From a node downward: inside an epoch section, or with es.lock held. */
static enum found find_below(const struct inode *ip, struct es_node *n, lblk_t lblk,
	struct extent_piece *ret, struct gap *gap)
{
	while (n->depth > 0) {
		int64_t index = node_search(n, search_key(lblk));

		/* A child's first key is its parent's, and the root is searched before: nothing can lie before the first. */
		E4_ASSERT(index >= 0);
		uint32_t i = (uint32_t)index;
		struct es_node *child = atomic_load(&node_children(n)[i]);
		if (E4_UNLIKELY(child == NULL)) {
			gap->place = extent_child_place(ip, n, i);
			if (gap->place.pblk != NODE_HOLE)
				return FOUND_GAP;
			set_hole(ret, gap->place.first, gap->place.end);
			return FOUND_PIECE;
		}
		n = child;
	}
	leaf_piece(n, lblk, ret);
	return FOUND_PIECE;
}

/* A root of children: inside an epoch section, or with es.lock held. */
static enum found find_in_tree(
	struct inode *ip, lblk_t lblk, struct extent_piece *ret, struct gap *gap)
{
	struct es_map *es = &ip->es;
	struct root_view v;
	struct es_node *child = NULL;

	gap->state = atomic_load_explicit(&es->state, memory_order_acquire);
	if (STATE_KIND(gap->state) != ES_TREE)
		return FOUND_GAP;
	root_search(es, lblk, &v);
	if (v.index >= 0)
		child = atomic_load(&es->child[v.index]);
	if (!state_is_still(es, gap->state)) {
		gap->state = ES_NONE;
		return FOUND_GAP;
	}
	if (v.index < 0) {
		set_hole(ret, 0, root_next(&v));
		return FOUND_PIECE;
	}
	if (E4_LIKELY(child != NULL))
		return find_below(ip, child, lblk, ret, gap);
	gap->place = (struct extent_place){
		.pblk = v.value,
		.depth = extent_child_depth(ip, STATE_DEPTH(gap->state), (uint32_t)v.index),
		.first = v.key[v.index],
		.end = root_next(&v),
	};
	if (gap->place.pblk != NODE_HOLE)
		return FOUND_GAP;
	set_hole(ret, gap->place.first, gap->place.end);
	return FOUND_PIECE;
}

static inline enum found find_cached(struct inode *ip, struct context *ctx, lblk_t lblk,
	struct extent_piece *ret, struct gap *gap)
{
	uint32_t state = atomic_load_explicit(&ip->es.state, memory_order_acquire);
	enum found found = FOUND_GAP;

	gap->state = ES_NONE;
	switch (STATE_KIND(state)) {
	case ES_LEAF:
		if (find_in_root(&ip->es, state, lblk, ret))
			found = FOUND_PIECE;
		break;
	case ES_TREE:
		epoch_enter(ctx, &ip->vol->env->epochs);
		found = find_in_tree(ip, lblk, ret, gap);
		epoch_leave(ctx);
		break;
	case ES_INLINE:
		found = FOUND_NO_MAP;
		break;
	case ES_NONE:
		break;
	}
	return found;
}

static void es_account(struct es_map *es, uint64_t bytes, uint64_t records)
{
	uint64_t had_bytes = atomic_load_explicit(&es->heap_bytes, memory_order_relaxed);
	uint64_t had_records = atomic_load_explicit(&es->records, memory_order_relaxed);

	atomic_store_explicit(&es->heap_bytes, had_bytes + bytes, memory_order_relaxed);
	atomic_store_explicit(&es->records, had_records + records, memory_order_relaxed);
}

/* Puts the root's words in, under a state that says ES_NONE, then says what they are. */
static void publish_root(struct es_map *es, enum es_kind kind, const struct es_node *root)
	E4_REQUIRES(es->lock)
{
	uint32_t state = atomic_load_explicit(&es->state, memory_order_relaxed);
	uint8_t depth = root != NULL ? root->depth : 0;
	uint32_t count = root != NULL ? root->count : 0;

	E4_ASSERT(STATE_KIND(state) == ES_NONE && count <= EXTENT_ROOT_ENTRIES);
	for (uint32_t i = 0; i < EXTENT_ROOT_ENTRIES; i++) {
		lblk_t key = i < count ? node_key(root, i) : ROOT_KEY_UNUSED;
		uint64_t value = i < count ? node_values(root)[i] : 0;

		atomic_store_explicit(&es->key[i], key, memory_order_release);
		atomic_store_explicit(&es->value[i], value, memory_order_release);
	}
	if (kind == ES_LEAF)
		es_account(es, 0, count);
	atomic_store(&es->state, STATE_DROPS(state) | (uint32_t)depth << 2 | (uint32_t)kind);
}

static int fill_root(struct inode *ip)
{
	struct es_node *root;
	enum es_kind kind;
	int r = extent_decode_root(ip, &kind, &root);

	if (r < 0)
		return r;
	mutex_lock(&ip->es.lock);
	if (STATE_KIND(atomic_load_explicit(&ip->es.state, memory_order_relaxed)) == ES_NONE)
		publish_root(&ip->es, kind, root);
	mutex_unlock(&ip->es.lock);
	node_free(ip->vol->env, root);
	return 0;
}

/* The slot in which the node for `place` belongs, if it is still empty; NULL when somebody was quicker, or the map was dropped. */
static _Atomic(struct es_node *) *empty_slot(struct inode *ip, const struct extent_place *place)
	E4_REQUIRES(ip->es.lock)
{
	struct es_map *es = &ip->es;
	uint32_t state = atomic_load_explicit(&es->state, memory_order_relaxed);
	struct root_view v;

	if (STATE_KIND(state) != ES_TREE)
		return NULL;
	root_search(es, place->first, &v);
	if (v.index < 0)
		return NULL;
	_Atomic(struct es_node *) *slot = &es->child[v.index];
	uint8_t depth = extent_child_depth(ip, STATE_DEPTH(state), (uint32_t)v.index);
	uint64_t pblk = v.value;
	for (struct es_node *n; (n = atomic_load_explicit(slot, memory_order_relaxed)) != NULL;) {
		int64_t index = n->depth > place->depth ? node_search(n, place->first) : -1;

		if (index < 0)
			return NULL;
		slot = &node_children(n)[index];
		depth = extent_child_depth(ip, n->depth, (uint32_t)index);
		pblk = node_values(n)[index];
	}
	return depth == place->depth && pblk == place->pblk ? slot : NULL;
}

static int fill_node(struct inode *ip, const struct gap *gap)
{
	struct es_map *es = &ip->es;
	struct es_node *n;
	int r = extent_read_node(ip, &gap->place, &n);

	if (r < 0)
		return r;
	mutex_lock(&ip->es.lock);
	_Atomic(struct es_node *) *slot = NULL;
	if (atomic_load_explicit(&es->state, memory_order_relaxed) == gap->state)
		slot = empty_slot(ip, &gap->place);
	if (slot != NULL) {
		es_account(es, node_bytes(n), n->depth == 0 ? n->count : 0);
		atomic_store(slot, n);
		n = NULL;
	}
	mutex_unlock(&ip->es.lock);
	node_free(ip->vol->env, n);
	return 0;
}

/* Reads what the descent missed, a node at a time, until it does not. */
static __attribute__((noinline)) int lookup_filling(struct inode *ip, struct context *ctx,
	lblk_t lblk, struct extent_piece *ret, struct gap *gap)
{
	enum found found = FOUND_GAP;

	for (int turn = 0; turn < LOOKUP_TURNS_MAX && found == FOUND_GAP; turn++) {
		bool has_root = STATE_KIND(gap->state) == ES_TREE;
		int r = has_root ? fill_node(ip, gap) : fill_root(ip);

		if (r < 0)
			return r;
		context_count(&ctx->count.map_misses, has_root);
		found = find_cached(ip, ctx, lblk, ret, gap);
	}
	if (found == FOUND_NO_MAP)
		return fail(ip->vol->env, E4_WHY_EXTENT_NO_MAP, .ino = ip->ino, .found = ip->mode);
	if (found == FOUND_GAP)
		return fail(ip->vol->env, E4_WHY_EXTENT_UNSTABLE, .ino = ip->ino, .found = lblk);
	return 0;
}

int extent_lookup(struct inode *ip, lblk_t lblk, struct extent_piece *ret)
{
	struct context *ctx = context_get(ip->vol->env);
	struct gap gap;

	if (E4_UNLIKELY(ctx == NULL))
		return -ENOMEM;
	context_count(&ctx->count.map_lookups, 1);
	if (E4_LIKELY(find_cached(ip, ctx, lblk, ret, &gap) == FOUND_PIECE))
		return 0;
	return lookup_filling(ip, ctx, lblk, ret, &gap);
}

int extent_lookup_cached(struct inode *ip, lblk_t lblk, struct extent_piece *ret)
{
	struct context *ctx = context_get(ip->vol->env);
	struct gap gap;

	return ctx != NULL && find_cached(ip, ctx, lblk, ret, &gap) == FOUND_PIECE;
}

/* Unpublishes the map; ret gets the subtrees that hung below the root. */
static void unpublish(struct es_map *es, struct es_node *ret[EXTENT_ROOT_ENTRIES])
	E4_REQUIRES(es->lock)
{
	uint32_t state = atomic_load_explicit(&es->state, memory_order_relaxed);

	atomic_store(&es->state, (STATE_DROPS(state) + STATE_DROP) | (uint32_t)ES_NONE);
	for (uint32_t i = 0; i < EXTENT_ROOT_ENTRIES; i++) {
		ret[i] = atomic_load_explicit(&es->child[i], memory_order_relaxed);
		atomic_store(&es->child[i], NULL);
	}
	atomic_store_explicit(&es->cookie,
		atomic_load_explicit(&es->cookie, memory_order_relaxed) + 1, memory_order_release);
	atomic_store_explicit(&es->heap_bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&es->records, 0, memory_order_relaxed);
}

void extent_map_drop(struct inode *ip)
{
	struct es_node *below[EXTENT_ROOT_ENTRIES];

	mutex_lock(&ip->es.lock);
	unpublish(&ip->es, below);
	mutex_unlock(&ip->es.lock);
	for (uint32_t i = 0; i < EXTENT_ROOT_ENTRIES; i++)
		node_retire(ip->vol->env, below[i]);
}

/* Nobody holds the inode, so nobody reads its map. */
void extent_evict(struct inode *ip)
{
	struct es_node *below[EXTENT_ROOT_ENTRIES];

	mutex_lock(&ip->es.lock);
	unpublish(&ip->es, below);
	mutex_unlock(&ip->es.lock);
	for (uint32_t i = 0; i < EXTENT_ROOT_ENTRIES; i++)
		node_free(ip->vol->env, below[i]);
}
