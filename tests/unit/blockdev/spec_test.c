/*
 * spec_test.c - device specifications: what each text means, and what is said of those that mean nothing.
 */
#include "blockdev/blockdev.h"
#include "blockdev/spec.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct row {
	const char *text;
	struct spec expected;
};

static const struct row good[] = {
	{"disk.img", {.path = (char[]){"disk.img"}}},
	{"a\\:b\\,c", {.path = (char[]){"a:b,c"}}},
	{"/absent/a:b", {.path = (char[]){"/absent/a:b"}}},
	{"C:x", {.path = (char[]){"C:x"}}},
	{"file:x", {.backend = SPEC_FILE, .path = (char[]){"x"}}},
	{"direct:/dev/x,ro", {.backend = SPEC_DIRECT, .path = (char[]){"/dev/x"}, .read_only = true}},
	{"uring:x,part=3,sync",
		{.backend = SPEC_URING, .path = (char[]){"x"}, .partition = 3, .sync = true}},
	{"pmem:x,offset=1M,size=2g",
		{.backend = SPEC_PMEM, .path = (char[]){"x"}, .offset = 1 << 20, .size = 2ull << 30}},
	{"mem:64M", {.backend = SPEC_MEM, .path = (char[]){"64M"}}},
	{"file:a\\,b\\:c,offset=512",
		{.backend = SPEC_FILE, .path = (char[]){"a,b:c"}, .offset = 512}},
	{"file:a:b", {.backend = SPEC_FILE, .path = (char[]){"a:b"}}},
	{"file:a\\\\\\,b", {.backend = SPEC_FILE, .path = (char[]){"a\\,b"}}},
};

static struct env *env;

static void setup(void)
{
	ck_assert_int_eq(env_new(NULL, 0, &env), 0);
}

static void teardown(void)
{
	env_put(env);
}

START_TEST(spec_parse__good_text__means_what_the_contract_says)
{
	const struct row *row = &good[_i];
	struct spec spec;

	ck_assert_int_eq(spec_parse(env, row->text, &spec), 0);
	ck_assert_str_eq(spec.path, row->expected.path);
	ck_assert_int_eq(spec.backend, row->expected.backend);
	ck_assert_uint_eq(spec.offset, row->expected.offset);
	ck_assert_uint_eq(spec.size, row->expected.size);
	ck_assert_uint_eq(spec.partition, row->expected.partition);
	ck_assert_int_eq(spec.read_only, row->expected.read_only);
	ck_assert_int_eq(spec.sync, row->expected.sync);
	spec_fini(env, &spec);
}
END_TEST

static const struct {
	const char *text;
	int err;
	const char *why, *named;
} bad[] = {
	{"", -EINVAL, "SPEC_EMPTY", "empty"},
	{"tape:x", -EINVAL, "SPEC_BACKEND", "tape"},
	{"nbd:host", -EOPNOTSUPP, "SPEC_NBD", "nbd"},
	{"file:", -EINVAL, "SPEC_PATH", "file:"},
	{"file:,ro", -EINVAL, "SPEC_PATH", "file:"},
	{"file:x,colour=red", -EINVAL, "SPEC_KEY", "colour"},
	{"file:x,", -EINVAL, "SPEC_KEY", ""},
	{"file:x,offset", -EINVAL, "SPEC_VALUE", "offset"},
	{"file:x,offset=", -EINVAL, "SPEC_VALUE", "offset="},
	{"file:x,offset=1Q", -EINVAL, "SPEC_VALUE", "offset=1Q"},
	{"file:x,offset=-1", -EINVAL, "SPEC_VALUE", "offset=-1"},
	{"file:x,size=0", -EINVAL, "SPEC_VALUE", "size=0"},
	{"file:x,size=99999999999999999999", -EINVAL, "SPEC_VALUE", "size="},
	{"file:x,size=9000P,ro", -EINVAL, "SPEC_VALUE", "size=9000P"},
	{"file:x,part=0", -EINVAL, "SPEC_VALUE", "part=0"},
	{"file:x,part=5000000000", -EINVAL, "SPEC_VALUE", "part="},
	{"file:x,ro=1", -EINVAL, "SPEC_VALUE", "ro=1"},
};

START_TEST(spec_parse__bad_text__names_what_it_does_not_understand)
{
	struct e4_error err = {.struct_size = sizeof(err)};
	struct spec spec;

	ck_assert_int_eq(spec_parse(env, bad[_i].text, &spec), bad[_i].err);
	ck_assert(error_last(env, &err));
	ck_assert_str_eq(err.why, bad[_i].why);
	ck_assert_msg(strstr(err.text, bad[_i].named) != NULL, "%s", err.text);
}
END_TEST

START_TEST(spec_parse__existing_path__is_never_taken_apart)
{
	static const char name[] = "file:odd,ro";
	struct spec spec;
	FILE *f = fopen(name, "w");

	ck_assert_ptr_nonnull(f);
	fclose(f);
	int r = spec_parse(env, name, &spec);
	unlink(name);
	ck_assert_int_eq(r, 0);
	ck_assert_str_eq(spec.path, name);
	ck_assert_int_eq(spec.backend, SPEC_AUTO);
	ck_assert(!spec.read_only);
	spec_fini(env, &spec);
}
END_TEST

START_TEST(spec_parse_size__suffixes__are_powers_of_1024)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t size;
	} rows[] = {
		{"0", true, 0},
		{"4096", true, 4096},
		{"1k", true, 1024},
		{"3M", true, 3u << 20},
		{"2G", true, 2ull << 30},
		{"16T", true, 16ull << 40},
		{"8P", true, 8ull << 50},
		{"", false, 0},
		{"K", false, 0},
		{"1KK", false, 0},
		{"1 K", false, 0},
		{"1 ", false, 0},
		{"0x10", false, 0},
		{"18446744073709551615", true, UINT64_MAX},
		{"18446744073709551616", false, 0},
		{"16384P", false, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t size = 0;

		ck_assert_msg(spec_parse_size(rows[i].text, &size) == rows[i].ok, "%s", rows[i].text);
		if (rows[i].ok)
			ck_assert_uint_eq(size, rows[i].size);
	}
}
END_TEST

START_TEST(blockdev_open__failure__fills_the_callers_error)
{
	struct e4_error err = {.struct_size = sizeof(err)};
	struct e4_blockdev_options opts;
	struct e4_blockdev *dev;

	e4_blockdev_options_init(&opts);
	opts.error = &err;
	ck_assert_int_eq(e4_blockdev_open("mem:4M,wings=2", 0, &opts, &dev), -EINVAL);
	ck_assert_str_eq(err.why, "SPEC_KEY");
	ck_assert_ptr_nonnull(strstr(err.text, "wings"));
	ck_assert_int_eq(e4_blockdev_open("/nowhere/at/all", 0, &opts, &dev), -ENOENT);
	ck_assert_str_eq(err.why, "DEV_OPEN");
	ck_assert_int_eq(e4_blockdev_open(".", 0, &opts, &dev), -EINVAL);
	ck_assert_str_eq(err.why, "DEV_TYPE");
	ck_assert_int_eq(e4_blockdev_open("mem:4M", 1u << 31, &opts, &dev), -EINVAL);
	ck_assert_int_eq(e4_blockdev_open(NULL, 0, &opts, &dev), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blockdev/spec");
	TCase *tc = tcase_create("specifications");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, spec_parse__good_text__means_what_the_contract_says, 0,
		sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, spec_parse__bad_text__names_what_it_does_not_understand, 0,
		sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, spec_parse__existing_path__is_never_taken_apart);
	tcase_add_test(tc, spec_parse_size__suffixes__are_powers_of_1024);
	tcase_add_test(tc, blockdev_open__failure__fills_the_callers_error);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
