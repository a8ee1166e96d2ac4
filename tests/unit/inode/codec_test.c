/*
 * codec_test.c - an inode's fields from disk and back, by the vectors of format/inode.md.
 */
#include "fixture.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define ARRAY_LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* --- times --- */

static const struct time_case {
	int64_t sec;
	uint32_t nsec;
	uint32_t base, extra;
} time_cases[] = {
	{-1, 5, 0xFFFFFFFF, 0x14},
	{INT64_C(1) << 31, 1, 0x80000000, 5},
	{INT64_C(1) << 32, 999999999, 0, 0xEE6B27FD},
	{INT64_C(1) << 33, 7, 0, 0x1E},
	{0, 0, 0, 0},
	{-(INT64_C(1) << 31), 0, 0x80000000, 0},
	{(INT64_C(1) << 31) - 1, 0, 0x7FFFFFFF, 0},
	{(INT64_C(1) << 34) - (INT64_C(1) << 31) - 1, 0, 0x7FFFFFFF, 3},
};

START_TEST(inode_decode__time_with_epoch_bits__gives_seconds_and_nanoseconds)
{
	const struct time_case *c = &time_cases[_i];
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.mtime = i.d.atime = i.d.ctime = i.d.crtime = le32_put(c->base);
	i.d.mtime_extra = i.d.atime_extra = i.d.ctime_extra = i.d.crtime_extra = le32_put(c->extra);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	const struct inode_time *times[] = {&ip.atime, &ip.mtime, &ip.ctime, &ip.btime};
	for (int t = 0; t < 4; t++) {
		ck_assert_int_eq(times[t]->sec, c->sec);
		ck_assert_uint_eq(times[t]->nsec, c->nsec);
	}
	ck_assert(ip.has_btime);
}
END_TEST

START_TEST(inode_encode__time__puts_the_verified_bytes)
{
	const struct time_case *c = &time_cases[_i];
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ip.mtime = (struct inode_time){c->sec, c->nsec};
	inode_encode(&ip, i.raw);
	ck_assert_uint_eq(le32_get(i.d.mtime), c->base);
	ck_assert_uint_eq(le32_get(i.d.mtime_extra), c->extra);
}
END_TEST

START_TEST(inode_decode__nanoseconds_of_more_than_a_second__are_carried)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.mtime = le32_put(100);
	i.d.mtime_extra = le32_put(0xFFFFFFFC);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_int_eq(ip.mtime.sec, 101);
	ck_assert_uint_eq(ip.mtime.nsec, (1u << 30) - 1 - 1000000000u);
}
END_TEST

START_TEST(inode_encode__time_out_of_range__is_clamped)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ip.mtime.sec = INT64_C(1) << 40;
	ip.atime.sec = -(INT64_C(1) << 40);
	inode_encode(&ip, i.raw);
	ck_assert_uint_eq(le32_get(i.d.mtime), 0x7FFFFFFF);
	ck_assert_uint_eq(le32_get(i.d.mtime_extra), 3);
	ck_assert_uint_eq(le32_get(i.d.atime), 0x80000000);
	ck_assert_uint_eq(le32_get(i.d.atime_extra), 0);
}
END_TEST

/* --- which fields exist --- */

START_TEST(inode_decode__classic_inode__has_no_extra_fields)
{
	struct inode ip;

	fx.super.inode_size = le16_put(128);
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	memset(i.raw + 128, 0xFF, 128);
	i.d.mtime = le32_put(0xFFFFFFFF);
	i.d.version_lo = le32_put(7);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_int_eq(ip.mtime.sec, -1);
	ck_assert_uint_eq(ip.mtime.nsec, 0);
	ck_assert(!ip.has_btime);
	ck_assert_uint_eq(ip.version, 7);
	ck_assert_uint_eq(ip.extra_isize, 0);
	ck_assert_uint_eq(ip.projid, 0);
}
END_TEST

START_TEST(inode_decode__short_extra_isize__stops_where_it_says)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.extra_isize = le16_put(12); /* checksum, ctime, mtime; not atime, not crtime */
	i.d.ctime_extra = i.d.mtime_extra = i.d.atime_extra = le32_put(8);
	i.d.crtime = le32_put(9);
	i.d.version_hi = le32_put(1);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.ctime.nsec, 2);
	ck_assert_uint_eq(ip.mtime.nsec, 2);
	ck_assert_uint_eq(ip.atime.nsec, 0);
	ck_assert(!ip.has_btime);
	ck_assert_uint_eq(ip.version, 0);
}
END_TEST

START_TEST(inode_decode__no_extra_isize_on_large_inode__takes_all_fields_as_linux_does)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.extra_isize = le16_put(0);
	i.d.mtime_extra = le32_put(8);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.extra_isize, 32);
	ck_assert_uint_eq(ip.mtime.nsec, 2);
	ck_assert(ip.has_btime);
	ck_assert(!ip.in_inode_xattrs);
}
END_TEST

START_TEST(inode_decode__split_fields__are_joined)
{
	struct inode ip;

	fx.super.feature_ro_compat = le32_put(
		le32_get(fx.super.feature_ro_compat) | FEATURE_RO_COMPAT_PROJECT);
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 06751);
	i.d.uid_lo = le16_put(0x1234);
	i.d.uid_hi = le16_put(0x00AB);
	i.d.gid_lo = le16_put(0x5678);
	i.d.gid_hi = le16_put(0xFFFF);
	i.d.version_lo = le32_put(3);
	i.d.version_hi = le32_put(4);
	i.d.projid = le32_put(77);
	i.d.links_count = le16_put(9);
	i.d.generation = le32_put(0xDEADBEEF);
	i.d.dtime = le32_put(5);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.mode, INODE_REG | 06751);
	ck_assert_uint_eq(ip.uid, 0x00AB1234);
	ck_assert_uint_eq(ip.gid, 0xFFFF5678);
	ck_assert_uint_eq(ip.version, UINT64_C(0x400000003));
	ck_assert_uint_eq(ip.projid, 77);
	ck_assert_uint_eq(ip.nlink, 9);
	ck_assert_uint_eq(ip.generation, 0xDEADBEEF);
	ck_assert_uint_eq(ip.dtime, 5);
}
END_TEST

START_TEST(inode_decode__volume_of_the_hurd__has_no_version)
{
	struct inode ip;

	fx.super.creator_os = le32_put(1);
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.version_lo = le32_put(3);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.version, 0);
}
END_TEST

/* --- sizes, blocks, devices --- */

static const struct size_case {
	uint16_t mode;
	uint32_t incompat;
	uint64_t want;
} size_cases[] = {
	{INODE_REG | 0644, 0, UINT64_C(0x100000014)},
	{INODE_REG | 0644, FEATURE_INCOMPAT_LARGEDIR, UINT64_C(0x100000014)},
	{INODE_DIR | 0755, 0, 0x14},
	{INODE_DIR | 0755, FEATURE_INCOMPAT_LARGEDIR, UINT64_C(0x100000014)},
	{INODE_FIFO | 0644, FEATURE_INCOMPAT_LARGEDIR, 0x14},
};

START_TEST(inode_decode__high_half_of_size__counts_for_files_and_large_dirs)
{
	const struct size_case *c = &size_cases[_i];
	struct inode ip;

	fx.super.feature_incompat = le32_put(le32_get(fx.super.feature_incompat) | c->incompat);
	fx_load();
	struct fx_inode i = fx_inode_new(c->mode);
	i.d.flags = le32_put(INODE_FL_EXTENTS);
	i.d.size_lo = le32_put(0x14);
	i.d.size_hi = le32_put(1);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.size, c->want);
}
END_TEST

START_TEST(inode_decode__i_blocks__follows_feature_and_flag)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.blocks_lo = le32_put(6);
	i.d.blocks_hi = le16_put(1);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.blocks512, UINT64_C(0x100000006));
	i.d.flags = le32_put(INODE_FL_HUGE_FILE);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.blocks512, UINT64_C(0x20000000C));
	fx.super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_EXTRA_ISIZE);
	fx_load();
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.blocks512, 6);
}
END_TEST

START_TEST(inode_encode__i_blocks_beyond_48_bits__turns_to_blocks_with_the_flag)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ip.blocks512 = (UINT64_C(1) << 48) + 2;
	inode_encode(&ip, i.raw);
	ck_assert_uint_eq(le32_get(i.d.flags), INODE_FL_HUGE_FILE);
	ck_assert_uint_eq(le32_get(i.d.blocks_lo), 1);
	ck_assert_uint_eq(le16_get(i.d.blocks_hi), 0x8000);
	ip.blocks512 = 8;
	inode_encode(&ip, i.raw);
	ck_assert_uint_eq(le32_get(i.d.flags), 0);
	ck_assert_uint_eq(le32_get(i.d.blocks_lo), 8);
	ck_assert_uint_eq(le16_get(i.d.blocks_hi), 0);
}
END_TEST

static const struct rdev_case {
	uint16_t mode;
	uint32_t first, second, major, minor;
} rdev_cases[] = {
	{INODE_CHR | 0600, 0x0103, 0, 1, 3},
	{INODE_BLK | 0600, 0xFFFF, 0, 255, 255},
	{INODE_CHR | 0600, 0, 0x11112C70, 300, 70000},
	{INODE_CHR | 0600, 0, 0xFFFFFFFF, 0xFFF, 0xFFFFF},
	{INODE_BLK | 0600, 0xABCD0801, 0x11112C70, 8, 1},
	{INODE_FIFO | 0600, 0x0103, 0, 0, 0},
};

START_TEST(inode_decode__device_number__in_either_encoding)
{
	const struct rdev_case *c = &rdev_cases[_i];
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(c->mode);
	struct le32 words[2] = {le32_put(c->first), le32_put(c->second)};
	memcpy(i.d.block, words, sizeof(words));
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.rdev_major, c->major);
	ck_assert_uint_eq(ip.rdev_minor, c->minor);
}
END_TEST

START_TEST(inode_decode__high_half_of_file_acl__counts_with_64bit_only)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.file_acl_lo = le32_put(FX_DATA);
	i.d.file_acl_hi = le16_put(1);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(ip.file_acl, FX_DATA);
}
END_TEST

/* --- writing back --- */

START_TEST(inode_encode__nothing_changed__keeps_every_byte)
{
	struct inode ip;
	struct fx_inode before;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	for (uint32_t n = 160; n < FX_INODE_SIZE; n++)
		i.raw[n] = (uint8_t)n; /* no attribute magic: unknown bytes */
	i.d.faddr = le32_put(0x11111111);
	i.d.reserved = le16_put(0x2222);
	i.d.version_lo = le32_put(0x33333333);
	i.d.size_lo = le32_put(5);
	i.d.mtime = le32_put(0x80000001);
	i.d.mtime_extra = le32_put(3999999999u);
	i.d.blocks_lo = le32_put(99);
	i.d.crtime = le32_put(1);
	memset(i.d.block, 0x5A, sizeof(i.d.block));
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	before = i;
	inode_encode(&ip, i.raw);
	ck_assert_mem_eq(i.raw, before.raw, FX_INODE_SIZE);
}
END_TEST

START_TEST(inode_encode__fields_changed__are_there_after_decoding)
{
	struct inode ip, again;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ip.mode = INODE_REG | 0600;
	ip.nlink = 3;
	ip.size = UINT64_C(0x100000001);
	ip.flags = INODE_FL_EXTENTS | INODE_FL_NOATIME;
	ip.blocks512 = 24;
	ip.file_acl = FX_DATA + 1;
	ip.dtime = 0x12345678;
	ip.block[0] = 0x0A;
	inode_encode(&ip, i.raw);
	ck_assert_int_eq(inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_USE, &again), 0);
	inode_unload(&again);
	ck_assert_uint_eq(again.mode, ip.mode);
	ck_assert_uint_eq(again.nlink, 3);
	ck_assert_uint_eq(again.size, ip.size);
	ck_assert_uint_eq(again.flags, ip.flags);
	ck_assert_uint_eq(again.blocks512, 24);
	ck_assert_uint_eq(again.file_acl, FX_DATA + 1);
	ck_assert_uint_eq(again.dtime, 0x12345678);
	ck_assert_uint_eq(again.block[0], 0x0A);
}
END_TEST

/* --- fast links --- */

static const struct link_case {
	uint32_t incompat, size, blocks, acl, flags;
	bool fast;
} link_cases[] = {
	{0, 5, 0, 0, 0, true},
	{0, 5, 2, 0, 0, false},
	{0, 5, 2, FX_DATA, 0, true},
	{0, 5, 4, FX_DATA, 0, false},
	{0, 5, 0, 0, INODE_FL_INLINE_DATA, false},
	{FEATURE_INCOMPAT_EA_INODE, 5, 8, 0, 0, true}, /* bug_68: blocks of values elsewhere */
	{FEATURE_INCOMPAT_EA_INODE, 59, 0, 0, 0, true},
	{FEATURE_INCOMPAT_EA_INODE, 60, 2, 0, 0, false},
	{FEATURE_INCOMPAT_EA_INODE, 0, 0, 0, 0, false},
	{FEATURE_INCOMPAT_EA_INODE, 5, 2, 0, INODE_FL_EXTENTS, false},
};

START_TEST(inode_is_fast_symlink__both_ways_to_tell__bug_68)
{
	const struct link_case *c = &link_cases[_i];

	fx.super.feature_incompat = le32_put(le32_get(fx.super.feature_incompat) | c->incompat);
	fx_load();
	struct inode ip = {
		.vol = fx.vol,
		.mode = INODE_LNK | 0777,
		.size = c->size,
		.blocks512 = c->blocks,
		.file_acl = c->acl,
		.flags = c->flags,
	};
	ck_assert_int_eq(inode_is_fast_symlink(&ip), c->fast);
	ip.mode = INODE_REG | 0777;
	ck_assert(!inode_is_fast_symlink(&ip));
}
END_TEST

/* --- stat --- */

static const struct crypt_link_case {
	uint64_t size, blocks;
	uint16_t cipher; /* as stored in a fast link */
	uint64_t want;
} crypt_link_cases[] = {
	{34, 0, 32, 54}, /* verified */
	{18, 0, 16, 32},
	{151, 2, 0, 210},
	{152, 2, 0, 252},
	{900, 2, 0, 252},
};

START_TEST(inode_to_stat__encrypted_link__has_the_length_of_its_no_key_target)
{
	const struct crypt_link_case *c = &crypt_link_cases[_i];
	struct e4_stat st = {.struct_size = sizeof(st)};

	fx_load();
	struct inode ip = {
		.vol = fx.vol,
		.mode = INODE_LNK | 0777,
		.flags = INODE_FL_ENCRYPT,
		.size = c->size,
		.blocks512 = c->blocks,
		.block = {(uint8_t)c->cipher, (uint8_t)(c->cipher >> 8)},
	};
	inode_to_stat(&ip, &st);
	ck_assert_uint_eq(st.size, c->want);
}
END_TEST

START_TEST(inode_to_stat__all_fields__are_the_inodes)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0640);
	i.d.flags = le32_put(
		0xFFFFFFFF & ~(INODE_FL_INLINE_DATA | INODE_FL_CASEFOLD | INODE_FL_EA_INODE));
	i.d.size_lo = le32_put(1000);
	i.d.blocks_lo = le32_put(1); /* of 1 KiB, by HUGE_FILE */
	i.d.crtime = le32_put(11);
	i.d.crtime_extra = le32_put(4 * 12);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	inode_to_stat(&ip, &st);
	ck_assert_uint_eq(st.struct_size, sizeof(st));
	ck_assert_uint_eq(st.ino, FX_FILE);
	ck_assert_uint_eq(st.mode, INODE_REG | 0640);
	ck_assert_uint_eq(st.flags,
		0x725BDFFFu & ~(INODE_FL_INLINE_DATA | INODE_FL_CASEFOLD | INODE_FL_PROJINHERIT));
	ck_assert_uint_eq(st.size, 1000);
	ck_assert_uint_eq(st.blocks, 2);
	ck_assert_uint_eq(st.blksize, FX_BLOCK);
	ck_assert_uint_eq(st.has_btime, 1);
	ck_assert_int_eq(st.btime.sec, 11);
	ck_assert_uint_eq(st.btime.nsec, 12);
}
END_TEST

START_TEST(inode_to_stat__inline_file__pretends_blocks_as_the_kernel_does)
{
	struct e4_stat st = {.struct_size = sizeof(st)};

	fx_load();
	struct inode ip = {
		.vol = fx.vol, .mode = INODE_REG | 0644, .flags = INODE_FL_INLINE_DATA, .size = 40};
	inode_to_stat(&ip, &st);
	ck_assert_uint_eq(st.blocks, 1);
	ip.mode = INODE_DIR | 0755;
	inode_to_stat(&ip, &st);
	ck_assert_uint_eq(st.blocks, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inode/codec");
	TCase *tc = tcase_create("codec");

	tcase_add_checked_fixture(tc, fx_setup, fx_teardown);
	tcase_add_loop_test(tc, inode_decode__time_with_epoch_bits__gives_seconds_and_nanoseconds,
		0, ARRAY_LEN(time_cases));
	tcase_add_loop_test(
		tc, inode_encode__time__puts_the_verified_bytes, 0, ARRAY_LEN(time_cases));
	tcase_add_test(tc, inode_decode__nanoseconds_of_more_than_a_second__are_carried);
	tcase_add_test(tc, inode_encode__time_out_of_range__is_clamped);
	tcase_add_test(tc, inode_decode__classic_inode__has_no_extra_fields);
	tcase_add_test(tc, inode_decode__short_extra_isize__stops_where_it_says);
	tcase_add_test(
		tc, inode_decode__no_extra_isize_on_large_inode__takes_all_fields_as_linux_does);
	tcase_add_test(tc, inode_decode__split_fields__are_joined);
	tcase_add_test(tc, inode_decode__volume_of_the_hurd__has_no_version);
	tcase_add_loop_test(tc, inode_decode__high_half_of_size__counts_for_files_and_large_dirs, 0,
		ARRAY_LEN(size_cases));
	tcase_add_test(tc, inode_decode__i_blocks__follows_feature_and_flag);
	tcase_add_test(tc, inode_encode__i_blocks_beyond_48_bits__turns_to_blocks_with_the_flag);
	tcase_add_loop_test(
		tc, inode_decode__device_number__in_either_encoding, 0, ARRAY_LEN(rdev_cases));
	tcase_add_test(tc, inode_decode__high_half_of_file_acl__counts_with_64bit_only);
	tcase_add_test(tc, inode_encode__nothing_changed__keeps_every_byte);
	tcase_add_test(tc, inode_encode__fields_changed__are_there_after_decoding);
	tcase_add_loop_test(
		tc, inode_is_fast_symlink__both_ways_to_tell__bug_68, 0, ARRAY_LEN(link_cases));
	tcase_add_loop_test(tc, inode_to_stat__encrypted_link__has_the_length_of_its_no_key_target,
		0, ARRAY_LEN(crypt_link_cases));
	tcase_add_test(tc, inode_to_stat__all_fields__are_the_inodes);
	tcase_add_test(tc, inode_to_stat__inline_file__pretends_blocks_as_the_kernel_does);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
