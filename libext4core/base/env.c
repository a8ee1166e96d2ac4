/*
 * env.c - builds the surroundings of a volume and fills in the defaults of the hooks.
 *
 * Owns:    struct env.
 * Locks:   none; refs is atomic.
 * Always:  every callback of env->hooks except log is set.
 */
#include "base/env.h"

#include "base/assert.h"
#include "base/assert_hook.h"
#include "base/atomic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static void *default_alloc(void *ctx, size_t size, size_t align)
{
	void *p = NULL;

	(void)ctx;
	if (align < sizeof(void *))
		align = sizeof(void *);
	return posix_memalign(&p, align, size) == 0 ? p : NULL;
}

static void default_free(void *ctx, void *ptr, size_t size)
{
	(void)ctx;
	(void)size;
	free(ptr);
}

static void clock_read(clockid_t id, struct e4_timespec *ret)
{
	struct timespec ts = {0};

	(void)clock_gettime(id, &ts);
	*ret = (struct e4_timespec){.sec = ts.tv_sec, .nsec = (uint32_t)ts.tv_nsec};
}

static void default_wall(void *ctx, struct e4_timespec *ret)
{
	(void)ctx;
	clock_read(CLOCK_REALTIME, ret);
}

static void default_mono(void *ctx, struct e4_timespec *ret)
{
	(void)ctx;
	clock_read(CLOCK_MONOTONIC, ret);
}

static void default_random(void *ctx, void *buf, size_t len)
{
	uint8_t *p = buf;

	(void)ctx;
	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0) {
			E4_ASSERT(errno == EINTR);
			continue;
		}
		p += n;
		len -= (size_t)n;
	}
}

/* Takes over what the caller's (possibly older, shorter) struct has and fills the rest with defaults. */
static void hooks_complete(struct e4_hooks *h, const struct e4_hooks *from)
{
	memset(h, 0, sizeof(*h));
	if (from != NULL)
		memcpy(h, from, from->struct_size < sizeof(*h) ? from->struct_size : sizeof(*h));
	h->struct_size = sizeof(*h);
	if (h->alloc == NULL || h->free == NULL) {
		h->alloc = default_alloc;
		h->free = default_free;
	}
	if (h->clock_wall == NULL)
		h->clock_wall = default_wall;
	if (h->clock_mono == NULL)
		h->clock_mono = default_mono;
	if (h->random == NULL)
		h->random = default_random;
}

int env_new(const struct e4_hooks *hooks, uint64_t budget_bytes, struct env **ret)
{
	struct e4_hooks h;

	hooks_complete(&h, hooks);
	struct env *env = h.alloc(
		h.ctx, sizeof(*env), _Alignof(struct env) > 64 ? _Alignof(struct env) : 64);
	if (env == NULL)
		return -ENOMEM;
	memset(env, 0, sizeof(*env));
	env->hooks = h;
	env->mem = (struct mem){
		.ctx = h.ctx, .alloc = h.alloc, .free = h.free, .budget_bytes = budget_bytes};
	mutex_init(&env->errors.lock, RANK_LEAF);
	epoch_domain_init(&env->epochs);
	context_set_init(env);
	fork_guard_init(&env->fork);
	atomic_store(&env->refs, 1);
	if (env->hooks.assert_failed != NULL)
		assert_hook_set(&env->hooks);
	*ret = env;
	return 0;
}

void env_get(struct env *env)
{
	rmw_add_u32(&env->refs, 1);
}

void env_put(struct env *env)
{
	if (env == NULL || rmw_sub_u32(&env->refs, 1) != 1)
		return;
	context_set_fini(env);
	epoch_domain_fini(env);
	E4_ASSERT(mem_used_bytes(env) == 0);
	assert_hook_clear(&env->hooks);
	fork_guard_fini(&env->fork);
	mutex_fini(&env->errors.lock);
	mutex_fini(&env->epochs.lock);
	env->mem.free(env->mem.ctx, env, sizeof(*env));
}

struct e4_timespec env_clock_wall(struct env *env)
{
	struct e4_timespec ts = {0};

	env->hooks.clock_wall(env->hooks.ctx, &ts);
	return ts;
}

struct e4_timespec env_clock_mono(struct env *env)
{
	struct e4_timespec ts = {0};

	env->hooks.clock_mono(env->hooks.ctx, &ts);
	return ts;
}

uint64_t env_mono_ns(struct env *env)
{
	struct e4_timespec ts = env_clock_mono(env);

	return (uint64_t)ts.sec * 1000000000u + ts.nsec;
}

void env_sleep_seconds(struct env *env, uint32_t seconds)
{
	struct timespec ts = {.tv_sec = (time_t)seconds};

	(void)env;
	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

void env_random(struct env *env, void *buf, size_t len)
{
	env->hooks.random(env->hooks.ctx, buf, len);
}
