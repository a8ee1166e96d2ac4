#ifndef TOOLS_COMMON_CRC_H
#define TOOLS_COMMON_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as zlib computes it: begins with 0, goes on from an earlier result. */
uint32_t crc_bytes(uint32_t crc, const void *bytes, size_t len);
/* Goes on over `len` zero bytes, in a number of steps that depends on the bits of len only. */
uint32_t crc_zeros(uint32_t crc, uint64_t len);

#endif
