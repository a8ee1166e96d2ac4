/*
 * fuzz_htree.c - sixteen directory blocks from the fuzzer: root, nodes and leaves of an index, or plain blocks. Listing ends, seeking to
 * every cookie works, and looking up each name that is listed does not run away.
 */
#include "explore.h"
#include "format/features.h"
#include "tiny.h"

#include <stdlib.h>
#include <string.h>

#define INO    12u
#define FIRST  32u
#define BLOCKS 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct e4_inode *ip)
{
	struct e4_dirent de;
	struct e4_inode *child;
	struct e4_dir *dir;
	uint64_t entries = 0;

	if (e4_inode_opendir(ip, &dir) < 0)
		return;
	while (e4_readdir(dir, &de) == 1) {
		/* No block holds more than 1024/12 entries, and no block is listed twice. */
		if (++entries > BLOCKS * 86)
			abort();
		if (e4_inode_lookup(ip, de.name, de.name_len, &child) == 0)
			e4_inode_put(child, 1);
		if (entries < 64 && e4_seekdir(dir, de.cookie) < 0)
			break;
	}
	(void)e4_closedir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[TINY_BYTES];
	struct e4_mount_options opts;
	struct e4_blockdev *dev;
	struct e4_inode *ip;
	struct e4_fs *fs;

	if (size < 2)
		return 0;
	tiny_format(image);
	if (data[0] & 1) {
		struct disk_super *s = tiny_super(image);

		s->feature_incompat = le32_put(
			le32_get(s->feature_incompat) | FEATURE_INCOMPAT_LARGEDIR);
	}
	uint16_t blocks = (uint16_t)(1 + data[1] % BLOCKS);
	tiny_map(image, INO, INODE_DIR | 0755, FIRST, blocks, (uint64_t)blocks * TINY_BLOCK);
	if (data[0] & 2)
		tiny_inode(image, INO)->flags = le32_put(INODE_FL_EXTENTS | INODE_FL_INDEX);
	data += 2;
	size -= 2;
	memcpy(image + FIRST * TINY_BLOCK, data,
		size < BLOCKS * TINY_BLOCK ? size : BLOCKS * TINY_BLOCK);
	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY | E4_MOUNT_IGNORE_CSUM;
	if (tiny_device(image, sizeof(image), &dev) < 0 || e4_mount(dev, &opts, &fs) < 0)
		abort();
	if (e4_inode_get(fs, INO, 0, &ip) == 0) {
		look(ip);
		e4_inode_put(ip, 1);
	}
	if (e4_unmount(fs, 0) != 0 || e4_blockdev_close(dev) != 0)
		abort();
	return 0;
}
