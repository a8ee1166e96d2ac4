/*
 * recover_test.c - whole recoveries of volumes that mke2fs and debugfs make dirty, cut everywhere.
 *
 * Without these programs there is nothing to do. Volumes that a kernel left dirty are the business of tests/interop.
 */
#include "crash.h"
#include "format/csum.h"
#include "format/features.h"
#include "format/jbd2.h"
#include "format/super.h"
#include "unit.h"
#include "volumes.h"

#include <errno.h>
#include <string.h>

/* A kind of volume, and of log. */
static const struct kind {
	const char *mkfs, *jo;
} kinds[] = {
	{"-b 1024 -J size=1", "jo -c -v 3"},
	{"-b 1024 -J size=1 -O ^metadata_csum,^64bit", "jo"},
	{"-b 1024 -J size=1 -O ^metadata_csum", "jo"},
	{"-b 1024 -J size=1 -O ^metadata_csum,^64bit,uninit_bg", "jo"},
	{"-t ext3 -b 1024 -J size=1", "jo"},
	{"-b 2048 -J size=2 -O inline_data", "jo -c -v 3"},
	{"-b 1024 -J size=1 -O bigalloc -C 8192", "jo -c -v 3"},
	{"-b 1024 -J size=1 -O meta_bg,^resize_inode", "jo -c -v 3"},
	{"-b 4096 -J size=4 -I 128", "jo -c -v 3"},
};
#define KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

/* Two files, one cut short and one without a name, both on the orphan list; a log of two transactions, one block revoked. */
static void make_dirty(int kind, struct image *ret)
{
	ck_assert_int_eq(shell("rm -f v; truncate -s 12M v; mkfs.ext4 -q -F %s v; head -c 300000 "
			       "/dev/urandom >f; "
			       "head -c 20000 /dev/urandom >blk",
				 kinds[kind].mkfs),
		0);
	ck_assert_int_eq(shell("printf '%%s\\n' 'write f a' 'write f b' 'sif b links_count 0' 'sif "
			       "a dtime 13' 'sif b dtime 0' "
			       "'ssv last_orphan 12' 'sif a size 5500' 'unlink b' '%s' 'jw -b "
			       "2900,2901,2902 blk' 'jw -r 2901' "
			       "'jw -b 2903 blk' jc | debugfs -w -f - v",
				 kinds[kind].jo),
		0);
	read_volume(ret);
}

START_TEST(recover_run__cut_at_every_write__ends_in_the_same_bytes)
{
	struct crash_stats stats;
	struct image dirty;
	struct image final;

	if (!have_tools())
		return;
	make_dirty(_i, &dirty);
	ck_assert_int_eq(crash_all(&dirty, 0, 40, 11u + (uint32_t)_i, &stats, &final), 0);
	ck_assert(stats.equal);
	ck_assert_uint_eq(stats.result.transactions, 3);
	ck_assert_uint_eq(stats.result.revoked, 1);
	ck_assert_uint_eq(stats.result.orphans_deleted, 1);
	ck_assert_uint_eq(stats.result.orphans_truncated, 1);
	check_clean(&final);
	image_fini(&dirty);
	image_fini(&final);
}
END_TEST

START_TEST(recover_run__clean_volume__is_not_written)
{
	struct crash_stats stats;
	struct image dirty;
	struct image final;
	struct image same;
	struct e4_replay_result r;

	if (!have_tools())
		return;
	make_dirty(_i, &dirty);
	ck_assert_int_eq(image_recover(&dirty, &r), 0);
	ck_assert_int_eq(crash_all(&dirty, 0, 0, 1, &stats, &final), 0);
	ck_assert_uint_eq(stats.result.was_needed, 0);
	ck_assert_uint_eq(stats.writes, 0);
	ck_assert_int_eq(image_copy(&dirty, &same), 0);
	ck_assert_int_eq(image_recover_in_memory(&same, &r), 0);
	ck_assert_uint_eq(r.was_needed, 0);
	image_fini(&dirty);
	image_fini(&final);
	image_fini(&same);
}
END_TEST

/* But for the log, a reader sees what recovery for good leaves. */
START_TEST(recover_run__in_memory__shows_the_recovered_volume_and_leaves_the_device)
{
	struct e4_replay_result r;
	struct image dirty;
	struct image good;

	if (!have_tools())
		return;
	make_dirty(_i, &dirty);
	ck_assert_int_eq(image_copy(&dirty, &good), 0);
	ck_assert_int_eq(image_recover_in_memory(&dirty, &r), 0);
	ck_assert_uint_eq(r.orphans_deleted, 1);
	ck_assert_int_eq(image_recover(&good, &r), 0);
	ck_assert_mem_eq(super_of(&dirty), super_of(&good), SUPER_SIZE);
	image_fini(&dirty);
	image_fini(&good);
}
END_TEST

START_TEST(recover_run__recover_clear__empties_the_log_without_replay)
{
	struct crash_stats stats;
	struct image dirty;
	struct image final;

	if (!have_tools())
		return;
	make_dirty(0, &dirty);
	struct disk_super *s = super_of(&dirty);

	s->feature_incompat = le32_put(
		le32_get(s->feature_incompat) & ~(uint32_t)FEATURE_INCOMPAT_RECOVER);
	reseal(s);
	ck_assert_int_eq(crash_all(&dirty, 0, 40, 3, &stats, &final), 0);
	ck_assert(stats.equal);
	ck_assert_uint_eq(stats.result.transactions, 0);
	ck_assert_uint_eq(stats.result.orphans_deleted, 1);
	check_clean(&final);
	image_fini(&dirty);
	image_fini(&final);
}
END_TEST

START_TEST(recover_run__error_recorded_on_the_device__survives_the_replay)
{
	struct e4_replay_result r;
	struct image dirty;

	if (!have_tools())
		return;
	make_dirty(0, &dirty);
	/* The superblock's block is logged too, as it was before the error. */
	ck_assert_int_eq(shell("dd if=v of=sb bs=1024 skip=1 count=1; printf '%%s\\n' 'jo -c -v 3' "
			       "'jw -b 1 sb' jc | debugfs -w -f - v"),
		0);
	image_fini(&dirty);
	read_volume(&dirty);
	struct disk_super *s = super_of(&dirty);

	s->error_count = le32_put(3);
	s->first_error_time = le32_put(1700000000);
	s->last_error_line = le32_put(77);
	s->state = le16_put(le16_get(s->state) | SUPER_STATE_ERROR);
	reseal(s);
	ck_assert_int_eq(image_recover(&dirty, &r), 0);
	s = super_of(&dirty);
	ck_assert_uint_eq(le32_get(s->error_count), 3);
	ck_assert_uint_eq(le32_get(s->last_error_line), 77);
	ck_assert((le16_get(s->state) & SUPER_STATE_ERROR) != 0);
	ck_assert(!disk_super_has_incompat(s, FEATURE_INCOMPAT_RECOVER));
	/* Errors were recorded: orphans are a checker's. */
	ck_assert_uint_eq(r.orphans_deleted, 0);
	ck_assert_uint_eq(le32_get(s->last_orphan), 12);
	image_fini(&dirty);
}
END_TEST

START_TEST(recover_run__corrupt_log__is_refused_before_the_first_write)
{
	struct e4_replay_result r;
	struct image dirty;
	struct image same;

	if (!have_tools())
		return;
	make_dirty(0, &dirty);
	ck_assert_int_eq(image_copy(&dirty, &same), 0);
	/* Find the logged copy of a block and spoil it. */
	uint8_t *at = NULL;

	for (uint64_t i = 0; i + 1024 <= dirty.size && at == NULL; i += 1024) {
		if (be32_at(dirty.bytes + i) == JBD2_MAGIC &&
			be32_at(dirty.bytes + i + 4) == JBD2_DESCRIPTOR)
			at = dirty.bytes + i + 1024;
	}
	ck_assert_ptr_nonnull(at);
	at[100] ^= 1;
	memcpy(same.bytes, dirty.bytes, dirty.size);
	ck_assert_int_eq(image_recover(&dirty, &r), -EBADMSG);
	ck_assert_mem_eq(dirty.bytes, same.bytes, dirty.size);
	ck_assert_int_eq(image_recover_in_memory(&same, &r), -EBADMSG);
	image_fini(&dirty);
	image_fini(&same);
}
END_TEST

START_TEST(recover_run__orphan_number_impossible__is_left_and_reported)
{
	static const uint32_t numbers[] = {5, 1000000, 2000};
	struct e4_replay_result r;
	struct image dirty;

	if (!have_tools())
		return;
	make_dirty(0, &dirty);
	super_of(&dirty)->last_orphan = le32_put(numbers[_i]);
	reseal(super_of(&dirty));
	ck_assert_int_eq(image_recover(&dirty, &r), 0);
	ck_assert_uint_eq(le32_get(super_of(&dirty)->last_orphan), numbers[_i]);
	ck_assert((le16_get(super_of(&dirty)->state) & SUPER_STATE_ERROR) != 0);
	image_fini(&dirty);
}
END_TEST

static void make_without_journal(const char *options, struct image *ret)
{
	ck_assert_int_eq(shell("rm -f v; truncate -s 12M v; mkfs.ext4 -q -F -O ^has_journal %s v; "
			       "head -c 300000 /dev/urandom >f; "
			       "printf '%%s\\n' 'write f a' 'write f b' 'sif b links_count 0' 'sif "
			       "a dtime 13' 'sif b dtime 0' 'ssv last_orphan 12' 'sif a size 5500' "
			       "'unlink b' | debugfs -w -f - v",
				 options),
		0);
	read_volume(ret);
}

START_TEST(recover_run__no_journal__finishes_orphans)
{
	static const char *const options[] = {"-b 1024", "-b 4096", "-b 1024 -O ^metadata_csum"};
	struct e4_replay_result r;
	struct image dirty;
	struct image same;

	if (!have_tools())
		return;
	make_without_journal(options[_i], &dirty);
	ck_assert_int_eq(image_recover(&dirty, &r), 0);
	ck_assert_uint_eq(r.orphans_deleted, 1);
	ck_assert_uint_eq(r.orphans_truncated, 1);
	ck_assert_uint_ne(le16_get(super_of(&dirty)->state) & SUPER_STATE_VALID, 0);
	check_clean(&dirty);
	ck_assert_int_eq(image_copy(&dirty, &same), 0);
	ck_assert_int_eq(image_recover(&dirty, &r), 0);
	ck_assert_uint_eq(r.was_needed, 0);
	ck_assert_mem_eq(dirty.bytes, same.bytes, same.size);
	image_fini(&dirty);
	image_fini(&same);
}
END_TEST

/* What says VALID is as it was, or finished; what does not can be repaired. */
static void check_marked(struct image *cut, uint32_t n, uint32_t count)
{
	(void)count;
	if ((le16_get(super_of(cut)->state) & SUPER_STATE_VALID) == 0) {
		check_repairable(cut);
		return;
	}
	ck_assert(le32_get(super_of(cut)->last_orphan) == (n <= 2 ? 12 : 0));
	if (n > 2)
		check_clean(cut);
}

/* Nothing can be repeated without a log: from the first write to the last the volume says that it needs a check. */
START_TEST(recover_run__no_journal__is_marked_while_it_is_written)
{
	struct e4_replay_result r;
	struct image dirty;

	if (!have_tools())
		return;
	make_without_journal("-b 1024", &dirty);
	ck_assert_int_eq(crash_foreach_prefix(&dirty, check_marked, &r), 0);
	ck_assert_uint_eq(r.orphans_deleted, 1);
	image_fini(&dirty);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recover");
	TCase *t = tcase_create("recover");

	if (!volumes_begin())
		return 1;
	tcase_set_timeout(t, 100);
	tcase_add_loop_test(t, recover_run__cut_at_every_write__ends_in_the_same_bytes, 0, KINDS);
	tcase_add_loop_test(t, recover_run__clean_volume__is_not_written, 0, KINDS);
	tcase_add_loop_test(t,
		recover_run__in_memory__shows_the_recovered_volume_and_leaves_the_device, 0, KINDS);
	tcase_add_test(t, recover_run__recover_clear__empties_the_log_without_replay);
	tcase_add_test(t, recover_run__error_recorded_on_the_device__survives_the_replay);
	tcase_add_test(t, recover_run__corrupt_log__is_refused_before_the_first_write);
	tcase_add_loop_test(t, recover_run__orphan_number_impossible__is_left_and_reported, 0, 3);
	tcase_add_loop_test(t, recover_run__no_journal__finishes_orphans, 0, 3);
	tcase_add_test(t, recover_run__no_journal__is_marked_while_it_is_written);
	suite_add_tcase(suite, t);
	int status = unit_run(suite);

	volumes_end();
	return status;
}
