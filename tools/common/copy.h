#ifndef TOOLS_COMMON_COPY_H
#define TOOLS_COMMON_COPY_H

#include "common/progress.h"

#include <ext4core/file.h>

#include <stdbool.h>

/* How much is read at a time. */
enum { COPY_PIECE = 4 << 20 };

struct copy_result {
	int err;      /* 0 or negative errno */
	bool reading; /* the volume failed, not the place where the bytes go */
};

/*
 * Copies a file's bytes to descriptor `fd` through `buf` (COPY_PIECE bytes): one after another, holes as
 * zeros, or each to its place, where a regular file keeps the holes and gets the size.
 */
struct copy_result copy_stream(struct e4_file *file, int fd, void *buf, struct progress *progress);
struct copy_result copy_sparse(struct e4_file *file, int fd, void *buf, struct progress *progress);

#endif
