#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <ext4core/error.h>

/* Exit statuses. */
enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

/* `e4bench: COMMAND: OBJECT: reason (ERRNO)` on standard error; err is a negative errno. reason NULL = what errno says. */
void report(const char *command, const char *object, int err, const char *reason);
/* The reason that an opening call left behind, where it did. */
void report_error(const char *command, const char *object, int err, const struct e4_error *error);

#endif
