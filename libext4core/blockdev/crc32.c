/*
 * crc32.c - CRC-32 (IEEE 802.3, reflected), half a byte at a time: a partition table is 16 KiB, read once.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  pure.
 */
#include "blockdev/crc32.h"

uint32_t crc32_ieee(uint32_t crc, const void *data, size_t len)
{
	/* The remainders of the sixteen half-bytes under the polynomial EDB88320. */
	static const uint32_t table[16] = {
		0x00000000,
		0x1db71064,
		0x3b6e20c8,
		0x26d930ac,
		0x76dc4190,
		0x6b6b51f4,
		0x4db26158,
		0x5005713c,
		0xedb88320,
		0xf00f9344,
		0xd6d6a3e8,
		0xcb61b38c,
		0x9b64c2b0,
		0x86d3d2d4,
		0xa00ae278,
		0xbdbdf21c,
	};
	const uint8_t *p = data;

	crc = ~crc;
	while (len-- > 0) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}
