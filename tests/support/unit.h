#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <check.h>

/* Runs the suite, reports in TAP on standard output, frees it; the value is main()'s. */
int unit_run(Suite *suite);

#endif
