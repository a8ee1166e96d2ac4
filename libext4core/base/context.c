/*
 * context.c - contexts of threads, and the one process-wide list that makes a leaving thread safe.
 *
 * Owns:    env->contexts; the registry of live sets (process-wide, touched when a set is made or unmade, and by a leaving thread).
 * Locks:   registry_lock, then the set's lock. Neither is taken by context_get() once the thread has its context.
 * Always:  context_last repeats an entry of the thread's caches, or names no volume.
 *          A cached context is used only if its set's id is the volume's own, and ids are never used twice: so a thread that
 *          outlives a volume never touches freed memory, and a volume that outlives a thread gets the context back.
 */
#include "base/context.h"

#include "base/assert.h"
#include "base/atomic.h"
#include "base/env.h"

#include <errno.h>
#include <string.h>

#define CACHED_SETS 8

struct cached {
	uint64_t set_id; /* 0 = free */
	struct context *ctx;
};

/* What a thread remembers: its contexts, and the fibre's where one is bound. */
static _Thread_local struct thread_cache {
	struct cached own[CACHED_SETS];
	struct cached bound[CACHED_SETS];
	bool registered;
} cache;

_Thread_local struct context_last context_last;

/* What was used last may be the one that goes, or is no longer the one to use. */
static void forget_last(void)
{
	context_last.set_id = 0;
}

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list registry = {&registry, &registry};
static uint64_t next_set_id = 1;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t leave_key;

static struct context_set *registry_find(uint64_t id)
{
	list_for (it, &registry) {
		struct context_set *set = container_of(it, struct context_set, link);

		if (set->id == id)
			return set;
	}
	return NULL;
}

/* Gives a context back: its ring can be used by no other thread, so it goes; the rest stays for the next thread. */
static void context_release(struct context_set *set, struct context *ctx)
{
	forget_last();
	if (ctx->ring != NULL)
		ctx->ring_close(ctx);
	ctx->ring = NULL;
	mutex_lock(&set->lock);
	ctx->in_use = false;
	mutex_unlock(&set->lock);
}

/* Runs when a thread ends. */
static void thread_leaves(void *arg)
{
	struct thread_cache *c = arg;

	pthread_mutex_lock(&registry_lock);
	for (unsigned i = 0; i < CACHED_SETS; i++) {
		struct context_set *set = c->own[i].set_id != 0 ? registry_find(c->own[i].set_id)
								: NULL;

		if (set != NULL)
			context_release(set, c->own[i].ctx);
		c->own[i].set_id = 0;
	}
	pthread_mutex_unlock(&registry_lock);
	c->registered = false;
}

static void key_make(void)
{
	int r = pthread_key_create(&leave_key, thread_leaves);

	E4_ASSERT(r == 0);
}

void context_set_init(struct env *env)
{
	struct context_set *set = &env->contexts;

	mutex_init(&set->lock, RANK_CONTEXTS);
	list_init(&set->all);
	pthread_mutex_lock(&registry_lock);
	set->id = next_set_id++;
	list_add(&registry, &set->link);
	pthread_mutex_unlock(&registry_lock);
}

void context_set_fini(struct env *env)
{
	struct context_set *set = &env->contexts;

	pthread_mutex_lock(&registry_lock);
	list_del(&set->link);
	pthread_mutex_unlock(&registry_lock);
	list_for_safe (it, tmp, &set->all) {
		struct context *ctx = container_of(it, struct context, link);

		if (ctx->ring != NULL)
			ctx->ring_close(ctx);
		list_del(&ctx->link);
		mem_free(env, ctx, sizeof(*ctx));
	}
	mutex_fini(&set->lock);
}

static struct context *context_alloc(struct env *env, bool by_hand)
{
	struct context *ctx = mem_alloc_aligned(env, sizeof(*ctx), E4_CACHE_LINE);

	if (ctx == NULL)
		return NULL;
	memset(ctx, 0, sizeof(*ctx));
	ctx->env = env;
	ctx->in_use = true;
	ctx->by_hand = by_hand;
	mutex_lock(&env->contexts.lock);
	list_add(&env->contexts.all, &ctx->link);
	mutex_unlock(&env->contexts.lock);
	return ctx;
}

/* One that another thread left behind, or NULL. */
static struct context *context_reuse(struct context_set *set)
{
	struct context *found = NULL;

	mutex_lock(&set->lock);
	list_for (it, &set->all) {
		struct context *ctx = container_of(it, struct context, link);

		if (!ctx->in_use && !ctx->by_hand) {
			ctx->in_use = true;
			found = ctx;
			break;
		}
	}
	mutex_unlock(&set->lock);
	return found;
}

/* A slot of the thread's cache; the oldest user is pushed out (its context is given back) when all are taken. */
static struct cached *slot_take(struct cached *slots)
{
	for (unsigned i = 0; i < CACHED_SETS; i++) {
		if (slots[i].set_id == 0)
			return &slots[i];
	}
	pthread_mutex_lock(&registry_lock);
	struct context_set *set = registry_find(slots[0].set_id);
	if (set != NULL && slots == cache.own)
		context_release(set, slots[0].ctx);
	pthread_mutex_unlock(&registry_lock);
	memmove(&slots[0], &slots[1], sizeof(slots[0]) * (CACHED_SETS - 1));
	slots[CACHED_SETS - 1] = (struct cached){0};
	return &slots[CACHED_SETS - 1];
}

static __attribute__((noinline)) struct context *context_first(struct env *env)
{
	struct context *ctx = context_reuse(&env->contexts);

	if (ctx == NULL)
		ctx = context_alloc(env, false);
	if (ctx == NULL)
		return NULL;
	*slot_take(cache.own) = (struct cached){.set_id = env->contexts.id, .ctx = ctx};
	if (!cache.registered) {
		pthread_once(&key_once, key_make);
		pthread_setspecific(leave_key, &cache);
		cache.registered = true;
	}
	return ctx;
}

static struct cached *find(struct cached *slots, uint64_t id)
{
	for (unsigned i = 0; i < CACHED_SETS; i++) {
		if (slots[i].set_id == id)
			return &slots[i];
	}
	return NULL;
}

struct context *context_find(struct env *env)
{
	uint64_t id = env->contexts.id;
	struct cached *c = find(cache.bound, id);

	if (c == NULL)
		c = find(cache.own, id);
	struct context *ctx = c != NULL ? c->ctx : context_first(env);
	if (ctx != NULL)
		context_last = (struct context_last){.set_id = id, .ctx = ctx};
	return ctx;
}

int context_new(struct env *env, struct context **ret)
{
	struct context *ctx = context_alloc(env, true);

	if (ctx == NULL)
		return -ENOMEM;
	*ret = ctx;
	return 0;
}

int context_bind(struct env *env, struct context *ctx)
{
	struct cached *c = find(cache.bound, env->contexts.id);

	forget_last();
	if (ctx == NULL) {
		if (c != NULL)
			*c = (struct cached){0};
		return 0;
	}
	if (ctx->env != env)
		return -EINVAL;
	if (c == NULL)
		c = slot_take(cache.bound);
	*c = (struct cached){.set_id = env->contexts.id, .ctx = ctx};
	return 0;
}

void context_free(struct context *ctx)
{
	if (ctx == NULL)
		return;
	struct env *env = ctx->env;
	struct cached *c = find(cache.bound, env->contexts.id);

	if (c != NULL && c->ctx == ctx)
		*c = (struct cached){0};
	forget_last();
	if (ctx->ring != NULL)
		ctx->ring_close(ctx);
	mutex_lock(&env->contexts.lock);
	list_del(&ctx->link);
	mutex_unlock(&env->contexts.lock);
	mem_free(env, ctx, sizeof(*ctx));
}

static uint64_t value(_Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void context_sum(struct env *env, struct context_totals *ret)
{
	struct context_totals t = {0};

	mutex_lock(&env->contexts.lock);
	list_for (it, &env->contexts.all) {
		struct context_counters *c = &container_of(it, struct context, link)->count;

		t.dev_reads += value(&c->dev_reads);
		t.dev_read_bytes += value(&c->dev_read_bytes);
		t.dev_writes += value(&c->dev_writes);
		t.dev_write_bytes += value(&c->dev_write_bytes);
		t.dev_flushes += value(&c->dev_flushes);
		t.map_lookups += value(&c->map_lookups);
		t.map_misses += value(&c->map_misses);
		t.buf_hits += value(&c->buf_hits);
		t.buf_misses += value(&c->buf_misses);
		t.rmw_shared += value(&c->rmw_shared);
	}
	mutex_unlock(&env->contexts.lock);
	*ret = t;
}
