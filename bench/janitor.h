#ifndef BENCH_JANITOR_H
#define BENCH_JANITOR_H

#include <sys/types.h>

/* What there may be to undo. The object is a path, for zram the device's number in decimal. */
enum janitor_task {
	JANITOR_UNMOUNT = 'u',
	JANITOR_DETACH = 'l', /* a loop device */
	JANITOR_ZRAM = 'z',
	JANITOR_UNLINK = 'f',
	JANITOR_RMDIR = 'd',
};

struct janitor {
	pid_t pid;
	int pipe; /* the janitor works when its other end closes */
};

/* Starts it. Call while the process has one thread and nothing open that must not stay open. */
int janitor_start(struct janitor *ret);
/* Undo this when the process has ended, in reverse order of the calls. */
int janitor_note(struct janitor *j, enum janitor_task task, const char *object);
/* Has all that was noted undone now. 0, or -EBUSY when something could not be. */
int janitor_finish(struct janitor *j);

#endif
