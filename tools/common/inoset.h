#ifndef TOOLS_COMMON_INOSET_H
#define TOOLS_COMMON_INOSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table from inode numbers (never 0) to texts. */
struct inoset {
	struct inoset_slot {
		uint32_t ino; /* 0 = free */
		char *text;
	} * slots;
	size_t count, capacity;
};

/* Adds ino; `text` (may be NULL) is copied. False when it was there already. */
bool inoset_add(struct inoset *s, uint32_t ino, const char *text);
/* The text of ino; NULL when it is not there. */
const char *inoset_text(const struct inoset *s, uint32_t ino);
void inoset_free(struct inoset *s);

#endif
