/** @file blockdev.h
 *  Block devices: the built-in ones, stacked ones for testing, and your own. */
#ifndef EXT4CORE_BLOCKDEV_H
#define EXT4CORE_BLOCKDEV_H

#include <ext4core/error.h>
#include <ext4core/hooks.h>
#include <ext4core/version.h>

#include <stdint.h>

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
	E4_BLOCKDEV_FLUSH = 2, /**< all writes completed before its submission are durable when it completes */
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
	uint32_t logical_block; /**< smallest unit of I/O, a power of two; 1 where any range is taken */
	uint32_t physical_block; /**< unit without read-modify-write inside the device */
	uint32_t dma_align;      /**< of memory, a power of two; 1 where any is taken */
	uint64_t size;
	uint64_t max_transfer; /**< largest request; 0 = no limit */
	uint32_t atomic_write; /**< largest write that is never torn; 0 = logical_block is all that is promised */
	uint32_t queue_depth; /**< useful number of requests in flight; 1 = synchronous only */
	uint32_t persist_granularity; /**< of `map`: 4096 PAGE (msync), 64 CACHE_LINE, 1 BYTE; 0 = cannot map */
	uint8_t read_only;
	uint8_t write_cache; /**< writes need a flush to be durable */
	uint8_t fua;         /**< E4_BLOCKDEV_FUA costs less than write + flush */
	uint8_t discard;
	uint8_t write_zeroes;
	uint8_t can_map;
	uint8_t nowait; /**< requests can be queued without a kernel worker */
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
	int (*geometry)(void *ctx,
		struct e4_geometry *ret); /**< asked at opening and again by e4_blockdev_geometry() */
	int (*read)(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count);
	int (*write)(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count,
		uint32_t flags);
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
	/** Prepares memory for queued requests of the calling thread; the pieces are neither NULL nor empty. Needs the next one. */
	int (*buffers_register)(void *ctx, const struct e4_iovec *bufs, uint32_t count);
	/** Undoes it: -EBUSY while requests of the thread are in flight, -ENOENT where nothing is registered. */
	int (*buffers_unregister)(void *ctx);
};

enum e4_blockdev_open_flags {
	E4_BLOCKDEV_RDONLY = 0,
	E4_BLOCKDEV_RDWR = 1 << 0, /**< takes exclusive ownership: O_EXCL on a device, a lock on a file */
};

struct e4_blockdev_options {
	uint32_t struct_size;
	uint32_t queue_depth;         /**< of a ring; 0 = 128 */
	const struct e4_hooks *hooks; /**< copied; NULL = defaults */
	uint64_t memory_budget; /**< bytes for this device and a mount on it; 0 = unlimited until mounting sets one */
	uint32_t require_granularity; /**< pmem: refuse a mapping coarser than this; 0 = take what there is */
	uint32_t reserved;
	struct e4_error *error; /**< filled in when opening fails (struct_size set); NULL = not wanted */
};

/**
 * Sets every member to its default and struct_size to the caller's.
 * @param opts the struct to fill; NULL does nothing.
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: the caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API void e4_blockdev_options_init(struct e4_blockdev_options *opts);

/**
 * Opens a device by its specification: `path`, or `BACKEND:path[,key=value...]`.
 *
 * BACKEND is `file` (through the page cache), `direct` (O_DIRECT), `uring` (O_DIRECT, queued by io_uring), `pmem` (mapped by
 * libpmem2), `mem` (`mem:64M` is empty memory of that size, `mem:path` a private copy of a file). A bare path means `uring`, or
 * `direct` where that is not built in, on a block device, and `file` on a regular file. Keys: `offset=` and `size=` in bytes with
 * an optional suffix K M G T P, `part=N`, `ro`, `sync` (each write is durable when it returns); an offset counts from the start
 * of the partition. A text that names an existing path is that path; otherwise a comma or colon in a path is written `\,` `\:`.
 * @param spec  the specification.
 * @param flags enum e4_blockdev_open_flags.
 * @param opts  NULL for the defaults.
 * @param ret   the device, set on success.
 * @return 0 or a negative errno; opts->error tells more.
 * @errors -EINVAL an argument is NULL, an unknown flag, a struct without its size; a backend, key or value that does not exist
 * (named in the text); neither file nor block device; no direct I/O there; a window beyond the end; -EOPNOTSUPP a backend that
 * this version or build has not, or a store granularity that the mapping has not; -EBUSY the device is mounted or in use, or the
 * file is open for writing elsewhere or behind a loop device; -ENOENT no such path or partition; -EUCLEAN, -EBADMSG the
 * partition table is damaged; -ENOMEM no memory; what open(2) answers, such as -EACCES.
 * *Threads*: any. *Durability*: nothing is written. *Ownership*: the device is the caller's until e4_blockdev_close(); spec and
 * opts are borrowed. *Blocking*: opens and examines a file; reads a partition table or, for `mem:path`, the whole file.
 * @since 0.1
 * @source open(2), fcntl(2) open file description locks, statx(2), pmem2_map_new(3), UEFI specification 5 for GPT. Exclusive
 * ownership: O_EXCL on a block device; on a file a lock of the open file description and a look at the loop devices.
 */
E4_API int e4_blockdev_open(const char *spec, uint32_t flags,
	const struct e4_blockdev_options *opts, struct e4_blockdev **ret);

/**
 * Makes a device of the caller's own functions.
 * @param ops  its functions; copied. geometry, read and close are needed; without write it is read-only; submit needs reap. submit
 *             is handed reads, writes (FUA only where the geometry has it) and flushes, all aligned; the rest is done by the others.
 * @param ctx  handed to each function.
 * @param opts NULL for the defaults.
 * @param ret  the device, set on success.
 * @return 0 or a negative errno; opts->error tells more.
 * @errors -EINVAL an argument is NULL, a struct without its size, a function missing, an impossible geometry; -ENOMEM no memory;
 * what ops->geometry answers.
 * *Threads*: any. *Durability*: none. *Ownership*: on success ctx is the device's until it calls ops->close; on failure close is
 * not called. *Blocking*: as ops->geometry.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_new(const struct e4_blockdev_ops *ops, void *ctx,
	const struct e4_blockdev_options *opts, struct e4_blockdev **ret);

/**
 * Closes a device. What was queued must have been reaped before, in every thread.
 * @param dev the device; NULL does nothing.
 * @return 0 or a negative errno.
 * @errors -EBUSY a mount or a stacked device uses it.
 * *Threads*: any, but no other may be inside this device. *Durability*: nothing is flushed. *Ownership*: the device is gone on
 * success; a device stacked on another leaves that open. *Blocking*: until the kernel has closed it.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_close(struct e4_blockdev *dev);

/**
 * What the device is, asked anew: its size may have changed since it was opened. Requests are held to the size at opening.
 * @param dev the device.
 * @param ret filled in; its struct_size must be set.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL or struct_size is 0; what the device answers, such as -EIO.
 * *Threads*: any. *Durability*: none. *Ownership*: ret is the caller's. *Blocking*: a system call or two.
 * @since 0.1
 * @source statx(2), ioctl_blk BLKGETSIZE64 BLKSSZGET BLKPBSZGET, sysfs-block.
 */
E4_API int e4_blockdev_geometry(struct e4_blockdev *dev, struct e4_geometry *ret);

/**
 * Reads all of a range. Any offset, length and memory will do: where the device is stricter, the data takes a copy.
 * @param dev    the device.
 * @param offset bytes.
 * @param buf    where to; may be NULL if len is 0.
 * @param len    bytes; 0 does nothing.
 * @return 0 or a negative errno; after an error buf is undefined.
 * @errors -EINVAL dev or buf is NULL, or the range reaches beyond the end; -EIO the device failed, or has become smaller; -ENOMEM
 * no memory for a copy; other errnos of the device as they are.
 * *Threads*: any number at once. *Durability*: none. *Ownership*: buf is borrowed. *Blocking*: until the device has answered.
 * @since 0.1
 * @source preadv2(2), open(2) O_DIRECT.
 */
E4_API int e4_blockdev_read(struct e4_blockdev *dev, uint64_t offset, void *buf, uint64_t len);
/**
 * Writes all of a range. Any offset, length and memory will do; a sector that is covered in part is read before, and two such
 * writes to one sector do not lose each other. After an error any part of the range may have been written.
 * @param dev    the device.
 * @param offset bytes.
 * @param buf    where from; may be NULL if len is 0.
 * @param len    bytes.
 * @param flags  enum e4_blockdev_request_flags.
 * @return 0 or a negative errno.
 * @errors -EINVAL dev or buf is NULL, an unknown flag, or the range reaches beyond the end; -EROFS opened for reading; -EIO the
 * device failed; -ENOMEM no memory for a copy; other errnos of the device, such as -ENOSPC.
 * *Threads*: any number at once; overlapping writes leave either's bytes. *Durability*: with E4_BLOCKDEV_FUA this write is
 * durable on return, with E4_BLOCKDEV_PREFLUSH what was written before as well; else only e4_blockdev_flush() makes it so.
 * *Ownership*: buf is borrowed. *Blocking*: until the device has answered.
 * @since 0.1
 * @source pwritev2(2) RWF_DSYNC.
 */
E4_API int e4_blockdev_write(
	struct e4_blockdev *dev, uint64_t offset, const void *buf, uint64_t len, uint32_t flags);
/**
 * Makes durable what was written: every write that had returned before this call.
 * @param dev the device.
 * @return 0 or a negative errno. After an error what was written may be lost, and a second flush may succeed without it.
 * @errors -EINVAL dev is NULL; -EIO the device failed; other errnos of the device.
 * *Threads*: any. *Durability*: as said. *Ownership*: none. *Blocking*: until the device has answered.
 * @since 0.1
 * @source fdatasync(2).
 */
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
E4_API int e4_blockdev_submit(
	struct e4_blockdev *dev, struct e4_blockdev_request **reqs, uint32_t count);

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
E4_API int e4_blockdev_reap(
	struct e4_blockdev *dev, struct e4_blockdev_request **ret, uint32_t min, uint32_t max);

/**
 * Registers memory for the queued requests of the calling thread, so that the device need not look it up and hold its pages anew for each.
 * It pays where many requests use the same memory. From then on a request with a single piece that lies inside one of the buffers uses
 * it; all others work as before. A stacked device that hands its requests down registers with the device below; there, a thread has one
 * registration at a time, whichever of the stacked devices made it.
 * @param dev   the device.
 * @param bufs  the buffers: memory of the process, such as malloc(3) or an anonymous mapping gives, writable; each at most 1 GiB. The list is copied.
 * @param count how many, from 1 to 16384.
 * @return 0 or a negative errno, which changes nothing: requests work without.
 * @errors -EINVAL an argument is NULL, count is out of range, a buffer is NULL, empty or larger than 1 GiB; -EOPNOTSUPP by name: a device
 * that has no use for it (all but `uring` where io_uring is permitted, and a device of your own with these functions), or memory that the
 * kernel does not take, such as that of a mapped file; -EBUSY the thread has registered already; -ENOMEM no memory, or more than
 * RLIMIT_MEMLOCK lets the user hold over all processes (does not bind CAP_IPC_LOCK); -EFAULT no such memory.
 * *Threads*: any; each registers for itself, and the memory may be the same. The registration goes with the thread or context, with the
 * device, or by e4_blockdev_buffers_unregister(). *Durability*: none. *Ownership*: the memory stays the caller's, but must stay mapped
 * where it is until unregistered: after munmap(2) and mmap(2) at that address, requests would still move the old pages.
 * *Blocking*: brings the memory in; never on I/O of the device.
 * @since 0.1
 * @source io_uring_register(2) IORING_REGISTER_BUFFERS, getrlimit(2).
 */
E4_API int e4_blockdev_buffers_register(
	struct e4_blockdev *dev, const struct e4_iovec *bufs, uint32_t count);

/**
 * Takes back what the calling thread has registered.
 * @param dev the device, or one that is stacked on the same.
 * @return 0 or a negative errno.
 * @errors -EINVAL dev is NULL; -EOPNOTSUPP as e4_blockdev_buffers_register(); -EBUSY requests of this thread are in flight, also those without
 * registered memory: reap them first; -ENOENT this thread has registered nothing.
 * *Threads*: the one that registered. *Durability*: none. *Ownership*: the memory is free of the device. *Blocking*: never on I/O.
 * @since 0.1
 * @source io_uring_register(2) IORING_UNREGISTER_BUFFERS.
 */
E4_API int e4_blockdev_buffers_unregister(struct e4_blockdev *dev);

/* Stacked devices. The lower one must outlive the upper; closing the upper leaves the lower open. */

/**
 * A part of a device as a device of its own.
 * @param dev    the lower device.
 * @param offset where it begins, bytes.
 * @param size   bytes; 0 = to the end of dev.
 * @param ret    the window, set on success.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, or the window reaches beyond the end; -ENOMEM no memory.
 * *Threads*: any. *Durability*: none. *Ownership*: the window is the caller's; dev stays open and must outlive it. *Blocking*:
 * never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_window(
	struct e4_blockdev *dev, uint64_t offset, uint64_t size, struct e4_blockdev **ret);
/**
 * A window on a partition.
 * @param dev    a device with an MBR or GPT partition table.
 * @param number from 1, as Linux numbers them: with an MBR 1 to 4 are the primary ones, logical ones begin at 5.
 * @param ret    the partition, set on success.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, number is 0, or the partition reaches beyond the end of dev; -ENOENT no such partition;
 * -EUCLEAN no table, or a broken one; -EBADMSG a wrong checksum in both copies of a GPT; -ENOMEM no memory; errnos of reading.
 * *Threads*: any. *Durability*: none. *Ownership*: as e4_blockdev_window(). *Blocking*: reads the table.
 * @since 0.1
 * @source UEFI specification 5. Where the first GPT is damaged and the second is whole, the second is believed.
 */
E4_API int e4_blockdev_partition(struct e4_blockdev *dev, uint32_t number, struct e4_blockdev **ret);
/**
 * An overlay: reads through, keeps what is written in memory. The lower device is never written.
 * @param dev        the lower device; may be read-only.
 * @param block_size unit of what is kept, bytes: a power of two from 512 to 65536.
 * @param ret        the overlay, set on success.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, or another block_size; -ENOMEM no memory.
 * *Threads*: any. *Durability*: none: what is written goes with the overlay. *Ownership*: as e4_blockdev_window(); the kept blocks
 * come from the device's memory budget, and a write that finds none answers -ENOMEM. *Blocking*: never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_cow(struct e4_blockdev *dev, uint32_t block_size, struct e4_blockdev **ret);
/**
 * How much an overlay keeps.
 * @param dev       a device of e4_blockdev_cow().
 * @param ret_bytes blocks kept, in bytes.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, or dev is another device.
 * *Threads*: any. *Durability*: none. *Ownership*: none. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_cow_size(struct e4_blockdev *dev, uint64_t *ret_bytes);

enum e4_fault_kind {
	E4_FAULT_READ = 1 << 0,
	E4_FAULT_WRITE = 1 << 1,
	E4_FAULT_FLUSH = 1 << 2,
};

/** When and how a fault device fails. Counting starts when it is set. */
struct e4_fault_plan {
	uint32_t struct_size;
	uint32_t kinds; /**< E4_FAULT_*: operations that are counted and fail */
	uint64_t nth;   /**< the nth (from 1) fails; 0 = none */
	uint64_t count; /**< how many fail from there; 0 = all */
	int32_t err; /**< negative errno, default -EIO. 0 with flip_bit or short_bytes: the call seems to succeed */
	uint32_t short_bytes; /**< moves only so many bytes, then fails */
	int64_t flip_bit;     /**< bit of the data moved that is inverted; -1 = none */
};

/**
 * A plan that hits nothing: err -EIO, no bit turned, struct_size the caller's.
 * @param plan the struct to fill; NULL does nothing.
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: the caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API void e4_fault_plan_init(struct e4_fault_plan *plan);

/**
 * A device that fails on command and else passes everything on. It cannot be mapped.
 * @param dev the lower device.
 * @param ret the fault device, set on success; nothing fails until e4_blockdev_fault_set().
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL; -ENOMEM no memory.
 * *Threads*: any. *Durability*: that of dev. *Ownership*: as e4_blockdev_window(). *Blocking*: never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_fault(struct e4_blockdev *dev, struct e4_blockdev **ret);
/**
 * Sets what fails, and starts counting anew. A read or write that is hit moves short_bytes, or all with flip_bit, else nothing.
 * @param fault a device of e4_blockdev_fault().
 * @param plan  copied; see e4_fault_plan_init().
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, struct_size is 0, err is positive, or fault is another device.
 * *Threads*: any. *Durability*: none. *Ownership*: plan is borrowed. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_fault_set(struct e4_blockdev *fault, const struct e4_fault_plan *plan);
/**
 * How many operations were seen since the last e4_blockdev_fault_set(), those that failed included.
 * @param fault a device of e4_blockdev_fault().
 * @param kind  enum e4_fault_kind, or several of them.
 * @return their number; 0 for another device.
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: none. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API uint64_t e4_blockdev_fault_count(struct e4_blockdev *fault, uint32_t kind);

/** A write, flush or discard as `record` saw it. Moments count up from 1 over all events. */
struct e4_record_entry {
	uint32_t op;    /**< enum e4_blockdev_op */
	uint32_t flags; /**< enum e4_blockdev_request_flags */
	uint64_t offset, len;
	uint64_t submitted; /**< moment */
	uint64_t completed; /**< moment; 0 = never */
	int32_t result;
	uint32_t reserved;
	const void *data; /**< of a write: len bytes, owned by the device */
};

/**
 * A device that remembers every write, flush, discard and zeroing, with its data and its moments. It cannot be mapped.
 * @param dev the lower device.
 * @param ret the record device, set on success.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL; -ENOMEM no memory.
 * *Threads*: any. *Durability*: that of dev. *Ownership*: as e4_blockdev_window(); a change for which there is no memory is
 * refused with -ENOMEM and not made. *Blocking*: never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_record(struct e4_blockdev *dev, struct e4_blockdev **ret);
/**
 * How many changes are in the log.
 * @param record a device of e4_blockdev_record().
 * @return their number; 0 for another device.
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: none. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API uint64_t e4_blockdev_record_count(struct e4_blockdev *record);
/**
 * One change, in the order of submission.
 * @param record a device of e4_blockdev_record().
 * @param index  from 0.
 * @param ret    filled in. A write with E4_BLOCKDEV_PREFLUSH stands as a flush and a write, or, if it was queued, as one entry
 *               with that flag.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, or record is another device; -ENOENT index is not below the count.
 * *Threads*: any. *Durability*: none. *Ownership*: ret->data is the device's until e4_blockdev_record_clear() or closing.
 * *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_record_get(
	struct e4_blockdev *record, uint64_t index, struct e4_record_entry *ret);
/**
 * Empties the log. Moments go on rising.
 * @param record a device of e4_blockdev_record().
 * @return 0 or a negative errno.
 * @errors -EINVAL record is NULL or another device; -EBUSY a change has not completed.
 * *Threads*: any. *Durability*: none. *Ownership*: all data of entries is gone. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_record_clear(struct e4_blockdev *record);

/** Counts and sizes; histogram[i] counts requests of 2^i .. 2^(i+1)-1 bytes. */
struct e4_trace_stats {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t reads, read_bytes, writes, write_bytes, flushes, discards, errors;
	uint64_t read_histogram[40], write_histogram[40];
};

/**
 * A device that counts what passes.
 * @param dev the lower device.
 * @param ret the trace device, set on success.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL; -ENOMEM no memory.
 * *Threads*: any. *Durability*: that of dev. *Ownership*: as e4_blockdev_window(). *Blocking*: never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_trace(struct e4_blockdev *dev, struct e4_blockdev **ret);
/**
 * What a trace device has counted so far.
 * @param trace a device of e4_blockdev_trace().
 * @param ret   filled in; its struct_size must be set.
 * @return 0 or a negative errno.
 * @errors -EINVAL an argument is NULL, struct_size is 0, or trace is another device.
 * *Threads*: any. *Durability*: none. *Ownership*: ret is the caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_trace_stats(struct e4_blockdev *trace, struct e4_trace_stats *ret);

E4_END_DECLS

#endif
