/* sha256.h - SHA-256 (FIPS 180-4), for names too long to be shown whole. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE 32u

void sha256(const void *data, size_t len, uint8_t ret[SHA256_SIZE]);

#endif
