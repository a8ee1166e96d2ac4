/*
 * fuzz_walk.c - a whole image from the fuzzer: mounted as it is and again past its checksums, recovered in memory where it is dirty,
 * and looked at from root to leaf. Nothing may crash, hang, leak or read outside.
 */
#include "explore.h"
#include "tiny.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const uint8_t *data, size_t size, uint32_t flags)
{
	static const struct explore_limits limits = {.objects = 64, .entries = 200, .bytes = 65536};
	struct e4_mount_options opts;
	struct explore_result result;
	struct e4_blockdev *dev;
	struct e4_fs *fs;

	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY | flags;
	if (tiny_device(data, size, &dev) < 0)
		return;
	if (e4_mount(dev, &opts, &fs) == 0) {
		explore(fs, &limits, &result);
		if (e4_unmount(fs, 0) != 0)
			abort();
	}
	if (e4_blockdev_close(dev) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	walk(data, size, 0);
	walk(data, size, E4_MOUNT_IGNORE_CSUM);
	return 0;
}
