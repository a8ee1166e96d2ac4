/*
 * blockdev.h - the face of the block device room.
 *
 * Everything above reads and writes through struct e4_blockdev: bounds are checked here, alignment is bounced here, counters are kept
 * here, errors get their reason here. Backends are ops tables (one file each) and know nothing of each other.
 */
#ifndef BLOCKDEV_BLOCKDEV_H
#define BLOCKDEV_BLOCKDEV_H

#include "base/env.h"
#include "base/list.h"
#include "base/mutex.h"
#include "base/types.h"

#include <ext4core/blockdev.h>

struct stack_ops;

struct e4_blockdev {
	struct env *env;            /* [const] a reference is held */
	struct e4_blockdev_ops ops; /* [const] */
	void *ctx;                  /* [const] the backend's */
	struct e4_geometry geo;     /* [const] as of opening */
	struct e4_blockdev *lower;  /* [const] stacked on; NULL for a real device */
	_Atomic uint32_t users;     /* [atomic] mounts and devices stacked on this one */
	const char *kind; /* [const] "file", "direct", "uring", "pmem", "mem", "window", "cow", ... */
	bool owns_lower;               /* [const] lower goes when this goes */
	const struct stack_ops *stack; /* [const] how requests pass to lower; NULL where none do */
	struct mutex edge_lock;        /* rank DEVICE: one write of part of a sector at a time */
	struct list inboxes;           /* [env->contexts.lock] what threads hold for this device */
};

/* Any offset, length and memory. Short answers are errors. Failures carry a reason in dev->env. */
int blockdev_read(struct e4_blockdev *dev, uint64_t offset, void *buf, uint64_t len) E4_MUST_CHECK;
int blockdev_readv(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count) E4_MUST_CHECK;
int blockdev_write(struct e4_blockdev *dev, uint64_t offset, const void *buf, uint64_t len,
	uint32_t flags) E4_MUST_CHECK;
int blockdev_writev(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint32_t flags) E4_MUST_CHECK;
int blockdev_flush(struct e4_blockdev *dev) E4_MUST_CHECK;
/* Of whole sectors inside the range; the rest is left alone. -EOPNOTSUPP where the device cannot. */
int blockdev_discard(struct e4_blockdev *dev, uint64_t offset, uint64_t len) E4_MUST_CHECK;
/* Reads as zeros afterwards; written out where the device has no better way. */
int blockdev_write_zeroes(struct e4_blockdev *dev, uint64_t offset, uint64_t len) E4_MUST_CHECK;

/*
 * Asynchronous; requests keep the alignment of the geometry (this is checked: -EINVAL in the request's result). Without submit/reap in
 * the ops, requests are done inline and queued for reap in the calling thread's context. Returns requests accepted, or negative errno.
 */
int blockdev_submit(
	struct e4_blockdev *dev, struct e4_blockdev_request **reqs, uint32_t count) E4_MUST_CHECK;
int blockdev_reap(struct e4_blockdev *dev, struct e4_blockdev_request **ret, uint32_t min,
	uint32_t max) E4_MUST_CHECK;

/*
 * Memory of the calling thread's queued requests, registered with the lowest device. -EOPNOTSUPP by name where that has no such functions;
 * -EBUSY registered already, or requests are in flight; -ENOENT nothing registered.
 */
int blockdev_buffers_register(
	struct e4_blockdev *dev, const struct e4_iovec *bufs, uint32_t count) E4_MUST_CHECK;
int blockdev_buffers_unregister(struct e4_blockdev *dev) E4_MUST_CHECK;

/* A stable pointer for DAX file data, or -EOPNOTSUPP. */
int blockdev_map(struct e4_blockdev *dev, uint64_t offset, uint64_t len, void **ret) E4_MUST_CHECK;
/* Makes what was stored in a mapped range durable; -EOPNOTSUPP where nothing can be mapped. */
int blockdev_persist(struct e4_blockdev *dev, const void *addr, uint64_t len) E4_MUST_CHECK;
/* The geometry as it is now; the size may have changed since opening. */
int blockdev_geometry(struct e4_blockdev *dev, struct e4_geometry *ret) E4_MUST_CHECK;

/* Opens a device specification (CONTRACT.md); flags of enum e4_blockdev_open_flags, opts complete. The device takes a reference of env. */
int blockdev_open(struct env *env, const char *text, uint32_t flags,
	const struct e4_blockdev_options *opts, struct e4_blockdev **ret) E4_MUST_CHECK;
/* An embedder's table, struct_size set. */
int blockdev_own_new(struct env *env, const struct e4_blockdev_ops *ops, void *ctx,
	struct e4_blockdev **ret) E4_MUST_CHECK;

/* A device in memory of `size` zero bytes (sparse), for tests and overlays, on the given env. */
int blockdev_mem_new(struct env *env, uint64_t size, struct e4_blockdev **ret) E4_MUST_CHECK;
/* The overlay that read-only recovery writes into. */
int blockdev_cow_new(
	struct e4_blockdev *lower, uint32_t block_size, struct e4_blockdev **ret) E4_MUST_CHECK;
/* Calls fn for every block the overlay holds, in rising offset; stops at the first non-zero answer, which it returns. */
int blockdev_cow_foreach(struct e4_blockdev *dev,
	int (*fn)(void *arg, uint64_t offset, const void *data, uint32_t len),
	void *arg) E4_MUST_CHECK;
/* Bytes the overlay holds; -EINVAL for another device. */
int blockdev_cow_size(struct e4_blockdev *dev, uint64_t *ret_bytes) E4_MUST_CHECK;

/* Other devices stacked on one; what the public calls of these names do. */
int blockdev_window_new(struct e4_blockdev *lower, uint64_t offset, uint64_t size,
	struct e4_blockdev **ret) E4_MUST_CHECK;
int blockdev_partition_new(
	struct e4_blockdev *lower, uint32_t number, struct e4_blockdev **ret) E4_MUST_CHECK;
int blockdev_fault_new(struct e4_blockdev *lower, struct e4_blockdev **ret) E4_MUST_CHECK;
int blockdev_fault_set(struct e4_blockdev *dev, const struct e4_fault_plan *plan) E4_MUST_CHECK;
uint64_t blockdev_fault_count(struct e4_blockdev *dev, uint32_t kinds);
int blockdev_record_new(struct e4_blockdev *lower, struct e4_blockdev **ret) E4_MUST_CHECK;
uint64_t blockdev_record_count(struct e4_blockdev *dev);
int blockdev_record_get(
	struct e4_blockdev *dev, uint64_t index, struct e4_record_entry *ret) E4_MUST_CHECK;
int blockdev_record_clear(struct e4_blockdev *dev) E4_MUST_CHECK;
int blockdev_trace_new(struct e4_blockdev *lower, struct e4_blockdev **ret) E4_MUST_CHECK;
int blockdev_trace_stats(struct e4_blockdev *dev, struct e4_trace_stats *ret) E4_MUST_CHECK;

/* Closes any device; users must be 0. */
void blockdev_free(struct e4_blockdev *dev);

/* A user more or less; a device in use is not closed. */
void blockdev_hold(struct e4_blockdev *dev);
void blockdev_release(struct e4_blockdev *dev);

#endif
