/* crc32.h - the CRC of GPT partition tables (zlib's CRC-32; ext4 itself uses another one). */
#ifndef BLOCKDEV_CRC32_H
#define BLOCKDEV_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* crc 0 to begin; the answer of one piece is the start of the next. */
uint32_t crc32_ieee(uint32_t crc, const void *data, size_t len);

#endif
