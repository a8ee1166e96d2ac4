/*
 * cache.c - finding, holding and forgetting metadata blocks.
 *
 * Owns:    the shards of a buf_cache and every buf in them.
 * Locks:   a shard's lock guards its hash, its list of unused bufs, and refs and state of its bufs. Not held across device I/O.
 * Always:  a block is in the cache at most once; a buf on the unused list has refs 0; a buf in READING state is held by its reader;
 *          what nobody holds stays within the limit, shard by shard.
 */
#include "base/assert.h"
#include "base/math.h"
#include "buf/buf_impl.h"

#include <errno.h>
#include <string.h>

#define BUF_ALIGN 4096u /* so that direct devices need no bounce */

static struct list *bucket_of(struct buf_shard *shard, pblk_t pblk)
{
	return &shard->buckets[pblk / BUF_SHARDS % BUF_SHARD_BUCKETS];
}

struct buf_shard *buf_shard_of(struct buf_cache *cache, pblk_t pblk)
{
	return &cache->shards[pblk % BUF_SHARDS];
}

static void shard_init(struct buf_shard *shard)
{
	mutex_init(&shard->lock, RANK_BUF);
	cond_init(&shard->filled);
	list_init(&shard->unused);
	for (unsigned i = 0; i < BUF_SHARD_BUCKETS; i++)
		list_init(&shard->buckets[i]);
}

int buf_cache_new(const struct buf_cache_config *config, struct buf_cache **ret)
{
	struct buf_cache *cache = mem_zalloc(config->env, sizeof(*cache));

	if (cache == NULL)
		return -ENOMEM;
	cache->config = *config;
	for (unsigned i = 0; i < BUF_SHARDS; i++)
		shard_init(&cache->shards[i]);
	*ret = cache;
	return 0;
}

static void buf_destroy(struct buf_cache *cache, struct buf *b)
{
	struct env *env = cache->config.env;

	mem_free(env, b->data, cache->config.block_size);
	mem_free(env, b, sizeof(*b));
}

/* Takes an unused buf out of everything and frees it. */
static void shard_forget(struct buf_cache *cache, struct buf_shard *shard, struct buf *b)
	E4_REQUIRES(shard->lock)
{
	E4_ASSERT(b->refs == 0);
	list_del(&b->lru);
	list_del(&b->hash);
	shard->bytes -= cache->config.block_size;
	buf_destroy(cache, b);
}

static void shard_trim(struct buf_cache *cache, struct buf_shard *shard, uint64_t limit)
	E4_REQUIRES(shard->lock)
{
	while (shard->bytes > limit && !list_empty(&shard->unused))
		shard_forget(cache, shard, container_of(shard->unused.prev, struct buf, lru));
}

void buf_cache_drop(struct buf_cache *cache)
{
	for (unsigned i = 0; i < BUF_SHARDS; i++) {
		struct buf_shard *shard = &cache->shards[i];

		mutex_lock(&shard->lock);
		shard_trim(cache, shard, 0);
		E4_ASSERT(shard->bytes == 0);
		mutex_unlock(&shard->lock);
	}
}

void buf_cache_set_device(struct buf_cache *cache, struct e4_blockdev *dev)
{
	buf_cache_drop(cache);
	cache->config.dev = dev;
}

void buf_cache_free(struct buf_cache *cache)
{
	if (cache == NULL)
		return;
	buf_cache_drop(cache);
	for (unsigned i = 0; i < BUF_SHARDS; i++) {
		mutex_fini(&cache->shards[i].lock);
		cond_fini(&cache->shards[i].filled);
	}
	mem_free(cache->config.env, cache, sizeof(*cache));
}

static struct buf *shard_find(struct buf_shard *shard, pblk_t pblk) E4_REQUIRES(shard->lock)
{
	list_for (it, bucket_of(shard, pblk)) {
		struct buf *b = container_of(it, struct buf, hash);

		if (b->pblk == pblk)
			return b;
	}
	return NULL;
}

static struct buf *buf_create(struct buf_cache *cache, pblk_t pblk)
{
	struct env *env = cache->config.env;
	struct buf *b = mem_zalloc(env, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->data = mem_alloc_aligned(
		env, cache->config.block_size, min_u32(cache->config.block_size, BUF_ALIGN));
	if (b->data == NULL) {
		mem_free(env, b, sizeof(*b));
		return NULL;
	}
	b->cache = cache;
	b->pblk = pblk;
	list_init(&b->lru);
	list_init(&b->dirty);
	return b;
}

struct buf *buf_find_or_insert(
	struct buf_cache *cache, struct buf_shard *shard, pblk_t pblk, bool *ret_new)
{
	uint64_t limit = cache->config.limit_bytes / BUF_SHARDS;
	struct buf *b = shard_find(shard, pblk);

	*ret_new = b == NULL;
	if (b == NULL) {
		shard_trim(cache, shard,
			limit > cache->config.block_size ? limit - cache->config.block_size : 0);
		b = buf_create(cache, pblk);
		if (b == NULL)
			return NULL;
		b->state = BUF_READING;
		list_add(bucket_of(shard, pblk), &b->hash);
		shard->bytes += cache->config.block_size;
	}
	if (b->refs++ == 0)
		list_del(&b->lru);
	return b;
}

void buf_filled(struct buf *b, bool ok)
{
	struct buf_shard *shard = buf_shard_of(b->cache, b->pblk);

	mutex_lock(&shard->lock);
	b->state = ok ? BUF_VALID : BUF_FAILED;
	if (!ok)
		list_del(&b->hash);
	cond_broadcast(&shard->filled);
	mutex_unlock(&shard->lock);
}

void buf_hold(struct buf *b)
{
	struct buf_shard *shard = buf_shard_of(b->cache, b->pblk);

	mutex_lock(&shard->lock);
	E4_ASSERT(b->refs > 0);
	b->refs++;
	mutex_unlock(&shard->lock);
}

void buf_put(struct buf *b)
{
	if (b == NULL)
		return;
	struct buf_cache *cache = b->cache;
	struct buf_shard *shard = buf_shard_of(cache, b->pblk);

	mutex_lock(&shard->lock);
	E4_ASSERT(b->refs > 0);
	if (--b->refs == 0) {
		if (b->state == BUF_FAILED) {
			shard->bytes -= cache->config.block_size;
			buf_destroy(cache, b);
		} else {
			list_add(&shard->unused, &b->lru);
			shard_trim(cache, shard, cache->config.limit_bytes / BUF_SHARDS);
		}
	}
	mutex_unlock(&shard->lock);
}

/* What somebody wants of a block. */
struct want {
	pblk_t pblk;
	const struct buf_kind *kind;
	inum_t ino;
	uint32_t seed;
};

/* How it was found. */
struct found {
	bool is_new;  /* the caller must fill it */
	bool checked; /* its bytes are good as what is wanted */
};

/*
 * A held buf whose reader is done, or one to be filled, or NULL without memory. A buf whose reader failed is tried again: the reader may
 * have been a read-ahead that met its error in another block, and each caller shall see its own.
 */
static struct buf *hold_filled(
	struct buf_cache *cache, const struct want *want, struct found *ret_found)
{
	struct buf_shard *shard = buf_shard_of(cache, want->pblk);

	for (;;) {
		mutex_lock(&shard->lock);
		struct buf *b = buf_find_or_insert(cache, shard, want->pblk, &ret_found->is_new);
		while (b != NULL && !ret_found->is_new && b->state == BUF_READING)
			cond_wait(&shard->filled, &shard->lock);
		bool failed = b != NULL && b->state == BUF_FAILED;
		ret_found->checked = b != NULL &&
				     buf_checked_as(b, want->kind, want->ino, want->seed);
		mutex_unlock(&shard->lock);
		if (!failed)
			return b;
		buf_put(b);
	}
}

int buf_get(struct buf_cache *cache, pblk_t pblk, const struct buf_kind *kind, inum_t ino,
	uint32_t seed, struct buf **ret)
{
	struct want want = {.pblk = pblk, .kind = kind, .ino = ino, .seed = seed};
	struct env *env = cache->config.env;
	struct context *ctx = context_get(env);
	struct found found;
	int r = 0;

	if (pblk >= cache->config.blocks_count)
		return fail(env, E4_WHY_BUF_BEYOND, .block = pblk, .ino = ino,
			.expected = cache->config.blocks_count);
	struct buf *b = ctx != NULL ? hold_filled(cache, &want, &found) : NULL;
	if (b == NULL)
		return fail(env, E4_WHY_BUF_NOMEM, .block = pblk, .ino = ino);
	if (found.is_new) {
		r = buf_read_run(cache, &b, 1);
		buf_filled(b, r == 0);
	}
	context_count(found.is_new ? &ctx->count.buf_misses : &ctx->count.buf_hits, 1);
	if (r == 0 && !found.checked)
		r = buf_verify_as(b, kind, ino, seed);
	if (r < 0) {
		buf_put(b);
		return r;
	}
	*ret = b;
	return 0;
}

int buf_get_zeroed(struct buf_cache *cache, pblk_t pblk, const struct buf_kind *kind, inum_t ino,
	uint32_t seed, struct buf **ret)
{
	struct want want = {.pblk = pblk, .kind = kind, .ino = ino, .seed = seed};
	struct found found;
	struct buf *b = hold_filled(cache, &want, &found);

	if (b == NULL)
		return fail(cache->config.env, E4_WHY_BUF_NOMEM_NEW, .block = pblk, .ino = ino);
	memset(b->data, 0, cache->config.block_size);
	b->kind = kind;
	b->ino = ino;
	b->seed = seed;
	if (found.is_new)
		buf_filled(b, true);
	*ret = b;
	return 0;
}

void buf_join(struct buf *b, struct list *dirty_list)
{
	if (b->joined)
		return;
	buf_hold(b);
	b->joined = true;
	list_add_tail(dirty_list, &b->dirty);
}

void buf_unjoin(struct buf *b)
{
	E4_ASSERT(b->joined);
	b->joined = false;
	list_del(&b->dirty);
	buf_put(b);
}

struct env *buf_cache_env(struct buf_cache *cache)
{
	return cache->config.env;
}

uint64_t buf_cache_bytes(struct buf_cache *cache)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < BUF_SHARDS; i++) {
		mutex_lock(&cache->shards[i].lock);
		bytes += cache->shards[i].bytes;
		mutex_unlock(&cache->shards[i].lock);
	}
	return bytes;
}
