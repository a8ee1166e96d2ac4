/*
 * fault.c - a device that fails on command: the nth read, write or flush, short, or with a bit turned.
 *
 * Owns:    the plan and the counts.
 * Locks:   f->lock guards both; no I/O is done under it.
 * Always:  an operation that the plan does not hit goes down unchanged.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"

#include <errno.h>
#include <string.h>

#define KINDS 3 /* read, write, flush: bit i of enum e4_fault_kind */

struct fault {
	struct env *env;
	struct e4_blockdev *lower;
	struct mutex lock;         /* rank LEAF */
	struct e4_fault_plan plan; /* [lock] */
	uint64_t seen[KINDS];      /* [lock] since the plan was set */
	uint64_t counted;          /* [lock] of the plan's kinds */
};

static unsigned kind_index(enum e4_fault_kind kind)
{
	return (unsigned)__builtin_ctz((unsigned)kind);
}

/* Counts one operation. True, and *ret the plan, when it is to fail. */
static bool step(struct fault *f, enum e4_fault_kind kind, struct e4_fault_plan *ret)
{
	bool hit = false;

	mutex_lock(&f->lock);
	const struct e4_fault_plan *plan = &f->plan;
	f->seen[kind_index(kind)]++;
	if (plan->kinds & kind) {
		uint64_t n = ++f->counted;

		hit = plan->nth != 0 && n >= plan->nth &&
		      (plan->count == 0 || n - plan->nth < plan->count);
	}
	*ret = *plan;
	mutex_unlock(&f->lock);
	return hit;
}

/* What a hit returns: its errno, or 0 where the damage is to go unnoticed. */
static int answer(struct fault *f, const struct e4_fault_plan *plan, const char *what)
{
	bool silent = plan->err == 0 && (plan->flip_bit >= 0 || plan->short_bytes != 0);

	return silent ? 0 : fail(f->env, E4_WHY_FAULT_PLANNED, .err = plan->err, .name = what);
}

/* How many bytes a hit moves: some, all of them (wrong), or none. */
static uint64_t moved(const struct e4_fault_plan *plan, uint64_t len)
{
	if (plan->short_bytes != 0)
		return min_u64(plan->short_bytes, len);
	return plan->flip_bit >= 0 ? len : 0;
}

static void flip(const struct e4_fault_plan *plan, uint8_t *data, uint64_t len)
{
	if (plan->flip_bit >= 0 && (uint64_t)plan->flip_bit / 8 < len)
		data[plan->flip_bit / 8] ^= (uint8_t)(1u << (plan->flip_bit % 8));
}

static int hit_read(struct fault *f, const struct e4_fault_plan *plan, uint64_t offset,
	const struct e4_iovec *iov, uint64_t len)
{
	uint64_t n = moved(plan, len);
	uint8_t *data = mem_zalloc(f->env, (size_t)n);

	if (data == NULL)
		return fail(f->env, E4_WHY_FAULT_READ_MEMORY, .found = n);
	int r = blockdev_read(f->lower, offset, data, n);
	if (r == 0) {
		flip(plan, data, n);
		if (n > 0)
			iov_copy_out(iov, 0, data, n);
		r = answer(f, plan, "read");
	}
	mem_free(f->env, data, (size_t)n);
	return r;
}

static int hit_write(struct fault *f, const struct e4_fault_plan *plan, uint64_t offset,
	const struct e4_iovec *iov, uint64_t len, uint32_t flags)
{
	uint64_t n = moved(plan, len);
	uint8_t *data = mem_zalloc(f->env, (size_t)n);

	if (data == NULL)
		return fail(f->env, E4_WHY_FAULT_WRITE_MEMORY, .found = n);
	if (n > 0)
		iov_copy_in(data, iov, 0, n);
	flip(plan, data, n);
	int r = blockdev_write(f->lower, offset, data, n, flags);
	if (r == 0)
		r = answer(f, plan, "write");
	mem_free(f->env, data, (size_t)n);
	return r;
}

static uint64_t total(const struct e4_iovec *iov, uint32_t iov_count)
{
	uint64_t len = 0;

	return iov_len(iov, iov_count, &len) ? len : 0;
}

static int fault_geometry(void *ctx, struct e4_geometry *ret)
{
	struct fault *f = ctx;

	*ret = f->lower->geo;
	ret->can_map = 0; /* what is stored through a pointer could not be made to fail */
	ret->persist_granularity = 0;
	return 0;
}

static int fault_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct fault *f = ctx;
	struct e4_fault_plan plan;

	if (step(f, E4_FAULT_READ, &plan))
		return hit_read(f, &plan, offset, iov, total(iov, iov_count));
	return blockdev_readv(f->lower, offset, iov, iov_count);
}

static int fault_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct fault *f = ctx;
	struct e4_fault_plan plan;

	if (step(f, E4_FAULT_WRITE, &plan))
		return hit_write(f, &plan, offset, iov, total(iov, iov_count), flags);
	return blockdev_writev(f->lower, offset, iov, iov_count, flags);
}

static int fault_flush(void *ctx)
{
	struct fault *f = ctx;
	struct e4_fault_plan plan;

	return step(f, E4_FAULT_FLUSH, &plan) ? answer(f, &plan, "flush") : blockdev_flush(f->lower);
}

static int fault_discard(void *ctx, uint64_t offset, uint64_t len)
{
	struct fault *f = ctx;

	return blockdev_discard(f->lower, offset, len);
}

/* Zeros are a write; a hit moves none of them. */
static int fault_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	struct fault *f = ctx;
	struct e4_fault_plan plan;

	return step(f, E4_FAULT_WRITE, &plan) ? answer(f, &plan, "zeros")
					      : blockdev_write_zeroes(f->lower, offset, len);
}

static void fault_close(void *ctx)
{
	struct fault *f = ctx;

	mutex_fini(&f->lock);
	mem_free(f->env, f, sizeof(*f));
}

static const struct e4_blockdev_ops fault_ops = {
	.struct_size = sizeof(fault_ops),
	.geometry = fault_geometry,
	.read = fault_read,
	.write = fault_write,
	.flush = fault_flush,
	.close = fault_close,
	.discard = fault_discard,
	.write_zeroes = fault_write_zeroes,
};

/* Counts a queued request; one that is hit is done here and now. A preflush is a flush of its own. */
static enum stack_verdict fault_before(
	void *ctx, struct e4_blockdev_request *req, struct e4_blockdev_request *child)
{
	static const enum e4_fault_kind kinds[] = {
		[E4_BLOCKDEV_READ] = E4_FAULT_READ,
		[E4_BLOCKDEV_WRITE] = E4_FAULT_WRITE,
		[E4_BLOCKDEV_FLUSH] = E4_FAULT_FLUSH,
		[E4_BLOCKDEV_ZERO] = E4_FAULT_WRITE,
	};
	struct fault *f = ctx;
	struct e4_fault_plan plan;

	if (req->op == E4_BLOCKDEV_DISCARD)
		return STACK_PASS;
	if (req->op == E4_BLOCKDEV_WRITE && (req->flags & E4_BLOCKDEV_PREFLUSH)) {
		req->result = fault_flush(f);
		child->flags &= ~(uint32_t)E4_BLOCKDEV_PREFLUSH;
		if (req->result < 0)
			return STACK_DONE;
	}
	if (!step(f, kinds[req->op], &plan))
		return STACK_PASS;
	if (req->op == E4_BLOCKDEV_READ)
		req->result = hit_read(f, &plan, req->offset, req->iov, req->len);
	else if (req->op == E4_BLOCKDEV_WRITE)
		req->result = hit_write(f, &plan, req->offset, req->iov, req->len, child->flags);
	else
		req->result = answer(f, &plan, "queued request");
	return STACK_DONE;
}

static const struct stack_ops fault_stack = {.before = fault_before};

int blockdev_fault_new(struct e4_blockdev *lower, struct e4_blockdev **ret)
{
	struct env *env = lower->env;
	struct fault *f = mem_zalloc(env, sizeof(*f));

	if (f == NULL)
		return fail(env, E4_WHY_FAULT_MEMORY, .name = "fault");
	f->env = env;
	f->lower = lower;
	f->plan.flip_bit = -1;
	mutex_init(&f->lock, RANK_LEAF);
	struct backend backend = {.ops = fault_ops, .ctx = f, .kind = "fault"};
	return blockdev_stack(env, &backend, &fault_stack, lower, ret);
}

int blockdev_fault_set(struct e4_blockdev *dev, const struct e4_fault_plan *plan)
{
	struct e4_fault_plan p = {.flip_bit = -1};

	if (dev->stack != &fault_stack || plan->err > 0)
		return -EINVAL;
	struct fault *f = dev->ctx;
	memcpy(&p, plan, plan->struct_size < sizeof(p) ? plan->struct_size : sizeof(p));
	mutex_lock(&f->lock);
	f->plan = p;
	f->counted = 0;
	memset(f->seen, 0, sizeof(f->seen));
	mutex_unlock(&f->lock);
	return 0;
}

uint64_t blockdev_fault_count(struct e4_blockdev *dev, uint32_t kinds)
{
	uint64_t sum = 0;

	if (dev->stack != &fault_stack)
		return 0;
	struct fault *f = dev->ctx;
	mutex_lock(&f->lock);
	for (unsigned i = 0; i < KINDS; i++)
		sum += kinds & 1u << i ? f->seen[i] : 0;
	mutex_unlock(&f->lock);
	return sum;
}
