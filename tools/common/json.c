/*
 * json.c - a small JSON writer.
 *
 * Always:  what is written is valid JSON whatever bytes a text holds; errors of the stream stay in it
 *          (ferror) for the program's end.
 */
#include "common/json.h"

#include "common/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void quoted(FILE *out, const uint8_t *p, size_t len)
{
	unsigned n;

	fputc('"', out);
	for (size_t i = 0; i < len; i += n) {
		n = utf8_length(p + i, len - i);
		if (n > 1) {
			(void)fwrite(p + i, 1, n, out);
			continue;
		}
		if (n == 0) {
			fprintf(out, "\\udc%02x", (unsigned)p[i]);
			n = 1;
		} else if (p[i] == '"' || p[i] == '\\') {
			fprintf(out, "\\%c", p[i]);
		} else if (p[i] < 32 || p[i] == 127) {
			fprintf(out, "\\u%04x", (unsigned)p[i]);
		} else {
			fputc(p[i], out);
		}
	}
	fputc('"', out);
}

/* Whatever comes before a value: comma, line, key. */
static void begin(struct json *j, const char *key)
{
	if (j->depth > 0) {
		fprintf(j->out, "%s\n%*s", j->follows ? "," : "", (int)(2 * j->depth), "");
	}
	if (key != NULL) {
		quoted(j->out, (const uint8_t *)key, strlen(key));
		fputs(": ", j->out);
	}
	j->follows = true;
}

static void open_level(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	fputc(bracket, j->out);
	j->depth++;
	j->follows = false;
}

static void close_level(struct json *j, char bracket)
{
	j->depth--;
	if (j->follows) {
		fprintf(j->out, "\n%*s", (int)(2 * j->depth), "");
	}
	fputc(bracket, j->out);
	j->follows = true;
}

void json_object_begin(struct json *j, const char *key)
{
	open_level(j, key, '{');
}

void json_object_end(struct json *j)
{
	close_level(j, '}');
}

void json_list_begin(struct json *j, const char *key)
{
	open_level(j, key, '[');
}

void json_list_end(struct json *j)
{
	close_level(j, ']');
}

void json_bytes(struct json *j, const char *key, const void *bytes, size_t len)
{
	begin(j, key);
	quoted(j->out, bytes, len);
}

void json_text(struct json *j, const char *key, const char *text)
{
	json_bytes(j, key, text, strlen(text));
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	begin(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_signed(struct json *j, const char *key, int64_t value)
{
	begin(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	begin(j, key);
	if (isfinite(value)) {
		fprintf(j->out, "%.6g", value);
	} else {
		fputs("null", j->out);
	}
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	fputs(value ? "true" : "false", j->out);
}

void json_null(struct json *j, const char *key)
{
	begin(j, key);
	fputs("null", j->out);
}

void json_end(struct json *j)
{
	fputc('\n', j->out);
}
