/*
 * uring_buffers.c - memory registered with a ring: its pages are held once, not for every request.
 *
 * Owns:    a table of the ranges, sorted, to find the one in which a request's piece lies.
 * Locks:   none; a ring is its context's.
 * Always:  what the table lists is registered with the kernel.
 */
#include "blockdev/uring_buffers.h"

#include <errno.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct buffer_range *x = a;
	const struct buffer_range *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

int ring_buffers_register(struct env *env, struct io_uring *io, struct ring_buffers *rb,
	const struct e4_iovec *bufs, uint32_t count)
{
	if (rb->ranges != NULL)
		return -EBUSY;
	struct buffer_range *ranges = mem_zalloc_array(env, count, sizeof(*ranges));
	if (ranges == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		uintptr_t start = (uintptr_t)bufs[i].base;

		ranges[i] = (struct buffer_range){
			.start = start, .end = start + (uintptr_t)bufs[i].len, .number = (int)i};
	}
	qsort(ranges, count, sizeof(*ranges), compare);
	int r = io_uring_register_buffers(
		io, (const struct iovec *)(const void *)bufs, (unsigned)count);
	if (r < 0) {
		mem_free(env, ranges, count * sizeof(*ranges));
		return r;
	}
	*rb = (struct ring_buffers){.ranges = ranges, .count = count};
	return 0;
}

static void forget(struct env *env, struct ring_buffers *rb)
{
	mem_free(env, rb->ranges, rb->count * sizeof(*rb->ranges));
	*rb = (struct ring_buffers){0};
}

int ring_buffers_unregister(struct env *env, struct io_uring *io, struct ring_buffers *rb)
{
	if (rb->ranges == NULL)
		return -ENOENT;
	int r = io_uring_unregister_buffers(io);
	if (r == 0)
		forget(env, rb);
	return r;
}

void ring_buffers_fini(struct env *env, struct io_uring *io, struct ring_buffers *rb)
{
	/* Another thread than the ring's is refused; then the kernel lets go of the pages when it takes down the ring. */
	if (rb->ranges != NULL && ring_buffers_unregister(env, io, rb) < 0)
		forget(env, rb);
}

int ring_buffers_find(const struct ring_buffers *rb, const struct e4_iovec *piece)
{
	uintptr_t start = (uintptr_t)piece->base;
	uint32_t low = 0;
	uint32_t high = rb->count;

	while (low < high) { /* the first that begins behind the piece's start */
		uint32_t mid = low + (high - low) / 2;

		if (rb->ranges[mid].start <= start)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return -1;
	const struct buffer_range *range = &rb->ranges[low - 1];
	return start < range->end && piece->len <= range->end - start ? range->number : -1;
}
