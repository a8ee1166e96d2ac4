/*
 * fuzz_recover.c - a volume that was left dirty, with hostile fast commits, orphans and inodes: what recovery edits maps, directories and
 * bitmaps by. In memory nothing may crash or run away; for good it either refuses or leaves nothing to recover.
 *
 * The volume is made by mke2fs when the fuzzer starts. An input is: a count of patches, each (inode, offset, byte) of the inode table; the
 * head of the orphan list; then records of a fast commit, which get the header, tail and checksum that make them count.
 */
#include "base/crc32c.h"
#include "explore.h"
#include "format/extent.h"
#include "format/features.h"
#include "format/group_desc.h"
#include "format/inode.h"
#include "format/jbd2.h"
#include "format/super.h"
#include "tiny.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK   1024u
#define BLOCKS  3072u
#define BYTES   (BLOCK * BLOCKS)
#define FC_ROOM (BLOCK - 12 - 4 - 12) /* of one fast-commit block, less head, padding and tail */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t base_image[BYTES];
static uint8_t image[BYTES];
static uint32_t inode_table, inode_size, inodes, journal_block, last_block;

static const char recipe[] =
	"set -e; d=$(mktemp -d); mkdir -p $d/t/dir/sub; for i in 1 2 3 4 5 6 7 8 9; do "
	"head -c ${i}999 /dev/zero | tr '\\0' x >$d/t/dir/f$i; : >$d/t/dir/sub/e$i; done; ln -s "
	"dir $d/t/l; "
	"truncate -s 3M $d/i; mke2fs -q -F -t ext4 -b 1024 -I 256 -N 64 -J "
	"size=1,fast_commit_size=64 "
	"-O "
	"^metadata_csum,^resize_inode,^metadata_csum_seed,fast_commit,orphan_file,ea_inode,inline_"
	"data "
	"-d $d/t $d/i >/dev/null 2>&1; cat $d/i; rm -rf $d";

/* Marks the log as live and empty, so that only the fast commits count. */
static void prepare_journal(void)
{
	struct disk_super *s = tiny_super(base_image);
	struct disk_inode *ji = (void *)(base_image + (size_t)inode_table * BLOCK + 7u * inode_size);
	const struct disk_extent *e = (const void *)(ji->block + sizeof(struct disk_extent_header));

	journal_block = (uint32_t)disk_extent_pblk(e);
	struct disk_jbd2_super *js = (void *)(base_image + (size_t)journal_block * BLOCK);
	js->start = be32_put(1);
	js->sequence = be32_put(7);
	js->num_fc_blks = be32_put(64);
	js->feature_incompat = be32_put(be32_get(js->feature_incompat) | JBD2_INCOMPAT_FAST_COMMIT);
	last_block = be32_get(js->maxlen) - 64;
	s->feature_incompat = le32_put(le32_get(s->feature_incompat) | FEATURE_INCOMPAT_RECOVER);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	FILE *f = popen(recipe, "r");
	if (f == NULL || fread(base_image, 1, BYTES, f) != BYTES || pclose(f) != 0) {
		fprintf(stderr, "fuzz_recover: mke2fs is needed\n");
		exit(1);
	}
	const struct disk_super *s = tiny_super(base_image);
	const struct disk_group_desc *d = (const void *)(base_image + 2 * BLOCK);
	inode_table = le32_get(d->inode_table_lo);
	inode_size = le16_get(s->inode_size);
	inodes = le32_get(s->inodes_count);
	prepare_journal();
	return 0;
}

static uint8_t *put(uint8_t *at, uint16_t tag, const void *value, uint16_t len)
{
	struct disk_fc_tl tl = {.tag = le16_put(tag), .len = le16_put(len)};

	memcpy(at, &tl, sizeof(tl));
	if (len > 0)
		memcpy(at + sizeof(tl), value, len);
	return at + sizeof(tl) + len;
}

static void write_fast_commit(const uint8_t *records, size_t size)
{
	uint8_t *block = image + (size_t)(journal_block + last_block + 1) * BLOCK;
	struct le32 head[2] = {le32_put(0), le32_put(7)};
	struct le32 tid = le32_put(7);

	if (size > FC_ROOM)
		size = FC_ROOM;
	memset(block, 0, BLOCK);
	uint8_t *at = put(block, FC_HEAD, head, sizeof(head));
	memcpy(at, records, size);
	at += size;
	uint8_t *tail = at;
	at = put(at, FC_TAIL, &tid, sizeof(tid));
	((struct disk_fc_tl *)(void *)tail)->len = le16_put((uint16_t)(block + BLOCK - tail - 4));
	struct le32 crc = le32_put(crc32c(0, block, (size_t)(at - block)));
	memcpy(at, &crc, sizeof(crc));
}

static void build(const uint8_t *data, size_t size)
{
	size_t used = 0;
	size_t patches = size > 0 ? data[used++] % 64 : 0;

	memcpy(image, base_image, BYTES);
	for (; patches > 0 && size - used >= 3; patches--, used += 3) {
		uint32_t ino = data[used] % inodes;

		image[(size_t)inode_table * BLOCK + (size_t)ino * inode_size +
			data[used + 1] % inode_size] = data[used + 2];
	}
	if (size - used >= 1)
		tiny_super(image)->last_orphan = le32_put(data[used++] % 80);
	write_fast_commit(data + used, size - used);
}

static void in_memory(void)
{
	static const struct explore_limits limits = {.objects = 40, .entries = 60, .bytes = 16384};
	struct explore_result result;
	struct e4_mount_options opts;
	struct e4_blockdev *dev;
	struct e4_fs *fs;

	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY;
	if (tiny_device(image, BYTES, &dev) < 0)
		abort();
	if (e4_mount(dev, &opts, &fs) == 0) {
		explore(fs, &limits, &result);
		if (e4_unmount(fs, 0) != 0)
			abort();
	}
	if (e4_blockdev_close(dev) != 0)
		abort();
}

static void for_good(void)
{
	struct e4_replay_result result = {.struct_size = sizeof(result)};
	struct e4_blockdev *dev;

	if (e4_blockdev_open("mem:3M", E4_BLOCKDEV_RDWR, NULL, &dev) < 0 ||
		e4_blockdev_write(dev, 0, image, BYTES, 0) < 0)
		abort();
	if (e4_replay(dev, NULL, &result) == 0) {
		/* Orphans of a volume with recorded errors stay; all else must be done. */
		if (e4_replay(dev, NULL, &result) != 0)
			abort();
	}
	if (e4_blockdev_close(dev) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	build(data, size);
	in_memory();
	for_good();
	return 0;
}
