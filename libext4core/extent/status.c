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

/*
 * The piece around lblk, from the run before it and where the next begins. Whether it is the run or the hole behind it is a matter
 * of masks: a branch that reads of a file with holes could not foretell costs more than the search.
 */
static inline void set_piece(
	struct extent_piece *ret, lblk_t lblk, lblk_t key, uint64_t run, uint64_t next)
{
	uint32_t len = es_run_len(run);
	uint64_t end = (uint64_t)key + len;
	uint64_t hit = (uint64_t)0 - (lblk - key < len);

	ret->type = (enum extent_type)(hit & (EXTENT_MAPPED + es_run_unwritten(run)));
	ret->lblk = (lblk_t)((hit & key) | (~hit & end));
	ret->len = (hit & len) | (~hit & (next - end));
	ret->pblk = hit & es_run_pblk(run);
}

/* 2^32-1 lies in no extent, and in the hole that ends every map. It is searched for as its neighbour. */
static inline lblk_t search_key(lblk_t lblk)
{
	return lblk < LBLK_MAX ? lblk : LBLK_MAX;
}

static void leaf_piece(const struct es_node *leaf, lblk_t lblk, struct extent_piece *ret)
{
	uint32_t i = node_search(leaf, search_key(lblk));

	if (E4_LIKELY(i != NODE_BEFORE_FIRST)) {
		set_piece(ret, lblk, node_key(leaf, i), node_values(leaf)[i],
			i + 1 < leaf->count ? node_key(leaf, i + 1) : leaf->end);
		return;
	}
	set_hole(ret, leaf->first, leaf->count > 0 ? node_key(leaf, 0) : leaf->end);
}

/* How many of the root's keys are <= lblk. */
static inline uint32_t root_count_up_to(struct es_map *es, lblk_t lblk)
{
	lblk_t wanted = search_key(lblk);

	_Static_assert(EXTENT_ROOT_ENTRIES == 4, "four comparisons");
	uint32_t a = atomic_load_explicit(&es->key[0], memory_order_acquire) <= wanted;
	uint32_t b = atomic_load_explicit(&es->key[1], memory_order_acquire) <= wanted;
	uint32_t c = atomic_load_explicit(&es->key[2], memory_order_acquire) <= wanted;
	uint32_t d = atomic_load_explicit(&es->key[3], memory_order_acquire) <= wanted;
	return (a + b) + (c + d);
}

/* Where the entry behind the first `count` begins. */
static inline uint64_t root_next(struct es_map *es, uint32_t count)
{
	lblk_t next = atomic_load_explicit(&es->key[count], memory_order_acquire);

	return next == ROOT_KEY_UNUSED ? EXTENT_END : next;
}

static inline bool state_is_still(struct es_map *es, uint32_t state)
{
	return E4_LIKELY(atomic_load_explicit(&es->state, memory_order_relaxed) == state);
}

/* A root of extents: no epoch, as nothing it uses is ever freed. False when the map was changed meanwhile. */
static inline bool find_in_root(
	struct es_map *es, uint32_t state, lblk_t lblk, struct extent_piece *ret)
{
	uint32_t count = root_count_up_to(es, lblk);
	uint64_t next = root_next(es, count);

	if (E4_UNLIKELY(count == 0)) {
		set_hole(ret, 0, next);
		return state_is_still(es, state);
	}
	lblk_t key = atomic_load_explicit(&es->key[count - 1], memory_order_acquire);
	uint64_t run = atomic_load_explicit(&es->value[count - 1], memory_order_acquire);
	set_piece(ret, lblk, key, run, next);
	return state_is_still(es, state);
}

/* The place of the root's child that lblk lies under; false when the map is no longer the one of `state`. */
static bool root_child_place(
	struct inode *ip, uint32_t state, uint32_t count, struct extent_place *ret)
{
	struct es_map *es = &ip->es;

	*ret = (struct extent_place){
		.pblk = atomic_load_explicit(&es->value[count - 1], memory_order_acquire),
		.depth = extent_child_depth(ip, STATE_DEPTH(state), count - 1),
		.first = atomic_load_explicit(&es->key[count - 1], memory_order_acquire),
		.end = root_next(es, count),
	};
	return state_is_still(es, state);
}

/* From a node downward: inside an epoch section, or with es.lock held. */
static enum found find_below(const struct inode *ip, struct es_node *n, lblk_t lblk,
	struct extent_piece *ret, struct gap *gap)
{
	while (n->depth > 0) {
		uint32_t i = node_search(n, search_key(lblk));

		/* A child's first key is its parent's, and the root is searched before: nothing can lie before the first. */
		E4_ASSERT(i < n->count);
		struct es_node *child = atomic_load(&node_children(n)[i]);
		if (child == NULL) {
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
	uint32_t state = atomic_load_explicit(&es->state, memory_order_acquire);
	struct es_node *child = NULL;

	if (STATE_KIND(state) != ES_TREE)
		return FOUND_GAP;
	uint32_t count = root_count_up_to(es, lblk);
	if (count == 0) {
		set_hole(ret, 0, root_next(es, 0));
		return state_is_still(es, state) ? FOUND_PIECE : FOUND_GAP;
	}
	child = atomic_load(&es->child[count - 1]);
	if (!root_child_place(ip, state, count, &gap->place))
		return FOUND_GAP;
	gap->state = state;
	if (child != NULL)
		return find_below(ip, child, lblk, ret, gap);
	if (gap->place.pblk != NODE_HOLE)
		return FOUND_GAP;
	set_hole(ret, gap->place.first, gap->place.end);
	return FOUND_PIECE;
}

/* The whole way down where every node is there, which is nearly always. Like find_in_tree(), which finds out why when it is not. */
static inline bool descend(struct es_map *es, uint32_t state, lblk_t lblk, struct extent_piece *ret)
{
	lblk_t wanted = search_key(lblk);
	uint32_t count = root_count_up_to(es, lblk);

	if (E4_UNLIKELY(count == 0))
		return false;
	struct es_node *n = atomic_load(&es->child[count - 1]);
	if (E4_UNLIKELY(n == NULL) || !state_is_still(es, state))
		return false;
	while (n->depth > 0) {
		n = atomic_load(&node_children(n)[node_search(n, wanted)]);
		if (E4_UNLIKELY(n == NULL))
			return false;
	}
	leaf_piece(n, lblk, ret);
	return true;
}

/*
 * While a volume is mounted read-only no map is dropped under a reader (recovery is over before anybody is let in, eviction waits for
 * the last holder), so readers need not say where they are: that store is a third of a lookup.
 */
static inline void section_enter(struct inode *ip, struct context *ctx)
{
	if (!ip->vol->opts.read_only)
		epoch_enter(ctx, &ip->vol->env->epochs);
}

static inline void section_leave(struct inode *ip, struct context *ctx)
{
	if (!ip->vol->opts.read_only)
		epoch_leave(ctx);
}

/* Every case; says what is missing. */
static __attribute__((noinline)) enum found find_cached(struct inode *ip, struct context *ctx,
	lblk_t lblk, struct extent_piece *ret, struct gap *gap)
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
		section_enter(ip, ctx);
		found = find_in_tree(ip, lblk, ret, gap);
		section_leave(ip, ctx);
		break;
	case ES_INLINE:
		found = FOUND_NO_MAP;
		break;
	case ES_NONE:
		break;
	}
	return found;
}

/* The frequent cases. */
static inline bool find_quickly(
	struct inode *ip, struct context *ctx, lblk_t lblk, struct extent_piece *ret)
{
	uint32_t state = atomic_load_explicit(&ip->es.state, memory_order_acquire);
	bool found = false;

	if (STATE_KIND(state) == ES_LEAF)
		return find_in_root(&ip->es, state, lblk, ret);
	if (STATE_KIND(state) == ES_TREE) {
		section_enter(ip, ctx);
		/* Loaded again: what was there before the section may be gone by now. */
		state = atomic_load_explicit(&ip->es.state, memory_order_acquire);
		if (STATE_KIND(state) == ES_TREE)
			found = descend(&ip->es, state, lblk, ret);
		section_leave(ip, ctx);
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
	atomic_store_explicit(&es->key[EXTENT_ROOT_ENTRIES], ROOT_KEY_UNUSED, memory_order_release);
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
	struct extent_place at;

	if (STATE_KIND(state) != ES_TREE)
		return NULL;
	uint32_t count = root_count_up_to(es, place->first);
	if (count == 0 || !root_child_place(ip, state, count, &at))
		return NULL;
	_Atomic(struct es_node *) *slot = &es->child[count - 1];
	for (struct es_node *n; (n = atomic_load_explicit(slot, memory_order_relaxed)) != NULL;) {
		uint32_t index = n->depth > place->depth ? node_search(n, place->first)
							 : NODE_BEFORE_FIRST;

		if (index == NODE_BEFORE_FIRST)
			return NULL;
		slot = &node_children(n)[index];
		at = extent_child_place(ip, n, index);
	}
	return at.depth == place->depth && at.pblk == place->pblk ? slot : NULL;
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
static __attribute__((noinline)) int lookup_filling(
	struct inode *ip, struct context *ctx, lblk_t lblk, struct extent_piece *ret)
{
	struct gap gap;
	enum found found = find_cached(ip, ctx, lblk, ret, &gap);

	for (int turn = 0; turn < LOOKUP_TURNS_MAX && found == FOUND_GAP; turn++) {
		bool has_root = STATE_KIND(gap.state) == ES_TREE;
		int r = has_root ? fill_node(ip, &gap) : fill_root(ip);

		if (r < 0)
			return r;
		context_count(&ctx->count.map_misses, has_root);
		found = find_cached(ip, ctx, lblk, ret, &gap);
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

	if (E4_UNLIKELY(ctx == NULL))
		return -ENOMEM;
	context_count(&ctx->count.map_lookups, 1);
	if (E4_LIKELY(find_quickly(ip, ctx, lblk, ret)))
		return 0;
	return lookup_filling(ip, ctx, lblk, ret);
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
