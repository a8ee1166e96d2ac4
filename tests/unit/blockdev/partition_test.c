/*
 * partition_test.c - MBR and GPT tables made in memory, whole and damaged.
 */
#include "blockdev/blockdev.h"
#include "blockdev/crc32.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DISK_SIZE (8u << 20)

static struct e4_blockdev *disk;

static void setup(void)
{
	ck_assert_int_eq(e4_blockdev_open("mem:8M", E4_BLOCKDEV_RDWR, NULL, &disk), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(e4_blockdev_close(disk), 0);
}

static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

static void write_at(uint64_t offset, const void *data, size_t len)
{
	ck_assert_int_eq(e4_blockdev_write(disk, offset, data, len, 0), 0);
}

/* A boot record with up to four entries of {type, first, count}, in sectors. */
static void boot_record(uint64_t offset, unsigned count, const uint32_t entries[][3])
{
	uint8_t sector[512] = {[510] = 0x55, [511] = 0xAA};

	for (unsigned i = 0; i < count; i++) {
		sector[446 + i * 16 + 4] = (uint8_t)entries[i][0];
		put(sector + 446 + i * 16 + 8, 4, entries[i][1]);
		put(sector + 446 + i * 16 + 12, 4, entries[i][2]);
	}
	write_at(offset, sector, sizeof(sector));
}

static void expect(uint32_t number, uint64_t offset, uint64_t size)
{
	struct e4_blockdev *part;
	char text[20], back[20];

	(void)snprintf(text, sizeof(text), "partition %u", number);
	write_at(offset, text, sizeof(text));
	ck_assert_int_eq(e4_blockdev_partition(disk, number, &part), 0);
	ck_assert_uint_eq(part->geo.size, size);
	ck_assert_int_eq(e4_blockdev_read(part, 0, back, sizeof(back)), 0);
	ck_assert_str_eq(back, text);
	ck_assert_int_eq(e4_blockdev_close(part), 0);
}

static void expect_failure(uint32_t number, int err, const char *why)
{
	struct e4_error last = {.struct_size = sizeof(last)};
	struct e4_blockdev *part;

	ck_assert_int_eq(e4_blockdev_partition(disk, number, &part), err);
	ck_assert_int_eq(e4_blockdev_last_error(disk, &last), 0);
	ck_assert_str_eq(last.why, why);
}

START_TEST(crc32_ieee__digits__is_the_standard_value_also_in_pieces)
{
	ck_assert_uint_eq(crc32_ieee(0, "123456789", 9), 0xCBF43926u);
	ck_assert_uint_eq(crc32_ieee(crc32_ieee(0, "1234", 4), "56789", 5), 0xCBF43926u);
}
END_TEST

START_TEST(partition__mbr__primaries_and_logicals_are_found)
{
	boot_record(
		0, 3, (const uint32_t[][3]){{0x83, 64, 128}, {0x0F, 1000, 8000}, {0x82, 200, 50}});
	boot_record(1000 * 512, 2, (const uint32_t[][3]){{0x83, 8, 100}, {0x05, 500, 600}});
	boot_record(1500 * 512, 2, (const uint32_t[][3]){{0x83, 16, 200}, {0x05, 2000, 600}});
	boot_record(3000 * 512, 1, (const uint32_t[][3]){{0x83, 4, 300}});
	expect(1, 64 * 512, 128 * 512);
	expect(3, 200 * 512, 50 * 512);
	expect(5, 1008 * 512, 100 * 512);
	expect(6, 1516 * 512, 200 * 512);
	expect(7, 3004 * 512, 300 * 512);
	expect_failure(2, -ENOENT, "PART_ABSENT");
	expect_failure(4, -ENOENT, "PART_ABSENT");
	expect_failure(8, -ENOENT, "PART_ABSENT");
	expect_failure(0, -EINVAL, "PART_NUMBER");
}
END_TEST

START_TEST(partition__mbr_chain_in_a_circle__ends)
{
	boot_record(0, 1, (const uint32_t[][3]){{0x05, 1000, 8000}});
	boot_record(1000 * 512, 2, (const uint32_t[][3]){{0x83, 8, 100}, {0x05, 0, 600}});
	expect(5, 1008 * 512, 100 * 512);
	expect_failure(6, -EUCLEAN, "PART_CIRCLE");
	boot_record(1000 * 512, 2, (const uint32_t[][3]){{0x83, 8, 100}, {0x05, 500, 600}});
	boot_record(1500 * 512, 2, (const uint32_t[][3]){{0x83, 8, 100}, {0x05, 700, 600}});
	boot_record(1700 * 512, 2, (const uint32_t[][3]){{0x83, 8, 100}, {0x05, 500, 600}});
	expect(7, 1708 * 512, 100 * 512);
	expect_failure(4000000000u, -EUCLEAN, "PART_CIRCLE");
}
END_TEST

START_TEST(partition__mbr_chain_into_nothing__names_the_block)
{
	boot_record(0, 1, (const uint32_t[][3]){{0x05, 1000, 8000}});
	expect_failure(5, -EUCLEAN, "PART_CHAIN");
	boot_record(0, 1, (const uint32_t[][3]){{0x05, 0xFFFFFFF0u, 8000}});
	expect_failure(5, -EINVAL, "DEV_RANGE");
	boot_record(0, 1, (const uint32_t[][3]){{0x83, 1000, 0xFFFFFFFFu}});
	expect_failure(1, -EINVAL, "WINDOW_RANGE");
}
END_TEST

START_TEST(partition__no_table__says_so)
{
	expect_failure(1, -EUCLEAN, "PART_NO_TABLE");
}
END_TEST

/* A header at lba, for a table at entries_lba; sealed with both checksums. */
static void gpt_header(uint64_t lba_size, uint64_t lba, uint64_t other, uint64_t entries_lba,
	const uint8_t *table, uint32_t count)
{
	uint8_t h[92] = "EFI PART";

	put(h + 8, 4, 0x00010000);
	put(h + 12, 4, sizeof(h));
	put(h + 24, 8, lba);
	put(h + 32, 8, other);
	put(h + 72, 8, entries_lba);
	put(h + 80, 4, count);
	put(h + 84, 4, 128);
	put(h + 88, 4, crc32_ieee(0, table, count * 128));
	put(h + 16, 4, crc32_ieee(0, h, sizeof(h)));
	write_at(lba * lba_size, h, sizeof(h));
	write_at(entries_lba * lba_size, table, count * 128);
}

/* Partitions 1 and 3 of a disk with 32 entries, both copies. */
static void gpt(uint64_t lba_size)
{
	uint8_t table[32 * 128] = {0};
	uint64_t last = DISK_SIZE / lba_size - 1;

	boot_record(0, 1, (const uint32_t[][3]){{0xEE, 1, 0xFFFFFFFFu}});
	memset(table, 0x83, 16);
	put(table + 32, 8, 100);
	put(table + 40, 8, 299);
	memset(table + 256, 0x83, 16);
	put(table + 256 + 32, 8, 500);
	put(table + 256 + 40, 8, 500);
	gpt_header(lba_size, 1, last, 2, table, 32);
	gpt_header(lba_size, last, 1, last - 32, table, 32);
}

START_TEST(partition__gpt__is_found_with_either_sector_size)
{
	static const uint64_t sizes[] = {512, 4096};
	uint64_t s = sizes[_i];

	gpt(s);
	expect(1, 100 * s, 200 * s);
	expect(3, 500 * s, s);
	expect_failure(2, -ENOENT, "PART_ABSENT");
	expect_failure(33, -ENOENT, "PART_ABSENT");
}
END_TEST

START_TEST(partition__gpt_with_a_damaged_copy__is_read_from_the_other)
{
	gpt(512);
	write_at(512 + 40, "x", 1); /* header */
	expect(1, 100 * 512, 200 * 512);
	gpt(512);
	write_at(1024 + 32, "x", 1); /* entries */
	expect(1, 100 * 512, 200 * 512);
}
END_TEST

START_TEST(partition__gpt_damaged_in_both_copies__is_refused)
{
	uint64_t last = DISK_SIZE / 512 - 1;

	gpt(512);
	write_at(512 + 40, "x", 1);
	write_at(last * 512 + 40, "x", 1);
	expect_failure(1, -EUCLEAN, "PART_GPT_HEADER");
	gpt(512);
	write_at(1024 + 32, "x", 1);
	write_at((last - 32) * 512 + 32, "x", 1);
	expect_failure(1, -EBADMSG, "PART_GPT_ENTRIES");
}
END_TEST

START_TEST(partition__gpt_that_lies__is_refused)
{
	uint8_t table[32 * 128] = {0};
	uint64_t last = DISK_SIZE / 512 - 1;

	gpt(512);
	memset(table, 0x83, 16);
	put(table + 32, 8, 300);
	put(table + 40, 8, 200);
	memset(table + 128, 0x83, 16);
	put(table + 128 + 32, 8, UINT64_MAX / 512);
	put(table + 128 + 40, 8, UINT64_MAX - 1);
	gpt_header(512, 1, last, 2, table, 32);
	write_at(last * 512, "x", 1);
	expect_failure(1, -EUCLEAN, "PART_GPT_HEADER"); /* the newest: the second copy was tried */
	expect_failure(2, -EINVAL, "WINDOW_RANGE");
}
END_TEST

START_TEST(open__partition_then_offset__counts_from_the_partition)
{
	struct e4_blockdev *dev;
	char text[20] = {0};
	FILE *f = fopen("partition_test.img", "w");
	uint8_t sector[512] = {
		[446 + 4] = 0x83, [446 + 8] = 64, [446 + 12] = 64, [510] = 0x55, [511] = 0xAA};

	ck_assert_ptr_nonnull(f);
	fwrite(sector, 512, 1, f);
	fseek(f, 64 * 512 + 1024, SEEK_SET);
	fputs("inside", f);
	fseek(f, 128 * 512, SEEK_SET);
	fputc(0, f);
	fclose(f);
	int r = e4_blockdev_open("file:partition_test.img,part=1,offset=1K,size=2K", 0, NULL, &dev);
	remove("partition_test.img");
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(dev->geo.size, 2048);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, text, 6), 0);
	ck_assert_str_eq(text, "inside");
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blockdev/partition");
	TCase *tc = tcase_create("partition tables");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, crc32_ieee__digits__is_the_standard_value_also_in_pieces);
	tcase_add_test(tc, partition__mbr__primaries_and_logicals_are_found);
	tcase_add_test(tc, partition__mbr_chain_in_a_circle__ends);
	tcase_add_test(tc, partition__mbr_chain_into_nothing__names_the_block);
	tcase_add_test(tc, partition__no_table__says_so);
	tcase_add_loop_test(tc, partition__gpt__is_found_with_either_sector_size, 0, 2);
	tcase_add_test(tc, partition__gpt_with_a_damaged_copy__is_read_from_the_other);
	tcase_add_test(tc, partition__gpt_damaged_in_both_copies__is_refused);
	tcase_add_test(tc, partition__gpt_that_lies__is_refused);
	tcase_add_test(tc, open__partition_then_offset__counts_from_the_partition);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
