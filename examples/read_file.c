/* read_file.c - the first program: open a volume, read one file of it to standard output. */
#include <ext4core/ext4core.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What went wrong, in one line: the library's own reason where it has one. */
static int failed(const char *what, int64_t err, const struct e4_error *why)
{
	fprintf(stderr, "read_file: %s: %s (%s)\n", what,
		why->text[0] != '\0' ? why->text : strerror((int)-err), e4_errno_name((int)err));
	return 1;
}

/* excerpt: the library in twenty lines */
static int64_t print_file(struct e4_blockdev *dev, const char *path, struct e4_error *why)
{
	struct e4_mount_options options;
	struct e4_fs *fs;
	struct e4_file *file;
	char buf[65536];
	int64_t r, pos = 0;

	e4_mount_options_init(&options);
	options.flags = E4_MOUNT_RDONLY; /* not one byte of the device changes, even if the log must be replayed */
	options.error = why;
	if ((r = e4_mount(dev, &options, &fs)) < 0)
		return r;
	if ((r = e4_open(fs, path, E4_O_RDONLY, 0, &file)) == 0) {
		for (; (r = e4_pread(file, buf, sizeof(buf), (uint64_t)pos)) > 0; pos += r)
			fwrite(buf, 1, (size_t)r, stdout);
		(void)e4_close(file);
	}
	if (r < 0)
		(void)e4_last_error(fs, why);
	(void)e4_unmount(fs, 0);
	return r;
}
/* end of excerpt */

int main(int argc, char **argv)
{
	struct e4_error why = {.struct_size = sizeof(why)};
	struct e4_blockdev_options options;
	struct e4_blockdev *dev;
	int64_t r;

	if (argc != 3) {
		fprintf(stderr, "usage: %s DEV PATH\n", argv[0]);
		return 2;
	}

	e4_blockdev_options_init(&options);
	options.error = &why;
	r = e4_blockdev_open(argv[1], E4_BLOCKDEV_RDONLY, &options, &dev);
	if (r < 0) {
		return failed(argv[1], r, &why);
	}
	r = print_file(dev, argv[2], &why);
	(void)e4_blockdev_close(dev);
	if (r < 0) {
		return failed(argv[2], r, &why);
	}
	if (fflush(stdout) != 0) {
		perror("read_file: standard output");
		return 1;
	}
	return 0;
}
