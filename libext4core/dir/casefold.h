/* casefold.h - folding of names, by casefold.c or casefold_none.c. Apart, as utf8proc.h brings in macros that clash with format/. */
#ifndef DIR_CASEFOLD_H
#define DIR_CASEFOLD_H

#include "base/types.h"

/* Whether names can be folded in this build. */
bool casefold_available(void);
/* Folded form into out (at most size bytes); its length, or -EINVAL for invalid UTF-8, -EOPNOTSUPP without utf8proc. */
int casefold(const uint8_t *name, uint32_t len, uint8_t *out, uint32_t size) E4_MUST_CHECK;

#endif
