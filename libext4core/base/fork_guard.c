/*
 * fork_guard.c - a page that is empty in the child.
 *
 * Owns:    the guard's page; the process-wide count of forks.
 * Locks:   atomics.
 * Always:  a guard made in this process reads as "not a child" until the process forks.
 */
#include "base/fork_guard.h"

#include "base/assert.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

_Atomic uint32_t fork_generation;
static pthread_once_t handler_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
	atomic_store(&fork_generation, atomic_load(&fork_generation) + 1);
}

static void handler_install(void)
{
	int r = pthread_atfork(NULL, NULL, in_child);

	E4_ASSERT(r == 0);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void fork_guard_init(struct fork_guard *g)
{
	size_t size = page_size();
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) != 0) {
		(void)munmap(page, size);
		page = MAP_FAILED;
	}
	pthread_once(&handler_once, handler_install);
	*g = (struct fork_guard){.generation = atomic_load(&fork_generation)};
	if (page != MAP_FAILED) {
		g->page = page;
		atomic_store(g->page, 1);
	}
}

void fork_guard_fini(struct fork_guard *g)
{
	if (g->page != NULL)
		(void)munmap(g->page, page_size());
	g->page = NULL;
}
