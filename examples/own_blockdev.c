/*
 * own_blockdev.c - a block device of your own: a table of functions. Here the bytes lie in memory; the same dozen lines
 * put a volume behind S3, a disk format of a hypervisor or a container that is encrypted.
 */
#include <ext4core/ext4core.h>

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory {
	unsigned char *bytes;
	uint64_t size;              /* bytes */
	atomic_uint_fast64_t reads; /* the library calls from many threads at once */
};

static int memory_geometry(void *ctx, struct e4_geometry *ret)
{
	const struct memory *m = ctx;

	*ret = (struct e4_geometry){
		.struct_size = sizeof(*ret),
		.logical_block = 1, /* any range is taken */
		.physical_block = 4096,
		.dma_align = 1,
		.size = m->size,
		.read_only = 1,
	};
	return 0;
}

/* All of it or an error: a range that is not there must never pass as zeros. */
static int memory_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct memory *m = ctx;

	m->reads++;
	for (uint32_t i = 0; i < iov_count; i++) {
		if (offset > m->size || iov[i].len > m->size - offset)
			return -EIO;
		memcpy(iov[i].base, m->bytes + offset, (size_t)iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

static void memory_close(void *ctx)
{
	free(((struct memory *)ctx)->bytes);
}

/* Fills the memory from a file. */
static int memory_load(struct memory *m, const char *path)
{
	FILE *file = fopen(path, "rb");
	long size = -1;

	if (file == NULL)
		return -errno;
	if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 &&
		fseek(file, 0, SEEK_SET) == 0)
		m->bytes = malloc((size_t)size);
	if (m->bytes == NULL || fread(m->bytes, 1, (size_t)size, file) != (size_t)size) {
		(void)fclose(file);
		free(m->bytes);
		return -EIO;
	}
	m->size = (uint64_t)size;
	return fclose(file) == 0 ? 0 : -EIO;
}

static int show(struct e4_blockdev *dev, struct e4_error *why)
{
	struct e4_statfs totals = {.struct_size = sizeof(totals)};
	struct e4_mount_options options;
	struct e4_fs *fs;
	int r;

	e4_mount_options_init(&options);
	options.flags = E4_MOUNT_RDONLY;
	options.error = why;
	if ((r = e4_mount(dev, &options, &fs)) < 0)
		return r;
	r = e4_statfs(fs, &totals);
	if (r == 0)
		printf("%" PRIu64 " of %" PRIu64 " blocks free, %" PRIu64 " of %" PRIu64
		       " inodes\n",
			totals.blocks_free, totals.blocks, totals.files_free, totals.files);
	(void)e4_unmount(fs, 0);
	return r;
}

int main(int argc, char **argv)
{
	static const struct e4_blockdev_ops ops = {
		.struct_size = sizeof(ops),
		.geometry = memory_geometry,
		.read = memory_read,
		.close = memory_close, /* the rest stays NULL: this device cannot write, queue or map */
	};
	struct e4_error why = {.struct_size = sizeof(why)};
	struct memory memory = {0};
	struct e4_blockdev *dev;
	int r = argc == 2 ? memory_load(&memory, argv[1]) : -EINVAL;

	if (r == 0 && (r = e4_blockdev_new(&ops, &memory, NULL, &dev)) == 0) {
		r = show(dev, &why);
		(void)e4_blockdev_close(dev);
		printf("%" PRIu64 " reads\n", memory.reads);
	}
	if (r < 0)
		fprintf(stderr, "own_blockdev IMAGE: %s (%s)\n",
			why.text[0] ? why.text : strerror(-r), e4_errno_name(r));
	return r < 0;
}
