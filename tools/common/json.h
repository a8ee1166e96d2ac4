#ifndef TOOLS_COMMON_JSON_H
#define TOOLS_COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes one JSON document to a stream as its parts are given. `key` is NULL in a list and at the top.
 *
 * Names on a volume are bytes. Well-formed UTF-8 stands as it is; any other byte 0xXX is written as the lone
 * surrogate \udcXX, which Python's json and os.fsencode() turn back into that byte.
 */
struct json {
	FILE *out;
	unsigned depth;
	bool follows; /* something stands before this in the innermost object or list */
};

void json_object_begin(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_list_begin(struct json *j, const char *key);
void json_list_end(struct json *j);
void json_text(struct json *j, const char *key, const char *text);
void json_bytes(struct json *j, const char *key, const void *bytes, size_t len);
void json_number(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
/* Six significant digits; what is no number (NaN, infinity) becomes null. */
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
/* Ends the document with a newline. */
void json_end(struct json *j);

#endif
