/*
 * map_test.c - begin, iterate, seek and report against the runs that the file was made of.
 */
#include "../extent/maps.h"
#include "base/math.h"
#include "map/map.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

#define BLOCK 4096u
#define RUNS  50u

static struct maps m;
static struct inode ip;
static struct maps_run runs[RUNS];
static struct e4_mapping p;

/* RUNS runs, the size inside the last but three: blocks lie past the end. */
static void setup(void)
{
	maps_open(&m, BLOCK, 32768);
	maps_inode_init(&m, &ip);
	maps_random_runs(&m, runs, RUNS, 6, 11);
	maps_write_tree(&m, &ip, runs, RUNS, 7);
	runs[RUNS - 4].unwritten = false;
	maps_write_tree(&m, &ip, runs, RUNS, 7);
	ip.size = (uint64_t)runs[RUNS - 4].lblk * BLOCK + 100;
}

static void teardown(void)
{
	maps_inode_fini(&ip);
	maps_close(&m);
}

static uint32_t type_of(const struct extent_piece *piece)
{
	return piece->type == EXTENT_HOLE     ? E4_MAP_HOLE
	       : piece->type == EXTENT_MAPPED ? E4_MAP_MAPPED
					      : E4_MAP_UNWRITTEN;
}

START_TEST(map_begin__any_offset__gives_the_piece_from_its_block_on)
{
	uint64_t seed = 3;

	for (int i = 0; i < 2000; i++) {
		uint64_t offset = maps_random(&seed) % ip.size;
		uint64_t len = 1 + maps_random(&seed) % 50000;
		struct extent_piece want = maps_find(runs, RUNS, (lblk_t)(offset / BLOCK));
		uint64_t from = offset / BLOCK * BLOCK;

		ck_assert_int_eq(
			map_begin(&ip, offset, len, E4_MAP_READ, E4_MAP_REPORT_BEYOND, &p), 0);
		ck_assert_uint_eq(p.type, type_of(&want));
		ck_assert_uint_eq(p.offset, from);
		ck_assert_uint_ge(p.length, 1);
		uint64_t end = (want.lblk + want.len) * BLOCK;
		if (p.type == E4_MAP_HOLE) {
			ck_assert_uint_le(p.offset + p.length, end);
			ck_assert_uint_eq(p.addr, UINT64_MAX);
		} else {
			ck_assert_uint_eq(p.offset + p.length,
				min_u64(end, round_up_u64(offset + len, BLOCK)));
			ck_assert_uint_eq(
				p.addr, want.pblk * BLOCK + from - (uint64_t)want.lblk * BLOCK);
		}
		ck_assert_int_eq(map_end(&p, p.length, 0), 0);
	}
}
END_TEST

START_TEST(map_begin__past_the_end__is_a_hole_unless_asked_for)
{
	uint64_t last_block = round_down_u64(ip.size, BLOCK);
	uint64_t behind = (uint64_t)runs[RUNS - 1].lblk * BLOCK;

	ck_assert_int_eq(map_begin(&ip, last_block, UINT64_MAX - last_block, E4_MAP_READ, 0, &p), 0);
	ck_assert_uint_eq(p.type, E4_MAP_MAPPED);
	ck_assert_uint_eq(p.length, BLOCK);
	ck_assert_int_eq(map_begin(&ip, behind, BLOCK, E4_MAP_READ, 0, &p), 0);
	ck_assert_uint_eq(p.type, E4_MAP_HOLE);
	ck_assert_int_eq(map_begin(&ip, behind, BLOCK, E4_MAP_READ, E4_MAP_REPORT_BEYOND, &p), 0);
	ck_assert_uint_ne(p.type, E4_MAP_HOLE);
}
END_TEST

START_TEST(bug_33_map_begin__last_bytes_that_can_be__have_a_length)
{
	uint64_t limit = (UINT64_C(0xFFFFFFFF)) * BLOCK;

	ck_assert_int_eq(
		map_begin(&ip, limit - 1, UINT64_MAX, E4_MAP_READ, E4_MAP_REPORT_BEYOND, &p), 0);
	ck_assert_uint_eq(p.type, E4_MAP_HOLE);
	ck_assert_uint_eq(p.offset + p.length, limit);
	ck_assert_int_eq(map_begin(&ip, limit, 1, E4_MAP_READ, 0, &p), -EINVAL);
	ck_assert_int_eq(map_begin(&ip, UINT64_MAX, 1, E4_MAP_READ, 0, &p), -EINVAL);
	ck_assert_int_eq(map_begin(&ip, 0, 0, E4_MAP_READ, 0, &p), -EINVAL);
	ck_assert_int_eq(map_begin(&ip, 0, 1, 2, 0, &p), -EINVAL);
}
END_TEST

START_TEST(map_begin__for_writing__is_erofs)
{
	ck_assert_int_eq(map_begin(&ip, 0, 1, E4_MAP_WRITE, 0, &p), -EROFS);
}
END_TEST

START_TEST(map_begin__report_dirty__is_never_dirty_when_asked_on_a_read_only_mount)
{
	for (uint32_t i = 0; i < RUNS; i++) {
		ck_assert_int_eq(map_begin(&ip, (uint64_t)runs[i].lblk * BLOCK, 1, E4_MAP_READ,
					 E4_MAP_REPORT_DIRTY, &p),
			0);
		ck_assert_uint_eq(p.fs_flags & E4_MAP_F_DIRTY, 0);
		ck_assert_int_eq(
			map_begin(&ip, (uint64_t)runs[i].lblk * BLOCK, 1, E4_MAP_READ, 0, &p), 0);
#ifdef E4_DEBUG
		ck_assert_uint_ne(p.fs_flags & E4_MAP_F_DIRTY, 0); /* poison: nobody asked */
#else
		ck_assert_uint_eq(p.fs_flags & E4_MAP_F_DIRTY, 0);
#endif
	}
}
END_TEST

START_TEST(map_begin__flags_of_the_file__are_shown)
{
	ip.flags |= INODE_FL_ENCRYPT | INODE_FL_VERITY;
	m.vol->feature_ro_compat |= FEATURE_RO_COMPAT_SHARED_BLOCKS;
	ck_assert_int_eq(map_begin(&ip, 0, 1, E4_MAP_READ, E4_MAP_REPORT_DIRTY, &p), 0);
	ck_assert_uint_eq(p.fs_flags, E4_MAP_F_ENCRYPTED | E4_MAP_F_VERITY | E4_MAP_F_SHARED);
}
END_TEST

START_TEST(map_end__changed_map__says_stale_and_twice_is_a_mistake)
{
	ck_assert_int_eq(map_begin(&ip, 0, 1, E4_MAP_READ, 0, &p), 0);
	struct e4_mapping copy = p;
	ck_assert_int_eq(map_end(&p, 1, -EIO), -EIO);
	ck_assert_uint_eq(p.core_flags, 0);
	ck_assert_int_eq(map_end(&p, 1, 0), -EINVAL);
	extent_map_drop(&ip);
	ck_assert_int_eq(map_end(&copy, 0, 0), 0);
	ck_assert_uint_eq(copy.core_flags, E4_MAP_C_STALE);
}
END_TEST

START_TEST(map_begin__inline_file__is_one_piece_and_a_hole)
{
	ip.flags = INODE_FL_INLINE_DATA;
	ip.size = 40;
	ck_assert_int_eq(map_begin(&ip, 10, 100, E4_MAP_READ, E4_MAP_REPORT_DIRTY, &p), 0);
	ck_assert_uint_eq(p.type, E4_MAP_INLINE);
	ck_assert_uint_eq(p.offset, 0);
	ck_assert_uint_eq(p.length, 40);
	ck_assert_uint_eq(p.addr, UINT64_MAX);
	ck_assert_int_eq(map_begin(&ip, 40, 100, E4_MAP_READ, 0, &p), 0);
	ck_assert_uint_eq(p.type, E4_MAP_HOLE);
	ck_assert_uint_eq(p.offset, 40);
	ck_assert_int_eq(map_report(&ip, 0, &p), 1);
	ck_assert_uint_eq(p.type, E4_MAP_INLINE);
	ck_assert_uint_ne(p.core_flags & E4_MAP_C_LAST, 0);
	ck_assert_int_eq(map_report(&ip, 40, &p), 0);
	ck_assert_int_eq(map_seek_data(&ip, 7), 7);
	ck_assert_int_eq(map_seek_hole(&ip, 7), 40);
	ck_assert_int_eq(map_seek_data(&ip, 40), -ENXIO);
}
END_TEST

START_TEST(map_report__whole_file__shows_every_extent_of_the_tree_unmerged)
{
	uint64_t offset = 0;

	for (uint32_t i = 0; i < RUNS; i++) {
		ck_assert_int_eq(map_report(&ip, offset, &p), 1);
		ck_assert_uint_eq(p.offset, (uint64_t)runs[i].lblk * BLOCK);
		ck_assert_uint_eq(p.length, (uint64_t)runs[i].len * BLOCK);
		ck_assert_uint_eq(p.addr, runs[i].pblk * BLOCK);
		ck_assert_uint_eq(p.type, runs[i].unwritten ? E4_MAP_UNWRITTEN : E4_MAP_MAPPED);
		ck_assert_uint_eq((p.core_flags & E4_MAP_C_LAST) != 0, i == RUNS - 1);
		offset = p.offset + p.length;
	}
	ck_assert_int_eq(map_report(&ip, offset, &p), 0);
	ck_assert_int_eq(map_report(&ip, UINT64_MAX, &p), 0);
}
END_TEST

START_TEST(map_report__contiguous_extents__stay_two)
{
	pblk_t at = maps_first_free(&m);
	struct maps_run two[] = {
		{.lblk = 0, .len = 5, .pblk = at}, {.lblk = 5, .len = 5, .pblk = at + 5}};

	extent_map_drop(&ip);
	maps_write_tree(&m, &ip, two, 2, 0);
	ck_assert_int_eq(map_report(&ip, 0, &p), 1);
	ck_assert_uint_eq(p.length, 5 * BLOCK);
	ck_assert_int_eq(map_report(&ip, 6 * BLOCK, &p), 1);
	ck_assert_uint_eq(p.offset, 5 * BLOCK);
}
END_TEST

/* Is the byte data, by the model? */
static bool is_data(uint64_t offset)
{
	return offset < ip.size &&
	       maps_find(runs, RUNS, (lblk_t)(offset / BLOCK)).type == EXTENT_MAPPED;
}

START_TEST(map_seek__every_border__answers_as_the_kernel)
{
	for (uint64_t offset = 0; offset < ip.size + 2 * BLOCK;
		offset += offset % BLOCK == 0 ? 1 : BLOCK - 1) {
		uint64_t data = offset;
		uint64_t hole = offset;

		while (data < ip.size && !is_data(data))
			data = data / BLOCK * BLOCK + BLOCK;
		while (hole < ip.size && is_data(hole))
			hole = hole / BLOCK * BLOCK + BLOCK;
		ck_assert_int_eq(map_seek_data(&ip, offset), data < ip.size ? (int64_t)data : -ENXIO);
		ck_assert_int_eq(map_seek_hole(&ip, offset),
			offset >= ip.size ? -ENXIO : (int64_t)min_u64(hole, ip.size));
	}
	ck_assert_int_eq(map_seek_hole(&ip, UINT64_MAX), -ENXIO);
	ip.mode = INODE_CHR;
	ck_assert_int_eq(map_seek_data(&ip, 0), -EINVAL);
}
END_TEST

START_TEST(map_seek__empty_and_sparse_file__have_an_implicit_hole_at_the_end)
{
	extent_map_drop(&ip);
	maps_write_tree(&m, &ip, NULL, 0, 0);
	ip.size = 0;
	ck_assert_int_eq(map_seek_hole(&ip, 0), -ENXIO);
	ip.size = INT64_C(17592186040320); /* the largest with 4 KiB blocks */
	ck_assert_int_eq(map_seek_hole(&ip, 5), 5);
	ck_assert_int_eq(map_seek_data(&ip, 5), -ENXIO);
}
END_TEST

START_TEST(map_iter__any_range__covers_it_once_and_ends)
{
	uint64_t seed = 4;

	for (int i = 0; i < 500; i++) {
		uint64_t offset = maps_random(&seed) % ip.size;
		uint64_t len = maps_random(&seed) % (2 * ip.size);
		uint64_t at = offset;
		struct map_iter it;
		int r;

		map_iter_start(&it, &ip, offset, len);
		while ((r = map_iter_next(&it)) > 0) {
			struct extent_piece want = maps_find(runs, RUNS, (lblk_t)(at / BLOCK));

			ck_assert_uint_eq(it.pos, at);
			ck_assert_uint_eq(it.m.type, type_of(&want));
			ck_assert_uint_ge(map_iter_len(&it), 1);
			at += map_iter_len(&it);
			map_iter_advance(&it, map_iter_len(&it));
		}
		ck_assert_int_eq(r, 0);
		ck_assert_uint_eq(at, offset + len);
	}
}
END_TEST

START_TEST(map_iter__past_everything__is_one_hole)
{
	struct map_iter it;

	map_iter_start(&it, &ip, UINT64_MAX - 10, 100);
	ck_assert_int_eq(map_iter_next(&it), 1);
	ck_assert_uint_eq(it.m.type, E4_MAP_HOLE);
	ck_assert_uint_eq(map_iter_len(&it), 10);
	map_iter_advance(&it, 10);
	ck_assert_int_eq(map_iter_next(&it), 0);
}
END_TEST

START_TEST(map__nth_read_fails__every_call_gives_the_error)
{
	uint64_t far = (uint64_t)runs[30].lblk * BLOCK;
	struct map_iter it;

	for (uint64_t nth = 1; nth < 4; nth++) {
		for (int call = 0; call < 5; call++) {
			int64_t r = 0;

			maps_forget(&m);
			extent_map_drop(&ip);
			maps_fail_read(&m, nth);
			map_iter_start(&it, &ip, far, 1);
			r = call == 0   ? map_begin(&ip, far, 1, E4_MAP_READ, 0, &p)
			    : call == 1 ? map_report(&ip, far, &p)
			    : call == 2 ? map_seek_data(&ip, far)
			    : call == 3 ? map_seek_hole(&ip, far)
					: map_iter_next(&it);
			if (maps_reads(&m) >= nth)
				ck_assert_int_eq(r, -EIO);
		}
	}
	maps_fail_read(&m, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("map");
	TCase *tc = tcase_create("map");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, map_begin__any_offset__gives_the_piece_from_its_block_on);
	tcase_add_test(tc, map_begin__past_the_end__is_a_hole_unless_asked_for);
	tcase_add_test(tc, bug_33_map_begin__last_bytes_that_can_be__have_a_length);
	tcase_add_test(tc, map_begin__for_writing__is_erofs);
	tcase_add_test(tc, map_begin__report_dirty__is_never_dirty_when_asked_on_a_read_only_mount);
	tcase_add_test(tc, map_begin__flags_of_the_file__are_shown);
	tcase_add_test(tc, map_end__changed_map__says_stale_and_twice_is_a_mistake);
	tcase_add_test(tc, map_begin__inline_file__is_one_piece_and_a_hole);
	tcase_add_test(tc, map_report__whole_file__shows_every_extent_of_the_tree_unmerged);
	tcase_add_test(tc, map_report__contiguous_extents__stay_two);
	tcase_add_test(tc, map_seek__every_border__answers_as_the_kernel);
	tcase_add_test(tc, map_seek__empty_and_sparse_file__have_an_implicit_hole_at_the_end);
	tcase_add_test(tc, map_iter__any_range__covers_it_once_and_ends);
	tcase_add_test(tc, map_iter__past_everything__is_one_hole);
	tcase_add_test(tc, map__nth_read_fails__every_call_gives_the_error);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
