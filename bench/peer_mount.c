/*
 * peer_mount.c - the kernel's mount and unmount of a volume that nobody else has mounted.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mount.h>

struct mounter {
	const char *device, *mnt;
};

static int begin(const struct stream *stream, void **ret)
{
	struct mounter *m = calloc(1, sizeof(*m));

	if (m == NULL) {
		return -ENOMEM;
	}
	m->device = stream->device;
	m->mnt = stream->mnt;
	if (umount2(m->mnt, 0) < 0 && errno != EINVAL) {
		free(m);
		return -errno;
	}
	*ret = m;
	return 0;
}

static int64_t step(void *state, uint64_t count)
{
	struct mounter *m = state;

	for (uint64_t i = 0; i < count; i++) {
		if (mount(m->device, m->mnt, "ext4", MS_RDONLY | MS_NOATIME, NULL) < 0 ||
			umount2(m->mnt, 0) < 0) {
			return -errno;
		}
	}
	return (int64_t)count;
}

const struct engine engine_kmount = {.name = "mount", .begin = begin, .step = step, .end = free};
