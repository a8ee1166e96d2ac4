/*
 * crc_zeros.c - CRC-32 over a hole.
 *
 * A zero byte moves the remainder eight bits on: it multiplies it by x^8 modulo the polynomial. So n zero
 * bytes are one product with x^(8n), which repeated squaring finds in as many steps as n has bits.
 */
#include "common/crc.h"

/* The polynomials a and b, bit 31 the constant term, multiplied modulo that of CRC-32. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
		if (a & bit) {
			product ^= b;
		}
		b = (b >> 1) ^ (b & 1 ? 0xedb88320u : 0);
	}
	return product;
}

uint32_t crc_zeros(uint32_t crc, uint64_t len)
{
	uint32_t power = 1u << 23;  /* x^8 */
	uint32_t factor = 1u << 31; /* 1 */

	for (; len > 0; len >>= 1) {
		if (len & 1) {
			factor = multiply(factor, power);
		}
		power = multiply(power, power);
	}
	return ~multiply(factor, ~crc);
}
