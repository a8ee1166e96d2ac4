/*
 * env.h - the surroundings of one volume: hooks, memory, failures, contexts, epochs.
 *
 * Made when a block device is opened and shared by everything stacked on it, a mount included; so there are no globals, and
 * several volumes in one process know nothing of each other. Reference-counted, because devices are closed in any order.
 */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include "base/context.h"
#include "base/epoch.h"
#include "base/error.h"
#include "base/fork_guard.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "base/types.h"

#include <ext4core/hooks.h>

struct env {
	struct e4_hooks hooks; /* [const] every callback set, defaults filled in */
	struct mem mem;
	struct error_ring errors;
	struct context_set contexts;
	struct epoch_domain epochs;
	struct fork_guard fork;
	_Atomic uint32_t refs; /* [atomic] */
};

/* The calling thread's context; made on first use. NULL only without memory. No lock, no shared write when it exists. */
static inline struct context *context_get(struct env *env)
{
	if (E4_LIKELY(context_last.set_id == env->contexts.id))
		return context_last.ctx;
	return context_find(env);
}

/* hooks NULL = defaults. One reference is the caller's. -ENOMEM only. */
int env_new(const struct e4_hooks *hooks, uint64_t budget_bytes, struct env **ret) E4_MUST_CHECK;
void env_get(struct env *env);
/* Drops a reference; the last frees everything, garbage included. No other thread may be inside. */
void env_put(struct env *env);

struct e4_timespec env_clock_wall(struct env *env);
struct e4_timespec env_clock_mono(struct env *env);
uint64_t env_mono_ns(struct env *env);
/* The calling thread waits; signals do not shorten it. */
void env_sleep_seconds(struct env *env, uint32_t seconds);
void env_random(struct env *env, void *buf, size_t len);

#endif
