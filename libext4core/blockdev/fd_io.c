/*
 * fd_io.c - plain system calls on a file or block device, repeated until all is done.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  0 means that every byte was moved.
 */
#include "base/math.h"
#include "blockdev/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define BATCH    16          /* pieces of one system call */
#define CALL_MAX 0x7FFFF000u /* the kernel moves no more at once */

/* The next pieces as the kernel wants them; their sum in *ret_len. The cursor moves only when bytes were really moved. */
static int gather(struct iov_cursor it, struct iovec *vec, uint64_t *ret_len)
{
	uint64_t sum = 0;
	int n = 0;

	while (n < BATCH) {
		uint64_t len;
		void *p = iov_take(&it, CALL_MAX - sum, &len);

		if (len == 0)
			break;
		vec[n++] = (struct iovec){.iov_base = p, .iov_len = (size_t)len};
		sum += len;
	}
	*ret_len = sum;
	return n;
}

static void advance(struct iov_cursor *it, uint64_t len)
{
	while (len > 0) {
		uint64_t n;

		(void)iov_take(it, len, &n);
		len -= n;
	}
}

int fd_readv(int fd, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, int rwf)
{
	struct iov_cursor it = {.iov = iov, .count = iov_count};
	struct iovec vec[BATCH];

	for (;;) {
		uint64_t len;
		int n = gather(it, vec, &len);

		if (n == 0)
			return 0;
		ssize_t got = n == 1 && rwf == 0
				      ? pread(fd, vec[0].iov_base, vec[0].iov_len, (off_t)offset)
				      : preadv2(fd, vec, n, (off_t)offset, rwf);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : BLOCKDEV_SHORT;
		offset += (uint64_t)got;
		advance(&it, (uint64_t)got);
	}
}

int fd_writev(int fd, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, int rwf)
{
	struct iov_cursor it = {.iov = iov, .count = iov_count};
	struct iovec vec[BATCH];
	bool sync_after = false;

	for (;;) {
		uint64_t len;
		int n = gather(it, vec, &len);

		if (n == 0)
			return sync_after && fdatasync(fd) != 0 ? -errno : 0;
		ssize_t put = n == 1 && rwf == 0
				      ? pwrite(fd, vec[0].iov_base, vec[0].iov_len, (off_t)offset)
				      : pwritev2(fd, vec, n, (off_t)offset, rwf);
		if (put < 0 && errno == EINTR)
			continue;
		/* A kernel, or a layer below it, that knows no RWF_DSYNC: the promise is kept the long way. */
		if (put < 0 && errno == EOPNOTSUPP && rwf == RWF_DSYNC) {
			rwf = 0;
			sync_after = true;
			continue;
		}
		if (put <= 0)
			return put < 0 ? -errno : BLOCKDEV_SHORT;
		offset += (uint64_t)put;
		advance(&it, (uint64_t)put);
	}
}

int fd_flush(const struct fd_dev *d)
{
	/* Never repeated after an error: the kernel reports a failed write-back once, and a second call would hide it. */
	return fdatasync(d->fd) == 0 ? 0 : -errno;
}

static int range_ioctl(int fd, unsigned long what, uint64_t offset, uint64_t len)
{
	uint64_t range[2] = {offset, len};

	return ioctl(fd, what, range) == 0 ? 0 : -errno;
}

static int range_fallocate(int fd, int mode, uint64_t offset, uint64_t len)
{
	int r;

	do {
		r = fallocate(fd, mode | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)len);
	} while (r < 0 && errno == EINTR);
	return r == 0 ? 0 : -errno;
}

int fd_discard(const struct fd_dev *d, uint64_t offset, uint64_t len)
{
	if (d->is_block)
		return range_ioctl(d->fd, BLKDISCARD, offset, len);
	return range_fallocate(d->fd, FALLOC_FL_PUNCH_HOLE, offset, len);
}

int fd_write_zeroes(const struct fd_dev *d, uint64_t offset, uint64_t len)
{
	if (d->is_block)
		return range_ioctl(d->fd, BLKZEROOUT, offset, len);
	int r = range_fallocate(d->fd, FALLOC_FL_ZERO_RANGE, offset, len);
	if (r == -EOPNOTSUPP)
		r = range_fallocate(d->fd, FALLOC_FL_PUNCH_HOLE, offset, len);
	return r;
}
