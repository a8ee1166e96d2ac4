#ifndef BENCH_SPREAD_H
#define BENCH_SPREAD_H

/* What is told of a list of figures. */
struct spread {
	double low, median, high; /* low and high are the quartiles */
};

/* Sorts values. count >= 1. */
struct spread spread_of(double *values, unsigned count);

#endif
