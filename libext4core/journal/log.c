/*
 * log.c - blocks of the log: where they lie, large reads, large writes.
 *
 * Owns:    journal->runs and by_pblk, the two orders of the same map; the read window.
 * Locks:   none.
 * Always:  runs are sorted, leave no gap from block 0 on, and never wrap.
 * Uses:    blockdev.
 */
#include "base/math.h"
#include "base/mem.h"
#include "journal/journal_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int cmp_pblk(const void *a, const void *b)
{
	const struct journal_run_map *x = a;
	const struct journal_run_map *y = b;

	return x->pblk < y->pblk ? -1 : x->pblk > y->pblk;
}

/* Copies the runs; what follows a gap is not part of the log. */
int journal_log_init(struct journal *j)
{
	const struct journal_config *c = &j->cfg;

	j->runs = mem_zalloc_array(j->env, c->run_count, sizeof(*j->runs));
	if (j->runs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->run_count; i++) {
		if (c->runs[i].lblk != j->total || c->runs[i].len > UINT32_MAX - j->total)
			return fail(j->env, E4_WHY_JOURNAL_HOLE, .found = c->runs[i].lblk,
				.expected = j->total);
		j->runs[i] = c->runs[i];
		j->total += c->runs[i].len;
	}
	if (!c->external) {
		j->by_pblk = mem_zalloc_array(j->env, c->run_count, sizeof(*j->by_pblk));
		if (j->by_pblk == NULL)
			return -ENOMEM;
		memcpy(j->by_pblk, j->runs, c->run_count * sizeof(*j->runs));
		qsort(j->by_pblk, c->run_count, sizeof(*j->by_pblk), cmp_pblk);
	}
	j->window_max = max_u32(JOURNAL_WINDOW_BYTES / j->block_size, 1);
	j->window = mem_alloc_aligned(j->env, (size_t)j->window_max * j->block_size, 4096);
	return j->window == NULL ? -ENOMEM : 0;
}

void journal_log_fini(struct journal *j)
{
	mem_free(j->env, j->runs, j->cfg.run_count * sizeof(*j->runs));
	mem_free(j->env, j->by_pblk, j->cfg.run_count * sizeof(*j->by_pblk));
	mem_free(j->env, j->window, (size_t)j->window_max * j->block_size);
}

/* Where lblk (< total) lies, and how many blocks follow it there. */
static pblk_t locate(const struct journal *j, uint32_t lblk, uint32_t *ret_run)
{
	uint32_t lo = 0;
	uint32_t hi = j->cfg.run_count;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (j->runs[mid].lblk <= lblk)
			lo = mid;
		else
			hi = mid;
	}
	*ret_run = j->runs[lo].len - (lblk - j->runs[lo].lblk);
	return j->runs[lo].pblk + (lblk - j->runs[lo].lblk);
}

int journal_log_read(struct journal *j, uint32_t lblk, uint32_t count, void *buf)
{
	uint8_t *p = buf;

	while (count > 0) {
		uint32_t run;
		pblk_t pblk = locate(j, lblk, &run);
		uint32_t n = min_u32(run, count);
		int err = blockdev_read(
			j->cfg.log_dev, pblk * j->block_size, p, (uint64_t)n * j->block_size);

		if (err != 0)
			return err;
		p += (size_t)n * j->block_size;
		lblk += n;
		count -= n;
	}
	return 0;
}

int journal_log_write(
	struct journal *j, uint32_t lblk, uint32_t count, const void *buf, uint32_t flags)
{
	const uint8_t *p = buf;

	journal_log_forget(j);
	while (count > 0) {
		uint32_t run;
		pblk_t pblk = locate(j, lblk, &run);
		uint32_t n = min_u32(run, count);
		int err = blockdev_write(j->cfg.log_dev, pblk * j->block_size, p,
			(uint64_t)n * j->block_size, flags);

		if (err != 0)
			return err;
		p += (size_t)n * j->block_size;
		lblk += n;
		count -= n;
	}
	return 0;
}

void journal_log_forget(struct journal *j)
{
	j->window_count = 0;
}

/* A sequential reader gets the whole window at once, one that jumps (a scan over data blocks) a small part. */
int journal_log_block(struct journal *j, uint32_t lblk, const uint8_t **ret)
{
	if (lblk < j->window_lblk || lblk - j->window_lblk >= j->window_count) {
		bool sequential = j->window_count > 0 && lblk == j->window_lblk + j->window_count;
		uint32_t want = sequential ? j->window_max
					   : max_u32(JOURNAL_JUMP_BYTES / j->block_size, 1);
		uint32_t count = min_u32(min_u32(want, j->window_max), j->total - lblk);

		j->window_count = 0;
		int err = journal_log_read(j, lblk, count, j->window);

		if (err != 0)
			return err;
		j->window_lblk = lblk;
		j->window_count = count;
	}
	*ret = j->window + (size_t)(lblk - j->window_lblk) * j->block_size;
	return 0;
}

/* `count` blocks further in the ring; count is at most its length. */
uint32_t journal_log_advance(const struct journal *j, uint32_t lblk, uint32_t count)
{
	uint32_t room = j->last - lblk;

	return count < room ? lblk + count : j->first + (count - room);
}

/* Whether block pblk of the volume belongs to the log itself. */
bool journal_log_holds(const struct journal *j, uint64_t pblk)
{
	uint32_t lo = 0;
	uint32_t hi = j->cfg.run_count;

	if (j->by_pblk == NULL)
		return false;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct journal_run_map *r = &j->by_pblk[mid];

		if (pblk < r->pblk)
			hi = mid;
		else if (pblk - r->pblk >= r->len)
			lo = mid + 1;
		else
			return true;
	}
	return false;
}
