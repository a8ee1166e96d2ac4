#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

/* xorshift64*: fast, and the same for every side. A state of 0 would stay 0. */
static inline uint64_t pattern_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545F4914F6CDD1Du;
}

/* Where the next request goes: pieces of `bs` bytes within [0, blocks * bs). */
struct pattern {
	uint64_t bs;
	uint64_t blocks;
	uint64_t state; /* of the randomness; not 0 */
	uint64_t next;  /* the next block of a sequence */
	bool random;
};

static inline uint64_t pattern_next(struct pattern *p)
{
	if (p->random) {
		uint64_t high = pattern_random(&p->state) >> 32;

		return (high * p->blocks >> 32) * p->bs; /* up to 2^32 blocks */
	}
	if (p->next == p->blocks) {
		p->next = 0;
	}
	return p->next++ * p->bs;
}

/* A seed of 0 is as good as any other. */
static inline struct pattern pattern_init(uint64_t bs, uint64_t size, bool random, uint64_t seed)
{
	return (struct pattern){
		.bs = bs,
		.blocks = size / bs,
		.state = (seed + 1) * 0x9E3779B97F4A7C15u | 1,
		.random = random,
	};
}

#endif
