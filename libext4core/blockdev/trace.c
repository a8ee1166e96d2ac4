/*
 * trace.c - a device that counts what passes: how often, how much, in which sizes.
 *
 * Owns:    the counts.
 * Locks:   t->lock guards them; no I/O is done under it.
 * Always:  an operation is counted when it is asked for, an error when it ends.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"

#include <errno.h>
#include <string.h>

struct trace {
	struct env *env;
	struct e4_blockdev *lower;
	struct mutex lock;           /* rank LEAF */
	struct e4_trace_stats stats; /* [lock] */
};

static void count_locked(struct e4_trace_stats *s, enum e4_blockdev_op op, uint64_t len)
{
	unsigned bin = len != 0 ? log2_u64(len) : 0;

	if (bin > 39)
		bin = 39;
	switch (op) {
	case E4_BLOCKDEV_READ:
		s->reads++;
		s->read_bytes += len;
		s->read_histogram[bin]++;
		return;
	case E4_BLOCKDEV_WRITE:
	case E4_BLOCKDEV_ZERO:
		s->writes++;
		s->write_bytes += len;
		s->write_histogram[bin]++;
		return;
	case E4_BLOCKDEV_FLUSH:
		s->flushes++;
		return;
	case E4_BLOCKDEV_DISCARD:
		s->discards++;
		return;
	}
}

static void count(struct trace *t, enum e4_blockdev_op op, uint64_t len)
{
	mutex_lock(&t->lock);
	count_locked(&t->stats, op, len);
	mutex_unlock(&t->lock);
}

static int ended(struct trace *t, int r)
{
	if (r < 0) {
		mutex_lock(&t->lock);
		t->stats.errors++;
		mutex_unlock(&t->lock);
	}
	return r;
}

static int trace_geometry(void *ctx, struct e4_geometry *ret)
{
	struct trace *t = ctx;

	*ret = t->lower->geo;
	return 0;
}

static int trace_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct trace *t = ctx;
	uint64_t len = 0;

	if (iov_len(iov, iov_count, &len))
		count(t, E4_BLOCKDEV_READ, len);
	return ended(t, blockdev_readv(t->lower, offset, iov, iov_count));
}

static int trace_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct trace *t = ctx;
	uint64_t len = 0;

	if (iov_len(iov, iov_count, &len))
		count(t, E4_BLOCKDEV_WRITE, len);
	return ended(t, blockdev_writev(t->lower, offset, iov, iov_count, flags));
}

static int trace_flush(void *ctx)
{
	struct trace *t = ctx;

	count(t, E4_BLOCKDEV_FLUSH, 0);
	return ended(t, blockdev_flush(t->lower));
}

static int trace_discard(void *ctx, uint64_t offset, uint64_t len)
{
	struct trace *t = ctx;

	count(t, E4_BLOCKDEV_DISCARD, len);
	return ended(t, blockdev_discard(t->lower, offset, len));
}

static int trace_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	struct trace *t = ctx;

	count(t, E4_BLOCKDEV_ZERO, len);
	return ended(t, blockdev_write_zeroes(t->lower, offset, len));
}

static int trace_map(void *ctx, uint64_t offset, uint64_t len, void **ret)
{
	struct trace *t = ctx;

	return blockdev_map(t->lower, offset, len, ret);
}

static int trace_persist(void *ctx, const void *addr, uint64_t len)
{
	struct trace *t = ctx;

	return blockdev_persist(t->lower, addr, len);
}

static void trace_close(void *ctx)
{
	struct trace *t = ctx;

	mutex_fini(&t->lock);
	mem_free(t->env, t, sizeof(*t));
}

static const struct e4_blockdev_ops trace_ops = {
	.struct_size = sizeof(trace_ops),
	.geometry = trace_geometry,
	.read = trace_read,
	.write = trace_write,
	.flush = trace_flush,
	.close = trace_close,
	.discard = trace_discard,
	.write_zeroes = trace_write_zeroes,
	.map = trace_map,
	.persist = trace_persist,
};

static enum stack_verdict trace_before(
	void *ctx, struct e4_blockdev_request *req, struct e4_blockdev_request *child)
{
	struct trace *t = ctx;

	(void)child;
	if (req->op == E4_BLOCKDEV_WRITE && (req->flags & E4_BLOCKDEV_PREFLUSH))
		count(t, E4_BLOCKDEV_FLUSH, 0);
	count(t, req->op, req->len);
	return STACK_PASS;
}

static void trace_after(void *ctx, struct e4_blockdev_request *child)
{
	(void)ended(ctx, child->result);
}

static const struct stack_ops trace_stack = {.before = trace_before, .after = trace_after};

int blockdev_trace_new(struct e4_blockdev *lower, struct e4_blockdev **ret)
{
	struct env *env = lower->env;
	struct trace *t = mem_zalloc(env, sizeof(*t));

	if (t == NULL)
		return fail(env, E4_WHY_TRACE_MEMORY, .name = "trace");
	t->env = env;
	t->lower = lower;
	mutex_init(&t->lock, RANK_LEAF);
	struct backend backend = {.ops = trace_ops, .ctx = t, .kind = "trace"};
	return blockdev_stack(env, &backend, &trace_stack, lower, ret);
}

int blockdev_trace_stats(struct e4_blockdev *dev, struct e4_trace_stats *ret)
{
	if (dev->stack != &trace_stack)
		return -EINVAL;
	struct trace *t = dev->ctx;
	uint32_t size = ret->struct_size < sizeof(*ret) ? ret->struct_size : (uint32_t)sizeof(*ret);
	mutex_lock(&t->lock);
	memcpy(ret, &t->stats, size);
	mutex_unlock(&t->lock);
	ret->struct_size = size;
	return 0;
}
