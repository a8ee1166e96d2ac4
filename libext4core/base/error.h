/*
 * error.h - where failures are born: one call, one reason, kept in the device's ring.
 *
 *     return fail(env, E4_WHY_EXTENT_DEPTH, .ino = ip->ino, .block = pblk, .found = depth, .expected = EXTENT_DEPTH_MAX);
 *
 * Callers above pass the errno on unchanged. Reasons are rows of why.def, each used in one place.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/mutex.h"
#include "base/types.h"

#include <ext4core/error.h>

struct env;

enum why {
	E4_WHY_NONE = 0,
#define WHY(id, err, text) E4_WHY_##id,
#include "base/why.def"
#undef WHY
	E4_WHY_COUNT,
};

/* What is known about a failure besides its reason; all optional. */
struct fail_info {
	pblk_t block;
	inum_t ino;
	int err; /* negative errno that replaces the row's (device errors pass through) */
	uint64_t found, expected;
	const char *name; /* feature, file or partition concerned; copied into the text */
};

#define ERROR_RING_SIZE 64

struct error_ring {
	struct mutex lock;                      /* rank LEAF */
	uint64_t count;                         /* [lock] failures ever */
	struct e4_error slots[ERROR_RING_SIZE]; /* [lock] */
};

/* Records the failure, logs it with its culprit, returns the negative errno. Never fails, never blocks on I/O. */
int fail_at(struct env *env, enum why why, const struct fail_info *info, const char *file,
	uint32_t line) __attribute__((cold));
#define fail(env, why, ...)                                                                        \
	fail_negative(fail_at((env), (why), &(struct fail_info){__VA_ARGS__}, __FILE__, __LINE__))

/* Says to compilers and analyzers what fail_at() promises. */
static inline int fail_negative(int r)
{
	if (r >= 0)
		__builtin_unreachable();
	return r;
}

/* The calling thread's newest failure; false when it met none. ret->struct_size must be set. */
bool error_last(struct env *env, struct e4_error *ret);
/* Failures so far; a caller that wants to know whether something was reported meanwhile compares two readings. */
uint64_t error_count(struct env *env);

const char *why_name(enum why why);

#endif
