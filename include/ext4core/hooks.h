/** @file hooks.h
 *  What the library asks of its host: memory, time, randomness, a place for messages. All blocking, time and randomness pass
 *  through these and the block device, so that a host can run the library under a virtual clock. */
#ifndef EXT4CORE_HOOKS_H
#define EXT4CORE_HOOKS_H

#include <ext4core/version.h>

#include <stddef.h>
#include <stdint.h>

E4_BEGIN_DECLS

enum e4_log_level {
	E4_LOG_ERROR = 0,
	E4_LOG_WARN = 1,
	E4_LOG_INFO = 2,
	E4_LOG_DEBUG = 3,
};

/** A moment: seconds since 1970 (or since an arbitrary start, for the monotonic clock) and nanoseconds 0..999,999,999. */
struct e4_timespec {
	int64_t sec;
	uint32_t nsec;
	uint32_t reserved;
};

/**
 * Callbacks of the host. A member left NULL means the built-in default. `ctx` is handed to each. Callbacks may be called from any
 * thread that is inside the library, never under one of its locks except `alloc` and `free`, and must not call back into it.
 */
struct e4_hooks {
	uint32_t struct_size; /**< sizeof(struct e4_hooks); set by e4_hooks_init() */
	uint32_t reserved;
	void *ctx;
	/** Memory of `size` bytes (1 or more) aligned to `align` (a power of two); NULL when there is none. */
	void *(*alloc)(void *ctx, size_t size, size_t align);
	/** Gives back what alloc returned, with the same size; ptr may be NULL. */
	void (*free)(void *ctx, void *ptr, size_t size);
	/** One line without newline. Default: dropped. */
	void (*log)(void *ctx, enum e4_log_level level, const char *line);
	/** A bug of the library itself was found; may not return into the library. Default: writes to stderr and aborts. */
	void (*assert_failed)(void *ctx, const char *expr, const char *file, uint32_t line);
	/** Wall clock. Default: CLOCK_REALTIME. */
	void (*clock_wall)(void *ctx, struct e4_timespec *ret);
	/** Monotonic clock. Default: CLOCK_MONOTONIC. */
	void (*clock_mono)(void *ctx, struct e4_timespec *ret);
	/** Fills `len` bytes with randomness. Default: getrandom(2). */
	void (*random)(void *ctx, void *buf, size_t len);
	enum e4_log_level log_level; /**< least urgent level that is passed to log; 0 = errors only */
	uint32_t reserved2;
};

/**
 * Sets every member to its default and struct_size to the caller's.
 * @param hooks the struct to fill.
 * @return nothing.
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: the caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API void e4_hooks_init(struct e4_hooks *hooks);

E4_END_DECLS

#endif
