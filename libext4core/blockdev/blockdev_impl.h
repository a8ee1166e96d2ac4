/*
 * blockdev_impl.h - what the files of the room share: making a device, the pieces of asynchronous requests, reasons.
 */
#ifndef BLOCKDEV_BLOCKDEV_IMPL_H
#define BLOCKDEV_BLOCKDEV_IMPL_H

#include "blockdev/blockdev.h"

/* Private answer of a backend: the device ended early. Becomes -EIO with its own reason; never leaves the room. */
#define BLOCKDEV_SHORT (-100000)

/* What a backend is asked to open. Strings are borrowed. */
struct open_request {
	const char *path;
	bool writable;
	bool sync;            /* every write is durable when it returns */
	bool char_too;        /* a character device (device DAX) is welcome */
	uint32_t queue_depth; /* at least 1 */
	uint32_t require_granularity;
};

/* What it gives: a table and its context. */
struct backend {
	struct e4_blockdev_ops ops;
	void *ctx;
	const char *kind;
};

int backend_file_open(
	struct env *env, const struct open_request *req, struct backend *ret) E4_MUST_CHECK;
int backend_direct_open(
	struct env *env, const struct open_request *req, struct backend *ret) E4_MUST_CHECK;
int backend_uring_open(
	struct env *env, const struct open_request *req, struct backend *ret) E4_MUST_CHECK;
int backend_pmem_open(
	struct env *env, const struct open_request *req, struct backend *ret) E4_MUST_CHECK;
int backend_mem_open(
	struct env *env, const struct open_request *req, struct backend *ret) E4_MUST_CHECK;
/* Whether uring.c is in this build; what a bare path to a block device means hangs on it. */
bool backend_uring_built(void);

/*
 * Makes the device around a backend or a stacked table. The geometry is asked and checked. On failure the backend stays the
 * caller's. A stacked device holds its lower one.
 */
int blockdev_make(struct env *env, const struct backend *backend, struct e4_blockdev *lower,
	struct e4_blockdev **ret) E4_MUST_CHECK;

struct stack_ops;
/* The same for a stacked device, closing the backend on failure. */
int blockdev_stack(struct env *env, const struct backend *backend, const struct stack_ops *stack,
	struct e4_blockdev *lower, struct e4_blockdev **ret) E4_MUST_CHECK;

/* The one place where failures of device operations get their reason; returns what the caller returns. */
int blockdev_failed(
	struct e4_blockdev *dev, enum e4_blockdev_op op, int err, uint64_t offset, uint64_t len);

/* Sum of the pieces; false when it overflows. */
bool iov_len(const struct e4_iovec *iov, uint32_t count, uint64_t *ret) E4_MUST_CHECK;
/* Copies between a flat buffer and bytes [skip, skip + len) of the pieces. */
void iov_copy_out(const struct e4_iovec *iov, uint64_t skip, const void *from, uint64_t len);
void iov_copy_in(void *to, const struct e4_iovec *iov, uint64_t skip, uint64_t len);

/* Walks pieces: at most `max` bytes from the current place, as one pointer. */
struct iov_cursor {
	const struct e4_iovec *iov;
	uint32_t count;
	uint64_t done; /* bytes of iov[0] already used */
};
void *iov_take(struct iov_cursor *it, uint64_t max, uint64_t *ret_len);

/* Whether a request can go to the device as it is. */
bool blockdev_aligned(const struct e4_blockdev *dev, uint64_t offset, uint64_t len,
	const struct e4_iovec *iov, uint32_t iov_count);
/* 0, or what is wrong with the range. */
int blockdev_check_range(struct e4_blockdev *dev, uint64_t offset, uint64_t len) E4_MUST_CHECK;
void blockdev_count(struct e4_blockdev *dev, enum e4_blockdev_op op, uint64_t len);

/* Through aligned memory and, for a write that covers part of a sector, a read before it. */
int bounce_read(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint64_t len) E4_MUST_CHECK;
int bounce_write(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint64_t len, uint32_t flags) E4_MUST_CHECK;

/* How a stacked device lets asynchronous requests pass. */
enum stack_verdict {
	STACK_PASS, /* child goes to the lower device */
	STACK_DONE, /* req->result is set, nothing goes down */
};
struct stack_ops {
	/* child is a copy of req; change what differs below. child->user is the stacked device's own. */
	enum stack_verdict (*before)(
		void *ctx, struct e4_blockdev_request *req, struct e4_blockdev_request *child);
	/* child has completed; may change its result. NULL = nothing to do. */
	void (*after)(void *ctx, struct e4_blockdev_request *child);
	bool ends_here; /* before() does every request itself */
};

/* Does a request now, in the calling thread, and sets its result. */
void request_do(struct e4_blockdev *dev, struct e4_blockdev_request *req);

#endif
