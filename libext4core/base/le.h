/*
 * le.h - little-endian disk fields. Structs of bytes: alignment 1, so no `packed`; arithmetic on a raw field, or a
 * forgotten swap, does not compile. gcc and clang turn each accessor into one load or store.
 */
#ifndef BASE_LE_H
#define BASE_LE_H

#include <stdint.h>

struct le16 {
	uint8_t b[2];
};
struct le32 {
	uint8_t b[4];
};
struct le64 {
	uint8_t b[8];
};

static inline uint16_t le16_get(struct le16 v)
{
	return (uint16_t)(v.b[0] | (uint16_t)v.b[1] << 8);
}

static inline uint32_t le32_get(struct le32 v)
{
	return (uint32_t)v.b[0] | (uint32_t)v.b[1] << 8 | (uint32_t)v.b[2] << 16 |
	       (uint32_t)v.b[3] << 24;
}

static inline uint64_t le64_get(struct le64 v)
{
	uint64_t lo = (uint64_t)v.b[0] | (uint64_t)v.b[1] << 8 | (uint64_t)v.b[2] << 16 |
		      (uint64_t)v.b[3] << 24;
	uint64_t hi = (uint64_t)v.b[4] | (uint64_t)v.b[5] << 8 | (uint64_t)v.b[6] << 16 |
		      (uint64_t)v.b[7] << 24;

	return lo | hi << 32;
}

static inline struct le16 le16_put(uint16_t v)
{
	return (struct le16){{(uint8_t)v, (uint8_t)(v >> 8)}};
}

static inline struct le32 le32_put(uint32_t v)
{
	return (struct le32){{(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)}};
}

static inline struct le64 le64_put(uint64_t v)
{
	return (struct le64){{(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24),
		(uint8_t)(v >> 32), (uint8_t)(v >> 40), (uint8_t)(v >> 48), (uint8_t)(v >> 56)}};
}

/* Reads from any byte position, for formats without structs (ACL entries, fast-commit records). */
static inline uint16_t le16_at(const void *p)
{
	return le16_get(*(const struct le16 *)p);
}

static inline uint32_t le32_at(const void *p)
{
	return le32_get(*(const struct le32 *)p);
}

static inline uint64_t le64_at(const void *p)
{
	return le64_get(*(const struct le64 *)p);
}

#endif
