/*
 * handlog.h - logs built by hand, block by block, in every format.
 */
#ifndef TESTS_JOURNAL_HANDLOG_H
#define TESTS_JOURNAL_HANDLOG_H

#include "journal/journal.h"

#define HAND_BLOCKS 1536u /* of the log; the home blocks follow it on the same device */
#define HAND_HOMES  4096u
#define HAND_FC     256u /* fast-commit blocks where the feature is set */

/* A device in memory: log blocks [0, HAND_BLOCKS), home blocks anywhere. */
struct hand {
	struct env *env;
	struct e4_blockdev *dev;
	uint32_t block_size;
	uint32_t compat, incompat;
	uint32_t last; /* end of the ring */
	uint32_t lblk; /* where the next block goes */
	uint32_t tid;
	uint64_t sec; /* commit time; one more each time */
	uint32_t crc; /* v1 */
};

/* A volume's log with these features, beginning at `start` (0: empty). */
void hand_open(
	struct hand *h, uint32_t block_size, uint32_t compat, uint32_t incompat, uint32_t start);
void hand_close(struct hand *h);
/* A descriptor for homes[0..n) and their data: block i is filled with fill + i, or begins with the magic when escape. */
void hand_data(struct hand *h, const uint64_t *homes, uint32_t n, uint8_t fill, bool escape);
void hand_revoke(struct hand *h, const uint64_t *homes, uint32_t n);
void hand_commit(struct hand *h);
/* Writes one block of the log as it is. */
void hand_raw(struct hand *h, uint32_t lblk, const void *block);
/* Flips one byte. */
void hand_damage(struct hand *h, uint32_t lblk, uint32_t offset);
/* The first byte and the last of a home block. */
uint8_t hand_home(struct hand *h, uint64_t home);
uint32_t hand_home_word(struct hand *h, uint64_t home);
int hand_journal(struct hand *h, struct journal **ret);
/* Opens, replays, closes. */
int hand_replay(struct hand *h, struct journal_recovery *ret);

#endif
