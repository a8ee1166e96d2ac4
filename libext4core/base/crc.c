/*
 * crc.c - the two old checksums: crc16 of group descriptors, crc32 of the first journal checksum.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  running states, no final XOR.
 */
#include "base/crc32c.h"
#include "base/crc_table.h"

static const uint16_t table_16[256] = CRC_TABLE(
	0xA001u, 0xF001u, 0xD801u, 0xCC01u, 0xC601u, 0xC301u, 0xC181u, 0xC0C1u);
static const uint32_t table_32_be[256] = CRC_TABLE(0x690CE0EEu, 0x34867077u, 0x9823B6E0u,
	0x4C11DB70u, 0x2608EDB8u, 0x130476DCu, 0x09823B6Eu, 0x04C11DB7u);

uint16_t crc16(uint16_t state, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len > 0; len--, p++)
		state = (uint16_t)(state >> 8 ^ table_16[(state ^ *p) & 0xFF]);
	return state;
}

uint32_t crc32_be(uint32_t state, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len > 0; len--, p++)
		state = state << 8 ^ table_32_be[state >> 24 ^ *p];
	return state;
}
