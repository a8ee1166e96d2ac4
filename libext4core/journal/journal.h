/*
 * journal.h - the face of the journal room: reading a log, recovering it, and writing one transaction.
 *
 * The journal knows no inode: `fs` hands it the runs of blocks where the log lies. All writes of recovery go to the device that is
 * handed in: the real one, or an overlay in memory when the volume is opened read-only.
 */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include "base/env.h"
#include "base/types.h"
#include "blockdev/blockdev.h"
#include "buf/buf.h"
#include "format/jbd2.h"

/* Where the log lies: block `first` of the log is block runs[0].pblk of dev, and so on. */
struct journal_run_map {
	uint32_t lblk;
	uint32_t len;
	pblk_t pblk;
};

struct journal_config {
	struct env *env;
	struct e4_blockdev *log_dev; /* holds the log: the volume's device, or the external journal's */
	struct e4_blockdev *home_dev; /* where blocks belong */
	uint32_t block_size;
	uint64_t home_blocks;               /* blocks of the volume; a tag beyond is corruption */
	const struct journal_run_map *runs; /* sorted by lblk, covering the log without gaps; copied */
	uint32_t run_count;
	bool external;
	bool ignore_csum;
};

struct journal;

/* Reads and validates the journal superblock. */
int journal_open(const struct journal_config *config, struct journal **ret) E4_MUST_CHECK;
void journal_close(struct journal *j);
const struct disk_jbd2_super *journal_super(const struct journal *j);
bool journal_is_empty(const struct journal *j); /* s_start == 0 */

/* What a recovery did, and how far it came. */
struct journal_recovery {
	uint64_t transactions, blocks, revoked;
	tid_t next_tid;     /* E: the first tid that is not committed */
	uint32_t head;      /* log block after the last commit */
	bool failed_commit; /* a commit checksum failed in the middle: the kernel refuses the mount */
	tid_t failed_tid; /* of which transaction (also of one dropped silently, with async commits) */
	int error;        /* first data-block checksum error met while replaying, else 0 */
};

/* SCAN, REVOKE, REPLAY into home_dev. Idempotent. Does not touch the log. Ends as format/journal.md "Recovery" says. */
int journal_replay(struct journal *j, struct journal_recovery *ret) E4_MUST_CHECK;
/* SCAN alone: for logs that are to be wiped, and for reports. */
int journal_scan(struct journal *j, struct journal_recovery *ret) E4_MUST_CHECK;

/* The fast-commit area, valid records up to the last good TAIL of tid `expected`: concatenated into one buffer of records (tag, len, value). */
int journal_fc_read(
	struct journal *j, tid_t expected, uint8_t **ret_records, uint32_t *ret_len) E4_MUST_CHECK;

/* Moves the tail: the log now begins, empty, at `head` with tid `tid`. FUA. Fast commits of that tid stay valid. */
int journal_set_tail(struct journal *j, uint32_t head, tid_t tid) E4_MUST_CHECK;
/* Blocks that one transaction can hold. */
uint32_t journal_capacity(const struct journal *j);
/* Appends one transaction with these blocks at head (written, flushed, committed). -ENOSPC when it does not fit the log. */
struct journal_block {
	pblk_t home;
	const void *data;
};
int journal_append(struct journal *j, uint32_t *head, tid_t tid, const struct journal_block *blocks,
	uint32_t count) E4_MUST_CHECK;
/* The log is empty: s_start 0, next tid after `last_tid`, fast-commit bit cleared, head kept. FUA. errno_value is stored as s_errno. */
int journal_set_empty(
	struct journal *j, tid_t last_tid, uint32_t head, int errno_value) E4_MUST_CHECK;

#endif
