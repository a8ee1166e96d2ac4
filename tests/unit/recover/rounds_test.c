/*
 * rounds_test.c - orphans that one transaction of a tiny log cannot hold: recovery in rounds, cut everywhere.
 */
#include "crash.h"
#include "format/jbd2.h"
#include "unit.h"
#include "volumes.h"

#include <errno.h>

#define PIECES 14500u /* each 3 blocks and a hole; in 170 groups, of which a round can change 160 */

static const struct kind {
	const char *mkfs;
	uint32_t rounds;
} kinds[] = {
	{"-g 256", 2},
	{"-g 256 -O ^metadata_csum", 2},
	{"-g 256 -O ^extent,^64bit", 2},
	{"-g 256 -O quota,project -E quotatype=usrquota:grpquota:prjquota", 2},
	{"-g 1024 -O bigalloc -C 4096", 1},
	{"-g 256 -O orphan_file", 2},
};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* One file of thousands of extents over many groups, an orphan of this size and link count; and a small one behind it on the list. */
static void make_dirty(const char *mkfs, uint64_t size, uint32_t links, struct image *ret)
{
	make_sparse("f", PIECES, 3072, 4096);
	ck_assert_int_eq(
		shell("rm -f v; truncate -s 64M v; mkfs.ext4 -q -F -b 1024 -J size=1 -G 64 -N "
		      "512 -m 0 %s v && printf '%%s\\n' 'write f a' 'write out b' | debugfs -w -f "
		      "- v; e2fsck -fy v; A=$(debugfs -R 'stat a' v | sed -n 's/^Inode: "
		      "\\([0-9]*\\).*/\\1/p'); B=$((A+1)); printf '%%s\\n' \"sif a dtime $B\" "
		      "\"sif a links_count %u\" \"sif a size %llu\" 'sif b links_count 0' 'sif b "
		      "dtime 0' 'unlink b' \"ssv last_orphan $A\" %s | debugfs -w -f - v",
			mkfs, links, (unsigned long long)size, links == 0 ? "'unlink a'" : ""),
		0);
	read_volume(ret);
}

/* A new log's first transaction is 1; emptying it skips a number. */
static uint32_t rounds_of(const struct image *img)
{
	for (uint64_t i = 0; i + 1024 <= img->size; i += 1024) {
		const struct disk_jbd2_super *js = (const void *)(img->bytes + i);

		if (be32_get(js->header.magic) == JBD2_MAGIC &&
			be32_get(js->header.blocktype) == JBD2_SUPER_V2)
			return be32_get(js->sequence) - 2;
	}
	return 0;
}

START_TEST(recover_run__orphan_in_more_groups_than_fit__goes_in_rounds)
{
	struct crash_stats stats;
	struct image dirty;
	struct image final;

	if (!have_tools())
		return;
	make_dirty(kinds[_i].mkfs, (uint64_t)PIECES * 4096, 0, &dirty);
	ck_assert_int_eq(crash_all(&dirty, _i == 0 ? 0 : 8, 4, 5u + (uint32_t)_i, &stats, &final), 0);
	ck_assert(stats.equal);
	ck_assert_uint_eq(stats.result.orphans_deleted, 2);
	ck_assert_uint_eq(rounds_of(&final), kinds[_i].rounds);
	check_clean(&final);
	image_fini(&dirty);
	image_fini(&final);
}
END_TEST

/* All of it but a block; half of it; the last block. */
START_TEST(recover_run__large_map_cut_short__goes_in_rounds)
{
	static const uint64_t sizes[] = {700, 30000000, (uint64_t)PIECES * 4096 - 2000};
	struct crash_stats stats;
	struct image dirty;
	struct image final;

	if (!have_tools())
		return;
	make_dirty(kinds[_i / 3 * 2].mkfs, sizes[_i % 3], 1, &dirty);
	ck_assert_int_eq(crash_all(&dirty, 4, 1, 7u + (uint32_t)_i, &stats, &final), 0);
	ck_assert(stats.equal);
	ck_assert_uint_eq(stats.result.orphans_deleted, 1);
	ck_assert_uint_eq(stats.result.orphans_truncated, 1);
	check_clean(&final);
	image_fini(&dirty);
	image_fini(&final);
}
END_TEST

/* All of 226 indirect blocks are empty: cutting the map from its end frees no data. */
START_TEST(recover_run__map_without_data__ends)
{
	struct e4_replay_result r;
	struct image dirty;

	if (!have_tools())
		return;
	make_dirty(kinds[2].mkfs, (uint64_t)PIECES * 4096, 0, &dirty);
	image_fini(&dirty);
	ck_assert_int_eq(
		shell("debugfs -R 'stat <12>' v | grep "
		      "-o '(IND):[0-9]*' | sed 's/.*:/zap_block -p 0 /' >c; debugfs -w -f c v; "
		      "test $(wc -l <c) -gt 200"),
		0);
	read_volume(&dirty);
	ck_assert_int_eq(image_recover(&dirty, &r), 0);
	ck_assert_uint_eq(r.orphans_deleted, 2);
	image_fini(&dirty);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rounds");
	TCase *t = tcase_create("rounds");

	if (!volumes_begin())
		return 1;
	tcase_set_timeout(t, 100);
	tcase_add_loop_test(t, recover_run__orphan_in_more_groups_than_fit__goes_in_rounds, 0, KINDS);
	tcase_add_loop_test(t, recover_run__large_map_cut_short__goes_in_rounds, 0, 3 * KINDS / 2);
	tcase_add_test(t, recover_run__map_without_data__ends);
	suite_add_tcase(suite, t);
	int status = unit_run(suite);

	volumes_end();
	return status;
}
