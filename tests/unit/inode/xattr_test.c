/*
 * xattr_test.c - attributes in the inode, in a block and in inodes of their own, as the system calls show them; hostile areas.
 */
#include "base/crc32c.h"
#include "fixture.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define EA_INO       30u

static struct inode_cache *cache;

static void setup(void)
{
	fx_setup();
	fx.super.feature_incompat = le32_put(
		le32_get(fx.super.feature_incompat) | FEATURE_INCOMPAT_EA_INODE);
	fx_load();
	ck_assert_int_eq(inode_cache_new(fx.vol, NULL, 4, &cache), 0);
}

static void teardown(void)
{
	inode_cache_free(cache);
	fx_teardown();
}

/* A file (or what mode says) with attributes in the inode and in a block. */
static struct inode *get_with(uint16_t mode, const struct fx_xattr *in, uint32_t in_count,
	const struct fx_xattr *blk, uint32_t blk_count)
{
	struct fx_inode i = fx_inode_new(mode);
	struct inode *ip;

	if ((mode & INODE_TYPE_MASK) == INODE_LNK) {
		i.d.block[0] = 'x';
		i.d.size_lo = le32_put(1);
	}
	if (in_count > 0)
		fx_xattr_in_inode(&i, in, in_count);
	if (blk_count > 0) {
		i.d.file_acl_lo = le32_put(FX_DATA);
		fx_xattr_in_block(FX_DATA, blk, blk_count);
	}
	fx_put(FX_FILE, &i);
	ck_assert_int_eq(inode_get(cache, FX_FILE, 0, &ip), 0);
	return ip;
}

#define VALUE(i, n, v)                                                                             \
	{                                                                                          \
		.index = (i), .name = (n), .value = (v), .size = sizeof(v) - 1                     \
	}

static const struct fx_xattr in_inode[] = {
	VALUE(XATTR_INDEX_USER, "b", "in inode"),
	VALUE(XATTR_INDEX_TRUSTED, "t", ""),
	VALUE(XATTR_INDEX_SYSTEM, "data", "inl"),
};
static const struct fx_xattr in_block[] = {
	VALUE(XATTR_INDEX_USER, "a", "in block"),
	VALUE(XATTR_INDEX_LUSTRE, "lov", "x"),
	VALUE(XATTR_INDEX_SECURITY, "selinux", "context"),
	VALUE(XATTR_INDEX_SYSTEM, "other", "x"),
	VALUE(XATTR_INDEX_RICHACL, "", "x"),
	VALUE(XATTR_INDEX_ENCRYPTION, "c", "0123456789012345678901234567"),
	VALUE(XATTR_INDEX_HURD, "translator", "/hurd/null"),
	VALUE(XATTR_INDEX_VERITY, "v", "0123456789abcdef"),
	VALUE(12, "future", "x"),
	VALUE(0, "none", "x"),
};

START_TEST(xattr_list__both_places__in_order_without_hidden_indexes)
{
	static const char want[] = "user.b\0trusted.t\0user.a\0security.selinux\0gnu.translator";
	char buf[256];
	struct inode *ip = get_with(
		INODE_REG | 0644, in_inode, ARRAY_LEN(in_inode), in_block, ARRAY_LEN(in_block));

	ck_assert_int_eq(xattr_list(ip, NULL, 0), sizeof(want));
	ck_assert_int_eq(xattr_list(ip, buf, sizeof(want)), sizeof(want));
	ck_assert_mem_eq(buf, want, sizeof(want));
	ck_assert_int_eq(xattr_list(ip, buf, sizeof(want) - 1), -ERANGE);
	inode_put(ip, 1);
}
END_TEST

static const struct get_case {
	const char *name;
	int64_t want;
	const char *value;
} get_cases[] = {
	{"user.b", 8, "in inode"},
	{"user.a", 8, "in block"},
	{"trusted.t", 0, ""},
	{"security.selinux", 7, "context"},
	{"gnu.translator", 10, "/hurd/null"},
	{"user.c", -ENODATA, NULL},
	{"user.aa", -ENODATA, NULL},
	{"user.", -EINVAL, NULL},
	{"user", -EOPNOTSUPP, NULL},
	{"lustre.lov", -EOPNOTSUPP, NULL},
	{"system.data", -EOPNOTSUPP, NULL},
	{"system.other", -EOPNOTSUPP, NULL},
	{"system.richacl", -EOPNOTSUPP, NULL},
	{"system.posix_acl_access", -ENODATA, NULL},
	{"system.posix_acl_access.", -EOPNOTSUPP, NULL},
	{"c", -EOPNOTSUPP, NULL},
	{"none", -EOPNOTSUPP, NULL},
	{"", -ERANGE, NULL},
};

START_TEST(xattr_get__name__answers_as_the_kernel)
{
	const struct get_case *c = &get_cases[_i];
	char buf[64];
	struct inode *ip = get_with(
		INODE_REG | 0644, in_inode, ARRAY_LEN(in_inode), in_block, ARRAY_LEN(in_block));

	ck_assert_int_eq(xattr_get(ip, c->name, NULL, 0), c->want);
	ck_assert_int_eq(xattr_get(ip, c->name, buf, sizeof(buf)), c->want);
	if (c->want > 0) {
		ck_assert_mem_eq(buf, c->value, (size_t)c->want);
		ck_assert_int_eq(xattr_get(ip, c->name, buf, (uint64_t)c->want), c->want);
		if (c->want > 1)
			ck_assert_int_eq(xattr_get(ip, c->name, buf, (uint64_t)c->want - 1), -ERANGE);
	}
	inode_put(ip, 1);
}
END_TEST

START_TEST(xattr_get__name_too_long__is_a_range_error)
{
	char name[300];
	struct inode *ip = get_with(INODE_REG | 0644, in_inode, 1, NULL, 0);

	memset(name, 'x', sizeof(name));
	memcpy(name, "user.", 5);
	name[256] = '\0';
	ck_assert_int_eq(xattr_get(ip, name, NULL, 0), -ERANGE);
	name[255] = '\0';
	ck_assert_int_eq(xattr_get(ip, name, NULL, 0), -ENODATA);
	inode_put(ip, 1);
}
END_TEST

START_TEST(xattr_get__user_attribute_of_a_link__does_not_exist)
{
	struct fx_xattr x[] = {
		VALUE(XATTR_INDEX_USER, "b", "1"), VALUE(XATTR_INDEX_TRUSTED, "b", "2")};
	char buf[8];
	struct inode *ip = get_with(INODE_LNK | 0777, x, 2, NULL, 0);

	ck_assert_int_eq(xattr_get(ip, "user.b", NULL, 0), -ENODATA);
	ck_assert_int_eq(xattr_get(ip, "trusted.b", buf, sizeof(buf)), 1);
	ck_assert_int_eq(xattr_get(ip, "system.posix_acl_access", NULL, 0), -EOPNOTSUPP);
	inode_put(ip, 1);
}
END_TEST

START_TEST(xattr_find__internal_attribute__is_found_with_its_bytes)
{
	struct xattr_value v;
	struct inode *ip = get_with(
		INODE_REG | 0644, in_inode, ARRAY_LEN(in_inode), in_block, ARRAY_LEN(in_block));

	ck_assert_int_eq(xattr_find(ip, XATTR_INDEX_ENCRYPTION, "c", 1, &v), 1);
	ck_assert_uint_eq(v.size, 28);
	ck_assert_mem_eq(v.data, "0123456789012345678901234567", 28);
	buf_put(v.buf);
	ck_assert_int_eq(xattr_find(ip, XATTR_INDEX_ENCRYPTION, "d", 1, &v), 0);
	ck_assert_int_eq(xattr_find(ip, XATTR_INDEX_VERITY, "c", 1, &v), 0);
	inode_put(ip, 1);
}
END_TEST

START_TEST(xattr_list__no_attributes__is_empty)
{
	struct inode *ip = get_with(INODE_REG | 0644, NULL, 0, NULL, 0);

	ck_assert_int_eq(xattr_list(ip, NULL, 0), 0);
	ck_assert_int_eq(xattr_get(ip, "user.b", NULL, 0), -ENODATA);
	inode_put(ip, 1);
}
END_TEST

/* --- ACLs --- */

/* user::rw-, user:1000:r--, group::r--, mask::r--, other::--- */
static const uint8_t acl_disk[] = {1, 0, 0, 0, 1, 0, 6, 0, 2, 0, 4, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0,
	0x10, 0, 4, 0, 0x20, 0, 0, 0};
static const uint8_t acl_api[] = {2, 0, 0, 0, 1, 0, 6, 0, 0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 4, 0, 0xE8,
	3, 0, 0, 4, 0, 4, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0, 4, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x20, 0,
	0, 0, 0xFF, 0xFF, 0xFF, 0xFF};

START_TEST(xattr_get__acl__comes_in_the_form_of_the_system_calls)
{
	static const char names[] = "system.posix_acl_access\0system.posix_acl_default";
	struct fx_xattr x[] = {
		{.index = XATTR_INDEX_ACL_ACCESS,
			.name = "",
			.value = acl_disk,
			.size = sizeof(acl_disk)},
		{.index = XATTR_INDEX_ACL_DEFAULT,
			.name = "",
			.value = acl_disk,
			.size = sizeof(acl_disk)},
	};
	uint8_t buf[64];
	char list[64];
	struct inode *ip = get_with(INODE_DIR | 0755, NULL, 0, x, 2);

	ck_assert_int_eq(xattr_get(ip, "system.posix_acl_access", NULL, 0), sizeof(acl_api));
	ck_assert_int_eq(xattr_get(ip, "system.posix_acl_access", buf, sizeof(acl_api) - 1), -ERANGE);
	ck_assert_int_eq(
		xattr_get(ip, "system.posix_acl_default", buf, sizeof(buf)), sizeof(acl_api));
	ck_assert_mem_eq(buf, acl_api, sizeof(acl_api));
	ck_assert_int_eq(xattr_list(ip, list, sizeof(list)), sizeof(names));
	ck_assert_mem_eq(list, names, sizeof(names));
	inode_put(ip, 1);
}
END_TEST

static const struct acl_case {
	uint32_t len;
	uint8_t at, byte; /* changed */
	int64_t want;
} acl_cases[] = {
	{sizeof(acl_disk), 0, 1, sizeof(acl_api)},
	{sizeof(acl_disk), 0, 2, -EINVAL}, /* version */
	{sizeof(acl_disk), 4, 3, -EINVAL}, /* tag */
	{sizeof(acl_disk), 4, 2, -EINVAL}, /* a long entry more than the length has */
	{sizeof(acl_disk), 8, 4, -EINVAL}, /* a short one less */
	{sizeof(acl_disk) - 4, 0, 1, -EINVAL},
	{sizeof(acl_disk) - 1, 0, 1, -EINVAL},
	{3, 0, 1, -EINVAL},
	{4, 0, 1, -ENODATA},
	{0, 0, 1, -ENODATA},
	{8, 0, 1, 12},
};

START_TEST(xattr_get__acl_of_any_length_and_tag__is_refused_unless_whole)
{
	const struct acl_case *c = &acl_cases[_i];
	uint8_t disk[sizeof(acl_disk)];
	uint8_t buf[64];
	struct fx_xattr x = {
		.index = XATTR_INDEX_ACL_ACCESS, .name = "", .value = disk, .size = c->len};

	memcpy(disk, acl_disk, sizeof(disk));
	disk[c->at] = c->byte;
	struct inode *ip = get_with(INODE_REG | 0644, &x, 1, NULL, 0);
	ck_assert_int_eq(xattr_get(ip, "system.posix_acl_access", buf, sizeof(buf)), c->want);
	inode_put(ip, 1);
}
END_TEST

/* --- values in inodes of their own --- */

static uint8_t ea_bytes[3000];
static int ea_read_err;

static int read_ea(struct inode *ea, void *buf, uint64_t len)
{
	ck_assert_uint_eq(ea->ino, EA_INO);
	memcpy(buf, ea_bytes, (size_t)len);
	return ea_read_err;
}

static uint32_t rotl16(uint32_t v)
{
	return v << 16 | v >> 16;
}

#define HASH_TEST 0x003B9A14u /* of the name "test", format/xattr.md */

struct ea_case {
	const char *name;
	uint32_t name_hash; /* rotated name part of the entry hash */
	uint32_t spoil_entry, spoil_value, size_diff;
	bool lustre;
	uint32_t ea_flags;
	inum_t value_ino;
	int64_t want; /* 0 = the value */
	const char *why;
};

static const struct ea_case ea_cases[] = {
	{"test", HASH_TEST, 0, 0, 0, false, INODE_FL_EA_INODE, EA_INO, 0, NULL},
	/* "\xE9": unsigned 0x000000E9, signed 0xFFFFFFE9 */
	{"\xE9", 0x000000E9, 0, 0, 0, false, INODE_FL_EA_INODE, EA_INO, 0, NULL},
	{"\xE9", 0xFFFFFFE9, 0, 0, 0, false, INODE_FL_EA_INODE, EA_INO, 0, NULL},
	{"test", HASH_TEST, 1, 0, 0, false, INODE_FL_EA_INODE, EA_INO, -EUCLEAN,
		"XATTR_EA_ENTRY_HASH"},
	{"test", HASH_TEST, 0, 1, 0, false, INODE_FL_EA_INODE, EA_INO, -EUCLEAN,
		"XATTR_EA_VALUE_HASH"},
	{"test", HASH_TEST, 1, 1, 0, true, INODE_FL_EA_INODE, EA_INO, 0, NULL},
	{"test", HASH_TEST, 0, 0, 1, false, INODE_FL_EA_INODE, EA_INO, -EUCLEAN, "XATTR_EA_SIZE"},
	{"test", HASH_TEST, 0, 0, 0, false, 0, EA_INO, -EUCLEAN, "INODE_NOT_EA"},
	{"test", HASH_TEST, 0, 0, 0, false, INODE_FL_EA_INODE, FX_FILE, -EUCLEAN, "XATTR_EA_SELF"},
	{"test", HASH_TEST, 0, 0, 0, false, INODE_FL_EA_INODE, EA_INO + 1, -ESTALE, "INODE_FREE"},
};

START_TEST(xattr_get__value_in_an_inode__is_held_to_its_hashes__bug_66)
{
	const struct ea_case *c = &ea_cases[_i];
	uint8_t buf[sizeof(ea_bytes)];
	char name[16] = "trusted.";
	uint32_t hash;

	for (size_t n = 0; n < sizeof(ea_bytes); n++)
		ea_bytes[n] = (uint8_t)(n * 7);
	hash = crc32c(fx.vol->csum_seed, ea_bytes, sizeof(ea_bytes));
	struct fx_inode ea = fx_inode_new(INODE_REG | 0600);
	ea.d.flags = le32_put(c->ea_flags);
	ea.d.size_lo = le32_put((uint32_t)sizeof(ea_bytes) + c->size_diff);
	ea.d.atime = le32_put(hash ^ c->spoil_value);
	if (c->lustre)
		ea.d.mtime = le32_put(FX_FILE); /* generations are 0 */
	fx_put(EA_INO, &ea);
	struct fx_xattr x = {
		.index = XATTR_INDEX_TRUSTED,
		.name = c->name,
		.size = sizeof(ea_bytes),
		.value_ino = c->value_ino,
		.hash = rotl16(c->name_hash) ^ hash ^ c->spoil_entry,
	};
	struct inode *ip = get_with(INODE_REG | 0644, NULL, 0, &x, 1);

	xattr_set_reader(cache, read_ea);
	strcat(name, c->name);
	ck_assert_int_eq(xattr_get(ip, name, NULL, 0), sizeof(ea_bytes));
	ck_assert_int_eq(xattr_get(ip, name, buf, sizeof(buf) - 1), -ERANGE);
	int64_t r = xattr_get(ip, name, buf, sizeof(buf));
	ck_assert_int_eq(r, c->want == 0 ? (int64_t)sizeof(ea_bytes) : c->want);
	if (c->want == 0)
		ck_assert_mem_eq(buf, ea_bytes, sizeof(buf));
	else
		ck_assert_str_eq(fx_why(), c->why);
	inode_put(ip, 1);
	ck_assert_uint_eq(inode_cache_held(cache), 0);
}
END_TEST

START_TEST(xattr_get__value_cannot_be_read__passes_the_error_on)
{
	uint8_t buf[16];
	struct fx_inode ea = fx_inode_new(INODE_REG | 0600);
	struct fx_xattr x = {.index = XATTR_INDEX_USER, .name = "a", .size = 16, .value_ino = EA_INO};

	ea.d.flags = le32_put(INODE_FL_EA_INODE);
	ea.d.size_lo = le32_put(16);
	fx_put(EA_INO, &ea);
	struct inode *ip = get_with(INODE_REG | 0644, &x, 1, NULL, 0);
	ck_assert_int_eq(xattr_get(ip, "user.a", buf, sizeof(buf)), -EOPNOTSUPP); /* no reader */
	xattr_set_reader(cache, read_ea);
	ea_read_err = -EIO;
	ck_assert_int_eq(xattr_get(ip, "user.a", buf, sizeof(buf)), -EIO);
	ea_read_err = 0;
	inode_put(ip, 1);
}
END_TEST

/* --- hostile areas --- */

static void spoil_nothing(struct disk_xattr_entry *e)
{
	(void)e;
}

static void spoil_name_len(struct disk_xattr_entry *e)
{
	e->name_len = 255;
}

static void spoil_name_nul(struct disk_xattr_entry *e)
{
	((uint8_t *)(e + 1))[1] = 0;
}

static void spoil_value_low(struct disk_xattr_entry *e)
{
	e->value_offs = le16_put(20); /* among the names */
}

static void spoil_value_high(struct disk_xattr_entry *e)
{
	e->value_offs = le16_put(0xFFFF);
}

static void spoil_value_zero_offset(struct disk_xattr_entry *e)
{
	e->value_offs = le16_put(0);
}

static void spoil_value_long(struct disk_xattr_entry *e)
{
	e->value_size = le32_put(le32_get(e->value_size) + 4);
}

static void spoil_value_huge(struct disk_xattr_entry *e)
{
	e->value_size = le32_put(0xFFFFFFFF);
}

static void spoil_ea_root(struct disk_xattr_entry *e)
{
	e->value_inum = le32_put(INODE_ROOT);
}

static void spoil_ea_beyond(struct disk_xattr_entry *e)
{
	e->value_inum = le32_put(FX_INODES + 1);
}

static void spoil_ea_empty(struct disk_xattr_entry *e)
{
	e->value_inum = le32_put(EA_INO);
	e->value_size = le32_put(0);
}

static const struct spoil_case {
	void (*spoil)(struct disk_xattr_entry *e);
	const char *why; /* NULL = sound */
} spoil_cases[] = {
	{spoil_nothing, NULL},
	{spoil_name_len, "XATTR_NAME_BOUNDS"},
	{spoil_name_nul, "XATTR_NAME_NUL"},
	{spoil_value_low, "XATTR_VALUE_BOUNDS"},
	{spoil_value_high, "XATTR_VALUE_BOUNDS"},
	{spoil_value_zero_offset, "XATTR_VALUE_BOUNDS"},
	{spoil_value_long, "XATTR_VALUE_BOUNDS"},
	{spoil_value_huge, "XATTR_VALUE_SIZE"},
	{spoil_ea_root, "XATTR_EA_NUMBER"},
	{spoil_ea_beyond, "XATTR_EA_NUMBER"},
	{spoil_ea_empty, "XATTR_EA_EMPTY"},
};

static const struct fx_xattr good[] = {
	VALUE(XATTR_INDEX_USER, "name", "value-in-place"),
	VALUE(XATTR_INDEX_USER, "n2", "v2"),
};

START_TEST(inode_load__bad_entry_in_the_inode__is_corrupt__bug_65)
{
	const struct spoil_case *c = &spoil_cases[_i];
	struct inode ip;
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);

	fx_xattr_in_inode(&i, good, 2);
	c->spoil((void *)(i.raw + 164));
	ck_assert_int_eq(fx_decode(&i, &ip), c->why != NULL ? -EUCLEAN : 0);
	if (c->why != NULL)
		ck_assert_str_eq(fx_why(), c->why);
}
END_TEST

START_TEST(xattr_get__bad_entry_in_the_block__makes_the_whole_block_bad__bug_65)
{
	const struct spoil_case *c = &spoil_cases[_i];
	struct buf *b;
	char buf[16];
	struct inode *ip = get_with(INODE_REG | 0644, NULL, 0, good, 2);

	ck_assert_int_eq(
		buf_get(fx.vol->bufs, FX_DATA, &buf_kind_xattr, FX_FILE, fx.vol->csum_seed, &b), 0);
	c->spoil((void *)(b->data + 32));
	ck_assert_int_eq(xattr_get(ip, "user.n2", buf, sizeof(buf)), c->why != NULL ? -EUCLEAN : 2);
	ck_assert_int_eq(xattr_list(ip, NULL, 0), c->why != NULL ? -EUCLEAN : 18);
	buf_put(b);
	inode_put(ip, 1);
}
END_TEST

START_TEST(xattr_get__value_inode_without_the_feature__is_corrupt)
{
	struct fx_xattr x = {.index = XATTR_INDEX_USER, .name = "a", .size = 16, .value_ino = EA_INO};
	struct inode ip;
	struct fx_inode i = fx_inode_new(INODE_REG | 0644);

	fx_xattr_in_inode(&i, &x, 1);
	ck_assert_int_eq(fx_decode(&i, &ip), 0);
	fx.vol->feature_incompat &= ~(uint32_t)FEATURE_INCOMPAT_EA_INODE;
	ck_assert_int_eq(fx_decode(&i, &ip), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "XATTR_EA_FEATURE");
}
END_TEST

START_TEST(xattr_get__block_with_bad_header_or_checksum__is_refused)
{
	uint8_t block[FX_BLOCK];
	char buf[16];
	struct inode *ip = get_with(INODE_REG | 0644, NULL, 0, good, 2);

	ck_assert_int_eq(blockdev_read(fx.dev, (uint64_t)FX_DATA * FX_BLOCK, block, FX_BLOCK), 0);
	block[500] ^= 1;
	fx_put_block(FX_DATA, block);
	ck_assert_int_eq(xattr_get(ip, "user.n2", buf, sizeof(buf)), -EBADMSG);
	block[500] ^= 1;
	block[8] = 2; /* h_blocks */
	fx_put_xattr_block(FX_DATA, block);
	ck_assert_int_eq(xattr_get(ip, "user.n2", buf, sizeof(buf)), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "XATTR_BLOCK_COUNT");
	block[0] = 1; /* h_magic */
	fx_put_xattr_block(FX_DATA, block);
	ck_assert_int_eq(xattr_get(ip, "user.n2", buf, sizeof(buf)), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "XATTR_BLOCK_MAGIC");
	inode_put(ip, 1);
}
END_TEST

/* Everything a caller can do with attributes; only crashes and wild reads would fail this. */
static void walk(struct inode *ip)
{
	char list[512];
	char value[256];
	int64_t n = xattr_list(ip, list, sizeof(list));

	for (int64_t at = 0; at < n; at += (int64_t)strlen(list + at) + 1)
		(void)!xattr_get(ip, list + at, value, sizeof(value));
	(void)!xattr_get(ip, "system.posix_acl_access", value, sizeof(value));
	(void)!xattr_get(ip, "user.name", value, sizeof(value));
}

/* The seed of a run is its loop number: each flips other bits. */
START_TEST(xattr_walk__any_byte_of_the_area_changed__stays_in_bounds)
{
	uint32_t start = 160, end = FX_INODE_SIZE;
	struct fx_xattr x[] = {
		VALUE(XATTR_INDEX_USER, "name", "value"),
		{.index = XATTR_INDEX_ACL_ACCESS,
			.name = "",
			.value = acl_disk,
			.size = sizeof(acl_disk)},
	};

	srand((unsigned)_i);
	fx.vol->csum = false; /* of inodes, so that they get as far as their attributes */
	struct fx_inode good_inode = fx_inode_new(INODE_REG | 0644);
	fx_xattr_in_inode(&good_inode, x, 2);
	for (uint32_t at = start; at < end; at++) {
		struct fx_inode i = good_inode;
		struct inode *ip;

		i.raw[at] = (uint8_t)(_i == 0 ? i.raw[at] ^ 0xFF : rand());
		if (_i > 1)
			i.raw[start + (uint32_t)rand() % (end - start)] = (uint8_t)rand();
		fx_put_unsealed(FX_FILE + at - start, &i);
		if (inode_get(cache, FX_FILE + at - start, 0, &ip) == 0) {
			walk(ip);
			inode_put(ip, 1);
		}
	}
}
END_TEST

START_TEST(xattr_walk__any_byte_of_the_block_changed__stays_in_bounds)
{
	uint8_t good_block[FX_BLOCK];
	struct fx_xattr x[] = {
		VALUE(XATTR_INDEX_USER, "name", "value"),
		{.index = XATTR_INDEX_ACL_ACCESS,
			.name = "",
			.value = acl_disk,
			.size = sizeof(acl_disk)},
	};
	struct inode *ip = get_with(INODE_REG | 0644, NULL, 0, x, 2);

	srand((unsigned)_i);
	ck_assert_int_eq(
		blockdev_read(fx.dev, (uint64_t)FX_DATA * FX_BLOCK, good_block, FX_BLOCK), 0);
	for (uint32_t at = 0; at < FX_BLOCK; at++) {
		uint8_t block[FX_BLOCK];

		memcpy(block, good_block, sizeof(block));
		block[at] = (uint8_t)(_i == 0 ? block[at] ^ 0xFF : rand());
		if (_i > 1)
			block[(uint32_t)rand() % 100] = (uint8_t)rand();
		fx_put_xattr_block(FX_DATA, block);
		walk(ip);
	}
	inode_put(ip, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inode/xattr");
	TCase *tc = tcase_create("xattr");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, xattr_list__both_places__in_order_without_hidden_indexes);
	tcase_add_loop_test(tc, xattr_get__name__answers_as_the_kernel, 0, ARRAY_LEN(get_cases));
	tcase_add_test(tc, xattr_get__name_too_long__is_a_range_error);
	tcase_add_test(tc, xattr_get__user_attribute_of_a_link__does_not_exist);
	tcase_add_test(tc, xattr_find__internal_attribute__is_found_with_its_bytes);
	tcase_add_test(tc, xattr_list__no_attributes__is_empty);
	tcase_add_test(tc, xattr_get__acl__comes_in_the_form_of_the_system_calls);
	tcase_add_loop_test(tc, xattr_get__acl_of_any_length_and_tag__is_refused_unless_whole, 0,
		ARRAY_LEN(acl_cases));
	tcase_add_loop_test(tc, xattr_get__value_in_an_inode__is_held_to_its_hashes__bug_66, 0,
		ARRAY_LEN(ea_cases));
	tcase_add_test(tc, xattr_get__value_cannot_be_read__passes_the_error_on);
	tcase_add_loop_test(tc, inode_load__bad_entry_in_the_inode__is_corrupt__bug_65, 0,
		ARRAY_LEN(spoil_cases));
	tcase_add_loop_test(tc, xattr_get__bad_entry_in_the_block__makes_the_whole_block_bad__bug_65,
		0, ARRAY_LEN(spoil_cases));
	tcase_add_test(tc, xattr_get__value_inode_without_the_feature__is_corrupt);
	tcase_add_test(tc, xattr_get__block_with_bad_header_or_checksum__is_refused);
	tcase_add_loop_test(tc, xattr_walk__any_byte_of_the_area_changed__stays_in_bounds, 0, 20);
	tcase_add_loop_test(tc, xattr_walk__any_byte_of_the_block_changed__stays_in_bounds, 0, 20);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
