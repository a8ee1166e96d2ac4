/*
 * tail.c - where the log begins: moving its tail, and declaring it empty.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  a store of the superblock is preceded by a flush and durable on return.
 * Uses:    super.c, log.c.
 */
#include "base/mem.h"
#include "format/features.h"
#include "journal/journal_impl.h"

#include <errno.h>
#include <string.h>

/*
 * Blocks at `head` that carry `tid` already are what a transaction left that was not finished. They end here, before an append could
 * mix its own blocks with them: the scan must meet either nothing or the whole new transaction.
 */
static int end_log_at(struct journal *j, uint32_t head, tid_t tid)
{
	const uint8_t *block;
	int err = journal_log_block(j, head, &block);

	if (err != 0)
		return err;
	const struct disk_jbd2_header *h = (const void *)block;

	if (be32_get(h->magic) != JBD2_MAGIC || be32_get(h->sequence) != tid)
		return 0;
	uint8_t *zeros = mem_zalloc(j->env, j->block_size);

	if (zeros == NULL)
		return -ENOMEM;
	err = journal_log_write(j, head, 1, zeros, E4_BLOCKDEV_FUA);
	mem_free(j->env, zeros, j->block_size);
	return err;
}

/* What the log held before must be home and flushed. */
int journal_set_tail(struct journal *j, uint32_t head, tid_t tid)
{
	if (head < j->first || head >= j->last)
		return fail(j->env, E4_WHY_JOURNAL_HEAD, .found = head, .expected = j->last);
	int err = end_log_at(j, head, tid);

	if (err != 0)
		return err;
	if (be32_get(j->super.start) == head && be32_get(j->super.sequence) == tid)
		return 0;
	j->super.start = be32_put(head);
	j->super.sequence = be32_put(tid);
	return journal_super_store(j);
}

/*
 * The stored sequence is last_tid + 1 and the next transaction one further, as Linux leaves it: a tid of which an unfinished
 * transaction may have left blocks is never used again.
 */
int journal_set_empty(struct journal *j, tid_t last_tid, uint32_t head, int errno_value)
{
	bool v2 = be32_get(j->super.header.blocktype) == JBD2_SUPER_V2;

	j->super.start = be32_put(0);
	j->super.sequence = be32_put(last_tid + 1);
	j->super.error = be32_put((uint32_t)errno_value);
	if (v2) {
		j->super.head = be32_put(head);
		j->incompat &= ~(uint32_t)JBD2_INCOMPAT_FAST_COMMIT;
		j->super.feature_incompat = be32_put(j->incompat);
	}
	return journal_super_store(j);
}
