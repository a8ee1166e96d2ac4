/*
 * file.c - the `file` backend: buffered I/O through the kernel's page cache, on a regular file or a block device.
 *
 * Owns:    its descriptor.
 * Locks:   none.
 * Always:  with the key `sync`, or FUA, a write is durable when it returns (RWF_DSYNC).
 */
#include "blockdev/fd.h"

#include <errno.h>
#include <sys/uio.h>

static int file_geometry(void *ctx, struct e4_geometry *ret)
{
	const struct fd_dev *d = ctx;
	int r = fd_geometry(d, ret);

	/* The page cache is a write cache too, whatever the device below has; RWF_DSYNC writes one range through it. */
	ret->write_cache = !d->sync;
	ret->fua = 1;
	return r;
}

static int file_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct fd_dev *d = ctx;

	return fd_readv(d->fd, offset, iov, iov_count, 0);
}

static int file_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct fd_dev *d = ctx;
	bool durable = d->sync || (flags & E4_BLOCKDEV_FUA);

	return fd_writev(d->fd, offset, iov, iov_count, durable ? RWF_DSYNC : 0);
}

static int file_flush(void *ctx)
{
	return fd_flush(ctx);
}

static int file_discard(void *ctx, uint64_t offset, uint64_t len)
{
	return fd_discard(ctx, offset, len);
}

static int file_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	return fd_write_zeroes(ctx, offset, len);
}

static void file_close(void *ctx)
{
	struct fd_dev *d = ctx;

	fd_close(d);
	mem_free(d->env, d, sizeof(*d));
}

static const struct e4_blockdev_ops file_ops = {
	.struct_size = sizeof(file_ops),
	.geometry = file_geometry,
	.read = file_read,
	.write = file_write,
	.flush = file_flush,
	.close = file_close,
	.discard = file_discard,
	.write_zeroes = file_write_zeroes,
};

int backend_file_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	struct fd_dev *d = mem_zalloc(env, sizeof(*d));

	if (d == NULL)
		return fail(env, E4_WHY_FILE_MEMORY, .name = req->path);
	int r = fd_open(env, req, 0, d);
	if (r < 0) {
		mem_free(env, d, sizeof(*d));
		return r;
	}
	*ret = (struct backend){.ops = file_ops, .ctx = d, .kind = "file"};
	return 0;
}
