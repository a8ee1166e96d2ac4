/*
 * recover.h - the face of crash recovery: the log, then fast commits, then orphans; into memory, or for good.
 *
 * Everything is computed in an overlay first. A read-only mount keeps the overlay and the device stays as it is to the last byte. For
 * good: replayed blocks go home, the tail moves behind them, and what fast commits and orphans changed is itself committed to the
 * log as one transaction before it goes home, so that a cut at any moment leaves a volume that recovers to the same state.
 */
#ifndef RECOVER_RECOVER_H
#define RECOVER_RECOVER_H

#include "blockdev/blockdev.h"
#include "journal/journal.h"
#include "volume/volume.h"

#include <ext4core/fs.h>

struct recover_request {
	struct volume *vol;          /* loaded from the device as it is */
	struct e4_blockdev *dev;     /* the device */
	struct e4_blockdev *journal; /* external journal, or NULL */
	bool for_good;               /* write; else keep in memory */
};

/* Whether there is anything to recover: RECOVER flag, orphans. */
bool recover_is_needed(const struct volume *vol);

/*
 * Runs the recovery. Read-only: *ret_overlay is the device to read from afterwards (owned by the caller; NULL when nothing was
 * needed), and vol was reloaded from it. For good: *ret_overlay is NULL, the device was written and vol reloaded.
 */
int recover_run(const struct recover_request *rq, struct e4_blockdev **ret_overlay,
	struct e4_replay_result *ret) E4_MUST_CHECK;

/* Opens the volume's journal (internal or external) for recovery or for a report. */
int recover_open_journal(struct volume *vol, struct e4_blockdev *home_dev,
	struct e4_blockdev *external, struct journal **ret) E4_MUST_CHECK;

#endif
