#ifndef TOOLS_COMMON_TEXT_H
#define TOOLS_COMMON_TEXT_H

#include <ext4core/types.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the well-formed UTF-8 character at p, of at most len bytes; 0 when there is none. */
unsigned utf8_length(const uint8_t *p, size_t len);

/* The escape of `e4 manifest`: bytes outside 33..126 and the backslash as \ooo. The result is the caller's to free. */
char *text_escaped(const char *bytes, size_t len);
/* A name for a listing: as it is, or on a terminal with control characters and broken UTF-8 as \ooo. */
void text_name(FILE *out, const char *name, int terminal);

/* Letter of the file type as in `ls -l`; '?' when it is none. */
char text_type_letter(uint32_t mode);
/* Words of the file type as stat(1) has them. */
const char *text_type_words(uint32_t mode);
/* "drwxr-xr-x" */
void text_mode(uint32_t mode, char ret[11]);

/* SECONDS.NNNNNNNNN, floored before 1970. */
enum { TEXT_TIME_MAX = 40 };
void text_time(const struct e4_timespec *t, char ret[TEXT_TIME_MAX]);
/* Local time for people, with nanoseconds or to the minute. */
void text_date(const struct e4_timespec *t, int precise, char ret[TEXT_TIME_MAX]);

/* 1536 -> "1.5K"; at most 1023 before the unit. */
enum { TEXT_SIZE_MAX = 16 };
void text_size(uint64_t bytes, char ret[TEXT_SIZE_MAX]);

/* The letters of chattr(1) for i_flags, in lsattr's order. */
enum { TEXT_FLAGS_MAX = 33 };
void text_flags(uint32_t flags, char ret[TEXT_FLAGS_MAX]);

enum { TEXT_UUID_MAX = 37 };
void text_uuid(const uint8_t uuid[16], char ret[TEXT_UUID_MAX]);

#endif
