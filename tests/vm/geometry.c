/*
 * geometry.c - says what a device is, as the library sees it: one `member value` a line. For the emulated guest, whose devices
 * differ in what no command of e4 shows. usage: geometry [-r GRANULARITY] [-s OFFSET] [-f FILE] SPEC
 *
 * -r refuses a mapping coarser than so many bytes; -s stores a line there and looks at it through a second opening;
 * -f compares a file of the volume, as its device's own memory shows it, with what reading it gives.
 */
#include <ext4core/ext4core.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wish {
	const char *spec;
	const char *file; /* NULL: none is compared */
	uint64_t store;   /* 0: nothing is stored */
	struct e4_blockdev_options options;
};

static const char line[64] = "stored line of sixty-four bytes";

static int show(struct e4_blockdev *dev)
{
	struct e4_geometry g = {.struct_size = sizeof(g)};
	int r = e4_blockdev_geometry(dev, &g);

	if (r < 0)
		return r;
	printf("size %" PRIu64 "\nlogical_block %" PRIu32 "\nphysical_block %" PRIu32 "\n", g.size,
		g.logical_block, g.physical_block);
	printf("dma_align %" PRIu32 "\nqueue_depth %" PRIu32 "\natomic_write %" PRIu32 "\n",
		g.dma_align, g.queue_depth, g.atomic_write);
	printf("write_cache %d\nfua %d\ndiscard %d\nwrite_zeroes %d\nnowait %d\n", g.write_cache,
		g.fua, g.discard, g.write_zeroes, g.nowait);
	printf("can_map %d\npersist_granularity %" PRIu32 "\n", g.can_map, g.persist_granularity);
	return 0;
}

/* One piece of the file, mapped and read: how long it was, 0 at the end. */
static int64_t compare_piece(struct e4_file *file, uint64_t pos)
{
	static char buf[65536];
	const void *there;
	uint64_t n;
	int64_t got = e4_pread(file, buf, sizeof(buf), pos);
	int r;

	if (got <= 0)
		return got;
	r = e4_dax_map(file, pos, (uint64_t)got, &there, &n);
	if (r < 0)
		return r;
	if (memcmp(there, buf, n) != 0)
		printf("differs %" PRIu64 "\n", pos);
	r = e4_dax_unmap(file, there, n);
	return r < 0 ? r : (int64_t)n;
}

static int compare_file(struct e4_fs *fs, const char *path)
{
	struct e4_file *file;
	uint64_t pos = 0;
	int64_t n = e4_open(fs, path, E4_O_RDONLY, 0, &file);

	if (n < 0)
		return (int)n;
	while ((n = compare_piece(file, pos)) > 0)
		pos += (uint64_t)n;
	printf("mapped %" PRIu64 "\n", pos);
	(void)e4_close(file);
	return (int)n;
}

static int with_volume(struct e4_blockdev *dev, const struct wish *wish)
{
	struct e4_mount_options options;
	struct e4_fs *fs;
	int r;

	e4_mount_options_init(&options);
	options.flags = E4_MOUNT_RDONLY;
	options.error = wish->options.error;
	r = e4_mount(dev, &options, &fs);
	if (r < 0)
		return r;
	r = compare_file(fs, wish->file);
	(void)e4_unmount(fs, 0);
	return r;
}

static int look(const struct wish *wish)
{
	struct e4_blockdev *dev;
	char seen[sizeof(line)];
	int r = e4_blockdev_open(wish->spec, E4_BLOCKDEV_RDONLY, &wish->options, &dev);

	if (r < 0)
		return r;
	r = show(dev);
	if (r == 0 && wish->file != NULL)
		r = with_volume(dev, wish);
	if (r == 0 && wish->store != 0) {
		r = e4_blockdev_read(dev, wish->store, seen, sizeof(seen));
		if (r == 0)
			printf("stored %d\n", memcmp(seen, line, sizeof(line)) == 0);
	}
	(void)e4_blockdev_close(dev);
	return r;
}

static int store(const struct wish *wish)
{
	struct e4_blockdev *dev;
	int r = e4_blockdev_open(wish->spec, E4_BLOCKDEV_RDWR, &wish->options, &dev);

	if (r < 0)
		return r;
	r = e4_blockdev_write(dev, wish->store, line, sizeof(line), 0);
	if (r == 0)
		r = e4_blockdev_flush(dev);
	(void)e4_blockdev_close(dev);
	return r;
}

static int parse(int argc, char **argv, struct wish *ret)
{
	int letter;

	while ((letter = getopt(argc, argv, "r:s:f:")) != -1) {
		if (letter == 'r')
			ret->options.require_granularity = (uint32_t)strtoul(optarg, NULL, 0);
		else if (letter == 's')
			ret->store = strtoull(optarg, NULL, 0);
		else if (letter == 'f')
			ret->file = optarg;
		else
			return -1;
	}
	ret->spec = argv[optind];
	return optind + 1 == argc ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct e4_error why = {.struct_size = sizeof(why)};
	struct wish wish = {.spec = NULL};
	int r = 0;

	e4_blockdev_options_init(&wish.options);
	wish.options.error = &why;
	if (parse(argc, argv, &wish) < 0) {
		fprintf(stderr, "usage: geometry [-r GRANULARITY] [-s OFFSET] [-f FILE] SPEC\n");
		return 2;
	}
	if (wish.store != 0)
		r = store(&wish);
	if (r == 0)
		r = look(&wish);
	if (r == 0)
		return 0;
	printf("refused %s %s\n", e4_errno_name(r), why.text);
	return 1;
}
