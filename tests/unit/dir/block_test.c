/*
 * block_test.c - entries of a block, good and hostile, and the checksums of the three kinds of block, on bytes in memory.
 */
#include "entries.h"
#include "format/csum.h"
#include "format/dirent.h"
#include "format/htree.h"
#include "image.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 1024u

static struct env *env;
static struct buf_owner owner;
static uint8_t block[65536];

static void setup(void)
{
	ck_assert_int_eq(env_new(NULL, 0, &env), 0);
	owner = (struct buf_owner){
		.env = env, .block_size = BLOCK, .seed = 0x12345678, .ino = 12, .pblk = 99};
	memset(block, 0, sizeof(block));
}

static void teardown(void)
{
	env_put(env);
}

static const char *why(void)
{
	static struct e4_error e;

	e.struct_size = sizeof(e);
	return error_last(env, &e) ? e.why : "";
}

/* Walks the whole area; the last answer, and in *ret_count how many entries came. */
static int walk(uint32_t area_len, uint32_t *ret_count)
{
	uint32_t offset = 0, entry = 0;
	int r;

	*ret_count = 0;
	while ((r = dir_block_next(&owner, block, area_len, &offset, &entry)) > 0) {
		ck_assert_uint_lt(entry, area_len);
		ck_assert_uint_le(offset, area_len);
		ck_assert_uint_ge(offset - entry, 12);
		(*ret_count)++;
	}
	return r;
}

static void expect_bad(uint32_t area_len, uint32_t entries_before, const char *reason)
{
	uint32_t count;

	ck_assert_int_eq(walk(area_len, &count), -EUCLEAN);
	ck_assert_uint_eq(count, entries_before);
	ck_assert_str_eq(why(), reason);
}

START_TEST(dir_block_next__used_and_unused_entries__gives_each)
{
	uint32_t offset = 0, entry;

	put_entry(block, 12, 12, ".");
	put_entry(block + 12, 2, 12, "..");
	put_entry(block + 24, 0, 20, "gone");
	put_entry(block + 44, 13, BLOCK - 44, "here");
	static const uint32_t at[] = {0, 12, 24, 44};
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(dir_block_next(&owner, block, BLOCK, &offset, &entry), 1);
		ck_assert_uint_eq(entry, at[i]);
	}
	ck_assert_int_eq(dir_block_next(&owner, block, BLOCK, &offset, &entry), 0);
	ck_assert_str_eq(why(), "");
}
END_TEST

START_TEST(dir_block_next__length_0__is_refused)
{
	put_entry(block, 12, 12, "a");
	put_entry(block + 12, 13, 0, "b");
	expect_bad(BLOCK, 1, "DIR_REC_LEN_MIN");
}
END_TEST

START_TEST(dir_block_next__length_8__is_refused_though_e2fsck_takes_it)
{
	put_entry(block, 0, 8, "");
	expect_bad(BLOCK, 0, "DIR_REC_LEN_MIN");
}
END_TEST

START_TEST(dir_block_next__odd_length__is_refused)
{
	put_entry(block, 12, 18, "a");
	expect_bad(BLOCK, 0, "DIR_REC_LEN_ALIGN");
}
END_TEST

START_TEST(dir_block_next__length_past_the_end__is_refused)
{
	put_entry(block, 12, 12, "a");
	put_entry(block + 12, 13, BLOCK, "b");
	expect_bad(BLOCK, 1, "DIR_REC_LEN_END");
}
END_TEST

START_TEST(dir_block_next__name_across_the_next_entry__is_refused)
{
	put_entry(block, 12, 12, "four");
	put_entry(block + 12, 13, 12, "fives");
	expect_bad(BLOCK, 1, "DIR_REC_LEN_NAME");
}
END_TEST

START_TEST(dir_block_next__eight_bytes_left_over__are_refused)
{
	put_entry(block, 12, BLOCK - 8, "a");
	expect_bad(BLOCK, 0, "DIR_REC_LEN_REST");
}
END_TEST

START_TEST(dir_block_next__dot_as_long_as_the_block__is_refused)
{
	put_entry(block, 12, BLOCK, ".");
	expect_bad(BLOCK, 0, "DIR_DOT_LAST");
}
END_TEST

START_TEST(dir_block_next__area_of_4_bytes__is_refused)
{
	expect_bad(4, 0, "DIR_AREA_SHORT");
}
END_TEST

START_TEST(dir_block_next__empty_area__has_no_entries)
{
	uint32_t count;

	ck_assert_int_eq(walk(0, &count), 0);
	ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(dir_block_next__64k_block__takes_both_ways_to_write_its_length)
{
	static const uint16_t ways[] = {0xFFFF, 0};
	uint32_t count;

	owner.block_size = 65536;
	for (size_t i = 0; i < 2; i++) {
		put_entry(block, 12, ways[i], "all");
		ck_assert_int_eq(walk(65536, &count), 0);
		ck_assert_uint_eq(count, 1);
	}
}
END_TEST

static struct disk_dirent_tail *put_tail(void)
{
	struct disk_dirent_tail *t = (void *)(block + BLOCK - 12);

	*t = (struct disk_dirent_tail){.rec_len = le16_put(12), .type = 0xDE};
	return t;
}

static void put_leaf_with_tail(void)
{
	put_entry(block, 13, 12, "a");
	put_entry(block + 12, 14, BLOCK - 24, "b");
	owner.csum = true;
	put_tail()->checksum = le32_put(csum_run(owner.seed, block, BLOCK - 12));
}

START_TEST(dir_block_next__checksum_tail__is_no_entry)
{
	uint32_t count;

	put_leaf_with_tail();
	ck_assert_int_eq(walk(BLOCK, &count), 0);
	ck_assert_uint_eq(count, 2);
}
END_TEST

START_TEST(dir_block_next__random_bytes__never_leave_the_area)
{
	uint32_t count;

	srand(7);
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t len = 12u + (uint32_t)rand() % 500u;

		for (uint32_t i = 0; i < len; i++)
			block[i] = rand() % 3 != 0 ? 0 : (uint8_t)(rand() % 64);
		for (uint32_t i = 4; i < len; i += 12)
			block[i] = (uint8_t)(rand() % 8 == 0 ? rand() : 12);
		(void)walk(len, &count);
		ck_assert_uint_le(count, len / 12);
	}
}
END_TEST

/* --- checksums --- */

START_TEST(leaf__checksum__is_held_and_sealed)
{
	put_leaf_with_tail();
	ck_assert(buf_kind_dir_leaf.csum_ok(&owner, block));
	block[9] ^= 1;
	ck_assert(!buf_kind_dir_leaf.csum_ok(&owner, block));
	buf_kind_dir_leaf.seal(&owner, block);
	ck_assert(buf_kind_dir_leaf.csum_ok(&owner, block));
	owner.seed++;
	ck_assert(!buf_kind_dir_leaf.csum_ok(&owner, block));
}
END_TEST

START_TEST(leaf__without_tail__is_readable)
{
	owner.csum = true;
	put_entry(block, 13, BLOCK, "all");
	ck_assert(buf_kind_dir_leaf.csum_ok(&owner, block));
}
END_TEST

START_TEST(leaf__stale_tail_inside_the_last_entry__is_not_taken_for_one)
{
	owner.csum = true;
	struct disk_dirent_tail *stale = put_tail();
	stale->checksum = le32_put(1);
	put_entry(block, 13, BLOCK, "all");
	ck_assert(buf_kind_dir_leaf.csum_ok(&owner, block));
	buf_kind_dir_leaf.seal(&owner, block);
	ck_assert_uint_eq(le32_get(stale->checksum), 1);
}
END_TEST

START_TEST(leaf__broken_chain_before_a_tail__is_still_held_to_its_checksum)
{
	put_leaf_with_tail();
	put_entry(block, 13, 0, "a");
	ck_assert(!buf_kind_dir_leaf.csum_ok(&owner, block));
}
END_TEST

static void put_root_with_tail(void)
{
	owner.csum = true;
	put_root(block, BLOCK, 1, 0);
	struct disk_htree_countlimit *cl = (void *)(block + HTREE_ROOT_ENTRIES_OFFSET);
	cl->limit = le16_put((BLOCK - 40) / 8);
	put_index(block, HTREE_ROOT_ENTRIES_OFFSET, 0, 1);
	put_index(block, HTREE_ROOT_ENTRIES_OFFSET, 0x1000, 2);
	buf_kind_dir_root.seal(&owner, block);
}

START_TEST(root__checksum__covers_used_entries_only)
{
	put_root_with_tail();
	ck_assert(buf_kind_dir_root.csum_ok(&owner, block));
	ck_assert_int_eq(buf_kind_dir_root.verify(&owner, block), 0);
	block[HTREE_ROOT_ENTRIES_OFFSET + 8 * 2] ^= 1; /* the first unused one */
	ck_assert(buf_kind_dir_root.csum_ok(&owner, block));
	block[HTREE_ROOT_ENTRIES_OFFSET + 8] ^= 1;
	ck_assert(!buf_kind_dir_root.csum_ok(&owner, block));
}
END_TEST

static void expect_bad_index(const struct buf_kind *kind, const char *reason)
{
	ck_assert_int_eq(kind->verify(&owner, block), -EUCLEAN);
	ck_assert_str_eq(why(), reason);
}

static struct disk_htree_countlimit *root_countlimit(void)
{
	return (void *)(block + HTREE_ROOT_ENTRIES_OFFSET);
}

START_TEST(root__limit_that_is_not_exact__is_refused)
{
	put_root_with_tail();
	root_countlimit()->limit = le16_put((BLOCK - 32) / 8);
	ck_assert(!buf_kind_dir_root.csum_ok(&owner, block));
	expect_bad_index(&buf_kind_dir_root, "DIR_INDEX_LIMIT");
}
END_TEST

START_TEST(root__count_above_limit_or_0__is_refused)
{
	put_root_with_tail();
	root_countlimit()->count = le16_put((BLOCK - 40) / 8 + 1);
	ck_assert(!buf_kind_dir_root.csum_ok(&owner, block));
	expect_bad_index(&buf_kind_dir_root, "DIR_INDEX_COUNT");
	root_countlimit()->count = le16_put(0);
	expect_bad_index(&buf_kind_dir_root, "DIR_INDEX_COUNT");
}
END_TEST

START_TEST(root__hashes_out_of_order__are_refused)
{
	put_root_with_tail();
	put_index(block, HTREE_ROOT_ENTRIES_OFFSET, 0x1000, 3);
	expect_bad_index(&buf_kind_dir_root, "DIR_INDEX_ORDER");
}
END_TEST

START_TEST(root__hash_continued_in_two_leaves__is_fine)
{
	put_root_with_tail();
	put_index(block, HTREE_ROOT_ENTRIES_OFFSET, 0x1001, 3);
	put_index(block, HTREE_ROOT_ENTRIES_OFFSET, 0x1001, 4);
	ck_assert_int_eq(buf_kind_dir_root.verify(&owner, block), 0);
}
END_TEST

START_TEST(root__other_than_dots_or_header_of_another_length__is_refused)
{
	put_root_with_tail();
	block[HTREE_ROOT_INFO_OFFSET + 5] = 16;
	expect_bad_index(&buf_kind_dir_root, "DIR_ROOT_INFO");
	put_entry(block + 12, 2, BLOCK - 24, "..");
	expect_bad_index(&buf_kind_dir_root, "DIR_ROOT_DOTS");
}
END_TEST

START_TEST(node__checksum_and_head__are_checked)
{
	owner.csum = true;
	put_node(block, BLOCK);
	struct disk_htree_countlimit *cl = (void *)(block + HTREE_NODE_ENTRIES_OFFSET);
	cl->limit = le16_put((BLOCK - 16) / 8);
	put_index(block, HTREE_NODE_ENTRIES_OFFSET, 0, 1);
	buf_kind_dir_node.seal(&owner, block);
	ck_assert(buf_kind_dir_node.csum_ok(&owner, block));
	ck_assert_int_eq(buf_kind_dir_node.verify(&owner, block), 0);
	put_entry(block, 5, BLOCK, "");
	expect_bad_index(&buf_kind_dir_node, "DIR_NODE_HEAD");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dir/block");
	TCase *tc = tcase_create("block");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, dir_block_next__used_and_unused_entries__gives_each);
	tcase_add_test(tc, dir_block_next__length_0__is_refused);
	tcase_add_test(tc, dir_block_next__length_8__is_refused_though_e2fsck_takes_it);
	tcase_add_test(tc, dir_block_next__odd_length__is_refused);
	tcase_add_test(tc, dir_block_next__length_past_the_end__is_refused);
	tcase_add_test(tc, dir_block_next__name_across_the_next_entry__is_refused);
	tcase_add_test(tc, dir_block_next__eight_bytes_left_over__are_refused);
	tcase_add_test(tc, dir_block_next__dot_as_long_as_the_block__is_refused);
	tcase_add_test(tc, dir_block_next__area_of_4_bytes__is_refused);
	tcase_add_test(tc, dir_block_next__empty_area__has_no_entries);
	tcase_add_test(tc, dir_block_next__64k_block__takes_both_ways_to_write_its_length);
	tcase_add_test(tc, dir_block_next__checksum_tail__is_no_entry);
	tcase_add_test(tc, dir_block_next__random_bytes__never_leave_the_area);
	tcase_add_test(tc, leaf__checksum__is_held_and_sealed);
	tcase_add_test(tc, leaf__without_tail__is_readable);
	tcase_add_test(tc, leaf__stale_tail_inside_the_last_entry__is_not_taken_for_one);
	tcase_add_test(tc, leaf__broken_chain_before_a_tail__is_still_held_to_its_checksum);
	tcase_add_test(tc, root__checksum__covers_used_entries_only);
	tcase_add_test(tc, root__limit_that_is_not_exact__is_refused);
	tcase_add_test(tc, root__count_above_limit_or_0__is_refused);
	tcase_add_test(tc, root__hashes_out_of_order__are_refused);
	tcase_add_test(tc, root__hash_continued_in_two_leaves__is_fine);
	tcase_add_test(tc, root__other_than_dots_or_header_of_another_length__is_refused);
	tcase_add_test(tc, node__checksum_and_head__are_checked);
	return unit_run(suite);
}
