/*
 * ours_paths.c - names to inodes: stat, and open with close.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

struct paths {
	const struct stream *stream;
	uint64_t next;
};

static int begin(const struct stream *stream, void **ret)
{
	struct paths *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		return -ENOMEM;
	}
	p->stream = stream;
	p->next = stream->base % stream->list->count;
	*ret = p;
	return 0;
}

static const char *next_path(struct paths *p)
{
	const char *path = p->stream->list->paths[p->next++];

	if (p->next == p->stream->list->count) {
		p->next = 0;
	}
	return path;
}

static int64_t step_stat(void *state, uint64_t count)
{
	struct paths *p = state;
	struct e4_stat st = {.struct_size = sizeof(st)};

	for (uint64_t i = 0; i < count; i++) {
		int r = e4_stat(p->stream->target->fs, next_path(p), 0, &st);

		if (r < 0) {
			return r;
		}
	}
	return (int64_t)count;
}

static int64_t step_open(void *state, uint64_t count)
{
	struct paths *p = state;

	for (uint64_t i = 0; i < count; i++) {
		struct e4_file *file;
		int r = e4_open(p->stream->target->fs, next_path(p), E4_O_RDONLY, 0, &file);

		if (r == 0) {
			r = e4_close(file);
		}
		if (r < 0) {
			return r;
		}
	}
	return (int64_t)count;
}

const struct engine engine_stat = {.name = "stat", .begin = begin, .step = step_stat, .end = free};
const struct engine engine_open = {.name = "open", .begin = begin, .step = step_open, .end = free};
