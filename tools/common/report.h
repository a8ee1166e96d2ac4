#ifndef TOOLS_COMMON_REPORT_H
#define TOOLS_COMMON_REPORT_H

#include <ext4core/error.h>
#include <ext4core/types.h>

/*
 * Lines on standard error: `e4: COMMAND: OBJECT: reason (ERRNO)`. err is a negative errno. All may be
 * called from several threads.
 */

/* The reason in words of our own. */
void report(const char *command, const char *object, int err, const char *reason);
/* The reason as the mount recorded it for this thread; without one, what errno says. fs may be NULL. */
void report_fs(const char *command, const char *object, struct e4_fs *fs, int err);
/* The reason that an opening call left behind. */
void report_error(const char *command, const char *object, int err, const struct e4_error *error);

/* An object's name on standard error, kept in one line. */
void report_object(const char *object);

#endif
