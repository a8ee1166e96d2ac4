/*
 * open.c - from a specification to a device: the backend, then the partition, then the window.
 *
 * Owns:    nothing; what is made on the way is closed when a later step fails.
 * Locks:   none.
 * Always:  the device returned owns everything below it.
 */
#include "blockdev/blockdev_impl.h"
#include "blockdev/spec.h"

#include <errno.h>
#include <sys/stat.h>

#define QUEUE_DEPTH_DEFAULT 128
#define QUEUE_DEPTH_MAX     4096

/* What a bare path means. */
static enum spec_backend choose(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISBLK(st.st_mode))
		return SPEC_FILE;
	return backend_uring_built() ? SPEC_URING : SPEC_DIRECT;
}

static int open_backend(struct env *env, enum spec_backend backend, const struct open_request *req,
	struct backend *ret)
{
	switch (backend) {
	case SPEC_AUTO: /* chosen by the caller */
	case SPEC_FILE:
		return backend_file_open(env, req, ret);
	case SPEC_DIRECT:
		return backend_direct_open(env, req, ret);
	case SPEC_URING:
		return backend_uring_open(env, req, ret);
	case SPEC_PMEM:
		return backend_pmem_open(env, req, ret);
	case SPEC_MEM:
		return backend_mem_open(env, req, ret);
	}
	return -EINVAL;
}

static int open_real(struct env *env, const struct spec *spec, uint32_t flags,
	const struct e4_blockdev_options *opts, struct e4_blockdev **ret)
{
	uint32_t depth = opts->queue_depth != 0 ? opts->queue_depth : QUEUE_DEPTH_DEFAULT;
	struct open_request req = {
		.path = spec->path,
		.writable = (flags & E4_BLOCKDEV_RDWR) && !spec->read_only,
		.sync = spec->sync,
		.queue_depth = depth < QUEUE_DEPTH_MAX ? depth : QUEUE_DEPTH_MAX,
		.require_granularity = opts->require_granularity,
	};
	struct backend backend;
	int r = open_backend(env, spec->backend == SPEC_AUTO ? choose(spec->path) : spec->backend,
		&req, &backend);

	if (r < 0)
		return r;
	r = blockdev_make(env, &backend, NULL, ret);
	if (r < 0)
		backend.ops.close(backend.ctx);
	return r;
}

/* Puts the part that the specification names on top of *dev. */
static int narrow(const struct spec *spec, struct e4_blockdev **dev)
{
	struct e4_blockdev *upper;
	int r;

	if (spec->partition != 0) {
		r = blockdev_partition_new(*dev, spec->partition, &upper);
		if (r < 0)
			return r;
		upper->owns_lower = true;
		*dev = upper;
	}
	if (spec->offset != 0 || spec->size != 0) {
		r = blockdev_window_new(*dev, spec->offset, spec->size, &upper);
		if (r < 0)
			return r;
		upper->owns_lower = true;
		*dev = upper;
	}
	return 0;
}

int blockdev_open(struct env *env, const char *text, uint32_t flags,
	const struct e4_blockdev_options *opts, struct e4_blockdev **ret)
{
	struct e4_blockdev *dev;
	struct spec spec;
	int r = spec_parse(env, text, &spec);

	if (r < 0)
		return r;
	r = open_real(env, &spec, flags, opts, &dev);
	if (r == 0) {
		r = narrow(&spec, &dev);
		if (r == 0)
			*ret = dev;
		else
			blockdev_free(dev);
	}
	spec_fini(env, &spec);
	return r;
}
