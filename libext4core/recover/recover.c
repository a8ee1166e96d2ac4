/*
 * recover.c - the order of recovery: log, fast commits, orphans, superblock.
 *
 * Owns:    struct recovery, from begin to end.
 * Locks:   none; nobody else is in.
 * Always:  the device is first written when all that will be written is known. Whatever fails, the volume reads from a device that
 *          exists.
 * Uses:    every file of this room.
 */
#include "recover/recover.h"

#include "base/log.h"
#include "base/mem.h"
#include "format/csum.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

static bool super_needs_recovery(const struct disk_super *s)
{
	return disk_super_has_incompat(s, FEATURE_INCOMPAT_RECOVER) ||
	       le32_get(s->last_orphan) != 0 ||
	       disk_super_has_ro_compat(s, FEATURE_RO_COMPAT_ORPHAN_PRESENT);
}

bool recover_is_needed(const struct volume *vol)
{
	return super_needs_recovery(&vol->super);
}

/* --- stage 1: the log --------------------------------------------------------------------------------------------------- */

/*
 * The replayed superblock is older than the one on the device in one respect: errors that were recorded meanwhile. It also must
 * say RECOVER as long as the log counts, whatever its image says. Done in the overlay, before it goes home.
 */
static int keep_record(struct recovery *r, const struct disk_super *found)
{
	struct disk_super *s = &r->super;
	size_t record = SUPER_ERROR_RECORD_END - SUPER_ERROR_RECORD_FIRST;
	int err = blockdev_read(r->replayed, SUPER_OFFSET, s, sizeof(*s));

	if (err != 0)
		return err;
	memcpy((uint8_t *)s + SUPER_ERROR_RECORD_FIRST,
		(const uint8_t *)found + SUPER_ERROR_RECORD_FIRST, record);
	s->first_error_time_hi = found->first_error_time_hi;
	s->last_error_time_hi = found->last_error_time_hi;
	s->first_error_errcode = found->first_error_errcode;
	s->last_error_errcode = found->last_error_errcode;
	s->state = le16_put(le16_get(s->state) | (le16_get(found->state) & SUPER_STATE_ERROR));
	return store_super(r, r->replayed, true, 0);
}

static int replay_log(struct recovery *r)
{
	struct disk_super found = r->vol->super;
	int err = journal_replay(r->journal, &r->log);

	if (err != 0)
		return err;
	if (r->log.failed_commit && !r->vol->opts.ignore_csum)
		return fail(r->env, E4_WHY_RECOVER_COMMIT, .found = r->log.failed_tid);
	if (r->log.error != 0)
		return r->log.error;
	r->result->transactions += r->log.transactions;
	r->result->blocks += r->log.blocks;
	r->result->revoked += r->log.revoked;
	return r->log.blocks > 0 ? keep_record(r, &found) : 0;
}

/*
 * A log without RECOVER is of no account (features.md): wiped, when we may write. Nothing that this finds wrong with it matters, but
 * the next tid must lie beyond whatever it holds.
 */
static int wipe_log(struct recovery *r)
{
	const struct disk_jbd2_super *js = journal_super(r->journal);
	int err = journal_scan(r->journal, &r->log);

	if (err != 0) {
		r->log.next_tid = be32_get(js->sequence) + be32_get(js->maxlen);
		r->log.head = be32_get(js->first);
	}
	if (!r->rq->for_good)
		return 0;
	log_line(r->env, E4_LOG_INFO, "journal: a log that does not count is emptied");
	err = journal_set_empty(r->journal, r->log.next_tid, r->log.head, (int)be32_get(js->error));
	return err != 0 ? err : journal_scan(r->journal, &r->log);
}

static int stage_log(struct recovery *r)
{
	bool flagged = volume_has_incompat(r->vol, FEATURE_INCOMPAT_RECOVER);
	int err = open_journal(r->vol, r->rq->dev, r->replayed, r->rq->journal, &r->journal);

	if (err != 0)
		return err;
	if (r->journal == NULL) {
		if (flagged && r->rq->for_good)
			return fail(r->env, E4_WHY_RECOVER_FLAG,
				.found = le32_get(r->vol->super.feature_incompat));
		return 0;
	}
	if (journal_is_empty(r->journal))
		return journal_scan(r->journal, &r->log);
	return flagged ? replay_log(r) : wipe_log(r);
}

/* --- stage 2: fast commits, orphans -------------------------------------------------------------------------------------- */

uint32_t recover_blocks_changed(const struct recovery *r)
{
	return r->dirty_count + r->group_count * 3 + usage_blocks(r);
}

static int process_orphans(struct recovery *r)
{
	if (!orphans_present(r) || (le16_get(r->super.state) & SUPER_STATE_ERROR) != 0)
		return 0;
	if (!volume_may_recover_for_good(r->vol))
		return 0;
	return orphans_process(r);
}

static int stage_rest(struct recovery *r, bool was_replayed)
{
	struct e4_timespec now = env_clock_wall(r->env);
	int err = volume_reload(r->vol, r->work);

	if (err != 0)
		return err;
	r->super = r->vol->super;
	r->now = now.sec > 0 ? (uint32_t)now.sec : le32_get(r->super.wtime);
	r->super.state = le16_put(
		(uint16_t)(le16_get(r->super.state) & ~(unsigned)SUPER_STATE_FC_REPLAY));
	if (r->journal != NULL && be32_get(journal_super(r->journal)->error) != 0)
		r->super.state = le16_put(le16_get(r->super.state) | SUPER_STATE_ERROR);
	err = usage_begin(r);
	if (err == 0 && was_replayed)
		err = fastcommit_replay(r);
	if (err == 0)
		err = process_orphans(r);
	if (err == 0)
		err = usage_write(r);
	if (err == 0)
		err = bitmap_write(r);
	if (err == 0)
		err = tx_write(r);
	return err != 0 ? err : store_super(r, r->work, r->journal != NULL, 0);
}

/* --- begin, end ------------------------------------------------------------------------------------------------------------ */

static int begin(
	struct recovery *r, const struct recover_request *rq, struct e4_replay_result *result)
{
	uint32_t bs = rq->vol->block_size;

	/* Zeroed by its allocation, and too large to be assigned as a whole. */
	r->env = rq->vol->env;
	r->vol = rq->vol;
	r->rq = rq;
	r->result = result;
	list_init(&r->dirty);
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_init(&r->groups[i]);
		list_init(&r->inodes[i]);
	}
	int err = blockdev_cow_new(rq->dev, bs, &r->replayed);

	return err != 0 ? err : blockdev_cow_new(r->replayed, bs, &r->work);
}

/* Lets go of what points into the caches. */
static void drop_work(struct recovery *r)
{
	usage_drop(r);
	rinodes_drop(r);
	tx_drop(r);
	bitmap_drop(r);
}

static void end(struct recovery *r)
{
	drop_work(r);
	journal_close(r->journal);
	mem_free(r->env, r->claims, r->claim_count * sizeof(*r->claims));
	if (r->work != NULL)
		blockdev_free(r->work);
	if (r->replayed != NULL)
		blockdev_free(r->replayed);
	mem_free(r->env, r, sizeof(*r));
}

/* How one round ended. */
struct rounds {
	bool more; /* for good, before all orphans were done: what is left is a recovery like any other */
	bool idle; /* and nothing had been changed */
};

static int run_round(struct recovery *r, struct rounds *rounds)
{
	const struct recover_request *rq = r->rq;
	int err = stage_log(r);

	if (err != 0)
		return err;
	/* Fast commits count only on top of a log that counts. */
	bool live = r->journal != NULL && !journal_is_empty(r->journal) &&
		    volume_has_incompat(r->vol, FEATURE_INCOMPAT_RECOVER);

	r->forced = rounds->idle;
	if (rq->for_good && r->journal != NULL)
		r->dirty_limit = journal_capacity(r->journal) / 2;
	err = stage_rest(r, live);
	drop_work(r);
	if (err == 0)
		err = rq->for_good ? store_for_good(r) : store_in_memory(r);
	rounds->more = r->more;
	rounds->idle = r->more && r->idle;
	return err;
}

/* Whether there is a log to be looked at though the superblock asks for nothing. */
static int log_is_stale(const struct recover_request *rq, bool *ret)
{
	struct journal *j;
	int err = recover_open_journal(rq->vol, rq->dev, rq->journal, &j);

	*ret = err == 0 && j != NULL &&
	       (!journal_is_empty(j) || be32_get(journal_super(j)->error) != 0);
	journal_close(err == 0 ? j : NULL);
	return err;
}

static int one_round(const struct recover_request *rq, struct e4_blockdev **ret_overlay,
	struct e4_replay_result *result, struct rounds *rounds)
{
	struct recovery *r = mem_zalloc(rq->vol->env, sizeof(*r));

	if (r == NULL)
		return -ENOMEM;
	int err = begin(r, rq, result);

	if (err == 0)
		err = run_round(r, rounds);
	/* The overlay `work` goes; the volume must not read from it any more. */
	struct e4_blockdev *stays = err == 0 && !rq->for_good ? r->replayed : rq->dev;
	int reload = volume_reload(rq->vol, stays);

	if (err == 0)
		err = reload;
	if (err == 0 && !rq->for_good) {
		*ret_overlay = r->replayed;
		blockdev_free(r->work);
		r->work = r->replayed = NULL;
	}
	end(r);
	return err;
}

int recover_run(const struct recover_request *rq, struct e4_blockdev **ret_overlay,
	struct e4_replay_result *ret)
{
	bool needed = recover_is_needed(rq->vol);
	struct rounds rounds = {.more = false};

	*ret_overlay = NULL;
	ret->was_needed = 0;
	if (!needed && rq->for_good) {
		int err = log_is_stale(rq, &needed);

		if (err != 0)
			return err;
	}
	if (!needed)
		return 0;
	ret->was_needed = 1;
	if (rq->for_good && !volume_may_recover_for_good(rq->vol))
		return fail(
			rq->vol->env, E4_WHY_RECOVER_RO_COMPAT, .name = rq->vol->read_only_reason);
	do {
		int err = one_round(rq, ret_overlay, ret, &rounds);

		if (err != 0)
			return err;
	} while (rounds.more);
	return 0;
}
