#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include "common/args.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A line on standard error that shows how far long work has come. One thread at a time. */
struct progress {
	bool shown; /* wanted at all */
	bool drawn; /* stands on the terminal now */
	const char *verb;
	uint64_t objects, bytes;
	uint64_t total_bytes; /* 0 = not known */
	struct timespec begun, drawn_at;
};

void progress_begin(struct progress *p, enum progress_mode mode, const char *verb);
/* Adds to what was done; draws at most five times a second. */
void progress_add(struct progress *p, uint64_t objects, uint64_t bytes);
/* Clears the line, before other text or at the end. */
void progress_clear(struct progress *p);

#endif
