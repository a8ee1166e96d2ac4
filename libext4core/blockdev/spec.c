/*
 * spec.c - the parser of device specifications.
 *
 * Owns:    the copy of the path in struct spec.
 * Locks:   none.
 * Always:  a text that names an existing path means that path, whatever it looks like.
 */
#include "blockdev/spec.h"

#include "base/math.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool spec_parse_size(const char *text, uint64_t *ret)
{
	static const char suffixes[] = "KMGTP";
	uint64_t v = 0;
	const char *p = text;

	while (*p >= '0' && *p <= '9') {
		if (!mul_u64(v, 10, &v) || !add_u64(v, (uint64_t)(*p - '0'), &v))
			return false;
		p++;
	}
	if (p == text)
		return false;
	if (*p != '\0') {
		int upper = *p & ~0x20;
		const char *s = upper != 0 ? strchr(suffixes, upper) : NULL;

		if (s == NULL || p[1] != '\0' ||
			!mul_u64(v, (uint64_t)1 << (10 * (s - suffixes + 1)), &v))
			return false;
	}
	*ret = v;
	return true;
}

/* A backend's name is lower-case letters, digits, '-' and '_': what else stands before a colon belongs to a path. */
static size_t backend_len(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return text[n] == ':' ? n : 0;
}

/* Names as CONTRACT.md has them. */
static bool backend_of(const char *name, enum spec_backend *ret)
{
	static const struct {
		const char *name;
		enum spec_backend backend;
	} table[] = {
		{"file", SPEC_FILE},
		{"direct", SPEC_DIRECT},
		{"uring", SPEC_URING},
		{"pmem", SPEC_PMEM},
		{"mem", SPEC_MEM},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, name) == 0) {
			*ret = table[i].backend;
			return true;
		}
	}
	return false;
}

/* Copies up to an unescaped comma, taking the escapes away; returns where it stopped. stop_at_comma false: to the end. */
static const char *unescape(const char *from, char *to, bool stop_at_comma)
{
	while (*from != '\0' && !(stop_at_comma && *from == ',')) {
		if (from[0] == '\\' && (from[1] == ',' || from[1] == ':' || from[1] == '\\'))
			from++;
		*to++ = *from++;
	}
	*to = '\0';
	return from;
}

static bool parse_number(const char *value, uint64_t max, uint64_t *ret)
{
	return value != NULL && spec_parse_size(value, ret) && *ret <= max;
}

enum key_result { KEY_OK, KEY_UNKNOWN, KEY_BAD_VALUE };

static enum key_result key_apply(struct spec *spec, const char *key, const char *value)
{
	uint64_t part = 0;
	bool ok;

	if (strcmp(key, "offset") == 0) {
		ok = parse_number(value, INT64_MAX, &spec->offset);
	} else if (strcmp(key, "size") == 0) {
		ok = parse_number(value, INT64_MAX, &spec->size) && spec->size > 0;
	} else if (strcmp(key, "part") == 0) {
		ok = parse_number(value, UINT32_MAX, &part) && part > 0;
		spec->partition = (uint32_t)part;
	} else if (strcmp(key, "ro") == 0) {
		ok = value == NULL;
		spec->read_only = true;
	} else if (strcmp(key, "sync") == 0) {
		ok = value == NULL;
		spec->sync = true;
	} else {
		return KEY_UNKNOWN;
	}
	return ok ? KEY_OK : KEY_BAD_VALUE;
}

/* ",key=value,key" to its end. `word` is scratch as long as the text. */
static int parse_keys(struct env *env, const char *text, char *word, struct spec *spec)
{
	while (*text == ',') {
		text = unescape(text + 1, word, true);
		char *equals = strchr(word, '=');
		const char *value = NULL;

		if (equals != NULL) {
			*equals = '\0';
			value = equals + 1;
		}
		switch (key_apply(spec, word, value)) {
		case KEY_OK:
			break;
		case KEY_UNKNOWN:
			return fail(env, E4_WHY_SPEC_KEY, .name = word);
		case KEY_BAD_VALUE:
			if (equals != NULL)
				*equals = '=';
			return fail(env, E4_WHY_SPEC_VALUE, .name = word);
		}
	}
	return 0;
}

static int parse_backend(struct env *env, const char *text, size_t len, char *word, struct spec *spec)
{
	memcpy(word, text, len);
	word[len] = '\0';
	if (strcmp(word, "nbd") == 0)
		return fail(env, E4_WHY_SPEC_NBD, .name = word);
	if (!backend_of(word, &spec->backend))
		return fail(env, E4_WHY_SPEC_BACKEND, .name = word);
	return 0;
}

static int parse_text(struct env *env, const char *text, char *word, struct spec *spec)
{
	size_t len = backend_len(text);
	struct stat st;

	if (stat(text, &st) == 0) {
		memcpy(spec->path, text, strlen(text) + 1);
		return 0;
	}
	if (len == 0) {
		(void)unescape(text, spec->path, false);
		return 0;
	}
	int r = parse_backend(env, text, len, word, spec);
	if (r < 0)
		return r;
	const char *keys = unescape(text + len + 1, spec->path, true);
	if (spec->path[0] == '\0')
		return fail(env, E4_WHY_SPEC_PATH, .name = text);
	return parse_keys(env, keys, word, spec);
}

int spec_parse(struct env *env, const char *text, struct spec *ret)
{
	struct spec spec = {.backend = SPEC_AUTO, .path_size = strlen(text) + 1};

	if (*text == '\0')
		return fail(env, E4_WHY_SPEC_EMPTY, .err = -EINVAL);
	spec.path = mem_zalloc(env, spec.path_size);
	char *word = mem_zalloc(env, spec.path_size);
	int r = spec.path != NULL && word != NULL ? parse_text(env, text, word, &spec)
						  : fail(env, E4_WHY_SPEC_MEMORY, .name = text);
	mem_free(env, word, spec.path_size);
	if (r < 0)
		spec_fini(env, &spec);
	else
		*ret = spec;
	return r;
}

void spec_fini(struct env *env, struct spec *spec)
{
	mem_free(env, spec->path, spec->path_size);
	spec->path = NULL;
}
