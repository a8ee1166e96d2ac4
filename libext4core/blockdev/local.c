/*
 * local.c - per-thread state of devices, hung on the thread's context of the volume.
 *
 * Owns:    the list at ctx->ring.
 * Locks:   env->contexts.lock for a device's list and for closing; a context's own list is touched by its thread only.
 * Always:  only the owner unlinks a local from its context; a closed device merely leaves it behind, empty and without a key.
 */
#include "blockdev/local.h"

#include <errno.h>

struct local *local_find(struct env *env, const void *device)
{
	struct context *ctx = context_get(env);

	if (ctx == NULL)
		return NULL;
	for (struct local *l = ctx->ring; l != NULL; l = l->next) {
		if (atomic_load_explicit(&l->device, memory_order_acquire) == device)
			return l;
	}
	return NULL;
}

static void close_one(struct local *l)
{
	l->fini(l);
	list_del(&l->link);
	atomic_store_explicit(&l->device, NULL, memory_order_release);
}

/* Frees the context's locals: those of closed devices, or all. */
static void sweep(struct context *ctx, bool all)
{
	struct local *keep = NULL;
	struct local *next;

	for (struct local *l = ctx->ring; l != NULL; l = next) {
		next = l->next;
		bool alive = atomic_load_explicit(&l->device, memory_order_acquire) != NULL;

		if (alive && !all) {
			l->next = keep;
			keep = l;
			continue;
		}
		if (alive)
			close_one(l);
		mem_free(ctx->env, l, l->size);
	}
	ctx->ring = keep;
}

/* The context's thread leaves, or the volume goes. */
static void context_closes(struct context *ctx)
{
	mutex_lock(&ctx->env->contexts.lock);
	sweep(ctx, true);
	mutex_unlock(&ctx->env->contexts.lock);
}

int local_add(struct env *env, struct local *local, const void *device, struct list *of_device)
{
	struct context *ctx = context_get(env);

	if (ctx == NULL)
		return -ENOMEM;
	mutex_lock(&env->contexts.lock);
	sweep(ctx, false);
	list_add(of_device, &local->link);
	atomic_store_explicit(&local->device, device, memory_order_release);
	mutex_unlock(&env->contexts.lock);
	local->next = ctx->ring;
	ctx->ring = local;
	ctx->ring_close = context_closes;
	return 0;
}

void local_close_all(struct env *env, struct list *of_device)
{
	mutex_lock(&env->contexts.lock);
	list_for_safe (it, tmp, of_device) {
		close_one(container_of(it, struct local, link));
	}
	mutex_unlock(&env->contexts.lock);
}
