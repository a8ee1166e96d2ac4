/*
 * mutex.c - ranked locks over pthreads.
 *
 * Owns:    the calling thread's set of held ranks (debug builds).
 * Locks:   none of its own.
 * Always:  a thread's held ranks never decrease in the order of taking (equal ranks are the caller's care).
 */
#include "base/mutex.h"

#include "base/assert.h"
#include "base/atomic.h"

_Thread_local uint64_t base_rmw_count;

#ifdef E4_DEBUG
static _Thread_local uint16_t held[RANK_COUNT]; /* how many locks of each rank this thread holds */

static void rank_take(enum lock_rank rank)
{
	for (unsigned r = (unsigned)rank + 1; r < RANK_COUNT; r++)
		E4_ASSERT(held[r] == 0);
	held[rank]++;
}

static void rank_drop(enum lock_rank rank)
{
	E4_ASSERT(held[rank] > 0);
	held[rank]--;
}
#else
static void rank_take(enum lock_rank rank)
{
	(void)rank;
}

static void rank_drop(enum lock_rank rank)
{
	(void)rank;
}
#endif

void mutex_init(struct mutex *m, enum lock_rank rank)
{
	int r = pthread_mutex_init(&m->m, NULL);

	E4_ASSERT(r == 0);
	m->rank = rank;
}

void mutex_fini(struct mutex *m)
{
	int r = pthread_mutex_destroy(&m->m);

	E4_ASSERT(r == 0);
}

void mutex_lock(struct mutex *m) E4_NO_TSA
{
	rank_take(m->rank);
	base_rmw_count++;
	int r = pthread_mutex_lock(&m->m);
	E4_ASSERT(r == 0);
}

void mutex_unlock(struct mutex *m) E4_NO_TSA
{
	rank_drop(m->rank);
	base_rmw_count++;
	int r = pthread_mutex_unlock(&m->m);
	E4_ASSERT(r == 0);
}

void cond_init(struct cond *c)
{
	int r = pthread_cond_init(&c->c, NULL);

	E4_ASSERT(r == 0);
}

void cond_fini(struct cond *c)
{
	int r = pthread_cond_destroy(&c->c);

	E4_ASSERT(r == 0);
}

void cond_wait(struct cond *c, struct mutex *m) E4_NO_TSA
{
	rank_drop(m->rank);
	int r = pthread_cond_wait(&c->c, &m->m);
	E4_ASSERT(r == 0);
	rank_take(m->rank);
}

void cond_broadcast(struct cond *c)
{
	int r = pthread_cond_broadcast(&c->c);

	E4_ASSERT(r == 0);
}
