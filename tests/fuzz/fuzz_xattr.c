/*
 * fuzz_xattr.c - an inode's own attribute area and its attribute block from the fuzzer: listed and read by every name that is found.
 */
#include "explore.h"
#include "format/features.h"
#include "tiny.h"

#include <stdlib.h>
#include <string.h>

#define INO   12u
#define BLOCK 40u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t take(uint8_t *to, size_t room, const uint8_t **data, size_t *size)
{
	size_t n = *size < room ? *size : room;

	memcpy(to, *data, n);
	*data += n;
	*size -= n;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct explore_limits limits = {.objects = 4, .entries = 4, .bytes = 4096};
	static uint8_t image[TINY_BYTES];
	struct explore_result result = {0};
	struct e4_mount_options opts;
	struct e4_blockdev *dev;
	struct e4_inode *ip;
	struct e4_fs *fs;

	tiny_format(image);
	struct disk_super *s = tiny_super(image);
	s->feature_incompat = le32_put(le32_get(s->feature_incompat) | FEATURE_INCOMPAT_EA_INODE |
				       FEATURE_INCOMPAT_INLINE_DATA);
	tiny_map(image, INO, INODE_REG | 0644, TINY_FREE, 1, 100);
	tiny_map(image, INO + 1, INODE_REG | 0600, TINY_FREE + 1, 1, 100);
	struct disk_inode *ea = tiny_inode(image, INO + 1);
	ea->flags = le32_put(INODE_FL_EXTENTS | INODE_FL_EA_INODE);
	struct disk_inode *di = tiny_inode(image, INO);
	take((uint8_t *)di + 160, 96, &data, &size);
	if (take(image + (size_t)BLOCK * TINY_BLOCK, TINY_BLOCK, &data, &size) > 0)
		di->file_acl_lo = le32_put(BLOCK);
	take((uint8_t *)&di->flags, 4, &data, &size);
	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY | E4_MOUNT_IGNORE_CSUM;
	if (tiny_device(image, sizeof(image), &dev) < 0 || e4_mount(dev, &opts, &fs) < 0)
		abort();
	if (e4_inode_get(fs, INO, 0, &ip) == 0) {
		explore_inode(ip, &limits, &result);
		e4_inode_put(ip, 1);
	}
	if (e4_unmount(fs, 0) != 0 || e4_blockdev_close(dev) != 0)
		abort();
	return 0;
}
