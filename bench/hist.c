/*
 * hist.c - a histogram whose buckets grow with the value.
 *
 * Always:  the sum over the buckets is count.
 */
#include "hist.h"

void hist_merge(struct hist *h, const struct hist *other)
{
	h->count += other->count;
	h->sum += other->sum;
	h->max = other->max > h->max ? other->max : h->max;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		h->buckets[i] += other->buckets[i];
	}
}

/* The largest value of a bucket. */
static uint64_t bucket_top(unsigned bucket)
{
	unsigned shift = bucket >> HIST_SUB_BITS;
	uint64_t sub = bucket & ((1u << HIST_SUB_BITS) - 1);

	if (shift == 0) {
		return bucket;
	}
	return ((sub + (1u << HIST_SUB_BITS) + 1) << (shift - 1)) - 1;
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
	double wanted = (double)h->count * percent / 100;
	uint64_t seen = 0;

	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen > 0 && (double)seen >= wanted) {
			return bucket_top(i) < h->max ? bucket_top(i) : h->max;
		}
	}
	return h->max;
}
