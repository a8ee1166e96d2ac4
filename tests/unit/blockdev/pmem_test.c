/*
 * pmem_test.c - mapped devices: the granularity found, the one demanded, pointers and persisting.
 *
 * libpmem2 reads PMEM2_FORCE_GRANULARITY when it is loaded, so the forced part runs in a second process.
 */
#include "devices.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct e4_error err;

static int open_pmem(uint32_t require, struct e4_blockdev **ret)
{
	struct e4_blockdev_options opts;
	char spec[300];

	e4_blockdev_options_init(&opts);
	err = (struct e4_error){.struct_size = sizeof(err)};
	opts.error = &err;
	opts.require_granularity = require;
	(void)snprintf(spec, sizeof(spec), "pmem:%s", scratch_file());
	return e4_blockdev_open(spec, E4_BLOCKDEV_RDWR, &opts, ret);
}

START_TEST(pmem__granularity_not_met__is_refused_at_opening)
{
	struct e4_blockdev *dev;

	ck_assert_int_eq(open_pmem(64, &dev), -EOPNOTSUPP);
	ck_assert_str_eq(err.why, "PMEM_MAP");
	ck_assert_int_eq(open_pmem(4096, &dev), 0);
	ck_assert_uint_eq(dev->geo.persist_granularity, 4096);
	ck_assert(dev->geo.write_cache);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(pmem__forced_cache_line__is_reported_and_needs_no_flush)
{
	struct e4_blockdev *dev;

	ck_assert_int_eq(open_pmem(64, &dev), 0);
	ck_assert_uint_eq(dev->geo.persist_granularity, 64);
	ck_assert(!dev->geo.write_cache);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	ck_assert_int_eq(open_pmem(1, &dev), -EOPNOTSUPP);
}
END_TEST

START_TEST(pmem__mapped_pointer__sees_writes_and_is_seen_by_reads)
{
	struct e4_blockdev *dev, *window, *cow;
	char text[16] = {0};
	void *p;

	ck_assert_int_eq(open_pmem(0, &dev), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 8192, 65536, &window), 0);
	ck_assert_int_eq(blockdev_map(window, 4096, 4096, &p), 0);
	ck_assert_int_eq(blockdev_write(dev, 8192 + 4096, "written", 8, 0), 0);
	ck_assert_str_eq(p, "written");
	strcpy(p, "stored");
	ck_assert_int_eq(blockdev_persist(window, p, 7), 0);
	ck_assert_int_eq(blockdev_read(dev, 8192 + 4096, text, 7), 0);
	ck_assert_str_eq(text, "stored");
	ck_assert_int_eq(blockdev_map(window, 65536, 1, &p), -EINVAL);
	ck_assert_int_eq(e4_blockdev_cow(dev, 4096, &cow), 0);
	ck_assert_int_eq(blockdev_map(cow, 0, 4096, &p), -EOPNOTSUPP);
	ck_assert_int_eq(e4_blockdev_close(cow), 0);
	ck_assert_int_eq(e4_blockdev_close(window), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

int main(void)
{
	bool forced = getenv("PMEM2_FORCE_GRANULARITY") != NULL;
	Suite *suite = suite_create("blockdev/pmem");
	TCase *tc = tcase_create("mapped devices");

	tcase_add_checked_fixture(tc, NULL, scratch_remove);
	tcase_add_test(tc, pmem__mapped_pointer__sees_writes_and_is_seen_by_reads);
	if (forced) {
		tcase_add_test(tc, pmem__forced_cache_line__is_reported_and_needs_no_flush);
	} else {
		tcase_add_test(tc, pmem__granularity_not_met__is_refused_at_opening);
	}
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
