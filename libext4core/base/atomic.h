/*
 * atomic.h - every atomic read-modify-write of the library, counted.
 *
 * A read-modify-write on a line that other threads use is what stops an operation from scaling, so each is counted in the
 * calling thread's own counter (e4_counters, DESIGN 4 "budget"). Plain atomic loads and stores are used from <stdatomic.h>
 * directly. The count is a thread-local increment: cheap beside the operation it counts.
 */
#ifndef BASE_ATOMIC_H
#define BASE_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Thread_local uint64_t base_rmw_count
	__attribute__((tls_model("initial-exec"))); /* read-modify-writes by this thread, ever */

static inline uint64_t rmw_add_u64(_Atomic uint64_t *p, uint64_t v)
{
	base_rmw_count++;
	return atomic_fetch_add(p, v);
}

static inline uint64_t rmw_sub_u64(_Atomic uint64_t *p, uint64_t v)
{
	base_rmw_count++;
	return atomic_fetch_sub(p, v);
}

static inline uint32_t rmw_add_u32(_Atomic uint32_t *p, uint32_t v)
{
	base_rmw_count++;
	return atomic_fetch_add(p, v);
}

static inline uint32_t rmw_sub_u32(_Atomic uint32_t *p, uint32_t v)
{
	base_rmw_count++;
	return atomic_fetch_sub(p, v);
}

static inline uint64_t rmw_swap_u64(_Atomic uint64_t *p, uint64_t v)
{
	base_rmw_count++;
	return atomic_exchange(p, v);
}

#endif
