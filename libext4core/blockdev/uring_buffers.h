/*
 * uring_buffers.h - the memory that a thread has registered with its ring.
 */
#ifndef BLOCKDEV_URING_BUFFERS_H
#define BLOCKDEV_URING_BUFFERS_H

#include "base/env.h"

#include <ext4core/blockdev.h>

#include <liburing.h>

struct buffer_range {
	uintptr_t start, end;
	int number; /* the kernel's */
};

struct ring_buffers {
	struct buffer_range *ranges; /* by start, then number; NULL when nothing is registered */
	uint32_t count;
};

/* -EBUSY when something is registered already; other errnos as the kernel answers. On failure nothing has changed. */
int ring_buffers_register(struct env *env, struct io_uring *io, struct ring_buffers *rb,
	const struct e4_iovec *bufs, uint32_t count) E4_MUST_CHECK;
/* -ENOENT when nothing is registered. No request may be in flight. */
int ring_buffers_unregister(
	struct env *env, struct io_uring *io, struct ring_buffers *rb) E4_MUST_CHECK;
/* The ring is about to go: forgets them, whether or not the kernel does so at once. */
void ring_buffers_fini(struct env *env, struct io_uring *io, struct ring_buffers *rb);
/* The number of a buffer in which the piece lies entirely, or -1. May miss one of several that overlap. */
int ring_buffers_find(const struct ring_buffers *rb, const struct e4_iovec *piece);

#endif
