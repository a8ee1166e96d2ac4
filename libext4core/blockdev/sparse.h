/*
 * sparse.h - numbered chunks of memory, most of them absent: what `mem` and `cow` devices keep their bytes in.
 *
 * Looking up takes no lock and writes nothing shared. Chunks are never taken away before sparse_fini().
 */
#ifndef BLOCKDEV_SPARSE_H
#define BLOCKDEV_SPARSE_H

#include "base/env.h"
#include "base/mutex.h"

#include <stdatomic.h>

struct sparse {
	struct env *env;
	uint32_t chunk_size;  /* [const] bytes */
	uint32_t height;      /* [const] levels of tables */
	struct mutex lock;    /* rank LEAF; guards adding */
	_Atomic(void *) root; /* [atomic] stored under lock, published by release, read by acquire */
	_Atomic uint64_t count_chunks; /* [atomic] stored under lock */
};

/* For chunk numbers 0 .. count-1. */
void sparse_init(struct sparse *s, struct env *env, uint32_t chunk_size, uint64_t count);
void sparse_fini(struct sparse *s);
/* The chunk, or NULL. */
void *sparse_find(struct sparse *s, uint64_t index);
/* Memory for a chunk that is not in the tree yet; not zeroed. */
void *sparse_chunk_new(struct sparse *s) E4_MUST_CHECK;
/* Puts it in, or frees it if another was first; *ret is the one that is in. -ENOMEM frees it. */
int sparse_insert(struct sparse *s, uint64_t index, void *chunk, void **ret) E4_MUST_CHECK;
/* The chunk, made of zeros if absent. */
int sparse_get(struct sparse *s, uint64_t index, void **ret) E4_MUST_CHECK;
/* The first chunk numbered *index or higher; sets *index. NULL = no more. */
void *sparse_next(struct sparse *s, uint64_t *index);

#endif
