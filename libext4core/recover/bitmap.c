/*
 * bitmap.c - which blocks and inodes are in use: bitmaps, descriptors' counters, totals.
 *
 * Owns:    recovery->groups, each with its own copy of the bitmaps.
 * Locks:   none.
 * Always:  freeing what is free and using what is used change nothing, so that replaying twice counts once. With bigalloc a bit is a
 *          cluster; whether other blocks of it are still needed is the caller's to know.
 * Uses:    volume, tx.c.
 */
#include "base/bits.h"
#include "base/math.h"
#include "base/mem.h"
#include "format/csum.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

static int get_group(struct recovery *r, group_t number, struct rgroup **ret)
{
	struct list *bucket = &r->groups[number % RECOVER_HASH];

	list_for (it, bucket) {
		struct rgroup *g = container_of(it, struct rgroup, hash);

		if (g->number == number) {
			*ret = g;
			return 0;
		}
	}
	struct rgroup *g = mem_zalloc(r->env, sizeof(*g));

	if (g == NULL)
		return -ENOMEM;
	g->number = number;
	int err = volume_group(r->vol, number, &g->gd);

	if (err != 0) {
		mem_free(r->env, g, sizeof(*g));
		return err;
	}
	list_add(bucket, &g->hash);
	r->group_count++;
	*ret = g;
	return 0;
}

/* The group with its block bitmap at hand. */
static int get_block_group(struct recovery *r, group_t number, struct rgroup **ret)
{
	int err = get_group(r, number, ret);

	if (err == 0 && (*ret)->block_bitmap == NULL)
		err = volume_block_bitmap(r->vol, number, &(*ret)->gd, &(*ret)->block_bitmap);
	return err;
}

static int get_inode_group(struct recovery *r, inum_t ino, struct rgroup **ret, uint32_t *ret_bit)
{
	group_t number = (ino - 1) / r->vol->inodes_per_group;
	int err = get_group(r, number, ret);

	*ret_bit = (ino - 1) % r->vol->inodes_per_group;
	if (err == 0 && (*ret)->inode_bitmap == NULL)
		err = volume_inode_bitmap(r->vol, number, &(*ret)->gd, &(*ret)->inode_bitmap);
	return err;
}

static void block_group_changes(struct recovery *r, struct rgroup *g)
{
	g->block_changed = true;
	g->changed = true;
	if ((g->gd.flags & GROUP_BLOCK_UNINIT) == 0)
		return;
	g->gd.flags &= (uint16_t)~GROUP_BLOCK_UNINIT;
	g->gd.free_clusters = (uint32_t)bits_count_zero(
		g->block_bitmap, volume_group_clusters(r->vol, g->number));
}

enum block_op {
	BLOCKS_PREPARE,
	BLOCKS_FREE,
	BLOCKS_USE,
};

static void apply_bit(struct recovery *r, struct rgroup *g, uint32_t bit, enum block_op op)
{
	bool used = bit_test(g->block_bitmap, bit);

	if (used == (op == BLOCKS_USE))
		return;
	block_group_changes(r, g);
	if (op == BLOCKS_USE) {
		bit_set(g->block_bitmap, bit);
		g->gd.free_clusters -= g->gd.free_clusters > 0;
	} else {
		bit_clear(g->block_bitmap, bit);
		g->gd.free_clusters++;
	}
}

/* [pblk, pblk + len) lies inside the volume. */
static int for_blocks(struct recovery *r, pblk_t pblk, uint64_t len, enum block_op op)
{
	struct volume *vol = r->vol;

	while (len > 0) {
		group_t number = volume_group_of_block(vol, pblk);
		pblk_t first = volume_group_first_block(vol, number);
		uint64_t n = min_u64(len, first + vol->blocks_per_group - pblk);
		struct rgroup *g;
		int err = get_block_group(r, number, &g);

		if (err != 0)
			return err;
		uint32_t from = (uint32_t)((pblk - first) >> vol->cluster_bits);
		uint32_t to = (uint32_t)((pblk + n - 1 - first) >> vol->cluster_bits);

		for (uint32_t bit = from; bit <= to && op != BLOCKS_PREPARE; bit++)
			apply_bit(r, g, bit, op);
		pblk += n;
		len -= n;
	}
	return 0;
}

/* Reads what freeing these blocks will need, so that it cannot fail. */
int bitmap_prepare_blocks(struct recovery *r, pblk_t pblk, uint64_t len)
{
	return for_blocks(r, pblk, len, BLOCKS_PREPARE);
}

int bitmap_free_blocks(struct recovery *r, pblk_t pblk, uint64_t len)
{
	return for_blocks(r, pblk, len, BLOCKS_FREE);
}

int bitmap_use_blocks(struct recovery *r, pblk_t pblk, uint64_t len)
{
	return for_blocks(r, pblk, len, BLOCKS_USE);
}

/* The claim that covers pblk, or NULL. */
static const struct claim *claimed(const struct recovery *r, pblk_t pblk, uint32_t len)
{
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct claim *c = &r->claims[i];

		if (pblk < c->pblk + c->len && c->pblk < pblk + len)
			return c;
	}
	return NULL;
}

static int alloc_in(struct recovery *r, group_t number, uint32_t from, pblk_t *ret)
{
	struct volume *vol = r->vol;
	uint32_t count = volume_group_clusters(vol, number);
	struct rgroup *g;
	int err = get_block_group(r, number, &g);

	if (err != 0)
		return err;
	for (uint64_t bit = bits_next_zero(g->block_bitmap, from, count); bit < count;
		bit = bits_next_zero(g->block_bitmap, bit + 1, count)) {
		pblk_t pblk = volume_group_first_block(vol, number) + (bit << vol->cluster_bits);

		if (claimed(r, pblk, vol->cluster_ratio) != NULL)
			continue;
		apply_bit(r, g, (uint32_t)bit, BLOCKS_USE);
		*ret = pblk;
		return 0;
	}
	return -ENOSPC;
}

/* The first block of a free cluster, from `goal` on, then anywhere. */
int bitmap_alloc_block(struct recovery *r, pblk_t goal, pblk_t *ret)
{
	struct volume *vol = r->vol;
	group_t start = volume_group_of_block(vol, goal);

	if (start >= vol->groups_count)
		start = 0;
	for (uint64_t i = 0; i <= vol->groups_count; i++) {
		group_t number = (group_t)((start + i) % vol->groups_count);
		pblk_t first = volume_group_first_block(vol, number);
		uint32_t from = i == 0 && goal > first
					? (uint32_t)((goal - first) >> vol->cluster_bits)
					: 0;
		struct group_desc gd;

		if (volume_group(vol, number, &gd) != 0)
			continue; /* reported; a damaged group gives no blocks */
		int err = alloc_in(r, number, from, ret);

		if (err == 0)
			return volume_check_mapping(vol, 0, *ret, 1);
		if (err == -ENOMEM)
			return err;
	}
	return fail(r->env, E4_WHY_RECOVER_NOSPC, .block = goal);
}

int bitmap_prepare_inode(struct recovery *r, inum_t ino)
{
	struct rgroup *g;
	uint32_t bit;

	return get_inode_group(r, ino, &g, &bit);
}

int bitmap_inode_used(struct recovery *r, inum_t ino, bool *ret)
{
	struct rgroup *g;
	uint32_t bit;
	int err = get_inode_group(r, ino, &g, &bit);

	if (err == 0)
		*ret = bit_test(g->inode_bitmap, bit);
	return err;
}

int bitmap_free_inode(struct recovery *r, inum_t ino, bool is_dir)
{
	struct rgroup *g;
	uint32_t bit;
	int err = get_inode_group(r, ino, &g, &bit);

	if (err != 0 || !bit_test(g->inode_bitmap, bit))
		return err;
	bit_clear(g->inode_bitmap, bit);
	g->inode_changed = true;
	g->changed = true;
	g->gd.free_inodes++;
	if (is_dir && g->gd.used_dirs > 0)
		g->gd.used_dirs--;
	return 0;
}

/* Slots that were never used may hold anything; from here on the table's scan reaches them. */
static int zero_unused_slots(struct recovery *r, struct rgroup *g, uint32_t bit)
{
	struct volume *vol = r->vol;
	uint32_t first = vol->inodes_per_group - min_u32(g->gd.itable_unused, vol->inodes_per_group);

	if ((g->gd.flags & GROUP_INODE_ZEROED) != 0 || !vol->gdt_csum)
		return 0;
	for (uint32_t i = first; i < bit; i++) {
		pblk_t pblk;
		uint32_t offset;
		struct buf *b;
		int err = volume_inode_location(
			vol, g->number * vol->inodes_per_group + i + 1, &pblk, &offset);

		if (err == 0)
			err = tx_get(r, pblk, &buf_kind_plain, 0, 0, &b);
		if (err != 0)
			return err;
		memset(b->data + offset, 0, vol->inode_size);
	}
	return 0;
}

int bitmap_use_inode(struct recovery *r, inum_t ino, bool is_dir)
{
	struct volume *vol = r->vol;
	struct rgroup *g;
	uint32_t bit;
	int err = get_inode_group(r, ino, &g, &bit);

	if (err != 0 || bit_test(g->inode_bitmap, bit))
		return err;
	err = zero_unused_slots(r, g, bit);
	if (err != 0)
		return err;
	bit_set(g->inode_bitmap, bit);
	g->inode_changed = true;
	g->changed = true;
	g->gd.flags &= (uint16_t)~GROUP_INODE_UNINIT;
	g->gd.free_inodes -= g->gd.free_inodes > 0;
	g->gd.itable_unused = min_u32(g->gd.itable_unused, vol->inodes_per_group - (bit + 1));
	if (is_dir)
		g->gd.used_dirs++;
	/* The kernel reads no inode from a group whose blocks were never set up. */
	if ((g->gd.flags & GROUP_BLOCK_UNINIT) != 0) {
		err = get_block_group(r, g->number, &g);
		if (err == 0)
			block_group_changes(r, g);
	}
	return err;
}

/* A used inode became a directory, or stopped being one. */
int bitmap_add_dirs(struct recovery *r, inum_t ino, int delta)
{
	struct rgroup *g;
	uint32_t bit;
	int err = get_inode_group(r, ino, &g, &bit);

	if (err != 0)
		return err;
	if (delta > 0 || g->gd.used_dirs > 0)
		g->gd.used_dirs = (uint32_t)((int64_t)g->gd.used_dirs + delta);
	g->changed = true;
	return 0;
}

static int write_bitmap(struct recovery *r, pblk_t pblk, const uint8_t *bitmap)
{
	struct buf *b;
	int err = tx_get_zeroed(r, pblk, &buf_kind_plain, 0, 0, &b);

	if (err == 0)
		memcpy(b->data, bitmap, r->vol->block_size);
	return err;
}

static int write_group(struct recovery *r, struct rgroup *g)
{
	struct volume *vol = r->vol;
	uint32_t mask = vol->desc_size >= GROUP_DESC_SIZE_64BIT ? UINT32_MAX : 0xFFFF;
	pblk_t pblk;
	uint32_t offset;
	struct buf *b;
	int err = 0;

	if (!g->changed)
		return 0;
	if (g->block_changed) {
		g->gd.block_bitmap_csum = csum_bitmap(vol->csum_seed, g->block_bitmap,
						  vol->clusters_per_group) &
					  mask;
		err = write_bitmap(r, g->gd.block_bitmap, g->block_bitmap);
	}
	if (err == 0 && g->inode_changed) {
		g->gd.inode_bitmap_csum = csum_bitmap(vol->csum_seed, g->inode_bitmap,
						  vol->inodes_per_group) &
					  mask;
		err = write_bitmap(r, g->gd.inode_bitmap, g->inode_bitmap);
	}
	if (err != 0)
		return err;
	volume_group_location(vol, g->number, &pblk, &offset);
	err = tx_get(r, pblk, &buf_kind_plain, 0, 0, &b);
	if (err == 0)
		volume_group_encode(vol, g->number, &g->gd, b->data + offset);
	return err;
}

/* The superblock's totals are maintained lazily: after a crash only the groups' are right. */
static void sum_totals(struct recovery *r)
{
	struct volume *vol = r->vol;
	uint64_t clusters = 0;
	uint64_t inodes = 0;
	struct group_desc gd;

	for (group_t g = 0; g < vol->groups_count; g++) {
		if (volume_group(vol, g, &gd) != 0)
			return; /* reported; a checker will count */
		clusters += gd.free_clusters;
		inodes += gd.free_inodes;
	}
	uint64_t blocks = clusters << vol->cluster_bits;

	r->super.free_blocks_count_lo = le32_put((uint32_t)blocks);
	if (volume_has_incompat(vol, FEATURE_INCOMPAT_64BIT))
		r->super.free_blocks_count_hi = le32_put((uint32_t)(blocks >> 32));
	r->super.free_inodes_count = le32_put((uint32_t)inodes);
}

int bitmap_write(struct recovery *r)
{
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for (it, &r->groups[i]) {
			int err = write_group(r, container_of(it, struct rgroup, hash));

			if (err != 0)
				return err;
		}
	}
	sum_totals(r);
	return 0;
}

void bitmap_drop(struct recovery *r)
{
	for (uint32_t i = 0; i < RECOVER_HASH; i++) {
		list_for_safe (it, tmp, &r->groups[i]) {
			struct rgroup *g = container_of(it, struct rgroup, hash);

			list_del(&g->hash);
			mem_free(r->env, g->block_bitmap, r->vol->block_size);
			mem_free(r->env, g->inode_bitmap, r->vol->block_size);
			mem_free(r->env, g, sizeof(*g));
		}
	}
	r->group_count = 0;
}
