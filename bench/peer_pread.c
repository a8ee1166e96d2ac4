/*
 * peer_pread.c - one pread(2) at a time, on a file of the kernel's mount or on the bare device.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct preader {
	int fd;
	uint64_t base;
	struct pattern pattern;
	void *buf;
};

static int begin(const struct stream *stream, void **ret)
{
	struct preader *p = calloc(1, sizeof(*p));

	if (p == NULL || posix_memalign(&p->buf, 4096, stream->pattern.bs) != 0) {
		free(p);
		return -ENOMEM;
	}
	p->fd = stream->fd;
	p->base = stream->base;
	p->pattern = stream->pattern;
	*ret = p;
	return 0;
}

static int64_t step(void *state, uint64_t count)
{
	struct preader *p = state;

	for (uint64_t i = 0; i < count; i++) {
		ssize_t n = pread(
			p->fd, p->buf, p->pattern.bs, (off_t)(p->base + pattern_next(&p->pattern)));

		if (n != (ssize_t)p->pattern.bs) {
			return n < 0 ? -errno : -EIO;
		}
	}
	return (int64_t)count;
}

static void end(void *state)
{
	struct preader *p = state;

	free(p->buf);
	free(p);
}

const struct engine engine_pread = {.name = "pread", .begin = begin, .step = step, .end = end};
