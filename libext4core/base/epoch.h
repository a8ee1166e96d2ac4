/*
 * epoch.h - lock-free readers of immutable snapshots, and when a replaced snapshot may be freed.
 *
 * A reader enters, loads published pointers with seq_cst, uses what they point to, leaves. A writer unpublishes with a seq_cst
 * store, then retires. A section holds no I/O, no callback and no lock wait. Own code in C11 atomics: TSan follows it
 * (it does not model bare fences), and a section costs one store on the thread's own line.
 */
#ifndef BASE_EPOCH_H
#define BASE_EPOCH_H

#include "base/context.h"
#include "base/mutex.h"
#include "base/types.h"

struct env;

/* Embedded in what is to be freed later. */
struct epoch_item {
	struct epoch_item *next;
	uint64_t epoch;
	void (*release)(struct env *env, struct epoch_item *item);
};

struct epoch_domain {
	_Atomic uint64_t now;      /* [atomic] starts at 1 */
	struct mutex lock;         /* rank LEAF */
	struct epoch_item *oldest; /* [lock] retired, oldest first */
	struct epoch_item **tail;  /* [lock] */
	uint64_t retired_count;    /* [lock] */
};

void epoch_domain_init(struct epoch_domain *d);
/* Frees all garbage; nobody may be inside. */
void epoch_domain_fini(struct env *env);

static inline void epoch_enter(struct context *ctx, struct epoch_domain *d)
{
	if (ctx->epoch_depth++ == 0)
		atomic_store(&ctx->epoch, atomic_load_explicit(&d->now, memory_order_acquire));
}

static inline void epoch_leave(struct context *ctx)
{
	if (--ctx->epoch_depth == 0)
		atomic_store_explicit(&ctx->epoch, 0, memory_order_release);
}

/* The item is unpublished already; release() runs once no reader can hold it, at the latest in epoch_domain_fini(). */
void epoch_retire(struct env *env, struct epoch_item *item,
	void (*release)(struct env *, struct epoch_item *));
/* Frees what is free to go. Called by retire every so often; callable by anyone outside a section. */
void epoch_reclaim(struct env *env);

#endif
