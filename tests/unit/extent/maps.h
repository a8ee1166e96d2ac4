/*
 * maps.h - a volume laid out by hand in memory, and inodes whose maps are what a test says: for the tests of extent, map and file.
 *
 * The volume has checksums, no journal and as many groups as it needs. Inodes are made in memory only; their nodes are written to the
 * device. A list of runs is the model that answers are compared with.
 */
#ifndef TESTS_MAPS_H
#define TESTS_MAPS_H

#include "extent/extent.h"
#include "inode/inode.h"

#define MAPS_INO 12u

struct maps_run {
	lblk_t lblk;
	uint32_t len;
	pblk_t pblk;
	bool unwritten;
};

struct maps {
	struct env *env;
	struct e4_blockdev *mem;   /* where it lies */
	struct e4_blockdev *fault; /* what the volume reads: fails when told to */
	struct volume *vol;
	uint32_t block_size;
	pblk_t next_node; /* where the next node goes, downward */
	uint32_t blocks;
};

void maps_open(struct maps *m, uint32_t block_size, uint32_t blocks);
void maps_close(struct maps *m);
/* Drops every cached block, so that the device is asked again. */
void maps_forget(struct maps *m);
/* The first block of a group that is free for files, when the group is large enough. */
pblk_t maps_first_free(const struct maps *m);

/* An empty regular file with an extent tree. */
void maps_inode_init(struct maps *m, struct inode *ip);
void maps_inode_fini(struct inode *ip);

/* Writes the runs (sorted) as an extent tree, per_node entries a block; gives the root to ip. Returns the nodes written. */
uint32_t maps_write_tree(struct maps *m, struct inode *ip, const struct maps_run *runs,
	uint32_t count, uint32_t per_node);
/* The same as an indirect map. Unwritten runs cannot be. */
uint32_t maps_write_indirect(
	struct maps *m, struct inode *ip, const struct maps_run *runs, uint32_t count);
/* Header and checksum of one node, and its write. */
void maps_write_node(struct maps *m, const struct inode *ip, pblk_t pblk, void *node);
struct disk_extent_header maps_header(uint32_t entries, uint32_t max, uint32_t depth);
void maps_read_block(struct maps *m, pblk_t pblk, void *buf);
void maps_write_block(struct maps *m, pblk_t pblk, const void *buf);

/* What a linear search in the runs says. */
struct extent_piece maps_find(const struct maps_run *runs, uint32_t count, lblk_t lblk);
/* Runs with gaps, unwritten ones among them, never contiguous with each other on the device. Lengths 1..len_max. */
void maps_random_runs(const struct maps *m, struct maps_run *runs, uint32_t count, uint32_t len_max,
	uint64_t seed);
uint64_t maps_random(uint64_t *state);

/* Writes the pattern of the file's bytes into the written runs, rubbish into the others. */
void maps_write_data(struct maps *m, const struct maps_run *runs, uint32_t count);
uint8_t maps_pattern(uint64_t offset);
/* The reason of the newest failure of this thread. */
const char *maps_why(const struct maps *m);
void maps_fail_read(struct maps *m, uint64_t nth);
uint64_t maps_reads(struct maps *m);

#endif
