/*
 * bits.c - runs in on-disk bitmaps.
 *
 * Owns:    nothing; the caller's memory.
 * Locks:   none.
 * Always:  no byte beyond the last named bit is touched.
 */
#include "base/bits.h"

void bits_set_run(uint8_t *map, uint64_t from, uint64_t count)
{
	uint64_t end = from + count;

	for (; from < end && from % 8 != 0; from++)
		bit_set(map, from);
	for (; end - from >= 8; from += 8)
		map[from / 8] = 0xFF;
	for (; from < end; from++)
		bit_set(map, from);
}

void bits_clear_run(uint8_t *map, uint64_t from, uint64_t count)
{
	uint64_t end = from + count;

	for (; from < end && from % 8 != 0; from++)
		bit_clear(map, from);
	for (; end - from >= 8; from += 8)
		map[from / 8] = 0;
	for (; from < end; from++)
		bit_clear(map, from);
}

uint64_t bits_count_zero(const uint8_t *map, uint64_t count)
{
	uint64_t used = 0;
	uint64_t i = 0;

	for (; count - i >= 8; i += 8)
		used += (uint64_t)__builtin_popcount(map[i / 8]);
	for (; i < count; i++)
		used += bit_test(map, i);
	return count - used;
}

/* First bit in [from, end) equal to `set`, skipping whole bytes that hold none. */
static uint64_t next_bit(const uint8_t *map, uint64_t from, uint64_t end, bool set)
{
	uint8_t none = set ? 0x00 : 0xFF;

	while (from < end) {
		if (from % 8 == 0 && end - from >= 8 && map[from / 8] == none)
			from += 8;
		else if (bit_test(map, from) == set)
			return from;
		else
			from++;
	}
	return end;
}

uint64_t bits_next_zero(const uint8_t *map, uint64_t from, uint64_t end)
{
	return next_bit(map, from, end, false);
}

uint64_t bits_next_set(const uint8_t *map, uint64_t from, uint64_t end)
{
	return next_bit(map, from, end, true);
}
