/*
 * window.c - a part of a device as a device of its own: an offset in an image, a partition.
 *
 * Owns:    nothing but two numbers.
 * Locks:   none.
 * Always:  a request inside the window is inside the lower device.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"

#include <errno.h>

struct window {
	struct env *env;
	struct e4_blockdev *lower;
	uint64_t start, size;
};

static int window_geometry(void *ctx, struct e4_geometry *ret)
{
	struct window *w = ctx;

	*ret = w->lower->geo;
	ret->size = w->size;
	/* A mapping keeps whole pages only where the window begins at one. */
	ret->can_map = w->lower->geo.can_map && w->start % 4096 == 0;
	return 0;
}

static int window_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct window *w = ctx;

	return blockdev_readv(w->lower, w->start + offset, iov, iov_count);
}

static int window_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct window *w = ctx;

	return blockdev_writev(w->lower, w->start + offset, iov, iov_count, flags);
}

static int window_flush(void *ctx)
{
	struct window *w = ctx;

	return blockdev_flush(w->lower);
}

static void window_close(void *ctx)
{
	struct window *w = ctx;

	mem_free(w->env, w, sizeof(*w));
}

static int window_discard(void *ctx, uint64_t offset, uint64_t len)
{
	struct window *w = ctx;

	return blockdev_discard(w->lower, w->start + offset, len);
}

static int window_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	struct window *w = ctx;

	return blockdev_write_zeroes(w->lower, w->start + offset, len);
}

static int window_map(void *ctx, uint64_t offset, uint64_t len, void **ret)
{
	struct window *w = ctx;

	return blockdev_map(w->lower, w->start + offset, len, ret);
}

static int window_persist(void *ctx, const void *addr, uint64_t len)
{
	struct window *w = ctx;

	return blockdev_persist(w->lower, addr, len);
}

static const struct e4_blockdev_ops window_ops = {
	.struct_size = sizeof(window_ops),
	.geometry = window_geometry,
	.read = window_read,
	.write = window_write,
	.flush = window_flush,
	.close = window_close,
	.discard = window_discard,
	.write_zeroes = window_write_zeroes,
	.map = window_map,
	.persist = window_persist,
};

static enum stack_verdict window_before(
	void *ctx, struct e4_blockdev_request *req, struct e4_blockdev_request *child)
{
	struct window *w = ctx;

	(void)req;
	child->offset += w->start;
	return STACK_PASS;
}

static const struct stack_ops window_stack = {.before = window_before};

int blockdev_window_new(
	struct e4_blockdev *lower, uint64_t offset, uint64_t size, struct e4_blockdev **ret)
{
	struct env *env = lower->env;
	uint64_t end;

	if (size == 0 && offset <= lower->geo.size)
		size = lower->geo.size - offset;
	if (!add_u64(offset, size, &end) || end > lower->geo.size)
		return fail(env, E4_WHY_WINDOW_RANGE, .found = end, .expected = lower->geo.size);
	struct window *w = mem_zalloc(env, sizeof(*w));
	if (w == NULL)
		return fail(env, E4_WHY_WINDOW_MEMORY, .name = "window");
	*w = (struct window){.env = env, .lower = lower, .start = offset, .size = size};
	struct backend backend = {.ops = window_ops, .ctx = w, .kind = "window"};
	return blockdev_stack(env, &backend, &window_stack, lower, ret);
}
