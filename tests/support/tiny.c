/* tiny.c - see tiny.h. */
#include "tiny.h"

#include "format/dirent.h"
#include "format/extent.h"
#include "format/features.h"
#include "format/group_desc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INODE_TABLE 5u
#define INODE_SIZE  256u

struct disk_super *tiny_super(uint8_t *bytes)
{
	return (struct disk_super *)(void *)(bytes + SUPER_OFFSET);
}

struct disk_inode *tiny_inode(uint8_t *bytes, uint32_t ino)
{
	return (struct disk_inode *)(void *)(bytes + INODE_TABLE * TINY_BLOCK +
					     (ino - 1) * INODE_SIZE);
}

static void format_super(uint8_t *bytes)
{
	struct disk_super *s = tiny_super(bytes);

	s->inodes_count = le32_put(TINY_INODES);
	s->blocks_count_lo = le32_put(TINY_BLOCKS);
	s->first_data_block = le32_put(1);
	s->blocks_per_group = le32_put(8192);
	s->clusters_per_group = le32_put(8192);
	s->inodes_per_group = le32_put(TINY_INODES);
	s->magic = le16_put(SUPER_MAGIC);
	s->state = le16_put(SUPER_STATE_VALID);
	s->rev_level = le32_put(1);
	s->first_ino = le32_put(11);
	s->inode_size = le16_put(INODE_SIZE);
	s->feature_compat = le32_put(FEATURE_COMPAT_DIR_INDEX | FEATURE_COMPAT_EXT_ATTR);
	s->feature_incompat = le32_put(FEATURE_INCOMPAT_FILETYPE | FEATURE_INCOMPAT_EXTENTS);
	s->flags = le32_put(SUPER_FLAG_SIGNED_HASH);
	s->def_hash_version = 1;
	memset(s->uuid, 0x17, sizeof(s->uuid));
}

static void format_group(uint8_t *bytes)
{
	struct disk_group_desc *d = (void *)(bytes + 2 * TINY_BLOCK);

	d->block_bitmap_lo = le32_put(3);
	d->inode_bitmap_lo = le32_put(4);
	d->inode_table_lo = le32_put(INODE_TABLE);
	memset(bytes + 3 * TINY_BLOCK, 0xFF, TINY_BLOCK);
	memset(bytes + 4 * TINY_BLOCK, 0xFF, TINY_BLOCK);
}

void tiny_map(
	uint8_t *bytes, uint32_t ino, uint16_t mode, uint32_t first, uint16_t blocks, uint64_t size)
{
	struct disk_inode *di = tiny_inode(bytes, ino);
	struct disk_extent_header *h = (void *)di->block;
	struct disk_extent *e = (void *)(di->block + sizeof(*h));

	memset(di, 0, INODE_SIZE);
	di->mode = le16_put(mode);
	di->links_count = le16_put(mode >> 12 == 4 ? 2 : 1);
	di->size_lo = le32_put((uint32_t)size);
	di->size_hi = le32_put(mode >> 12 == 8 ? (uint32_t)(size >> 32) : 0);
	di->blocks_lo = le32_put(blocks * (TINY_BLOCK / 512));
	di->flags = le32_put(INODE_FL_EXTENTS);
	di->extra_isize = le16_put(32);
	h->magic = le16_put(EXTENT_MAGIC);
	h->max = le16_put(EXTENT_ROOT_ENTRIES);
	h->entries = le16_put(blocks > 0);
	if (blocks > 0)
		*e = disk_extent_make(0, blocks, false, first);
}

static void put_entry(uint8_t *at, uint32_t ino, uint32_t rec_len, uint8_t type, const char *name)
{
	struct disk_dirent *d = (void *)at;

	d->inode = le32_put(ino);
	d->rec_len = le16_put((uint16_t)rec_len);
	d->name_len = (uint8_t)strlen(name);
	d->file_type = type;
	memcpy(at + DIRENT_HEADER_SIZE, name, d->name_len);
}

void tiny_link(uint8_t *bytes, uint32_t ino, uint8_t type, const char *name)
{
	uint8_t *block = bytes + TINY_ROOT * TINY_BLOCK;
	uint32_t at = 0;

	/* The last entry reaches to the end of the block: it gives up what it does not need. */
	while (at + dirent_rec_len((void *)(block + at), TINY_BLOCK) < TINY_BLOCK)
		at += dirent_rec_len((void *)(block + at), TINY_BLOCK);
	struct disk_dirent *last = (void *)(block + at);
	uint32_t need = dirent_need(last->name_len, false);
	last->rec_len = le16_put((uint16_t)need);
	put_entry(block + at + need, ino, TINY_BLOCK - at - need, type, name);
}

void tiny_format(uint8_t *bytes)
{
	uint8_t *root = bytes + TINY_ROOT * TINY_BLOCK;

	memset(bytes, 0, TINY_BYTES);
	format_super(bytes);
	format_group(bytes);
	tiny_map(bytes, INODE_ROOT, INODE_DIR | 0755, TINY_ROOT, 1, TINY_BLOCK);
	put_entry(root, INODE_ROOT, 12, DIRENT_DIR, ".");
	put_entry(root + 12, INODE_ROOT, TINY_BLOCK - 12, DIRENT_DIR, "..");
}

struct bytes_device {
	const uint8_t *bytes;
	uint64_t size;
};

static int bytes_geometry(void *ctx, struct e4_geometry *ret)
{
	struct bytes_device *d = ctx;

	*ret = (struct e4_geometry){.struct_size = sizeof(*ret),
		.logical_block = 1,
		.physical_block = 1,
		.dma_align = 1,
		.size = d->size,
		.queue_depth = 1,
		.read_only = 1};
	return 0;
}

static int bytes_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct bytes_device *d = ctx;

	for (uint32_t i = 0; i < iov_count; i++) {
		if (offset > d->size || iov[i].len > d->size - offset)
			return -EIO;
		memcpy(iov[i].base, d->bytes + offset, iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

static int bytes_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	(void)ctx;
	(void)offset;
	(void)iov;
	(void)iov_count;
	(void)flags;
	return -EROFS;
}

static int bytes_flush(void *ctx)
{
	(void)ctx;
	return -EROFS;
}

int tiny_device(const uint8_t *bytes, uint64_t size, struct e4_blockdev **ret)
{
	static const struct e4_blockdev_ops ops = {
		.struct_size = sizeof(ops),
		.geometry = bytes_geometry,
		.read = bytes_read,
		.write = bytes_write,
		.flush = bytes_flush,
		.close = free,
	};
	struct bytes_device *d = malloc(sizeof(*d));

	if (d == NULL)
		return -ENOMEM;
	*d = (struct bytes_device){.bytes = bytes, .size = size};
	int r = e4_blockdev_new(&ops, d, NULL, ret);
	if (r < 0)
		free(d);
	return r;
}
