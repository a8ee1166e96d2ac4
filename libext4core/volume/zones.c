/*
 * zones.c - which blocks are the volume's own metadata, so that no file may map them.
 *
 * Owns:    vol->zones: the metadata ranges of each flex group that was asked about, sorted and merged.
 * Locks:   zone_cache.lock guards the table; it is not held while descriptors are read.
 * Always:  memory stays bounded: a full table is emptied, what is needed again is read again.
 * Uses:    buf, by way of the descriptors. Asked once per extent when a leaf is decoded, never on a cached lookup.
 */
#include "base/math.h"
#include "format/inode.h"
#include "volume/volume_impl.h"

#include <errno.h>
#include <stdlib.h>

#define ZONE_BUCKETS   256u
#define ZONE_COUNT_MAX 8192u

/* One flex group. */
struct zone {
	struct list link;
	group_t flex;
	uint32_t count, capacity;
	struct volume_range ranges[];
};

struct zone_cache {
	struct mutex lock; /* rank LEAF */
	uint32_t count;    /* [lock] */
	struct list buckets[ZONE_BUCKETS];
};

int zone_cache_new(struct env *env, struct zone_cache **ret)
{
	struct zone_cache *zc = mem_zalloc(env, sizeof(*zc));

	if (zc == NULL)
		return fail(env, E4_WHY_ZONE_NOMEM, .expected = sizeof(*zc));
	mutex_init(&zc->lock, RANK_LEAF);
	for (unsigned i = 0; i < ZONE_BUCKETS; i++)
		list_init(&zc->buckets[i]);
	*ret = zc;
	return 0;
}

static size_t zone_size(uint32_t capacity)
{
	return sizeof(struct zone) + capacity * sizeof(struct volume_range);
}

static void empty(struct env *env, struct zone_cache *zc)
{
	for (unsigned i = 0; i < ZONE_BUCKETS; i++) {
		list_for_safe (it, tmp, &zc->buckets[i]) {
			struct zone *z = container_of(it, struct zone, link);

			list_del(it);
			mem_free(env, z, zone_size(z->capacity));
		}
	}
	zc->count = 0;
}

void zone_cache_free(struct env *env, struct zone_cache *zc)
{
	if (zc == NULL)
		return;
	empty(env, zc);
	mutex_fini(&zc->lock);
	mem_free(env, zc, sizeof(*zc));
}

static int by_pblk(const void *a, const void *b)
{
	const struct volume_range *x = a;
	const struct volume_range *y = b;

	return x->pblk < y->pblk ? -1 : x->pblk > y->pblk;
}

/* Sorts and joins what touches. */
static void normalise(struct zone *z)
{
	uint32_t n = 0;

	qsort(z->ranges, z->count, sizeof(z->ranges[0]), by_pblk);
	for (uint32_t i = 0; i < z->count; i++) {
		struct volume_range r = z->ranges[i];

		if (n > 0 && r.pblk <= z->ranges[n - 1].pblk + z->ranges[n - 1].len)
			z->ranges[n - 1].len = max_u64(
				z->ranges[n - 1].len, r.pblk + r.len - z->ranges[n - 1].pblk);
		else
			z->ranges[n++] = r;
	}
	z->count = n;
}

static void add(struct zone *z, pblk_t pblk, uint64_t len)
{
	if (len > 0)
		z->ranges[z->count++] = (struct volume_range){pblk, len};
}

/*
 * Reads the descriptors of a flex group. One that cannot be read was reported when it failed; its bitmaps and table are then not
 * known and protect nothing, as the files of its neighbours shall stay readable.
 */
static struct zone *zone_build(struct volume *vol, group_t flex)
{
	uint64_t table = ((uint64_t)vol->inodes_per_group * vol->inode_size + vol->block_size - 1) >>
			 vol->block_bits;
	group_t first = flex * vol->flex_groups;
	group_t end = (group_t)min_u64((uint64_t)first + vol->flex_groups, vol->groups_count);
	uint32_t capacity = 4 * (end - first);
	struct zone *z = mem_zalloc(vol->env, zone_size(capacity));

	if (z == NULL)
		return NULL;
	z->flex = flex;
	z->capacity = capacity;
	for (group_t g = first; g < end; g++) {
		struct group_desc gd;

		add(z, volume_group_first_block(vol, g), volume_group_base_blocks(vol, g));
		if (volume_group(vol, g, &gd) < 0)
			continue;
		add(z, gd.block_bitmap, 1);
		add(z, gd.inode_bitmap, 1);
		add(z, gd.inode_table, table);
	}
	normalise(z);
	return z;
}

/* Whether one of the ranges, sorted and apart, is touched by [pblk, pblk + len). */
static bool touches(const struct volume_range *ranges, uint32_t count, pblk_t pblk, uint64_t len)
{
	uint32_t lo = 0;
	uint32_t hi = count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ranges[mid].pblk + ranges[mid].len <= pblk)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < count && ranges[lo].pblk < pblk + len;
}

static struct zone *zone_find(struct zone_cache *zc, group_t flex) E4_REQUIRES(zc->lock)
{
	list_for (it, &zc->buckets[flex % ZONE_BUCKETS]) {
		struct zone *z = container_of(it, struct zone, link);

		if (z->flex == flex)
			return z;
	}
	return NULL;
}

/* Puts z in, unless another thread was faster. */
static struct zone *zone_insert(struct env *env, struct zone_cache *zc, struct zone *z)
	E4_REQUIRES(zc->lock)
{
	struct zone *there = zone_find(zc, z->flex);

	if (there != NULL) {
		mem_free(env, z, zone_size(z->capacity));
		return there;
	}
	if (zc->count >= ZONE_COUNT_MAX)
		empty(env, zc);
	list_add(&zc->buckets[z->flex % ZONE_BUCKETS], &z->link);
	zc->count++;
	return z;
}

/* 1 when the range touches metadata of this flex group, 0 when not. */
static int check_flex(struct volume *vol, group_t flex, pblk_t pblk, uint64_t len)
{
	struct zone_cache *zc = vol->zones;

	mutex_lock(&zc->lock);
	struct zone *z = zone_find(zc, flex);
	if (z == NULL) {
		mutex_unlock(&zc->lock);
		struct zone *built = zone_build(vol, flex);
		if (built == NULL)
			return fail(vol->env, E4_WHY_ZONE_BUILD_NOMEM, .found = flex);
		mutex_lock(&zc->lock);
		z = zone_insert(vol->env, zc, built);
	}
	bool hit = touches(z->ranges, z->count, pblk, len);
	mutex_unlock(&zc->lock);
	return hit;
}

int volume_check_mapping(struct volume *vol, inum_t ino, pblk_t pblk, uint64_t len)
{
	if (pblk <= volume_super_block(vol) || pblk >= vol->blocks_count ||
		len > vol->blocks_count - pblk)
		return fail(vol->env, E4_WHY_MAPPING_OUTSIDE, .ino = ino, .block = pblk,
			.found = len, .expected = vol->blocks_count);
	/* The resize inode maps reserved descriptor blocks by design, the bad-blocks inode whatever is bad. */
	if (ino == INODE_RESIZE || ino == 1)
		return 0;
	if (ino != INODE_JOURNAL && touches(vol->journal_runs, vol->journal_run_count, pblk, len))
		return fail(
			vol->env, E4_WHY_MAPPING_JOURNAL, .ino = ino, .block = pblk, .found = len);
	group_t first = volume_group_of_block(vol, pblk) / vol->flex_groups;
	group_t last = volume_group_of_block(vol, pblk + len - 1) / vol->flex_groups;
	for (group_t flex = first; flex <= last; flex++) {
		int r = check_flex(vol, flex, pblk, len);

		if (r < 0)
			return r;
		if (r > 0)
			return fail(vol->env, E4_WHY_MAPPING_METADATA, .ino = ino, .block = pblk,
				.found = len);
	}
	return 0;
}
