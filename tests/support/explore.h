/* explore.h - looks at everything a mounted volume has, within bounds; for fuzzers and walks over damaged volumes. */
#ifndef TESTS_EXPLORE_H
#define TESTS_EXPLORE_H

#include <ext4core/ext4core.h>

struct explore_limits {
	uint32_t objects; /* looked at */
	uint32_t entries; /* of one directory */
	uint64_t bytes;   /* read of one file */
};

struct explore_result {
	uint64_t objects, entries, bytes, errors;
};

/* Walks from the root; errors are counted, not fatal. */
void explore(struct e4_fs *fs, const struct explore_limits *limits, struct explore_result *ret);
/* One inode: stat, attributes, map, content or target. */
void explore_inode(
	struct e4_inode *ip, const struct explore_limits *limits, struct explore_result *ret);

#endif
