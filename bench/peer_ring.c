/*
 * peer_ring.c - many reads in flight on a file or device by io_uring, as fast as it is known to go.
 *
 * Always:  one system call submits and waits; the file is registered, and the memory where the kernel lets us hold so much
 *          of it, as the library's queue does.
 */
#include "engine.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

struct ring {
	struct io_uring io;
	uint64_t base;
	struct pattern pattern;
	unsigned depth, in_flight, idle_count;
	unsigned *idle; /* numbers of free buffers */
	char *memory;
	bool registered;
};

static int ring_init(struct ring *r, int fd)
{
	int e = io_uring_queue_init(
		r->depth, &r->io, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (e == -EINVAL) {
		e = io_uring_queue_init(r->depth, &r->io, 0);
	}
	if (e < 0) {
		return e;
	}
	e = io_uring_register_files(&r->io, &fd, 1);
	if (e < 0) {
		io_uring_queue_exit(&r->io);
	}
	return e;
}

static int begin(const struct stream *stream, void **ret)
{
	struct ring *r = calloc(1, sizeof(*r));
	void *memory = NULL;
	int e = -ENOMEM;

	if (r == NULL) {
		return e;
	}
	r->base = stream->base;
	r->pattern = stream->pattern;
	r->depth = r->idle_count = stream->depth;
	r->idle = calloc(r->depth, sizeof(*r->idle));
	if (r->idle != NULL && posix_memalign(&memory, 4096, r->depth * stream->pattern.bs) == 0) {
		e = ring_init(r, stream->fd);
	}
	if (e < 0) {
		free(memory);
		free(r->idle);
		free(r);
		return e;
	}
	r->memory = memory;
	r->registered = io_uring_register_buffers(&r->io,
				&(struct iovec){.iov_base = memory,
					.iov_len = r->depth * (size_t)stream->pattern.bs},
				1) == 0;
	for (unsigned i = 0; i < r->depth; i++) {
		r->idle[i] = i;
	}
	*ret = r;
	return 0;
}

static void prepare(struct ring *r)
{
	while (r->idle_count > 0) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&r->io);
		unsigned i;
		uint64_t offset;
		char *at;

		if (sqe == NULL) {
			return;
		}
		i = r->idle[--r->idle_count];
		at = r->memory + i * r->pattern.bs;
		offset = r->base + pattern_next(&r->pattern);
		if (r->registered) {
			io_uring_prep_read_fixed(sqe, 0, at, (unsigned)r->pattern.bs, offset, 0);
		} else {
			io_uring_prep_read(sqe, 0, at, (unsigned)r->pattern.bs, offset);
		}
		sqe->flags |= IOSQE_FIXED_FILE;
		io_uring_sqe_set_data64(sqe, i);
		r->in_flight++;
	}
}

static int64_t collect(struct ring *r)
{
	struct io_uring_cqe *cqe;
	unsigned head;
	unsigned seen = 0;
	int e = io_uring_submit_and_wait(&r->io, 1);

	if (e < 0 && e != -EINTR) {
		return e;
	}
	e = 0;
	io_uring_for_each_cqe(&r->io, head, cqe)
	{
		if (cqe->res != (int)r->pattern.bs) {
			e = cqe->res < 0 ? cqe->res : -EIO;
		}
		r->idle[r->idle_count++] = (unsigned)io_uring_cqe_get_data64(cqe);
		seen++;
	}
	io_uring_cq_advance(&r->io, seen);
	r->in_flight -= seen;
	return e < 0 ? e : (int64_t)seen;
}

static int64_t step(void *state, uint64_t count)
{
	struct ring *r = state;
	uint64_t done = 0;

	while (done < count) {
		int64_t n;

		prepare(r);
		n = collect(r);
		if (n < 0) {
			return n;
		}
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

static int64_t pause_ring(void *state)
{
	struct ring *r = state;
	int64_t done = 0;

	while (r->in_flight > 0) {
		int64_t n = collect(r);

		if (n < 0) {
			return n;
		}
		done += n;
	}
	return done;
}

static void end(void *state)
{
	struct ring *r = state;

	while (r->in_flight > 0 && pause_ring(r) == -EIO) {
		/* reads that fail do not stop the others */
	}
	io_uring_queue_exit(&r->io);
	free(r->memory);
	free(r->idle);
	free(r);
}

const struct engine engine_ring = {
	.name = "io_uring", .begin = begin, .step = step, .pause = pause_ring, .end = end};
