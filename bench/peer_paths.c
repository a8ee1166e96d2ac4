/*
 * peer_paths.c - the kernel's stat, and open with close, from the root of its mount.
 */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
	struct stat st;

	for (uint64_t i = 0; i < count; i++) {
		if (fstatat(p->stream->fd, next_path(p), &st, 0) < 0) {
			return -errno;
		}
	}
	return (int64_t)count;
}

static int64_t step_open(void *state, uint64_t count)
{
	struct paths *p = state;

	for (uint64_t i = 0; i < count; i++) {
		int fd = openat(p->stream->fd, next_path(p), O_RDONLY);

		if (fd < 0) {
			return -errno;
		}
		close(fd);
	}
	return (int64_t)count;
}

const struct engine engine_fstatat = {.name = "stat", .begin = begin, .step = step_stat, .end = free};
const struct engine engine_openat = {.name = "open", .begin = begin, .step = step_open, .end = free};
