/* types.h - the field's one-value types. Plain typedefs: arithmetic stays readable, -Wconversion catches lost bits. */
#ifndef BASE_TYPES_H
#define BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t lblk_t;  /* logical block in a file, 0 .. 2^32-2 */
typedef uint64_t pblk_t;  /* block of the volume, 48 bits on disk */
typedef uint32_t inum_t;  /* inode number, from 1 */
typedef uint32_t group_t; /* block group number */
typedef uint32_t tid_t;   /* journal transaction id; wraps: compare with tid_before() */

#define LBLK_MAX ((lblk_t)0xFFFFFFFEu) /* the last usable logical block */

static inline bool tid_before(tid_t a, tid_t b)
{
	return (int32_t)(a - b) < 0;
}

#define E4_MUST_CHECK   __attribute__((warn_unused_result))
#define E4_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define E4_LIKELY(x)    __builtin_expect(!!(x), 1)
#define E4_UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define E4_CACHE_LINE   64

#endif
