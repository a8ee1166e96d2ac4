/*
 * dir_test.c - look-ups and listings on volumes laid out by hand, hostile ones among them.
 */
#include "entries.h"
#include "format/dirent.h"
#include "format/extent.h"
#include "format/htree.h"
#include "image.h"
#include "tiny.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIR_INO 12u
#define BLOCKS  8u /* of the directory under test, from TINY_FREE on */
#define BLOCK   TINY_BLOCK

static uint8_t bytes[TINY_BYTES];
static struct image img;
static struct inode *ip;

static uint8_t *block(uint32_t lblk)
{
	return bytes + (TINY_FREE + lblk) * BLOCK;
}

static void setup(void)
{
	tiny_format(bytes);
	tiny_map(bytes, DIR_INO, INODE_DIR | 0755, TINY_FREE, BLOCKS, BLOCKS * BLOCK);
	for (uint32_t i = 0; i < BLOCKS; i++)
		put_block(block(i), BLOCK, 0, (const char *const[]){NULL});
	put_block(block(0), BLOCK, DIR_INO, (const char *const[]){".", "..", "first", NULL});
	ip = NULL;
}

static void add_flags(uint32_t flags)
{
	struct disk_inode *di = tiny_inode(bytes, DIR_INO);

	di->flags = le32_put(le32_get(di->flags) | flags);
}

static void open_image(void)
{
	image_open_bytes(&img, bytes, sizeof(bytes));
	ip = image_inode_by_number(&img, DIR_INO);
}

static void teardown(void)
{
	if (ip != NULL) {
		image_put(ip);
		image_close(&img);
	}
}

static int look(const char *name, inum_t *ret)
{
	uint8_t type;

	return dir_lookup(ip, name, (uint32_t)strlen(name), ret, &type);
}

static void expect_found(const char *name, inum_t expected)
{
	inum_t ino = 0;

	ck_assert_msg(look(name, &ino) == 1, "%s: %s", name, image_why(&img));
	ck_assert_uint_eq(ino, expected);
}

/* All names, each followed by a space; the last answer. */
static int list(char *out, size_t size)
{
	struct dir_iter *it;
	struct e4_dirent d;
	int r;

	out[0] = 0;
	ck_assert_int_eq(dir_iter_new(ip, &it), 0);
	for (uint32_t n = 0; (r = dir_iter_next(it, &d)) > 0; n++) {
		size_t len = strlen(out);

		ck_assert_uint_lt(n, 10000);
		snprintf(out + len, size - len, "%s ", d.name);
	}
	dir_iter_free(it);
	return r;
}

static void expect_list(const char *expected)
{
	char out[4096];

	ck_assert_int_eq(list(out, sizeof(out)), 0);
	ck_assert_str_eq(out, expected);
}

/* --- linear --- */

START_TEST(lookup__name_in_a_later_block__is_found)
{
	put_block(block(3), BLOCK, 20, (const char *const[]){"x", "needle", NULL});
	open_image();
	expect_found("needle", 21);
	expect_found(".", DIR_INO);
	expect_found("..", DIR_INO + 1);
	inum_t ino;
	ck_assert_int_eq(look("needl", &ino), 0);
	ck_assert_int_eq(look("needles", &ino), 0);
	ck_assert_int_eq(dir_lookup(ip, "", 0, &ino, &(uint8_t){0}), 0);
}
END_TEST

START_TEST(lookup__in_a_file_or_by_a_long_name__says_so)
{
	char name[257];
	inum_t ino;
	uint8_t type;

	memset(name, 'n', sizeof(name));
	tiny_map(bytes, 13, INODE_REG | 0644, 0, 0, 0);
	open_image();
	ck_assert_int_eq(dir_lookup(ip, name, 256, &ino, &type), -ENAMETOOLONG);
	ck_assert_int_eq(dir_lookup(ip, name, 255, &ino, &type), 0);
	struct inode *file = image_inode_by_number(&img, 13);
	ck_assert_int_eq(dir_lookup(file, "x", 1, &ino, &type), -ENOTDIR);
	struct dir_iter *it;
	ck_assert_int_eq(dir_iter_new(file, &it), -ENOTDIR);
	image_put(file);
}
END_TEST

START_TEST(lookup__bad_entry_in_one_block__does_not_hide_other_blocks)
{
	put_block(block(1), BLOCK, 20, (const char *const[]){"before", "bad", "behind", NULL});
	put_entry(block(1) + 16, 21, 0, "bad");
	put_block(block(2), BLOCK, 30, (const char *const[]){"later", NULL});
	open_image();
	expect_found("before", 20);
	expect_found("later", 30);
	inum_t ino;
	ck_assert_int_eq(look("behind", &ino), -EUCLEAN); /* not known to be absent */
	ck_assert_str_eq(image_why(&img), "DIR_REC_LEN_MIN");
	expect_list(". .. first before later ");
}
END_TEST

START_TEST(list__names_that_no_name_may_be__are_left_out_and_reported)
{
	put_block(block(1), BLOCK, 20, (const char *const[]){"a/b", "ok", NULL});
	put_block(block(2), BLOCK, 30, (const char *const[]){"abc", "ok2", NULL});
	block(2)[9] = 0;
	put_block(block(3), BLOCK, 40, (const char *const[]){"", "ok3", NULL});
	open_image();
	expect_list(". .. first ok ok2 ok3 ");
	ck_assert_str_eq(image_why(&img), "DIR_NAME_EMPTY");
}
END_TEST

START_TEST(list__inode_number_beyond_the_volume__ends_the_block)
{
	put_block(block(1), BLOCK, TINY_INODES, (const char *const[]){"last-inode", "beyond", NULL});
	open_image();
	expect_list(". .. first last-inode ");
	ck_assert_str_eq(image_why(&img), "DIR_ENTRY_INO");
}
END_TEST

START_TEST(list__hole__is_reported_once_and_passed_over)
{
	struct disk_extent *e = (void *)(tiny_inode(bytes, DIR_INO)->block +
					 sizeof(struct disk_extent_header));

	put_block(block(1), BLOCK, 20, (const char *const[]){"end", NULL});
	e[0] = disk_extent_make(0, 1, false, TINY_FREE);
	e[1] = disk_extent_make(5, 1, false, TINY_FREE + 1);
	struct disk_extent_header *h = (void *)tiny_inode(bytes, DIR_INO)->block;
	h->entries = le16_put(2);
	open_image();
	uint64_t before = error_count(img.env);
	expect_list(". .. first end ");
	ck_assert_uint_eq(error_count(img.env) - before, 1);
	ck_assert_str_eq(image_why(&img), "DIR_HOLE");
	expect_found("end", 20);
	inum_t ino;
	ck_assert_int_eq(look("absent", &ino), 0);
}
END_TEST

START_TEST(list__directory_of_no_blocks__is_empty)
{
	tiny_map(bytes, DIR_INO, INODE_DIR | 0755, 0, 0, 0);
	image_open_bytes(&img, bytes, sizeof(bytes));
	struct inode *dir = calloc(1, sizeof(*dir));
	if (inode_load(img.vol, DIR_INO, INODE_FOR_USE, dir) == 0) {
		ip = dir;
		expect_list("");
		inum_t ino;
		ck_assert_int_eq(look(".", &ino), 0);
		return;
	}
	free(dir);
	image_close(&img);
}
END_TEST

START_TEST(list__without_filetype__types_are_unknown)
{
	struct disk_super *s = tiny_super(bytes);
	struct dir_iter *it;
	struct e4_dirent d;
	inum_t ino;
	uint8_t type = 9;

	s->feature_incompat = le32_put(FEATURE_INCOMPAT_EXTENTS);
	open_image();
	ck_assert_int_eq(dir_iter_new(ip, &it), 0);
	while (dir_iter_next(it, &d) > 0)
		ck_assert_uint_eq(d.type, 0);
	dir_iter_free(it);
	ck_assert_int_eq(dir_lookup(ip, "first", 5, &ino, &type), 1);
	ck_assert_uint_eq(type, 0);
}
END_TEST

START_TEST(seek__anywhere__never_gives_half_an_entry)
{
	struct dir_iter *it;
	struct e4_dirent d;

	put_block(block(1), BLOCK, 20, (const char *const[]){"one", "two", NULL});
	open_image();
	ck_assert_int_eq(dir_iter_new(ip, &it), 0);
	for (uint64_t cookie = 0; cookie < 3 * BLOCK; cookie++) {
		const char *expected = cookie == 0            ? "."
				       : cookie <= 12         ? ".."
				       : cookie <= 24         ? "first"
				       : cookie <= BLOCK      ? "one"
				       : cookie <= BLOCK + 12 ? "two"
							      : NULL;

		ck_assert_int_eq(dir_iter_seek(it, cookie), 0);
		ck_assert_int_eq(dir_iter_next(it, &d), expected != NULL);
		if (expected != NULL)
			ck_assert_str_eq(d.name, expected);
	}
	static const uint64_t far[] = {BLOCKS * BLOCK, 1ull << 40, INT64_MAX, UINT64_MAX};
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(dir_iter_seek(it, far[i]), 0);
		ck_assert_int_eq(dir_iter_next(it, &d), 0);
		ck_assert_int_eq(dir_iter_next(it, &d), 0);
	}
	dir_iter_free(it);
}
END_TEST

/* --- indexed --- */

static const char *const names[] = {
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static uint32_t hash_of(const char *name)
{
	static const uint32_t seed[4];

	return dir_hash_name(HASH_HALF_MD4, seed, (const uint8_t *)name, (uint32_t)strlen(name)).hash;
}

/* The names on either side of `middle`, in blocks low and high. */
static void put_leaves(uint32_t low, uint32_t high, uint32_t middle)
{
	const char *side[2][NAMES + 1] = {{NULL}, {NULL}};
	size_t n[2] = {0, 0};

	for (size_t i = 0; i < NAMES; i++) {
		int s = hash_of(names[i]) >= middle;

		side[s][n[s]++] = names[i];
	}
	put_block(block(low), BLOCK, 20, side[0]);
	put_block(block(high), BLOCK, 40, side[1]);
}

#define MIDDLE 0x80000000u

static void put_good_index(void)
{
	add_flags(INODE_FL_INDEX);
	put_root(block(0), BLOCK, HASH_HALF_MD4, 0);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, 1);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, MIDDLE, 2);
	put_leaves(1, 2, MIDDLE);
}

static void expect_all_found(void)
{
	inum_t ino;

	for (size_t i = 0; i < NAMES; i++)
		ck_assert_msg(look(names[i], &ino) == 1, "%s: %s", names[i], image_why(&img));
}

static bool is_listed(const char *out, const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name); /* "." comes first, so a space stands before */
	return strstr(out, word) != NULL;
}

static void expect_all_listed(void)
{
	char out[4096];

	ck_assert_int_eq(list(out, sizeof(out)), 0);
	for (size_t i = 0; i < NAMES; i++)
		ck_assert_msg(is_listed(out, names[i]), "%s in %s", names[i], out);
}

START_TEST(index__good__is_used_without_a_word)
{
	inum_t ino;

	put_good_index();
	put_block(block(5), BLOCK, 50,
		(const char *const[]){"hidden", NULL}); /* no index entry leads here */
	open_image();
	expect_all_found();
	expect_all_listed();
	expect_found("..", 2);
	ck_assert_int_eq(look("absent", &ino), 0);
	ck_assert_int_eq(look("hidden", &ino), 0);
	ck_assert_str_eq(image_why(&img), "");
}
END_TEST

START_TEST(index__hash_continued__is_looked_for_in_the_next_leaf)
{
	uint32_t hash = hash_of("gamma");

	add_flags(INODE_FL_INDEX);
	put_root(block(0), BLOCK, HASH_HALF_MD4, 0);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, 1);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, hash, 2);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, hash | 1, 3);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, hash | 1, 4);
	put_block(block(4), BLOCK, 33, (const char *const[]){"gamma", NULL});
	open_image();
	expect_found("gamma", 33);
	expect_list(". .. gamma ");
	ck_assert_str_eq(image_why(&img), "");
}
END_TEST

START_TEST(index__hash_continued_across_nodes__is_looked_for_there)
{
	uint32_t hash = hash_of("gamma");

	add_flags(INODE_FL_INDEX);
	put_root(block(0), BLOCK, HASH_HALF_MD4, 1);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, 1);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, hash | 1, 2);
	put_node(block(1), BLOCK);
	put_index(block(1), HTREE_NODE_ENTRIES_OFFSET, 0, 3);
	put_node(block(2), BLOCK);
	put_index(block(2), HTREE_NODE_ENTRIES_OFFSET, 0, 4);
	put_block(block(4), BLOCK, 33, (const char *const[]){"gamma", NULL});
	open_image();
	expect_found("gamma", 33);
	expect_list(". .. gamma ");
	ck_assert_str_eq(image_why(&img), "");
}
END_TEST

START_TEST(index__three_levels_with_large_dir__is_walked)
{
	struct disk_super *s = tiny_super(bytes);

	s->feature_incompat = le32_put(le32_get(s->feature_incompat) | FEATURE_INCOMPAT_LARGEDIR);
	add_flags(INODE_FL_INDEX);
	put_root(block(0), BLOCK, HASH_HALF_MD4, 2);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, 3);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, MIDDLE, 4);
	for (uint32_t i = 0; i < 2; i++) {
		put_node(block(3 + i), BLOCK);
		put_index(block(3 + i), HTREE_NODE_ENTRIES_OFFSET, 0, 5 + i);
		put_node(block(5 + i), BLOCK);
		put_index(block(5 + i), HTREE_NODE_ENTRIES_OFFSET, 0, 1 + i);
	}
	put_leaves(1, 2, MIDDLE);
	open_image();
	expect_all_found();
	expect_all_listed();
	ck_assert_str_eq(image_why(&img), "");
}
END_TEST

/* A fault in the root: reported, then the blocks are scanned. */
static void expect_scanned(const char *reason)
{
	open_image();
	expect_all_found();
	ck_assert_str_eq(image_why(&img), reason);
	expect_all_listed();
	ck_assert_str_eq(image_why(&img), reason);
}

START_TEST(index__count_above_limit__is_scanned)
{
	put_good_index();
	struct disk_htree_countlimit *cl = (void *)(block(0) + HTREE_ROOT_ENTRIES_OFFSET);
	cl->count = le16_put(0xFFFF);
	expect_scanned("DIR_INDEX_COUNT");
}
END_TEST

START_TEST(index__unknown_hash__is_scanned)
{
	put_good_index();
	block(0)[HTREE_ROOT_INFO_OFFSET + 4] = _i == 0 ? HASH_SIPHASH : HASH_HALF_MD4_UNSIGNED;
	expect_scanned("DIR_ROOT_HASH");
}
END_TEST

START_TEST(index__three_levels_without_large_dir__is_scanned)
{
	put_good_index();
	block(0)[HTREE_ROOT_INFO_OFFSET + 6] = 2;
	expect_scanned("DIR_ROOT_LEVELS");
}
END_TEST

START_TEST(index__unknown_flags__is_scanned)
{
	put_good_index();
	block(0)[HTREE_ROOT_INFO_OFFSET + 7] = 1;
	expect_scanned("DIR_ROOT_FLAGS");
}
END_TEST

/* A fault below the root: look-ups scan, a listing by hash stops with the error. */
static void expect_found_but_not_listed(const char *reason)
{
	char out[4096];

	open_image();
	expect_all_found();
	ck_assert_str_eq(image_why(&img), reason);
	ck_assert_int_eq(list(out, sizeof(out)), -EUCLEAN);
	ck_assert_str_eq(image_why(&img), reason);
}

static void put_index_through(uint32_t node)
{
	put_good_index();
	put_root(block(0), BLOCK, HASH_HALF_MD4, 1);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, node);
	put_node(block(3), BLOCK);
}

START_TEST(index__node_that_names_itself__is_no_endless_walk)
{
	put_index_through(3);
	put_index(block(3), HTREE_NODE_ENTRIES_OFFSET, 0, 3);
	expect_found_but_not_listed("DIR_INDEX_CYCLE");
}
END_TEST

START_TEST(index__node_that_names_the_root__is_no_endless_walk)
{
	put_index_through(3);
	put_index(block(3), HTREE_NODE_ENTRIES_OFFSET, 0, 0);
	expect_found_but_not_listed("DIR_INDEX_CYCLE");
}
END_TEST

START_TEST(index__root_that_names_itself__is_no_endless_walk)
{
	put_index_through(0);
	expect_found_but_not_listed("DIR_INDEX_CYCLE");
}
END_TEST

START_TEST(index__block_beyond_the_size__is_not_followed)
{
	put_index_through(BLOCKS);
	expect_found_but_not_listed("DIR_INDEX_BLOCK");
}
END_TEST

START_TEST(index__leaf_as_node__is_refused)
{
	put_index_through(1);
	expect_found_but_not_listed("DIR_NODE_HEAD");
}
END_TEST

START_TEST(index__one_leaf_named_again_and_again__is_given_up)
{
	char out[4096];

	put_good_index();
	put_root(block(0), BLOCK, HASH_HALF_MD4, 0);
	for (uint32_t i = 0; i < 100; i++)
		put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, i << 24, 1);
	open_image();
	int r = list(out, sizeof(out));
	ck_assert(r == 0 || r == -EUCLEAN);
	ck_assert_str_eq(image_why(&img), r == 0 ? "" : "DIR_INDEX_LOOP");
}
END_TEST

START_TEST(index__hash_continued_in_one_leaf_for_ever__is_given_up)
{
	uint32_t hash = hash_of("absent");
	inum_t ino;

	put_good_index();
	put_root(block(0), BLOCK, HASH_HALF_MD4, 0);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, 1);
	for (uint32_t i = 0; i < 100; i++)
		put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, hash | 1, 2);
	open_image();
	ck_assert_int_eq(look("absent", &ino), 0); /* the scan knows */
	ck_assert_str_eq(image_why(&img), "DIR_INDEX_LOOP");
}
END_TEST

START_TEST(index__nodes_that_overlap__end_the_listing)
{
	char out[4096];

	put_good_index();
	put_root(block(0), BLOCK, HASH_HALF_MD4, 1);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0, 3);
	put_index(block(0), HTREE_ROOT_ENTRIES_OFFSET, 0x10000000, 4);
	put_node(block(3), BLOCK);
	put_index(block(3), HTREE_NODE_ENTRIES_OFFSET, 0, 1);
	put_index(block(3), HTREE_NODE_ENTRIES_OFFSET, 0xF0000000, 2);
	put_node(block(4), BLOCK);
	put_index(block(4), HTREE_NODE_ENTRIES_OFFSET, 0, 1);
	open_image();
	int r = list(out, sizeof(out));
	ck_assert(r == 0 || r == -EUCLEAN);
}
END_TEST

START_TEST(index__bad_entry_in_a_leaf__hides_what_is_behind_it_only)
{
	char out[4096];

	put_good_index();
	put_entry(block(2), 40, 2, "x"); /* the first */
	open_image();
	ck_assert_int_eq(list(out, sizeof(out)), 0);
	ck_assert_str_eq(image_why(&img), "DIR_REC_LEN_MIN");
	for (size_t i = 0; i < NAMES; i++)
		ck_assert_int_eq(is_listed(out, names[i]), hash_of(names[i]) < MIDDLE);
}
END_TEST

/* --- no-key names --- */

START_TEST(encrypted__names__are_shown_and_found_without_a_key)
{
	char out[4096];

	tiny_super(bytes)->feature_incompat = le32_put(
		FEATURE_INCOMPAT_FILETYPE | FEATURE_INCOMPAT_EXTENTS | FEATURE_INCOMPAT_ENCRYPT);
	add_flags(INODE_FL_ENCRYPT);
	put_block(block(1), BLOCK, 20, (const char *const[]){"0123456789abcde/", "short", NULL});
	open_image();
	ck_assert_int_eq(list(out, sizeof(out)), 0);
	ck_assert_str_eq(out, ". .. AAAAAAAAAAAwMTIzNDU2Nzg5YWJjZGUv ");
	expect_found("AAAAAAAAAAAwMTIzNDU2Nzg5YWJjZGUv", 20);
	inum_t ino;
	ck_assert_int_eq(look("0123456789abcde/", &ino), 0);
	ck_assert_int_eq(look("AAAAAAAAAAAwMTIzNDU2Nzg5YWJjZGU", &ino), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dir/dir");
	TCase *tc = tcase_create("dir");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lookup__name_in_a_later_block__is_found);
	tcase_add_test(tc, lookup__in_a_file_or_by_a_long_name__says_so);
	tcase_add_test(tc, lookup__bad_entry_in_one_block__does_not_hide_other_blocks);
	tcase_add_test(tc, list__names_that_no_name_may_be__are_left_out_and_reported);
	tcase_add_test(tc, list__inode_number_beyond_the_volume__ends_the_block);
	tcase_add_test(tc, list__hole__is_reported_once_and_passed_over);
	tcase_add_test(tc, list__directory_of_no_blocks__is_empty);
	tcase_add_test(tc, list__without_filetype__types_are_unknown);
	tcase_add_test(tc, seek__anywhere__never_gives_half_an_entry);
	tcase_add_test(tc, index__good__is_used_without_a_word);
	tcase_add_test(tc, index__hash_continued__is_looked_for_in_the_next_leaf);
	tcase_add_test(tc, index__hash_continued_across_nodes__is_looked_for_there);
	tcase_add_test(tc, index__three_levels_with_large_dir__is_walked);
	tcase_add_test(tc, index__count_above_limit__is_scanned);
	tcase_add_loop_test(tc, index__unknown_hash__is_scanned, 0, 2);
	tcase_add_test(tc, index__three_levels_without_large_dir__is_scanned);
	tcase_add_test(tc, index__unknown_flags__is_scanned);
	tcase_add_test(tc, index__node_that_names_itself__is_no_endless_walk);
	tcase_add_test(tc, index__node_that_names_the_root__is_no_endless_walk);
	tcase_add_test(tc, index__root_that_names_itself__is_no_endless_walk);
	tcase_add_test(tc, index__block_beyond_the_size__is_not_followed);
	tcase_add_test(tc, index__leaf_as_node__is_refused);
	tcase_add_test(tc, index__one_leaf_named_again_and_again__is_given_up);
	tcase_add_test(tc, index__hash_continued_in_one_leaf_for_ever__is_given_up);
	tcase_add_test(tc, index__nodes_that_overlap__end_the_listing);
	tcase_add_test(tc, index__bad_entry_in_a_leaf__hides_what_is_behind_it_only);
	tcase_add_test(tc, encrypted__names__are_shown_and_found_without_a_key);
	return unit_run(suite);
}
