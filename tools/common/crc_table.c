/*
 * crc_table.c - CRC-32 where zlib is not built in: eight bytes a step.
 *
 * Owns:    the tables, filled once.
 */
#include "common/crc.h"

#include <pthread.h>

static uint32_t tables[8][256];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

static void fill(void)
{
	uint32_t c;

	for (uint32_t i = 0; i < 256; i++) {
		c = i;
		for (unsigned bit = 0; bit < 8; bit++) {
			c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
		}
		tables[0][i] = c;
	}
	for (unsigned t = 1; t < 8; t++) {
		for (unsigned i = 0; i < 256; i++) {
			c = tables[t - 1][i];
			tables[t][i] = (c >> 8) ^ tables[0][c & 255];
		}
	}
}

uint32_t crc_bytes(uint32_t crc, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint32_t c = ~crc;

	(void)pthread_once(&filled, fill);
	for (; len >= 8; len -= 8, p += 8) {
		c ^= (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
		     (uint32_t)p[3] << 24;
		c = tables[7][c & 255] ^ tables[6][c >> 8 & 255] ^ tables[5][c >> 16 & 255] ^
		    tables[4][c >> 24] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
		    tables[0][p[7]];
	}
	for (; len > 0; len--, p++) {
		c = (c >> 8) ^ tables[0][(c ^ *p) & 255];
	}
	return ~c;
}
