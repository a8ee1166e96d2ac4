/*
 * inline_data_test.c - files and directories whose data is in the inode.
 */
#include "fixture.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static struct inode ip;
static const char rest[] = "0123456789abcdef";

static void setup(void)
{
	fx_setup();
	fx.super.feature_incompat = le32_put(le32_get(fx.super.feature_incompat) |
					     FEATURE_INCOMPAT_INLINE_DATA |
					     FEATURE_INCOMPAT_EA_INODE);
	fx_load();
}

/* An inline inode of `size` bytes: 60 letters, then `value_len` bytes of `rest` in the attribute given. */
static int load_inline(uint16_t mode, uint32_t size, struct fx_xattr x, bool in_block)
{
	struct fx_inode i = fx_inode_new(mode);

	i.d.flags = le32_put(INODE_FL_INLINE_DATA);
	i.d.size_lo = le32_put(size);
	for (uint32_t n = 0; n < sizeof(i.d.block); n++)
		i.d.block[n] = (uint8_t)('A' + n % 26);
	if (in_block) {
		i.d.file_acl_lo = le32_put(FX_DATA);
		fx_xattr_in_block(FX_DATA, &x, 1);
	} else if (x.name != NULL) {
		fx_xattr_in_inode(&i, &x, 1);
	}
	fx_put(FX_FILE, &i);
	return inode_load(fx.vol, FX_FILE, INODE_FOR_USE, &ip);
}

static struct fx_xattr system_data(uint32_t len)
{
	return (struct fx_xattr){
		.index = XATTR_INDEX_SYSTEM, .name = "data", .value = rest, .size = len};
}

START_TEST(inline_data_read__both_parts__are_joined)
{
	char all[76], piece[76];

	ck_assert_int_eq(load_inline(INODE_REG | 0644, 76, system_data(16), false), 0);
	ck_assert_int_eq(inline_data_read(&ip, 0, all, 76), 0);
	ck_assert_int_eq(all[0], 'A');
	ck_assert_int_eq(all[59], 'A' + 59 % 26);
	ck_assert_mem_eq(all + 60, rest, 16);
	for (uint64_t from = 0; from < 76; from++) {
		memset(piece, 0, sizeof(piece));
		ck_assert_int_eq(inline_data_read(&ip, from, piece, 76 - from), 0);
		ck_assert_mem_eq(piece, all + from, (size_t)(76 - from));
		ck_assert_int_eq(inline_data_read(&ip, from, piece, 1), 0);
		ck_assert_int_eq(piece[0], all[from]);
	}
	ck_assert_int_eq(inline_data_read(&ip, 76, piece, 0), 0);
	inode_unload(&ip);
}
END_TEST

START_TEST(inline_data_read__short_file__has_an_empty_attribute)
{
	char buf[10];

	ck_assert_int_eq(load_inline(INODE_REG | 0644, 10, system_data(0), false), 0);
	ck_assert_int_eq(inline_data_read(&ip, 0, buf, 10), 0);
	ck_assert_mem_eq(buf, "ABCDEFGHIJ", 10);
	inode_unload(&ip);
}
END_TEST

START_TEST(inline_data_parts__directory__gives_the_attributes_bytes)
{
	const uint8_t *value;
	struct buf *b;
	uint32_t len;

	ck_assert_int_eq(load_inline(INODE_DIR | 0755, 76, system_data(16), false), 0);
	ck_assert_int_eq(inline_data_parts(&ip, &value, &len, &b), 0);
	ck_assert_uint_eq(len, 16);
	ck_assert_mem_eq(value, rest, 16);
	buf_put(b);
	inode_unload(&ip);
}
END_TEST

START_TEST(inline_data_read__size_beyond_what_is_stored__reads_zeros_there)
{
	char whole[100];
	char part[100];

	ck_assert_int_eq(load_inline(INODE_REG | 0644, 100, system_data(16), false), 0);
	memset(whole, 'x', sizeof(whole));
	ck_assert_int_eq(inline_data_read(&ip, 0, whole, 100), 0);
	ck_assert_mem_eq(whole, ip.block, 60);
	ck_assert_mem_eq(whole + 60, rest, 16);
	for (unsigned i = 76; i < 100; i++)
		ck_assert_int_eq(whole[i], 0);
	for (unsigned from = 0; from <= 100; from++) {
		memset(part, 'x', sizeof(part));
		ck_assert_int_eq(inline_data_read(&ip, from, part, 100 - from), 0);
		ck_assert_mem_eq(part, whole + from, 100 - from);
	}
	inode_unload(&ip);
}
END_TEST

START_TEST(inline_data_read__attribute_missing_or_elsewhere__is_corrupt)
{
	struct fx_xattr external = system_data(16);
	char buf[80];
	const uint8_t *value;
	struct buf *b;
	uint32_t len;

	ck_assert_int_eq(load_inline(INODE_REG | 0644, 10, (struct fx_xattr){0}, false), 0);
	ck_assert_int_eq(inline_data_read(&ip, 0, buf, 10), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "INLINE_NO_DATA");
	inode_unload(&ip);
	ck_assert_int_eq(load_inline(INODE_REG | 0644, 76, system_data(16), true), 0);
	ck_assert_int_eq(inline_data_parts(&ip, &value, &len, &b), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "INLINE_NO_DATA");
	inode_unload(&ip);
	external.value_ino = 30;
	ck_assert_int_eq(load_inline(INODE_REG | 0644, 76, external, false), 0);
	ck_assert_int_eq(inline_data_read(&ip, 0, buf, 76), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "INLINE_EXTERNAL");
	inode_unload(&ip);
}
END_TEST

START_TEST(inline_data_read__attribute_changed_under_us__is_looked_up_again__bug_63)
{
	char buf[80];
	struct buf *b;
	const uint8_t *raw;

	ck_assert_int_eq(load_inline(INODE_REG | 0644, 76, system_data(16), false), 0);
	ck_assert_int_eq(inode_raw(fx.vol, FX_FILE, &b, &raw), 0);
	b->data[raw - b->data + 164 + 2] = 0xFF; /* e_value_offs */
	ck_assert_int_eq(inline_data_read(&ip, 0, buf, 76), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "XATTR_VALUE_BOUNDS");
	buf_put(b);
	inode_unload(&ip);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inode/inline_data");
	TCase *tc = tcase_create("inline_data");

	tcase_add_checked_fixture(tc, setup, fx_teardown);
	tcase_add_test(tc, inline_data_read__both_parts__are_joined);
	tcase_add_test(tc, inline_data_read__short_file__has_an_empty_attribute);
	tcase_add_test(tc, inline_data_parts__directory__gives_the_attributes_bytes);
	tcase_add_test(tc, inline_data_read__size_beyond_what_is_stored__reads_zeros_there);
	tcase_add_test(tc, inline_data_read__attribute_missing_or_elsewhere__is_corrupt);
	tcase_add_test(tc, inline_data_read__attribute_changed_under_us__is_looked_up_again__bug_63);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
