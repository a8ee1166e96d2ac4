/*
 * copy_tree.c - a directory and all that is below it, out of the volume.
 *
 * Always:  one descriptor stands in the folder being filled; each step down opens one component that is a real
 *          folder, each step up is `..`, compared with the folder that was left. Names that could lead elsewhere
 *          are refused. A folder's own mode and times are set when it is full.
 */
#include "common/listing.h"
#include "common/memory.h"
#include "common/path.h"
#include "common/report.h"
#include "e4/copy_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct level {
	struct e4_inode *ip;
	struct e4_stat st;
	struct listing list;
	size_t next;
	char *src, *path;
	dev_t dev; /* of the folder on the host */
	ino_t ino;
	bool made;
};

struct walk {
	struct copy_out *c;
	struct level *levels;
	size_t depth, capacity;
	int fd; /* the innermost level's folder */
};

/* Makes and opens the folder; a descriptor or a negative errno. */
static int open_made(const struct copy_place *to, bool *ret_made)
{
	int fd;

	*ret_made = mkdirat(to->dir_fd, to->name, 0700) == 0;
	if (!*ret_made && errno != EEXIST) {
		return -errno;
	}
	fd = openat(to->dir_fd, to->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Goes down into directory ip. A reference to it is kept by the level. */
static void enter(struct walk *w, struct e4_inode *ip, const struct e4_stat *st, const char *src,
	const struct copy_place *to)
{
	struct copy_out *c = w->c;
	struct level level = {.ip = ip, .st = *st};
	struct stat there;
	int fd;
	int r;

	if (!inoset_add(&c->entered, st->ino, NULL)) {
		copy_out_failed_there(c, src, -ELOOP, "this directory was copied already");
		return;
	}
	fd = open_made(to, &level.made);
	if (fd < 0 || fstat(fd, &there) < 0) {
		copy_out_failed_there(c, src, fd < 0 ? fd : -errno, "the folder cannot be made");
		if (fd >= 0) {
			(void)close(fd);
		}
		return;
	}
	r = e4_inode_get(c->v->fs, st->ino, 0, &level.ip);
	if (r < 0) {
		copy_out_failed(c, src, r);
		(void)close(fd);
		return;
	}
	level.dev = there.st_dev;
	level.ino = there.st_ino;
	level.src = memory_copy(src, strlen(src));
	level.path = memory_copy(to->path, strlen(to->path));
	r = listing_read(ip, false, &level.list);
	if (r < 0) {
		copy_out_failed(c, src, r);
	}
	if (w->depth > 0) {
		(void)close(w->fd);
	}
	w->fd = fd;
	w->levels = memory_room(w->levels, w->depth, &w->capacity, sizeof(*w->levels));
	w->levels[w->depth++] = level;
	progress_add(&c->progress, 1, 0);
}

/* The folder above, if it is still the one that was left; else the walk cannot go on. */
static int open_above(const struct walk *w)
{
	const struct level *above = &w->levels[w->depth - 2];
	struct stat there;
	int fd = openat(w->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		return -errno;
	}
	if (fstat(fd, &there) < 0 || there.st_dev != above->dev || there.st_ino != above->ino) {
		(void)close(fd);
		return -ESTALE;
	}
	return fd;
}

static void level_free(struct level *level)
{
	listing_free(&level->list);
	free(level->src);
	free(level->path);
	e4_inode_put(level->ip, 1);
}

/* Up again, then the full folder gets its mode and times: a mode without x would bar the way up. */
static void leave(struct walk *w)
{
	struct level *level = &w->levels[w->depth - 1];
	const struct copy_place to = {AT_FDCWD, level->path, level->path};
	int above = w->depth > 1 ? open_above(w) : -1;

	copy_out_metadata(w->c, level->ip, &level->st, level->src, &to, w->fd, level->made);
	(void)close(w->fd);
	if (w->depth > 1 && above < 0) {
		copy_out_failed_there(w->c, level->src, above, "the folder was moved meanwhile");
		while (w->depth > 1) { /* give up */
			level_free(&w->levels[--w->depth]);
		}
	}
	w->fd = above;
	level_free(&w->levels[--w->depth]);
}

static void copy_entry(struct walk *w, const struct listing_entry *entry, const char *src,
	const struct copy_place *to)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct e4_inode *ip;
	int r = e4_inode_get(w->c->v->fs, entry->ino, 0, &ip);

	if (r < 0) {
		copy_out_failed(w->c, src, r);
		return;
	}
	r = e4_inode_stat(ip, &st);
	if (r < 0) {
		copy_out_failed(w->c, src, r);
	} else if (S_ISDIR(st.mode)) {
		enter(w, ip, &st, src, to);
	} else {
		copy_out_object(w->c, ip, &st, src, to);
	}
	e4_inode_put(ip, 1);
}

static void step(struct walk *w)
{
	struct level *level = &w->levels[w->depth - 1];
	const struct listing_entry *entry;
	char *src;
	char *path;

	if (level->next >= level->list.count) {
		leave(w);
		return;
	}
	entry = &level->list.entries[level->next++];
	src = path_join(level->src, entry->name);
	if (!listing_name_safe(entry->name)) {
		progress_clear(&w->c->progress);
		report("get", src, -EUCLEAN, "refused: no file can have this name");
		w->c->status = STATUS_FAILED;
	} else {
		path = path_join(level->path, entry->name);
		/* entry and src outlive the call: entering a level moves the levels, not what they point to */
		copy_entry(w, entry, src, &(struct copy_place){w->fd, entry->name, path});
		free(path);
	}
	free(src);
}

void copy_out_tree(struct copy_out *c, struct e4_inode *ip, const char *src, const char *name)
{
	const struct copy_place to = {c->base_fd, name, name};
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct walk w = {.c = c, .fd = -1};
	int r = e4_inode_stat(ip, &st);

	if (r < 0) {
		copy_out_failed(c, src, r);
		return;
	}
	if (!S_ISDIR(st.mode)) {
		copy_out_object(c, ip, &st, src, &to);
		return;
	}
	enter(&w, ip, &st, src, &to);
	while (w.depth > 0) {
		step(&w);
	}
	free(w.levels);
}
