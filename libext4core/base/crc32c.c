/*
 * crc32c.c - the checksum of all metadata: choice of the path, and the path for any machine.
 *
 * Owns:    `chosen`, the path in use: the same value whoever computes it, so threads may race to store it.
 * Locks:   none.
 * Always:  every path gives the same answer for every length and alignment (tests/unit/base/crc32c_test.c).
 */
#include "base/crc32c.h"

#include "base/crc32c_impl.h"
#include "base/crc_table.h"
#include "base/le.h"

#include <stdatomic.h>

/* Table k holds the CRC of a byte that k further bytes follow: slices[0] is the classic table. */
static const uint32_t slices[8][256] = {
	CRC_TABLE(0x82F63B78u, 0x417B1DBCu, 0x20BD8EDEu, 0x105EC76Fu, 0x8AD958CFu, 0xC79A971Fu,
		0xE13B70F7u, 0xF26B8303u),
	CRC_TABLE(0xFBC3FAF9u, 0xFF17C604u, 0x7F8BE302u, 0x3FC5F181u, 0x9D14C3B8u, 0x4E8A61DCu,
		0x274530EEu, 0x13A29877u),
	CRC_TABLE(0x8B277743u, 0xC76580D9u, 0xE144FB14u, 0x70A27D8Au, 0x38513EC5u, 0x9EDEA41Au,
		0x4F6F520Du, 0xA541927Eu),
	CRC_TABLE(0x52A0C93Fu, 0xABA65FE7u, 0xD725148Bu, 0xE964B13Du, 0xF64463E6u, 0x7B2231F3u,
		0xBF672381u, 0xDD45AAB8u),
	CRC_TABLE(0x6EA2D55Cu, 0x37516AAEu, 0x1BA8B557u, 0x8F2261D3u, 0xC5670B91u, 0xE045BEB0u,
		0x7022DF58u, 0x38116FACu),
	CRC_TABLE(0x1C08B7D6u, 0x0E045BEBu, 0x85F4168Du, 0xC00C303Eu, 0x6006181Fu, 0xB2F53777u,
		0xDB8CA0C3u, 0xEF306B19u),
	CRC_TABLE(0xF56E0EF4u, 0x7AB7077Au, 0x3D5B83BDu, 0x9C5BFAA6u, 0x4E2DFD53u, 0xA5E0C5D1u,
		0xD0065990u, 0x68032CC8u),
	CRC_TABLE(0x34019664u, 0x1A00CB32u, 0x0D006599u, 0x847609B4u, 0x423B04DAu, 0x211D826Du,
		0x9278FA4Eu, 0x493C7D27u),
};

static uint32_t slice_8(uint32_t state, const uint8_t *p)
{
	uint32_t lo = state ^ le32_at(p);
	uint32_t hi = le32_at(p + 4);

	return slices[7][lo & 0xFF] ^ slices[6][lo >> 8 & 0xFF] ^ slices[5][lo >> 16 & 0xFF] ^
	       slices[4][lo >> 24] ^ slices[3][hi & 0xFF] ^ slices[2][hi >> 8 & 0xFF] ^
	       slices[1][hi >> 16 & 0xFF] ^ slices[0][hi >> 24];
}

uint32_t crc32c_portable(uint32_t state, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len >= 8; len -= 8, p += 8)
		state = slice_8(state, p);
	for (; len > 0; len--, p++)
		state = state >> 8 ^ slices[0][(state ^ *p) & 0xFF];
	return state;
}

static _Atomic(const struct crc32c_impl *) chosen;

/* The first path that this processor has; the portable one ends the list and is always there. */
static const struct crc32c_impl *choose(void)
{
	const struct crc32c_impl *impl = crc32c_impls();

	while (impl->fn == NULL)
		impl++;
	atomic_store_explicit(&chosen, impl, memory_order_relaxed);
	return impl;
}

/* Relaxed: what `chosen` points to is constant data. */
static const struct crc32c_impl *in_use(void)
{
	const struct crc32c_impl *impl = atomic_load_explicit(&chosen, memory_order_relaxed);

	return __builtin_expect(impl == NULL, 0) ? choose() : impl;
}

uint32_t crc32c(uint32_t state, const void *data, size_t len)
{
	return in_use()->fn(state, data, len);
}

const char *crc32c_path(void)
{
	return in_use()->name;
}
