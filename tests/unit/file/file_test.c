/*
 * file_test.c - bytes against a pattern that knows every offset: holes, unwritten extents, faults; links; verity; pointers.
 */
#include "../extent/maps.h"
#include "base/math.h"
#include "dir/dir.h"
#include "file/file.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 40u

static struct maps m;
static struct inode ip;
static struct maps_run runs[RUNS];
static uint32_t block;

static const uint32_t block_sizes[] = {1024, 4096, 65536};

static void open_blocks(uint32_t block_size)
{
	block = block_size;
	maps_open(&m, block, 8192);
	maps_inode_init(&m, &ip);
	maps_random_runs(&m, runs, RUNS, 5, 21);
}

static void setup(void)
{
	open_blocks(4096);
}

static void teardown(void)
{
	maps_inode_fini(&ip);
	maps_close(&m);
}

static void make_file(bool indirect)
{
	for (uint32_t i = 0; indirect && i < RUNS; i++)
		runs[i].unwritten = false;
	if (indirect)
		maps_write_indirect(&m, &ip, runs, RUNS);
	else
		maps_write_tree(&m, &ip, runs, RUNS, 8);
	maps_write_data(&m, runs, RUNS);
	/* Ends inside the last run's last block. */
	ip.size = ((uint64_t)runs[RUNS - 1].lblk + runs[RUNS - 1].len) * block - block / 3;
}

/* Every byte; of large blocks some, at both borders too, as the model is slow. */
static void assert_bytes(const uint8_t *got, uint64_t offset, uint64_t len)
{
	uint64_t step = len > 1 << 20 ? 211 : 1;
	uint64_t end = offset + len;

	for (uint64_t at = offset; at < end;) {
		uint64_t block_end = min_u64(end, (at / block + 1) * block);
		bool data = maps_find(runs, RUNS, (lblk_t)(at / block)).type == EXTENT_MAPPED;

		for (uint64_t i = at; i < block_end;
			i += i + step < block_end || i == block_end - 1 ? step : block_end - 1 - i) {
			if (got[i - offset] != (data ? maps_pattern(i) : 0))
				ck_abort_msg("byte %llu of the file is %02x", (unsigned long long)i,
					got[i - offset]);
		}
		at = block_end;
	}
}

/* A read into several pieces, and a guard behind each that must stay. */
static int64_t read_in_pieces(uint8_t *buf, uint64_t len, uint64_t offset, uint64_t *seed)
{
	struct e4_iovec iov[80];
	uint8_t *cut = malloc(len + 80 * 8);
	uint64_t at = 0;
	uint32_t count = 0;

	memset(cut, 0xA5, len + 80 * 8);
	while (at < len || count == 0) {
		uint64_t n = count == 79 ? len - at
					 : min_u64(len - at,
						   maps_random(seed) %
							   (1 + len / (1 + maps_random(seed) % 60)));

		iov[count] = (struct e4_iovec){.base = cut + at + 8 * count, .len = n};
		at += n;
		count++;
	}
	int64_t r = file_read(&ip, iov, count, offset);
	at = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *base = iov[i].base;

		memcpy(buf + at, base, iov[i].len);
		at += iov[i].len;
		for (uint32_t k = 0; k < 8; k++)
			ck_assert_uint_eq(base[iov[i].len + k], 0xA5);
	}
	free(cut);
	return r;
}

START_TEST(file_read__random_ranges__are_the_files_bytes)
{
	uint64_t seed = 9;

	teardown();
	open_blocks(block_sizes[_i / 2]);
	make_file(_i % 2 == 1);
	uint8_t *buf = malloc(ip.size + 3 * block);
	for (int i = 0; i < 150; i++) {
		uint64_t offset = maps_random(&seed) % (ip.size + block);
		uint64_t len = maps_random(&seed) % (i % 10 == 0 ? ip.size + block : 3 * block);
		uint64_t want = offset >= ip.size ? 0 : min_u64(len, ip.size - offset);

		ck_assert_int_eq(read_in_pieces(buf, len, offset, &seed), (int64_t)want);
		assert_bytes(buf, offset, want);
		/* One piece of memory inside one extent goes a shorter way. */
		memset(buf, 0xA5, (size_t)len);
		ck_assert_int_eq(
			file_read(&ip, &(struct e4_iovec){buf, len}, 1, offset), (int64_t)want);
		assert_bytes(buf, offset, want);
	}
	free(buf);
}
END_TEST

START_TEST(bug_14_file_read__rubbish_under_unwritten_blocks__is_never_seen)
{
	struct maps_run one = {.lblk = 0, .len = 4, .pblk = maps_first_free(&m), .unwritten = true};
	uint8_t buf[4 * 4096];
	struct e4_iovec iov = {.base = buf, .len = sizeof(buf)};

	maps_write_tree(&m, &ip, &one, 1, 0);
	maps_write_data(&m, &one, 1);
	ip.size = sizeof(buf);
	memset(buf, 1, sizeof(buf));
	ck_assert_int_eq(file_read(&ip, &iov, 1, 0), (int64_t)sizeof(buf));
	for (uint32_t i = 0; i < sizeof(buf); i++)
		ck_assert_uint_eq(buf[i], 0);
}
END_TEST

START_TEST(file_read__contiguous_extents__are_one_request)
{
	struct maps_run two[64];
	pblk_t at = maps_first_free(&m);
	struct context_totals before, after;
	uint8_t *buf = malloc(64 * 3 * 4096);
	struct e4_iovec iov = {.base = buf, .len = 64 * 3 * 4096};

	for (uint32_t i = 0; i < 64; i++)
		two[i] = (struct maps_run){.lblk = 3 * i, .len = 3, .pblk = at + 3 * i};
	memcpy(runs, two, sizeof(runs));
	maps_write_tree(&m, &ip, two, 64, 0);
	maps_write_data(&m, two, 64);
	ip.size = iov.len;
	ck_assert_int_eq(file_read(&ip, &iov, 1, 0), (int64_t)iov.len);
	context_sum(m.env, &before);
	ck_assert_int_eq(file_read(&ip, &iov, 1, 0), (int64_t)iov.len);
	context_sum(m.env, &after);
	ck_assert_uint_eq(after.dev_reads - before.dev_reads, 1);
	ck_assert_uint_eq(after.map_lookups - before.map_lookups, 64);
	ck_assert_uint_eq(after.map_misses, before.map_misses);
	assert_bytes(buf, 0, 40 * 3 * 4096);
	free(buf);
}
END_TEST

START_TEST(file_read__ends_and_mistakes__as_pread)
{
	uint8_t buf[16];
	struct e4_iovec iov[2] = {{.base = buf, .len = 16}, {.base = buf, .len = UINT64_MAX}};

	make_file(false);
	ck_assert_int_eq(file_read(&ip, iov, 0, 0), 0);
	ck_assert_int_eq(file_read(&ip, iov, 1, ip.size), 0);
	ck_assert_int_eq(file_read(&ip, iov, 1, INT64_MAX), 0);
	ck_assert_int_eq(file_read(&ip, iov, 1, ip.size - 3), 3);
	ck_assert_int_eq(file_read(&ip, iov, 1, (uint64_t)INT64_MAX + 1), -EINVAL);
	ck_assert_int_eq(file_read(&ip, iov, 2, 0), -EINVAL);
	ck_assert_int_eq(file_read_exact(&ip, buf, 16, ip.size - 16), 0);
	ck_assert_int_eq(file_read_exact(&ip, buf, 16, ip.size - 15), -EUCLEAN);
}
END_TEST

START_TEST(file_read__other_kinds__are_refused_by_kind)
{
	static const struct {
		uint16_t mode;
		uint32_t flags;
		int err;
	} kinds[] = {{INODE_DIR, 0, -EISDIR}, {INODE_LNK, 0, -EINVAL}, {INODE_CHR, 0, -EINVAL},
		{INODE_BLK, 0, -EINVAL}, {INODE_FIFO, 0, -EINVAL}, {INODE_SOCK, 0, -EINVAL},
		{INODE_REG, INODE_FL_ENCRYPT, -ENOKEY}};
	uint8_t buf[16];
	struct e4_iovec iov = {.base = buf, .len = 16};

	make_file(false);
	ip.mode = kinds[_i].mode;
	ip.flags |= kinds[_i].flags;
	ck_assert_int_eq(file_read(&ip, &iov, 1, 0), kinds[_i].err);
}
END_TEST

/* --- faults --- */

START_TEST(file_read__nth_read_fails__is_an_error_or_short_and_never_zeros)
{
	bool failed = true;

	teardown();
	open_blocks(block_sizes[_i]);
	make_file(false);
	uint8_t *buf = malloc(ip.size);
	struct e4_iovec iov = {.base = buf, .len = ip.size};
	for (uint64_t nth = 1; failed; nth++) {
		maps_forget(&m);
		extent_map_drop(&ip);
		memset(buf, 0xA5, ip.size);
		maps_fail_read(&m, nth);
		int64_t r = file_read(&ip, &iov, 1, 0);
		failed = maps_reads(&m) >= nth;
		ck_assert(failed ? r < (int64_t)ip.size : r == (int64_t)ip.size);
		ck_assert(r > 0 || r == -EIO);
		if (r > 0)
			assert_bytes(buf, 0, (uint64_t)r);
		/* Nothing that looks like an answer. */
		if (r < 0)
			ck_assert(buf[0] == 0xA5 && memcmp(buf, buf + 1, ip.size - 1) == 0);
		maps_fail_read(&m, 0);
		ck_assert_uint_lt(nth, 200);
	}
	free(buf);
}
END_TEST

/* A device with one bad block. */
static uint64_t bad_byte;
static int (*good_read)(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count);

static int read_but_bad(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < iov_count; i++)
		len += iov[i].len;
	if (bad_byte >= offset && bad_byte < offset + len)
		return -EIO;
	return good_read(ctx, offset, iov, iov_count);
}

START_TEST(file_read__bad_block_in_a_run__gives_what_precedes_it_then_the_error)
{
	struct maps_run one = {.lblk = 0, .len = 100, .pblk = maps_first_free(&m)};
	uint8_t *buf = malloc(100 * 4096);
	uint64_t seed = 5;

	runs[0] = one;
	maps_write_tree(&m, &ip, &one, 1, 0);
	maps_write_data(&m, &one, 1);
	ip.size = 100 * 4096;
	good_read = m.fault->ops.read;
	m.fault->ops.read = read_but_bad;
	for (int i = 0; i < 300; i++) {
		uint64_t bad = maps_random(&seed) % 100;
		uint64_t offset = maps_random(&seed) % ip.size;
		uint64_t len = 1 + maps_random(&seed) % (ip.size - offset);
		struct e4_iovec iov = {.base = buf, .len = len};

		bad_byte = (one.pblk + bad) * 4096 + 7;
		/* Which bytes of the block are bad a device does not say; only whether it was asked for. */
		bool hit = offset <= bad * 4096 + 7 && offset + len > bad * 4096 + 7;
		int64_t r = file_read(&ip, &iov, 1, offset);
		if (!hit) {
			ck_assert_int_eq(r, (int64_t)len);
		} else if (offset / 4096 == bad) {
			ck_assert_int_eq(r, -EIO);
		} else {
			ck_assert_int_eq(r, (int64_t)(bad * 4096 - offset));
			assert_bytes(buf, offset, (uint64_t)r);
			iov.len -= (uint64_t)r;
			ck_assert_int_eq(file_read(&ip, &iov, 1, offset + (uint64_t)r), -EIO);
		}
	}
	free(buf);
}
END_TEST

/* --- links --- */

static void make_link(const char *target, uint64_t size, bool slow)
{
	uint8_t b[4096] = {0};

	ip.mode = INODE_LNK | 0777;
	ip.size = size;
	extent_map_drop(&ip);
	if (slow) {
		struct maps_run one = {.lblk = 0, .len = 1, .pblk = maps_first_free(&m)};

		memcpy(b, target, (size_t)min_u64(size, 4096));
		maps_write_tree(&m, &ip, &one, 1, 0);
		maps_write_block(&m, one.pblk, b);
		ip.blocks512 = 8;
	} else {
		ip.flags = 0;
		memset(ip.block, 0, sizeof(ip.block));
		memcpy(ip.block, target, (size_t)min_u64(size, sizeof(ip.block)));
		ip.blocks512 = 0;
	}
}

START_TEST(file_readlink__fast_and_slow__give_the_target_and_its_length)
{
	char target[4096], buf[4096];

	memset(target, 'x', sizeof(target));
	for (uint32_t len = 1; len < 4096; len += len < 70 ? 1 : 805) {
		for (int slow = len >= 60; slow < 2; slow++) {
			make_link(target, len, slow);
			memset(buf, 0, sizeof(buf));
			ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), len);
			ck_assert_mem_eq(buf, target, len);
			ck_assert_int_eq(buf[len], 0);
			memset(buf, 0, sizeof(buf));
			ck_assert_int_eq(file_readlink(&ip, buf, 1), len);
			ck_assert_int_eq(buf[1], 0);
			ck_assert_int_eq(file_readlink(&ip, NULL, 0), len);
		}
	}
}
END_TEST

START_TEST(file_readlink__hostile_length_or_content__is_euclean)
{
	char buf[8192];
	char target[8192];

	memset(target, 'x', sizeof(target));
	make_link(target, 0, _i == 0);
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_link(target, 60, false);
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_link(target, 4096, true);
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_link(target, UINT32_MAX, _i == 0);
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	target[5] = 0;
	make_link(target, 20, _i == 0);
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	/* A block that is not there. */
	make_link(target, 20, true);
	maps_write_tree(&m, &ip, NULL, 0, 0);
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	ip.mode = INODE_REG;
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EINVAL);
}
END_TEST

START_TEST(file_readlink__encrypted__gives_the_name_without_key)
{
	char stored[64] = {32, 0};
	char buf[300] = {0}, want[256];
	struct dir_hash h = {0};

	for (int i = 0; i < 32; i++)
		stored[2 + i] = (char)(i * 7);
	make_link(stored, 34, false);
	ip.flags |= INODE_FL_ENCRYPT;
	uint32_t len = dir_nokey_name(&h, (const uint8_t *)stored + 2, 32, want);
	ck_assert_uint_eq(len, 54); /* FORMAT: st_size is 54 where the disk says 34 */
	ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), len);
	ck_assert_str_eq(buf, want);
	static const uint8_t lengths[] = {0, 15, 33, 255};
	for (uint32_t i = 0; i < sizeof(lengths); i++) {
		ip.block[0] = lengths[i];
		ck_assert_int_eq(file_readlink(&ip, buf, sizeof(buf)), -EUCLEAN);
	}
}
END_TEST

/* --- values of attributes --- */

START_TEST(file_read_ea__only_what_is_marked_and_as_long_as_said)
{
	uint8_t buf[100];

	make_file(false);
	ip.size = 100;
	ck_assert_int_eq(file_read_ea(&ip, buf, 100), -EUCLEAN);
	ip.flags |= INODE_FL_EA_INODE;
	ck_assert_int_eq(file_read_ea(&ip, buf, 99), -EUCLEAN);
	ck_assert_int_eq(file_read_ea(&ip, buf, 100), 0);
	assert_bytes(buf, 0, 100);
}
END_TEST

/* --- verity --- */

#define VERITY_AT 65536u

/* A file of 1000 bytes; its tree takes one block, the descriptor begins in the next and its length ends the last. */
static void make_verity(uint32_t desc_len, uint64_t data_size)
{
	uint8_t b[3 * 4096] = {0};
	struct maps_run two[] = {
		{.lblk = 0, .len = 1, .pblk = maps_first_free(&m)},
		{.lblk = VERITY_AT / 4096, .len = 3, .pblk = maps_first_free(&m) + 10},
	};
	struct le32 word = le32_put(desc_len);
	struct le64 size = le64_put(data_size);

	extent_map_drop(&ip);
	maps_write_tree(&m, &ip, two, 2, 0);
	ip.size = 1000;
	ip.flags |= INODE_FL_VERITY;
	b[2 * 4096] = 1;
	b[2 * 4096 + 4] = (uint8_t)(desc_len > 256 && desc_len < 512 ? desc_len - 256 : 0);
	memcpy(b + 2 * 4096 + 8, &size, sizeof(size));
	memset(b + 2 * 4096 + 256, 'S', 100);
	memcpy(b + sizeof(b) - 4, &word, sizeof(word));
	for (uint32_t i = 0; i < 3; i++)
		maps_write_block(&m, two[1].pblk + i, b + i * 4096);
}

START_TEST(file_verity_descriptor__behind_the_file__is_found_from_the_end)
{
	uint8_t buf[400] = {0};

	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -ENODATA);
	make_verity(256, 1000);
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), 256);
	ck_assert_uint_eq(buf[0], 1);
	ck_assert_uint_eq(buf[256], 0);
	make_verity(300, 1000);
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), 300);
	ck_assert_uint_eq(buf[299], 'S');
	ck_assert_uint_eq(buf[300], 0);
	memset(buf, 0, sizeof(buf));
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, 10), 300);
	ck_assert_uint_eq(buf[0], 1);
	ck_assert_uint_eq(buf[10], 0);
	ck_assert_int_eq(file_verity_descriptor(&ip, NULL, 0), 300);
}
END_TEST

START_TEST(file_verity_descriptor__hostile_place__is_euclean)
{
	uint8_t buf[300];

	make_verity(0, 1000);
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_verity(UINT32_MAX, 1000);
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_verity(16384, 1000); /* would begin inside the file */
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_verity(256, 1001);
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
	make_verity(256, 1000);
	ip.size = VERITY_AT + 1; /* nothing behind it */
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
	extent_map_drop(&ip);
	maps_write_tree(&m, &ip, NULL, 0, 0);
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
	ip.flags &= ~INODE_FL_EXTENTS;
	ck_assert_int_eq(file_verity_descriptor(&ip, buf, sizeof(buf)), -EUCLEAN);
}
END_TEST

/* --- pointers --- */

START_TEST(file_dax_map__device_in_memory__points_at_the_bytes)
{
	const void *at = NULL;
	uint64_t len = 0;

	make_file(false);
	m.vol->dev = m.mem;
	if (!m.mem->geo.can_map) {
		ck_assert_int_eq(file_dax_map(&ip, 0, 1, &at, &len), -EOPNOTSUPP);
		return;
	}
	for (uint32_t i = 0; i < RUNS; i++) {
		uint64_t offset = (uint64_t)runs[i].lblk * block + 5;
		uint64_t end = min_u64(((uint64_t)runs[i].lblk + runs[i].len) * block, ip.size);
		int r = file_dax_map(&ip, offset, UINT64_MAX, &at, &len);

		if (runs[i].unwritten) {
			ck_assert_int_eq(r, -ENODATA);
			continue;
		}
		ck_assert_int_eq(r, 0);
		ck_assert_uint_eq(len, end - offset);
		assert_bytes(at, offset, len);
	}
	ck_assert_int_eq(file_dax_map(&ip, ip.size, 1, &at, &len), -EINVAL);
	ck_assert_int_eq(file_dax_map(&ip, 0, 0, &at, &len), -EINVAL);
	ip.flags |= INODE_FL_ENCRYPT;
	ck_assert_int_eq(file_dax_map(&ip, 0, 1, &at, &len), -ENOKEY);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, file_read__random_ranges__are_the_files_bytes, 0, 6);
	tcase_add_test(tc, bug_14_file_read__rubbish_under_unwritten_blocks__is_never_seen);
	tcase_add_test(tc, file_read__contiguous_extents__are_one_request);
	tcase_add_test(tc, file_read__ends_and_mistakes__as_pread);
	tcase_add_loop_test(tc, file_read__other_kinds__are_refused_by_kind, 0, 7);
	tcase_add_loop_test(
		tc, file_read__nth_read_fails__is_an_error_or_short_and_never_zeros, 0, 3);
	tcase_add_test(tc, file_read__bad_block_in_a_run__gives_what_precedes_it_then_the_error);
	tcase_add_test(tc, file_readlink__fast_and_slow__give_the_target_and_its_length);
	tcase_add_loop_test(tc, file_readlink__hostile_length_or_content__is_euclean, 0, 2);
	tcase_add_test(tc, file_readlink__encrypted__gives_the_name_without_key);
	tcase_add_test(tc, file_read_ea__only_what_is_marked_and_as_long_as_said);
	tcase_add_test(tc, file_verity_descriptor__behind_the_file__is_found_from_the_end);
	tcase_add_test(tc, file_verity_descriptor__hostile_place__is_euclean);
	tcase_add_test(tc, file_dax_map__device_in_memory__points_at_the_bytes);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
