/*
 * hash.c - a name's place in a directory index: the three hash functions, each for signed and unsigned characters.
 *
 * SipHash needs the directory's key, which this library does not have; its values are read from the entries instead.
 *
 * Owns:    nothing; pure functions.
 * Locks:   none.
 * Always:  bit 0 of a hash is clear (in the index it marks a continued hash), and a hash is never the end-of-directory mark.
 */
#include "dir/dir_impl.h"

#include <string.h>

/* Where the volume has no seed of its own. */
static const uint32_t default_seed[4] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};

static uint32_t rol(uint32_t v, unsigned n)
{
	return v << n | v >> (32 - n);
}

/* A character as the volume's hash takes it: sign-extended, or not. */
static uint32_t character(uint8_t c, bool is_unsigned)
{
	return c >= 0x80 && !is_unsigned ? 0xFFFFFF00u | c : c;
}

/* Packs the next min(left, 4n) bytes into n words, filled up with the number of bytes that are left. */
static void pack(const uint8_t *name, uint32_t left, bool is_unsigned, uint32_t *words, uint32_t n)
{
	uint32_t pad = (left | left << 8) * 0x10001u;
	uint32_t val = pad;
	uint32_t used = 0;
	uint32_t bytes = left < 4 * n ? left : 4 * n;

	for (uint32_t i = 0; i < bytes; i++) {
		val = character(name[i], is_unsigned) + (val << 8);
		if (i % 4 == 3) {
			words[used++] = val;
			val = pad;
		}
	}
	if (used < n)
		words[used++] = val;
	while (used < n)
		words[used++] = pad;
}

static uint32_t choose(uint32_t x, uint32_t y, uint32_t z)
{
	return z ^ (x & (y ^ z));
}

static uint32_t majority(uint32_t x, uint32_t y, uint32_t z)
{
	return (x & y) + ((x ^ y) & z);
}

static uint32_t parity(uint32_t x, uint32_t y, uint32_t z)
{
	return x ^ y ^ z;
}

struct md4_round {
	uint32_t (*f)(uint32_t x, uint32_t y, uint32_t z);
	uint32_t add;
	uint8_t order[8];
	uint8_t shifts[4];
};

static const struct md4_round md4_rounds[3] = {
	{choose, 0, {0, 1, 2, 3, 4, 5, 6, 7}, {3, 7, 11, 19}},
	{majority, 0x5A827999, {1, 3, 5, 7, 0, 2, 4, 6}, {3, 5, 9, 13}},
	{parity, 0x6ED9EBA1, {3, 7, 2, 6, 1, 5, 0, 4}, {3, 9, 11, 15}},
};

static void half_md4(uint32_t state[4], const uint32_t x[8])
{
	uint32_t s[4];

	memcpy(s, state, sizeof(s));
	for (unsigned r = 0; r < 3; r++) {
		const struct md4_round *md = &md4_rounds[r];

		for (unsigned k = 0; k < 8; k++) {
			uint32_t a = s[0] + md->f(s[1], s[2], s[3]) + x[md->order[k]] + md->add;

			s[0] = s[3];
			s[3] = s[2];
			s[2] = s[1];
			s[1] = rol(a, md->shifts[k % 4]);
		}
	}
	for (unsigned i = 0; i < 4; i++)
		state[i] += s[i];
}

static void tea(uint32_t state[4], const uint32_t k[4])
{
	uint32_t b0 = state[0];
	uint32_t b1 = state[1];
	uint32_t sum = 0;

	for (unsigned i = 0; i < 16; i++) {
		sum += 0x9E3779B9u;
		b0 += ((b1 << 4) + k[0]) ^ (b1 + sum) ^ ((b1 >> 5) + k[1]);
		b1 += ((b0 << 4) + k[2]) ^ (b0 + sum) ^ ((b0 >> 5) + k[3]);
	}
	state[0] += b0;
	state[1] += b1;
}

static uint32_t legacy(const uint8_t *name, uint32_t len, bool is_unsigned)
{
	uint32_t h0 = 0x12A3FE2D;
	uint32_t h1 = 0x37ABE8F9;

	for (uint32_t i = 0; i < len; i++) {
		uint32_t t = h1 + (h0 ^ character(name[i], is_unsigned) * 7152373u);

		if ((t & 0x80000000u) != 0)
			t -= 0x7FFFFFFFu;
		h1 = h0;
		h0 = t;
	}
	return h0 << 1;
}

static void start_state(uint32_t state[4], const uint32_t seed[4])
{
	bool none = (seed[0] | seed[1] | seed[2] | seed[3]) == 0;

	memcpy(state, none ? default_seed : seed, sizeof(default_seed));
}

static struct dir_hash hash_half_md4(
	const uint32_t seed[4], const uint8_t *name, uint32_t len, bool is_unsigned)
{
	uint32_t state[4];
	uint32_t words[8];

	start_state(state, seed);
	for (uint32_t at = 0; at < len; at += 32) {
		pack(name + at, len - at, is_unsigned, words, 8);
		half_md4(state, words);
	}
	return (struct dir_hash){state[1], state[2]};
}

static struct dir_hash hash_tea(
	const uint32_t seed[4], const uint8_t *name, uint32_t len, bool is_unsigned)
{
	uint32_t state[4];
	uint32_t words[4];

	start_state(state, seed);
	for (uint32_t at = 0; at < len; at += 16) {
		pack(name + at, len - at, is_unsigned, words, 4);
		tea(state, words);
	}
	return (struct dir_hash){state[0], state[1]};
}

uint32_t dir_hash_clean(uint32_t hash)
{
	hash &= ~1u;
	return hash == DIR_HASH_EOF << 1 ? (DIR_HASH_EOF - 1) << 1 : hash;
}

bool dir_hash_version_known(uint8_t version)
{
	return version <= HASH_TEA_UNSIGNED;
}

struct dir_hash dir_hash_name(
	uint8_t version, const uint32_t seed[4], const uint8_t *name, uint32_t len)
{
	bool is_unsigned = version >= HASH_LEGACY_UNSIGNED && version <= HASH_TEA_UNSIGNED;
	struct dir_hash h = {0, 0};

	switch ((enum hash_version)(is_unsigned ? version - HASH_LEGACY_UNSIGNED : version)) {
	case HASH_LEGACY:
		h.hash = legacy(name, len, is_unsigned);
		break;
	case HASH_HALF_MD4:
		h = hash_half_md4(seed, name, len, is_unsigned);
		break;
	case HASH_TEA:
		h = hash_tea(seed, name, len, is_unsigned);
		break;
	case HASH_LEGACY_UNSIGNED:
	case HASH_HALF_MD4_UNSIGNED:
	case HASH_TEA_UNSIGNED:
	case HASH_SIPHASH:
		break;
	}
	h.hash = dir_hash_clean(h.hash);
	return h;
}
