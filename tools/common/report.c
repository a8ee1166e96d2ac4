/*
 * report.c - one line an error.
 *
 * Always:  a line is written whole, whatever bytes a name holds, and ends with the errno's name.
 */
#include "common/report.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void report_object(const char *object)
{
	for (const char *c = object; *c != '\0'; c++) {
		if ((unsigned char)*c < 32 || *c == 127) {
			fprintf(stderr, "\\%03o", (unsigned)(unsigned char)*c);
		} else {
			fputc(*c, stderr);
		}
	}
}

void report(const char *command, const char *object, int err, const char *reason)
{
	flockfile(stderr);
	fprintf(stderr, "e4: %s: ", command);
	report_object(object);
	fprintf(stderr, ": %s (%s)\n", reason, e4_errno_name(err));
	funlockfile(stderr);
}

static void report_errno(const char *command, const char *object, int err)
{
	char text[128];

	report(command, object, err, strerror_r(-err, text, sizeof(text)));
}

void report_error(const char *command, const char *object, int err, const struct e4_error *error)
{
	if (error != NULL && error->err == err && error->text[0] != '\0') {
		report(command, object, err, error->text);
	} else {
		report_errno(command, object, err);
	}
}

/* A failure that the library did not record must not be given the words of an older one: each is told once. */
void report_fs(const char *command, const char *object, struct e4_fs *fs, int err)
{
	static _Thread_local uint64_t told;
	struct e4_error error = {.struct_size = sizeof(error)};

	if (fs == NULL || e4_last_error(fs, &error) < 0 || error.sequence == told) {
		error.err = 0;
	}
	if (error.err == err) {
		told = error.sequence;
	}
	report_error(command, object, err, &error);
}
