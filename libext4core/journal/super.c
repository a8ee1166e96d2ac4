/*
 * super.c - the journal superblock: read, validated, written.
 *
 * Owns:    journal->super and what is decoded from it.
 * Locks:   none; a journal is used by one thread.
 * Always:  ring borders lie inside the blocks that the runs cover, so that nobody checks them again.
 * Uses:    blockdev, through log.c.
 */
#include "base/math.h"
#include "base/mem.h"
#include "format/csum.h"
#include "format/features.h"
#include "journal/journal_impl.h"

#include <errno.h>
#include <string.h>

bool journal_has_block_csum(const struct journal *j)
{
	return j->csum == JOURNAL_CSUM_V2 || j->csum == JOURNAL_CSUM_V3;
}

static int bad_super(struct journal *j, const char *what, uint64_t found, uint64_t expected)
{
	return fail(j->env, E4_WHY_JOURNAL_SUPER, .name = what, .found = found, .expected = expected);
}

static int check_features(struct journal *j)
{
	uint32_t ro_compat = be32_get(j->super.feature_ro_compat);
	uint32_t v2 = j->incompat & JBD2_INCOMPAT_CSUM_V2;
	uint32_t v3 = j->incompat & JBD2_INCOMPAT_CSUM_V3;

	if ((j->incompat & ~(uint32_t)JBD2_INCOMPAT_KNOWN) != 0 || ro_compat != 0) {
		return fail(j->env, E4_WHY_JOURNAL_FEATURE,
			.found = ro_compat != 0 ? ro_compat : j->incompat,
			.expected = JBD2_INCOMPAT_KNOWN);
	}
	j->csum = v3 != 0 ? JOURNAL_CSUM_V3 : v2 != 0 ? JOURNAL_CSUM_V2 : JOURNAL_CSUM_NONE;
	if (v2 != 0 && v3 != 0)
		return bad_super(j, "checksum versions 2 and 3 together", j->incompat, 0);
	if ((j->compat & JBD2_COMPAT_CHECKSUM) != 0) {
		if (j->csum != JOURNAL_CSUM_NONE)
			return bad_super(j, "two kinds of checksum together", j->incompat, 0);
		j->csum = JOURNAL_CSUM_V1;
	}
	return 0;
}

static int check_csum(struct journal *j)
{
	if (!journal_has_block_csum(j))
		return 0;
	if (j->super.checksum_type != JBD2_CSUM_CRC32C)
		return bad_super(j, "checksum type", j->super.checksum_type, JBD2_CSUM_CRC32C);
	uint32_t found = be32_get(j->super.checksum);
	uint32_t expected = csum_jbd2_super(&j->super);

	if (found != expected) {
		int err = fail(
			j->env, E4_WHY_JOURNAL_SUPER_CSUM, .found = found, .expected = expected);

		if (!j->cfg.ignore_csum)
			return err;
	}
	j->seed = csum_jbd2_seed(j->super.uuid);
	return 0;
}

static int check_geometry(struct journal *j, bool v2)
{
	uint32_t fc_blocks = 0;
	uint32_t start = be32_get(j->super.start);

	j->maxlen = be32_get(j->super.maxlen);
	j->first = be32_get(j->super.first);
	if (j->maxlen > j->total)
		return bad_super(j, "more blocks than the journal has", j->maxlen, j->total);
	if ((j->incompat & JBD2_INCOMPAT_FAST_COMMIT) != 0) {
		fc_blocks = be32_get(j->super.num_fc_blks);
		if (fc_blocks == 0)
			fc_blocks = JBD2_DEFAULT_FC_BLKS;
	}
	if (fc_blocks >= j->maxlen)
		return bad_super(j, "fast-commit blocks", fc_blocks, j->maxlen);
	if (v2 && j->maxlen - fc_blocks < JBD2_MIN_BLOCKS)
		return bad_super(j, "too few blocks", j->maxlen - fc_blocks, JBD2_MIN_BLOCKS);
	j->last = j->maxlen - fc_blocks;
	if (j->first <= j->super_lblk || j->first >= j->last)
		return bad_super(j, "first block", j->first, j->last);
	if (start != 0 && (start < j->first || start >= j->last))
		return bad_super(j, "start block", start, j->last);
	return 0;
}

static int decode(struct journal *j)
{
	const struct disk_jbd2_super *s = &j->super;
	uint32_t type = be32_get(s->header.blocktype);
	bool v2 = type == JBD2_SUPER_V2;

	if (be32_get(s->header.magic) != JBD2_MAGIC)
		return fail(j->env, E4_WHY_JOURNAL_MAGIC, .found = be32_get(s->header.magic),
			.expected = JBD2_MAGIC);
	if (!v2 && type != JBD2_SUPER_V1)
		return bad_super(j, "type", type, JBD2_SUPER_V2);
	if (be32_get(s->blocksize) != j->block_size)
		return bad_super(j, "block size", be32_get(s->blocksize), j->block_size);
	if (v2) {
		j->compat = be32_get(s->feature_compat);
		j->incompat = be32_get(s->feature_incompat);
		int err = check_features(j);

		if (err == 0)
			err = check_csum(j);
		if (err != 0)
			return err;
		if (be32_get(s->nr_users) > 1)
			return fail(j->env, E4_WHY_JOURNAL_USERS, .found = be32_get(s->nr_users),
				.expected = 1);
	}
	j->tag_bytes = (uint32_t)sizeof(struct disk_jbd2_tag);
	if (j->csum == JOURNAL_CSUM_V3) {
		j->tag_bytes = (uint32_t)sizeof(struct disk_jbd2_tag3);
	} else {
		if (j->csum == JOURNAL_CSUM_V2)
			j->tag_bytes += 2;
		if ((j->incompat & JBD2_INCOMPAT_64BIT) != 0)
			j->tag_bytes += 4;
	}
	return check_geometry(j, v2);
}

/*
 * The journal with its superblock checked. -EUCLEAN, -EBADMSG, -EOPNOTSUPP with a reason, -EIO, -ENOMEM.
 */
int journal_open(const struct journal_config *config, struct journal **ret)
{
	struct env *env = config->env;
	struct journal *j = mem_zalloc(env, sizeof(*j));

	if (j == NULL)
		return -ENOMEM;
	j->env = env;
	j->cfg = *config;
	j->block_size = config->block_size;
	if (config->external)
		j->super_lblk = config->block_size == 1024 ? 2 : 1;
	int err = journal_log_init(j);

	if (err != 0)
		goto out_free;
	if (j->total <= j->super_lblk) {
		err = bad_super(j, "no block for it", j->total, j->super_lblk);
		goto out_free;
	}
	const uint8_t *block;

	err = journal_log_block(j, j->super_lblk, &block);
	if (err != 0)
		goto out_free;
	memcpy(&j->super, block, sizeof(j->super));
	err = decode(j);
	if (err != 0)
		goto out_free;
	*ret = j;
	return 0;

out_free:
	journal_close(j);
	return err;
}

void journal_close(struct journal *j)
{
	if (j == NULL)
		return;
	revoke_fini(j);
	journal_log_fini(j);
	mem_free(j->env, j, sizeof(*j));
}

const struct disk_jbd2_super *journal_super(const struct journal *j)
{
	return &j->super;
}

bool journal_is_empty(const struct journal *j)
{
	return be32_get(j->super.start) == 0;
}

/* Writes the superblock, durable on return, and after everything written before. */
int journal_super_store(struct journal *j)
{
	if (journal_has_block_csum(j))
		j->super.checksum = be32_put(csum_jbd2_super(&j->super));
	journal_log_forget(j);
	struct journal_run_map *r = j->runs;
	pblk_t pblk = r[0].pblk + j->super_lblk;

	/* The first run holds it: blocks 0..2 of an external log are one run, and an internal one has it at 0. */
	return blockdev_write(j->cfg.log_dev, pblk * j->block_size, &j->super, sizeof(j->super),
		E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA);
}
