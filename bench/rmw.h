#ifndef BENCH_RMW_H
#define BENCH_RMW_H

#include <ext4core/fs.h>

/* Counts the calling thread's atomic read-modify-writes on shared memory; zeroed memory has not begun. */
struct rmw_meter {
	uint64_t at;   /* as of the last look */
	uint64_t cost; /* of a look: it counts too */
};

void rmw_begin(struct rmw_meter *m, struct e4_fs *fs);
/* How many there were since the beginning. */
uint64_t rmw_end(struct rmw_meter *m, struct e4_fs *fs);

#endif
