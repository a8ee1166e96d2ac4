/*
 * blockdev.c - making, holding and closing devices, whatever their backend.
 *
 * Owns:    struct e4_blockdev.
 * Locks:   none; users is atomic, the rest is constant after making.
 * Always:  a device's geometry has a power-of-two sector and alignment; a stacked device is one user of its lower one.
 */
#include "blockdev/blockdev.h"

#include "base/assert.h"
#include "base/atomic.h"
#include "base/math.h"
#include "blockdev/blockdev_impl.h"
#include "blockdev/local.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ALIGN_MAX (1u << 20) /* no device asks for more; bounds the bounce buffer */

static int ask_geometry(const struct e4_blockdev_ops *ops, void *ctx, struct e4_geometry *ret)
{
	*ret = (struct e4_geometry){.struct_size = sizeof(*ret)};
	int r = ops->geometry(ctx, ret);
	ret->struct_size = sizeof(*ret);
	return r;
}

/* Zeros that an embedder may leave get their meaning. */
static void geometry_complete(struct e4_geometry *geo)
{
	if (geo->logical_block == 0)
		geo->logical_block = 1;
	if (geo->physical_block < geo->logical_block)
		geo->physical_block = geo->logical_block;
	if (geo->dma_align == 0)
		geo->dma_align = 1;
	if (geo->queue_depth == 0)
		geo->queue_depth = 1;
	if (!is_pow2_u64(geo->logical_block))
		return; /* impossible, and refused as such */
	geo->max_transfer = round_down_u64(geo->max_transfer, geo->logical_block);
	geo->size = round_down_u64(geo->size, geo->logical_block);
}

static bool geometry_possible(const struct e4_geometry *geo)
{
	return is_pow2_u64(geo->logical_block) && geo->logical_block <= ALIGN_MAX &&
	       is_pow2_u64(geo->dma_align) && geo->dma_align <= ALIGN_MAX && geo->size <= INT64_MAX;
}

static bool table_complete(const struct e4_blockdev_ops *ops)
{
	return ops->geometry != NULL && ops->read != NULL && ops->close != NULL;
}

static struct e4_blockdev *device_alloc(
	struct env *env, const struct backend *backend, struct e4_blockdev *lower)
{
	struct e4_blockdev *dev = mem_zalloc(env, sizeof(*dev));

	if (dev == NULL)
		return NULL;
	env_get(env);
	dev->env = env;
	dev->ops = backend->ops;
	dev->ctx = backend->ctx;
	dev->kind = backend->kind;
	dev->lower = lower;
	mutex_init(&dev->edge_lock, RANK_DEVICE);
	list_init(&dev->inboxes);
	if (lower != NULL)
		blockdev_hold(lower);
	return dev;
}

int blockdev_make(struct env *env, const struct backend *backend, struct e4_blockdev *lower,
	struct e4_blockdev **ret)
{
	struct e4_geometry geo;

	if (!table_complete(&backend->ops))
		return fail(env, E4_WHY_DEV_TABLE, .name = "geometry, read and close are needed");
	int r = ask_geometry(&backend->ops, backend->ctx, &geo);
	if (r < 0)
		return fail(env, E4_WHY_DEV_SIZE, .err = r, .name = backend->kind);
	geometry_complete(&geo);
	if (!geometry_possible(&geo))
		return fail(env, E4_WHY_DEV_GEOMETRY, .name = backend->kind);
	struct e4_blockdev *dev = device_alloc(env, backend, lower);
	if (dev == NULL)
		return fail(env, E4_WHY_DEV_MEMORY, .name = backend->kind);
	if (dev->ops.write == NULL)
		geo.read_only = 1;
	if (dev->ops.submit == NULL || dev->ops.reap == NULL)
		dev->ops.submit = NULL;
	if (dev->ops.submit == NULL)
		dev->ops.reap = NULL;
	if (dev->ops.submit == NULL || dev->ops.buffers_unregister == NULL)
		dev->ops.buffers_register = NULL;
	dev->geo = geo;
	*ret = dev;
	return 0;
}

int blockdev_stack(struct env *env, const struct backend *backend, const struct stack_ops *stack,
	struct e4_blockdev *lower, struct e4_blockdev **ret)
{
	int r = blockdev_make(env, backend, lower, ret);

	if (r < 0)
		backend->ops.close(backend->ctx);
	else
		(*ret)->stack = stack;
	return r;
}

int blockdev_own_new(
	struct env *env, const struct e4_blockdev_ops *ops, void *ctx, struct e4_blockdev **ret)
{
	struct backend backend = {.ctx = ctx, .kind = "own"};

	memcpy(&backend.ops, ops, ops->struct_size < sizeof(*ops) ? ops->struct_size : sizeof(*ops));
	backend.ops.struct_size = sizeof(*ops);
	return blockdev_make(env, &backend, NULL, ret);
}

/* The lowest device of a stack that a specification built goes with the highest, hence the loop. */
void blockdev_free(struct e4_blockdev *dev)
{
	while (dev != NULL) {
		struct e4_blockdev *lower = dev->lower;
		bool owns_lower = dev->owns_lower;
		struct env *env = dev->env;

		E4_ASSERT(atomic_load(&dev->users) == 0);
		local_close_all(env, &dev->inboxes);
		dev->ops.close(dev->ctx);
		if (lower != NULL)
			blockdev_release(lower);
		mutex_fini(&dev->edge_lock);
		mem_free(env, dev, sizeof(*dev));
		env_put(env);
		dev = owns_lower ? lower : NULL;
	}
}

void blockdev_hold(struct e4_blockdev *dev)
{
	rmw_add_u32(&dev->users, 1);
}

void blockdev_release(struct e4_blockdev *dev)
{
	uint32_t before = rmw_sub_u32(&dev->users, 1);

	E4_ASSERT(before > 0);
}

int blockdev_geometry(struct e4_blockdev *dev, struct e4_geometry *ret)
{
	struct e4_geometry geo;
	int r = ask_geometry(&dev->ops, dev->ctx, &geo);

	if (r < 0)
		return r;
	geometry_complete(&geo);
	geo.read_only |= dev->geo.read_only;
	*ret = geo;
	return 0;
}

int blockdev_map(struct e4_blockdev *dev, uint64_t offset, uint64_t len, void **ret)
{
	int r = blockdev_check_range(dev, offset, len);

	if (r < 0)
		return r;
	if (dev->ops.map == NULL || !dev->geo.can_map)
		return -EOPNOTSUPP;
	return dev->ops.map(dev->ctx, offset, len, ret);
}

int blockdev_persist(struct e4_blockdev *dev, const void *addr, uint64_t len)
{
	if (dev->ops.persist == NULL || !dev->geo.can_map)
		return -EOPNOTSUPP;
	return dev->ops.persist(dev->ctx, addr, len);
}
