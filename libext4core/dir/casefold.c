/*
 * casefold.c - the folded form of a name: full case folding (statuses C and F), canonical decomposition in canonical order,
 * default-ignorable code points left out. utf8proc has the tables.
 *
 * The format fixes Unicode 12.1. Folding and decomposition of a code point never change once it is assigned (Unicode's stability
 * policy), so a newer utf8proc gives the same answers for those that 12.1 has. One that 12.1 has not stands for itself and keeps its
 * place, unless it is of those set aside to be ignored: so Linux 6.12 answers, asked about every code point (README).
 *
 * Owns:    nothing; no memory is taken.
 * Locks:   none.
 * Always:  a name is folded whole or not at all; folding a folded name changes nothing.
 */
#include "dir/casefold.h"

#include "dir/casefold_ranges.h"

#include <errno.h>
#include <string.h>
#include <utf8proc.h>

#define CODE_POINT_PARTS 18 /* of one code point, folded and decomposed; utf8proc needs no more */

bool casefold_available(void)
{
	return true;
}

static bool is_assigned(uint32_t c)
{
	uint32_t lo = 0;
	uint32_t hi = sizeof(assigned_ranges) / sizeof(assigned_ranges[0]);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c > assigned_ranges[mid][1])
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sizeof(assigned_ranges) / sizeof(assigned_ranges[0]) &&
	       c >= assigned_ranges[lo][0];
}

/* Not assigned, and ignored all the same: Unicode's Other_Default_Ignorable_Code_Point. */
static bool is_ignored_unassigned(uint32_t c)
{
	return c == 0x2065 || (c >= 0xFFF0 && c <= 0xFFF8) || (c >= 0xE0000 && c <= 0xE0FFF);
}

/* The last code point before out[end]; the output is UTF-8 of our own making. */
static uint32_t start_of_last(const uint8_t *out, uint32_t end)
{
	do {
		end--;
	} while (end > 0 && (out[end] & 0xC0) == 0x80);
	return end;
}

static int combining_class(int32_t c)
{
	return is_assigned((uint32_t)c) ? utf8proc_get_property(c)->combining_class : 0;
}

/* Where a code point of this class goes: before those of a higher class at the end, never before a starter. */
static uint32_t place(const uint8_t *out, uint32_t used, int class)
{
	uint32_t at = used;

	while (class > 0 && at > 0) {
		uint32_t last = start_of_last(out, at);
		utf8proc_int32_t c;

		if (utf8proc_iterate(out + last, (utf8proc_ssize_t)(at - last), &c) < 0 ||
			combining_class(c) <= class)
			break;
		at = last;
	}
	return at;
}

static int append(uint8_t *out, uint32_t size, uint32_t *used, int32_t c)
{
	uint8_t bytes[4];
	uint32_t n = (uint32_t)utf8proc_encode_char(c, bytes);

	if (n > size - *used)
		return -EINVAL;
	uint32_t at = place(out, *used, combining_class(c));
	memmove(out + at + n, out + at, *used - at);
	memcpy(out + at, bytes, n);
	*used += n;
	return 0;
}

static int append_folded(uint8_t *out, uint32_t size, uint32_t *used, int32_t c)
{
	const utf8proc_option_t options = UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
	utf8proc_int32_t parts[CODE_POINT_PARTS];
	int boundary = 0;

	if (!is_assigned((uint32_t)c))
		return is_ignored_unassigned((uint32_t)c) ? 0 : append(out, size, used, c);
	utf8proc_ssize_t n = utf8proc_decompose_char(c, parts, CODE_POINT_PARTS, options, &boundary);

	if (n < 0 || n > CODE_POINT_PARTS)
		return -EINVAL;
	for (utf8proc_ssize_t i = 0; i < n; i++) {
		int r = append(out, size, used, parts[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

int casefold(const uint8_t *name, uint32_t len, uint8_t *out, uint32_t size)
{
	uint32_t used = 0;

	for (uint32_t at = 0; at < len;) {
		utf8proc_int32_t c;
		utf8proc_ssize_t n = utf8proc_iterate(name + at, (utf8proc_ssize_t)(len - at), &c);

		if (n <= 0)
			return -EINVAL;
		int r = append_folded(out, size, &used, c);
		if (r < 0)
			return r;
		at += (uint32_t)n;
	}
	return (int)used;
}
