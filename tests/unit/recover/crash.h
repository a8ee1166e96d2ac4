/*
 * crash.h - recovery, cut at each of its own writes.
 */
#ifndef TESTS_RECOVER_CRASH_H
#define TESTS_RECOVER_CRASH_H

#include "base/types.h"

#include <ext4core/blockdev.h>
#include <ext4core/fs.h>

/* A volume in memory, and the log's device if it is elsewhere. */
struct image {
	uint8_t *bytes, *log;
	uint64_t size, log_size;
};

struct crash_stats {
	uint32_t writes, cuts, subsets;
	bool equal; /* every cut ended in the same bytes */
	struct e4_replay_result result;
};

int image_read(const char *path, const char *log_path, struct image *ret);
int image_write(const struct image *img, const char *path);
int image_copy(const struct image *img, struct image *ret);
void image_fini(struct image *img);

/* Recovers for good, with the clock standing still. */
int image_recover(struct image *img, struct e4_replay_result *ret);
/* Recovers in memory: what a reader would see replaces the bytes. The device under it must not change: -EIO if it did. */
int image_recover_in_memory(struct image *img, struct e4_replay_result *ret);
/*
 * Recovers for good on a recording device, then again from every prefix of the writes and from up to `subsets` sampled subsets of each
 * stretch between two flushes; max_cuts 0 = all prefixes, else so many, evenly spread. *ret_final is the recovered volume.
 */
int crash_all(const struct image *dirty, uint32_t max_cuts, uint32_t subsets, uint32_t seed,
	struct crash_stats *ret, struct image *ret_final);

/* Recovers a copy for good on a recording device and shows the volume as each write, flushes among them, left it: n of count. */
int crash_foreach_prefix(const struct image *dirty,
	void (*fn)(struct image *cut, uint32_t n, uint32_t count), struct e4_replay_result *ret);

#endif
