/*
 * fork_guard.h - whether this process is the one that opened the volume.
 *
 * After fork() the child has the parent's memory but not its threads: locks may be held for ever, rings and file positions are shared.
 * So the child's handles are dead, and finding that out costs one load: of a page that the kernel empties in the child, or, where it
 * cannot, of a word that a fork handler changes.
 */
#ifndef BASE_FORK_GUARD_H
#define BASE_FORK_GUARD_H

#include "base/types.h"

#include <stdatomic.h>

struct fork_guard {
	_Atomic uint32_t *page; /* [const] 1 where it was made, 0 in a child; NULL when the kernel cannot empty pages */
	uint32_t generation; /* [const] of forks, for that case */
};

/* Never fails: without a page the fork handler serves. */
void fork_guard_init(struct fork_guard *g);
void fork_guard_fini(struct fork_guard *g);
uint32_t fork_generation(void);

/* True in a child of the process that made it. */
static inline bool fork_guard_is_child(const struct fork_guard *g)
{
	if (E4_LIKELY(g->page != NULL))
		return atomic_load_explicit(g->page, memory_order_relaxed) == 0;
	return fork_generation() != g->generation;
}

#endif
