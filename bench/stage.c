/*
 * stage.c - getting a case ready: volume, library, rival.
 *
 * Always:  both sides go over the same bytes with the same sequence of places; threads have sequences of their own.
 */
#include "cases.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PATHS = 4096, /* of files that are looked up in turn */
};

static int failed(const char *what, int err)
{
	report("compare", what, err, NULL);
	return err;
}

static const char *backend_of(const struct case_request *req)
{
	if (req->backend != NULL) {
		return req->backend;
	}
	if (req->which->kind == LAB_FILE) {
		return "pmem";
	}
	return BENCH_HAVE_URING ? "uring" : "direct";
}

/* Files in random order, each once in a round unless there are fewer. */
static int list_files(struct path_list *list, const struct case_request *req)
{
	struct pattern p = pattern_init(1, req->amount, true, req->seed);
	char path[LAB_PATH_MAX];
	int r = 0;

	list->count = PATHS;
	list->paths = calloc(PATHS, sizeof(*list->paths));
	if (list->paths == NULL) {
		return -ENOMEM;
	}
	for (unsigned i = 0; r == 0 && i < PATHS; i++) {
		lab_tree_path(pattern_next(&p), path);
		list->paths[i] = strdup(path);
		r = list->paths[i] != NULL ? 0 : -ENOMEM;
	}
	return r;
}

/* What debugfs has to do for a walk. */
static int write_commands(struct stage *s, struct lab *lab, const struct case_request *req)
{
	char path[LAB_PATH_MAX];
	FILE *f;
	int r;

	snprintf(s->commands, sizeof(s->commands), "%.100s/commands", lab->dir);
	r = janitor_note(&lab->janitor, JANITOR_UNLINK, s->commands);
	if (r < 0) {
		return r;
	}
	f = fopen(s->commands, "we");
	if (f == NULL) {
		return -errno;
	}
	fprintf(f, "ls -p /\nls -p /lost+found\nls -p /tree\n");
	for (uint64_t i = 0; i < req->amount; i += LAB_TREE_FANOUT) {
		lab_tree_path(i, path);
		*strrchr(path, '/') = '\0';
		fprintf(f, "ls -p /%s\n", path);
	}
	return fclose(f) == 0 ? 0 : -errno;
}

static int rival_program(struct stage *s, struct lab *lab, const struct case_request *req)
{
	/* Entries as a walk counts them: files, their folders, /tree, /lost+found. */
	s->list.count = req->amount + (req->amount + LAB_TREE_FANOUT - 1) / LAB_TREE_FANOUT + 2;
	if (req->peer->ground == GROUND_FIND) {
		memcpy(s->argv, (const char *[]){"find", s->volume->mnt, "-xdev"},
			3 * sizeof(s->argv[0]));
		return 0;
	}
	memcpy(s->argv, (const char *[]){"debugfs", "-f", s->commands, s->volume->dev},
		4 * sizeof(s->argv[0]));
	return write_commands(s, lab, req);
}

static int rival_open(struct stage *s, const char *path, int flags)
{
	s->fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	return s->fd >= 0 ? 0 : failed(path, -errno);
}

/* Where on the device the file begins. */
static int file_address(const struct target *t, uint64_t *ret)
{
	struct e4_mapping m = {.struct_size = sizeof(m)};
	int r = e4_map_begin(t->file, 0, 4096, E4_MAP_READ, 0, &m);

	if (r < 0) {
		return r;
	}
	/* If the file does not lie in one run, the span may pass its end: the device is as random there. */
	*ret = m.addr <= t->geo.size - t->size ? m.addr : t->geo.size - t->size;
	return e4_map_end(&m, 0, 0);
}

/* The longest piece of the file that is one run of memory, so that a copy needs no more than a pointer. */
static int find_memory(
	const struct target *t, struct stream *ours, struct stream *theirs, uint64_t *ret_len)
{
	uint64_t longest = 0;

	for (uint64_t at = 0; at < t->size;) {
		const void *p;
		uint64_t len;
		int r = e4_dax_map(t->file, at, t->size - at, &p, &len);

		if (r < 0) {
			return r;
		}
		if (len > longest) {
			longest = len;
			ours->base = at;
			theirs->memory = p;
		}
		r = e4_dax_unmap(t->file, p, len);
		if (r < 0) {
			return r;
		}
		at += len;
	}
	*ret_len = longest;
	return 0;
}

static int rival_path(struct stage *s, const char *under, int flags)
{
	char path[LAB_PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s%s", s->volume->mnt, under);
	return rival_open(s, path, flags);
}

/* Sets what one stream of each side has in common with those of the other threads. */
static int rival_ready(struct stage *s, struct lab *lab, const struct case_request *req,
	struct stream *ours, struct stream *theirs, uint64_t *ret_span)
{
	int r;

	*ret_span = s->target.size;
	switch (req->peer->ground) {
	case GROUND_FILE:
		return rival_path(s, "/data", O_DIRECT);
	case GROUND_DEVICE:
		r = file_address(&s->target, &theirs->base);
		return r < 0 ? r : rival_open(s, s->volume->dev, O_DIRECT);
	case GROUND_MEMORY:
		return find_memory(&s->target, ours, theirs, ret_span);
	case GROUND_TREE:
		return rival_path(s, "", O_DIRECTORY);
	case GROUND_FIND:
	case GROUND_DEBUGFS:
		return rival_program(s, lab, req);
	case GROUND_MOUNT:
		return 0;
	}
	return -EINVAL;
}

static int streams_ready(struct stage *s, struct lab *lab, const struct case_request *req)
{
	const struct bench_case *c = req->which;
	struct stream ours = {.target = &s->target,
		.fd = -1,
		.depth = c->depth,
		.list = &s->list,
		.device = s->spec};
	struct stream theirs = ours;
	uint64_t span;
	int r = rival_ready(s, lab, req, &ours, &theirs, &span);

	s->ours = calloc(req->threads, sizeof(*s->ours));
	s->theirs = calloc(req->threads, sizeof(*s->theirs));
	if (r == 0 && (s->ours == NULL || s->theirs == NULL)) {
		r = -ENOMEM;
	}
	theirs.fd = s->fd;
	theirs.argv = s->argv;
	theirs.device = s->volume->dev;
	theirs.mnt = s->volume->mnt;
	for (unsigned i = 0; r == 0 && i < req->threads; i++) {
		if (c->bs != 0) {
			ours.pattern = pattern_init(c->bs, span, c->random, req->seed + i);
			theirs.pattern = ours.pattern;
		}
		if (c->content == LAB_TREE) {
			ours.base = theirs.base = (uint64_t)i * (PATHS / req->threads);
		}
		s->ours[i] = ours;
		s->theirs[i] = theirs;
	}
	return r;
}

static bool needs_paths(const struct case_request *req)
{
	return req->which->ours == &engine_stat || req->which->ours == &engine_open;
}

/* The library's side. A case of mounting opens for itself. */
static int library_ready(struct stage *s, const struct case_request *req)
{
	const struct bench_case *c = req->which;
	int r = 0;

	snprintf(s->spec, sizeof(s->spec), "%.7s:%s", backend_of(req), s->volume->dev);
	if (c->content == LAB_DATA) {
		return target_open(&s->target, "compare", s->spec, "/data", 1, E4_O_DIRECT);
	}
	if (c->ours != &engine_mount) {
		r = target_open(&s->target, "compare", s->spec, NULL, 1, 0);
	}
	return r == 0 && needs_paths(req) ? list_files(&s->list, req) : r;
}

int stage_open(struct stage *s, struct lab *lab, const struct case_request *req)
{
	const struct bench_case *c = req->which;
	int r;

	*s = (struct stage){.fd = -1};
	r = lab_volume(lab, c->kind, c->content, req->amount, &s->volume);
	if (r < 0) {
		return failed("the volume", r);
	}
	r = library_ready(s, req);
	if (r == 0) {
		r = streams_ready(s, lab, req);
	}
	if (r < 0) {
		stage_close(s);
	}
	return r;
}

void stage_close(struct stage *s)
{
	target_close(&s->target);
	if (s->fd >= 0) {
		close(s->fd);
	}
	for (uint64_t i = 0; s->list.paths != NULL && i < s->list.count; i++) {
		free(s->list.paths[i]);
	}
	free(s->list.paths);
	if (s->commands[0] != '\0') {
		unlink(s->commands);
	}
	free(s->ours);
	free(s->theirs);
	*s = (struct stage){.fd = -1};
}
