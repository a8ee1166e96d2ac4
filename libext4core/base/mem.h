/*
 * mem.h - all memory of one volume, through the embedder's hooks and under one budget.
 *
 * Sizes are given back on free, so that an embedder's allocator needs no headers and the budget is exact.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/types.h"

#include <stdatomic.h>

struct env;

struct mem {
	void *ctx;
	void *(*alloc)(void *ctx, size_t size, size_t align);
	void (*free)(void *ctx, void *ptr, size_t size);
	uint64_t budget_bytes;       /* [const after mount] 0 = unlimited */
	_Atomic uint64_t used_bytes; /* [atomic] */
};

/* Zeroed memory, or NULL: over budget or the hook has none. size 0 is treated as 1. */
void *mem_zalloc(struct env *env, size_t size) E4_MUST_CHECK;
/* The same for n elements; NULL when n * size overflows. */
void *mem_zalloc_array(struct env *env, size_t n, size_t size) E4_MUST_CHECK;
/* Not zeroed, aligned to `align` (a power of two). For I/O buffers. */
void *mem_alloc_aligned(struct env *env, size_t size, size_t align) E4_MUST_CHECK;
/* `size` as given to the allocation; ptr NULL is fine. */
void mem_free(struct env *env, void *ptr, size_t size);
uint64_t mem_used_bytes(struct env *env);

#endif
