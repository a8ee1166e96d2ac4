/* math.h - arithmetic that says when it overflows. */
#ifndef BASE_MATH_H
#define BASE_MATH_H

#include <stdbool.h>
#include <stdint.h>

/* True, and *ret set, when the sum (product) fits; callers must look at the answer. */
static inline __attribute__((warn_unused_result)) bool add_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
	return !__builtin_add_overflow(a, b, ret);
}

static inline __attribute__((warn_unused_result)) bool mul_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
	return !__builtin_mul_overflow(a, b, ret);
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* d > 0; never overflows. */
static inline uint64_t div_up_u64(uint64_t n, uint64_t d)
{
	return n / d + (n % d != 0);
}

/* align is a power of two. */
static inline uint64_t round_down_u64(uint64_t v, uint64_t align)
{
	return v & ~(align - 1);
}

/* align is a power of two and v + align - 1 does not overflow. */
static inline uint64_t round_up_u64(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

static inline bool is_pow2_u64(uint64_t v)
{
	return v != 0 && (v & (v - 1)) == 0;
}

/* v > 0. */
static inline unsigned log2_u64(uint64_t v)
{
	return 63u - (unsigned)__builtin_clzll(v);
}

#endif
