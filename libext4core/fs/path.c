/*
 * path.c - from a path to an inode, one component at a time.
 *
 * Owns:    the text still to be walked, while a path is resolved.
 * Locks:   none held across a component.
 * Always:  ".." at the root stays there; at most FS_SYMLINKS_MAX links are followed; work is bounded by the lengths of the texts.
 */
#include "base/math.h"
#include "dir/dir.h"
#include "file/file.h"
#include "fs/fs_impl.h"

#include <errno.h>
#include <string.h>

/* A walk: the inode reached so far, and the rest of the text. */
struct walk {
	struct e4_fs *fs;
	struct inode *at;
	bool borrowed; /* at is the root, or where the walk began: held by others, so not by the walk */
	const char *rest; /* in the caller's path, or in own once a link was met */
	char *own; /* WALK_TEXT_SIZE bytes, then FS_PATH_MAX for a link's target; NULL before the first link */
	uint32_t links;
	uint32_t flags;
};

#define WALK_TEXT_SIZE (2 * FS_PATH_MAX)

int fs_lookup(struct e4_fs *fs, struct inode *dir, const char *name, uint32_t len, struct inode **ret)
{
	inum_t ino;
	uint8_t type;
	int r = dir_lookup(dir, name, len, &ino, &type);

	if (r < 0)
		return r;
	if (r == 0)
		return -ENOENT;
	r = inode_get(fs->inodes, ino, 0, ret);
	/* An entry that names a free inode is damage, not a handle that went stale. */
	if (r == -ESTALE)
		return fail(fs->env, E4_WHY_ENTRY_FREE_INODE, .ino = dir->ino, .found = ino);
	return r;
}

/* The next component of the text: its length, 0 at the end. Skips slashes. */
static size_t next_component(struct walk *w)
{
	w->rest += strspn(w->rest, "/");
	return strcspn(w->rest, "/");
}

/* True when something, if only a slash, follows the component: then it must be a directory. */
static bool more_follows(const struct walk *w, size_t len)
{
	return w->rest[len] == '/';
}

static bool is_last(const struct walk *w, size_t len)
{
	const char *rest = w->rest + len;

	return rest[strspn(rest, "/")] == '\0';
}

/* Moves to `to`, whose reference is taken over. */
static void walk_to(struct walk *w, struct inode *to)
{
	if (!w->borrowed)
		inode_put(w->at, 1);
	w->at = to;
	w->borrowed = false;
}

static void walk_to_root(struct walk *w)
{
	walk_to(w, w->fs->root);
	w->borrowed = true;
}

static int own_text(struct walk *w)
{
	if (w->own == NULL)
		w->own = mem_alloc_aligned(w->fs->env, WALK_TEXT_SIZE + FS_PATH_MAX, sizeof(void *));
	if (w->own == NULL)
		return fail(w->fs->env, E4_WHY_PATH_NOMEM, .expected = WALK_TEXT_SIZE + FS_PATH_MAX);
	return 0;
}

/* Puts the link's target in front of what follows the component of length len. */
static int expand_link(struct walk *w, struct inode *link, size_t len)
{
	const char *rest = w->rest + len;
	size_t rest_len = strlen(rest);
	int r = own_text(w);

	if (r < 0)
		return r;
	if (++w->links > FS_SYMLINKS_MAX)
		return -ELOOP;
	char *target = w->own + WALK_TEXT_SIZE;
	int64_t n = file_readlink(link, target, FS_PATH_MAX);
	if (n < 0)
		return (int)n;
	if (n == 0)
		return -ENOENT;
	if ((uint64_t)n >= FS_PATH_MAX || (size_t)n + rest_len >= WALK_TEXT_SIZE)
		return -ENAMETOOLONG;
	if (memchr(target, '\0', (size_t)n) != NULL)
		n = (int64_t)strlen(target);
	memmove(w->own + n, rest, rest_len + 1);
	memcpy(w->own, target, (size_t)n);
	w->rest = w->own;
	if (target[0] == '/')
		walk_to_root(w);
	return 0;
}

/* Takes one component of length len. */
static int step(struct walk *w, size_t len)
{
	const char *name = w->rest;
	struct inode *child;

	if (!inode_is(w->at, INODE_DIR))
		return -ENOTDIR;
	if (len > 255)
		return -ENAMETOOLONG;
	if (len == 1 && name[0] == '.') {
		w->rest += len;
		return 0;
	}
	if (len == 2 && name[0] == '.' && name[1] == '.' && w->at->ino == INODE_ROOT) {
		w->rest += len;
		return 0;
	}
	int r = fs_lookup(w->fs, w->at, name, (uint32_t)len, &child);
	if (r < 0)
		return r;
	bool follow = !is_last(w, len) || more_follows(w, len) || (w->flags & E4_PATH_NOFOLLOW) == 0;
	if (inode_is(child, INODE_LNK) && follow) {
		r = expand_link(w, child, len);
		inode_put(child, 1);
		return r;
	}
	if (more_follows(w, len) && !inode_is(child, INODE_DIR)) {
		inode_put(child, 1);
		return -ENOTDIR;
	}
	w->rest += len;
	walk_to(w, child);
	return 0;
}

static int walk_all(struct walk *w)
{
	size_t len;

	while ((len = next_component(w)) > 0) {
		int r = step(w, len);

		if (r < 0)
			return r;
	}
	return 0;
}

int fs_path_lookup(
	struct e4_fs *fs, struct inode *start, const char *path, uint32_t flags, struct inode **ret)
{
	struct walk w = {.fs = fs, .flags = flags, .rest = path, .at = fs->root, .borrowed = true};
	size_t len = strnlen(path, FS_PATH_MAX);

	if (len == 0)
		return -ENOENT;
	if (len == FS_PATH_MAX)
		return -ENAMETOOLONG;
	if (start != NULL && path[0] != '/')
		w.at = start;
	int r = walk_all(&w);
	mem_free(fs->env, w.own, WALK_TEXT_SIZE + FS_PATH_MAX);
	if (r == 0 && w.borrowed)
		inode_hold(w.at);
	else if (r < 0 && !w.borrowed)
		inode_put(w.at, 1);
	if (r == 0)
		*ret = w.at;
	return r;
}
