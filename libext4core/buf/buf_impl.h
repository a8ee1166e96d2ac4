/* buf_impl.h - what the files of the buf room share. */
#ifndef BUF_BUF_IMPL_H
#define BUF_BUF_IMPL_H

#include "buf/buf.h"

#define BUF_SHARDS        16u /* a power of two */
#define BUF_SHARD_BUCKETS 256u

enum buf_state {
	BUF_READING = 0, /* its reader works without the lock; others wait */
	BUF_VALID = 1,
	BUF_FAILED = 2, /* out of the hash already; the last holder frees it */
};

struct buf_shard {
	struct mutex lock; /* rank BUF */
	struct cond filled;
	struct list buckets[BUF_SHARD_BUCKETS]; /* [lock] */
	struct list unused;                     /* [lock] not held, newest first */
	uint64_t bytes;                         /* [lock] of every buf here */
};

struct buf_cache {
	struct buf_cache_config config; /* [const], but for dev, which only recovery exchanges */
	struct buf_shard shards[BUF_SHARDS];
};

struct buf_shard *buf_shard_of(struct buf_cache *cache, pblk_t pblk);
/* Finds or inserts under the shard's lock: *ret_new says that the caller must fill it. NULL without memory. */
struct buf *buf_find_or_insert(struct buf_cache *cache, struct buf_shard *shard, pblk_t pblk,
	bool *ret_new) E4_REQUIRES(shard->lock);
/* Ends the READING state of a new buf. */
void buf_filled(struct buf *b, bool ok);
/* Reads bufs of consecutive blocks, all in READING state, in one request. */
int buf_read_run(struct buf_cache *cache, struct buf **run, uint32_t count) E4_MUST_CHECK;
/* Whether the bytes were found good as this already; under the shard's lock. */
bool buf_checked_as(const struct buf *b, const struct buf_kind *kind, inum_t ino, uint32_t seed);
/* Checks the bytes as this kind, and notes that they are good. */
int buf_verify_as(
	struct buf *b, const struct buf_kind *kind, inum_t ino, uint32_t seed) E4_MUST_CHECK;

#endif
