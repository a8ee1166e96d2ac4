#ifndef TOOLS_COMMON_LISTING_H
#define TOOLS_COMMON_LISTING_H

#include <ext4core/dir.h>
#include <ext4core/fs.h>

#include <stdbool.h>
#include <stddef.h>

struct listing_entry {
	char *name;
	uint32_t ino;
	uint32_t type; /* enum e4_file_type as the directory says, 0 = unknown */
};

/* A directory's entries, sorted by the bytes of their names. */
struct listing {
	struct listing_entry *entries;
	size_t count, capacity;
};

/*
 * Reads directory `ip`. `.` and `..` are left out unless `dots`. On an error the entries read before it are
 * there and a negative errno is answered; listing_free() is due in any case.
 */
int listing_read(struct e4_inode *ip, bool dots, struct listing *ret);
void listing_free(struct listing *l);

/* Whether a name can be a component of a path: not empty, not `.` or `..`, without a slash. */
bool listing_name_safe(const char *name);

#endif
