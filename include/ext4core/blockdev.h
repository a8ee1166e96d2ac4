/** @file blockdev.h
 *  Block devices: the built-in ones, stacked ones for testing, and your own. */
#ifndef EXT4CORE_BLOCKDEV_H
#define EXT4CORE_BLOCKDEV_H

#include <stdint.h>

#include <ext4core/error.h>
#include <ext4core/hooks.h>
#include <ext4core/version.h>

E4_BEGIN_DECLS

struct e4_blockdev;

/** A piece of memory of a request. */
struct e4_iovec {
	void *base;
	uint64_t len; /**< bytes */
};

enum e4_blockdev_op {
	E4_BLOCKDEV_READ = 0,
	E4_BLOCKDEV_WRITE = 1,
	E4_BLOCKDEV_FLUSH = 2,   /**< all writes completed before its submission are durable when it completes */
	E4_BLOCKDEV_DISCARD = 3, /**< content undefined afterwards; never implies zeros */
	E4_BLOCKDEV_ZERO = 4,    /**< reads as zeros afterwards */
};

enum e4_blockdev_request_flags {
	E4_BLOCKDEV_FUA = 1 << 0,      /**< write: durable on completion */
	E4_BLOCKDEV_PREFLUSH = 1 << 1, /**< write: a flush precedes it */
};

/**
 * One asynchronous request. The caller owns it and its memory until it was reaped. `offset` and the sum of the lengths are multiples of the
 * geometry's logical block; memory is aligned to its dma_align.
 */
struct e4_blockdev_request {
	enum e4_blockdev_op op;
	uint32_t flags;
	uint64_t offset; /**< bytes */
	uint64_t len;    /**< bytes; equals the sum of iov for reads and writes */
	const struct e4_iovec *iov;
	uint32_t iov_count;
	int32_t result; /**< set on completion: 0, or negative errno. Never a short count: that is -EIO */
	void *user;     /**< the caller's */
	void *internal; /**< the device's, while in flight */
	void *route;    /**< the library's, while in flight */
};

/** What a device is. Sizes in bytes. */
struct e4_geometry {
	uint32_t struct_size;
	uint32_t logical_block;  /**< smallest unit of I/O, a power of two; 1 where any range is taken */
	uint32_t physical_block; /**< unit without read-modify-write inside the device */
	uint32_t dma_align;      /**< of memory, a power of two; 1 where any is taken */
	uint64_t size;
	uint64_t max_transfer;   /**< largest request; 0 = no limit */
	uint32_t atomic_write;   /**< largest write that is never torn; 0 = logical_block is all that is promised */
	uint32_t queue_depth;    /**< useful number of requests in flight; 1 = synchronous only */
	uint32_t persist_granularity; /**< of `map`: 4096 PAGE (msync), 64 CACHE_LINE, 1 BYTE; 0 = cannot map */
	uint8_t read_only;
	uint8_t write_cache;     /**< writes need a flush to be durable */
	uint8_t fua;             /**< E4_BLOCKDEV_FUA costs less than write + flush */
	uint8_t discard;
	uint8_t write_zeroes;
	uint8_t can_map;
	uint8_t nowait;          /**< requests can be queued without a kernel worker */
	uint8_t reserved;
	uint64_t optimal_transfer; /**< requests of this size move at full speed; 0 = not known */
};

/**
 * A device of your own. All functions return 0 or a negative errno and may be called from several threads at once. A call that moves data
 * either moves all of it or fails: short reads must be repeated or end as -EIO. Members after `close` may be NULL.
 */
struct e4_blockdev_ops {
	uint32_t struct_size; /**< sizeof(struct e4_blockdev_ops) */
	uint32_t reserved;
	int (*geometry)(void *ctx, struct e4_geometry *ret); /**< asked at opening and again by e4_blockdev_geometry() */
	int (*read)(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count);
	int (*write)(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags);
	int (*flush)(void *ctx);
	void (*close)(void *ctx);
	int (*discard)(void *ctx, uint64_t offset, uint64_t len);
	int (*write_zeroes)(void *ctx, uint64_t offset, uint64_t len);
	/** Starts requests in order; returns how many were accepted (at least one, or a negative errno). */
	int (*submit)(void *ctx, struct e4_blockdev_request **reqs, uint32_t count);
	/** Collects up to `max` finished requests of the calling thread; waits for at least `min`. Returns the number. */
	int (*reap)(void *ctx, struct e4_blockdev_request **ret, uint32_t min, uint32_t max);
	/** A stable pointer to [offset, offset + len), valid until close. */
	int (*map)(void *ctx, uint64_t offset, uint64_t len, void **ret);
	/** Makes a mapped range durable by the geometry's persist_granularity. */
	int (*persist)(void *ctx, const void *addr, uint64_t len);
};

enum e4_blockdev_open_flags {
	E4_BLOCKDEV_RDONLY = 0,
	E4_BLOCKDEV_RDWR = 1 << 0, /**< takes exclusive ownership: O_EXCL on a device, a lock on a file */
};

struct e4_blockdev_options {
	uint32_t struct_size;
	uint32_t queue_depth;         /**< of a ring; 0 = 128 */
	const struct e4_hooks *hooks; /**< copied; NULL = defaults */
	uint64_t memory_budget;       /**< bytes for this device and a mount on it; 0 = unlimited until mounting sets one */
	uint32_t require_granularity; /**< pmem: refuse a mapping coarser than this; 0 = take what there is */
	uint32_t reserved;
	struct e4_error *error;       /**< filled in when opening fails (struct_size set); NULL = not wanted */
};

E4_API void e4_blockdev_options_init(struct e4_blockdev_options *opts);

/* Opens `spec` as CONTRACT.md "Device specification" describes: path or BACKEND:path[,key=value...]. */
E4_API int e4_blockdev_open(const char *spec, uint32_t flags, const struct e4_blockdev_options *opts, struct e4_blockdev **ret);

/* Your own table. ops is copied; ctx is handed to each call. */
E4_API int e4_blockdev_new(const struct e4_blockdev_ops *ops, void *ctx, const struct e4_blockdev_options *opts, struct e4_blockdev **ret);

/* -EBUSY while something (a mount, a stacked device) uses it. */
E4_API int e4_blockdev_close(struct e4_blockdev *dev);

E4_API int e4_blockdev_geometry(struct e4_blockdev *dev, struct e4_geometry *ret);

/* Any offset, length and memory: bounced where the device is stricter. */
E4_API int e4_blockdev_read(struct e4_blockdev *dev, uint64_t offset, void *buf, uint64_t len);
E4_API int e4_blockdev_write(struct e4_blockdev *dev, uint64_t offset, const void *buf, uint64_t len, uint32_t flags);
E4_API int e4_blockdev_flush(struct e4_blockdev *dev);

/**
 * Starts requests. Each comes out of e4_blockdev_reap() of the same device, in the same thread, exactly once: with its result, also where
 * it was refused (bad alignment or range, a write to a read-only device). A device without a queue does the work inside this call.
 * @param dev   the device.
 * @param reqs  `count` pointers to requests: `op`, `flags`, `offset`, `len`, `iov`, `iov_count` and `user` filled in by the caller.
 * @param count how many; more than the geometry's queue_depth may be in flight, but gains nothing.
 * @return the number of requests accepted, which is `count`.
 * @errors -EINVAL dev or reqs is NULL, or count is above INT32_MAX; -ENOMEM no memory for what the thread holds of the device: nothing was
 * started. What goes wrong with a single request is in its `result`.
 * *Threads*: any; each has its own requests, and collects them itself. *Durability*: a write is durable after a flush that was submitted when
 * the write had completed, or on completion with E4_BLOCKDEV_FUA. *Ownership*: requests, lists of pieces and memory stay the caller's and
 * must not be touched before they were reaped. *Blocking*: a device without a queue does its I/O here; others wait only when the queue is full.
 * @since 0.1
 * @source none; our own, in the shape of io_uring(7).
 */
E4_API int e4_blockdev_submit(struct e4_blockdev *dev, struct e4_blockdev_request **reqs, uint32_t count);

/**
 * Collects finished requests of the calling thread.
 * @param dev the device they were submitted to.
 * @param ret where pointers to them go, `max` places.
 * @param min wait until so many can be returned; 0 = do not wait. With fewer in flight, for these.
 * @param max the most to return.
 * @return the number of requests in ret.
 * @errors -EINVAL dev or ret is NULL, or max is above INT32_MAX; -ENOMEM no memory for what the thread holds of the device; an errno of the
 * queue itself when nothing could be collected.
 * *Threads*: any; each sees its own requests. *Durability*: see e4_blockdev_submit(). *Ownership*: requests are the caller's again.
 * *Blocking*: on I/O, unless min is 0.
 * @since 0.1
 * @source none; our own, in the shape of io_uring(7).
 */
E4_API int e4_blockdev_reap(struct e4_blockdev *dev, struct e4_blockdev_request **ret, uint32_t min, uint32_t max);

/* Stacked devices. The lower one must outlive the upper; closing the upper leaves the lower open. */

/* Bytes [offset, offset + size) of dev; size 0 = to the end. */
E4_API int e4_blockdev_window(struct e4_blockdev *dev, uint64_t offset, uint64_t size, struct e4_blockdev **ret);
/* Partition `number` (from 1) of the MBR (5 and up: logical) or GPT table on dev. */
E4_API int e4_blockdev_partition(struct e4_blockdev *dev, uint32_t number, struct e4_blockdev **ret);
/* Reads through, keeps writes in memory (blocks of `block_size` bytes, a power of two from 512 to 65536). */
E4_API int e4_blockdev_cow(struct e4_blockdev *dev, uint32_t block_size, struct e4_blockdev **ret);
/* Bytes held by the overlay; -EINVAL if dev is no cow device. */
E4_API int e4_blockdev_cow_size(struct e4_blockdev *dev, uint64_t *ret_bytes);

enum e4_fault_kind {
	E4_FAULT_READ = 1 << 0,
	E4_FAULT_WRITE = 1 << 1,
	E4_FAULT_FLUSH = 1 << 2,
};

/** When and how a fault device fails. Counting starts when it is set. */
struct e4_fault_plan {
	uint32_t struct_size;
	uint32_t kinds;    /**< E4_FAULT_*: operations that are counted and fail */
	uint64_t nth;      /**< the nth (from 1) fails; 0 = none */
	uint64_t count;    /**< how many fail from there; 0 = all */
	int32_t err;       /**< negative errno, default -EIO. 0 with flip_bit or short_bytes: the call seems to succeed */
	uint32_t short_bytes; /**< moves only so many bytes, then fails */
	int64_t flip_bit;  /**< bit of the data moved that is inverted; -1 = none */
};

E4_API void e4_fault_plan_init(struct e4_fault_plan *plan);

E4_API int e4_blockdev_fault(struct e4_blockdev *dev, struct e4_blockdev **ret);
E4_API int e4_blockdev_fault_set(struct e4_blockdev *fault, const struct e4_fault_plan *plan);
/* Operations of `kind` seen since the last set. */
E4_API uint64_t e4_blockdev_fault_count(struct e4_blockdev *fault, uint32_t kind);

/** A write, flush or discard as `record` saw it. Moments count up from 1 over all events. */
struct e4_record_entry {
	uint32_t op;        /**< enum e4_blockdev_op */
	uint32_t flags;     /**< enum e4_blockdev_request_flags */
	uint64_t offset, len;
	uint64_t submitted; /**< moment */
	uint64_t completed; /**< moment; 0 = never */
	int32_t result;
	uint32_t reserved;
	const void *data;   /**< of a write: len bytes, owned by the device */
};

E4_API int e4_blockdev_record(struct e4_blockdev *dev, struct e4_blockdev **ret);
E4_API uint64_t e4_blockdev_record_count(struct e4_blockdev *record);
E4_API int e4_blockdev_record_get(struct e4_blockdev *record, uint64_t index, struct e4_record_entry *ret);
E4_API int e4_blockdev_record_clear(struct e4_blockdev *record);

/** Counts and sizes; histogram[i] counts requests of 2^i .. 2^(i+1)-1 bytes. */
struct e4_trace_stats {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t reads, read_bytes, writes, write_bytes, flushes, discards, errors;
	uint64_t read_histogram[40], write_histogram[40];
};

E4_API int e4_blockdev_trace(struct e4_blockdev *dev, struct e4_blockdev **ret);
E4_API int e4_blockdev_trace_stats(struct e4_blockdev *trace, struct e4_trace_stats *ret);

E4_END_DECLS

#endif
