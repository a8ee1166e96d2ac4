/*
 * pmem.c - the `pmem` backend: a file on a DAX file system, a device DAX, or any file at page granularity, mapped by libpmem2.
 *
 * Owns:    the descriptor, the mapping, and the library's objects behind it.
 * Locks:   none.
 * Always:  what the geometry calls persist_granularity is what the mapping really has; a caller that needs a finer one is
 *          refused at opening. With CACHE_LINE or BYTE a write is durable when it returns; with PAGE the kernel's page cache
 *          stands between, and a flush is an msync.
 * Limits:  a file that is cut short behind the mapping kills the process with SIGBUS when it is read; nothing can be done here.
 */
#include "base/math.h"
#include "blockdev/fd.h"

#include <errno.h>
#include <libpmem2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct pmem_dev {
	struct fd_dev file;
	struct pmem2_source *source;
	struct pmem2_map *map;
	uint8_t *bytes;
	uint64_t size;
	uint32_t granularity;
	pmem2_persist_fn persist;
	pmem2_memcpy_fn copy;
	pmem2_memset_fn set;
};

static bool is_paged(const struct pmem_dev *d)
{
	return d->granularity >= 4096;
}

static int pmem_geometry(void *ctx, struct e4_geometry *ret)
{
	struct pmem_dev *d = ctx;

	ret->logical_block = 1;
	ret->physical_block = max_u32(d->granularity, 64);
	ret->dma_align = 1;
	ret->size = d->size;
	ret->queue_depth = 1;
	ret->persist_granularity = d->granularity;
	ret->read_only = d->file.read_only;
	ret->write_cache = is_paged(d) && !d->file.sync;
	ret->fua = 1;
	ret->write_zeroes = 1;
	ret->can_map = 1;
	return 0;
}

static int pmem_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct pmem_dev *d = ctx;

	for (uint32_t i = 0; i < iov_count; i++) {
		if (iov[i].len != 0)
			memcpy(iov[i].base, d->bytes + offset, (size_t)iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

/* Streaming stores that are persistent at once, or, in pages that are written back later, plain ones. */
static int pmem_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct pmem_dev *d = ctx;
	bool later = is_paged(d) && !d->file.sync && !(flags & E4_BLOCKDEV_FUA);

	for (uint32_t i = 0; i < iov_count; i++) {
		if (iov[i].len != 0 && later)
			memcpy(d->bytes + offset, iov[i].base, (size_t)iov[i].len);
		else if (iov[i].len != 0)
			d->copy(d->bytes + offset, iov[i].base, (size_t)iov[i].len, 0);
		offset += iov[i].len;
	}
	return 0;
}

static int pmem_flush(void *ctx)
{
	struct pmem_dev *d = ctx;

	if (is_paged(d))
		d->persist(d->bytes, (size_t)d->size);
	return 0;
}

static int pmem_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	struct pmem_dev *d = ctx;

	d->set(d->bytes + offset, 0, (size_t)len, 0);
	return 0;
}

static int pmem_map(void *ctx, uint64_t offset, uint64_t len, void **ret)
{
	struct pmem_dev *d = ctx;

	(void)len;
	*ret = d->bytes + offset;
	return 0;
}

static int pmem_persist(void *ctx, const void *addr, uint64_t len)
{
	struct pmem_dev *d = ctx;

	d->persist(addr, (size_t)len);
	return 0;
}

/* Undoes whatever was done. */
static void release(struct pmem_dev *d)
{
	if (d->map != NULL)
		(void)pmem2_map_delete(&d->map);
	if (d->source != NULL)
		(void)pmem2_source_delete(&d->source);
	fd_close(&d->file);
}

static void pmem_close(void *ctx)
{
	struct pmem_dev *d = ctx;
	struct env *env = d->file.env;

	release(d);
	mem_free(env, d, sizeof(*d));
}

static const struct e4_blockdev_ops pmem_ops = {
	.struct_size = sizeof(pmem_ops),
	.geometry = pmem_geometry,
	.read = pmem_read,
	.write = pmem_write,
	.flush = pmem_flush,
	.close = pmem_close,
	.write_zeroes = pmem_write_zeroes,
	.map = pmem_map,
	.persist = pmem_persist,
};

static enum pmem2_granularity granularity_for(uint32_t bytes)
{
	if (bytes == 0 || bytes >= 4096)
		return PMEM2_GRANULARITY_PAGE;
	return bytes >= 64 ? PMEM2_GRANULARITY_CACHE_LINE : PMEM2_GRANULARITY_BYTE;
}

static uint32_t bytes_of(enum pmem2_granularity g)
{
	switch (g) {
	case PMEM2_GRANULARITY_BYTE:
		return 1;
	case PMEM2_GRANULARITY_CACHE_LINE:
		return 64;
	case PMEM2_GRANULARITY_PAGE:
		return 4096;
	}
	return 4096;
}

/* The library's own codes stand below -100000; what it passes on from the system is an errno. */
static int errno_of(int r)
{
	return r > -4096 ? r : r == PMEM2_E_GRANULARITY_NOT_SUPPORTED ? -EOPNOTSUPP : -EINVAL;
}

static int configure(struct pmem_dev *d, uint32_t require, struct pmem2_config *config)
{
	int r = pmem2_config_set_required_store_granularity(config, granularity_for(require));

	if (r == 0 && d->file.read_only)
		r = pmem2_config_set_protection(config, PMEM2_PROT_READ);
	if (r == 0)
		r = pmem2_map_new(&d->map, config, d->source);
	return r;
}

static int map_it(struct pmem_dev *d, uint32_t require)
{
	struct pmem2_config *config = NULL;
	int r = pmem2_source_from_fd(&d->source, d->file.fd);

	if (r == 0)
		r = pmem2_config_new(&config);
	if (r == 0)
		r = configure(d, require, config);
	if (config != NULL)
		(void)pmem2_config_delete(&config);
	if (r < 0)
		return r;
	d->bytes = pmem2_map_get_address(d->map);
	d->size = pmem2_map_get_size(d->map);
	d->granularity = bytes_of(pmem2_map_get_store_granularity(d->map));
	d->persist = pmem2_get_persist_fn(d->map);
	d->copy = pmem2_get_memcpy_fn(d->map);
	d->set = pmem2_get_memset_fn(d->map);
	return 0;
}

int backend_pmem_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	struct pmem_dev *d = mem_zalloc(env, sizeof(*d));

	if (d == NULL)
		return fail(env, E4_WHY_PMEM_MEMORY, .name = req->path);
	struct open_request mapping = *req;
	mapping.char_too = true;
	int r = fd_open(env, &mapping, 0, &d->file);
	if (r < 0) {
		mem_free(env, d, sizeof(*d));
		return r;
	}
	r = map_it(d, req->require_granularity);
	if (r < 0) {
		char text[200];

		(void)snprintf(text, sizeof(text), "%s: %s", req->path, pmem2_errormsg());
		pmem_close(d);
		return fail(env, E4_WHY_PMEM_MAP, .err = errno_of(r), .name = text);
	}
	*ret = (struct backend){.ops = pmem_ops, .ctx = d, .kind = "pmem"};
	return 0;
}
