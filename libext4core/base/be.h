/* be.h - big-endian disk fields (the journal). Same idea as le.h. */
#ifndef BASE_BE_H
#define BASE_BE_H

#include <stdint.h>

struct be16 {
	uint8_t b[2];
};
struct be32 {
	uint8_t b[4];
};
struct be64 {
	uint8_t b[8];
};

static inline uint16_t be16_get(struct be16 v)
{
	return (uint16_t)((uint16_t)v.b[0] << 8 | v.b[1]);
}

static inline uint32_t be32_get(struct be32 v)
{
	return (uint32_t)v.b[0] << 24 | (uint32_t)v.b[1] << 16 | (uint32_t)v.b[2] << 8 |
	       (uint32_t)v.b[3];
}

static inline uint64_t be64_get(struct be64 v)
{
	uint64_t hi = (uint64_t)v.b[0] << 24 | (uint64_t)v.b[1] << 16 | (uint64_t)v.b[2] << 8 |
		      (uint64_t)v.b[3];
	uint64_t lo = (uint64_t)v.b[4] << 24 | (uint64_t)v.b[5] << 16 | (uint64_t)v.b[6] << 8 |
		      (uint64_t)v.b[7];

	return hi << 32 | lo;
}

static inline struct be16 be16_put(uint16_t v)
{
	return (struct be16){{(uint8_t)(v >> 8), (uint8_t)v}};
}

static inline struct be32 be32_put(uint32_t v)
{
	return (struct be32){{(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}};
}

static inline struct be64 be64_put(uint64_t v)
{
	return (struct be64){
		{(uint8_t)(v >> 56), (uint8_t)(v >> 48), (uint8_t)(v >> 40), (uint8_t)(v >> 32),
			(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}};
}

static inline uint32_t be32_at(const void *p)
{
	return be32_get(*(const struct be32 *)p);
}

static inline uint64_t be64_at(const void *p)
{
	return be64_get(*(const struct be64 *)p);
}

#endif
