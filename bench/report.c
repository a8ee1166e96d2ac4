/*
 * report.c - one line an error.
 */
#include "report.h"

#include <stdio.h>
#include <string.h>

void report(const char *command, const char *object, int err, const char *reason)
{
	char text[128];

	if (reason == NULL) {
		reason = strerror_r(-err, text, sizeof(text));
	}
	fprintf(stderr, "e4bench: %s: %s: %s (%s)\n", command, object, reason, e4_errno_name(err));
}

void report_error(const char *command, const char *object, int err, const struct e4_error *error)
{
	report(command, object, err,
		error->err == err && error->text[0] != '\0' ? error->text : NULL);
}
