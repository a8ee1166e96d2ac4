/*
 * hash_test.c - the hashes of directories.md, all vectors.
 */
#include "dir/dir.h"
#include "format/htree.h"
#include "unit.h"

#include <string.h>

struct vector {
	const char *name; /* NULL: `fill` repeated */
	char fill;
	uint32_t len;
	struct dir_hash by_version[6]; /* in the order of enum hash_version */
};

#define V(leg, leg_u, md, md_m, md_u, md_um, t, t_m, t_u, t_um)                                    \
	{                                                                                          \
		{leg, 0}, {md, md_m}, {t, t_m}, {leg_u, 0}, {md_u, md_um},                         \
		{                                                                                  \
			t_u, t_um                                                                  \
		}                                                                                  \
	}

static const struct vector default_seed[] = {
	{"a", 0, 1,
		V(0xe74b53e2, 0xe74b53e2, 0xd5fa7d7a, 0xacb48187, 0xd5fa7d7a, 0xacb48187,
			0x6d0ea4c0, 0xc18922df, 0x6d0ea4c0, 0xc18922df)},
	{"abc", 0, 3,
		V(0x75afd992, 0x75afd992, 0xd196a868, 0xc420eb28, 0xd196a868, 0xc420eb28,
			0xb1435ec4, 0x3f7eaa0e, 0xb1435ec4, 0x3f7eaa0e)},
	{"lost+found", 0, 10,
		V(0x5e2aba24, 0x5e2aba24, 0x591de422, 0x6ffc56e0, 0x591de422, 0x6ffc56e0,
			0x2dbf9e80, 0xbfebee4f, 0x2dbf9e80, 0xbfebee4f)},
	{NULL, 'x', 32,
		V(0xccf8e87c, 0xccf8e87c, 0xae38ae70, 0x439dc1ad, 0xae38ae70, 0x439dc1ad,
			0x4235b328, 0xaa22efb7, 0x4235b328, 0xaa22efb7)},
	{NULL, 'y', 33,
		V(0x477fb8ce, 0x477fb8ce, 0xcf79e5d6, 0x2a5f92c9, 0xcf79e5d6, 0x2a5f92c9,
			0x62024d76, 0xaecef662, 0x62024d76, 0xaecef662)},
	{"\xC3\xA9", 0, 2,
		V(0x11083c86, 0x878ca486, 0x89d4704e, 0x75d52d82, 0xfda9f3f8, 0x69788442,
			0x591e9bd6, 0xf780721f, 0x6daf7c00, 0xdc9b6b19)},
	{NULL, 'z', 255,
		V(0xf94f0890, 0xf94f0890, 0x3b4d55ea, 0xa08c3c2e, 0x3b4d55ea, 0xa08c3c2e,
			0x22547932, 0xf01206ff, 0x22547932, 0xf01206ff)},
};

/* The legacy hash uses no seed, so it has no columns here. */
static const struct vector own_seed[] = {
	{"a", 0, 1,
		V(0xe74b53e2, 0xe74b53e2, 0x42b3c856, 0xe160b6cb, 0x42b3c856, 0xe160b6cb,
			0xbafe1ab4, 0x30d6665d, 0xbafe1ab4, 0x30d6665d)},
	{"lost+found", 0, 10,
		V(0x5e2aba24, 0x5e2aba24, 0x5c2d4dca, 0x246d2423, 0x5c2d4dca, 0x246d2423,
			0x16894fe2, 0x4c76f471, 0x16894fe2, 0x4c76f471)},
	{NULL, 'y', 33,
		V(0x477fb8ce, 0x477fb8ce, 0x1a52d770, 0xa2cc97a6, 0x1a52d770, 0xa2cc97a6,
			0x8046714c, 0x9561c1ef, 0x8046714c, 0x9561c1ef)},
	{"\xC3\xA9", 0, 2,
		V(0x11083c86, 0x878ca486, 0xf0f53c0e, 0x60594150, 0x9cb45f90, 0x4d787e92,
			0xae01413e, 0xb1891fa7, 0xe3deab32, 0x9934a264)},
	{NULL, 'z', 255,
		V(0xf94f0890, 0xf94f0890, 0x2fca05cc, 0x7d19b1db, 0x2fca05cc, 0x7d19b1db,
			0x03d28bea, 0x977a1cb3, 0x03d28bea, 0x977a1cb3)},
};

static void check(const uint32_t seed[4], const struct vector *v)
{
	uint8_t name[256];

	memset(name, v->fill, sizeof(name));
	if (v->name != NULL)
		memcpy(name, v->name, v->len);
	for (uint8_t version = 0; version < 6; version++) {
		struct dir_hash h = dir_hash_name(version, seed, name, v->len);

		ck_assert_msg(h.hash == v->by_version[version].hash &&
				      h.minor == v->by_version[version].minor,
			"version %u, %u bytes of '%c': %08x/%08x", version, v->len, name[0], h.hash,
			h.minor);
	}
}

START_TEST(dir_hash_name__seed_of_zeros__gives_the_vectors_of_the_default_seed)
{
	static const uint32_t zeros[4];

	for (size_t i = 0; i < sizeof(default_seed) / sizeof(default_seed[0]); i++)
		check(zeros, &default_seed[i]);
}
END_TEST

START_TEST(dir_hash_name__seed_of_the_volume__gives_its_vectors)
{
	static const uint8_t bytes[16] = {0x5f, 0x2b, 0x1c, 0x9e, 0x01, 0x02, 0x4a, 0x5b, 0x8c,
		0x9d, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54};
	uint32_t seed[4];

	for (size_t i = 0; i < 4; i++)
		seed[i] = le32_at(bytes + 4 * i);
	for (size_t i = 0; i < sizeof(own_seed) / sizeof(own_seed[0]); i++)
		check(seed, &own_seed[i]);
}
END_TEST

START_TEST(dir_hash_name__any_name__is_even_and_never_the_end_mark)
{
	static const uint32_t seed[4];

	for (uint32_t i = 0; i < 200000; i++) {
		uint8_t name[4] = {(uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 'n'};
		struct dir_hash h = dir_hash_name((uint8_t)(i % 6), seed, name, 4);

		ck_assert_uint_eq(h.hash & 1, 0);
		ck_assert_uint_ne(h.hash, 0xFFFFFFFEu);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dir/hash");
	TCase *tc = tcase_create("hash");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, dir_hash_name__seed_of_zeros__gives_the_vectors_of_the_default_seed);
	tcase_add_test(tc, dir_hash_name__seed_of_the_volume__gives_its_vectors);
	tcase_add_test(tc, dir_hash_name__any_name__is_even_and_never_the_end_mark);
	return unit_run(suite);
}
