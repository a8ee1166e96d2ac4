/* crc_zlib.c - CRC-32 by zlib. */
#include "common/crc.h"

#include <zlib.h>

uint32_t crc_bytes(uint32_t crc, const void *bytes, size_t len)
{
	return (uint32_t)crc32_z(crc, bytes, len);
}
