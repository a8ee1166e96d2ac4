/*
 * direct.h - opening for O_DIRECT and the alignment that it needs; shared by the direct and uring backends.
 */
#ifndef BLOCKDEV_DIRECT_H
#define BLOCKDEV_DIRECT_H

#include "blockdev/fd.h"

struct direct_dev {
	struct fd_dev file;
	uint32_t sector;    /* of offset and length */
	uint32_t dma_align; /* of memory */
};

/* Opens with O_DIRECT; -EINVAL with its reason where that cannot be had. */
int direct_open(
	struct env *env, const struct open_request *req, struct direct_dev *ret) E4_MUST_CHECK;
int direct_geometry(const struct direct_dev *d, struct e4_geometry *ret) E4_MUST_CHECK;

#endif
