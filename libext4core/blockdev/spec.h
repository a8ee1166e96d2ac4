/*
 * spec.h - device specifications as users write them: PATH or BACKEND:PATH[,KEY=VALUE...] (CONTRACT.md).
 */
#ifndef BLOCKDEV_SPEC_H
#define BLOCKDEV_SPEC_H

#include "base/env.h"

enum spec_backend {
	SPEC_AUTO, /* a bare path: chosen by what the path is */
	SPEC_FILE,
	SPEC_DIRECT,
	SPEC_URING,
	SPEC_PMEM,
	SPEC_MEM,
};

struct spec {
	enum spec_backend backend;
	char *path;         /* without escapes; also the size of `mem:64M` */
	size_t path_size;   /* of its memory */
	uint64_t offset;    /* bytes, inside the partition if there is one */
	uint64_t size;      /* bytes; 0 = to the end */
	uint32_t partition; /* from 1; 0 = none */
	bool read_only, sync;
};

/* -EINVAL and -EOPNOTSUPP name what was not understood; -ENOMEM. On success spec_fini() is due. */
int spec_parse(struct env *env, const char *text, struct spec *ret) E4_MUST_CHECK;
void spec_fini(struct env *env, struct spec *spec);

/* "4096", "64K", "1T" (powers of 1024; K M G T P, either case). False if that is not all there is, or it overflows. */
bool spec_parse_size(const char *text, uint64_t *ret) E4_MUST_CHECK;

#endif
