/*
 * ours_mount.c - from a closed device to a mounted volume and back.
 */
#include "engine.h"
#include "report.h"

static int begin(const struct stream *stream, void **ret)
{
	union {
		const struct stream *stream;
		void *state;
	} same = {.stream = stream};

	*ret = same.state;
	return 0;
}

static int64_t step(void *state, uint64_t count)
{
	const struct stream *stream = state;

	for (uint64_t i = 0; i < count; i++) {
		struct target t;
		int r = target_open(&t, "compare", stream->device, NULL, 1, 0);

		if (r < 0) {
			return r;
		}
		target_close(&t);
	}
	return (int64_t)count;
}

static void end(void *state)
{
	(void)state;
}

const struct engine engine_mount = {.name = "mount", .begin = begin, .step = step, .end = end};
