#ifndef BENCH_DUEL_H
#define BENCH_DUEL_H

#include "engine.h"
#include "spread.h"

enum {
	DUEL_THREADS_MAX = 64,
	DUEL_SLICES_MAX = 1000,
};

/* One of the two. A thread's stream is at streams[thread]. */
struct duellist {
	const struct engine *engine;
	struct stream *streams;
};

struct duel {
	struct duellist ours, theirs;
	struct e4_fs *fs; /* whose counters are read; NULL = none */
	unsigned threads; /* 1..DUEL_THREADS_MAX */
	unsigned slices;  /* of each side, 1..DUEL_SLICES_MAX */
	uint64_t slice_ns;
	uint64_t batch; /* operations between two looks at the clock */
};

struct duel_result {
	struct spread ours_ns, theirs_ns;         /* time an operation, of all threads together */
	struct spread ours_cpu_ns, theirs_cpu_ns; /* processor time an operation */
	struct spread ratio;     /* theirs to ours, slice by slice: above 1 we are faster */
	struct spread cpu_ratio; /* the same of processor time */
	double rmw_shared;       /* an operation of ours; negative when not known */
	unsigned runs;
};

/* Runs both in turn. 0, or the first negative errno that a side met; *ret_theirs tells whose. */
int duel_run(const struct duel *d, struct duel_result *ret, bool *ret_theirs);

#endif
