/* memory.h - the caller's pieces of memory as one run of bytes that is filled from the front. */
#ifndef FILE_MEMORY_H
#define FILE_MEMORY_H

#include "base/types.h"

#include <ext4core/blockdev.h>

#define MEMORY_SLICES 32u

struct memory {
	const struct e4_iovec *iov;
	uint32_t count;  /* pieces from iov on */
	uint64_t offset; /* into the first */
};

/* Bytes from here that at most MEMORY_SLICES pieces hold, up to len; the pieces go to out. */
uint64_t memory_slice(const struct memory *m, uint64_t len, struct e4_iovec out[MEMORY_SLICES],
	uint32_t *ret_count);
/* Goes on by len bytes, which are there. */
void memory_advance(struct memory *m, uint64_t len);
/* Fills len bytes with zeros, and goes on. */
void memory_zero(struct memory *m, uint64_t len);
/* The next piece with room, up to len bytes, without a copy of the list. */
void *memory_next(const struct memory *m, uint64_t len, uint64_t *ret_len);

#endif
