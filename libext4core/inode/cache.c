/*
 * cache.c - inodes in memory: found by number, held by references, forgotten when nobody holds them.
 *
 * Owns:    the shards of an inode_cache and every inode in them.
 * Locks:   a shard's lock (rank INODE_CACHE) guards its hash, its list of unused inodes, its counts, and hash, lru, refs, loading,
 *          failed and load_err of its inodes. It is not held across I/O, nor when ops->evict or ops->check run.
 * Always:  a number is in the hash at most once; an inode on the unused list has refs 0 and is loaded; unused ones stay within the
 *          limit, shard by shard; an inode whose load failed has left the hash before its waiters wake.
 * Uses:    table.c to load. What hangs on an inode above this room goes by ops->evict.
 */
#include "base/assert.h"
#include "base/math.h"
#include "inode/inode_impl.h"

#include <errno.h>

#define SHARDS_MAX       16u
#define UNUSED_SHARD_MIN 8u /* fewer shards rather than a smaller limit in each */
#define BUCKETS_MIN      32u
#define LOAD_TRIES_MAX   8u

struct inode_shard {
	struct mutex lock;
	struct cond loaded;    /* some inode of the shard is no longer loading */
	struct list *buckets;  /* [lock] */
	uint32_t bucket_count; /* [lock] a power of two */
	uint32_t unused_count; /* [lock] */
	struct list unused;    /* [lock] refs 0, longest unused first */
	uint64_t count;        /* [lock] in the hash */
	uint64_t held;         /* [lock] in the hash with refs > 0 */
};

struct inode_cache {
	struct volume *vol;         /* [const] */
	struct inode_cache_ops ops; /* [const] */
	xattr_read_inode_fn reader; /* [const after mount] */
	uint32_t shard_count;       /* [const] a power of two */
	uint32_t shard_bits;        /* [const] */
	uint32_t max_unused_shard;  /* [const] */
	struct inode_shard shards[SHARDS_MAX];
};

static struct inode_shard *shard_of(struct inode_cache *cache, inum_t ino)
{
	return &cache->shards[ino & (cache->shard_count - 1)];
}

static struct list *bucket_of(const struct inode_cache *cache, struct inode_shard *shard, inum_t ino)
	E4_REQUIRES(shard->lock)
{
	return &shard->buckets[ino >> cache->shard_bits & (shard->bucket_count - 1)];
}

/* --- making and freeing --- */

static struct list *buckets_new(struct env *env, uint32_t count)
{
	struct list *buckets = mem_zalloc_array(env, count, sizeof(*buckets));

	for (uint32_t i = 0; buckets != NULL && i < count; i++)
		list_init(&buckets[i]);
	return buckets;
}

static int shard_init(struct env *env, struct inode_shard *shard) E4_NO_TSA
{
	shard->buckets = buckets_new(env, BUCKETS_MIN);
	if (shard->buckets == NULL)
		return fail(env, E4_WHY_INODE_CACHE_MEMORY, .found = BUCKETS_MIN);
	shard->bucket_count = BUCKETS_MIN;
	list_init(&shard->unused);
	mutex_init(&shard->lock, RANK_INODE_CACHE);
	cond_init(&shard->loaded);
	return 0;
}

int inode_cache_new(struct volume *vol, const struct inode_cache_ops *ops, uint32_t max_unused,
	struct inode_cache **ret)
{
	struct inode_cache *cache = mem_zalloc(vol->env, sizeof(*cache));

	if (cache == NULL)
		return fail(vol->env, E4_WHY_INODE_CACHE_NEW, .found = sizeof(*cache));
	cache->vol = vol;
	if (ops != NULL)
		cache->ops = *ops;
	uint32_t wanted = max_u32(min_u32(max_unused / UNUSED_SHARD_MIN, SHARDS_MAX), 1);
	cache->shard_bits = log2_u64(wanted);
	cache->max_unused_shard = max_unused >> cache->shard_bits;
	for (uint32_t i = 0; i < 1u << cache->shard_bits; i++) {
		int r = shard_init(vol->env, &cache->shards[i]);

		if (r < 0) {
			inode_cache_free(cache);
			return r;
		}
		cache->shard_count = i + 1;
	}
	*ret = cache;
	return 0;
}

/* An inode that is in no list any more. */
static void inode_destroy(struct inode_cache *cache, struct inode *ip)
{
	if (cache->ops.evict != NULL)
		cache->ops.evict(ip);
	mutex_fini(&ip->es.lock);
	mem_free(cache->vol->env, ip, sizeof(*ip));
}

void inode_cache_free(struct inode_cache *cache) E4_NO_TSA
{
	if (cache == NULL)
		return;
	for (uint32_t i = 0; i < cache->shard_count; i++) {
		struct inode_shard *shard = &cache->shards[i];

		E4_ASSERT(shard->held == 0);
		list_for_safe (it, next, &shard->unused) {
			list_del(it);
			inode_destroy(cache, container_of(it, struct inode, lru));
		}
		mem_free(cache->vol->env, shard->buckets,
			shard->bucket_count * sizeof(*shard->buckets));
		cond_fini(&shard->loaded);
		mutex_fini(&shard->lock);
	}
	mem_free(cache->vol->env, cache, sizeof(*cache));
}

void xattr_set_reader(struct inode_cache *cache, xattr_read_inode_fn fn)
{
	cache->reader = fn;
}

xattr_read_inode_fn inode_cache_reader(const struct inode_cache *cache)
{
	return cache->reader;
}

/* --- finding --- */

/* The inode with a reference more, loaded or not; NULL when it is not there. */
static struct inode *shard_find(const struct inode_cache *cache, struct inode_shard *shard,
	inum_t ino) E4_REQUIRES(shard->lock)
{
	struct list *bucket = bucket_of(cache, shard, ino);

	list_for (it, bucket) {
		struct inode *ip = container_of(it, struct inode, hash);

		if (ip->ino != ino)
			continue;
		if (ip->refs++ == 0) {
			list_del(&ip->lru);
			shard->unused_count--;
			shard->held++;
		}
		return ip;
	}
	return NULL;
}

/* Keeps chains short. Without memory they stay longer. */
static void shard_grow(const struct inode_cache *cache, struct inode_shard *shard)
	E4_REQUIRES(shard->lock)
{
	struct env *env = cache->vol->env;
	uint32_t old_count = shard->bucket_count;
	struct list *old = shard->buckets;

	if (shard->count < 2 * (uint64_t)old_count || old_count > UINT32_MAX / 4)
		return;
	struct list *fresh = buckets_new(env, old_count * 2);
	if (fresh == NULL)
		return;
	shard->buckets = fresh;
	shard->bucket_count = old_count * 2;
	for (uint32_t i = 0; i < old_count; i++) {
		list_for_safe (it, next, &old[i]) {
			struct inode *ip = container_of(it, struct inode, hash);

			list_del(it);
			list_add(bucket_of(cache, shard, ip->ino), it);
		}
	}
	mem_free(env, old, old_count * sizeof(*old));
}

static struct inode *inode_new(struct inode_cache *cache, inum_t ino)
{
	struct inode *ip = mem_zalloc(cache->vol->env, sizeof(*ip));

	if (ip == NULL)
		return NULL;
	ip->vol = cache->vol;
	ip->cache = cache;
	ip->ino = ino;
	ip->refs = 1;
	ip->loading = true;
	list_init(&ip->hash);
	list_init(&ip->lru);
	mutex_init(&ip->es.lock, RANK_EXTENT_STATUS);
	return ip;
}

/* A reference to the inode of this number, NULL without memory. *ret_fresh: it is the caller's to load, and others wait for that. */
static struct inode *take(struct inode_cache *cache, inum_t ino, bool *ret_fresh)
{
	struct inode_shard *shard = shard_of(cache, ino);
	struct inode *mine = NULL;
	struct inode *ip;

	mutex_lock(&shard->lock);
	ip = shard_find(cache, shard, ino);
	if (ip == NULL) {
		mutex_unlock(&shard->lock);
		mine = inode_new(cache, ino);
		if (mine == NULL)
			return NULL;
		mutex_lock(&shard->lock);
		ip = shard_find(cache, shard, ino); /* somebody may have been faster */
	}
	*ret_fresh = ip == NULL;
	if (ip == NULL) {
		ip = mine;
		mine = NULL;
		shard_grow(cache, shard);
		list_add(bucket_of(cache, shard, ino), &ip->hash);
		shard->count++;
		shard->held++;
	}
	mutex_unlock(&shard->lock);
	if (mine != NULL)
		inode_destroy(cache, mine);
	return ip;
}

/* --- loading --- */

/* A reference to an inode whose load failed; the last one frees it. */
static void drop_failed(struct inode *ip)
{
	struct inode_shard *shard = shard_of(ip->cache, ip->ino);

	mutex_lock(&shard->lock);
	bool last = --ip->refs == 0;
	mutex_unlock(&shard->lock);
	if (last)
		inode_destroy(ip->cache, ip);
}

/* Whether the extent room has a say: what i_block holds is a map, and not one that covers metadata by design. */
static bool has_map(const struct inode *ip)
{
	if ((ip->flags & INODE_FL_INLINE_DATA) != 0 || ip->ino < INODE_ROOT ||
		ip->ino == INODE_RESIZE)
		return false;
	return inode_is(ip, INODE_REG) || inode_is(ip, INODE_DIR) ||
	       (inode_is(ip, INODE_LNK) && !inode_is_fast_symlink(ip));
}

/* Loads an inode that `take` made, and lets those who wait go on. On failure the reference is gone. */
static int load(struct inode_cache *cache, struct inode *ip, enum inode_purpose purpose)
{
	struct inode_shard *shard = shard_of(cache, ip->ino);
	int r = inode_read(ip, purpose);

	if (r == 0 && cache->ops.check != NULL && has_map(ip))
		r = cache->ops.check(ip);
	mutex_lock(&shard->lock);
	ip->loading = false;
	if (r < 0) {
		ip->failed = true;
		ip->load_err = r;
		list_del(&ip->hash);
		shard->count--;
		shard->held--;
	}
	cond_broadcast(&shard->loaded);
	mutex_unlock(&shard->lock);
	if (r < 0)
		drop_failed(ip);
	return r;
}

/* Waits until another thread has loaded ip. Its error, without a report in this thread; the reference is gone then. */
static int wait_loaded(struct inode_cache *cache, struct inode *ip)
{
	struct inode_shard *shard = shard_of(cache, ip->ino);

	mutex_lock(&shard->lock);
	while (ip->loading)
		cond_wait(&shard->loaded, &shard->lock);
	int r = ip->failed ? ip->load_err : 0;
	mutex_unlock(&shard->lock);
	if (r < 0)
		drop_failed(ip);
	return r;
}

int inode_get_for(
	struct inode_cache *cache, inum_t ino, enum inode_purpose purpose, struct inode **ret)
{
	struct inode *ip;
	bool fresh = false;
	int r = inode_check_number(cache->vol, ino, purpose);

	if (r < 0)
		return r;
	/*
	 * After another thread's failure this one tries itself: that load may have been for another purpose, and whoever gets an
	 * error finds its reason in its own thread. Bounded, as others may keep failing.
	 */
	for (uint32_t tries = 0;; tries++) {
		ip = take(cache, ino, &fresh);
		if (ip == NULL)
			return fail(cache->vol->env, E4_WHY_INODE_MEMORY, .ino = ino,
				.found = sizeof(*ip));
		if (fresh) {
			r = load(cache, ip, purpose);
			if (r < 0)
				return r;
			break;
		}
		r = wait_loaded(cache, ip);
		if (r == 0)
			break;
		if (tries == LOAD_TRIES_MAX)
			return fail(cache->vol->env, E4_WHY_INODE_LOAD_SHARED, .ino = ino, .err = r);
	}
	r = inode_check_purpose(ip, purpose);
	if (r < 0) {
		inode_put(ip, 1);
		return r;
	}
	*ret = ip;
	return 0;
}

int inode_get(struct inode_cache *cache, inum_t ino, uint32_t generation, struct inode **ret)
{
	struct inode *ip = NULL;
	int r = inode_get_for(cache, ino, INODE_FOR_USE, &ip);

	if (r < 0)
		return r;
	E4_ASSERT(ip != NULL);
	if (generation != 0 && generation != ip->generation) {
		r = fail(cache->vol->env, E4_WHY_INODE_GENERATION, .ino = ino,
			.found = ip->generation, .expected = generation);
		inode_put(ip, 1);
		return r;
	}
	*ret = ip;
	return 0;
}

/* --- holding --- */

void inode_hold(struct inode *ip)
{
	struct inode_shard *shard = shard_of(ip->cache, ip->ino);

	mutex_lock(&shard->lock);
	E4_ASSERT(ip->refs > 0);
	ip->refs++;
	mutex_unlock(&shard->lock);
}

/* Moves what is over the limit, longest unused first, out of the shard into `victims`. */
static void shard_trim(struct inode_shard *shard, uint32_t limit, struct list *victims)
	E4_REQUIRES(shard->lock)
{
	while (shard->unused_count > limit) {
		struct inode *ip = container_of(shard->unused.next, struct inode, lru);

		E4_ASSERT(ip->refs == 0);
		list_del(&ip->hash);
		list_del(&ip->lru);
		shard->unused_count--;
		shard->count--;
		list_add_tail(victims, &ip->lru);
	}
}

void inode_put(struct inode *ip, uint64_t n)
{
	struct inode_cache *cache = ip->cache;
	struct inode_shard *shard = shard_of(cache, ip->ino);
	struct list victims;

	list_init(&victims);
	mutex_lock(&shard->lock);
	E4_ASSERT(ip->refs >= n);
	bool was_held = ip->refs > 0;
	ip->refs -= n;
	if (was_held && ip->refs == 0) {
		list_add_tail(&shard->unused, &ip->lru);
		shard->unused_count++;
		shard->held--;
		shard_trim(shard, cache->max_unused_shard, &victims);
	}
	mutex_unlock(&shard->lock);
	list_for_safe (it, next, &victims) {
		list_del(it);
		inode_destroy(cache, container_of(it, struct inode, lru));
	}
}

/* --- counting --- */

uint64_t inode_cache_count(struct inode_cache *cache)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < cache->shard_count; i++) {
		struct inode_shard *shard = &cache->shards[i];

		mutex_lock(&shard->lock);
		n += shard->count;
		mutex_unlock(&shard->lock);
	}
	return n;
}

uint64_t inode_cache_held(struct inode_cache *cache)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < cache->shard_count; i++) {
		struct inode_shard *shard = &cache->shards[i];

		mutex_lock(&shard->lock);
		n += shard->held;
		mutex_unlock(&shard->lock);
	}
	return n;
}

void inode_cache_es_totals(struct inode_cache *cache, uint64_t *ret_records, uint64_t *ret_bytes)
{
	uint64_t records = 0;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < cache->shard_count; i++) {
		struct inode_shard *shard = &cache->shards[i];

		mutex_lock(&shard->lock);
		for (uint32_t b = 0; b < shard->bucket_count; b++) {
			list_for (it, &shard->buckets[b]) {
				struct es_map *es = &container_of(it, struct inode, hash)->es;

				records += atomic_load_explicit(&es->records, memory_order_relaxed);
				bytes += atomic_load_explicit(&es->heap_bytes, memory_order_relaxed);
			}
		}
		mutex_unlock(&shard->lock);
	}
	*ret_records = records;
	*ret_bytes = bytes;
}
