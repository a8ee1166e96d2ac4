/*
 * mem.c - allocation through the hooks, under the budget.
 *
 * Owns:    env->mem.
 * Locks:   none; used_bytes is one counted atomic (no allocation happens on a read, map or overwrite path).
 * Always:  used_bytes is the sum of the sizes of all live allocations.
 */
#include "base/mem.h"

#include "base/atomic.h"
#include "base/env.h"

#include <stdlib.h>
#include <string.h>

static bool charge(struct mem *mem, size_t size)
{
	uint64_t used = rmw_add_u64(&mem->used_bytes, size) + size;

	if (mem->budget_bytes == 0 || used <= mem->budget_bytes)
		return true;
	rmw_sub_u64(&mem->used_bytes, size);
	return false;
}

void *mem_alloc_aligned(struct env *env, size_t size, size_t align)
{
	struct mem *mem = &env->mem;

	if (size == 0)
		size = 1;
	if (!charge(mem, size))
		return NULL;
	void *p = mem->alloc(mem->ctx, size, align);
	if (p == NULL)
		rmw_sub_u64(&mem->used_bytes, size);
	return p;
}

void *mem_zalloc(struct env *env, size_t size)
{
	void *p = mem_alloc_aligned(
		env, size, size >= E4_CACHE_LINE ? E4_CACHE_LINE : _Alignof(max_align_t));

	if (p != NULL)
		memset(p, 0, size);
	return p;
}

void *mem_zalloc_array(struct env *env, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		return NULL;
	return mem_zalloc(env, total);
}

void mem_free(struct env *env, void *ptr, size_t size)
{
	struct mem *mem = &env->mem;

	if (ptr == NULL)
		return;
	if (size == 0)
		size = 1;
	rmw_sub_u64(&mem->used_bytes, size);
	mem->free(mem->ctx, ptr, size);
}

uint64_t mem_used_bytes(struct env *env)
{
	return atomic_load_explicit(&env->mem.used_bytes, memory_order_relaxed);
}
