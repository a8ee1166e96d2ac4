/*
 * local.h - what one thread keeps for one device: a ring, an inbox of completed requests.
 *
 * Found without a lock or a shared write by its owner, closed by whoever is first: the leaving thread or the closing device.
 */
#ifndef BLOCKDEV_LOCAL_H
#define BLOCKDEV_LOCAL_H

#include "base/env.h"
#include "base/list.h"

#include <stdatomic.h>

struct local {
	struct local *next; /* [owner thread] in its context */
	struct list link;   /* [env->contexts.lock] in its device */
	_Atomic(const void *) device; /* [atomic] the key; NULL once the device is closed. Stored under env->contexts.lock */
	void (*fini)(
		struct local *); /* gives back what it holds, not its own memory; waits for what is in flight */
	size_t size;             /* of the whole allocation */
};

/* The calling thread's local of `device`, or NULL when it has none yet. */
struct local *local_find(struct env *env, const void *device);
/* Hands over a local made by mem_zalloc(size), with fini and size set; -ENOMEM leaves it the caller's. */
int local_add(struct env *env, struct local *local, const void *device,
	struct list *of_device) E4_MUST_CHECK;
/* Closes all locals of a device. No thread may be inside that device. */
void local_close_all(struct env *env, struct list *of_device);

#endif
