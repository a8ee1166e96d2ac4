/*
 * assert.h - for our own bugs only, never for what a disk, a device or a caller says.
 *
 * E4_ASSERT stays in release builds; E4_DEBUG_ASSERT is for scans and is compiled in with -DE4_DEBUG (buildtype debug).
 * The handler is process-wide by need: an assertion has no mount to ask. env_init() installs the embedder's.
 */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#include <stdint.h>

void base_assert_failed(const char *expr, const char *file, uint32_t line)
	__attribute__((noreturn, cold));

#define E4_ASSERT(x) ((x) ? (void)0 : base_assert_failed(#x, __FILE__, __LINE__))
#ifdef E4_DEBUG
#define E4_DEBUG_ASSERT(x) E4_ASSERT(x)
#else
#define E4_DEBUG_ASSERT(x) ((void)sizeof((x) ? 1 : 0))
#endif

#endif
