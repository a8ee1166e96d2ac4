/* bits_test.c - runs in bitmaps, against one bit at a time. */
#include "base/bits.h"
#include "base/math.h"
#include "unit.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BITS 200

START_TEST(bits__runs__equal_single_bits)
{
	uint8_t fast[BITS / 8];
	uint8_t slow[BITS / 8];

	for (uint64_t from = 0; from < BITS; from += 3) {
		for (uint64_t count = 0; from + count <= BITS; count += 7) {
			memset(fast, 0x5A, sizeof(fast));
			memset(slow, 0x5A, sizeof(slow));
			bits_set_run(fast, from, count);
			for (uint64_t i = 0; i < count; i++)
				bit_set(slow, from + i);
			ck_assert_mem_eq(fast, slow, sizeof(fast));
			bits_clear_run(fast, from, count);
			for (uint64_t i = 0; i < count; i++)
				bit_clear(slow, from + i);
			ck_assert_mem_eq(fast, slow, sizeof(fast));
		}
	}
}
END_TEST

START_TEST(bits__next__finds_each_bit_or_the_end)
{
	uint8_t map[BITS / 8];

	for (uint64_t at = 0; at < BITS; at++) {
		memset(map, 0, sizeof(map));
		bit_set(map, at);
		ck_assert_uint_eq(bits_next_set(map, 0, BITS), at);
		ck_assert_uint_eq(bits_next_set(map, at + 1, BITS), BITS);
		ck_assert_uint_eq(bits_next_zero(map, at, BITS), at + 1);
		ck_assert_uint_eq(bits_count_zero(map, BITS), BITS - 1);
		ck_assert_uint_eq(bits_count_zero(map, at), at);
	}
}
END_TEST

START_TEST(math__sums_that_overflow__are_told)
{
	uint64_t r;

	ck_assert(add_u64(UINT64_MAX - 1, 1, &r));
	ck_assert(!add_u64(UINT64_MAX, 1, &r));
	ck_assert(mul_u64(1ull << 32, (1ull << 32) - 1, &r));
	ck_assert(!mul_u64(1ull << 32, 1ull << 32, &r));
	ck_assert_uint_eq(div_up_u64(UINT64_MAX, 2), 1ull << 63);
	ck_assert_uint_eq(round_up_u64(4097, 4096), 8192);
	ck_assert_uint_eq(log2_u64(65536), 16);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base/bits");
	TCase *tc = tcase_create("bits");

	tcase_add_test(tc, bits__runs__equal_single_bits);
	tcase_add_test(tc, bits__next__finds_each_bit_or_the_end);
	tcase_add_test(tc, math__sums_that_overflow__are_told);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
