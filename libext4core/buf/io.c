/*
 * io.c - filling bufs from the device, one by one or a run at a time.
 *
 * Owns:    bufs in READING state that it inserted itself.
 * Locks:   the shards' locks, never across device I/O.
 * Always:  every buf taken in READING state leaves it, valid or failed; a failed read is never taken for zeros.
 */
#include "base/math.h"
#include "buf/buf_impl.h"

#include <errno.h>

#define RUN_MAX 64u

int buf_read_run(struct buf_cache *cache, struct buf **run, uint32_t count)
{
	struct e4_iovec iov[RUN_MAX];
	uint32_t bs = cache->config.block_size;

	for (uint32_t i = 0; i < count; i++)
		iov[i] = (struct e4_iovec){.base = run[i]->data, .len = bs};
	return blockdev_readv(cache->config.dev, run[0]->pblk * bs, iov, count);
}

/* A buf for pblk to fill, or NULL when it is there already or memory is short. */
static struct buf *take_missing(struct buf_cache *cache, pblk_t pblk)
{
	struct buf_shard *shard = buf_shard_of(cache, pblk);
	bool is_new;

	mutex_lock(&shard->lock);
	struct buf *b = buf_find_or_insert(cache, shard, pblk, &is_new);
	mutex_unlock(&shard->lock);
	if (b != NULL && !is_new) {
		buf_put(b);
		return NULL;
	}
	return b;
}

static void fill(struct buf_cache *cache, struct buf **run, uint32_t count)
{
	if (count == 0)
		return;
	int r = buf_read_run(cache, run, count);
	for (uint32_t i = 0; i < count; i++) {
		buf_filled(run[i], r == 0);
		buf_put(run[i]);
	}
}

void buf_read_ahead(struct buf_cache *cache, pblk_t pblk, uint32_t count)
{
	struct buf *run[RUN_MAX];
	uint32_t n = 0;

	if (pblk >= cache->config.blocks_count)
		return;
	count = (uint32_t)min_u64(count, cache->config.blocks_count - pblk);
	for (uint32_t i = 0; i < count; i++) {
		struct buf *b = take_missing(cache, pblk + i);

		if (b == NULL || n == RUN_MAX) {
			fill(cache, run, n);
			n = 0;
		}
		if (b != NULL)
			run[n++] = b;
	}
	fill(cache, run, n);
}
