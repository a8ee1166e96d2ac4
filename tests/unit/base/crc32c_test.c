/*
 * crc32c_test.c - every path of crc32c against a bitwise reference, and the vectors of format/README.md.
 */
#include "base/crc32c.h"
#include "format/csum.h"
#include "unit.h"

#include <stdint.h>
#include <string.h>

#define LENGTH_MAX 1024u
#define ALIGN_MAX  16u

static uint32_t reference(uint32_t state, const uint8_t *p, size_t len)
{
	for (; len > 0; len--, p++) {
		state ^= *p;
		for (int bit = 0; bit < 8; bit++)
			state = state >> 1 ^ (state & 1 ? 0x82F63B78u : 0);
	}
	return state;
}

static void fill(uint8_t *p, size_t len)
{
	uint32_t x = 12345;

	for (size_t i = 0; i < len; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
}

START_TEST(crc32c__digits__is_the_standard_value_on_every_path)
{
	ck_assert_uint_eq(crc32c(CRC32C_SEED, "123456789", 9), 0x1CF96D7Cu);
	for (const struct crc32c_impl *i = crc32c_impls(); i->name != NULL; i++) {
		if (i->fn != NULL)
			ck_assert_uint_eq(i->fn(CRC32C_SEED, "123456789", 9), 0x1CF96D7Cu);
	}
}
END_TEST

START_TEST(crc32c__every_length_and_alignment__equals_the_reference)
{
	static uint8_t area[LENGTH_MAX + ALIGN_MAX];

	fill(area, sizeof(area));
	for (uint32_t align = 0; align < ALIGN_MAX; align++) {
		uint32_t expected = 0xDEADBEEF; /* grows by one byte a round */

		for (uint32_t len = 0; len <= LENGTH_MAX; len++) {
			for (const struct crc32c_impl *i = crc32c_impls(); i->name != NULL; i++) {
				if (i->fn == NULL)
					continue;
				uint32_t got = i->fn(0xDEADBEEF, area + align, len);
				ck_assert_msg(got == expected, "%s: align %u len %u", i->name,
					align, len);
			}
			expected = reference(expected, area + align + len, len < LENGTH_MAX);
		}
	}
}
END_TEST

START_TEST(crc32c__lengths_of_blocks__equal_the_reference)
{
	static uint8_t area[3 * 65536 + 8];
	static const size_t lengths[] = {1360 * 3 - 1, 1360 * 3, 1360 * 3 + 1, 4084, 4092, 4096,
		8184, 16384, 65532, 65536, 3 * 65536};

	fill(area, sizeof(area));
	for (size_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++) {
		uint32_t expected = reference(7, area + 3, lengths[n]);

		for (const struct crc32c_impl *i = crc32c_impls(); i->name != NULL; i++) {
			if (i->fn != NULL)
				ck_assert_uint_eq(i->fn(7, area + 3, lengths[n]), expected);
		}
	}
}
END_TEST

START_TEST(crc32c__split_anywhere__continues_the_state)
{
	uint8_t area[300];

	fill(area, sizeof(area));
	uint32_t whole = crc32c(CRC32C_SEED, area, sizeof(area));
	for (size_t cut = 0; cut <= sizeof(area); cut++) {
		uint32_t state = crc32c(CRC32C_SEED, area, cut);

		ck_assert_uint_eq(crc32c(state, area + cut, sizeof(area) - cut), whole);
	}
}
END_TEST

START_TEST(crc32c_path__any_machine__names_the_first_path_it_has)
{
	const struct crc32c_impl *i = crc32c_impls();

	while (i->fn == NULL)
		i++;
	ck_assert_str_eq(crc32c_path(), i->name);
}
END_TEST

START_TEST(crc16__digits__is_the_standard_value)
{
	ck_assert_uint_eq(crc16(0xFFFF, "123456789", 9), 0x4B37);
	ck_assert_uint_eq(crc16(0, "123456789", 9), 0xBB3D);
}
END_TEST

START_TEST(crc32_be__digits__is_the_standard_value)
{
	ck_assert_uint_eq(crc32_be(0xFFFFFFFFu, "123456789", 9), 0x0376E6E7u);
}
END_TEST

/* --- the vectors of whole structures, through format/csum.c --- */

static struct disk_super super_with_uuid(void)
{
	struct disk_super s = {0};

	for (uint8_t i = 0; i < 16; i++)
		s.uuid[i] = i;
	return s;
}

START_TEST(csum_seed__uuid_of_16_bytes__is_the_vector)
{
	struct disk_super s = super_with_uuid();

	ck_assert_uint_eq(csum_seed(&s), 0x2636F714u);
	ck_assert_uint_eq(csum_inode_seed(csum_seed(&s), 12, 0x01020304u), 0x161DEAA7u);
}
END_TEST

START_TEST(csum_group_desc__one_descriptor__is_the_vector_in_all_forms)
{
	struct disk_super s = super_with_uuid();
	struct disk_group_desc d = {
		.block_bitmap_lo = le32_put(124),
		.inode_bitmap_lo = le32_put(125),
		.inode_table_lo = le32_put(126),
		.free_blocks_count_lo = le16_put(31119),
		.free_inodes_count_lo = le16_put(15701),
		.used_dirs_count_lo = le16_put(2),
	};

	ck_assert_uint_eq(csum_group_desc_crc16(s.uuid, 0, &d, 32), 0xC128);
	ck_assert_uint_eq(csum_group_desc_crc16(s.uuid, 1, &d, 32), 0x2C29);
	ck_assert_uint_eq(csum_group_desc_crc32c(csum_seed(&s), 0, &d, 32), 0xDA3E);
	ck_assert_uint_eq(csum_group_desc_crc32c(csum_seed(&s), 0, &d, 64), 0x700B);
}
END_TEST

START_TEST(csum_bitmap__zeroes__is_the_vector)
{
	static const uint8_t bitmap[4096];
	struct disk_super s = super_with_uuid();

	ck_assert_uint_eq(csum_bitmap(csum_seed(&s), bitmap, 32768), 0xB3304A14u);
}
END_TEST

START_TEST(csum_jbd2_data__zeroes__is_the_vector)
{
	static const uint8_t block[1024];
	struct disk_super s = super_with_uuid();

	ck_assert_uint_eq(
		csum_jbd2_data(csum_jbd2_seed(s.uuid), 2, block, sizeof(block)), 0xE31F6EDDu);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base/crc32c");
	TCase *tc = tcase_create("crc32c");

	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	tcase_add_test(tc, crc32c__digits__is_the_standard_value_on_every_path);
	tcase_add_test(tc, crc32c__every_length_and_alignment__equals_the_reference);
	tcase_add_test(tc, crc32c__lengths_of_blocks__equal_the_reference);
	tcase_add_test(tc, crc32c__split_anywhere__continues_the_state);
	tcase_add_test(tc, crc32c_path__any_machine__names_the_first_path_it_has);
	tcase_add_test(tc, crc16__digits__is_the_standard_value);
	tcase_add_test(tc, crc32_be__digits__is_the_standard_value);
	tcase_add_test(tc, csum_seed__uuid_of_16_bytes__is_the_vector);
	tcase_add_test(tc, csum_group_desc__one_descriptor__is_the_vector_in_all_forms);
	tcase_add_test(tc, csum_bitmap__zeroes__is_the_vector);
	tcase_add_test(tc, csum_jbd2_data__zeroes__is_the_vector);
	return unit_run(suite);
}
