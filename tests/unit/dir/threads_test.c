/*
 * threads_test.c - eight threads look names up and list one directory, at one inode.
 */
#include "entries.h"
#include "format/htree.h"
#include "image.h"
#include "tiny.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 8
#define ROUNDS  50
#define LEAVES  32u
#define NAMES   (LEAVES * 20u)
#define DIR_INO 12u

static uint8_t bytes[TINY_BYTES];
static struct image img;
static struct inode *ip;

static void name_of(uint32_t i, char name[32])
{
	snprintf(name, 32, "name-%u", i);
}

static uint32_t leaf_of(uint32_t hash)
{
	return 1 + hash / (UINT32_MAX / LEAVES + 1);
}

/* An indexed directory: leaf n holds the hashes of the n-th part of all. */
static void fill(void)
{
	uint32_t used[LEAVES + 1] = {0};
	uint8_t *root = bytes + TINY_FREE * TINY_BLOCK;
	static const uint32_t seed[4];
	char name[32];

	tiny_format(bytes);
	tiny_map(bytes, DIR_INO, INODE_DIR | 0755, TINY_FREE, LEAVES + 1, (LEAVES + 1) * TINY_BLOCK);
	tiny_inode(bytes, DIR_INO)->flags = le32_put(INODE_FL_EXTENTS | INODE_FL_INDEX);
	put_root(root, TINY_BLOCK, HASH_HALF_MD4, 0);
	for (uint32_t leaf = 1; leaf <= LEAVES; leaf++)
		put_index(root, HTREE_ROOT_ENTRIES_OFFSET, (leaf - 1) * (UINT32_MAX / LEAVES + 1),
			leaf);
	for (uint32_t i = 0; i < NAMES; i++) {
		name_of(i, name);
		uint32_t leaf = leaf_of(
			dir_hash_name(HASH_HALF_MD4, seed, (uint8_t *)name, (uint32_t)strlen(name))
				.hash);

		put_entry(root + leaf * TINY_BLOCK + used[leaf], 20, 20, name);
		used[leaf] += 20;
		ck_assert_uint_lt(used[leaf], TINY_BLOCK);
	}
	for (uint32_t leaf = 1; leaf <= LEAVES; leaf++)
		put_entry(root + leaf * TINY_BLOCK + used[leaf], 0, TINY_BLOCK - used[leaf], "");
}

/* Counts what was wrong: assertions of Check are for the main thread. */
static uint64_t one_round(uint32_t start)
{
	struct dir_iter *it;
	struct e4_dirent d;
	uint64_t wrong = 0, listed = 0;
	char name[32];
	inum_t ino;
	uint8_t type;

	for (uint32_t n = 0; n < NAMES; n++) {
		name_of((start + n) % NAMES, name);
		wrong += dir_lookup(ip, name, (uint32_t)strlen(name), &ino, &type) != 1 || ino != 20;
	}
	wrong += dir_lookup(ip, "absent", 6, &ino, &type) != 0;
	if (dir_iter_new(ip, &it) != 0)
		return wrong + 1;
	while (dir_iter_next(it, &d) > 0)
		listed++;
	dir_iter_free(it);
	return wrong + (listed != NAMES + 2);
}

static void *run(void *arg)
{
	uint64_t *wrong = arg;

	for (uint32_t round = 0; round < ROUNDS; round++)
		*wrong += one_round(round * 37);
	return NULL;
}

START_TEST(dir__eight_threads_on_one_inode__all_see_all_names)
{
	pthread_t threads[THREADS];
	uint64_t wrong[THREADS] = {0};

	fill();
	image_open_bytes(&img, bytes, sizeof(bytes));
	ip = image_inode_by_number(&img, DIR_INO);
	for (uint32_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &wrong[i]), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
		ck_assert_uint_eq(wrong[i], 0);
	}
	ck_assert_str_eq(image_why(&img), "");
	image_put(ip);
	image_close(&img);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dir/threads");
	TCase *tc = tcase_create("threads");

	tcase_set_timeout(tc, 100);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, dir__eight_threads_on_one_inode__all_see_all_names);
	return unit_run(suite);
}
