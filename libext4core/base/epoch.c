/*
 * epoch.c - deferred freeing of replaced snapshots.
 *
 * Owns:    env->epochs: the clock and the queue of garbage.
 * Locks:   epochs.lock guards the queue; contexts.lock is taken before it to read the contexts' epochs.
 * Always:  an item retired in epoch e is freed only when every context is outside or entered in an epoch > e. A reader that stores
 *          its epoch after the scan also loads its pointers after the scan, hence after the unpublishing (all seq_cst).
 */
#include "base/epoch.h"

#include "base/assert.h"
#include "base/atomic.h"
#include "base/env.h"

#define RECLAIM_EVERY 64

void epoch_domain_init(struct epoch_domain *d)
{
	atomic_store(&d->now, 1);
	mutex_init(&d->lock, RANK_LEAF);
	d->oldest = NULL;
	d->tail = &d->oldest;
}

static uint64_t oldest_reader(struct env *env)
{
	uint64_t min = UINT64_MAX;

	mutex_lock(&env->contexts.lock);
	list_for (it, &env->contexts.all) {
		uint64_t e = atomic_load(&container_of(it, struct context, link)->epoch);

		if (e != 0 && e < min)
			min = e;
	}
	mutex_unlock(&env->contexts.lock);
	return min;
}

/* Takes from the queue what was retired before `epoch`; NULL when nothing. */
static struct epoch_item *take_older(struct epoch_domain *d, uint64_t epoch)
{
	struct epoch_item *first;
	struct epoch_item **end;

	mutex_lock(&d->lock);
	first = d->oldest;
	for (end = &d->oldest; *end != NULL && (*end)->epoch < epoch; end = &(*end)->next)
		;
	if (end == &d->oldest) {
		first = NULL;
	} else {
		d->oldest = *end;
		if (d->oldest == NULL)
			d->tail = &d->oldest;
		*end = NULL;
	}
	mutex_unlock(&d->lock);
	return first;
}

static void release_all(struct env *env, struct epoch_item *item)
{
	while (item != NULL) {
		struct epoch_item *next = item->next;

		item->release(env, item);
		item = next;
	}
}

void epoch_reclaim(struct env *env)
{
	release_all(env, take_older(&env->epochs, oldest_reader(env)));
}

void epoch_retire(struct env *env, struct epoch_item *item,
	void (*release)(struct env *, struct epoch_item *))
{
	struct epoch_domain *d = &env->epochs;

	item->next = NULL;
	item->release = release;
	mutex_lock(&d->lock);
	item->epoch = rmw_add_u64(&d->now, 1);
	*d->tail = item;
	d->tail = &item->next;
	bool due = ++d->retired_count % RECLAIM_EVERY == 0;
	mutex_unlock(&d->lock);
	if (due)
		epoch_reclaim(env);
}

void epoch_domain_fini(struct env *env)
{
	release_all(env, take_older(&env->epochs, UINT64_MAX));
}
