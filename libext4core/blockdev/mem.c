/*
 * mem.c - a device in memory, sparse: `mem:64M`, or a private copy of a file.
 *
 * Owns:    its chunks.
 * Locks:   those of struct sparse; reading and overwriting take none.
 * Always:  a chunk that is absent reads as zeros. The file that was loaded is never written.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"
#include "blockdev/fd.h"
#include "blockdev/sparse.h"
#include "blockdev/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (64u << 10)

struct mem_dev {
	struct env *env;
	uint64_t size;
	bool read_only;
	struct sparse bytes;
};

static int mem_geometry(void *ctx, struct e4_geometry *ret)
{
	struct mem_dev *d = ctx;

	ret->logical_block = 1;
	ret->physical_block = 4096;
	ret->dma_align = 1;
	ret->size = d->size;
	ret->queue_depth = 1;
	ret->read_only = d->read_only;
	ret->fua = 1;
	ret->discard = 1;
	ret->write_zeroes = 1;
	return 0;
}

static int mem_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct mem_dev *d = ctx;
	struct iov_cursor it = {.iov = iov, .count = iov_count};

	for (;;) {
		uint64_t in_chunk = offset % CHUNK;
		uint64_t n;
		uint8_t *to = iov_take(&it, CHUNK - in_chunk, &n);

		if (n == 0)
			return 0;
		const uint8_t *chunk = sparse_find(&d->bytes, offset / CHUNK);
		if (chunk != NULL)
			memcpy(to, chunk + in_chunk, (size_t)n);
		else
			memset(to, 0, (size_t)n);
		offset += n;
	}
}

static int mem_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct mem_dev *d = ctx;
	struct iov_cursor it = {.iov = iov, .count = iov_count};

	(void)flags;
	for (;;) {
		uint64_t in_chunk = offset % CHUNK;
		uint64_t n;
		const uint8_t *from = iov_take(&it, CHUNK - in_chunk, &n);
		void *chunk;

		if (n == 0)
			return 0;
		int r = sparse_get(&d->bytes, offset / CHUNK, &chunk);
		if (r < 0)
			return r;
		memcpy((uint8_t *)chunk + in_chunk, from, (size_t)n);
		offset += n;
	}
}

static int mem_flush(void *ctx)
{
	(void)ctx;
	return 0;
}

static int mem_zero(void *ctx, uint64_t offset, uint64_t len)
{
	struct mem_dev *d = ctx;

	while (len > 0) {
		uint64_t in_chunk = offset % CHUNK;
		uint64_t n = min_u64(len, CHUNK - in_chunk);
		uint8_t *chunk = sparse_find(&d->bytes, offset / CHUNK);

		if (chunk != NULL)
			memset(chunk + in_chunk, 0, (size_t)n);
		offset += n;
		len -= n;
	}
	return 0;
}

static void mem_close(void *ctx)
{
	struct mem_dev *d = ctx;

	sparse_fini(&d->bytes);
	mem_free(d->env, d, sizeof(*d));
}

static const struct e4_blockdev_ops mem_ops = {
	.struct_size = sizeof(mem_ops),
	.geometry = mem_geometry,
	.read = mem_read,
	.write = mem_write,
	.flush = mem_flush,
	.close = mem_close,
	.discard = mem_zero,
	.write_zeroes = mem_zero,
};

static struct mem_dev *mem_dev_new(struct env *env, uint64_t size)
{
	struct mem_dev *d = mem_zalloc(env, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->env = env;
	d->size = size;
	sparse_init(&d->bytes, env, CHUNK, max_u64(div_up_u64(size, CHUNK), 1));
	return d;
}

int blockdev_mem_new(struct env *env, uint64_t size, struct e4_blockdev **ret)
{
	struct mem_dev *d = mem_dev_new(env, size);
	struct backend backend = {.ops = mem_ops, .ctx = d, .kind = "mem"};

	if (d == NULL)
		return fail(env, E4_WHY_DEV_MEMORY, .name = "mem");
	int r = blockdev_make(env, &backend, NULL, ret);
	if (r < 0)
		mem_close(d);
	return r;
}

static bool all_zero(const uint8_t *p, size_t len)
{
	return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

/* Reads one chunk of the file; keeps it unless it is all zeros. */
static int load_chunk(struct mem_dev *d, int fd, uint64_t index, uint64_t len)
{
	uint8_t *chunk = sparse_chunk_new(&d->bytes);
	void *there;

	if (chunk == NULL)
		return -ENOMEM;
	memset(chunk, 0, CHUNK);
	struct e4_iovec iov = {.base = chunk, .len = len};
	int r = fd_readv(fd, index * CHUNK, &iov, 1, 0);
	if (r < 0 || all_zero(chunk, CHUNK)) {
		mem_free(d->env, chunk, CHUNK);
		return r;
	}
	return sparse_insert(&d->bytes, index, chunk, &there);
}

/* Only what holds data, where the file system can say; else everything. */
static int load(struct mem_dev *d, int fd)
{
	uint64_t at = 0;

	while (at < d->size) {
		off_t data = lseek(fd, (off_t)at, SEEK_DATA);

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data >= 0)
			at = round_down_u64((uint64_t)data, CHUNK);
		int r = load_chunk(d, fd, at / CHUNK, min_u64(CHUNK, d->size - at));
		if (r < 0)
			return r;
		at += CHUNK;
	}
	return 0;
}

static int load_file(struct env *env, const struct open_request *req, struct mem_dev **ret)
{
	struct open_request reading = *req;
	struct fd_dev file;

	reading.writable = false;
	int r = fd_open(env, &reading, 0, &file);
	if (r < 0)
		return r;
	struct mem_dev *d = mem_dev_new(env, file.size);
	r = d != NULL ? load(d, file.fd) : -ENOMEM;
	fd_close(&file);
	if (r < 0) {
		if (d != NULL)
			mem_close(d);
		return fail(env, E4_WHY_MEM_LOAD, .err = r == BLOCKDEV_SHORT ? -EIO : r,
			.name = req->path);
	}
	*ret = d;
	return 0;
}

static int make_empty(struct env *env, const char *text, uint64_t size, struct mem_dev **ret)
{
	if (size > INT64_MAX)
		return fail(env, E4_WHY_MEM_SIZE, .name = text);
	*ret = mem_dev_new(env, size);
	return *ret != NULL ? 0 : fail(env, E4_WHY_MEM_MEMORY, .name = text);
}

int backend_mem_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	struct mem_dev *d = NULL;
	uint64_t size;
	int r = spec_parse_size(req->path, &size) ? make_empty(env, req->path, size, &d)
						  : load_file(env, req, &d);

	if (r < 0 || d == NULL)
		return r;
	d->read_only = !req->writable;
	*ret = (struct backend){.ops = mem_ops, .ctx = d, .kind = "mem"};
	return 0;
}
