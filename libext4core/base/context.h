/*
 * context.h - what a thread would otherwise share: epoch slot, counters, I/O ring.
 *
 * A thread gets a context of a volume the first time it enters the library and keeps it in thread-local storage; when the thread
 * ends, the context is drained and handed to the next newcomer. Fibres bind one by hand.
 */
#ifndef BASE_CONTEXT_H
#define BASE_CONTEXT_H

#include "base/list.h"
#include "base/mutex.h"
#include "base/types.h"

#include <stdatomic.h>

/* A shared library's thread-local word at a fixed offset: a load instead of a call. They are few, so that dlopen() finds room. */
#define E4_TLS __attribute__((tls_model("initial-exec")))

struct env;

/* Counts of one context; only its thread writes. Summed by e4_counters. */
struct context_counters {
	_Atomic uint64_t dev_reads, dev_read_bytes;
	_Atomic uint64_t dev_writes, dev_write_bytes;
	_Atomic uint64_t dev_flushes;
	_Atomic uint64_t map_lookups; /* mappings looked up */
	_Atomic uint64_t map_misses;  /* of these, those that read the tree */
	_Atomic uint64_t buf_hits, buf_misses;
	_Atomic uint64_t rmw_shared; /* base_rmw_count as of the last leave */
};

struct context {
	/* The reader's epoch, 0 when outside. Own cache line: others only read it. */
	_Alignas(E4_CACHE_LINE) _Atomic uint64_t epoch;
	uint32_t epoch_depth; /* [owner] nesting */
	bool in_use;          /* [contexts.lock] */
	bool by_hand;         /* [const] made by e4_context_new */
	struct env *env;      /* [const] */
	struct list link;     /* [contexts.lock] */
	_Alignas(E4_CACHE_LINE) struct context_counters count;
	/* What blockdev keeps here (a ring that only its thread may use), and how it is torn down. [owner] */
	void *ring;
	void (*ring_close)(struct context *ctx);
};

struct context_set {
	uint64_t id;       /* [const] never used again in this process */
	struct mutex lock; /* rank CONTEXTS */
	struct list all;   /* [lock] every context, in use or not */
	struct list link;  /* in the process's list of live sets */
};

void context_set_init(struct env *env);
void context_set_fini(struct env *env);

/* What context_get() of env.h falls back to: the thread's context in its cache of several volumes, made on first use. */
struct context *context_find(struct env *env);
/* The volume and context that the thread used last. A set_id of 0 is no volume. Only its thread touches it. */
struct context_last {
	uint64_t set_id;
	struct context *ctx;
};
extern _Thread_local struct context_last context_last E4_TLS;

/* By hand, for fibres: new, bind to the calling thread (NULL = back to the thread's own), free (must be bound nowhere). */
int context_new(struct env *env, struct context **ret) E4_MUST_CHECK;
int context_bind(struct env *env, struct context *ctx) E4_MUST_CHECK;
void context_free(struct context *ctx);

/* Adds n to a counter of the calling thread's context; a plain load and store, as only the owner writes. */
static inline void context_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
		memory_order_relaxed);
}

/* Sums all contexts of the volume into *ret, non-atomically as a whole. */
struct context_totals {
	uint64_t dev_reads, dev_read_bytes, dev_writes, dev_write_bytes, dev_flushes;
	uint64_t map_lookups, map_misses, buf_hits, buf_misses, rmw_shared;
};
void context_sum(struct env *env, struct context_totals *ret);

#endif
