/*
 * peer_walk.c - every entry of the kernel's mount: in this process, and by programs that people use for it.
 */
#include "engine.h"
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct walk {
	const struct stream *stream;
	char **dirs; /* to be read: paths from the root */
	uint64_t count, room;
};

static int begin(const struct stream *stream, void **ret)
{
	struct walk *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		return -ENOMEM;
	}
	w->stream = stream;
	*ret = w;
	return 0;
}

static int push(struct walk *w, const char *parent, const char *name)
{
	char *path = NULL;

	if (w->count == w->room) {
		uint64_t room = w->room * 2 + 64;
		char **dirs = realloc(w->dirs, room * sizeof(*dirs));

		if (dirs == NULL) {
			return -ENOMEM;
		}
		w->dirs = dirs;
		w->room = room;
	}
	if (asprintf(&path, "%s/%s", parent, name) < 0) {
		return -ENOMEM;
	}
	w->dirs[w->count++] = path;
	return 0;
}

/* NULL at the end, errno 0, or after an error. */
static struct dirent *next_entry(DIR *dir)
{
	errno = 0;
	return readdir(dir); /* NOLINT(concurrency-mt-unsafe): the stream is this thread's */
}

static int64_t read_dir(struct walk *w, const char *path, DIR *dir)
{
	struct dirent *entry;
	int64_t seen = 0;
	int r = 0;

	while (r == 0 && (entry = next_entry(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		seen++;
		if (entry->d_type == DT_DIR) {
			r = push(w, path, entry->d_name);
		}
	}
	if (r == 0 && errno != 0) {
		r = -errno;
	}
	return r < 0 ? r : seen;
}

static int64_t visit(struct walk *w, const char *path)
{
	int fd = openat(w->stream->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int64_t r = -errno;

	if (dir == NULL) {
		if (fd >= 0) {
			close(fd);
		}
		return r;
	}
	r = read_dir(w, path, dir);
	closedir(dir);
	return r;
}

static int64_t step(void *state, uint64_t count)
{
	struct walk *w = state;
	int64_t seen = 0;

	while (w->count > 0 || seen < (int64_t)count) {
		int64_t r = w->count == 0 ? push(w, ".", ".") : 0;

		if (r == 0) {
			char *path = w->dirs[--w->count];

			r = visit(w, path);
			free(path);
		}
		if (r < 0) {
			return r;
		}
		seen += r;
	}
	return seen;
}

static void end(void *state)
{
	struct walk *w = state;

	while (w->count > 0) {
		free(w->dirs[--w->count]);
	}
	free(w->dirs);
	free(w);
}

/* A program's run ends with the tree; its entries are known. */
static int64_t step_program(void *state, uint64_t count)
{
	struct walk *w = state;
	uint64_t done = 0;

	while (done < count) {
		int r = program_run(w->stream->argv);

		if (r < 0) {
			return r;
		}
		done += w->stream->list->count;
	}
	return (int64_t)done;
}

const struct engine engine_getdents = {.name = "readdir", .begin = begin, .step = step, .end = end};
const struct engine engine_program = {
	.name = "program", .begin = begin, .step = step_program, .end = end};
