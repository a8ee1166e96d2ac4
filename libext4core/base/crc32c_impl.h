/* crc32c_impl.h - between crc32c.c and the file of this machine's fast paths. */
#ifndef BASE_CRC32C_IMPL_H
#define BASE_CRC32C_IMPL_H

#include "base/crc32c.h"

/* Slicing-by-8 over tables; any machine, either byte order. */
uint32_t crc32c_portable(uint32_t state, const void *data, size_t len);

#endif
