/*
 * ours_dax.c - reads as copies from the device's own memory.
 */
#include "clock.h"
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct dax {
	const struct stream *stream;
	struct pattern pattern;
	uint8_t *buf;
	uint32_t until_timed;
};

static int begin(const struct stream *stream, void **ret)
{
	struct dax *d = calloc(1, sizeof(*d));
	void *buf;

	if (d == NULL || posix_memalign(&buf, 4096, stream->pattern.bs) != 0) {
		free(d);
		return -ENOMEM;
	}
	d->stream = stream;
	d->pattern = stream->pattern;
	d->buf = buf;
	*ret = d;
	return 0;
}

static int copy_out(struct e4_file *file, uint8_t *buf, uint64_t len, uint64_t offset)
{
	while (len > 0) {
		const void *from;
		uint64_t n;
		int r = e4_dax_map(file, offset, len, &from, &n);

		if (r < 0) {
			return r;
		}
		memcpy(buf, from, (size_t)n);
		r = e4_dax_unmap(file, from, n);
		if (r < 0) {
			return r;
		}
		buf += n;
		offset += n;
		len -= n;
	}
	return 0;
}

static int copy_timed(struct dax *d, uint64_t offset)
{
	uint64_t started;
	int r;

	if (d->stream->latency == NULL || d->until_timed-- > 0) {
		return copy_out(d->stream->target->file, d->buf, d->pattern.bs, offset);
	}
	d->until_timed = d->stream->latency_every - 1;
	started = clock_now_ns();
	r = copy_out(d->stream->target->file, d->buf, d->pattern.bs, offset);
	hist_add(d->stream->latency, clock_now_ns() - started);
	return r;
}

static int64_t step(void *state, uint64_t count)
{
	struct dax *d = state;

	for (uint64_t i = 0; i < count; i++) {
		int r = copy_timed(d, d->stream->base + pattern_next(&d->pattern));

		if (r < 0) {
			return r;
		}
	}
	return (int64_t)count;
}

static void end(void *state)
{
	struct dax *d = state;

	free(d->buf);
	free(d);
}

const struct engine engine_dax = {.name = "dax", .begin = begin, .step = step, .end = end};
