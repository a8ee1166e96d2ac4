/*
 * crc32c.h - checksums of the format: running states, no final XOR (format/README.md "Checksum primitives").
 *
 * The implementation of crc32c is chosen once per process by what the processor has; each path is reachable by name for the tests.
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#define CRC32C_SEED 0xFFFFFFFFu

/* Continues `state` over len bytes. */
uint32_t crc32c(uint32_t state, const void *data, size_t len);
/* The path in use: "sse4.2+pclmul", "sse4.2", "armv8", "portable". */
const char *crc32c_path(void);

/* The paths by themselves. A path that this processor lacks is NULL. */
struct crc32c_impl {
	const char *name;
	uint32_t (*fn)(uint32_t state, const void *data, size_t len);
};
/* Every path, ended by a NULL name. */
const struct crc32c_impl *crc32c_impls(void);

/* CRC-16/ARC reflected, poly 0xA001; group descriptors without metadata_csum. */
uint16_t crc16(uint16_t state, const void *data, size_t len);
/* CRC-32 MSB first, poly 0x04C11DB7; journal checksum v1. */
uint32_t crc32_be(uint32_t state, const void *data, size_t len);

#endif
