/*
 * api/blockdev.c - the public calls on block devices: check arguments, call down, keep the error.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  no logic; a NULL argument or a struct without its size is -EINVAL before anything is touched.
 */
#include "blockdev/blockdev.h"

#include <ext4core/blockdev.h>

#include <errno.h>
#include <string.h>

void e4_blockdev_options_init(struct e4_blockdev_options *opts)
{
	if (opts == NULL)
		return;
	memset(opts, 0, sizeof(*opts));
	opts->struct_size = sizeof(*opts);
}

/* Takes over what the caller's (possibly older, shorter) struct has. */
static int options_complete(const struct e4_blockdev_options *from, struct e4_blockdev_options *ret)
{
	e4_blockdev_options_init(ret);
	if (from == NULL)
		return 0;
	if (from->struct_size == 0)
		return -EINVAL;
	memcpy(ret, from, from->struct_size < sizeof(*ret) ? from->struct_size : sizeof(*ret));
	ret->struct_size = sizeof(*ret);
	if (ret->hooks != NULL && ret->hooks->struct_size == 0)
		return -EINVAL;
	return ret->error == NULL || ret->error->struct_size != 0 ? 0 : -EINVAL;
}

/* The surroundings that are being given up still know why. */
static void keep_error(struct env *env, const struct e4_blockdev_options *opts)
{
	if (opts->error != NULL)
		(void)error_last(env, opts->error);
}

int e4_blockdev_open(const char *spec, uint32_t flags, const struct e4_blockdev_options *opts,
	struct e4_blockdev **ret)
{
	struct e4_blockdev_options o;
	struct env *env;

	if (spec == NULL || ret == NULL || (flags & ~(uint32_t)E4_BLOCKDEV_RDWR) != 0)
		return -EINVAL;
	int r = options_complete(opts, &o);
	if (r == 0)
		r = env_new(o.hooks, o.memory_budget, &env);
	if (r < 0)
		return r;
	r = blockdev_open(env, spec, flags, &o, ret);
	if (r < 0)
		keep_error(env, &o);
	env_put(env);
	return r;
}

int e4_blockdev_new(const struct e4_blockdev_ops *ops, void *ctx,
	const struct e4_blockdev_options *opts, struct e4_blockdev **ret)
{
	struct e4_blockdev_options o;
	struct env *env;

	if (ops == NULL || ops->struct_size == 0 || ret == NULL)
		return -EINVAL;
	int r = options_complete(opts, &o);
	if (r == 0)
		r = env_new(o.hooks, o.memory_budget, &env);
	if (r < 0)
		return r;
	r = blockdev_own_new(env, ops, ctx, ret);
	if (r < 0)
		keep_error(env, &o);
	env_put(env);
	return r;
}

int e4_blockdev_close(struct e4_blockdev *dev)
{
	if (dev == NULL)
		return 0;
	/* A child of the process that opened it touches nothing. */
	if (fork_guard_is_child(&dev->env->fork))
		return -ESHUTDOWN;
	if (atomic_load(&dev->users) != 0)
		return -EBUSY;
	blockdev_free(dev);
	return 0;
}

int e4_blockdev_geometry(struct e4_blockdev *dev, struct e4_geometry *ret)
{
	struct e4_geometry geo;

	if (dev == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	int r = blockdev_geometry(dev, &geo);
	if (r < 0)
		return r;
	geo.struct_size = ret->struct_size < sizeof(geo) ? ret->struct_size : (uint32_t)sizeof(geo);
	memcpy(ret, &geo, geo.struct_size);
	return 0;
}

int e4_blockdev_read(struct e4_blockdev *dev, uint64_t offset, void *buf, uint64_t len)
{
	if (dev == NULL || (buf == NULL && len != 0))
		return -EINVAL;
	return blockdev_read(dev, offset, buf, len);
}

int e4_blockdev_write(
	struct e4_blockdev *dev, uint64_t offset, const void *buf, uint64_t len, uint32_t flags)
{
	if (dev == NULL || (buf == NULL && len != 0))
		return -EINVAL;
	if ((flags & ~(uint32_t)(E4_BLOCKDEV_FUA | E4_BLOCKDEV_PREFLUSH)) != 0)
		return -EINVAL;
	return blockdev_write(dev, offset, buf, len, flags);
}

int e4_blockdev_flush(struct e4_blockdev *dev)
{
	return dev != NULL ? blockdev_flush(dev) : -EINVAL;
}

int e4_blockdev_submit(struct e4_blockdev *dev, struct e4_blockdev_request **reqs, uint32_t count)
{
	return dev != NULL && reqs != NULL ? blockdev_submit(dev, reqs, count) : -EINVAL;
}

int e4_blockdev_reap(
	struct e4_blockdev *dev, struct e4_blockdev_request **ret, uint32_t min, uint32_t max)
{
	if (dev == NULL || ret == NULL || max > INT32_MAX)
		return -EINVAL;
	return blockdev_reap(dev, ret, min, max);
}

int e4_blockdev_buffers_register(struct e4_blockdev *dev, const struct e4_iovec *bufs, uint32_t count)
{
	return dev != NULL && bufs != NULL ? blockdev_buffers_register(dev, bufs, count) : -EINVAL;
}

int e4_blockdev_buffers_unregister(struct e4_blockdev *dev)
{
	return dev != NULL ? blockdev_buffers_unregister(dev) : -EINVAL;
}

int e4_blockdev_last_error(struct e4_blockdev *dev, struct e4_error *ret)
{
	if (dev == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	return error_last(dev->env, ret) ? 0 : -ENOENT;
}

int e4_blockdev_window(
	struct e4_blockdev *dev, uint64_t offset, uint64_t size, struct e4_blockdev **ret)
{
	return dev != NULL && ret != NULL ? blockdev_window_new(dev, offset, size, ret) : -EINVAL;
}

int e4_blockdev_partition(struct e4_blockdev *dev, uint32_t number, struct e4_blockdev **ret)
{
	return dev != NULL && ret != NULL ? blockdev_partition_new(dev, number, ret) : -EINVAL;
}

int e4_blockdev_cow(struct e4_blockdev *dev, uint32_t block_size, struct e4_blockdev **ret)
{
	return dev != NULL && ret != NULL ? blockdev_cow_new(dev, block_size, ret) : -EINVAL;
}

int e4_blockdev_cow_size(struct e4_blockdev *dev, uint64_t *ret_bytes)
{
	return dev != NULL && ret_bytes != NULL ? blockdev_cow_size(dev, ret_bytes) : -EINVAL;
}

void e4_fault_plan_init(struct e4_fault_plan *plan)
{
	if (plan == NULL)
		return;
	memset(plan, 0, sizeof(*plan));
	plan->struct_size = sizeof(*plan);
	plan->err = -EIO;
	plan->flip_bit = -1;
}

int e4_blockdev_fault(struct e4_blockdev *dev, struct e4_blockdev **ret)
{
	return dev != NULL && ret != NULL ? blockdev_fault_new(dev, ret) : -EINVAL;
}

int e4_blockdev_fault_set(struct e4_blockdev *fault, const struct e4_fault_plan *plan)
{
	if (fault == NULL || plan == NULL || plan->struct_size == 0)
		return -EINVAL;
	return blockdev_fault_set(fault, plan);
}

uint64_t e4_blockdev_fault_count(struct e4_blockdev *fault, uint32_t kind)
{
	return fault != NULL ? blockdev_fault_count(fault, kind) : 0;
}

int e4_blockdev_record(struct e4_blockdev *dev, struct e4_blockdev **ret)
{
	return dev != NULL && ret != NULL ? blockdev_record_new(dev, ret) : -EINVAL;
}

uint64_t e4_blockdev_record_count(struct e4_blockdev *record)
{
	return record != NULL ? blockdev_record_count(record) : 0;
}

int e4_blockdev_record_get(struct e4_blockdev *record, uint64_t index, struct e4_record_entry *ret)
{
	return record != NULL && ret != NULL ? blockdev_record_get(record, index, ret) : -EINVAL;
}

int e4_blockdev_record_clear(struct e4_blockdev *record)
{
	return record != NULL ? blockdev_record_clear(record) : -EINVAL;
}

int e4_blockdev_trace(struct e4_blockdev *dev, struct e4_blockdev **ret)
{
	return dev != NULL && ret != NULL ? blockdev_trace_new(dev, ret) : -EINVAL;
}

int e4_blockdev_trace_stats(struct e4_blockdev *trace, struct e4_trace_stats *ret)
{
	if (trace == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	return blockdev_trace_stats(trace, ret);
}
