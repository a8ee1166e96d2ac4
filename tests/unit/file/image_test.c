/*
 * image_test.c - the same files as mke2fs and debugfs lay them out: every block size, both kinds of map, inline data.
 *
 * Needs mke2fs and debugfs; says so and passes where they are missing. No root.
 */
#include "../extent/maps.h"
#include "base/math.h"
#include "file/file.h"
#include "map/map.h"
#include "unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_SIZE 3000001u

static char folder[] = "/tmp/e4-image-XXXXXX";
static uint8_t *content;
static struct e4_blockdev *dev;
static struct volume *vol;
static struct inode ip;

struct image {
	uint32_t block_size;
	const char *options;
	const char *size;
};

static const struct image images[] = {
	{1024, "-O extents", "32M"},
	{4096, "-O extents,metadata_csum", "32M"},
	{65536, "-O extents", "64M"},
	{1024, "-t ext2", "32M"},
	{4096, "-t ext2", "32M"},
	{65536, "-t ext2", "64M"},
	{4096, "-O bigalloc,extents -C 16384", "64M"},
	/* For the small file only: mke2fs 1.47 loses the hole at the end of a large one here. */
	{4096, "-O inline_data,extents", "32M"},
};
#define IMAGES (int)(sizeof(images) / sizeof(images[0]))

#define TOOLS "PATH=$PATH:/sbin:/usr/sbin; "

static E4_PRINTF(1, 2) int run(const char *format, ...)
{
	char command[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	return system(command);
}

static bool has_tools(void)
{
	return system(TOOLS "command -v mke2fs >/dev/null && command -v debugfs >/dev/null") == 0;
}

/* Written stretches of odd lengths between holes. */
static void write_source(void)
{
	char path[100];
	uint64_t seed = 8;

	content = calloc(1, FILE_SIZE);
	snprintf(path, sizeof(path), "%s/src/f", folder);
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	for (uint64_t at = 0; at < FILE_SIZE - 200000;) {
		uint64_t len = 1 + maps_random(&seed) % 90000;

		for (uint64_t i = 0; i < len; i++)
			content[at + i] = maps_pattern(at + i);
		fseek(f, (long)at, SEEK_SET);
		ck_assert_uint_eq(fwrite(content + at, 1, (size_t)len, f), len);
		at += len + maps_random(&seed) % 200000;
	}
	fclose(f);
	ck_assert_int_eq(truncate(path, FILE_SIZE), 0);
	snprintf(path, sizeof(path), "%s/src/small", folder);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(content, 1, 100, f), 100);
	fclose(f);
}

static inum_t number_of(const char *name)
{
	char command[200];
	unsigned ino = 0;

	snprintf(command,
		sizeof(command), TOOLS "debugfs -R 'stat /%s' %s/img 2>/dev/null | sed -n 's/^Inode: \\([0-9]*\\).*/\\1/p'",
		name, folder);
	FILE *f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%u", &ino), 1);
	pclose(f);
	return ino;
}

static void open_image(const struct image *image, const char *name)
{
	struct volume_options opts = {.read_only = true, .cache_limit_bytes = 16 << 20};
	char spec[100];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(run("mkdir %s/src", folder), 0);
	write_source();
	ck_assert_int_eq(run(TOOLS "cd %s && mke2fs -q -F %s -b %u -d src img %s >err 2>&1 || { "
				   "cat err; false; }",
				 folder, image->options, image->block_size, image->size),
		0);
	/* An unwritten stretch, past the end as well. */
	if (strstr(image->options, "extents") != NULL && image->block_size < 65536)
		ck_assert_int_eq(
			run(TOOLS "debugfs -w -R 'fallocate /f 10 %u' %s/img >/dev/null 2>&1",
				FILE_SIZE / image->block_size + 50, folder),
			0);
	inum_t ino = number_of(name);
	snprintf(spec, sizeof(spec), "file:%s/img", folder);
	ck_assert_int_eq(e4_blockdev_open(spec, E4_BLOCKDEV_RDONLY, NULL, &dev), 0);
	ck_assert_int_eq(volume_load(dev->env, dev, &opts, &vol), 0);
	ck_assert_int_eq(inode_load(vol, ino, INODE_FOR_USE, &ip), 0);
}

static void close_image(void)
{
	extent_evict(&ip);
	inode_unload(&ip);
	volume_free(vol);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	free(content);
	ck_assert_int_eq(run("rm -rf %s", folder), 0);
}

START_TEST(file_read__as_mke2fs_laid_it_out__is_what_went_in)
{
	uint64_t seed = 2;

	if (!has_tools()) {
		printf("# SKIPPED: no mke2fs or debugfs here\n");
		return;
	}
	open_image(&images[_i], "f");
	ck_assert_uint_eq(ip.size, FILE_SIZE);
	uint8_t *buf = malloc(FILE_SIZE);
	struct e4_iovec iov = {.base = buf, .len = FILE_SIZE};
	ck_assert_int_eq(file_read(&ip, &iov, 1, 0), FILE_SIZE);
	ck_assert_int_eq(memcmp(buf, content, FILE_SIZE), 0);
	for (int i = 0; i < 2000; i++) {
		uint64_t offset = maps_random(&seed) % FILE_SIZE;
		uint64_t len = min_u64(FILE_SIZE - offset, maps_random(&seed) % 20000);

		iov.len = len;
		ck_assert_int_eq(file_read(&ip, &iov, 1, offset), (int64_t)len);
		ck_assert_int_eq(memcmp(buf, content + offset, (size_t)len), 0);
	}
	/* Data and holes tile the file, and holes are zeros. */
	for (int64_t at = 0; at < FILE_SIZE;) {
		int64_t hole = map_seek_hole(&ip, (uint64_t)at);
		int64_t data = map_seek_data(&ip, (uint64_t)at);

		ck_assert(hole == at || data == at);
		if (hole == at && data == -ENXIO)
			data = FILE_SIZE;
		for (int64_t i = at; hole == at && i < data; i++)
			ck_assert_uint_eq(content[i], 0);
		at = hole == at ? data : hole;
	}
	free(buf);
	close_image();
}
END_TEST

START_TEST(file_read__inline_file__is_what_went_in)
{
	uint8_t buf[200];

	if (!has_tools()) {
		printf("# SKIPPED: no mke2fs or debugfs here\n");
		return;
	}
	open_image(&images[IMAGES - 1], "small");
	ck_assert_uint_ne(ip.flags & INODE_FL_INLINE_DATA, 0);
	for (uint64_t offset = 0; offset < 110; offset++) {
		struct e4_iovec iov[3] = {{buf, 7}, {buf + 7, 60}, {buf + 67, 133}};
		uint64_t want = offset < 100 ? 100 - offset : 0;

		memset(buf, 0xA5, sizeof(buf));
		ck_assert_int_eq(file_read(&ip, iov, 3, offset), (int64_t)want);
		ck_assert_mem_eq(buf, content + min_u64(offset, 100), (size_t)want);
		ck_assert_uint_eq(buf[want], 0xA5);
	}
	close_image();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file images");
	TCase *tc = tcase_create("images");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, file_read__as_mke2fs_laid_it_out__is_what_went_in, 0, IMAGES - 1);
	tcase_add_test(tc, file_read__inline_file__is_what_went_in);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
