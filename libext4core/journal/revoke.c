/*
 * revoke.c - the second pass: which logged images are overruled, because the block was freed afterwards.
 *
 * Owns:    journal->revokes.
 * Locks:   none.
 * Always:  at most three quarters of the slots are taken; the salt keeps a log from choosing collisions. So four million
 *          revokes cost as many steps (BUGS 51).
 */
#include "base/mem.h"
#include "format/features.h"
#include "journal/journal_impl.h"

#include <errno.h>

#define SLOT_USED   0x80000000u
#define FIRST_SLOTS 1024u

static uint64_t slot_of(const struct revoke_table *t, uint64_t block)
{
	uint64_t x = (block ^ t->salt) * 0x9E3779B97F4A7C15u;

	x ^= x >> 32;
	x *= 0xD6E8FEB86659FD93u;
	return (x ^ x >> 32) & (t->slot_count - 1);
}

/* The block's slot, or the free one where it belongs. */
static struct revoke_slot *find(const struct revoke_table *t, uint64_t block)
{
	uint32_t lo = (uint32_t)block;
	uint32_t hi = (uint32_t)(block >> 32) | SLOT_USED;
	uint64_t i = slot_of(t, block);

	while (t->slots[i].hi_used != 0 && (t->slots[i].lo != lo || t->slots[i].hi_used != hi))
		i = (i + 1) & (t->slot_count - 1);
	return &t->slots[i];
}

static int grow(struct journal *j)
{
	struct revoke_table *t = &j->revokes;
	struct revoke_table bigger = {.used = t->used, .salt = t->salt};

	bigger.slot_count = t->slot_count == 0 ? FIRST_SLOTS : t->slot_count * 2;
	if (t->slot_count == 0)
		env_random(j->env, &bigger.salt, sizeof(bigger.salt));
	bigger.slots = mem_zalloc_array(j->env, (size_t)bigger.slot_count, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < t->slot_count; i++) {
		const struct revoke_slot *s = &t->slots[i];

		if (s->hi_used != 0)
			*find(&bigger, (uint64_t)(s->hi_used & ~SLOT_USED) << 32 | s->lo) = *s;
	}
	revoke_fini(j);
	*t = bigger;
	return 0;
}

/* block < 2^63. */
int revoke_add(struct journal *j, uint64_t block, tid_t tid)
{
	struct revoke_table *t = &j->revokes;

	if (t->used * 4 >= t->slot_count * 3) {
		int err = grow(j);

		if (err != 0)
			return err;
	}
	struct revoke_slot *s = find(t, block);

	if (s->hi_used == 0) {
		s->lo = (uint32_t)block;
		s->hi_used = (uint32_t)(block >> 32) | SLOT_USED;
		s->tid = tid;
		t->used++;
	} else if (tid_before(s->tid, tid)) {
		s->tid = tid;
	}
	return 0;
}

bool revoke_covers(const struct journal *j, uint64_t block, tid_t tid)
{
	if (j->revokes.used == 0)
		return false;
	const struct revoke_slot *s = find(&j->revokes, block);

	return s->hi_used != 0 && !tid_before(s->tid, tid);
}

void revoke_fini(struct journal *j)
{
	mem_free(j->env, j->revokes.slots,
		(size_t)j->revokes.slot_count * sizeof(struct revoke_slot));
	j->revokes = (struct revoke_table){.salt = 0};
}

static int read_records(struct journal *j, const uint8_t *block, tid_t tid)
{
	const struct disk_jbd2_revoke *r = (const void *)block;
	uint32_t count = be32_get(r->count);
	uint32_t max = j->block_size - (journal_has_block_csum(j) ? 4u : 0u);
	uint32_t step = (j->incompat & JBD2_INCOMPAT_64BIT) != 0 ? 8 : 4;

	if (count > max || count < sizeof(*r))
		return fail(j->env, E4_WHY_JOURNAL_REVOKE_COUNT, .found = count, .expected = max);
	for (uint32_t at = sizeof(*r); at + step <= count; at += step) {
		uint64_t home = step == 8 ? be64_at(block + at) : be32_at(block + at);

		/* A block that the volume does not have needs no image either. */
		if (home >= j->cfg.home_blocks)
			continue;
		int err = revoke_add(j, home, tid);

		if (err != 0)
			return err;
	}
	return 0;
}

/* Collects the revoke records of all transactions before `end`. */
int journal_pass_revoke(struct journal *j, tid_t end)
{
	struct journal_walk w;

	revoke_fini(j);
	journal_walk_start(j, &w);
	while (w.tid != end) {
		const uint8_t *block;
		int type = journal_walk_next(j, &w, &block);
		int err = 0;

		if (type < 0)
			return type;
		if (type == 0)
			return fail(j->env, E4_WHY_JOURNAL_PASSES, .found = w.tid, .expected = end);
		if (type == JBD2_DESCRIPTOR)
			err = journal_walk_skip(j, &w, journal_tag_count(j, block));
		else if (type == JBD2_REVOKE)
			err = read_records(j, block, w.tid);
		else
			w.tid++;
		if (err != 0)
			return err;
	}
	return 0;
}
