/* digest.h - what a volume shows, object by object, so that two looks at it can be compared. */
#ifndef TESTS_DIGEST_H
#define TESTS_DIGEST_H

#include <ext4core/ext4core.h>

#include <stdint.h>

/* One object: its path, and a checksum over all that was read of it, or the first errno met on the way. */
struct digest_object {
	char *path;
	uint32_t crc;
	int32_t err;     /* of the object itself; 0 = all of it was read */
	int32_t dir_err; /* of a directory: listing it ended with this; entries may be missing */
};

struct digest {
	struct digest_object *objects;
	uint32_t count, capacity;
};

/* Walks from the root. A fault costs the object it hits and is not fatal. */
void digest_walk(struct e4_fs *fs, struct digest *ret);
void digest_free(struct digest *d);
/*
 * 0 when `seen` contradicts `whole` nowhere: each object is the same or failed, and one is missing only where its directory, or one above
 * it, failed. Else the number of contradictions, each printed.
 */
int digest_contradictions(const struct digest *whole, const struct digest *seen);

#endif
