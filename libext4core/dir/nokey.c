/*
 * nokey.c - names of an encrypted directory for who has no key: base64url of hash, ciphertext and, if long, a digest.
 *
 * Owns:    nothing; pure functions.
 * Locks:   none.
 * Always:  a name that was shown is found again by it; the longest is 252 characters.
 */
#include "base/sha256.h"
#include "dir/dir_impl.h"

#include <string.h>

#define HASH_BYTES 8u
#define RAW_MAX    (HASH_BYTES + DIR_NOKEY_BYTES_MAX + SHA256_SIZE)

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static uint32_t encode(const uint8_t *raw, uint32_t len, char *out)
{
	uint32_t bits = 0;
	uint32_t held = 0;
	uint32_t used = 0;

	for (uint32_t i = 0; i < len; i++) {
		held = held << 8 | raw[i];
		for (bits += 8; bits >= 6; bits -= 6)
			out[used++] = alphabet[held >> (bits - 6) & 0x3F];
	}
	if (bits > 0)
		out[used++] = alphabet[held << (6 - bits) & 0x3F];
	return used;
}

/* Length, or 0 for what encode() would not have written. out holds RAW_MAX bytes. */
static uint32_t decode(const char *text, uint32_t len, uint8_t *out)
{
	uint32_t bits = 0;
	uint32_t held = 0;
	uint32_t used = 0;

	if (len % 4 == 1 || (uint64_t)len * 6 / 8 > RAW_MAX)
		return 0;
	for (uint32_t i = 0; i < len; i++) {
		const char *p = text[i] == 0 ? NULL : strchr(alphabet, text[i]);

		if (p == NULL)
			return 0;
		held = held << 6 | (uint32_t)(p - alphabet);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[used++] = (uint8_t)(held >> bits);
		}
	}
	return (held & ((1u << bits) - 1)) == 0 ? used : 0;
}

uint32_t dir_nokey_name(const struct dir_hash *h, const uint8_t *cipher, uint32_t len, char buf[256])
{
	struct le32 words[2] = {le32_put(h->hash), le32_put(h->minor)};
	uint32_t shown = len < DIR_NOKEY_BYTES_MAX ? len : DIR_NOKEY_BYTES_MAX;
	uint8_t raw[RAW_MAX];

	memcpy(raw, words, HASH_BYTES);
	memcpy(raw + HASH_BYTES, cipher, shown);
	if (len > shown)
		sha256(cipher + shown, len - shown, raw + HASH_BYTES + shown);
	uint32_t n = encode(raw, HASH_BYTES + shown + (len > shown ? SHA256_SIZE : 0), buf);
	buf[n] = 0;
	return n;
}

bool dir_nokey_decode(const char *name, uint32_t len, struct dir_hash *ret_hash, uint8_t *ret_form,
	uint32_t *ret_len, bool *ret_digest)
{
	uint8_t raw[RAW_MAX];
	uint32_t n = decode(name, len, raw);

	if (n <= HASH_BYTES || (n > HASH_BYTES + DIR_NOKEY_BYTES_MAX && n != RAW_MAX))
		return false;
	*ret_hash = (struct dir_hash){le32_at(raw), le32_at(raw + 4)};
	*ret_len = n - HASH_BYTES;
	*ret_digest = n == RAW_MAX;
	memcpy(ret_form, raw + HASH_BYTES, n - HASH_BYTES);
	return true;
}

bool dir_nokey_matches(const uint8_t *form, uint32_t form_len, bool has_digest,
	const uint8_t *cipher, uint32_t len)
{
	uint8_t digest[SHA256_SIZE];

	if (!has_digest)
		return len == form_len && memcmp(form, cipher, len) == 0;
	if (len <= DIR_NOKEY_BYTES_MAX || memcmp(form, cipher, DIR_NOKEY_BYTES_MAX) != 0)
		return false;
	sha256(cipher + DIR_NOKEY_BYTES_MAX, len - DIR_NOKEY_BYTES_MAX, digest);
	return memcmp(form + DIR_NOKEY_BYTES_MAX, digest, sizeof(digest)) == 0;
}
