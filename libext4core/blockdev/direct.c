/*
 * direct.c - the `direct` backend: O_DIRECT with preadv2 and pwritev2 on a file or block device.
 *
 * Owns:    its descriptor.
 * Locks:   none.
 * Always:  where direct I/O cannot be had, opening fails; it never turns into buffered I/O in silence.
 */
#include "blockdev/direct.h"

#include "base/math.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define DIOALIGN_MASK 0x2000u /* STATX_DIOALIGN, newer than the headers of Debian 12 */
#define DIOALIGN_MEM                                                                               \
	38 /* stx_dio_mem_align, in 32-bit words from the start of struct statx (offset 0x98) */
#define DIOALIGN_OFFSET 39 /* stx_dio_offset_align */
#define SECTOR_FALLBACK 4096

/* What statx tells; false when this kernel or file system does not. An answer of 0 means "no direct I/O". */
static bool ask_statx(int fd, uint32_t *ret_mem, uint32_t *ret_sector)
{
	struct statx stx;
	uint32_t words[sizeof(stx) / sizeof(uint32_t)];

	memset(&stx, 0, sizeof(stx));
	if (statx(fd, "", AT_EMPTY_PATH, DIOALIGN_MASK, &stx) < 0 || !(stx.stx_mask & DIOALIGN_MASK))
		return false;
	memcpy(words, &stx, sizeof(words));
	*ret_mem = words[DIOALIGN_MEM];
	*ret_sector = words[DIOALIGN_OFFSET];
	return true;
}

/* Whether the file takes a direct read of `sector` bytes. An empty file answers 0 bytes, which says yes as well. */
static bool takes(const struct fd_dev *file, void *mem, uint32_t sector)
{
	ssize_t n;

	do {
		n = pread(file->fd, mem, sector, 0);
	} while (n < 0 && errno == EINTR);
	return n >= 0;
}

/* The smallest sector that works, found by reading. */
static int probe(struct fd_dev *file, uint32_t *ret_mem, uint32_t *ret_sector)
{
	void *mem = mem_alloc_aligned(file->env, SECTOR_FALLBACK, SECTOR_FALLBACK);
	uint32_t sector = 512;

	if (mem == NULL)
		return -ENOMEM;
	while (sector <= SECTOR_FALLBACK && !takes(file, mem, sector))
		sector *= 2;
	mem_free(file->env, mem, SECTOR_FALLBACK);
	*ret_sector = *ret_mem = sector;
	return sector <= SECTOR_FALLBACK ? 0 : -EINVAL;
}

static int find_alignment(struct direct_dev *d)
{
	int logical = 0;

	if (ask_statx(d->file.fd, &d->dma_align, &d->sector))
		return is_pow2_u64(d->dma_align) && is_pow2_u64(d->sector) ? 0 : -EINVAL;
	if (d->file.is_block && ioctl(d->file.fd, BLKSSZGET, &logical) == 0 && logical > 0) {
		d->sector = d->dma_align = (uint32_t)logical;
		return 0;
	}
	return probe(&d->file, &d->dma_align, &d->sector);
}

int direct_open(struct env *env, const struct open_request *req, struct direct_dev *ret)
{
	struct direct_dev d = {0};
	int r = fd_open(env, req, O_DIRECT, &d.file);

	if (r < 0)
		return r;
	r = find_alignment(&d);
	if (r < 0) {
		fd_close(&d.file);
		return fail(env, E4_WHY_DEV_DIRECT, .err = r, .name = req->path);
	}
	*ret = d;
	return 0;
}

int direct_geometry(const struct direct_dev *d, struct e4_geometry *ret)
{
	int r = fd_geometry(&d->file, ret);

	ret->logical_block = d->sector;
	ret->dma_align = d->dma_align;
	ret->physical_block = max_u32(ret->physical_block, d->sector);
	return r;
}

static int geometry(void *ctx, struct e4_geometry *ret)
{
	return direct_geometry(ctx, ret);
}

static int read_now(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct direct_dev *d = ctx;

	return fd_readv(d->file.fd, offset, iov, iov_count, 0);
}

static int write_now(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct direct_dev *d = ctx;
	bool durable = d->file.sync || (flags & E4_BLOCKDEV_FUA);

	return fd_writev(d->file.fd, offset, iov, iov_count, durable ? RWF_DSYNC : 0);
}

static int flush(void *ctx)
{
	struct direct_dev *d = ctx;

	return fd_flush(&d->file);
}

static int discard(void *ctx, uint64_t offset, uint64_t len)
{
	struct direct_dev *d = ctx;

	return fd_discard(&d->file, offset, len);
}

static int write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	struct direct_dev *d = ctx;

	return fd_write_zeroes(&d->file, offset, len);
}

static void close_dev(void *ctx)
{
	struct direct_dev *d = ctx;
	struct env *env = d->file.env;

	fd_close(&d->file);
	mem_free(env, d, sizeof(*d));
}

static const struct e4_blockdev_ops direct_ops = {
	.struct_size = sizeof(direct_ops),
	.geometry = geometry,
	.read = read_now,
	.write = write_now,
	.flush = flush,
	.close = close_dev,
	.discard = discard,
	.write_zeroes = write_zeroes,
};

int backend_direct_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	struct direct_dev *d = mem_zalloc(env, sizeof(*d));

	if (d == NULL)
		return fail(env, E4_WHY_DIRECT_MEMORY, .name = req->path);
	int r = direct_open(env, req, d);
	if (r < 0) {
		mem_free(env, d, sizeof(*d));
		return r;
	}
	*ret = (struct backend){.ops = direct_ops, .ctx = d, .kind = "direct"};
	return 0;
}
