/*
 * async.c - submit and reap, for every device: real queues, stacked devices, and devices that have neither.
 *
 * Owns:    inboxes and flights, each of one thread.
 * Locks:   none; what a thread submits it also reaps, and a stacked device's requests use the flights of that thread.
 * Always:  a request handed to blockdev_submit() comes out of blockdev_reap() of the same device and thread exactly once; a
 *          backend's submit sees reads, writes (FUA only where its geometry has it) and flushes that keep its alignment.
 */
#include "blockdev/async.h"

#include "base/assert.h"
#include "base/math.h"

#include <errno.h>
#include <string.h>

#define BATCH       64
#define BUFFER_MAX  (1u << 30) /* the kernel's limits */
#define BUFFERS_MAX (1u << 14)

static struct e4_blockdev_request *inbox_done(struct route *route, struct e4_blockdev_request *req)
{
	struct inbox *in = container_of(route, struct inbox, route);

	E4_ASSERT(in->in_flight_count > 0);
	in->in_flight_count--;
	in->ready_count++;
	req->route = NULL;
	req->internal = NULL;
	if (in->first == NULL)
		in->first = req;
	else
		in->last->internal = req;
	in->last = req;
	return NULL;
}

static void inbox_fini(struct local *local)
{
	struct inbox *in = container_of(local, struct inbox, local);

	for (struct flight *f = in->all, *next; f != NULL; f = next) {
		next = f->next_all;
		mem_free(in->env, f, sizeof(*f));
	}
	in->all = in->spare = NULL;
}

static struct inbox *inbox_get(struct e4_blockdev *dev)
{
	struct local *l = local_find(dev->env, dev);

	if (E4_LIKELY(l != NULL))
		return container_of(l, struct inbox, local);
	struct inbox *in = mem_zalloc(dev->env, sizeof(*in));
	if (in == NULL)
		return NULL;
	in->local.fini = inbox_fini;
	in->local.size = sizeof(*in);
	in->route.done = inbox_done;
	in->env = dev->env;
	if (local_add(dev->env, &in->local, dev, &dev->inboxes) < 0) {
		mem_free(dev->env, in, sizeof(*in));
		return NULL;
	}
	return in;
}

static struct e4_blockdev_request *inbox_take(struct inbox *in)
{
	struct e4_blockdev_request *req = in->first;

	in->first = req->internal;
	in->ready_count--;
	req->internal = NULL;
	return req;
}

/* Hands a finished request up, through the stacked devices it went down. */
static void deliver(struct e4_blockdev_request *req)
{
	while (req != NULL) {
		struct route *route = req->route;

		req = route->done(route, req);
	}
}

static struct e4_blockdev_request *flight_done(struct route *route, struct e4_blockdev_request *child)
{
	struct flight *f = container_of(route, struct flight, route);

	if (f->dev->stack->after != NULL)
		f->dev->stack->after(f->dev->ctx, child);
	f->parent->result = child->result;
	f->next = f->inbox->spare;
	f->inbox->spare = f;
	return f->parent;
}

static struct flight *flight_get(
	struct inbox *in, struct e4_blockdev *dev, struct e4_blockdev_request *req)
{
	struct flight *f = in->spare;

	if (f != NULL) {
		in->spare = f->next;
	} else {
		f = mem_zalloc(in->env, sizeof(*f));
		if (f == NULL)
			return NULL;
		f->next_all = in->all;
		in->all = f;
	}
	f->route.done = flight_done;
	f->inbox = in;
	f->dev = dev;
	f->parent = req;
	f->child = *req;
	f->child.route = &f->route;
	return f;
}

void request_do(struct e4_blockdev *dev, struct e4_blockdev_request *req)
{
	switch (req->op) {
	case E4_BLOCKDEV_READ:
		req->result = blockdev_readv(dev, req->offset, req->iov, req->iov_count);
		return;
	case E4_BLOCKDEV_WRITE:
		req->result = blockdev_writev(dev, req->offset, req->iov, req->iov_count, req->flags);
		return;
	case E4_BLOCKDEV_FLUSH:
		req->result = blockdev_flush(dev);
		return;
	case E4_BLOCKDEV_DISCARD:
		req->result = blockdev_discard(dev, req->offset, req->len);
		return;
	case E4_BLOCKDEV_ZERO:
		req->result = blockdev_write_zeroes(dev, req->offset, req->len);
		return;
	}
	req->result = -EINVAL;
}

/* What the caller got wrong: 0, or what goes into the request's result. */
static int check_request(struct e4_blockdev *dev, const struct e4_blockdev_request *req)
{
	uint64_t len = req->len;
	uint64_t sum = 0;

	if (req->op == E4_BLOCKDEV_FLUSH)
		return 0;
	if (dev->geo.read_only && req->op != E4_BLOCKDEV_READ)
		return fail(dev->env, E4_WHY_DEV_ASYNC_WRITE_REFUSED, .name = dev->kind);
	int r = blockdev_check_range(dev, req->offset, len);
	if (r < 0 || (req->op != E4_BLOCKDEV_READ && req->op != E4_BLOCKDEV_WRITE))
		return r;
	if (!iov_len(req->iov, req->iov_count, &sum) || sum != len)
		return fail(dev->env, E4_WHY_DEV_LENGTHS, .found = sum, .expected = len);
	if (len > dev->geo.max_transfer && dev->geo.max_transfer != 0)
		len = 0; /* is split; the alignment of its parts follows from that of the pieces */
	if (!blockdev_aligned(dev, req->offset, len, req->iov, req->iov_count))
		return fail(dev->env, E4_WHY_DEV_MISALIGNED, .name = dev->kind);
	return 0;
}

/* Whether the backend's own queue can take it. */
static bool is_native(const struct e4_blockdev *dev, const struct e4_blockdev_request *req)
{
	if (dev->ops.submit == NULL || (req->flags & E4_BLOCKDEV_PREFLUSH))
		return false;
	if (req->op == E4_BLOCKDEV_FLUSH)
		return !dev->geo.read_only;
	if (req->len == 0 || (req->op != E4_BLOCKDEV_READ && req->op != E4_BLOCKDEV_WRITE))
		return false;
	if ((req->flags & E4_BLOCKDEV_FUA) && !dev->geo.fua)
		return false;
	return blockdev_aligned(dev, req->offset, req->len, req->iov, req->iov_count);
}

/* Takes a request down the stack. Returns what arrives at the lowest device (in *dev), or NULL when it ended on the way. */
static struct e4_blockdev_request *descend(
	struct inbox *in, struct e4_blockdev **dev, struct e4_blockdev_request *req)
{
	while ((*dev)->stack != NULL) {
		struct flight *f = flight_get(in, *dev, req);

		if (f == NULL) {
			req->result = fail(in->env, E4_WHY_DEV_FLIGHT_MEMORY, .name = (*dev)->kind);
			deliver(req);
			return NULL;
		}
		if ((*dev)->stack->before((*dev)->ctx, req, &f->child) == STACK_DONE) {
			f->next = in->spare;
			in->spare = f;
			deliver(req);
			return NULL;
		}
		req = &f->child;
		*dev = (*dev)->lower;
	}
	return req;
}

static void start_batch(struct e4_blockdev *dev, struct e4_blockdev_request **reqs, uint32_t count)
{
	uint32_t done = 0;
	int r = 0;

	while (done < count && r >= 0) {
		r = dev->ops.submit(dev->ctx, reqs + done, count - done);
		if (r == 0)
			r = -EIO; /* a queue that takes nothing would keep us here for ever */
		if (r > 0)
			done += (uint32_t)r;
	}
	for (; done < count; done++) {
		reqs[done]->result = blockdev_failed(
			dev, reqs[done]->op, r, reqs[done]->offset, reqs[done]->len);
		deliver(reqs[done]);
	}
}

static struct e4_blockdev *lowest(struct e4_blockdev *dev)
{
	while (dev->stack != NULL)
		dev = dev->lower;
	return dev;
}

/* Starts up to BATCH requests, which the inbox counts as in flight. */
static void start(struct inbox *in, struct e4_blockdev *dev, struct e4_blockdev_request **reqs,
	uint32_t count)
{
	struct e4_blockdev_request *batch[BATCH];
	struct e4_blockdev *bottom = lowest(dev);
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct e4_blockdev *at = dev;
		int r = check_request(dev, reqs[i]);

		if (r < 0) {
			reqs[i]->result = r;
			deliver(reqs[i]);
			continue;
		}
		struct e4_blockdev_request *req = descend(in, &at, reqs[i]);
		if (req == NULL)
			continue;
		if (is_native(bottom, req)) {
			blockdev_count(bottom, req->op, req->len);
			batch[n++] = req;
			continue;
		}
		start_batch(bottom, batch, n); /* keeps the order of submission */
		n = 0;
		request_do(bottom, req);
		deliver(req);
	}
	start_batch(bottom, batch, n);
}

int blockdev_submit(struct e4_blockdev *dev, struct e4_blockdev_request **reqs, uint32_t count)
{
	struct inbox *in = inbox_get(dev);

	if (in == NULL)
		return -ENOMEM;
	if (count > INT32_MAX)
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++)
		reqs[i]->route = &in->route;
	for (uint32_t i = 0; i < count;) {
		uint32_t n = min_u32(count - i, BATCH);

		in->in_flight_count += n;
		start(in, dev, reqs + i, n);
		i += n;
	}
	return (int)count;
}

/* Collects what the real device has finished, whoever in this thread submitted it. */
static int pump(struct e4_blockdev *bottom, uint32_t min)
{
	struct e4_blockdev_request *reqs[BATCH];

	if (bottom->ops.reap == NULL)
		return 0;
	int n = bottom->ops.reap(bottom->ctx, reqs, min_u32(min, BATCH), BATCH);
	for (int i = 0; i < n; i++) {
		struct e4_blockdev_request *req = reqs[i];

		if (req->result < 0)
			req->result = blockdev_failed(
				bottom, req->op, req->result, req->offset, req->len);
		deliver(req);
	}
	return n;
}

/* How many completions to wait for: all of the inbox's are the real device's, which may have others besides. */
static uint32_t still_wanted(const struct inbox *in, uint32_t min)
{
	return in->ready_count < min ? min_u32(min - in->ready_count, in->in_flight_count) : 0;
}

int blockdev_reap(
	struct e4_blockdev *dev, struct e4_blockdev_request **ret, uint32_t min, uint32_t max)
{
	struct inbox *in = inbox_get(dev);
	uint32_t n = 0;
	int r = 0;

	if (in == NULL)
		return -ENOMEM;
	min = min_u32(min, max);
	if (in->ready_count < max && in->in_flight_count > 0)
		r = pump(lowest(dev), still_wanted(in, min));
	while (r >= 0 && still_wanted(in, min) > 0)
		r = pump(lowest(dev), still_wanted(in, min));
	if (r < 0 && in->ready_count == 0)
		return r;
	while (n < max && in->ready_count > 0)
		ret[n++] = inbox_take(in);
	return (int)n;
}

/* The device that registers, which is where the requests end; NULL and a reason where it cannot. */
static struct e4_blockdev *registrar(struct e4_blockdev *dev)
{
	struct e4_blockdev *bottom = dev;

	while (bottom->stack != NULL && !bottom->stack->ends_here)
		bottom = bottom->lower;
	if (bottom->ops.buffers_register != NULL)
		return bottom;
	(void)fail(dev->env, E4_WHY_DEV_BUFFERS_ABSENT, .name = bottom->kind);
	return NULL;
}

static bool buffers_possible(const struct e4_iovec *bufs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (bufs[i].base == NULL || bufs[i].len == 0 || bufs[i].len > BUFFER_MAX)
			return false;
	}
	return count > 0 && count <= BUFFERS_MAX;
}

int blockdev_buffers_register(struct e4_blockdev *dev, const struct e4_iovec *bufs, uint32_t count)
{
	struct e4_blockdev *bottom = registrar(dev);

	if (bottom == NULL)
		return -EOPNOTSUPP;
	if (!buffers_possible(bufs, count))
		return fail(dev->env, E4_WHY_DEV_BUFFERS_RANGE, .name = bottom->kind);
	int r = bottom->ops.buffers_register(bottom->ctx, bufs, count);
	return r < 0 ? fail(dev->env, E4_WHY_DEV_BUFFERS, .err = r, .name = bottom->kind) : 0;
}

int blockdev_buffers_unregister(struct e4_blockdev *dev)
{
	struct e4_blockdev *bottom = registrar(dev);

	if (bottom == NULL)
		return -EOPNOTSUPP;
	int r = bottom->ops.buffers_unregister(bottom->ctx);
	return r < 0 ? fail(dev->env, E4_WHY_DEV_BUFFERS_KEPT, .err = r, .name = bottom->kind) : 0;
}
