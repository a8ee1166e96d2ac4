/*
 * copy_object.c - one object out of the volume: file, link, device.
 *
 * Always:  a new name never follows what stood there: it is made with O_EXCL, after the old one was unlinked. So
 *          a link on the volume cannot lead a later file of the volume out of the folder.
 */
#include "common/copy.h"
#include "common/memory.h"
#include "common/report.h"
#include "common/xattrs.h"
#include "e4/copy_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

void copy_out_failed(struct copy_out *c, const char *src, int64_t err)
{
	progress_clear(&c->progress);
	c->status = volume_failed(c->v, src, err);
}

void copy_out_failed_there(struct copy_out *c, const char *src, int err, const char *what)
{
	char cause[128];
	char text[256];

	progress_clear(&c->progress);
	snprintf(text, sizeof(text), "%s: %s", what, strerror_r(-err, cause, sizeof(cause)));
	report("get", src, err, text);
	c->status = STATUS_FAILED;
}

/* --- metadata ---------------------------------------------------------------------------------------------------- */

/* What only root may set, an ordinary user goes without. */
static bool privileged(const char *name)
{
	return strncmp(name, "trusted.", 8) == 0 || strncmp(name, "security.", 9) == 0;
}

/* One line for all attributes of an object that cannot be set. proc names the object, and follows nothing. */
static void copy_xattrs(struct copy_out *c, struct e4_inode *ip, const char *src, const char *proc)
{
	struct xattrs x = {0};
	int err = 0;
	int64_t len = xattrs_list(&x, ip);

	if (len < 0) {
		copy_out_failed(c, src, len);
	}
	for (size_t i = 0; i < x.count; i++) {
		len = xattrs_get(&x, ip, x.names[i]);
		if (len < 0) {
			copy_out_failed(c, src, len);
		} else if (setxattr(proc, x.names[i], x.value, (size_t)len, 0) < 0 &&
			   (c->root || !privileged(x.names[i]))) {
			err = -errno;
		}
	}
	if (err < 0) {
		copy_out_failed_there(c, src, err, "extended attributes were not set");
	}
	xattrs_free(&x);
}

/* False where the owner stays the caller. */
static bool copy_owner(struct copy_out *c, const struct e4_stat *st, const char *src,
	const struct copy_place *to, int fd)
{
	int r = fd >= 0 ? fchown(fd, st->uid, st->gid)
			: fchownat(to->dir_fd, to->name, st->uid, st->gid, AT_SYMLINK_NOFOLLOW);

	if (r < 0 && c->root) {
		copy_out_failed_there(c, src, -errno, "the owner was not set");
	}
	return r == 0;
}

static void copy_mode(
	struct copy_out *c, mode_t mode, const char *src, const struct copy_place *to, int fd)
{
	int r = fd >= 0 ? fchmod(fd, mode) : fchmodat(to->dir_fd, to->name, mode, 0);

	if (r < 0) {
		copy_out_failed_there(c, src, -errno, "the mode was not set");
	}
}

static void copy_times(struct copy_out *c, const struct e4_stat *st, const char *src,
	const struct copy_place *to, int fd)
{
	const struct timespec times[2] = {
		{(time_t)st->atime.sec, (long)st->atime.nsec},
		{(time_t)st->mtime.sec, (long)st->mtime.nsec},
	};
	int r = fd >= 0 ? futimens(fd, times)
			: utimensat(to->dir_fd, to->name, times, AT_SYMLINK_NOFOLLOW);

	if (r < 0) {
		copy_out_failed_there(c, src, -errno, "times were not set");
	}
}

/* Attributes of a name go through a descriptor that opens nothing: /proc leads to the object itself. */
static void copy_xattrs_of(struct copy_out *c, struct e4_inode *ip, const char *src,
	const struct copy_place *to, int fd)
{
	int handle = fd >= 0 ? fd : openat(to->dir_fd, to->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char proc[64];

	if (handle < 0) {
		copy_out_failed_there(c, src, -errno, "extended attributes were not set");
		return;
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", handle);
	copy_xattrs(c, ip, src, proc);
	if (fd < 0) {
		(void)close(handle);
	}
}

/* The order matters: a new owner clears capabilities and setuid, attributes need a writable file, times come last. */
void copy_out_metadata(struct copy_out *c, struct e4_inode *ip, const struct e4_stat *st,
	const char *src, const struct copy_place *to, int fd, bool made)
{
	mode_t mode = st->mode & 07777;

	if (!c->preserve) {
		if (made && !S_ISLNK(st->mode)) {
			copy_mode(c, mode & 0777 & ~c->umask, src, to, fd);
		}
		return;
	}
	if (!copy_owner(c, st, src, to, fd)) {
		mode &= ~(mode_t)(S_ISUID | S_ISGID);
	}
	copy_xattrs_of(c, ip, src, to, fd);
	if (!S_ISLNK(st->mode)) {
		copy_mode(c, mode, src, to, fd);
	}
	copy_times(c, st, src, to, fd);
}

/* --- content ----------------------------------------------------------------------------------------------------- */

static void copy_content(
	struct copy_out *c, struct e4_inode *ip, const char *src, int fd, bool regular)
{
	struct copy_result result;
	struct e4_file *file;
	int r = e4_inode_open(ip, E4_O_RDONLY, &file);

	if (r < 0) {
		copy_out_failed(c, src, r);
		return;
	}
	result = regular ? copy_sparse(file, fd, c->buf, &c->progress)
			 : copy_stream(file, fd, c->buf, &c->progress);
	if (result.err < 0 && result.reading) {
		copy_out_failed(c, src, result.err);
	} else if (result.err < 0) {
		copy_out_failed_there(c, src, result.err, "the copy cannot be written");
	}
	(void)e4_close(file);
}

static void close_written(struct copy_out *c, const char *src, int fd)
{
	if (close(fd) < 0) {
		copy_out_failed_there(c, src, -errno, "the copy cannot be written");
	}
}

/* --- names ------------------------------------------------------------------------------------------------------- */

/* Makes the name once; 0, a descriptor, or a negative errno. */
static int make(struct copy_out *c, struct e4_inode *ip, const struct e4_stat *st,
	const struct copy_place *to)
{
	char target[65536];
	int64_t len;
	int r;

	if (S_ISREG(st->mode)) {
		r = openat(to->dir_fd, to->name,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} else if (S_ISLNK(st->mode)) {
		len = e4_inode_readlink(ip, target, sizeof(target) - 1);
		if (len < 0) {
			copy_out_failed(c, to->path, len);
			return -ECANCELED;
		}
		target[len < (int64_t)sizeof(target) ? len : (int64_t)sizeof(target) - 1] = '\0';
		r = symlinkat(target, to->dir_fd, to->name);
	} else {
		r = mknodat(to->dir_fd, to->name, (st->mode & S_IFMT) | 0600,
			makedev(st->rdev_major, st->rdev_minor));
	}
	return r < 0 ? -errno : r;
}

/* The folder of `path` below base_fd, by components, so that no link is followed. A descriptor or a negative errno. */
static int open_folder(int base_fd, const char *path)
{
	int fd = openat(base_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *slash;
	char *component;
	int next;

	while (fd >= 0 && (slash = strchr(path, '/')) != NULL) {
		component = memory_copy(path, (size_t)(slash - path));
		next = openat(fd, component, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0) {
			next = -errno;
		}
		free(component);
		(void)close(fd);
		if (next < 0) {
			return next;
		}
		fd = next;
		path = slash + 1;
	}
	return fd < 0 ? -errno : fd;
}

/* A further name of what was copied as `first`. */
static int make_link(struct copy_out *c, const char *first, const struct copy_place *to)
{
	const char *slash = strrchr(first, '/');
	int folder = open_folder(c->base_fd, first);
	int r;

	if (folder < 0) {
		return folder;
	}
	r = linkat(folder, slash != NULL ? slash + 1 : first, to->dir_fd, to->name, 0);
	r = r < 0 ? -errno : 0;
	(void)close(folder);
	return r;
}

void copy_out_object(struct copy_out *c, struct e4_inode *ip, const struct e4_stat *st,
	const char *src, const struct copy_place *to)
{
	const char *first = st->nlink > 1 ? inoset_text(&c->links, st->ino) : NULL;
	int r = first != NULL ? make_link(c, first, to) : make(c, ip, st, to);

	if (r == -EEXIST && unlinkat(to->dir_fd, to->name, 0) == 0) {
		r = first != NULL ? make_link(c, first, to) : make(c, ip, st, to);
	}
	if (r < 0) {
		if (r != -ECANCELED) {
			copy_out_failed_there(c, src, r, "the copy cannot be made");
		}
		return;
	}
	progress_add(&c->progress, 1, 0);
	if (first != NULL) {
		return;
	}
	if (st->nlink > 1) {
		(void)inoset_add(&c->links, st->ino, to->path);
	}
	if (S_ISREG(st->mode)) {
		copy_content(c, ip, src, r, true);
		copy_out_metadata(c, ip, st, src, to, r, true);
		close_written(c, src, r);
	} else {
		copy_out_metadata(c, ip, st, src, to, -1, true);
	}
}

void copy_out_file(struct copy_out *c, struct e4_inode *ip, const char *src, const char *name)
{
	const struct copy_place to = {c->base_fd, name, name};
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct stat there;
	bool regular;
	bool made = true;
	int fd;
	int r = e4_inode_stat(ip, &st);

	if (r < 0) {
		copy_out_failed(c, src, r);
		return;
	}
	fd = openat(c->base_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST) {
		made = false;
		fd = openat(c->base_fd, name, O_WRONLY | O_TRUNC | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &there) < 0) {
		copy_out_failed_there(c, src, -errno, "the copy cannot be made");
		if (fd >= 0) {
			(void)close(fd);
		}
		return;
	}
	regular = S_ISREG(there.st_mode);
	c->progress.total_bytes = st.size;
	copy_content(c, ip, src, fd, regular);
	progress_add(&c->progress, 1, 0);
	if (regular) {
		copy_out_metadata(c, ip, &st, src, &to, fd, made);
	}
	close_written(c, src, fd);
}
