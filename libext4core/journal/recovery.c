/*
 * recovery.c - the three passes in their order (journal.md "Recovery").
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the log itself is only read; running twice gives the same.
 * Uses:    scan.c, revoke.c, replay.c.
 */
#include "base/log.h"
#include "journal/journal_impl.h"

#include <string.h>

static void start(const struct journal *j, struct journal_recovery *r)
{
	memset(r, 0, sizeof(*r));
	if (!journal_is_empty(j))
		return;
	/* A clean log: the next transaction starts at the kept head, or at the beginning. */
	r->next_tid = be32_get(j->super.sequence) + 1;
	r->head = be32_get(j->super.head);
	if (be32_get(j->super.header.blocktype) != JBD2_SUPER_V2 || r->head < j->first ||
		r->head >= j->last)
		r->head = j->first;
}

int journal_scan(struct journal *j, struct journal_recovery *ret)
{
	start(j, ret);
	return journal_is_empty(j) ? 0 : journal_pass_scan(j, ret);
}

/*
 * Replays into home_dev, which is not flushed. 0 also when ret->failed_commit is set (the log is good only up to transaction
 * failed_tid - 1, which was replayed) or ret->error (images with wrong checksums were left out): the caller decides.
 */
int journal_replay(struct journal *j, struct journal_recovery *ret)
{
	int err = journal_scan(j, ret);

	if (err != 0 || journal_is_empty(j))
		return err;
	err = journal_pass_revoke(j, ret->next_tid);
	if (err == 0)
		err = journal_pass_replay(j, ret);
	revoke_fini(j);
	if (err == 0)
		log_line(j->env, E4_LOG_INFO,
			"journal: replayed %llu transactions, %llu blocks, %llu revoked",
			(unsigned long long)ret->transactions, (unsigned long long)ret->blocks,
			(unsigned long long)ret->revoked);
	return err;
}
