/*
 * fd.c - opening a file or block device with the ownership that its use needs.
 *
 * Owns:    the descriptor and, through it, the lock.
 * Locks:   an open-file-description lock on a regular file opened for writing: it conflicts within one process too, and goes
 *          with the descriptor.
 * Always:  a read-only open writes nothing, locks nothing, and is stopped by no lock.
 */
#include "blockdev/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int take_lock(struct env *env, int fd, const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	if (errno == EAGAIN || errno == EACCES)
		return fail(env, E4_WHY_DEV_LOCKED, .name = path);
	return fail(env, E4_WHY_DEV_LOCK, .err = -errno, .name = path);
}

static int own_file(struct env *env, int fd, const char *path)
{
	int r = take_lock(env, fd, path);

	return r < 0 ? r : fd_refuse_loop(env, fd, path);
}

/* open(2) until no signal interrupts it. */
static int open_path(const char *path, int flags)
{
	int fd;

	do {
		fd = open(path, flags | O_CLOEXEC);
	} while (fd < 0 && errno == EINTR);
	return fd >= 0 ? fd : -errno;
}

/* O_EXCL means something on a block device only, so what the path is has to be known first. O_NONBLOCK: a fifo must not hang us. */
static int open_owned(const char *path, bool writable, int extra)
{
	struct stat st;
	int flags = (writable ? O_RDWR : O_RDONLY) | O_NONBLOCK | extra;

	if (writable && stat(path, &st) == 0 && S_ISBLK(st.st_mode))
		flags |= O_EXCL;
	return open_path(path, flags);
}

static int raise_open(struct env *env, int err, int extra, const char *path)
{
	if (err == -EBUSY)
		return fail(env, E4_WHY_DEV_BUSY, .name = path);
	if (err == -EINVAL && (extra & O_DIRECT))
		return fail(env, E4_WHY_DEV_DIRECT_REFUSED, .name = path);
	return fail(env, E4_WHY_DEV_OPEN, .err = err, .name = path);
}

static int examine(struct env *env, const struct open_request *req, struct fd_dev *d)
{
	struct stat st;

	if (fstat(d->fd, &st) < 0)
		return fail(env, E4_WHY_DEV_STAT, .err = -errno, .name = req->path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode) && !(req->char_too && S_ISCHR(st.st_mode)))
		return fail(env, E4_WHY_DEV_TYPE, .name = req->path);
	d->is_block = S_ISBLK(st.st_mode);
	int r = fd_size(d, &d->size);
	if (r < 0)
		return fail(env, E4_WHY_DEV_SIZE_UNKNOWN, .err = r, .name = req->path);
	return req->writable && !d->is_block ? own_file(env, d->fd, req->path) : 0;
}

int fd_open(struct env *env, const struct open_request *req, int extra, struct fd_dev *ret)
{
	struct fd_dev d = {.env = env, .read_only = !req->writable, .sync = req->sync};
	int r;

	d.fd = open_owned(req->path, req->writable, extra);
	if (d.fd < 0)
		return raise_open(env, d.fd, extra, req->path);
	r = examine(env, req, &d);
	if (r < 0) {
		fd_close(&d);
		return r;
	}
	*ret = d;
	return 0;
}

void fd_close(struct fd_dev *d)
{
	/* Nothing can be done about a failure: what had to be durable was flushed, with its own answer. */
	(void)close(d->fd);
	d->fd = -1;
}

int fd_size(const struct fd_dev *d, uint64_t *ret)
{
	struct stat st;
	uint64_t size = 0;

	if (d->is_block) {
		if (ioctl(d->fd, BLKGETSIZE64, &size) < 0)
			return -errno;
	} else {
		if (fstat(d->fd, &st) < 0)
			return -errno;
		size = (uint64_t)st.st_size;
	}
	*ret = size;
	return 0;
}
