/*
 * name_test.c - names in other forms: folded, and as an encrypted directory shows them without its key.
 */
#include "base/sha256.h"
#include "dir/dir.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static void expect_folded(const char *name, const char *expected)
{
	uint8_t out[1024];
	int n = casefold((const uint8_t *)name, (uint32_t)strlen(name), out, sizeof(out));

	ck_assert_int_eq(n, (int)strlen(expected));
	ck_assert(memcmp(out, expected, strlen(expected)) == 0);
}

START_TEST(casefold__letters__become_small_and_decomposed)
{
	expect_folded("ABC", "abc");
	expect_folded("\xC3\x89", "e\xCC\x81"); /* E with acute */
	expect_folded("Stra\xC3\x9F"
		      "e",
		"strasse");                                                    /* full folding */
	expect_folded("\xE2\x84\xAA", "k");                                    /* Kelvin sign */
	expect_folded("\xEA\xB0\x81", "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"); /* Hangul */
	expect_folded("\xC4\xB0", "i\xCC\x87"); /* I with dot above: not the Turkic way */
}
END_TEST

START_TEST(casefold__marks__come_in_canonical_order)
{
	expect_folded("a\xCC\x81\xCC\xA3", "a\xCC\xA3\xCC\x81");
	expect_folded("a\xCC\xA3\xCC\x81", "a\xCC\xA3\xCC\x81");
	expect_folded("\xC3\xA1\xCC\xA3", "a\xCC\xA3\xCC\x81");
}
END_TEST

START_TEST(casefold__default_ignorable__is_left_out)
{
	expect_folded("a\xC2\xADz\xE2\x80\x8B", "az"); /* soft hyphen, zero width space */
	expect_folded("\xC2\xAD", "");
}
END_TEST

/* As Linux 6.12 answers, whatever the tables of utf8proc know of later versions. */
START_TEST(casefold__newer_than_unicode_12_1__stands_for_itself)
{
	expect_folded("A\xE0\xA3\x87Z", "a\xE0\xA3\x87z");               /* U+08C7, of 13.0 */
	expect_folded("A\xF0\x9F\xAB\xA0", "a\xF0\x9F\xAB\xA0");         /* U+1FAE0, of 14.0 */
	expect_folded("N\xEA\x9F\x87", "n\xEA\x9F\x87");                 /* U+A7C7, now a capital */
	expect_folded("f\xE1\xA0\x8F", "f\xE1\xA0\x8F");                 /* U+180F, now ignorable */
	expect_folded("a\xCC\x81\xE1\xAA\xBF", "a\xCC\x81\xE1\xAA\xBF"); /* U+1ABF, now a mark */
	expect_folded("a\xCC\x81\xE1\xAA\xBF\xCC\xA3", "a\xCC\x81\xE1\xAA\xBF\xCC\xA3");
}
END_TEST

START_TEST(casefold__unassigned_but_set_aside_to_be_ignored__is_left_out)
{
	expect_folded("a\xE2\x81\xA5z", "az");                     /* U+2065 */
	expect_folded("a\xEF\xBF\xB0\xEF\xBF\xB8z", "az");         /* U+FFF0, U+FFF8 */
	expect_folded("a\xF3\xA0\x80\x80\xF3\xA0\xBF\xBFz", "az"); /* U+E0000, U+E0FFF */
	expect_folded("a\xF3\xA1\x80\x80z", "a\xF3\xA1\x80\x80z"); /* U+E1000 */
}
END_TEST

START_TEST(casefold__no_utf8__is_refused)
{
	static const char *const bad[] = {
		"\xFF", "a\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80"};
	uint8_t out[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(casefold((const uint8_t *)bad[i], (uint32_t)strlen(bad[i]), out,
					 sizeof(out)),
			-EINVAL);
}
END_TEST

START_TEST(casefold__name_of_255_bytes__fits)
{
	uint8_t name[256], out[1024];

	for (uint32_t i = 0; i < 255; i += 3)
		memcpy(name + i, "\xE1\xBE\xA7", 3); /* one that becomes four code points */
	ck_assert_int_eq(casefold(name, 255, out, sizeof(out)), 85 * 8);
	for (uint32_t i = 0; i < 254; i += 2)
		memcpy(name + i, "\xCD\x84", 2); /* a mark that becomes two */
	ck_assert_int_eq(casefold(name, 254, out, sizeof(out)), 127 * 4);
	ck_assert_int_eq(casefold(name, 254, out, 100), -EINVAL);
}
END_TEST

static void expect_digest(const char *text, size_t len, const uint8_t first[4])
{
	uint8_t digest[SHA256_SIZE];

	sha256(text, len, digest);
	ck_assert(memcmp(digest, first, 4) == 0);
}

START_TEST(sha256__texts_of_the_standard__give_its_digests)
{
	char as[200];

	expect_digest("", 0, (const uint8_t[]){0xe3, 0xb0, 0xc4, 0x42});
	expect_digest("abc", 3, (const uint8_t[]){0xba, 0x78, 0x16, 0xbf});
	expect_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		(const uint8_t[]){0x24, 0x8d, 0x6a, 0x61});
	memset(as, 'a', sizeof(as));
	expect_digest(as, 64, (const uint8_t[]){0xff, 0xe0, 0x54, 0xfe});
	expect_digest(as, 119, (const uint8_t[]){0x31, 0xeb, 0xa5, 0x1c});
}
END_TEST

START_TEST(nokey__149_bytes__stand_whole_and_150_end_in_a_digest)
{
	struct dir_hash h = {0x12345678, 0x9ABCDEF0};
	uint8_t cipher[255];
	char name[256];

	memset(cipher, 0xA5, sizeof(cipher));
	ck_assert_uint_eq(dir_nokey_name(&h, cipher, 16, name), 32);
	ck_assert_str_eq(name, "eFY0EvDevJqlpaWlpaWlpaWlpaWlpaWl");
	ck_assert_uint_eq(dir_nokey_name(&h, cipher, 149, name), 210);
	ck_assert_uint_eq(dir_nokey_name(&h, cipher, 150, name), 252);
	ck_assert_uint_eq(dir_nokey_name(&h, cipher, 255, name), 252);
	ck_assert_uint_eq(strlen(name), 252);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dir/name");
	TCase *tc = tcase_create("name");

	suite_add_tcase(suite, tc);
	if (casefold_available()) {
		tcase_add_test(tc, casefold__letters__become_small_and_decomposed);
		tcase_add_test(tc, casefold__marks__come_in_canonical_order);
		tcase_add_test(tc, casefold__default_ignorable__is_left_out);
		tcase_add_test(tc, casefold__newer_than_unicode_12_1__stands_for_itself);
		tcase_add_test(tc, casefold__unassigned_but_set_aside_to_be_ignored__is_left_out);
		tcase_add_test(tc, casefold__no_utf8__is_refused);
		tcase_add_test(tc, casefold__name_of_255_bytes__fits);
	}
	tcase_add_test(tc, sha256__texts_of_the_standard__give_its_digests);
	tcase_add_test(tc, nokey__149_bytes__stand_whole_and_150_end_in_a_digest);
	return unit_run(suite);
}
