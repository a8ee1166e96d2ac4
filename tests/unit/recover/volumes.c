/*
 * volumes.c - volumes made by mke2fs and debugfs in a directory of their own.
 */
#include "volumes.h"

#include "format/csum.h"
#include "unit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[] = "/tmp/e4-recover-XXXXXX";

bool volumes_begin(void)
{
	return mkdtemp(dir) != NULL;
}

void volumes_end(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	(void)!system(command);
}

bool have_tools(void)
{
	return system("(PATH=$PATH:/sbin:/usr/sbin; command -v mke2fs && command -v debugfs && "
		      "command -v e2fsck) >/dev/null 2>&1") == 0;
}

int shell(const char *format, ...)
{
	char command[8192];
	char body[8000];
	va_list args;

	va_start(args, format);
	vsnprintf(body, sizeof(body), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd %s && PATH=$PATH:/sbin:/usr/sbin && (%s) >out 2>&1",
		dir, body);
	return system(command);
}

static void path_of(const char *name, char path[256])
{
	snprintf(path, 256, "%s/%s", dir, name);
}

FILE *open_out(void)
{
	char path[256];

	path_of("out", path);
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	return f;
}

void make_sparse(const char *name, uint32_t pieces, uint32_t len, uint32_t step)
{
	uint8_t bytes[4096];
	char path[256];

	path_of(name, path);
	memset(bytes, 0xA5, sizeof(bytes));
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	for (uint32_t i = 0; i < pieces; i++) {
		ck_assert_int_eq(fseek(f, (long)i * step, SEEK_SET), 0);
		ck_assert_uint_eq(fwrite(bytes, 1, len, f), len);
	}
	ck_assert_int_eq(fclose(f), 0);
}

void read_volume(struct image *ret)
{
	char path[256];

	path_of("v", path);
	ck_assert_int_eq(image_read(path, NULL, ret), 0);
}

static void write_volume(const struct image *img)
{
	char path[256];

	path_of("v", path);
	ck_assert_int_eq(image_write(img, path), 0);
}

void check_clean(const struct image *img)
{
	write_volume(img);
	if (shell("e2fsck -fn v") != 0) {
		(void)shell("cat out >&2");
		ck_abort_msg("e2fsck finds faults");
	}
}

void check_repairable(const struct image *img)
{
	write_volume(img);
	(void)shell("e2fsck -fy v");
	ck_assert_int_eq(shell("e2fsck -fn v"), 0);
}

struct disk_super *super_of(struct image *img)
{
	return (void *)(img->bytes + SUPER_OFFSET);
}

void reseal(struct disk_super *s)
{
	s->checksum = le32_put(csum_super(s));
}
