/*
 * kernel_test.c - directories that Linux wrote, listed and looked up beside Linux: names, numbers, types, order, cookies.
 *
 * Needs root, loop devices and mke2fs; without them each case says so and ends.
 */
#include "format/htree.h"
#include "image.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fscrypt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[64], image_path[128], mount_path[128];
static bool mounted;

static int shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int shell(const char *fmt, ...)
{
	char command[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(command, sizeof(command), fmt, args);
	va_end(args);
	return system(command);
}

/* By the parent, as a failed case cleans nothing up. */
static void clean(void)
{
	(void)shell("if mountpoint -q %s; then umount %s; fi; rm -rf %s", mount_path, mount_path,
		folder);
}

static void setup(void)
{
	clean();
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_eq(mkdir(mount_path, 0700), 0);
}

static bool remount(const char *how)
{
	if (mounted)
		ck_assert_int_eq(shell("umount %s", mount_path), 0);
	mounted = shell("mount -o loop,%s %s %s 2>%s/log", how, image_path, mount_path, folder) == 0;
	return mounted;
}

/* An empty volume, mounted for writing with a directory d; false where this machine cannot. */
static bool make(const char *mkfs_args, const char *debugfs_request)
{
	if (geteuid() != 0 || shell("mke2fs -q -F -t ext4 -N 120000 %s %s 256M >%s/log 2>&1",
				      mkfs_args, image_path, folder) != 0) {
		printf("# skipped: needs root and mke2fs (%s)\n", mkfs_args);
		return false;
	}
	if (debugfs_request != NULL)
		ck_assert_int_eq(
			shell("debugfs -w -R '%s' %s 2>/dev/null", debugfs_request, image_path), 0);
	if (!remount("rw")) {
		printf("# skipped: cannot mount %s\n", mkfs_args);
		return false;
	}
	ck_assert_int_eq(shell("mkdir %s/d", mount_path), 0);
	return true;
}

static void touch(const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/d/%s", mount_path, name);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_msg(fd >= 0, "%s: %s", name, strerror(errno));
	close(fd);
}

static void touch_many(const char *prefix, uint32_t count)
{
	char name[64];

	for (uint32_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		touch(name);
	}
}

struct listed {
	uint64_t ino, off;
	uint32_t type;
	char name[256];
};

struct listing {
	struct listed *entries;
	size_t count, size;
};

static struct listed *listing_add(struct listing *l)
{
	if (l->count == l->size) {
		l->size = l->size == 0 ? 64 : l->size * 2;
		l->entries = realloc(l->entries, l->size * sizeof(*l->entries));
		ck_assert_ptr_nonnull(l->entries);
	}
	return &l->entries[l->count++];
}

struct linux_dirent64 {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static struct listing list_by_kernel(const char *dir)
{
	static char buf[1 << 16];
	char path[256];
	struct listing l = {0};
	long n;

	snprintf(path, sizeof(path), "%s/%s", mount_path, dir);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(fd, 0);
	while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct linux_dirent64 *d = (const void *)(buf + at);
			struct listed *e = listing_add(&l);

			*e = (struct listed){.ino = d->ino, .off = (uint64_t)d->off, .type = d->type};
			snprintf(e->name, sizeof(e->name), "%s", d->name);
			at += d->reclen;
		}
	}
	ck_assert_int_eq(n, 0);
	close(fd);
	return l;
}

static void check_entry(const struct listed *k, const struct e4_dirent *d, size_t i)
{
	ck_assert_msg(strcmp(k->name, d->name) == 0, "entry %zu: kernel %s, here %s", i, k->name,
		d->name);
	ck_assert_uint_eq(d->name_len, strlen(d->name));
	ck_assert_uint_eq(k->ino, d->ino);
	ck_assert_uint_eq(k->type, d->type >> 12);
	/* Linux gives a 32-bit process positions of its own. */
	if (sizeof(long) < 8)
		return;
	if (d->cookie >> 63 == 0) {
		ck_assert_msg(k->off == d->cookie, "entry %zu (%s): kernel %#llx, here %#llx", i,
			k->name, (unsigned long long)k->off, (unsigned long long)d->cookie);
		return;
	}
	/* The next one shares its position with this one. */
	ck_assert_uint_eq(k->off >> 32, d->cookie >> 32 & 0x7FFFFFFF);
}

static size_t compare_order(struct inode *ip, const struct listing *k)
{
	struct dir_iter *it;
	struct e4_dirent d;
	size_t i = 0, equal = 0;
	int r;

	ck_assert_int_eq(dir_iter_new(ip, &it), 0);
	while ((r = dir_iter_next(it, &d)) > 0) {
		ck_assert_uint_lt(i, k->count);
		check_entry(&k->entries[i], &d, i);
		equal += (size_t)(d.cookie >> 63);
		k->entries[i++].off = d.cookie;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(i, k->count);
	dir_iter_free(it);
	return equal;
}

/* A new stream for every seek, as a server without state would. */
static void compare_seeks(struct inode *ip, const struct listing *k)
{
	size_t every = k->count / 500 + 1;

	for (size_t i = 0; i < k->count; i += every) {
		struct dir_iter *it;
		struct e4_dirent d;
		bool more = i + 1 < k->count;

		ck_assert_int_eq(dir_iter_new(ip, &it), 0);
		ck_assert_int_eq(dir_iter_seek(it, k->entries[i].off), 0);
		ck_assert_uint_eq(dir_iter_tell(it), k->entries[i].off);
		ck_assert_int_eq(dir_iter_next(it, &d), more);
		if (more) {
			ck_assert_str_eq(d.name, k->entries[i + 1].name);
			ck_assert_uint_eq(d.cookie, k->entries[i + 1].off);
		}
		dir_iter_free(it);
	}
}

static void compare_lookups(struct inode *ip, const struct listing *k)
{
	for (size_t i = 0; i < k->count; i++) {
		const struct listed *e = &k->entries[i];
		inum_t ino = 0;
		uint8_t type = 0;

		ck_assert_msg(dir_lookup(ip, e->name, (uint32_t)strlen(e->name), &ino, &type) == 1,
			"%s", e->name);
		ck_assert_uint_eq(ino, e->ino);
		ck_assert_int_eq(type != 0, e->type != 0);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		char name[32];
		inum_t ino;
		uint8_t type;

		snprintf(name, sizeof(name), "absent-%u", i);
		ck_assert_int_eq(dir_lookup(ip, name, (uint32_t)strlen(name), &ino, &type), 0);
	}
}

/* Everything about directory `dir`; returns how many entries share their predecessor's position. */
static size_t compare(const char *dir)
{
	struct image img;

	ck_assert(remount("ro"));
	struct listing k = list_by_kernel(dir);
	image_open_file(&img, image_path);
	struct inode *ip = image_inode(&img, dir);
	size_t equal = compare_order(ip, &k);
	compare_seeks(ip, &k);
	compare_lookups(ip, &k);
	ck_assert_str_eq(image_why(&img), "");
	image_put(ip);
	image_close(&img);
	free(k.entries);
	return equal;
}

START_TEST(dir__50000_names_in_4k_blocks__is_as_linux_lists_it)
{
	if (!make("-b 4096", NULL))
		return;
	touch_many("some-file-name-", 50000);
	compare("d");
	compare("");
	compare("lost+found");
}
END_TEST

START_TEST(dir__50000_names_in_1k_blocks__is_as_linux_lists_it)
{
	if (!make("-b 1024", NULL))
		return;
	touch_many("some-file-name-", 50000);
	compare("d");
	compare("lost+found");
}
END_TEST

START_TEST(dir__one_block_without_index__is_listed_by_hash_too)
{
	if (!make("-b 4096", NULL))
		return;
	touch_many("f", 100);
	compare("d");
}
END_TEST

START_TEST(dir__names_removed__leave_no_trace)
{
	if (!make("-b 1024 -O ^metadata_csum", NULL))
		return;
	touch_many("f", 3000);
	ck_assert_int_eq(shell("rm -f %s/d/f*7 %s/d/f1*", mount_path, mount_path), 0);
	compare("d");
}
END_TEST

START_TEST(dir__without_dir_index__is_listed_by_offset)
{
	if (!make("-b 1024 -O ^dir_index", NULL))
		return;
	touch_many("f", 1000);
	ck_assert_int_eq(shell("rm -f %s/d/f*3", mount_path), 0);
	compare("d");
	compare("");
}
END_TEST

START_TEST(dir__inline_data__is_as_linux_lists_it)
{

	if (!make(_i == 1 ? "-I 512 -O inline_data,^dir_index" : "-I 512 -O inline_data", NULL))
		return;

	touch_many("f", 15);
	ck_assert_int_eq(
		shell("rm %s/d/f3 %s/d/f9; mkdir %s/empty", mount_path, mount_path, mount_path), 0);
	compare("d");
	compare("empty");
}
END_TEST

START_TEST(dir__each_hash__is_as_linux_lists_it)
{
	static const char *const algorithms[] = {"legacy", "half_md4", "tea"};
	char args[64], request[64];

	snprintf(args, sizeof(args), "-b 1024 -E hash_seed=5f2b1c9e-0102-4a5b-8c9d-fedcba987654");
	snprintf(request, sizeof(request), "ssv def_hash_version %s", algorithms[_i % 3]);
	if (!make(args, request))
		return;
	if (_i >= 3) {
		ck_assert_int_eq(shell("umount %s", mount_path), 0);
		mounted = false;
		ck_assert_int_eq(shell("debugfs -w -R 'ssv flags 2' %s 2>/dev/null", image_path), 0);
		ck_assert(remount("rw"));
	}
	touch_many("\xC3\xA9t\xC3\xA9-", 2000);
	touch_many("\xFF", 100);
	compare("d");
}
END_TEST

static int by_hash(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Makes files whose names' hashes are equal, among `tried` names of `len` bytes, in no order of the hashes. */
static size_t touch_collisions(uint8_t version, const uint32_t seed[4], uint32_t tried, int len)
{
	uint64_t *pairs = malloc(tried * sizeof(*pairs));
	uint8_t *wanted = calloc(tried, 1);
	char name[256];
	size_t made = 0;

	ck_assert(pairs != NULL && wanted != NULL);
	for (uint32_t i = 0; i < tried; i++) {
		snprintf(name, sizeof(name), "%0*u", len, i);
		struct dir_hash h = dir_hash_name(
			version, seed, (const uint8_t *)name, (uint32_t)len);
		pairs[i] = (uint64_t)h.hash << 32 | i;
	}
	qsort(pairs, tried, sizeof(*pairs), by_hash);
	for (uint32_t i = 1; i < tried; i++) {
		if (pairs[i] >> 32 == pairs[i - 1] >> 32)
			wanted[(uint32_t)pairs[i]] = wanted[(uint32_t)pairs[i - 1]] = 1;
	}
	for (uint32_t i = 0; i < tried && made < 3000; i++) {
		if (wanted[i] != 0) {
			snprintf(name, sizeof(name), "%0*u", len, i);
			touch(name);
			made++;
		}
	}
	free(pairs);
	free(wanted);
	return made;
}

static const uint32_t own_seed[4] = {0x9e1c2b5f, 0x5b4a0201, 0xdcfe9d8c, 0x547698ba};

START_TEST(dir__equal_hashes_in_full_leaves__are_found_in_the_leaf_that_continues)
{
	if (!make("-b 1024 -E hash_seed=5f2b1c9e-0102-4a5b-8c9d-fedcba987654", NULL))
		return;
	size_t made = touch_collisions(HASH_HALF_MD4, own_seed, 2000000, 220);
	ck_assert_uint_gt(made, 100);
	compare("d");
	int continued = shell("debugfs -R 'htree_dump /d' %s 2>/dev/null | grep -c 'Hash "
			      "0x.......[13579bdf]' >%s/n",
		image_path, folder);
	printf("# %zu names with equal hashes; continued leaves found: %s\n", made,
		continued == 0 ? "yes" : "no");
	ck_assert_int_eq(continued, 0);
}
END_TEST

START_TEST(dir__equal_positions__are_listed_in_linux_order_and_can_be_sought)
{
	if (!make("-b 1024 -E hash_seed=5f2b1c9e-0102-4a5b-8c9d-fedcba987654",
		    "ssv def_hash_version legacy"))
		return;
	size_t made = touch_collisions(HASH_LEGACY, own_seed, 1000000, 20);
	size_t equal = compare("d");
	printf("# %zu names with equal hashes, %zu share the position of the one before\n", made,
		equal);
	ck_assert_uint_gt(equal, 0);
}
END_TEST

/* An encrypted directory d/e, whose key is gone at the next mount. */
static bool make_encrypted(void)
{
	_Alignas(8) uint8_t request[sizeof(struct fscrypt_add_key_arg) + 64];
	struct fscrypt_add_key_arg *key = (void *)request;
	struct fscrypt_policy_v2 policy = {
		.version = FSCRYPT_POLICY_V2,
		.contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
	};
	char path[256];

	memset(request, 0, sizeof(request));
	memset(key->raw, 0x5A, 64);
	key->key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER;
	key->raw_size = 64;
	snprintf(path, sizeof(path), "%s/d/e", mount_path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(fd, 0);
	if (ioctl(fd, FS_IOC_ADD_ENCRYPTION_KEY, key) != 0) {
		printf("# skipped: no keys can be added here: %s\n", strerror(errno));
		close(fd);
		return false;
	}
	memcpy(policy.master_key_identifier, key->key_spec.u.identifier,
		sizeof(policy.master_key_identifier));
	ck_assert_int_eq(ioctl(fd, FS_IOC_SET_ENCRYPTION_POLICY, &policy), 0);
	close(fd);
	return true;
}

START_TEST(dir__encrypted_without_key__is_as_linux_lists_it)
{
	static const uint32_t lengths[] = {1, 16, 17, 144, 145, 148, 149, 150, 160, 255};
	static const uint32_t counts[] = {10, 600, 600};
	char name[512];

	if (!make(_i == 2 ? "-b 1024 -O encrypt,^dir_index" : "-b 1024 -O encrypt", NULL))
		return;
	if (!make_encrypted())
		return;
	for (uint32_t i = 0; i < counts[_i]; i++) {
		memset(name, 0, sizeof(name));
		int n = snprintf(name, sizeof(name), "e/%u", i);
		uint32_t len = 2 + lengths[i % 10];

		if ((uint32_t)n < len)
			memset(name + n, 'n', len - (uint32_t)n);
		touch(name);
	}
	compare("d/e");
}
END_TEST

/* Written by debugfs and indexed by e2fsck, as this kernel may know no Unicode. */
static bool make_casefolded(void)
{
	char path[256];

	if (shell("mke2fs -q -F -t ext4 -b 1024 -O casefold -E encoding=utf8 %s 32M >%s/log 2>&1",
		    image_path, folder) != 0) {
		printf("# skipped: mke2fs makes no casefolded volume\n");
		return false;
	}
	snprintf(path, sizeof(path), "%s/requests", folder);
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "mkdir d\nsif d flags 0x40080000\ncd d\n");
	for (uint32_t i = 0; i < 600; i++)
		fprintf(f,
			"write /dev/null Stra\xC3\x9F"
			"e-%u\nwrite /dev/null \xC3\x89TUDE-%u\n",
			i, i);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(shell("debugfs -w -f %s %s >/dev/null 2>&1", path, image_path), 0);
	(void)shell("e2fsck -fyD %s >/dev/null 2>&1", image_path);
	return true;
}

static void expect_folded(struct inode *ip, const char *first, uint32_t i)
{
	char name[64];
	inum_t ino;
	uint8_t type;

	snprintf(name, sizeof(name), "%s-%u", first, i);
	ck_assert_msg(dir_lookup(ip, name, (uint32_t)strlen(name), &ino, &type) == 1, "%s", name);
}

START_TEST(dir__casefolded_and_indexed__is_looked_up_by_folded_hash)
{
	struct image img;
	struct dir_iter *it;
	struct e4_dirent d;
	uint64_t before = 0;
	uint32_t count = 0;

	if (!casefold_available() || !make_casefolded())
		return;
	image_open_file(&img, image_path);
	struct inode *ip = image_inode(&img, "d");
	ck_assert((ip->flags & INODE_FL_CASEFOLD) != 0 && (ip->flags & INODE_FL_INDEX) != 0);
	for (uint32_t i = 0; i < 600; i++) {
		expect_folded(ip, "STRASSE", i);
		expect_folded(ip, "e\xCC\x81tude", i);
	}
	ck_assert_int_eq(dir_iter_new(ip, &it), 0);
	for (; dir_iter_next(it, &d) > 0; count++) {
		ck_assert_uint_ge(d.cookie & INT64_MAX, before);
		before = d.cookie & INT64_MAX;
	}
	ck_assert_uint_eq(count, 1202);
	ck_assert_str_eq(image_why(&img), "");
	dir_iter_free(it);
	image_put(ip);
	image_close(&img);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dir/kernel");
	TCase *tc = tcase_create("kernel");

	snprintf(folder, sizeof(folder), "%s/e4-dir-%d",
		access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	snprintf(image_path, sizeof(image_path), "%s/image", folder);
	snprintf(mount_path, sizeof(mount_path), "%s/mnt", folder);
	tcase_set_timeout(tc, 100);
	tcase_add_checked_fixture(tc, setup, NULL);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, dir__50000_names_in_4k_blocks__is_as_linux_lists_it);
	tcase_add_test(tc, dir__50000_names_in_1k_blocks__is_as_linux_lists_it);
	tcase_add_test(tc, dir__one_block_without_index__is_listed_by_hash_too);
	tcase_add_test(tc, dir__names_removed__leave_no_trace);
	tcase_add_test(tc, dir__without_dir_index__is_listed_by_offset);
	tcase_add_loop_test(tc, dir__inline_data__is_as_linux_lists_it, 0, 2);
	tcase_add_loop_test(tc, dir__each_hash__is_as_linux_lists_it, 0, 6);
	tcase_add_test(tc, dir__equal_hashes_in_full_leaves__are_found_in_the_leaf_that_continues);
	tcase_add_test(tc, dir__equal_positions__are_listed_in_linux_order_and_can_be_sought);
	tcase_add_loop_test(tc, dir__encrypted_without_key__is_as_linux_lists_it, 0, 3);
	tcase_add_test(tc, dir__casefolded_and_indexed__is_looked_up_by_folded_hash);
	int failed = unit_run(suite);
	clean();
	return failed;
}
