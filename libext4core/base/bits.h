/* bits.h - bitmaps as on disk: bit n is bit n % 8 of byte n / 8. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool bit_test(const uint8_t *map, uint64_t n)
{
	return map[n / 8] >> (n % 8) & 1;
}

static inline void bit_set(uint8_t *map, uint64_t n)
{
	map[n / 8] = (uint8_t)(map[n / 8] | 1u << (n % 8));
}

static inline void bit_clear(uint8_t *map, uint64_t n)
{
	map[n / 8] = (uint8_t)(map[n / 8] & ~(1u << (n % 8)));
}

/* Sets bits [from, from + count). */
void bits_set_run(uint8_t *map, uint64_t from, uint64_t count);
void bits_clear_run(uint8_t *map, uint64_t from, uint64_t count);
/* Number of zero bits in [0, count). */
uint64_t bits_count_zero(const uint8_t *map, uint64_t count);
/* First zero (set) bit in [from, end), or end. */
uint64_t bits_next_zero(const uint8_t *map, uint64_t from, uint64_t end);
uint64_t bits_next_set(const uint8_t *map, uint64_t from, uint64_t end);

#endif
