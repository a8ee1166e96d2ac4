/*
 * crc32c_x86.c - the CRC instruction of SSE4.2, and carry-less multiplication to join interleaved streams.
 *
 * The instruction starts every cycle but takes three, so three streams run side by side. Their states are joined by moving the
 * first two over the bytes that follow them: a multiplication by x^(8n-33) modulo the polynomial, whose 64-bit product the
 * instruction itself reduces (it adds the 32, reflection the 1) together with the last word of the third stream.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the list ends with the portable path; strides are multiples of 8.
 */
#include "base/crc32c_impl.h"
#include "base/le.h"

#include <immintrin.h>

#define WITH_SSE42  __attribute__((target("sse4.2")))
#define WITH_PCLMUL __attribute__((target("sse4.2,pclmul")))

/* Three streams of stride_bytes each, and what moves the first over two strides, the second over one. */
struct stride {
	size_t stride_bytes;
	uint32_t over_two, over_one;
};

/* 4080 of a 4 KiB block, 1008 of a 1 KiB block, 240 of a 256-byte inode. */
static const struct stride strides[] = {
	{1360, 0x5AA1F3CFu, 0x3F70CC6Fu},
	{336, 0xCEC3662Eu, 0xA60CE07Bu},
	{80, 0x878A92A7u, 0x39D3B296u},
};

WITH_SSE42 static uint32_t crc32c_sse42(uint32_t state, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t s = state;

	for (; len >= 8; len -= 8, p += 8)
		s = _mm_crc32_u64(s, le64_at(p));
	state = (uint32_t)s;
	for (; len > 0; len--, p++)
		state = _mm_crc32_u8(state, *p);
	return state;
}

WITH_PCLMUL static inline uint64_t multiply(uint64_t a, uint32_t b)
{
	__m128i product = _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((long long)a), _mm_cvtsi64_si128((long long)b), 0);

	return (uint64_t)_mm_cvtsi128_si64(product);
}

WITH_PCLMUL static inline uint64_t three_streams(
	uint64_t a, const uint8_t *p, const struct stride *st)
{
	size_t n = st->stride_bytes;
	uint64_t b = 0;
	uint64_t c = 0;

	for (const uint8_t *end = p + n - 8; p < end; p += 8) {
		a = _mm_crc32_u64(a, le64_at(p));
		b = _mm_crc32_u64(b, le64_at(p + n));
		c = _mm_crc32_u64(c, le64_at(p + 2 * n));
	}
	a = _mm_crc32_u64(a, le64_at(p));
	b = _mm_crc32_u64(b, le64_at(p + n));
	uint64_t last = le64_at(p + 2 * n) ^ multiply(a, st->over_two) ^ multiply(b, st->over_one);
	return _mm_crc32_u64(c, last);
}

WITH_PCLMUL static uint32_t crc32c_pclmul(uint32_t state, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t s = state;

	for (size_t i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
		size_t whole = 3 * strides[i].stride_bytes;

		for (; len >= whole; len -= whole, p += whole)
			s = three_streams(s, p, &strides[i]);
	}
	return crc32c_sse42((uint32_t)s, p, len);
}

#define PCLMUL_NAME "sse4.2+pclmul"
#define SSE42_NAME  "sse4.2"

const struct crc32c_impl *crc32c_impls(void)
{
	static const struct crc32c_impl with_both[] = {{PCLMUL_NAME, crc32c_pclmul},
		{SSE42_NAME, crc32c_sse42}, {"portable", crc32c_portable}, {NULL, NULL}};
	static const struct crc32c_impl with_sse42[] = {{PCLMUL_NAME, NULL},
		{SSE42_NAME, crc32c_sse42}, {"portable", crc32c_portable}, {NULL, NULL}};
	static const struct crc32c_impl with_none[] = {{PCLMUL_NAME, NULL}, {SSE42_NAME, NULL},
		{"portable", crc32c_portable}, {NULL, NULL}};

	__builtin_cpu_init();
	if (!__builtin_cpu_supports("sse4.2"))
		return with_none;
	return __builtin_cpu_supports("pclmul") ? with_both : with_sse42;
}
