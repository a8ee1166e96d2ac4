/* text.c - bytes, modes, times and sizes as people and scripts read them. */
#include "common/text.h"

#include "common/memory.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static int continues(const uint8_t *p, size_t len, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		if (i >= len || (p[i] & 0xc0) != 0x80) {
			return 0;
		}
	}
	return 1;
}

/* Overlong forms, surrogates and what lies above U+10FFFF show in the first two bytes. */
unsigned utf8_length(const uint8_t *p, size_t len)
{
	uint8_t low = 0x80;
	uint8_t high = 0xbf;
	unsigned n;

	if (len == 0 || p[0] < 0x80) {
		return len > 0;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		n = 2;
	} else if (p[0] >= 0xe0 && p[0] <= 0xef) {
		n = 3;
		low = p[0] == 0xe0 ? 0xa0 : 0x80;
		high = p[0] == 0xed ? 0x9f : 0xbf;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		n = 4;
		low = p[0] == 0xf0 ? 0x90 : 0x80;
		high = p[0] == 0xf4 ? 0x8f : 0xbf;
	} else {
		return 0;
	}
	if (len < 2 || p[1] < low || p[1] > high || !continues(p, len, 2, n)) {
		return 0;
	}
	return n;
}

char *text_escaped(const char *bytes, size_t len)
{
	char *ret = memory_grow(NULL, len + 1, 4);
	char *p = ret;
	unsigned char c;

	for (size_t i = 0; i < len; i++) {
		c = (unsigned char)bytes[i];
		if (c >= 33 && c < 127 && c != '\\') {
			*p++ = (char)c;
		} else {
			*p++ = '\\';
			*p++ = (char)('0' + (c >> 6));
			*p++ = (char)('0' + (c >> 3 & 7));
			*p++ = (char)('0' + (c & 7));
		}
	}
	*p = '\0';
	return ret;
}

void text_name(FILE *out, const char *name, int terminal)
{
	const uint8_t *p = (const uint8_t *)name;
	size_t len = strlen(name);
	unsigned n;

	if (!terminal) {
		fputs(name, out);
		return;
	}
	for (size_t i = 0; i < len; i += n) {
		n = utf8_length(p + i, len - i);
		/* C1 controls, U+0080..U+009F, move cursors too */
		if (n == 0 || p[i] < 32 || p[i] == 127 || p[i] == '\\' ||
			(n == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0)) {
			fprintf(out, "\\%03o", (unsigned)p[i]);
			n = 1;
		} else {
			(void)fwrite(p + i, 1, n, out);
		}
	}
}

char text_type_letter(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return '-';
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFCHR:
		return 'c';
	case S_IFBLK:
		return 'b';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	default:
		return '?';
	}
}

const char *text_type_words(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "regular file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	case S_IFCHR:
		return "character special file";
	case S_IFBLK:
		return "block special file";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "unknown";
	}
}

/* The letter for execution, with what setuid, setgid or sticky make of it. */
static char execute_letter(uint32_t mode, uint32_t execute, uint32_t special, const char *letters)
{
	if ((mode & special) == 0) {
		letters = "x-";
	}
	return letters[(mode & execute) == 0];
}

void text_mode(uint32_t mode, char ret[11])
{
	ret[0] = text_type_letter(mode);
	for (unsigned i = 0; i < 9; i++) {
		ret[1 + i] = '-';
		if (mode & (0400u >> i)) {
			ret[1 + i] = "rwx"[i % 3];
		}
	}
	ret[3] = execute_letter(mode, S_IXUSR, S_ISUID, "sS");
	ret[6] = execute_letter(mode, S_IXGRP, S_ISGID, "sS");
	ret[9] = execute_letter(mode, S_IXOTH, S_ISVTX, "tT");
	ret[10] = '\0';
}

void text_time(const struct e4_timespec *t, char ret[TEXT_TIME_MAX])
{
	snprintf(ret, TEXT_TIME_MAX, "%" PRId64 ".%09" PRIu32, t->sec, t->nsec);
}

void text_date(const struct e4_timespec *t, int precise, char ret[TEXT_TIME_MAX])
{
	time_t sec = (time_t)t->sec;
	struct tm tm;
	char zone[8];
	size_t len;

	if (localtime_r(&sec, &tm) == NULL) {
		text_time(t, ret);
		return;
	}
	len = strftime(ret, TEXT_TIME_MAX, precise ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d %H:%M", &tm);
	if (precise && strftime(zone, sizeof(zone), "%z", &tm) > 0) {
		snprintf(ret + len, TEXT_TIME_MAX - len, ".%09" PRIu32 " %s", t->nsec, zone);
	}
}

void text_size(uint64_t bytes, char ret[TEXT_SIZE_MAX])
{
	static const char units[] = "KMGTPE";
	unsigned unit = 0;
	uint64_t tenths;

	if (bytes < 1024) {
		snprintf(ret, TEXT_SIZE_MAX, "%" PRIu64, bytes);
		return;
	}
	while (bytes >> 10 >= 1024) {
		bytes >>= 10;
		unit++;
	}
	tenths = bytes * 10 / 1024;
	if (tenths < 100) {
		snprintf(ret, TEXT_SIZE_MAX, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10,
			units[unit]);
	} else {
		snprintf(ret, TEXT_SIZE_MAX, "%" PRIu64 "%c", tenths / 10, units[unit]);
	}
}

void text_flags(uint32_t flags, char ret[TEXT_FLAGS_MAX])
{
	static const struct {
		uint32_t flag;
		char letter;
	} table[] = {
		{0x00000001, 's'},
		{0x00000002, 'u'},
		{0x00000008, 'S'},
		{0x00010000, 'D'},
		{0x00000010, 'i'},
		{0x00000020, 'a'},
		{0x00000040, 'd'},
		{0x00000080, 'A'},
		{0x00000004, 'c'},
		{0x00000800, 'E'},
		{0x00004000, 'j'},
		{0x00001000, 'I'},
		{0x00008000, 't'},
		{0x00020000, 'T'},
		{0x00080000, 'e'},
		{0x00800000, 'C'},
		{0x02000000, 'x'},
		{0x40000000, 'F'},
		{0x10000000, 'N'},
		{0x20000000, 'P'},
		{0x00100000, 'V'},
		{0x00000400, 'm'},
	};
	size_t n = 0;

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (flags & table[i].flag) {
			ret[n++] = table[i].letter;
		}
	}
	ret[n] = '\0';
}

void text_uuid(const uint8_t uuid[16], char ret[TEXT_UUID_MAX])
{
	static const char digits[] = "0123456789abcdef";
	char *p = ret;

	for (unsigned i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10) {
			*p++ = '-';
		}
		*p++ = digits[uuid[i] >> 4];
		*p++ = digits[uuid[i] & 15];
	}
	*p = '\0';
}
