/*
 * uring.c - the `uring` backend: queued requests through io_uring, single ones through preadv2 and pwritev2.
 *
 * Owns:    the descriptor, and one ring per thread that submits.
 * Locks:   none; a ring is its context's. A context bound by hand wanders between threads, so its ring has no single issuer.
 * Always:  submit enters the kernel once a batch. A request that moved only in part is finished with plain calls at reaping.
 *
 * Measured (4 KiB random reads, us a read, zram and direct loop): one at a time preadv2 2.4 and 9-10, a SINGLE_ISSUER ring 5.7
 * and 9.3: so single requests stay with preadv2. 128 queued, DEFER_TASKRUN 2.7 and 1.03 (CPU), without 4.0 and 1.2: so a
 * thread's own ring has it, which is safe because only that thread reaps.
 *
 * The file is registered with each ring, through an open file description of its own that owns nothing: when a ring is closed by
 * another thread than its own, the kernel gives a registered file back some 40 ms later, and what was O_EXCL or locked would stay so.
 */
#include "base/log.h"
#include "base/math.h"
#include "blockdev/direct.h"
#include "blockdev/local.h"
#include "blockdev/uring_buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#define SUBMIT_TRIES 1000

_Static_assert(sizeof(struct e4_iovec) >= sizeof(struct iovec),
	"a list of pieces is one of iovec, or larger");

struct uring_dev {
	struct direct_dev direct;
	uint32_t queue_depth;
	bool nowait;
	struct list rings; /* [env->contexts.lock] */
};

/* A thread's. */
struct ring {
	struct local local;
	struct uring_dev *dev;
	struct io_uring io;
	struct ring_buffers buffers;
	bool file_registered;     /* as number 0 */
	uint32_t in_kernel_count; /* put into the ring, not seen completed */
	struct e4_blockdev_request *first,
		*last; /* completed while submitting; linked by req->internal */
};

bool backend_uring_built(void)
{
	return true;
}

/* The kernel must be done with the callers' memory before the ring goes. Nobody is left to reap what comes. */
static void ring_fini(struct local *local)
{
	struct ring *ring = container_of(local, struct ring, local);
	struct io_uring_cqe *cqe;

	while (ring->in_kernel_count > 0 && io_uring_wait_cqe(&ring->io, &cqe) == 0) {
		io_uring_cqe_seen(&ring->io, cqe);
		ring->in_kernel_count--;
	}
	/* Given back at once if this is the ring's thread; else the kernel refuses, and does it some time after the exit. */
	if (ring->file_registered)
		(void)io_uring_unregister_files(&ring->io);
	ring_buffers_fini(ring->dev->direct.file.env, &ring->io, &ring->buffers);
	io_uring_queue_exit(&ring->io);
}

/*
 * Newest features first; an older kernel refuses what it does not know. TASKRUN_FLAG, or looking without waiting would never
 * see what completes.
 */
static int queue_init(struct ring *ring, uint32_t depth, bool own_thread)
{
	static const unsigned flags[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CLAMP,
		IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CLAMP,
		IORING_SETUP_CLAMP,
	};
	int r = -EINVAL;

	for (unsigned i = own_thread ? 0 : 1; i < 3 && r == -EINVAL; i++)
		r = io_uring_queue_init(depth, &ring->io, flags[i]);
	return r;
}

/* A description of the same file without the lock or the O_EXCL of the first; see the head of this file. */
static int open_unowned(const struct fd_dev *file)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	return open(path, O_RDWR | O_DIRECT | O_NONBLOCK | O_CLOEXEC);
}

/* Spares every request a look at the table of descriptors. Where it cannot be had, requests name the descriptor. */
static void register_file(struct ring *ring, const struct fd_dev *file)
{
	int fd = file->read_only ? file->fd : open_unowned(file);

	ring->file_registered = fd >= 0 && io_uring_register_files(&ring->io, &fd, 1) == 0;
	if (fd >= 0 && fd != file->fd)
		(void)close(fd);
}

static int ring_new(struct uring_dev *d, struct ring **ret)
{
	struct env *env = d->direct.file.env;
	struct context *ctx = context_get(env);
	struct ring *ring = mem_zalloc(env, sizeof(*ring));

	if (ctx == NULL || ring == NULL) {
		mem_free(env, ring, sizeof(*ring));
		return -ENOMEM;
	}
	ring->dev = d;
	ring->local.fini = ring_fini;
	ring->local.size = sizeof(*ring);
	int r = queue_init(ring, d->queue_depth, !ctx->by_hand);
	if (r == 0) {
		r = local_add(env, &ring->local, d, &d->rings);
		if (r < 0)
			io_uring_queue_exit(&ring->io);
	}
	if (r < 0) {
		mem_free(env, ring, sizeof(*ring));
		return r;
	}
	register_file(ring, &d->direct.file);
	*ret = ring;
	return 0;
}

static int ring_get(struct uring_dev *d, struct ring **ret)
{
	struct local *l = local_find(d->direct.file.env, d);

	if (E4_UNLIKELY(l == NULL))
		return ring_new(d, ret);
	*ret = container_of(l, struct ring, local);
	return 0;
}

/* The pieces as the kernel wants them: the same in memory where an address is 64 bits wide. */
static bool pieces_are_iovecs(void)
{
	return sizeof(struct e4_iovec) == sizeof(struct iovec) &&
	       offsetof(struct e4_iovec, len) == offsetof(struct iovec, iov_len);
}

static void prepare_data(
	const struct ring *ring, struct io_uring_sqe *sqe, const struct e4_blockdev_request *req)
{
	const struct fd_dev *file = &ring->dev->direct.file;
	const struct iovec *vec = (const struct iovec *)(const void *)req->iov;
	bool one = req->iov_count == 1;
	int number = one ? ring_buffers_find(&ring->buffers, req->iov) : -1;
	int fd = ring->file_registered ? 0 : file->fd;

	if (req->op == E4_BLOCKDEV_READ && number >= 0)
		io_uring_prep_read_fixed(
			sqe, fd, req->iov->base, (unsigned)req->len, req->offset, number);
	else if (number >= 0)
		io_uring_prep_write_fixed(
			sqe, fd, req->iov->base, (unsigned)req->len, req->offset, number);
	else if (req->op == E4_BLOCKDEV_READ && one)
		io_uring_prep_read(sqe, fd, req->iov->base, (unsigned)req->len, req->offset);
	else if (req->op == E4_BLOCKDEV_READ)
		io_uring_prep_readv(sqe, fd, vec, req->iov_count, req->offset);
	else if (one)
		io_uring_prep_write(sqe, fd, req->iov->base, (unsigned)req->len, req->offset);
	else
		io_uring_prep_writev(sqe, fd, vec, req->iov_count, req->offset);
	if (req->op == E4_BLOCKDEV_WRITE && (file->sync || (req->flags & E4_BLOCKDEV_FUA)))
		sqe->rw_flags = RWF_DSYNC;
	if (ring->file_registered)
		sqe->flags |= IOSQE_FIXED_FILE;
}

/* A flush names the descriptor: a lost write is reported once per open file description, and single flushes ask this one. */
static void prepare(
	const struct ring *ring, struct io_uring_sqe *sqe, struct e4_blockdev_request *req)
{
	if (req->op == E4_BLOCKDEV_FLUSH)
		io_uring_prep_fsync(sqe, ring->dev->direct.file.fd, IORING_FSYNC_DATASYNC);
	else
		prepare_data(ring, sqe, req);
	io_uring_sqe_set_data(sqe, req);
}

/* Does the rest of a request, or all of it, with plain calls. */
static int finish(const struct uring_dev *d, const struct e4_blockdev_request *req, uint64_t done)
{
	uint64_t offset = req->offset + done;
	bool durable = d->direct.file.sync || (req->flags & E4_BLOCKDEV_FUA);

	if (req->op == E4_BLOCKDEV_FLUSH)
		return fd_flush(&d->direct.file);
	for (uint32_t i = 0; i < req->iov_count; i++) {
		struct e4_iovec piece = req->iov[i];
		uint64_t skip = min_u64(done, piece.len);
		int r = 0;

		done -= skip;
		piece.base = (uint8_t *)piece.base + skip;
		piece.len -= skip;
		if (req->op == E4_BLOCKDEV_READ)
			r = fd_readv(d->direct.file.fd, offset, &piece, 1, 0);
		else
			r = fd_writev(d->direct.file.fd, offset, &piece, 1, durable ? RWF_DSYNC : 0);
		if (r < 0)
			return r;
		offset += piece.len;
	}
	return 0;
}

/* A completion becomes the request's result. A flush is never repeated: see fd_flush(). */
static int result_of(const struct uring_dev *d, const struct e4_blockdev_request *req, int res)
{
	if (req->op == E4_BLOCKDEV_FLUSH)
		return res;
	if (res == -EINTR || res == -EAGAIN)
		return finish(d, req, 0);
	if (res < 0)
		return res;
	return (uint64_t)res == req->len ? 0 : finish(d, req, (uint64_t)res);
}

static struct e4_blockdev_request *complete(struct ring *ring, struct io_uring_cqe *cqe)
{
	struct e4_blockdev_request *req = io_uring_cqe_get_data(cqe);
	int res = cqe->res;

	io_uring_cqe_seen(&ring->io, cqe);
	ring->in_kernel_count--;
	req->result = result_of(ring->dev, req, res);
	req->internal = NULL;
	return req;
}

/* Keeps a completion for the next reap. */
static void seen(struct ring *ring, struct io_uring_cqe *cqe)
{
	struct e4_blockdev_request *req = complete(ring, cqe);

	if (ring->first == NULL)
		ring->first = req;
	else
		ring->last->internal = req;
	ring->last = req;
}

/* Hands the queue to the kernel; when that has no room, completions are taken out of its way. */
static int push(struct ring *ring)
{
	for (unsigned tries = 0; io_uring_sq_ready(&ring->io) > 0; tries++) {
		struct io_uring_cqe *cqe;
		int r = io_uring_submit(&ring->io);

		if (tries == SUBMIT_TRIES)
			return r < 0 ? r : -EIO;
		if (r >= 0 || r == -EINTR)
			continue;
		if (r != -EBUSY && r != -EAGAIN)
			return r;
		if (ring->in_kernel_count > io_uring_sq_ready(&ring->io) &&
			io_uring_wait_cqe(&ring->io, &cqe) == 0)
			seen(ring, cqe);
	}
	return 0;
}

static int uring_submit(void *ctx, struct e4_blockdev_request **reqs, uint32_t count)
{
	struct uring_dev *d = ctx;
	struct ring *ring;
	int r = ring_get(d, &ring);

	for (uint32_t i = 0; r == 0 && i < count; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->io);

		if (sqe == NULL) {
			int pushed = push(ring);

			sqe = pushed == 0 ? io_uring_get_sqe(&ring->io) : NULL;
			if (sqe == NULL)
				return i > 0 ? (int)i : pushed;
		}
		prepare(ring, sqe, reqs[i]);
		ring->in_kernel_count++;
	}
	if (r < 0)
		return r;
	/* What stands in the ring is accepted: if the kernel has no memory just now, reaping tries again. */
	(void)push(ring);
	return (int)count;
}

static struct e4_blockdev_request *take_kept(struct ring *ring)
{
	struct e4_blockdev_request *req = ring->first;

	if (req != NULL) {
		ring->first = req->internal;
		req->internal = NULL;
	}
	return req;
}

/* One entry into the kernel for all that is wanted; what is there already costs none. */
static int await(struct ring *ring, uint32_t want)
{
	struct io_uring_cqe *cqe;
	int r;

	do {
		r = io_uring_wait_cqe_nr(&ring->io, &cqe, want);
	} while (r == -EINTR);
	return r;
}

static int uring_reap(void *ctx, struct e4_blockdev_request **ret, uint32_t min, uint32_t max)
{
	struct e4_blockdev_request *req;
	struct io_uring_cqe *cqe;
	struct ring *ring;
	uint32_t n = 0;
	int r = ring_get(ctx, &ring);

	while (r == 0 && n < max && (req = take_kept(ring)) != NULL)
		ret[n++] = req;
	if (r == 0)
		r = push(ring);
	if (r == 0 && n < min && ring->in_kernel_count > 0)
		r = await(ring, min_u32(min - n, ring->in_kernel_count));
	while (r == 0 && n < max && ring->in_kernel_count > 0) {
		r = io_uring_peek_cqe(&ring->io, &cqe);
		if (r == 0)
			ret[n++] = complete(ring, cqe);
	}
	if (r == -EAGAIN)
		r = 0;
	return r < 0 && n == 0 ? r : (int)n;
}

static int uring_buffers_register(void *ctx, const struct e4_iovec *bufs, uint32_t count)
{
	struct uring_dev *d = ctx;
	struct ring *ring;
	int r = ring_get(d, &ring);

	return r < 0 ? r
		     : ring_buffers_register(
			       d->direct.file.env, &ring->io, &ring->buffers, bufs, count);
}

static int uring_buffers_unregister(void *ctx)
{
	struct uring_dev *d = ctx;
	struct ring *ring;
	int r = ring_get(d, &ring);

	if (r < 0)
		return r;
	if (ring->buffers.ranges != NULL && ring->in_kernel_count > 0)
		return -EBUSY;
	return ring_buffers_unregister(d->direct.file.env, &ring->io, &ring->buffers);
}

static int uring_geometry(void *ctx, struct e4_geometry *ret)
{
	struct uring_dev *d = ctx;
	int r = direct_geometry(&d->direct, ret);

	ret->queue_depth = d->queue_depth;
	ret->nowait = d->nowait;
	return r;
}

static int uring_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct uring_dev *d = ctx;

	return fd_readv(d->direct.file.fd, offset, iov, iov_count, 0);
}

static int uring_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct uring_dev *d = ctx;
	bool durable = d->direct.file.sync || (flags & E4_BLOCKDEV_FUA);

	return fd_writev(d->direct.file.fd, offset, iov, iov_count, durable ? RWF_DSYNC : 0);
}

static int uring_flush(void *ctx)
{
	struct uring_dev *d = ctx;

	return fd_flush(&d->direct.file);
}

static int uring_discard(void *ctx, uint64_t offset, uint64_t len)
{
	struct uring_dev *d = ctx;

	return fd_discard(&d->direct.file, offset, len);
}

static int uring_write_zeroes(void *ctx, uint64_t offset, uint64_t len)
{
	struct uring_dev *d = ctx;

	return fd_write_zeroes(&d->direct.file, offset, len);
}

static void uring_close(void *ctx)
{
	struct uring_dev *d = ctx;
	struct env *env = d->direct.file.env;

	local_close_all(env, &d->rings);
	fd_close(&d->direct.file);
	mem_free(env, d, sizeof(*d));
}

static const struct e4_blockdev_ops uring_ops = {
	.struct_size = sizeof(uring_ops),
	.geometry = uring_geometry,
	.read = uring_read,
	.write = uring_write,
	.flush = uring_flush,
	.close = uring_close,
	.discard = uring_discard,
	.write_zeroes = uring_write_zeroes,
	.submit = uring_submit,
	.reap = uring_reap,
	.buffers_register = uring_buffers_register,
	.buffers_unregister = uring_buffers_unregister,
};

/* Without NOWAIT the kernel hands each queued request to a worker; users can tell by the geometry. */
static bool probe_nowait(struct direct_dev *d)
{
	uint32_t size = max_u32(d->sector, d->dma_align);
	void *mem = mem_alloc_aligned(d->file.env, size, size);
	struct e4_iovec iov = {.base = mem, .len = d->sector};

	if (mem == NULL)
		return false;
	int r = fd_readv(d->file.fd, 0, &iov, 1, RWF_NOWAIT);
	mem_free(d->file.env, mem, size);
	return r == 0 || r == -EAGAIN || r == BLOCKDEV_SHORT;
}

/* Whether this process may have rings at all: seccomp and sysctl kernel.io_uring_disabled say no in many containers. */
static int probe_ring(void)
{
	struct io_uring io;
	int r = io_uring_queue_init(1, &io, 0);

	if (r == 0)
		io_uring_queue_exit(&io);
	return r;
}

static int open_with_ring(struct env *env, const struct open_request *req, struct backend *ret)
{
	struct uring_dev *d = mem_zalloc(env, sizeof(*d));

	if (d == NULL)
		return fail(env, E4_WHY_URING_MEMORY, .name = req->path);
	int r = direct_open(env, req, &d->direct);
	if (r < 0) {
		mem_free(env, d, sizeof(*d));
		return r;
	}
	list_init(&d->rings);
	d->queue_depth = req->queue_depth;
	d->nowait = probe_nowait(&d->direct);
	*ret = (struct backend){.ops = uring_ops, .ctx = d, .kind = "uring"};
	return 0;
}

int backend_uring_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	int r = probe_ring();

	if (r == 0 && pieces_are_iovecs())
		return open_with_ring(env, req, ret);
	log_line(env, E4_LOG_WARN, "host: no io_uring for %s (errno %d): plain direct I/O instead",
		req->path, -r);
	return backend_direct_open(env, req, ret);
}
