/*
 * volume_test.c - the superblock's validation, descriptors, bitmaps and zones, on a volume laid out by hand in memory: 1 KiB blocks,
 * two groups of 8,192 blocks, 128 inodes each, no features but what a case switches on.
 */
#include "base/bits.h"
#include "format/csum.h"
#include "unit.h"
#include "volume/volume.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define BLOCK  1024u
#define BLOCKS 16384u
#define BPG    8192u
#define IPG    128u

static struct env *env;
static struct e4_blockdev *dev;
static struct disk_super super;
static struct volume *vol;
static struct volume_options opts;

static void write_at(uint64_t offset, const void *data, size_t len)
{
	ck_assert_int_eq(blockdev_write(dev, offset, data, len, 0), 0);
}

static void write_desc(group_t g, uint16_t flags)
{
	uint8_t raw[sizeof(struct disk_group_desc)] = {0}; /* of which 32 bytes count */
	struct disk_group_desc *d = (void *)raw;
	pblk_t first = 1 + (pblk_t)g * BPG;

	d->block_bitmap_lo = le32_put((uint32_t)first + 2);
	d->inode_bitmap_lo = le32_put((uint32_t)first + 3);
	d->inode_table_lo = le32_put((uint32_t)first + 4);
	d->free_blocks_count_lo = le16_put(100);
	d->free_inodes_count_lo = le16_put(10);
	d->flags = le16_put(flags);
	d->checksum = le16_put(csum_group_desc_crc16(super.uuid, g, raw, 32));
	write_at(2 * BLOCK + g * 32, raw, 32);
}

static void setup(void)
{
	ck_assert_int_eq(env_new(NULL, 0, &env), 0);
	ck_assert_int_eq(blockdev_mem_new(env, (uint64_t)BLOCK * BLOCKS, &dev), 0);
	memset(&super, 0, sizeof(super));
	super.inodes_count = le32_put(2 * IPG);
	super.blocks_count_lo = le32_put(BLOCKS);
	super.first_data_block = le32_put(1);
	super.blocks_per_group = le32_put(BPG);
	super.clusters_per_group = le32_put(BPG);
	super.inodes_per_group = le32_put(IPG);
	super.magic = le16_put(SUPER_MAGIC);
	super.rev_level = le32_put(1);
	super.first_ino = le32_put(11);
	super.inode_size = le16_put(128);
	memset(super.uuid, 0x42, sizeof(super.uuid));
	write_desc(0, 0);
	write_desc(1, 0);
	memset(&opts, 0, sizeof(opts));
	opts.cache_limit_bytes = 1 << 20;
	vol = NULL;
}

static void teardown(void)
{
	volume_free(vol);
	blockdev_free(dev);
	env_put(env);
}

static int load(void)
{
	write_at(SUPER_OFFSET, &super, sizeof(super));
	volume_free(vol);
	vol = NULL;
	return volume_load(env, dev, &opts, &vol);
}

static const char *last_text(void)
{
	static struct e4_error e;

	e.struct_size = sizeof(e);
	(void)error_last(env, &e);
	return e.text;
}

START_TEST(volume_load__sound_superblock__gives_the_geometry)
{
	ck_assert_int_eq(load(), 0);
	ck_assert_uint_eq(vol->groups_count, 2);
	ck_assert_uint_eq(vol->block_size, BLOCK);
	ck_assert_uint_eq(vol->desc_size, 32);
	ck_assert_uint_eq(vol->hash_seed[0], 0x67452301);
	ck_assert_uint_eq(volume_group_first_block(vol, 1), 8193);
	ck_assert_uint_eq(volume_group_clusters(vol, 1), BLOCKS - 8193);
}
END_TEST

/* One impossible field at a time. */
struct breakage {
	const char *field;
	void (*apply)(void);
	int err;
};

static void break_magic(void)
{
	super.magic = le16_put(0);
}
static void break_block_size(void)
{
	super.log_block_size = le32_put(7);
}
static void break_block_size_huge(void)
{
	super.log_block_size = le32_put(UINT32_MAX);
}
static void break_cluster(void)
{
	super.log_cluster_size = le32_put(3);
}
static void break_inode_size(void)
{
	super.inode_size = le16_put(0);
}
static void break_inode_size_odd(void)
{
	super.inode_size = le16_put(192);
}
static void break_inode_size_big(void)
{
	super.inode_size = le16_put(2048);
}
static void break_first_ino(void)
{
	super.first_ino = le32_put(3);
}
static void break_ipg(void)
{
	super.inodes_per_group = le32_put(0);
}
static void break_ipg_odd(void)
{
	super.inodes_per_group = le32_put(IPG + 1);
}
static void break_bpg(void)
{
	super.blocks_per_group = le32_put(0);
}
static void break_bpg_big(void)
{
	super.blocks_per_group = le32_put(8 * BLOCK + 8);
}
static void break_first_block(void)
{
	super.first_data_block = le32_put(0);
}
static void break_first_block_big(void)
{
	super.first_data_block = le32_put(UINT32_MAX);
}
static void break_blocks(void)
{
	super.blocks_count_lo = le32_put(BLOCKS + 1);
}
static void break_inodes(void)
{
	super.inodes_count = le32_put(2 * IPG + 8);
}
static void break_gdt(void)
{
	super.reserved_gdt_blocks = le16_put(BLOCK);
}
static void break_hash(void)
{
	super.def_hash_version = 6;
}
static void break_csum(void)
{
	super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_METADATA_CSUM);
	super.checksum_type = 1;
}
static void break_csum_type(void)
{
	super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_METADATA_CSUM);
}
static void break_desc(void)
{
	super.feature_incompat = le32_put(FEATURE_INCOMPAT_64BIT);
}
static void break_meta_bg(void)
{
	super.feature_incompat = le32_put(FEATURE_INCOMPAT_META_BG);
	super.first_meta_bg = le32_put(9);
}
static void break_encoding(void)
{
	super.feature_incompat = le32_put(FEATURE_INCOMPAT_CASEFOLD);
	super.encoding = le16_put(9);
}
static void break_compression(void)
{
	super.feature_incompat = le32_put(FEATURE_INCOMPAT_COMPRESSION);
}
static void break_dirdata(void)
{
	super.feature_incompat = le32_put(FEATURE_INCOMPAT_DIRDATA);
}
static void break_unknown(void)
{
	super.feature_incompat = le32_put(0x80000000u);
}
static void break_journal_dev(void)
{
	super.feature_incompat = le32_put(FEATURE_INCOMPAT_JOURNAL_DEV);
}

static const struct breakage breakages[] = {
	{"magic", break_magic, -EINVAL},
	{"s_log_block_size", break_block_size, -EUCLEAN},
	{"s_log_block_size", break_block_size_huge, -EUCLEAN},
	{"s_log_cluster_size", break_cluster, -EUCLEAN},
	{"s_inode_size", break_inode_size, -EUCLEAN},
	{"s_inode_size", break_inode_size_odd, -EUCLEAN},
	{"s_inode_size", break_inode_size_big, -EUCLEAN},
	{"s_first_ino", break_first_ino, -EUCLEAN},
	{"s_inodes_per_group", break_ipg, -EUCLEAN},
	{"s_inodes_per_group", break_ipg_odd, -EUCLEAN},
	{"s_clusters_per_group", break_bpg, -EUCLEAN},
	{"s_clusters_per_group", break_bpg_big, -EUCLEAN},
	{"s_first_data_block", break_first_block, -EUCLEAN},
	{"s_first_data_block", break_first_block_big, -EUCLEAN},
	{"larger than its device", break_blocks, -EUCLEAN},
	{"s_inodes_count", break_inodes, -EUCLEAN},
	{"s_reserved_gdt_blocks", break_gdt, -EUCLEAN},
	{"s_def_hash_version", break_hash, -EUCLEAN},
	{"checksum", break_csum, -EBADMSG},
	{"s_checksum_type", break_csum_type, -EUCLEAN},
	{"s_desc_size", break_desc, -EUCLEAN},
	{"s_first_meta_bg", break_meta_bg, -EUCLEAN},
	{"s_encoding", break_encoding, -EUCLEAN},
	{"compression", break_compression, -EOPNOTSUPP},
	{"dirdata", break_dirdata, -EOPNOTSUPP},
	{"incompat bit 0x80000000", break_unknown, -EOPNOTSUPP},
	{"journal_dev", break_journal_dev, -EOPNOTSUPP},
};

START_TEST(volume_load__impossible_field__is_refused_by_name)
{
	const struct breakage *b = &breakages[_i];

	b->apply();
	ck_assert_int_eq(load(), b->err);
	ck_assert_msg(strstr(last_text(), b->field) != NULL, "%s: %s", b->field, last_text());
}
END_TEST

START_TEST(volume_load__unknown_ro_compat__reads_and_names_it)
{
	super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_SHARED_BLOCKS | 0x40000000u);
	ck_assert_int_eq(load(), 0);
	ck_assert_ptr_nonnull(strstr(vol->read_only_reason, "shared_blocks"));
	ck_assert_ptr_nonnull(strstr(vol->read_only_reason, "ro_compat bit 0x40000000"));
	ck_assert(!volume_may_recover_for_good(vol));
}
END_TEST

START_TEST(volume_load__every_bit_of_the_superblock_flipped__loads_or_refuses)
{
	for (size_t bit = 0; bit < 8 * sizeof(super); bit++) {
		uint8_t *byte = (uint8_t *)&super + bit / 8;
		struct group_desc gd;

		*byte ^= (uint8_t)(1u << bit % 8);
		int r = load();
		if (r == 0)
			(void)!volume_group(vol, vol->groups_count - 1, &gd);
		else
			ck_assert_int_lt(r, 0);
		*byte ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

START_TEST(volume_group__wrong_crc16__is_EBADMSG_for_a_writer_and_reported_to_a_reader)
{
	struct group_desc gd;
	uint8_t junk = 0x77;

	super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_GDT_CSUM);
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(volume_group(vol, 1, &gd), 0);
	ck_assert_uint_eq(gd.inode_table, 8193 + 4);
	write_at(2 * BLOCK + 32 + 10, &junk, 1);
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(volume_group(vol, 0, &gd), 0);
	ck_assert_int_eq(volume_group(vol, 1, &gd), -EBADMSG);
	opts.read_only = true;
	ck_assert_int_eq(load(), 0);
	uint64_t before = error_count(env);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(volume_group(vol, 1, &gd), 0);
	ck_assert_uint_eq(error_count(env), before + 1);
	opts.read_only = false;
	opts.ignore_csum = true;
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(volume_group(vol, 1, &gd), 0);
}
END_TEST

START_TEST(volume_block_bitmap__uninitialised__is_computed)
{
	struct group_desc gd;
	uint8_t *bitmap;

	super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_GDT_CSUM);
	write_desc(1, GROUP_BLOCK_UNINIT | GROUP_INODE_UNINIT);
	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(volume_group(vol, 1, &gd), 0);
	ck_assert_int_eq(volume_block_bitmap(vol, 1, &gd, &bitmap), 0);
	/* Superblock and descriptors, two bitmaps, 16 blocks of inodes; then free up to the volume's end, then padding. */
	ck_assert_uint_eq(bits_next_zero(bitmap, 0, 8 * BLOCK), 4 + 16);
	ck_assert_uint_eq(bits_next_set(bitmap, 4 + 16, 8 * BLOCK), BLOCKS - 8193);
	mem_free(env, bitmap, BLOCK);
	ck_assert_int_eq(volume_inode_bitmap(vol, 1, &gd, &bitmap), 0);
	ck_assert_uint_eq(bits_next_set(bitmap, 0, 8 * BLOCK), IPG);
	mem_free(env, bitmap, BLOCK);
}
END_TEST

START_TEST(volume_check_mapping__metadata_and_outside__are_refused)
{
	static const struct {
		pblk_t pblk;
		uint64_t len;
		int err;
	} cases[] = {
		{0, 1, -EUCLEAN},
		{1, 1, -EUCLEAN},
		{2, 1, -EUCLEAN},
		{3, 1, -EUCLEAN},
		{5, 1, -EUCLEAN},
		{20, 1, -EUCLEAN},
		{21, 1, 0},
		{21, 8172, 0},
		{21, 8173, -EUCLEAN},
		{8193, 1, -EUCLEAN},
		{8192, 1, 0},
		{8212, 1, -EUCLEAN},
		{8213, 1, 0},
		{BLOCKS - 1, 1, 0},
		{BLOCKS - 1, 2, -EUCLEAN},
		{BLOCKS, 1, -EUCLEAN},
		{UINT64_MAX, 2, -EUCLEAN},
		{30, UINT64_MAX, -EUCLEAN},
	};

	ck_assert_int_eq(load(), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(
			volume_check_mapping(vol, 12, cases[i].pblk, cases[i].len) == cases[i].err,
			"case %zu", i);
}
END_TEST

START_TEST(volume_inode_location__number_out_of_range__is_refused)
{
	pblk_t pblk;
	uint32_t offset;

	ck_assert_int_eq(load(), 0);
	ck_assert_int_eq(volume_inode_location(vol, 0, &pblk, &offset), -EUCLEAN);
	ck_assert_int_eq(volume_inode_location(vol, 2 * IPG + 1, &pblk, &offset), -EUCLEAN);
	ck_assert_int_eq(volume_inode_location(vol, 2 * IPG, &pblk, &offset), 0);
	ck_assert_uint_eq(pblk, 8193 + 4 + 15);
	ck_assert_uint_eq(offset, BLOCK - 128);
}
END_TEST

START_TEST(volume_group_has_super__by_feature)
{
	static const group_t sparse[] = {0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125};
	unsigned found = 0;

	super.feature_ro_compat = le32_put(FEATURE_RO_COMPAT_SPARSE_SUPER);
	ck_assert_int_eq(load(), 0);
	for (group_t g = 0; g <= 125; g++) {
		if (volume_group_has_super(vol, g))
			ck_assert_uint_eq(sparse[found++], g);
	}
	ck_assert_uint_eq(found, sizeof(sparse) / sizeof(sparse[0]));
	super.feature_ro_compat = le32_put(0);
	super.feature_compat = le32_put(FEATURE_COMPAT_SPARSE_SUPER2);
	super.backup_bgs[1] = le32_put(17);
	ck_assert_int_eq(load(), 0);
	ck_assert(volume_group_has_super(vol, 0) && volume_group_has_super(vol, 17) &&
		  !volume_group_has_super(vol, 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("volume/volume");
	TCase *tc = tcase_create("volume");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, volume_load__sound_superblock__gives_the_geometry);
	tcase_add_loop_test(tc, volume_load__impossible_field__is_refused_by_name, 0,
		sizeof(breakages) / sizeof(breakages[0]));
	tcase_add_test(tc, volume_load__unknown_ro_compat__reads_and_names_it);
	tcase_add_test(tc, volume_load__every_bit_of_the_superblock_flipped__loads_or_refuses);
	tcase_add_test(
		tc, volume_group__wrong_crc16__is_EBADMSG_for_a_writer_and_reported_to_a_reader);
	tcase_add_test(tc, volume_block_bitmap__uninitialised__is_computed);
	tcase_add_test(tc, volume_check_mapping__metadata_and_outside__are_refused);
	tcase_add_test(tc, volume_inode_location__number_out_of_range__is_refused);
	tcase_add_test(tc, volume_group_has_super__by_feature);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
