/*
 * append.c - writes one transaction into the log.
 *
 * Owns:    nothing that lasts; the staging buffer of a call.
 * Locks:   none.
 * Always:  the first block goes out after all others are durable, and the commit block after that: whatever lay in the log before, a
 *          scan meets either nothing of this transaction or a whole one. A commit block is never in flight with what it commits.
 * Uses:    log.c, blockdev.
 */
#include "base/crc32c.h"
#include "base/math.h"
#include "base/mem.h"
#include "format/csum.h"
#include "format/features.h"
#include "journal/journal_impl.h"

#include <errno.h>
#include <string.h>

#define UUID_BYTES      16u
#define CSUM_TAIL_BYTES 4u

struct append {
	struct journal *j;
	tid_t tid;
	uint32_t lblk;   /* where the staged blocks begin */
	uint8_t *staged; /* at most window_max blocks */
	uint32_t count;
	uint8_t *first; /* the first block, held back */
	uint32_t first_lblk;
	uint32_t written; /* blocks put so far, the first included */
};

/* Tags that fit one descriptor block. */
static uint32_t tags_per_block(const struct journal *j)
{
	uint32_t room = j->block_size - (uint32_t)sizeof(struct disk_jbd2_header) - UUID_BYTES -
			(journal_has_block_csum(j) ? CSUM_TAIL_BYTES : 0);

	return room / j->tag_bytes;
}

static int write_staged(struct append *a)
{
	struct journal *j = a->j;
	uint32_t done = 0;

	while (done < a->count) {
		uint32_t n = min_u32(a->count - done, j->last - a->lblk);
		int err = journal_log_write(
			j, a->lblk, n, a->staged + (size_t)done * j->block_size, 0);

		if (err != 0)
			return err;
		a->lblk = journal_log_advance(j, a->lblk, n);
		done += n;
	}
	a->count = 0;
	return 0;
}

/* Memory for the next block of the log, zeroed. */
static int next_block(struct append *a, uint8_t **ret)
{
	struct journal *j = a->j;

	if (a->written++ == 0) {
		*ret = a->first;
		a->first_lblk = a->lblk;
		a->lblk = journal_log_advance(j, a->lblk, 1);
	} else {
		if (a->count == j->window_max) {
			int err = write_staged(a);

			if (err != 0)
				return err;
		}
		*ret = a->staged + (size_t)a->count++ * j->block_size;
	}
	memset(*ret, 0, j->block_size);
	return 0;
}

static void put_header(uint8_t *block, enum jbd2_blocktype type, tid_t tid)
{
	struct disk_jbd2_header *h = (void *)block;

	h->magic = be32_put(JBD2_MAGIC);
	h->blocktype = be32_put((uint32_t)type);
	h->sequence = be32_put(tid);
}

/* The block as it stands in the log: a data block that looks like one of the log's own is escaped. */
static bool is_escaped(const void *data)
{
	return be32_at(data) == JBD2_MAGIC;
}

static uint32_t logged_csum(const struct append *a, const void *data)
{
	const struct journal *j = a->j;
	struct be32 t = be32_put(a->tid);
	const uint8_t *p = data;

	if (!is_escaped(data))
		return csum_jbd2_data(j->seed, a->tid, data, j->block_size);
	uint8_t zeros[4] = {0};
	uint32_t state = crc32c(j->seed, &t, sizeof(t));

	state = crc32c(state, zeros, sizeof(zeros));
	return crc32c(state, p + sizeof(zeros), j->block_size - sizeof(zeros));
}

static void put_tag(
	const struct append *a, uint8_t *raw, const struct journal_block *b, uint32_t flags)
{
	const struct journal *j = a->j;
	uint32_t csum = journal_has_block_csum(j) ? logged_csum(a, b->data) : 0;
	bool wide = (j->incompat & JBD2_INCOMPAT_64BIT) != 0;
	struct be32 high = be32_put((uint32_t)(b->home >> 32));

	if (j->csum == JOURNAL_CSUM_V3) {
		struct disk_jbd2_tag3 *t = (void *)raw;

		t->blocknr = be32_put((uint32_t)b->home);
		t->flags = be32_put(flags);
		t->blocknr_high = high;
		t->checksum = be32_put(csum);
		return;
	}
	struct disk_jbd2_tag *t = (void *)raw;

	t->blocknr = be32_put((uint32_t)b->home);
	t->checksum = be16_put((uint16_t)csum);
	t->flags = be16_put((uint16_t)flags);
	if (wide)
		memcpy(raw + sizeof(*t), &high, sizeof(high));
}

/* A descriptor with its tags for blocks[0 .. n). */
static int put_descriptor(struct append *a, const struct journal_block *blocks, uint32_t n)
{
	struct journal *j = a->j;
	uint8_t *block;
	int err = next_block(a, &block);

	if (err != 0)
		return err;
	put_header(block, JBD2_DESCRIPTOR, a->tid);
	uint32_t at = (uint32_t)sizeof(struct disk_jbd2_header);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t flags = is_escaped(blocks[i].data) ? JBD2_TAG_ESCAPE : 0;

		if (i > 0)
			flags |= JBD2_TAG_SAME_UUID;
		if (i == n - 1)
			flags |= JBD2_TAG_LAST;
		put_tag(a, block + at, &blocks[i], flags);
		at += j->tag_bytes + (i == 0 ? UUID_BYTES : 0);
	}
	if (journal_has_block_csum(j)) {
		uint32_t csum_at = j->block_size - CSUM_TAIL_BYTES;
		struct be32 csum = be32_put(csum_jbd2_block(j->seed, block, j->block_size, csum_at));

		memcpy(block + csum_at, &csum, sizeof(csum));
	}
	return 0;
}

static int put_data(struct append *a, const struct journal_block *b)
{
	uint8_t *block;
	int err = next_block(a, &block);

	if (err != 0)
		return err;
	memcpy(block, b->data, a->j->block_size);
	if (is_escaped(block))
		memset(block, 0, 4);
	return 0;
}

static void make_commit(struct append *a, uint8_t *block)
{
	struct journal *j = a->j;
	struct disk_jbd2_commit *c = (void *)block;
	struct e4_timespec now = env_clock_wall(j->env);

	memset(block, 0, j->block_size);
	put_header(block, JBD2_COMMIT, a->tid);
	c->commit_sec = be64_put((uint64_t)now.sec);
	c->commit_nsec = be32_put(now.nsec);
	/* v1: type, size and value 0 stand for "no checksum". */
	if (journal_has_block_csum(j))
		c->chksum[0] = be32_put(csum_jbd2_block(j->seed, block, j->block_size,
			(uint32_t)offsetof(struct disk_jbd2_commit, chksum)));
}

static int write_all(struct append *a, const struct journal_block *blocks, uint32_t count)
{
	struct journal *j = a->j;
	uint32_t per_block = tags_per_block(j);
	uint8_t *block;
	int err = 0;

	for (uint32_t done = 0; done < count && err == 0;) {
		uint32_t n = min_u32(per_block, count - done);

		err = put_descriptor(a, blocks + done, n);
		for (uint32_t i = 0; i < n && err == 0; i++)
			err = put_data(a, &blocks[done + i]);
		done += n;
	}
	/* Zeros where the commit block will stand: an old one there must not end this transaction. */
	if (err == 0)
		err = next_block(a, &block);
	if (err == 0)
		err = write_staged(a);
	if (err == 0)
		err = blockdev_flush(j->cfg.log_dev);
	if (err == 0)
		err = journal_log_write(j, a->first_lblk, 1, a->first, 0);
	/* With the log elsewhere, what the volume holds already must be as durable as what is committed on top of it. */
	if (err == 0 && j->cfg.external)
		err = blockdev_flush(j->cfg.home_dev);
	if (err != 0)
		return err;
	uint32_t commit_lblk = a->lblk == j->first ? j->last - 1 : a->lblk - 1;

	make_commit(a, a->staged);
	return journal_log_write(
		j, commit_lblk, 1, a->staged, E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA);
}

/* How many blocks one transaction can hold, from an empty log on. */
uint32_t journal_capacity(const struct journal *j)
{
	uint32_t ring = j->last - j->first - 2; /* the commit block, and one that stays free */
	uint32_t per_block = tags_per_block(j);

	return ring - (uint32_t)div_up_u64(ring, (uint64_t)per_block + 1);
}

/*
 * Log must be empty and its tail at (*head, tid) (journal_set_tail). On return the transaction is durable and *head is behind it.
 * count > 0; homes below 2^32 unless the journal has 64-bit tags. -ENOSPC before anything was written.
 */
int journal_append(struct journal *j, uint32_t *head, tid_t tid, const struct journal_block *blocks,
	uint32_t count)
{
	struct append a = {.j = j, .tid = tid, .lblk = *head};

	if (count > journal_capacity(j))
		return fail(j->env, E4_WHY_JOURNAL_FULL, .found = count,
			.expected = journal_capacity(j));
	for (uint32_t i = 0; i < count; i++) {
		if (blocks[i].home > UINT32_MAX && (j->incompat & JBD2_INCOMPAT_64BIT) == 0)
			return fail(j->env, E4_WHY_JOURNAL_NARROW, .block = blocks[i].home);
	}
	size_t size = (size_t)j->window_max * j->block_size;
	int err = -ENOMEM;

	a.staged = mem_alloc_aligned(j->env, size, 4096);
	a.first = mem_alloc_aligned(j->env, j->block_size, 4096);
	if (a.staged != NULL && a.first != NULL)
		err = write_all(&a, blocks, count);
	if (err == 0)
		*head = a.lblk;
	mem_free(j->env, a.staged, size);
	mem_free(j->env, a.first, j->block_size);
	return err;
}
