#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "hist.h"
#include "pattern.h"
#include "target.h"

/* Files or folders to go through, from the root of a volume, without a leading slash. */
struct path_list {
	char **paths;
	uint64_t count;
};

/* What one thread is to do. Each engine uses the part that concerns it. */
struct stream {
	const struct target *target; /* ours */
	int fd;                      /* a rival's file, device or folder */
	uint64_t base;               /* where in fd the pattern begins, bytes */
	const void *memory;          /* where in memory the pattern begins */
	struct pattern pattern;
	unsigned depth;         /* requests in flight */
	struct hist *latency;   /* NULL: not wanted */
	unsigned latency_every; /* one operation in so many is timed */
	const struct path_list *list;
	const char *device, *mnt; /* to be mounted, and where */
	const char *const *argv;  /* a program */
};

/* A way of doing operations. All calls of one state come from one thread. */
struct engine {
	const char *name;
	/* The stream stays the caller's and outlives the state. */
	int (*begin)(const struct stream *stream, void **ret);
	/* Does at least `count` operations; returns how many, or a negative errno. */
	int64_t (*step)(void *state, uint64_t count);
	/* Waits for what is in flight; returns the operations that this ended. NULL where there is none. */
	int64_t (*pause)(void *state);
	void (*end)(void *state);
};

/* Ours. */
extern const struct engine engine_sync;  /* e4_pread(), or the device's read */
extern const struct engine engine_queue; /* e4_map_begin(), a request of our own, e4_map_end() */
extern const struct engine engine_dax;   /* e4_dax_map() and a copy */
extern const struct engine engine_stat;  /* e4_stat() of a list of paths */
extern const struct engine engine_open;  /* e4_open(), e4_close() */
extern const struct engine engine_walk;  /* every entry of the volume; an operation is an entry */
extern const struct engine engine_mount; /* open the device, mount, and back */

/* Rivals. */
extern const struct engine engine_pread; /* pread(2) on a file or device */
extern const struct engine engine_ring; /* io_uring; begin answers -EOPNOTSUPP where it is not built in */
extern const struct engine engine_memcpy; /* from memory that holds the same bytes */
extern const struct engine engine_fstatat;
extern const struct engine engine_openat;
extern const struct engine engine_getdents; /* the kernel's tree; an operation is an entry */
extern const struct engine engine_program;  /* a program that goes through the list's entries */
extern const struct engine engine_kmount;   /* mount(2), umount2(2) */

#endif
