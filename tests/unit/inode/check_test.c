/*
 * check_test.c - what is refused when an inode is loaded, with which errno and reason.
 */
#include "fixture.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#define ARRAY_LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* --- one broken rule at a time --- */

static void break_mode(struct fx_inode *i)
{
	i->d.mode = le16_put(0x3000 | 0644);
}

static void break_mode_zero(struct fx_inode *i)
{
	i->d.mode = le16_put(0);
}

static void break_extra_odd(struct fx_inode *i)
{
	i->d.extra_isize = le16_put(30);
}

static void break_extra_large(struct fx_inode *i)
{
	i->d.extra_isize = le16_put(132);
}

static void break_free(struct fx_inode *i)
{
	i->d.links_count = le16_put(0);
}

static void break_size(struct fx_inode *i)
{
	i->d.size_hi = le32_put(0xFFFFFFFF);
}

static void break_size_blockmap(struct fx_inode *i)
{
	/* Beyond 12 + 256 + 256^2 + 256^3 blocks. */
	i->d.size_hi = le32_put(5);
}

static void break_inline_extents(struct fx_inode *i)
{
	i->d.flags = le32_put(INODE_FL_INLINE_DATA | INODE_FL_EXTENTS);
}

static void break_casefold(struct fx_inode *i)
{
	i->d.flags = le32_put(INODE_FL_CASEFOLD);
}

static void break_index(struct fx_inode *i)
{
	i->d.flags = le32_put(INODE_FL_INDEX);
}

static void break_acl_outside(struct fx_inode *i)
{
	i->d.file_acl_lo = le32_put(FX_BLOCKS);
}

static void break_acl_metadata(struct fx_inode *i)
{
	i->d.file_acl_lo = le32_put(FX_TABLE + 1);
}

static void break_ea(struct fx_inode *i)
{
	i->d.flags = le32_put(INODE_FL_EA_INODE);
}

static void make_link(struct fx_inode *i)
{
	i->d.mode = le16_put(INODE_LNK | 0777);
	memcpy(i->d.block, "target", 6);
	i->d.size_lo = le32_put(6);
}

static void break_link_immutable(struct fx_inode *i)
{
	make_link(i);
	i->d.flags = le32_put(INODE_FL_IMMUTABLE);
}

static void break_link_append(struct fx_inode *i)
{
	make_link(i);
	i->d.flags = le32_put(INODE_FL_APPEND);
}

static void break_link_short(struct fx_inode *i)
{
	make_link(i);
	i->d.size_lo = le32_put(5);
}

static void break_link_long(struct fx_inode *i)
{
	make_link(i);
	i->d.size_lo = le32_put(7);
}

static void break_link_empty(struct fx_inode *i)
{
	make_link(i);
	i->d.size_lo = le32_put(0);
}

static void break_link_sixty(struct fx_inode *i)
{
	make_link(i);
	memset(i->d.block, 'x', sizeof(i->d.block));
	i->d.size_lo = le32_put(60);
}

static void break_xattr(struct fx_inode *i)
{
	struct fx_xattr x = {.index = XATTR_INDEX_USER, .name = "a", .value = "v", .size = 1};

	fx_xattr_in_inode(i, &x, 1);
	i->raw[164] = 255; /* name_len of the first entry */
}

static const struct breakage {
	void (*apply)(struct fx_inode *i);
	int err;
	const char *why;
	uint32_t drop_compat; /* features the volume shall lack */
} breakages[] = {
	{break_mode, -EUCLEAN, "INODE_MODE", 0},
	{break_mode_zero, -EUCLEAN, "INODE_MODE", 0},
	{break_extra_odd, -EUCLEAN, "INODE_EXTRA_ISIZE", 0},
	{break_extra_large, -EUCLEAN, "INODE_EXTRA_ISIZE", 0},
	{break_free, -ESTALE, "INODE_FREE", 0},
	{break_size, -EUCLEAN, "INODE_SIZE", 0},
	{break_size_blockmap, -EUCLEAN, "INODE_SIZE", 0},
	{break_inline_extents, -EUCLEAN, "INODE_INLINE_EXTENTS", 0},
	{break_casefold, -EUCLEAN, "INODE_CASEFOLD", 0},
	{break_index, -EUCLEAN, "INODE_INDEX", FEATURE_COMPAT_DIR_INDEX},
	{break_acl_outside, -EUCLEAN, "MAPPING_OUTSIDE", 0},
	{break_acl_metadata, -EUCLEAN, "MAPPING_METADATA", 0},
	{break_ea, -EUCLEAN, "INODE_EA_NAMED", 0},
	{break_link_immutable, -EUCLEAN, "INODE_LINK_FLAGS", 0},
	{break_link_append, -EUCLEAN, "INODE_LINK_FLAGS", 0},
	{break_link_short, -EUCLEAN, "INODE_FAST_LINK", 0},
	{break_link_long, -EUCLEAN, "INODE_FAST_LINK", 0},
	{break_link_empty, -EUCLEAN, "INODE_FAST_LINK", 0},
	{break_link_sixty, -EUCLEAN, "INODE_FAST_LINK", 0},
	{break_xattr, -EUCLEAN, "XATTR_NAME_BOUNDS", 0},
};

START_TEST(inode_decode__one_rule_broken__names_it)
{
	const struct breakage *b = &breakages[_i];
	struct inode ip;

	fx.super.feature_compat = le32_put(le32_get(fx.super.feature_compat) & ~b->drop_compat);
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	b->apply(&i);
	ck_assert_int_eq(fx_decode(&i, &ip), b->err);
	ck_assert_str_eq(fx_why(), b->why);
}
END_TEST

START_TEST(inode_decode__longest_fast_link__is_taken)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_LNK | 0777);
	memset(i.d.block, 'x', 59);
	i.d.size_lo = le32_put(59);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert(inode_is_fast_symlink(&ip));
}
END_TEST

/* --- checksums --- */

START_TEST(inode_decode__any_byte_flipped__is_a_wrong_checksum)
{
	struct inode ip;
	uint32_t bad = 0;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	for (uint32_t n = 0; n < FX_INODE_SIZE; n++) {
		if (n == 0x80 || n == 0x81)
			continue; /* i_extra_isize is judged before */
		i.raw[n] ^= 0x10;
		bad += inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_USE, &ip) == -EBADMSG;
		i.raw[n] ^= 0x10;
	}
	ck_assert_uint_eq(bad, FX_INODE_SIZE - 2);
	ck_assert_str_eq(fx_why(), "INODE_CSUM");
}
END_TEST

START_TEST(inode_decode__checksum_ignored__is_reported_and_goes_on)
{
	struct inode ip;

	fx.opts.ignore_csum = true;
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.uid_lo = le16_put(7);
	uint64_t before = error_count(fx.env);
	ck_assert_int_eq(inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_USE, &ip), 0);
	inode_unload(&ip);
	ck_assert_uint_eq(ip.uid, 7);
	ck_assert_uint_eq(error_count(fx.env), before + 1);
	ck_assert_str_eq(fx_why(), "INODE_CSUM");
}
END_TEST

START_TEST(inode_decode__high_half_of_checksum_has_no_room__compares_16_bits)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	i.d.extra_isize = le16_put(0);
	i.d.checksum_hi = le16_put(0x1234); /* bytes like others, kept */
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	ck_assert_uint_eq(le16_get(i.d.checksum_hi), 0x1234);
	i.d.checksum_hi = le16_put(0x1235);
	ck_assert_int_eq(inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_USE, &ip), -EBADMSG);
}
END_TEST

START_TEST(inode_decode__slot_of_zeros__is_free_and_needs_no_checksum)
{
	struct fx_inode i;
	struct inode ip;

	fx_load();
	memset(&i, 0, sizeof(i));
	ck_assert_int_eq(inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_USE, &ip), -ESTALE);
	ck_assert_int_eq(inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_ORPHAN, &ip), -ESTALE);
	ck_assert_int_eq(inode_decode(fx.vol, INODE_JOURNAL, i.raw, INODE_FOR_SYSTEM, &ip), -EUCLEAN);
}
END_TEST

START_TEST(inode_decode__volume_of_the_hurd__keeps_no_checksums)
{
	struct inode ip;

	fx.super.creator_os = le32_put(1);
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);
	ck_assert_int_eq(inode_decode(fx.vol, FX_FILE, i.raw, INODE_FOR_USE, &ip), 0);
	inode_unload(&ip);
}
END_TEST

/* --- purposes --- */

static const struct purpose_case {
	inum_t ino;
	uint32_t flags;
	uint16_t links;
	enum inode_purpose purpose;
	int err;
} purpose_cases[] = {
	{2, 0, 1, INODE_FOR_USE, 0},
	{0, 0, 1, INODE_FOR_USE, -EUCLEAN},
	{FX_INODES + 1, 0, 1, INODE_FOR_USE, -EUCLEAN},
	{1, 0, 1, INODE_FOR_USE, -EUCLEAN},
	{8, 0, 1, INODE_FOR_USE, -EUCLEAN},
	{10, 0, 1, INODE_FOR_USE, -EUCLEAN},
	{11, 0, 1, INODE_FOR_USE, 0},
	{12, 0, 1, INODE_FOR_USE, -EUCLEAN}, /* the orphan file, see the test */
	{8, 0, 1, INODE_FOR_EA, -EUCLEAN},
	{8, 0, 1, INODE_FOR_SYSTEM, 0},
	{12, 0, 1, INODE_FOR_SYSTEM, 0},
	{8, 0, 0, INODE_FOR_SYSTEM, -EUCLEAN},
	{5, 0, 0, INODE_FOR_SYSTEM, 0},
	{20, 0, 0, INODE_FOR_USE, -ESTALE},
	{20, 0, 0, INODE_FOR_ORPHAN, 0},
	{20, INODE_FL_EA_INODE, 1, INODE_FOR_USE, -EUCLEAN},
	{20, INODE_FL_EA_INODE, 1, INODE_FOR_SYSTEM, -EUCLEAN},
	{20, INODE_FL_EA_INODE, 1, INODE_FOR_EA, 0},
	{20, INODE_FL_EA_INODE, 0, INODE_FOR_EA, -ESTALE},
	{20, INODE_FL_EA_INODE, 0, INODE_FOR_ORPHAN, 0},
	{20, 0, 1, INODE_FOR_EA, -EUCLEAN},
};

START_TEST(inode_load__purpose__decides_what_is_taken)
{
	const struct purpose_case *c = &purpose_cases[_i];
	struct inode ip;

	fx.super.orphan_file_inum = le32_put(12);
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	i.d.flags = le32_put(c->flags);
	i.d.links_count = le16_put(c->links);
	if (c->ino >= 1 && c->ino <= FX_INODES)
		fx_put(c->ino, &i);
	int r = inode_load(fx.vol, c->ino, c->purpose, &ip);
	ck_assert_int_eq(r, c->err);
	if (r == 0)
		inode_unload(&ip);
}
END_TEST

START_TEST(inode_load__ea_inode_with_attributes__is_corrupt)
{
	struct fx_xattr x = {.index = XATTR_INDEX_USER, .name = "a", .value = "v", .size = 1};
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	i.d.flags = le32_put(INODE_FL_EA_INODE);
	fx_xattr_in_inode(&i, &x, 1);
	fx_put(FX_FILE, &i);
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE, INODE_FOR_EA, &ip), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "INODE_EA_HAS_XATTRS");
}
END_TEST

START_TEST(inode_load__orphan_link_half_made__is_taken__bug_39)
{
	struct inode ip;

	fx_load();
	struct fx_inode i = fx_inode_new(INODE_LNK | 0777);
	i.d.links_count = le16_put(0);
	fx_put(FX_FILE, &i);
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE, INODE_FOR_ORPHAN, &ip), 0);
	inode_unload(&ip);
}
END_TEST

/* --- slots that were never initialised --- */

START_TEST(inode_load__beyond_the_used_part_of_the_table__is_free_whatever_is_there)
{
	struct inode ip;

	fx.itable_unused = FX_INODES - FX_FILE; /* FX_FILE is the last */
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	fx_put(FX_FILE, &i);
	fx_put(FX_FILE + 1, &i);
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE, INODE_FOR_USE, &ip), 0);
	inode_unload(&ip);
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE + 1, INODE_FOR_USE, &ip), -ESTALE);
	ck_assert_str_eq(fx_why(), "INODE_UNINIT");
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE + 1, INODE_FOR_SYSTEM, &ip), 0);
	inode_unload(&ip);
}
END_TEST

START_TEST(inode_load__group_without_inodes__has_none)
{
	struct inode ip;

	fx.group_flags = GROUP_INODE_UNINIT;
	fx_load();
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	fx_put(FX_FILE, &i);
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE, INODE_FOR_USE, &ip), -ESTALE);
}
END_TEST

START_TEST(inode_load__no_group_checksums__counts_of_unused_slots_mean_nothing)
{
	struct inode ip;

	fx.itable_unused = FX_INODES;
	fx_load_without_csum();
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	fx_put(FX_FILE, &i);
	ck_assert_int_eq(inode_load(fx.vol, FX_FILE, INODE_FOR_USE, &ip), 0);
	inode_unload(&ip);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inode/check");
	TCase *tc = tcase_create("check");

	tcase_add_checked_fixture(tc, fx_setup, fx_teardown);
	tcase_add_loop_test(tc, inode_decode__one_rule_broken__names_it, 0, ARRAY_LEN(breakages));
	tcase_add_test(tc, inode_decode__longest_fast_link__is_taken);
	tcase_add_test(tc, inode_decode__any_byte_flipped__is_a_wrong_checksum);
	tcase_add_test(tc, inode_decode__checksum_ignored__is_reported_and_goes_on);
	tcase_add_test(tc, inode_decode__high_half_of_checksum_has_no_room__compares_16_bits);
	tcase_add_test(tc, inode_decode__slot_of_zeros__is_free_and_needs_no_checksum);
	tcase_add_test(tc, inode_decode__volume_of_the_hurd__keeps_no_checksums);
	tcase_add_loop_test(
		tc, inode_load__purpose__decides_what_is_taken, 0, ARRAY_LEN(purpose_cases));
	tcase_add_test(tc, inode_load__ea_inode_with_attributes__is_corrupt);
	tcase_add_test(tc, inode_load__orphan_link_half_made__is_taken__bug_39);
	tcase_add_test(tc, inode_load__beyond_the_used_part_of_the_table__is_free_whatever_is_there);
	tcase_add_test(tc, inode_load__group_without_inodes__has_none);
	tcase_add_test(tc, inode_load__no_group_checksums__counts_of_unused_slots_mean_nothing);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
