/*
 * replay.c - the third pass: logged images go home.
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  nothing is written outside the volume, nor into the log itself, whatever a tag says.
 * Uses:    scan.c, revoke.c, blockdev.
 */
#include "base/mem.h"
#include "format/csum.h"
#include "journal/journal_impl.h"

#include <errno.h>
#include <string.h>

struct replay {
	struct journal_walk walk;
	struct journal_recovery *r;
	uint8_t *block; /* the descriptor, while data blocks go through the window */
	uint8_t *image; /* with the escape undone */
};

static bool data_csum_ok(
	const struct journal *j, const struct journal_tag *tag, tid_t tid, const uint8_t *data)
{
	if (!journal_has_block_csum(j))
		return true;
	uint32_t csum = csum_jbd2_data(j->seed, tid, data, j->block_size);

	return tag->csum == (j->csum == JOURNAL_CSUM_V3 ? csum : csum & 0xFFFF);
}

static int check_home(struct journal *j, uint64_t home)
{
	if (home >= j->cfg.home_blocks)
		return fail(
			j->env, E4_WHY_JOURNAL_HOME, .found = home, .expected = j->cfg.home_blocks);
	if (journal_log_holds(j, home))
		return fail(j->env, E4_WHY_JOURNAL_HOME_IN_LOG, .block = home);
	return 0;
}

/* One logged block: written home unless it is revoked or damaged; damage is noted and the pass goes on. */
static int replay_block(struct journal *j, struct replay *p, const struct journal_tag *tag)
{
	const uint8_t *data;
	int err = check_home(j, tag->home);

	if (err != 0)
		return err;
	if (revoke_covers(j, tag->home, p->walk.tid)) {
		p->r->revoked++;
		return 0;
	}
	err = journal_log_block(j, p->walk.lblk, &data);
	if (err != 0)
		return err;
	if (!data_csum_ok(j, tag, p->walk.tid, data)) {
		err = fail(
			j->env, E4_WHY_JOURNAL_DATA_CSUM, .block = tag->home, .found = p->walk.tid);
		if (!j->cfg.ignore_csum) {
			if (p->r->error == 0)
				p->r->error = err;
			return 0;
		}
	}
	if ((tag->flags & JBD2_TAG_ESCAPE) != 0) {
		struct be32 magic = be32_put(JBD2_MAGIC);

		memcpy(p->image, data, j->block_size);
		memcpy(p->image, &magic, sizeof(magic));
		data = p->image;
	}
	p->r->blocks++;
	return blockdev_write(j->cfg.home_dev, tag->home * j->block_size, data, j->block_size, 0);
}

static int replay_descriptor(struct journal *j, struct replay *p)
{
	uint32_t offset = (uint32_t)sizeof(struct disk_jbd2_header);
	bool last = false;
	struct journal_tag tag;

	while (journal_tag_next(j, p->block, &offset, &last, &tag) != 0) {
		int err = replay_block(j, p, &tag);

		if (err == 0)
			err = journal_walk_skip(j, &p->walk, 1);
		if (err != 0)
			return err;
	}
	return 0;
}

static int pass(struct journal *j, struct replay *p)
{
	while (p->walk.tid != p->r->next_tid) {
		const uint8_t *block;
		int type = journal_walk_next(j, &p->walk, &block);
		int err = 0;

		if (type < 0)
			return type;
		if (type == 0)
			return fail(j->env, E4_WHY_JOURNAL_CHANGED, .found = p->walk.tid,
				.expected = p->r->next_tid);
		if (type == JBD2_DESCRIPTOR) {
			memcpy(p->block, block, j->block_size);
			err = replay_descriptor(j, p);
		} else if (type == JBD2_COMMIT) {
			p->walk.tid++;
		}
		if (err != 0)
			return err;
	}
	return 0;
}

/* Writes the images of all transactions before r->next_tid home. */
int journal_pass_replay(struct journal *j, struct journal_recovery *r)
{
	struct replay p = {.r = r};
	int err = -ENOMEM;

	p.block = mem_alloc_aligned(j->env, j->block_size, 64);
	p.image = mem_alloc_aligned(j->env, j->block_size, 4096);
	if (p.block != NULL && p.image != NULL) {
		journal_walk_start(j, &p.walk);
		err = pass(j, &p);
	}
	mem_free(j->env, p.block, j->block_size);
	mem_free(j->env, p.image, j->block_size);
	return err;
}
