/*
 * peer_ring_none.c - in a build without liburing there is no rival that queues.
 */
#include "engine.h"

#include <errno.h>
#include <stddef.h>

static int begin(const struct stream *stream, void **ret)
{
	(void)stream;
	(void)ret;
	return -EOPNOTSUPP;
}

const struct engine engine_ring = {.name = "io_uring", .begin = begin};
