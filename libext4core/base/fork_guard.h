/*
 * fork_guard.h - whether this process is the one that opened the volume.
 *
 * After fork() the child has the parent's memory but not its threads: locks may be held for ever, rings and file positions are shared.
 * So the child's handles are dead, and finding that out costs two loads: of a page that the kernel empties in the child, and of a word
 * that a fork handler changes, for kernels (and emulators) that do not empty pages. Each alone misses some way to fork.
 */
#ifndef BASE_FORK_GUARD_H
#define BASE_FORK_GUARD_H

#include "base/types.h"

#include <stdatomic.h>

struct fork_guard {
	_Atomic uint32_t *page; /* [const] 1 where it was made, 0 in a child; NULL without one */
	uint32_t generation;    /* [const] of forks that the C library knew of, when it was made */
};

extern _Atomic uint32_t fork_generation;

/* Never fails: without a page the fork handler serves alone. */
void fork_guard_init(struct fork_guard *g);
void fork_guard_fini(struct fork_guard *g);

/* True in a child of the process that made it. */
static inline bool fork_guard_is_child(const struct fork_guard *g)
{
	if (g->page != NULL && atomic_load_explicit(g->page, memory_order_relaxed) == 0)
		return true;
	return atomic_load_explicit(&fork_generation, memory_order_relaxed) != g->generation;
}

#endif
