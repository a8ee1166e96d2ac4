/*
 * mutex.h - locks with a rank. Taking a lower rank while holding a higher one is a bug, found at once in debug builds.
 *
 * An open journal handle has a rank too: starting one may wait for a commit. No callback and no I/O happens under a
 * leaf lock. Each lock and unlock counts as one shared read-modify-write.
 */
#ifndef BASE_MUTEX_H
#define BASE_MUTEX_H

#include "base/types.h"

#include <pthread.h>

/* The order of DESIGN.md 4, outermost first. */
enum lock_rank {
	RANK_FS = 1,
	RANK_RENAME,
	RANK_DIR,
	RANK_HTREE_LEAF,
	RANK_GATE,
	RANK_CHUNK,
	RANK_HANDLE,
	RANK_EXTENT_TREE,
	RANK_GROUP,
	RANK_EXTENT_STATUS,
	RANK_INODE_CACHE,
	RANK_BUF,
	RANK_JOURNAL_STATE,
	RANK_JOURNAL_LIST,
	RANK_DEVICE,
	RANK_CONTEXTS,
	RANK_LEAF,
	RANK_COUNT,
};

#if defined(__clang__)
#define E4_TSA(x) __attribute__((x))
#else
#define E4_TSA(x)
#endif
#define E4_CAPABILITY    E4_TSA(capability("mutex"))
#define E4_REQUIRES(...) E4_TSA(requires_capability(__VA_ARGS__))
#define E4_ACQUIRES(...) E4_TSA(acquire_capability(__VA_ARGS__))
#define E4_RELEASES(...) E4_TSA(release_capability(__VA_ARGS__))
#define E4_EXCLUDES(...) E4_TSA(locks_excluded(__VA_ARGS__))
#define E4_NO_TSA        E4_TSA(no_thread_safety_analysis)

struct E4_CAPABILITY mutex {
	pthread_mutex_t m;
	enum lock_rank rank;
};

struct cond {
	pthread_cond_t c;
};

void mutex_init(struct mutex *m, enum lock_rank rank);
void mutex_fini(struct mutex *m);
void mutex_lock(struct mutex *m) E4_ACQUIRES(*m);
void mutex_unlock(struct mutex *m) E4_RELEASES(*m);

void cond_init(struct cond *c);
void cond_fini(struct cond *c);
/* Gives m up while waiting; wakes may be spurious. */
void cond_wait(struct cond *c, struct mutex *m) E4_REQUIRES(*m);
void cond_broadcast(struct cond *c);

#endif
