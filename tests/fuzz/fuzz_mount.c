/*
 * fuzz_mount.c - superblock and descriptors from the fuzzer, on a volume of 64 MiB whose other bytes are zero: every number in them is
 * hostile. Mounting, probing and the first lookups must answer with an errno or work.
 */
#include "format/super.h"

#include <ext4core/ext4core.h>

#include <stdlib.h>
#include <string.h>

#define SIZE (64u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try(struct e4_blockdev *dev, uint32_t flags)
{
	struct e4_mount_options opts;
	struct e4_statfs sf = {.struct_size = sizeof(sf)};
	struct e4_inode *ip;
	struct e4_fs *fs;

	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY | E4_MOUNT_IGNORE_CSUM | flags;
	opts.memory_budget = 64u << 20;
	if (e4_mount(dev, &opts, &fs) < 0)
		return;
	(void)e4_statfs(fs, &sf);
	for (uint32_t ino = 1; ino < 16; ino++) {
		if (e4_inode_get(fs, ino, 0, &ip) == 0)
			e4_inode_put(ip, 1);
	}
	(void)e4_unmount(fs, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t zeros[8192];
	struct e4_fs_info info = {.struct_size = sizeof(info)};
	struct e4_blockdev *dev;

	if (e4_blockdev_open("mem:64M", E4_BLOCKDEV_RDWR, NULL, &dev) < 0)
		abort();
	if (e4_blockdev_write(
		    dev, SUPER_OFFSET, data, size < sizeof(zeros) ? size : sizeof(zeros), 0) < 0)
		abort();
	(void)e4_probe(dev, NULL, &info);
	try(dev, 0);
	try(dev, E4_MOUNT_NORECOVERY);
	if (e4_blockdev_close(dev) != 0)
		abort();
	return 0;
}
