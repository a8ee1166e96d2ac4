/* fs_test.c - mounting, paths, life of a mount, on a volume laid out by hand. */
#include "format/dirent.h"
#include "format/features.h"
#include "tiny.h"
#include "unit.h"

#include <ext4core/ext4core.h>

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t image[TINY_BYTES];
static struct e4_blockdev *dev;
static struct e4_fs *fs;

/* A fast symlink in inode ino. */
static void make_link(uint32_t ino, const char *name, const char *target)
{
	tiny_map(image, ino, INODE_LNK | 0777, 0, 0, strlen(target));
	struct disk_inode *di = tiny_inode(image, ino);
	di->flags = le32_put(0);
	memset(di->block, 0, sizeof(di->block));
	memcpy(di->block, target, strlen(target));
	tiny_link(image, ino, DIRENT_LNK, name);
}

/* /file /dir/ with "." and ".." only, and links: abs -> /file, up -> ../../file, loop -> loop, dirlink -> dir, none -> missing. */
static void setup(void)
{
	uint8_t *d = image + (TINY_FREE + 1) * TINY_BLOCK;

	tiny_format(image);
	tiny_map(image, 12, INODE_REG | 0644, TINY_FREE, 1, 5);
	memcpy(image + TINY_FREE * TINY_BLOCK, "hello", 5);
	tiny_link(image, 12, DIRENT_REG, "file");
	tiny_map(image, 13, INODE_DIR | 0755, TINY_FREE + 1, 1, TINY_BLOCK);
	memcpy(d, image + TINY_ROOT * TINY_BLOCK, 24);
	((struct disk_dirent *)(void *)d)->inode = le32_put(13);
	((struct disk_dirent *)(void *)(d + 12))->rec_len = le16_put(TINY_BLOCK - 12);
	tiny_link(image, 13, DIRENT_DIR, "dir");
	make_link(14, "abs", "/file");
	make_link(15, "up", "../../file");
	make_link(16, "loop", "loop");
	make_link(17, "dirlink", "dir");
	make_link(18, "none", "missing");
	tiny_link(image, 40, DIRENT_REG, "free"); /* names an inode that is not in use */
	ck_assert_int_eq(tiny_device(image, sizeof(image), &dev), 0);
	fs = NULL;
}

static void teardown(void)
{
	if (fs != NULL)
		ck_assert_int_eq(e4_unmount(fs, 0), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}

static int mount_with(uint32_t flags)
{
	struct e4_mount_options opts;

	e4_mount_options_init(&opts);
	opts.flags = flags;
	return e4_mount(dev, &opts, &fs);
}

static int stat_of(const char *path, uint32_t flags, struct e4_stat *st)
{
	st->struct_size = sizeof(*st);
	return e4_stat(fs, path, flags, st);
}

START_TEST(path__each_form__resolves_as_the_kernel_does)
{
	static const struct {
		const char *path;
		uint32_t flags;
		int err;
		uint32_t ino;
	} cases[] = {
		{"/", 0, 0, 2},
		{"//", 0, 0, 2},
		{".", 0, 0, 2},
		{"..", 0, 0, 2},
		{"/../../..", 0, 0, 2},
		{"", 0, -ENOENT, 0},
		{"/file", 0, 0, 12},
		{"file", 0, 0, 12},
		{"//file", 0, 0, 12},
		{"/./file", 0, 0, 12},
		{"/file/", 0, -ENOTDIR, 0},
		{"/file/x", 0, -ENOTDIR, 0},
		{"/file/.", 0, -ENOTDIR, 0},
		{"/dir", 0, 0, 13},
		{"/dir/", 0, 0, 13},
		{"/dir/.", 0, 0, 13},
		{"/dir/..", 0, 0, 2},
		{"/dir/../file", 0, 0, 12},
		{"/dir/nothing", 0, -ENOENT, 0},
		{"/abs", 0, 0, 12},
		{"/abs", 1, 0, 14},
		{"/up", 0, 0, 12},
		{"/loop", 0, -ELOOP, 0},
		{"/loop", 1, 0, 16},
		{"/loop/x", 1, -ELOOP, 0},
		{"/dirlink", 0, 0, 13},
		{"/dirlink", 1, 0, 17},
		{"/dirlink/", 1, 0, 13},
		{"/dirlink/..", 1, 0, 2},
		{"/none", 0, -ENOENT, 0},
		{"/none", 1, 0, 18},
		{"/free", 0, -EUCLEAN, 0},
	};
	struct e4_stat st;

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = stat_of(cases[i].path, cases[i].flags, &st);

		ck_assert_msg(r == cases[i].err, "%s: %d", cases[i].path, r);
		if (r == 0)
			ck_assert_msg(st.ino == cases[i].ino, "%s: inode %u", cases[i].path, st.ino);
	}
}
END_TEST

START_TEST(path__too_long__is_ENAMETOOLONG)
{
	char path[5000];
	struct e4_stat st;

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[257] = '\0';
	ck_assert_int_eq(stat_of(path, 0, &st), -ENAMETOOLONG);
	path[256] = '\0';
	ck_assert_int_eq(stat_of(path, 0, &st), -ENOENT);
	memset(path, '/', sizeof(path));
	path[4095] = '\0';
	ck_assert_int_eq(stat_of(path, 0, &st), 0);
	path[4095] = '/';
	path[4096] = '\0';
	ck_assert_int_eq(stat_of(path, 0, &st), -ENAMETOOLONG);
}
END_TEST

START_TEST(open__each_kind__answers_as_open_2)
{
	struct e4_file *f;
	char buf[16];

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	ck_assert_int_eq(e4_open(fs, "/file", E4_O_RDWR, 0, &f), -EROFS);
	ck_assert_int_eq(e4_open(fs, "/dir", E4_O_WRONLY, 0, &f), -EISDIR);
	ck_assert_int_eq(e4_open(fs, "/file", E4_O_DIRECTORY, 0, &f), -ENOTDIR);
	ck_assert_int_eq(e4_open(fs, "/abs", E4_O_NOFOLLOW, 0, &f), -ELOOP);
	ck_assert_int_eq(e4_open(fs, "/file", 0x8000, 0, &f), -EINVAL);
	ck_assert_int_eq(e4_open(fs, "/abs", 0, 0, &f), 0);
	ck_assert_int_eq(e4_pread(f, buf, sizeof(buf), 1), 4);
	ck_assert_mem_eq(buf, "ello", 4);
	ck_assert_int_eq(e4_pread(f, buf, sizeof(buf), 5), 0);
	ck_assert_int_eq(e4_pread(f, buf, sizeof(buf), UINT64_MAX), -EINVAL);
	ck_assert_int_eq(e4_close(f), 0);
}
END_TEST

START_TEST(unmount__with_open_objects__is_EBUSY_and_forced_leaves_them_answering_ESHUTDOWN)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct e4_inode *ip;
	struct e4_file *f;
	struct e4_dir *d;
	struct e4_dirent de;
	char buf[4];

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	ck_assert_int_eq(e4_open(fs, "/file", 0, 0, &f), 0);
	ck_assert_int_eq(e4_opendir(fs, "/", &d), 0);
	ck_assert_int_eq(e4_path_lookup(fs, "/dir", 0, &ip), 0);
	ck_assert_int_eq(e4_unmount(fs, 0), -EBUSY);
	ck_assert_int_eq(e4_blockdev_close(dev), -EBUSY);
	ck_assert_int_eq(e4_unmount(fs, E4_UNMOUNT_FORCE), 0);
	fs = NULL;
	ck_assert_int_eq(e4_pread(f, buf, 4, 0), -ESHUTDOWN);
	ck_assert_int_eq(e4_readdir(d, &de), -ESHUTDOWN);
	ck_assert_int_eq(e4_inode_stat(ip, &st), -ESHUTDOWN);
	ck_assert_int_eq(e4_blockdev_close(dev), -EBUSY);
	e4_inode_put(ip, 1);
	ck_assert_int_eq(e4_closedir(d), 0);
	ck_assert_int_eq(e4_close(f), 0);
}
END_TEST

START_TEST(mount__twice_on_one_device__is_EBUSY)
{
	struct e4_fs *second;

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	ck_assert_int_eq(e4_mount(dev, NULL, &second), -EBUSY);
}
END_TEST

START_TEST(mount__for_writing_on_a_read_only_device__is_EROFS_with_a_reason)
{
	struct e4_mount_options opts;
	struct e4_error e = {.struct_size = sizeof(e)};

	e4_mount_options_init(&opts);
	opts.error = &e;
	ck_assert_int_eq(e4_mount(dev, &opts, &fs), -EROFS);
	ck_assert_str_eq(e.why, "MOUNT_DEVICE_RO");
	ck_assert_int_eq(mount_with(E4_MOUNT_NORECOVERY), -EINVAL);
}
END_TEST

START_TEST(mount__root_is_no_directory__is_EUCLEAN)
{
	tiny_map(image, 2, INODE_REG | 0644, TINY_ROOT, 1, TINY_BLOCK);
	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), -EUCLEAN);
}
END_TEST

START_TEST(mount__every_allocation_failing_once__errors_and_leaks_nothing)
{
	/* A budget that grows byte by byte stops the mount at each of its allocations in turn. */
	struct e4_mount_options opts;
	int r = -ENOMEM;

	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY;
	for (opts.memory_budget = 1; r != 0; opts.memory_budget += 256) {
		r = e4_mount(dev, &opts, &fs);
		ck_assert_msg(r == 0 || r == -ENOMEM, "budget %llu: %d",
			(unsigned long long)opts.memory_budget, r);
		ck_assert_uint_lt(opts.memory_budget, 4u << 20);
	}
}
END_TEST

START_TEST(statfs_and_info__clean_volume__as_the_superblock_says)
{
	struct e4_statfs sf = {.struct_size = sizeof(sf)};
	struct e4_fs_info info = {.struct_size = sizeof(info)};

	tiny_super(image)->free_blocks_count_lo = le32_put(100);
	tiny_super(image)->free_inodes_count = le32_put(30);
	memcpy(tiny_super(image)->volume_name, "0123456789abcdef", 16);
	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	ck_assert_int_eq(e4_statfs(fs, &sf), 0);
	ck_assert_uint_eq(sf.blocks_free, 100);
	ck_assert_uint_eq(sf.files_free, 30);
	ck_assert_uint_eq(sf.block_size, TINY_BLOCK);
	ck_assert_int_eq(e4_fs_info(fs, &info), 0);
	ck_assert_str_eq(info.label, "0123456789abcdef");
	ck_assert_uint_eq(info.groups, 1);
	ck_assert_uint_eq(info.read_only, 1);
}
END_TEST

/* How many mappings a whole listing of /dir and the look-up of a name that is not there take. */
static uint64_t lookups_of_scans(int *ret_list, int *ret_find)
{
	struct e4_counters before = {.struct_size = sizeof(before)};
	struct e4_counters after = {.struct_size = sizeof(after)};
	struct e4_dirent de;
	struct e4_stat st;
	struct e4_dir *d;

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	ck_assert_int_eq(e4_counters(fs, &before), 0);
	ck_assert_int_eq(e4_opendir(fs, "/dir", &d), 0);
	while ((*ret_list = e4_readdir(d, &de)) == 1)
		;
	ck_assert_int_eq(e4_closedir(d), 0);
	*ret_find = stat_of("/dir/nothing", 0, &st);
	ck_assert_int_eq(e4_counters(fs, &after), 0);
	return after.map_lookups - before.map_lookups;
}

START_TEST(dir__four_gigabytes_of_hole_behind_its_block__is_scanned_at_once)
{
	int list;
	int find;

	tiny_inode(image, 13)->size_lo = le32_put(0xFFFFFC00u);
	ck_assert_uint_lt(lookups_of_scans(&list, &find), 20);
	ck_assert_int_eq(list, 0);
	ck_assert_int_eq(find, -ENOENT);
}
END_TEST

START_TEST(dir__four_gigabytes_without_a_map__is_an_error_at_once)
{
	int list;
	int find;

	tiny_inode(image, 13)->size_lo = le32_put(0xFFFFFC00u);
	tiny_inode(image, 13)->block[4] = 200; /* eh_max */
	ck_assert_uint_lt(lookups_of_scans(&list, &find), 20);
	ck_assert_int_eq(list, -EUCLEAN);
	ck_assert_int_eq(find, -EUCLEAN);
}
END_TEST

START_TEST(fork__in_the_child__every_handle_is_dead_and_the_parents_live_on)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct e4_file *f;
	char buf[4];
	int status;

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	ck_assert_int_eq(e4_open(fs, "/file", 0, 0, &f), 0);
	pid_t child = fork();
	if (child == 0) {
		bool dead = e4_pread(f, buf, 4, 0) == -ESHUTDOWN &&
			    stat_of("/file", 0, &st) == -ESHUTDOWN && e4_close(f) == -ESHUTDOWN &&
			    e4_unmount(fs, E4_UNMOUNT_FORCE) == -ESHUTDOWN &&
			    e4_blockdev_close(dev) == -ESHUTDOWN;

		_exit(dead ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(e4_pread(f, buf, 4, 0), 4);
	ck_assert_int_eq(e4_close(f), 0);
}
END_TEST

static void *walk(void *arg)
{
	struct e4_stat st;

	for (unsigned i = 0; i < 500; i++) {
		ck_assert_int_eq(stat_of("/dirlink/../abs", 0, &st), 0);
		ck_assert_uint_eq(st.ino, 12);
	}
	return arg;
}

START_TEST(path__eight_threads__agree)
{
	pthread_t t[8];

	ck_assert_int_eq(mount_with(E4_MOUNT_RDONLY), 0);
	for (unsigned i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, walk, NULL);
	for (unsigned i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs/fs");
	TCase *tc = tcase_create("fs");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, path__each_form__resolves_as_the_kernel_does);
	tcase_add_test(tc, path__too_long__is_ENAMETOOLONG);
	tcase_add_test(tc, open__each_kind__answers_as_open_2);
	tcase_add_test(tc,
		unmount__with_open_objects__is_EBUSY_and_forced_leaves_them_answering_ESHUTDOWN);
	tcase_add_test(tc, mount__twice_on_one_device__is_EBUSY);
	tcase_add_test(tc, mount__for_writing_on_a_read_only_device__is_EROFS_with_a_reason);
	tcase_add_test(tc, mount__root_is_no_directory__is_EUCLEAN);
	tcase_add_test(tc, mount__every_allocation_failing_once__errors_and_leaks_nothing);
	tcase_add_test(tc, statfs_and_info__clean_volume__as_the_superblock_says);
	tcase_add_test(tc, dir__four_gigabytes_of_hole_behind_its_block__is_scanned_at_once);
	tcase_add_test(tc, dir__four_gigabytes_without_a_map__is_an_error_at_once);
	tcase_add_test(tc, fork__in_the_child__every_handle_is_dead_and_the_parents_live_on);
	tcase_add_test(tc, path__eight_threads__agree);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
