/*
 * clock.c - the processor time that a measurement has to answer for.
 *
 * Always:  all threads count, with them the workers that the kernel runs for a ring (they are threads of the process),
 *          and children that were waited for. The kernel threads behind a loop device do not:
 *          they work alike for whoever reads it.
 */
#include "clock.h"

#include <sys/resource.h>

uint64_t clock_cpu_ns(void)
{
	struct rusage children;
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	getrusage(RUSAGE_CHILDREN, &children);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec +
	       (uint64_t)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1000u;
}
