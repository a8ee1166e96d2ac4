/*
 * peer_memory.c - what no file system can beat: a copy from the same bytes, wherever they lie.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct copier {
	const uint8_t *from;
	struct pattern pattern;
	uint8_t *buf;
};

static int begin(const struct stream *stream, void **ret)
{
	struct copier *c = calloc(1, sizeof(*c));
	void *buf;

	if (c == NULL || posix_memalign(&buf, 4096, stream->pattern.bs) != 0) {
		free(c);
		return -ENOMEM;
	}
	c->from = stream->memory;
	c->pattern = stream->pattern;
	c->buf = buf;
	*ret = c;
	return 0;
}

static int64_t step(void *state, uint64_t count)
{
	struct copier *c = state;

	for (uint64_t i = 0; i < count; i++) {
		memcpy(c->buf, c->from + pattern_next(&c->pattern), c->pattern.bs);
		/* Or the compiler might find that nobody looks at the copy. */
		__asm__ volatile("" : : "r"(c->buf) : "memory");
	}
	return (int64_t)count;
}

static void end(void *state)
{
	struct copier *c = state;

	free(c->buf);
	free(c);
}

const struct engine engine_memcpy = {.name = "memcpy", .begin = begin, .step = step, .end = end};
