/*
 * mke2fs_test.c - the room on a volume that mke2fs and debugfs made: what they wrote is what we read.
 */
#include "file/file.h"
#include "inode/inode.h"
#include "unit.h"

#include <ext4core/blockdev.h>

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIG_SIZE 1000u /* does not fit a block of 1 KiB beside its header */

static char folder[] = "/tmp/e4-inode-XXXXXX";
static char image[64];

static const char script[] =
	"set -e; cd '%s'; mkdir src; printf hello > src/tiny; ln -s target src/link; mkdir "
	"src/sub\n"
	"head -c 100 /dev/zero | tr '\\000' x > src/inline; head -c 1000 /dev/zero | tr '\\000' y "
	"> big\n"
	"mke2fs -q -t ext4 -b 1024 -O inline_data,ea_inode -I 256 -d src image 8M >/dev/null\n"
	"debugfs -w -f - image <<END >/dev/null 2>&1\n"
	"ea_set /sub user.a in-inode\n"
	"ea_set /sub trusted.b %s\n"
	"ea_set -f big /sub user.big\n"
	"mknod dev c 5 1\n"
	"set_inode_field /tiny mtime_lo 0x80000000\n"
	"set_inode_field /tiny mtime_extra 5\n"
	"END\n";
static const char long_value[] = "01234567890123456789012345678901234567890123456789012345678901234"
				 "56789012345678901234567890123456789";

static struct e4_blockdev *dev;
static struct volume *vol;
static struct inode_cache *cache;

static void setup(void)
{
	struct volume_options opts = {.read_only = true, .cache_limit_bytes = 1 << 20};

	ck_assert_int_eq(e4_blockdev_open(image, E4_BLOCKDEV_RDONLY, NULL, &dev), 0);
	ck_assert_int_eq(volume_load(dev->env, dev, &opts, &vol), 0);
	ck_assert_int_eq(inode_cache_new(vol, NULL, 16, &cache), 0);
	xattr_set_reader(cache, file_read_ea);
}

static void teardown(void)
{
	inode_cache_free(cache);
	volume_free(vol);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}

/* The number debugfs gives for a name. */
static inum_t number_of(const char *path)
{
	char command[256];
	unsigned ino = 0;

	snprintf(command, sizeof(command), "debugfs -R 'stat %s' '%s' 2>/dev/null", path, image);
	FILE *out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(fscanf(out, "Inode: %u", &ino), 1);
	while (fgetc(out) != EOF) {
	}
	pclose(out);
	return ino;
}

static struct inode *get(const char *path)
{
	struct inode *ip;

	ck_assert_int_eq(inode_get(cache, number_of(path), 0, &ip), 0);
	return ip;
}

START_TEST(inode_get__every_inode_that_mke2fs_wrote__is_sound_or_free)
{
	uint32_t used = 0;

	for (inum_t ino = 11; ino <= vol->inodes_count; ino++) {
		struct inode *ip;
		int r = inode_get(cache, ino, 0, &ip);

		ck_assert(r == 0 || r == -ESTALE || r == -EUCLEAN); /* EUCLEAN: the EA inode */
		if (r == 0) {
			used++;
			inode_put(ip, 1);
		}
	}
	ck_assert_uint_ge(used, 6);
}
END_TEST

START_TEST(inode_get__fields_that_debugfs_set__are_those_read)
{
	struct inode *ip = get("/tiny");

	ck_assert_int_eq(ip->mtime.sec, INT64_C(1) << 31);
	ck_assert_uint_eq(ip->mtime.nsec, 1);
	ck_assert_uint_eq(ip->size, 5);
	inode_put(ip, 1);
	ip = get("/dev");
	ck_assert_uint_eq(ip->rdev_major, 5);
	ck_assert_uint_eq(ip->rdev_minor, 1);
	inode_put(ip, 1);
	ip = get("/link");
	ck_assert(inode_is_fast_symlink(ip));
	ck_assert_mem_eq(ip->block, "target", 7);
	inode_put(ip, 1);
}
END_TEST

START_TEST(xattr_get__in_inode_in_block_and_in_an_inode__gives_the_values)
{
	char list[64], big[BIG_SIZE], value[128];
	struct inode *ip = get("/sub");
	int64_t len = xattr_list(ip, list, sizeof(list));

	ck_assert_int_eq(len, sizeof("user.a") + sizeof("trusted.b") + sizeof("user.big"));
	ck_assert_int_eq(xattr_get(ip, "user.a", value, sizeof(value)), 8);
	ck_assert_mem_eq(value, "in-inode", 8);
	ck_assert_int_eq(xattr_get(ip, "trusted.b", value, sizeof(value)), sizeof(long_value) - 1);
	ck_assert_mem_eq(value, long_value, sizeof(long_value) - 1);
	ck_assert_int_eq(xattr_get(ip, "user.big", big, sizeof(big)), BIG_SIZE);
	ck_assert_int_eq(big[0], 'y');
	ck_assert_int_eq(big[BIG_SIZE - 1], 'y');
	inode_put(ip, 1);
}
END_TEST

START_TEST(inline_data_read__file_of_100_bytes__is_in_the_inode)
{
	char buf[100];
	struct inode *ip = get("/inline");

	ck_assert_uint_ne(ip->flags & INODE_FL_INLINE_DATA, 0);
	ck_assert_int_eq(inline_data_read(ip, 0, buf, sizeof(buf)), 0);
	for (uint32_t n = 0; n < sizeof(buf); n++)
		ck_assert_int_eq(buf[n], 'x');
	inode_put(ip, 1);
}
END_TEST

/* The image all tests read; false where the tools are missing. */
static int make_image(void)
{
	char command[2048];

	if (system("mke2fs -V >/dev/null 2>&1 && debugfs -V >/dev/null 2>&1") != 0 ||
		mkdtemp(folder) == NULL)
		return 0;
	snprintf(image, sizeof(image), "%s/image", folder);
	snprintf(command, sizeof(command), script, folder, long_value);
	return system(command) == 0 ? 1 : -1;
}

int main(void)
{
	Suite *suite = suite_create("inode/mke2fs");
	TCase *tc = tcase_create("mke2fs");
	char command[128];
	int made = make_image();

	if (made <= 0) {
		printf(made == 0 ? "1..0 # SKIP no mke2fs and debugfs here\n"
				 : "Bail out! mke2fs failed\n");
		return made == 0 ? 0 : 1;
	}
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, inode_get__every_inode_that_mke2fs_wrote__is_sound_or_free);
	tcase_add_test(tc, inode_get__fields_that_debugfs_set__are_those_read);
	tcase_add_test(tc, xattr_get__in_inode_in_block_and_in_an_inode__gives_the_values);
	tcase_add_test(tc, inline_data_read__file_of_100_bytes__is_in_the_inode);
	suite_add_tcase(suite, tc);
	int r = unit_run(suite);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command) == 0 ? r : 1;
}
