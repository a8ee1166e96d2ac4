#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <check.h>

/* Check has a macro of this name, which nobody needs; here it is the library's, whichever header came first. */
#undef fail
#include "base/error.h"
#ifndef fail
#define fail(env, why, ...)                                                                        \
	fail_negative(fail_at((env), (why), &(struct fail_info){__VA_ARGS__}, __FILE__, __LINE__))
#endif

/* Runs the suite, reports in TAP on standard output, frees it; the value is main()'s. */
int unit_run(Suite *suite);

#endif
