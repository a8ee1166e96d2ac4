/*
 * record.c - a device that remembers every change with the moments at which it was asked for and was done.
 *
 * Owns:    the log, with a copy of all data written.
 * Locks:   d->lock guards the log and the clock of moments; no I/O is done under it.
 * Always:  an entry is in the log, with its data, before the lower device hears of it; moments rise by one an event, so that
 *          "completed before the flush was submitted" is a comparison. An entry's place in memory never changes until cleared.
 */
#include "blockdev/blockdev_impl.h"

#include <errno.h>
#include <string.h>

struct event {
	struct e4_record_entry entry;
	size_t size; /* of this allocation: the data follows */
};

struct record {
	struct env *env;
	struct e4_blockdev *lower;
	struct mutex lock;        /* rank LEAF */
	struct event **events;    /* [lock] */
	uint64_t count, room;     /* [lock] */
	uint64_t moment;          /* [lock] of the newest event */
	uint64_t in_flight_count; /* [lock] submitted, not completed */
};

static bool grow(struct record *d) E4_REQUIRES(d->lock)
{
	if (d->count < d->room)
		return true;
	uint64_t room = d->room != 0 ? d->room * 2 : 64;
	struct event **events = mem_zalloc_array(d->env, (size_t)room, sizeof(struct event *));
	if (events == NULL)
		return false;
	if (d->count != 0)
		memcpy(events, d->events, (size_t)d->count * sizeof(struct event *));
	mem_free(d->env, d->events, (size_t)d->room * sizeof(struct event *));
	d->events = events;
	d->room = room;
	return true;
}

static bool append(struct record *d, struct event *e)
{
	mutex_lock(&d->lock);
	bool ok = grow(d);
	if (ok) {
		e->entry.submitted = ++d->moment;
		d->events[d->count++] = e;
		d->in_flight_count++;
	}
	mutex_unlock(&d->lock);
	return ok;
}

/* Logs a change that is about to be made; NULL without memory, and then it must not be made. iov NULL: no data. */
static struct event *begin(
	struct record *d, const struct e4_record_entry *what, const struct e4_iovec *iov)
{
	size_t size = sizeof(struct event) + (iov != NULL ? (size_t)what->len : 0);
	struct event *e = mem_zalloc(d->env, size);

	if (e == NULL)
		return NULL;
	e->entry = *what;
	e->size = size;
	if (iov != NULL && what->len != 0) {
		e->entry.data = e + 1;
		iov_copy_in(e + 1, iov, 0, what->len);
	}
	if (!append(d, e)) {
		mem_free(d->env, e, size);
		return NULL;
	}
	return e;
}

static void end(struct record *d, struct event *e, int result)
{
	mutex_lock(&d->lock);
	e->entry.completed = ++d->moment;
	e->entry.result = result;
	d->in_flight_count--;
	mutex_unlock(&d->lock);
}

static int no_memory(struct record *d)
{
	return fail(d->env, E4_WHY_RECORD_FULL, .name = "record");
}

static int record_geometry(void *ctx, struct e4_geometry *ret)
{
	struct record *d = ctx;

	*ret = d->lower->geo;
	ret->can_map = 0; /* stores through a pointer would not be seen */
	ret->persist_granularity = 0;
	return 0;
}

static int record_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct record *d = ctx;

	return blockdev_readv(d->lower, offset, iov, iov_count);
}

static int record_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct record *d = ctx;
	struct e4_record_entry what = {.op = E4_BLOCKDEV_WRITE, .flags = flags, .offset = offset};

	if (!iov_len(iov, iov_count, &what.len))
		return -EINVAL;
	struct event *e = begin(d, &what, iov);
	if (e == NULL)
		return no_memory(d);
	int r = blockdev_writev(d->lower, offset, iov, iov_count, flags);
	end(d, e, r);
	return r;
}

/* Changes without data: logs, does, logs. */
static int record_plain(struct record *d, enum e4_blockdev_op op, uint64_t offset, uint64_t len)
{
	struct e4_blockdev_request req = {.op = op, .offset = offset, .len = len};
	struct event *e = begin(
		d, &(struct e4_record_entry){.op = op, .offset = offset, .len = len}, NULL);

	if (e == NULL)
		return no_memory(d);
	request_do(d->lower, &req);
	end(d, e, req.result);
	return req.result;
}

static int record_flush(void *ctx)
{
	return record_plain(ctx, E4_BLOCKDEV_FLUSH, 0, 0);
}

static int record_discard(void *ctx, uint64_t offset, uint64_t len)
{
	return record_plain(ctx, E4_BLOCKDEV_DISCARD, offset, len);
}

static int record_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	return record_plain(ctx, E4_BLOCKDEV_ZERO, offset, len);
}

static void forget(struct record *d)
{
	for (uint64_t i = 0; i < d->count; i++)
		mem_free(d->env, d->events[i], d->events[i]->size);
	d->count = 0;
}

static void record_close(void *ctx)
{
	struct record *d = ctx;

	forget(d);
	mem_free(d->env, d->events, (size_t)d->room * sizeof(struct event *));
	mutex_fini(&d->lock);
	mem_free(d->env, d, sizeof(*d));
}

static const struct e4_blockdev_ops record_ops = {
	.struct_size = sizeof(record_ops),
	.geometry = record_geometry,
	.read = record_read,
	.write = record_write,
	.flush = record_flush,
	.close = record_close,
	.discard = record_discard,
	.write_zeroes = record_write_zeroes,
};

static enum stack_verdict record_before(
	void *ctx, struct e4_blockdev_request *req, struct e4_blockdev_request *child)
{
	struct record *d = ctx;
	struct e4_record_entry what = {
		.op = req->op, .flags = req->flags, .offset = req->offset, .len = req->len};

	child->user = NULL;
	if (req->op == E4_BLOCKDEV_READ)
		return STACK_PASS;
	child->user = begin(d, &what, req->op == E4_BLOCKDEV_WRITE ? req->iov : NULL);
	if (child->user != NULL)
		return STACK_PASS;
	req->result = no_memory(d);
	return STACK_DONE;
}

static void record_after(void *ctx, struct e4_blockdev_request *child)
{
	if (child->user != NULL)
		end(ctx, child->user, child->result);
}

static const struct stack_ops record_stack = {.before = record_before, .after = record_after};

int blockdev_record_new(struct e4_blockdev *lower, struct e4_blockdev **ret)
{
	struct env *env = lower->env;
	struct record *d = mem_zalloc(env, sizeof(*d));

	if (d == NULL)
		return fail(env, E4_WHY_RECORD_MEMORY, .name = "record");
	d->env = env;
	d->lower = lower;
	mutex_init(&d->lock, RANK_LEAF);
	struct backend backend = {.ops = record_ops, .ctx = d, .kind = "record"};
	return blockdev_stack(env, &backend, &record_stack, lower, ret);
}

uint64_t blockdev_record_count(struct e4_blockdev *dev)
{
	if (dev->stack != &record_stack)
		return 0;
	struct record *d = dev->ctx;
	mutex_lock(&d->lock);
	uint64_t count = d->count;
	mutex_unlock(&d->lock);
	return count;
}

int blockdev_record_get(struct e4_blockdev *dev, uint64_t index, struct e4_record_entry *ret)
{
	int r = -ENOENT;

	if (dev->stack != &record_stack)
		return -EINVAL;
	struct record *d = dev->ctx;
	mutex_lock(&d->lock);
	if (index < d->count) {
		*ret = d->events[index]->entry;
		r = 0;
	}
	mutex_unlock(&d->lock);
	return r;
}

int blockdev_record_clear(struct e4_blockdev *dev)
{
	if (dev->stack != &record_stack)
		return -EINVAL;
	struct record *d = dev->ctx;
	mutex_lock(&d->lock);
	int r = d->in_flight_count == 0 ? 0 : -EBUSY;
	if (r == 0)
		forget(d);
	mutex_unlock(&d->lock);
	return r;
}
