/*
 * crc32c_arm.c - the CRC instructions of ARMv8, where the kernel says that the processor has them.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the list ends with the portable path.
 */
#include "base/crc32c_impl.h"
#include "base/le.h"

#include <arm_acle.h>
#include <sys/auxv.h>

#define HWCAP_HAS_CRC32 (1ul << 7) /* HWCAP_CRC32 of <asm/hwcap.h> */

#if defined(__clang__)
#define WITH_CRC __attribute__((target("crc")))
#else
#define WITH_CRC __attribute__((target("+crc")))
#endif

WITH_CRC static uint32_t crc32c_armv8(uint32_t state, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len >= 8; len -= 8, p += 8)
		state = __crc32cd(state, le64_at(p));
	for (; len > 0; len--, p++)
		state = __crc32cb(state, *p);
	return state;
}

const struct crc32c_impl *crc32c_impls(void)
{
	static const struct crc32c_impl with_crc[] = {
		{"armv8", crc32c_armv8}, {"portable", crc32c_portable}, {NULL, NULL}};
	static const struct crc32c_impl without[] = {
		{"armv8", NULL}, {"portable", crc32c_portable}, {NULL, NULL}};

	return (getauxval(AT_HWCAP) & HWCAP_HAS_CRC32) != 0 ? with_crc : without;
}
