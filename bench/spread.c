/*
 * spread.c - median and quartiles, between two values by their distance.
 */
#include "spread.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

static double at(const double *values, unsigned count, double share)
{
	double place = share * (count - 1);
	unsigned below = (unsigned)place;

	if (below + 1 >= count) {
		return values[count - 1];
	}
	return values[below] + (place - below) * (values[below + 1] - values[below]);
}

struct spread spread_of(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_value);
	return (struct spread){
		.low = at(values, count, 0.25),
		.median = at(values, count, 0.5),
		.high = at(values, count, 0.75),
	};
}
