/*
 * crc32c_other.c - machines without a CRC instruction that we know of.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the list ends with the portable path.
 */
#include "base/crc32c_impl.h"

const struct crc32c_impl *crc32c_impls(void)
{
	static const struct crc32c_impl impls[] = {{"portable", crc32c_portable}, {NULL, NULL}};

	return impls;
}
