/*
 * fd_geometry.c - what the kernel tells about a file or block device: ioctls, and the queue folder in sysfs.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  what cannot be found out is reported as its cautious value (a write cache is assumed, FUA is not).
 */
#include "base/math.h"
#include "blockdev/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TRANSFER_MAX 0x7FF00000u /* the kernel cuts a call at 0x7FFFF000 bytes */

/* Reads a small file; the text ends before its newline. False when there is none. */
static bool read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	ssize_t n = read(fd, text, size - 1);
	(void)close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/* A partition has no queue folder; its disk, one level up, has. */
static bool queue_text(int fd, const char *name, char *text, size_t size)
{
	struct stat st;
	char path[128];

	if (fstat(fd, &st) < 0 || !S_ISBLK(st.st_mode))
		return false;
	(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/queue/%s", major(st.st_rdev),
		minor(st.st_rdev), name);
	if (read_text(path, text, size))
		return true;
	(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../queue/%s", major(st.st_rdev),
		minor(st.st_rdev), name);
	return read_text(path, text, size);
}

uint64_t fd_queue_number(int fd, const char *name, uint64_t absent)
{
	char text[64];
	char *end;

	if (!queue_text(fd, name, text, sizeof(text)))
		return absent;
	errno = 0;
	uint64_t v = strtoull(text, &end, 10);
	return errno == 0 && end != text ? v : absent;
}

bool fd_queue_says(int fd, const char *name, const char *word)
{
	char text[64];

	return queue_text(fd, name, text, sizeof(text)) && strcmp(text, word) == 0;
}

static void geometry_of_block(const struct fd_dev *d, struct e4_geometry *ret)
{
	unsigned physical = 0;

	if (ioctl(d->fd, BLKPBSZGET, &physical) == 0)
		ret->physical_block = physical;
	ret->optimal_transfer = fd_queue_number(d->fd, "max_sectors_kb", 0) << 10;
	ret->write_cache = !fd_queue_says(d->fd, "write_cache", "write through");
	ret->fua = fd_queue_number(d->fd, "fua", 0) != 0 || !ret->write_cache;
	ret->discard = fd_queue_number(d->fd, "discard_max_bytes", 0) != 0;
	ret->write_zeroes = 1; /* BLKZEROOUT writes them out itself where the device cannot */
}

static void geometry_of_file(struct e4_geometry *ret)
{
	ret->physical_block = 4096;
	ret->write_cache = 1;
	ret->fua = 1; /* RWF_DSYNC of one range costs less than fdatasync of a file */
	ret->discard = 1;
	ret->write_zeroes = 1;
}

int fd_geometry(const struct fd_dev *d, struct e4_geometry *ret)
{
	int r = fd_size(d, &ret->size);

	if (r < 0)
		return r;
	ret->logical_block = 1;
	ret->dma_align = 1;
	ret->max_transfer = TRANSFER_MAX;
	ret->queue_depth = 1;
	ret->read_only = d->read_only;
	if (d->is_block)
		geometry_of_block(d, ret);
	else
		geometry_of_file(ret);
	if (d->sync) {
		ret->write_cache = 0;
		ret->fua = 1;
	}
	return 0;
}

static bool same_file(const char *path, const struct stat *st)
{
	struct stat other;

	return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Whether one loop device has the file; `backing` is scratch. */
static bool loop_has(const char *loop, const struct stat *st, char *backing, size_t size)
{
	char attr[300];

	if (strncmp(loop, "loop", 4) != 0)
		return false;
	(void)snprintf(attr, sizeof(attr), "/sys/block/%s/loop/backing_file", loop);
	return read_text(attr, backing, size) && same_file(backing, st);
}

/* No sysfs: no loop devices that we could see. */
static bool any_loop_has(const struct stat *st, char *backing, size_t size)
{
	DIR *dir = opendir("/sys/block");
	const struct dirent *e;
	bool found = false;

	if (dir == NULL)
		return false;
	/* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own */
	while (!found && (e = readdir(dir)) != NULL)
		found = loop_has(e->d_name, st, backing, size);
	(void)closedir(dir);
	return found;
}

int fd_refuse_loop(struct env *env, int fd, const char *path)
{
	char *backing = mem_zalloc(env, PATH_MAX);
	struct stat st;
	bool found;

	if (backing == NULL || fstat(fd, &st) < 0) {
		mem_free(env, backing, PATH_MAX);
		return fail(env, E4_WHY_DEV_LOOP_UNKNOWN, .err = backing == NULL ? -ENOMEM : -errno,
			.name = path);
	}
	found = any_loop_has(&st, backing, PATH_MAX);
	mem_free(env, backing, PATH_MAX);
	return found ? fail(env, E4_WHY_DEV_LOOP, .name = path) : 0;
}
