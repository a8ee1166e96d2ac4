#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

enum {
	HIST_SUB_BITS = 6, /* a bucket is 1/64 of a power of two wide */
	HIST_BUCKETS = (64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS,
};

/* How often each value was seen; zeroed memory is an empty one. */
struct hist {
	uint64_t count, sum, max;
	uint64_t buckets[HIST_BUCKETS];
};

static inline unsigned hist_bucket(uint64_t value)
{
	unsigned top;
	unsigned shift;

	if (value < 1u << HIST_SUB_BITS) {
		return (unsigned)value;
	}
	top = 63 - (unsigned)__builtin_clzll(value);
	shift = top - HIST_SUB_BITS;
	return ((shift + 1) << HIST_SUB_BITS) + (unsigned)(value >> shift) - (1u << HIST_SUB_BITS);
}

static inline void hist_add(struct hist *h, uint64_t value)
{
	h->count++;
	h->sum += value;
	h->max = value > h->max ? value : h->max;
	h->buckets[hist_bucket(value)]++;
}

void hist_merge(struct hist *h, const struct hist *other);
/* The value that `percent` of those seen do not exceed, at most 1.6 % too high; 0 when there are none. */
uint64_t hist_percentile(const struct hist *h, double percent);

#endif
