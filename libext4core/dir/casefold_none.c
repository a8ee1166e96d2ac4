/*
 * casefold_none.c - a build without utf8proc: names are not folded. Look-ups in a casefolded directory find a name by its own
 * bytes, and otherwise say that they do not know; listings are by offset, as hashes are of the folded form.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the answer is -EOPNOTSUPP.
 */
#include "dir/casefold.h"

#include <errno.h>

bool casefold_available(void)
{
	return false;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is casefold.c's */
int casefold(const uint8_t *name, uint32_t len, uint8_t *out, uint32_t size)
{
	(void)name;
	(void)len;
	(void)out;
	(void)size;
	return -EOPNOTSUPP;
}
