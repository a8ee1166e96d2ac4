/*
 * ours_queue.c - many reads in flight, as an application does them that maps files itself: a mapping from the library,
 * a request to its device, and the mapping given back when the request has come in.
 *
 * Always:  one mapping lookup an operation; a piece of a file that ends inside a read is followed by the next piece. The
 *          memory is registered where the device offers it, as the rival's is.
 */
#include "clock.h"
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A read on its way. */
struct slot {
	struct e4_blockdev_request req;
	struct e4_iovec iov;
	struct e4_mapping mapping;
	uint8_t *buf;
	uint64_t offset, left; /* what is still to be read, bytes */
	uint64_t started_ns;   /* 0: not timed */
};

struct queue {
	const struct stream *stream;
	struct pattern pattern;
	struct slot *slots;
	struct slot **idle;
	struct e4_blockdev_request **batch; /* prepared, or reaped */
	uint32_t idle_count, in_flight_count;
	uint32_t until_timed;
	uint8_t *memory;
	bool registered;
};

static void queue_free(struct queue *q)
{
	if (q != NULL) {
		free(q->memory);
		free(q->slots);
		free(q->idle);
		free(q->batch);
		free(q);
	}
}

static int allocate(struct queue *q, uint32_t depth, uint64_t bs)
{
	void *memory;

	q->slots = calloc(depth, sizeof(*q->slots));
	q->idle = calloc(depth, sizeof(struct slot *));
	q->batch = calloc(depth, sizeof(struct e4_blockdev_request *));
	if (q->slots == NULL || q->idle == NULL || q->batch == NULL ||
		posix_memalign(&memory, 4096, depth * bs) != 0) {
		return -ENOMEM;
	}
	q->memory = memory;
	return 0;
}

static int begin(const struct stream *stream, void **ret)
{
	struct queue *q = calloc(1, sizeof(*q));
	int r = q != NULL ? allocate(q, stream->depth, stream->pattern.bs) : -ENOMEM;

	if (r < 0) {
		queue_free(q);
		return r;
	}
	q->stream = stream;
	q->pattern = stream->pattern;
	for (uint32_t i = 0; i < stream->depth; i++) {
		q->slots[i].buf = q->memory + i * stream->pattern.bs;
		q->idle[q->idle_count++] = &q->slots[i];
	}
	/* A device that refuses works without. */
	q->registered = e4_blockdev_buffers_register(stream->target->dev,
				&(struct e4_iovec){.base = q->memory,
					.len = stream->depth * stream->pattern.bs},
				1) == 0;
	*ret = q;
	return 0;
}

static void slot_start(struct queue *q, struct slot *s)
{
	s->offset = pattern_next(&q->pattern);
	s->left = q->pattern.bs;
	s->started_ns = 0;
	if (q->stream->latency != NULL && q->until_timed-- == 0) {
		q->until_timed = q->stream->latency_every - 1;
		s->started_ns = clock_now_ns();
	}
}

/* Makes the request for the piece at the slot's offset: 1, or 0 when the piece was served without the device. */
static int slot_prepare(struct queue *q, struct slot *s)
{
	const struct target *t = q->stream->target;
	uint8_t *at = s->buf + (q->pattern.bs - s->left);
	uint64_t addr = s->offset;
	uint64_t len = s->left;

	if (t->file != NULL) {
		struct e4_mapping *m = &s->mapping;
		uint64_t skip;
		int r;

		m->struct_size = sizeof(*m);
		r = e4_map_begin(t->file, s->offset, s->left, E4_MAP_READ, 0, m);
		if (r < 0) {
			return r;
		}
		skip = s->offset - m->offset;
		len = m->length - skip < s->left ? m->length - skip : s->left;
		if (m->type != E4_MAP_MAPPED) {
			int64_t n = (int64_t)len;

			if (m->type == E4_MAP_INLINE) {
				n = e4_pread(t->file, at, len, s->offset);
			} else {
				memset(at, 0, (size_t)len);
			}
			s->offset += len;
			s->left -= len;
			r = e4_map_end(m, len, 0);
			return n < 0 ? (int)n : r;
		}
		addr = m->addr + skip;
	}
	s->iov = (struct e4_iovec){.base = at, .len = len};
	s->req = (struct e4_blockdev_request){
		.op = E4_BLOCKDEV_READ,
		.offset = addr,
		.len = len,
		.iov = &s->iov,
		.iov_count = 1,
		.user = s,
	};
	return 1;
}

/* A read has all of its bytes. */
static void slot_done(struct queue *q, struct slot *s)
{
	if (s->started_ns != 0) {
		hist_add(q->stream->latency, clock_now_ns() - s->started_ns);
	}
	q->idle[q->idle_count++] = s;
}

/* Goes on with a read until it needs the device (1), is done (0) or fails. */
static int slot_advance(struct queue *q, struct slot *s)
{
	int r = 0;

	while (r == 0 && s->left > 0) {
		r = slot_prepare(q, s);
	}
	return r;
}

static int submit(struct queue *q, uint32_t count)
{
	int r;

	if (count == 0) {
		return 0;
	}
	r = e4_blockdev_submit(q->stream->target->dev, q->batch, count);
	if (r < 0) {
		return r;
	}
	q->in_flight_count += count;
	return 0;
}

/* Starts a read on every idle slot; returns how many ended at once. */
static int64_t fill(struct queue *q)
{
	uint32_t count = 0;
	int64_t done = 0;

	for (uint32_t idle = q->idle_count; idle > 0; idle--) {
		struct slot *s = q->idle[--q->idle_count];
		int r;

		slot_start(q, s);
		r = slot_advance(q, s);
		if (r < 0) {
			return r;
		}
		if (r == 0) {
			slot_done(q, s);
			done++;
			break; /* the slot is idle again: the next call goes on */
		}
		q->batch[count++] = &s->req;
	}
	int r = submit(q, count);
	return r < 0 ? r : done;
}

/* A request came in: 1 when its read goes on with another, 0 when it is done. */
static int slot_came_in(struct queue *q, struct slot *s)
{
	int r = s->req.result;

	if (q->stream->target->file != NULL) {
		int ended = e4_map_end(&s->mapping, s->iov.len, r);

		r = r < 0 ? r : ended;
	}
	if (r < 0) {
		return r;
	}
	s->offset += s->iov.len;
	s->left -= s->iov.len;
	return slot_advance(q, s);
}

/* Waits for at least one; returns how many reads were done. */
static int64_t collect(struct queue *q)
{
	int n = e4_blockdev_reap(q->stream->target->dev, q->batch, 1, q->stream->depth);
	uint32_t again = 0;
	int64_t done = 0;

	if (n < 0) {
		return n;
	}
	q->in_flight_count -= (uint32_t)n;
	for (int i = 0; i < n; i++) {
		struct slot *s = q->batch[i]->user;
		int r = slot_came_in(q, s);

		if (r < 0) {
			return r;
		}
		if (r == 0) {
			slot_done(q, s);
			done++;
		} else {
			q->batch[again++] = &s->req;
		}
	}
	int r = submit(q, again);
	return r < 0 ? r : done;
}

static int64_t step(void *state, uint64_t count)
{
	struct queue *q = state;
	uint64_t done = 0;

	while (done < count) {
		int64_t n = fill(q);

		if (n == 0) {
			n = collect(q);
		}
		if (n < 0) {
			return n;
		}
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

static int64_t pause_queue(void *state)
{
	struct queue *q = state;
	int64_t done = 0;

	while (q->in_flight_count > 0) {
		int64_t n = collect(q);

		if (n < 0) {
			return n;
		}
		done += n;
	}
	return done;
}

/* After an error requests may still be on their way, with memory of ours. */
static void end(void *state)
{
	struct queue *q = state;
	int n = 1;

	while (q->in_flight_count > 0 && n > 0) {
		n = e4_blockdev_reap(q->stream->target->dev, q->batch, 1, q->stream->depth);
		q->in_flight_count -= n > 0 ? (uint32_t)n : 0;
	}
	if (q->registered) {
		(void)e4_blockdev_buffers_unregister(q->stream->target->dev);
	}
	queue_free(q);
}

const struct engine engine_queue = {
	.name = "queue", .begin = begin, .step = step, .pause = pause_queue, .end = end};
