/*
 * ours_walk.c - every entry of a volume, directory by directory.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	const struct stream *stream;
	uint32_t *dirs; /* to be read: inode numbers */
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

static int push(struct walk *w, uint32_t ino)
{
	if (w->count == w->room) {
		uint64_t room = w->room * 2 + 64;
		uint32_t *dirs = realloc(w->dirs, room * sizeof(*dirs));

		if (dirs == NULL) {
			return -ENOMEM;
		}
		w->dirs = dirs;
		w->room = room;
	}
	w->dirs[w->count++] = ino;
	return 0;
}

static int64_t read_dir(struct walk *w, struct e4_dir *dir)
{
	struct e4_dirent entry;
	int64_t seen = 0;
	int r;

	while ((r = e4_readdir(dir, &entry)) > 0) {
		if (strcmp(entry.name, ".") == 0 || strcmp(entry.name, "..") == 0) {
			continue;
		}
		seen++;
		if (entry.type == E4_FT_DIR) {
			r = push(w, entry.ino);
			if (r < 0) {
				break;
			}
		}
	}
	return r < 0 ? r : seen;
}

static int64_t visit(struct walk *w, uint32_t ino)
{
	struct e4_inode *ip;
	struct e4_dir *dir;
	int64_t r = e4_inode_get(w->stream->target->fs, ino, 0, &ip);

	if (r < 0) {
		return r;
	}
	r = e4_inode_opendir(ip, &dir);
	if (r == 0) {
		r = read_dir(w, dir);
		e4_closedir(dir);
	}
	e4_inode_put(ip, 1);
	return r;
}

/* At least `count` entries, and then to the end of the tree. */
static int64_t step(void *state, uint64_t count)
{
	struct walk *w = state;
	int64_t seen = 0;

	while (w->count > 0 || seen < (int64_t)count) {
		int64_t r = w->count == 0 ? push(w, E4_ROOT_INO) : 0;

		if (r == 0) {
			r = visit(w, w->dirs[--w->count]);
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

	free(w->dirs);
	free(w);
}

const struct engine engine_walk = {.name = "walk", .begin = begin, .step = step, .end = end};
