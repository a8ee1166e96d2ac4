/* digest.c - see digest.h. A queue of directories, no recursion. */
#include "digest.h"

#include "base/crc32c.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(struct digest_object *o, int64_t r)
{
	if (r < 0 && o->err == 0)
		o->err = (int32_t)r;
}

static void add_bytes(struct digest_object *o, const void *p, size_t n)
{
	o->crc = crc32c(o->crc, p, n);
}

static void add_stat(struct e4_inode *ip, struct digest_object *o, struct e4_stat *st)
{
	memset(st, 0, sizeof(*st));
	st->struct_size = sizeof(*st);
	note(o, e4_inode_stat(ip, st));
	add_bytes(o, st, sizeof(*st));
}

static void add_xattrs(struct e4_inode *ip, struct digest_object *o)
{
	static _Thread_local char names[65536];
	static _Thread_local char value[65536];
	int64_t n = e4_inode_listxattr(ip, names, sizeof(names));

	note(o, n);
	for (int64_t at = 0; at < n; at += (int64_t)strlen(names + at) + 1) {
		int64_t len = e4_inode_getxattr(ip, names + at, value, sizeof(value));

		note(o, len);
		add_bytes(o, names + at, strlen(names + at));
		if (len > 0)
			add_bytes(o, value, (size_t)len);
	}
}

static void add_content(struct e4_inode *ip, const struct e4_stat *st, struct digest_object *o)
{
	static _Thread_local char buf[65536];
	struct e4_file *file;
	int r = e4_inode_open(ip, E4_O_RDONLY, &file);
	uint64_t at = 0;

	note(o, r);
	if (r < 0)
		return;
	while (at < st->size) {
		int64_t data = e4_seek_data(file, at);

		if (data == -ENXIO)
			break;
		note(o, data);
		if (data < 0)
			break;
		/* A short read must not show in the sum, a hole must. */
		if ((uint64_t)data != at)
			add_bytes(o, &data, sizeof(data));
		at = (uint64_t)data;
		int64_t n = e4_pread(file, buf, sizeof(buf), at);
		note(o, n);
		if (n <= 0)
			break;
		add_bytes(o, buf, (size_t)n);
		at += (uint64_t)n;
	}
	(void)e4_close(file);
}

static struct digest_object *new_object(struct digest *d, const char *dir, const char *name)
{
	if (d->count == d->capacity) {
		d->capacity = d->capacity == 0 ? 256 : 2 * d->capacity;
		d->objects = realloc(d->objects, d->capacity * sizeof(*d->objects));
		if (d->objects == NULL)
			abort();
	}
	struct digest_object *o = &d->objects[d->count++];
	memset(o, 0, sizeof(*o));
	size_t size = strlen(dir) + strlen(name) + 2;
	o->path = malloc(size);
	if (o->path == NULL)
		abort();
	snprintf(o->path, size, "%s/%s", dir, name);
	return o;
}

/* True when it is a directory to be walked. */
static bool add_object(struct digest_object *o, struct e4_inode *ip)
{
	char target[65536 / 16];
	struct e4_stat st;

	add_stat(ip, o, &st);
	add_xattrs(ip, o);
	if ((st.mode & 0xF000) == E4_FT_REG)
		add_content(ip, &st, o);
	if ((st.mode & 0xF000) == E4_FT_LNK) {
		int64_t n = e4_inode_readlink(ip, target, sizeof(target));

		note(o, n);
		if (n > 0)
			add_bytes(o, target, (size_t)n);
	}
	return (st.mode & 0xF000) == E4_FT_DIR;
}

struct pending {
	uint32_t ino, object;
};

struct work {
	struct pending *list;
	uint32_t head, count, capacity;
};

static void work_add(struct work *w, uint32_t ino, uint32_t object)
{
	if (w->count == w->capacity) {
		w->capacity = w->capacity == 0 ? 64 : 2 * w->capacity;
		w->list = realloc(w->list, w->capacity * sizeof(*w->list));
		if (w->list == NULL)
			abort();
	}
	w->list[w->count++] = (struct pending){ino, object};
}

static void add_entry(struct digest *d, struct work *w, struct e4_inode *dir, uint32_t parent,
	const struct e4_dirent *de)
{
	struct digest_object *o = new_object(d, d->objects[parent].path, de->name);
	uint32_t index = d->count - 1;
	struct e4_inode *ip;
	int r = e4_inode_lookup(dir, de->name, de->name_len, &ip);

	note(o, r);
	if (r < 0)
		return;
	if (add_object(o, ip))
		work_add(w, e4_inode_number(ip), index);
	e4_inode_put(ip, 1);
}

static void list_dir(struct e4_fs *fs, struct digest *d, struct work *w, struct pending p)
{
	struct e4_inode *dir;
	struct e4_dir *stream;
	struct e4_dirent de;
	int r = e4_inode_get(fs, p.ino, 0, &dir);

	if (r < 0) {
		d->objects[p.object].dir_err = r;
		return;
	}
	r = e4_inode_opendir(dir, &stream);
	if (r == 0) {
		while ((r = e4_readdir(stream, &de)) == 1) {
			if (strcmp(de.name, ".") != 0 && strcmp(de.name, "..") != 0)
				add_entry(d, w, dir, p.object, &de);
		}
		(void)e4_closedir(stream);
	}
	d->objects[p.object].dir_err = r;
	e4_inode_put(dir, 1);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(
		((const struct digest_object *)a)->path, ((const struct digest_object *)b)->path);
}

void digest_walk(struct e4_fs *fs, struct digest *ret)
{
	struct work w = {0};

	memset(ret, 0, sizeof(*ret));
	(void)new_object(ret, "", "");
	work_add(&w, E4_ROOT_INO, 0);
	for (; w.head < w.count; w.head++)
		list_dir(fs, ret, &w, w.list[w.head]);
	free(w.list);
	qsort(ret->objects, ret->count, sizeof(*ret->objects), by_path);
}

void digest_free(struct digest *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		free(d->objects[i].path);
	free(d->objects);
	memset(d, 0, sizeof(*d));
}

static const struct digest_object *find(const struct digest *d, const char *path)
{
	struct digest_object key = {.path = (char *)(uintptr_t)path};

	return bsearch(&key, d->objects, d->count, sizeof(key), by_path);
}

/* Whether a directory above `path` failed, so that the object may be missing. */
static bool excused(const struct digest *seen, const char *path)
{
	char dir[8192];

	snprintf(dir, sizeof(dir), "%s", path);
	for (;;) {
		char *slash = strrchr(dir, '/');

		if (slash == NULL || dir[1] == '\0')
			return false;
		slash[slash == dir ? 1 : 0] = '\0';
		const struct digest_object *o = find(seen, dir);
		if (o != NULL && (o->err != 0 || o->dir_err != 0))
			return true;
	}
}

int digest_contradictions(const struct digest *whole, const struct digest *seen)
{
	int bad = 0;

	for (uint32_t i = 0; i < seen->count; i++) {
		const struct digest_object *s = &seen->objects[i];
		const struct digest_object *w = find(whole, s->path);

		if (w == NULL || (s->err == 0 && s->crc != w->crc)) {
			printf("%s: %s\n", s->path,
				w == NULL ? "was never there" : "differs without an error");
			bad++;
		}
	}
	for (uint32_t i = 0; i < whole->count; i++) {
		if (find(seen, whole->objects[i].path) == NULL &&
			!excused(seen, whole->objects[i].path)) {
			printf("%s: is missing without an error\n", whole->objects[i].path);
			bad++;
		}
	}
	return bad;
}
