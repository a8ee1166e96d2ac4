/*
 * sha256.c - SHA-256 of one piece of memory. Written for size: a name is hashed now and then.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  constants are the fractional parts of roots of the first primes, as FIPS 180-4 lists them.
 */
#include "base/sha256.h"

#include "base/be.h"

#include <string.h>

#define CHUNK_SIZE 64u

static const uint32_t round_constants[64] = {
	0x428a2f98,
	0x71374491,
	0xb5c0fbcf,
	0xe9b5dba5,
	0x3956c25b,
	0x59f111f1,
	0x923f82a4,
	0xab1c5ed5,
	0xd807aa98,
	0x12835b01,
	0x243185be,
	0x550c7dc3,
	0x72be5d74,
	0x80deb1fe,
	0x9bdc06a7,
	0xc19bf174,
	0xe49b69c1,
	0xefbe4786,
	0x0fc19dc6,
	0x240ca1cc,
	0x2de92c6f,
	0x4a7484aa,
	0x5cb0a9dc,
	0x76f988da,
	0x983e5152,
	0xa831c66d,
	0xb00327c8,
	0xbf597fc7,
	0xc6e00bf3,
	0xd5a79147,
	0x06ca6351,
	0x14292967,
	0x27b70a85,
	0x2e1b2138,
	0x4d2c6dfc,
	0x53380d13,
	0x650a7354,
	0x766a0abb,
	0x81c2c92e,
	0x92722c85,
	0xa2bfe8a1,
	0xa81a664b,
	0xc24b8b70,
	0xc76c51a3,
	0xd192e819,
	0xd6990624,
	0xf40e3585,
	0x106aa070,
	0x19a4c116,
	0x1e376c08,
	0x2748774c,
	0x34b0bcb5,
	0x391c0cb3,
	0x4ed8aa4a,
	0x5b9cca4f,
	0x682e6ff3,
	0x748f82ee,
	0x78a5636f,
	0x84c87814,
	0x8cc70208,
	0x90befffa,
	0xa4506ceb,
	0xbef9a3f7,
	0xc67178f2,
};

static uint32_t ror(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

static void expand(uint32_t w[64], const uint8_t *chunk)
{
	for (size_t i = 0; i < 16; i++)
		w[i] = be32_at(chunk + 4 * i);
	for (unsigned i = 16; i < 64; i++) {
		uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static void add_chunk(uint32_t state[8], const uint8_t *chunk)
{
	uint32_t w[64];
	uint32_t v[8];

	expand(w, chunk);
	memcpy(v, state, sizeof(v));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t s1 = ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25);
		uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
		uint32_t t1 = v[7] + s1 + choice + round_constants[i] + w[i];
		uint32_t s0 = ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22);
		uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);

		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + s0 + majority;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256(const void *data, size_t len, uint8_t ret[SHA256_SIZE])
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
		0x1f83d9ab, 0x5be0cd19};
	struct be64 bits = be64_put((uint64_t)len * 8);
	uint8_t last[2 * CHUNK_SIZE] = {0};
	const uint8_t *p = data;
	size_t rest = len;

	for (; rest >= CHUNK_SIZE; rest -= CHUNK_SIZE, p += CHUNK_SIZE)
		add_chunk(state, p);
	/* The rest, a one bit, zeros, the length: one chunk or two. */
	size_t last_len = rest + 1 + sizeof(bits) <= CHUNK_SIZE ? CHUNK_SIZE : 2 * CHUNK_SIZE;
	if (rest > 0)
		memcpy(last, p, rest);
	last[rest] = 0x80;
	memcpy(last + last_len - sizeof(bits), &bits, sizeof(bits));
	for (size_t at = 0; at < last_len; at += CHUNK_SIZE)
		add_chunk(state, last + at);
	for (size_t i = 0; i < 8; i++) {
		struct be32 word = be32_put(state[i]);

		memcpy(ret + 4 * i, &word, sizeof(word));
	}
}
