/*
 * scan.c - walking over transactions, and the first pass of recovery: where the log ends (journal.md "Recovery").
 *
 * Owns:    nothing that lasts; a walk stands on the caller's stack.
 * Locks:   none.
 * Always:  a walk passes at most as many blocks as the ring has, whatever the log says.
 * Uses:    log.c.
 */
#include "base/crc32c.h"
#include "format/csum.h"
#include "format/features.h"
#include "journal/journal_impl.h"

#include <errno.h>

#define UUID_BYTES      16u
#define CSUM_TAIL_BYTES 4u
#define TORN_COMMIT_LEN 60u /* bytes of a commit block that count when the rest was not written */

/* Of a descriptor or revoke block; true where such blocks carry none. */
bool journal_block_csum_ok(const struct journal *j, const uint8_t *block)
{
	uint32_t at = j->block_size - CSUM_TAIL_BYTES;

	return !journal_has_block_csum(j) ||
	       be32_at(block + at) == csum_jbd2_block(j->seed, block, j->block_size, at);
}

static void decode_tag(const struct journal *j, const uint8_t *raw, struct journal_tag *ret)
{
	bool wide = (j->incompat & JBD2_INCOMPAT_64BIT) != 0;

	if (j->csum == JOURNAL_CSUM_V3) {
		const struct disk_jbd2_tag3 *t = (const void *)raw;

		ret->home = be32_get(t->blocknr);
		if (wide)
			ret->home |= (uint64_t)be32_get(t->blocknr_high) << 32;
		ret->flags = be32_get(t->flags);
		ret->csum = be32_get(t->checksum);
		return;
	}
	const struct disk_jbd2_tag *t = (const void *)raw;

	ret->home = be32_get(t->blocknr);
	if (wide)
		ret->home |= (uint64_t)be32_at(raw + sizeof(*t)) << 32;
	ret->flags = be16_get(t->flags);
	ret->csum = be16_get(t->checksum);
}

int journal_tag_next(const struct journal *j, const uint8_t *block, uint32_t *offset, bool *last,
	struct journal_tag *ret)
{
	uint32_t end = j->block_size - (journal_has_block_csum(j) ? CSUM_TAIL_BYTES : 0);

	if (*last || *offset + j->tag_bytes > end)
		return 0;
	decode_tag(j, block + *offset, ret);
	*offset += j->tag_bytes + ((ret->flags & JBD2_TAG_SAME_UUID) != 0 ? 0 : UUID_BYTES);
	*last = (ret->flags & JBD2_TAG_LAST) != 0;
	return 1;
}

uint32_t journal_tag_count(const struct journal *j, const uint8_t *block)
{
	uint32_t offset = (uint32_t)sizeof(struct disk_jbd2_header);
	uint32_t count = 0;
	bool last = false;
	struct journal_tag tag;

	while (journal_tag_next(j, block, &offset, &last, &tag) != 0)
		count++;
	return count;
}

void journal_walk_start(const struct journal *j, struct journal_walk *w)
{
	w->lblk = be32_get(j->super.start);
	w->tid = be32_get(j->super.sequence);
	w->budget = j->last - j->first;
}

int journal_walk_skip(struct journal *j, struct journal_walk *w, uint32_t count)
{
	if (count > w->budget)
		return fail(j->env, E4_WHY_JOURNAL_LOOP, .found = count, .expected = w->budget);
	w->budget -= count;
	w->lblk = journal_log_advance(j, w->lblk, count);
	return 0;
}

int journal_walk_next(struct journal *j, struct journal_walk *w, const uint8_t **ret)
{
	if (w->budget == 0)
		return 0;
	int err = journal_log_block(j, w->lblk, ret);

	if (err != 0)
		return err;
	const struct disk_jbd2_header *h = (const void *)*ret;
	uint32_t type = be32_get(h->blocktype);

	if (be32_get(h->magic) != JBD2_MAGIC || be32_get(h->sequence) != w->tid)
		return 0;
	if (type != JBD2_DESCRIPTOR && type != JBD2_COMMIT && type != JBD2_REVOKE)
		return 0;
	w->lblk = journal_log_advance(j, w->lblk, 1);
	w->budget--;
	return (int)type;
}

/* --- pass 1 --------------------------------------------------------------------------------------------------------- */

struct scan {
	struct journal_walk walk;
	uint32_t crc; /* v1: of the transaction so far */
	bool suspect; /* a block of this transaction has a wrong checksum */
	bool broken;  /* async commit: a commit checksum failed; fatal if a commit follows */
	uint64_t commit_time; /* of the last valid transaction */
	struct journal_recovery *r;
};

/* The v2/v3 checksum of a commit block, also when only its first 60 bytes reached the disk before the power went. */
static bool commit_block_ok(const struct journal *j, const uint8_t *block)
{
	uint32_t at = (uint32_t)offsetof(struct disk_jbd2_commit, chksum);
	uint32_t found = be32_at(block + at);
	static const uint8_t zeros[512];

	if (found == csum_jbd2_block(j->seed, block, j->block_size, at))
		return true;
	uint32_t state = csum_jbd2_block(j->seed, block, TORN_COMMIT_LEN, at);

	for (uint32_t done = TORN_COMMIT_LEN; done < j->block_size;) {
		uint32_t n = j->block_size - done < sizeof(zeros) ? j->block_size - done
								  : (uint32_t)sizeof(zeros);

		state = crc32c(state, zeros, n);
		done += n;
	}
	return found == state;
}

static bool commit_ok(const struct journal *j, const struct scan *s, const uint8_t *block)
{
	const struct disk_jbd2_commit *c = (const void *)block;
	uint32_t found = be32_get(c->chksum[0]);

	if (journal_has_block_csum(j))
		return commit_block_ok(j, block);
	if (j->csum != JOURNAL_CSUM_V1)
		return true;
	if (c->chksum_type == 0 && c->chksum_size == 0 && found == 0)
		return true;
	return c->chksum_type == JBD2_CSUM_V1_CRC32 && c->chksum_size == 4 && found == s->crc;
}

/* A descriptor: passes its data, which only the v1 checksum reads. `block` may be gone afterwards. */
static int scan_descriptor(struct journal *j, struct scan *s, const uint8_t *block)
{
	uint32_t count = journal_tag_count(j, block);

	if (!journal_block_csum_ok(j, block))
		s->suspect = true;
	if (j->csum != JOURNAL_CSUM_V1)
		return journal_walk_skip(j, &s->walk, count);
	s->crc = crc32_be(s->crc, block, j->block_size);
	for (; count > 0; count--) {
		const uint8_t *data;
		int err = journal_log_block(j, s->walk.lblk, &data);

		if (err == 0)
			err = journal_walk_skip(j, &s->walk, 1);
		if (err != 0)
			return err;
		s->crc = crc32_be(s->crc, data, j->block_size);
	}
	return 0;
}

/* 1 to go on, 0 when the log ends before this commit, negative when it is corrupt. */
static int scan_commit(struct journal *j, struct scan *s, const uint8_t *block)
{
	const struct disk_jbd2_commit *c = (const void *)block;
	uint64_t time = be64_get(c->commit_sec);

	if (s->suspect) {
		/* Blocks of an earlier lap that happen to carry this tid are older than what was committed since. */
		if (time >= s->commit_time)
			return fail(j->env, E4_WHY_JOURNAL_BLOCK_CSUM, .found = s->walk.tid,
				.name = "before a newer commit");
		return 0;
	}
	if (s->broken) {
		s->r->failed_commit = true;
		return 0;
	}
	if (!commit_ok(j, s, block)) {
		if (time < s->commit_time)
			return 0;
		s->r->failed_tid = s->walk.tid;
		if ((j->incompat & JBD2_INCOMPAT_ASYNC_COMMIT) == 0) {
			s->r->failed_commit = true;
			return 0;
		}
		s->broken = true;
		s->walk.tid++;
		s->crc = CRC32C_SEED;
		return 1;
	}
	s->commit_time = time;
	s->crc = CRC32C_SEED;
	s->walk.tid++;
	s->r->next_tid = s->walk.tid;
	s->r->head = s->walk.lblk;
	s->r->transactions++;
	return 1;
}

/* Finds the end: r->next_tid is the first tid that is not committed, r->head the block behind the last commit. */
int journal_pass_scan(struct journal *j, struct journal_recovery *r)
{
	struct scan s = {.crc = CRC32C_SEED, .r = r};

	journal_walk_start(j, &s.walk);
	r->next_tid = s.walk.tid;
	r->head = s.walk.lblk;
	for (;;) {
		const uint8_t *block;
		int type = journal_walk_next(j, &s.walk, &block);
		int err = 0;

		if (type <= 0)
			return type;
		if (type == JBD2_DESCRIPTOR)
			err = scan_descriptor(j, &s, block);
		else if (type == JBD2_REVOKE)
			s.suspect = s.suspect || !journal_block_csum_ok(j, block);
		else if ((err = scan_commit(j, &s, block)) == 0)
			return 0;
		if (err < 0)
			return err;
	}
}
