/* later.c - commands that this version knows by name only. */
#include "common/report.h"
#include "e4/e4.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The exit status of `check` is that of e2fsck, where 1 would mean that errors were repaired. */
enum { CHECK_OPERATIONAL_ERROR = 8 };

int e4_later(const struct command *command, int argc, char **argv)
{
	const char *object = argc > 1 ? argv[1] : command->name;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		printf("usage: e4 %s [options] %s\n%s. Not in this version, which only reads.\n",
			command->name, command->synopsis, command->summary);
		return STATUS_DONE;
	}
	report(command->name, object, -EOPNOTSUPP,
		"this version only reads; the command comes later");
	return strcmp(command->name, "check") == 0 ? CHECK_OPERATIONAL_ERROR : STATUS_FAILED;
}
