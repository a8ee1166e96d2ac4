/*
 * ours_sync.c - one read at a time through the library.
 */
#include "clock.h"
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

struct sync {
	const struct stream *stream;
	struct pattern pattern;
	void *buf;
	uint64_t until_timed; /* operations */
};

static int begin(const struct stream *stream, void **ret)
{
	struct sync *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	s->stream = stream;
	s->pattern = stream->pattern;
	if (posix_memalign(&s->buf, 4096, stream->pattern.bs) != 0) {
		free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

static int read_one(const struct target *t, void *buf, uint64_t len, uint64_t offset)
{
	int64_t n;

	if (t->file == NULL) {
		return e4_blockdev_read(t->dev, offset, buf, len);
	}
	n = e4_pread(t->file, buf, len, offset);
	if (n < 0) {
		return (int)n;
	}
	return (uint64_t)n == len ? 0 : -EIO;
}

static int read_timed(struct sync *s, uint64_t offset)
{
	uint64_t started;
	int r;

	if (s->stream->latency == NULL || s->until_timed-- > 0) {
		return read_one(s->stream->target, s->buf, s->pattern.bs, offset);
	}
	s->until_timed = s->stream->latency_every - 1;
	started = clock_now_ns();
	r = read_one(s->stream->target, s->buf, s->pattern.bs, offset);
	hist_add(s->stream->latency, clock_now_ns() - started);
	return r;
}

static int64_t step(void *state, uint64_t count)
{
	struct sync *s = state;

	for (uint64_t i = 0; i < count; i++) {
		int r = read_timed(s, pattern_next(&s->pattern));

		if (r < 0) {
			return r;
		}
	}
	return (int64_t)count;
}

static void end(void *state)
{
	struct sync *s = state;

	free(s->buf);
	free(s);
}

const struct engine engine_sync = {.name = "sync", .begin = begin, .step = step, .end = end};
