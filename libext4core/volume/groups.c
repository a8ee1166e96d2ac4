/*
 * groups.c - group descriptors and bitmaps, read when they are asked for.
 *
 * Owns:    nothing that lasts: descriptors live in the buf cache, bitmaps in the caller's memory.
 * Locks:   none.
 * Always:  a descriptor handed out had the right checksum; a position taken from it is checked by whoever follows it; an
 *          uninitialised bitmap is computed and never read.
 */
#include "base/atomic.h"
#include "base/bits.h"
#include "base/math.h"
#include "format/csum.h"
#include "volume/volume_impl.h"

#include <errno.h>
#include <string.h>

pblk_t volume_super_block(const struct volume *vol)
{
	return vol->block_size == BLOCK_SIZE_MIN ? 1 : 0;
}

pblk_t volume_group_first_block(const struct volume *vol, group_t g)
{
	return vol->first_data_block + (pblk_t)g * vol->blocks_per_group;
}

group_t volume_group_of_block(const struct volume *vol, pblk_t pblk)
{
	return pblk < vol->first_data_block
		       ? 0
		       : (group_t)((pblk - vol->first_data_block) / vol->blocks_per_group);
}

uint32_t volume_group_clusters(const struct volume *vol, group_t g)
{
	if (g + 1 < vol->groups_count)
		return vol->clusters_per_group;
	return (uint32_t)div_up_u64(
		vol->blocks_count - volume_group_first_block(vol, g), vol->cluster_ratio);
}

static bool power_of(group_t g, uint64_t base)
{
	uint64_t p = base;

	while (p < g)
		p *= base;
	return p == g;
}

bool volume_group_has_super(const struct volume *vol, group_t g)
{
	if (g == 0)
		return true;
	if (volume_has_compat(vol, FEATURE_COMPAT_SPARSE_SUPER2))
		return g == le32_get(vol->super.backup_bgs[0]) ||
		       g == le32_get(vol->super.backup_bgs[1]);
	if (!volume_has_ro_compat(vol, FEATURE_RO_COMPAT_SPARSE_SUPER))
		return true;
	return g == 1 || power_of(g, 3) || power_of(g, 5) || power_of(g, 7);
}

/* True where the descriptors of g's metagroup stand in the metagroup itself. */
static bool in_meta_bg(const struct volume *vol, group_t g)
{
	return volume_has_incompat(vol, FEATURE_INCOMPAT_META_BG) &&
	       g / vol->descs_per_block >= le32_get(vol->super.first_meta_bg);
}

/* 1 KiB blocks with first_data_block 0 (bigalloc): block 0 is the boot block, the superblock comes after it. */
static uint32_t boot_blocks(const struct volume *vol, group_t g)
{
	return g == 0 ? (uint32_t)(volume_super_block(vol) - vol->first_data_block) : 0;
}

uint32_t volume_group_base_blocks(const struct volume *vol, group_t g)
{
	uint32_t n = volume_group_has_super(vol, g) ? 1 + boot_blocks(vol, g) : 0;

	if (in_meta_bg(vol, g)) {
		uint32_t index = g % vol->descs_per_block;

		return n + (index == 0 || index == 1 || index == vol->descs_per_block - 1 ? 1 : 0);
	}
	if (n > 0) {
		bool meta = volume_has_incompat(vol, FEATURE_INCOMPAT_META_BG);

		n += meta ? le32_get(vol->super.first_meta_bg) : vol->gdt_blocks;
		n += le16_get(vol->super.reserved_gdt_blocks);
	}
	return n;
}

/* The superblock that the classic descriptor table follows: the primary, or the backup that a rescue names. */
static pblk_t table_super_block(const struct volume *vol)
{
	if (vol->opts.backup_descs && vol->opts.superblock != 0) {
		uint32_t bsize = vol->opts.superblock_bsize != 0 ? vol->opts.superblock_bsize
								 : BLOCK_SIZE_MIN;

		return vol->opts.superblock * bsize / vol->block_size;
	}
	return volume_super_block(vol);
}

void volume_group_location(
	const struct volume *vol, group_t g, pblk_t *ret_pblk, uint32_t *ret_offset)
{
	uint32_t index = g / vol->descs_per_block;

	*ret_offset = g % vol->descs_per_block * vol->desc_size;
	if (!in_meta_bg(vol, g)) {
		*ret_pblk = table_super_block(vol) + 1 + index;
		return;
	}
	/* A rescue reads the copy in the metagroup's second group. */
	group_t holder = index * vol->descs_per_block;
	if (vol->opts.backup_descs && holder + 1 < vol->groups_count)
		holder++;
	*ret_pblk = volume_group_first_block(vol, holder) +
		    (volume_group_has_super(vol, holder) ? 1 + boot_blocks(vol, holder) : 0);
}

static int check_desc_csum(struct volume *vol, group_t g, const struct disk_group_desc *d)
{
	uint16_t want;

	if (!vol->gdt_csum)
		return 0;
	if (vol->csum)
		want = csum_group_desc_crc32c(vol->csum_seed, g, d, vol->desc_size);
	else
		want = csum_group_desc_crc16(vol->super.uuid, g, d, vol->desc_size);
	if (want == le16_get(d->checksum))
		return 0;
	/* As in the kernel it forbids a writable mount and is only reported to a reader, who checks each position he follows. Once in a
	 * row for one group: each inode of the group asks again. */
	bool go_on = vol->opts.ignore_csum || vol->opts.read_only;
	if (go_on && rmw_swap_u64(&vol->bad_desc_reported, (uint64_t)g + 1) == (uint64_t)g + 1)
		return 0;
	int r = fail(vol->env, E4_WHY_GROUP_CSUM, .block = g, .found = le16_get(d->checksum),
		.expected = want);
	return go_on ? 0 : r;
}

static void decode(const struct volume *vol, const struct disk_group_desc *d, struct group_desc *ret)
{
	*ret = (struct group_desc){
		.block_bitmap = le32_get(d->block_bitmap_lo),
		.inode_bitmap = le32_get(d->inode_bitmap_lo),
		.inode_table = le32_get(d->inode_table_lo),
		.free_clusters = le16_get(d->free_blocks_count_lo),
		.free_inodes = le16_get(d->free_inodes_count_lo),
		.used_dirs = le16_get(d->used_dirs_count_lo),
		.itable_unused = vol->gdt_csum ? le16_get(d->itable_unused_lo) : 0,
		.flags = vol->gdt_csum ? le16_get(d->flags) : 0,
		.block_bitmap_csum = le16_get(d->block_bitmap_csum_lo),
		.inode_bitmap_csum = le16_get(d->inode_bitmap_csum_lo),
	};
	if (vol->desc_size < GROUP_DESC_SIZE_64BIT)
		return;
	ret->block_bitmap |= (pblk_t)le32_get(d->block_bitmap_hi) << 32;
	ret->inode_bitmap |= (pblk_t)le32_get(d->inode_bitmap_hi) << 32;
	ret->inode_table |= (pblk_t)le32_get(d->inode_table_hi) << 32;
	ret->free_clusters |= (uint32_t)le16_get(d->free_blocks_count_hi) << 16;
	ret->free_inodes |= (uint32_t)le16_get(d->free_inodes_count_hi) << 16;
	ret->used_dirs |= (uint32_t)le16_get(d->used_dirs_count_hi) << 16;
	if (vol->gdt_csum)
		ret->itable_unused |= (uint32_t)le16_get(d->itable_unused_hi) << 16;
	ret->block_bitmap_csum |= (uint32_t)le16_get(d->block_bitmap_csum_hi) << 16;
	ret->inode_bitmap_csum |= (uint32_t)le16_get(d->inode_bitmap_csum_hi) << 16;
}

int volume_group(struct volume *vol, group_t g, struct group_desc *ret)
{
	pblk_t pblk;
	uint32_t offset;
	struct buf *b;

	if (g >= vol->groups_count)
		return fail(vol->env, E4_WHY_GROUP_NUMBER, .found = g, .expected = vol->groups_count);
	volume_group_location(vol, g, &pblk, &offset);
	int r = buf_get(vol->bufs, pblk, &buf_kind_plain, 0, 0, &b);
	if (r < 0)
		return r;
	const struct disk_group_desc *d = (const void *)(b->data + offset);
	r = check_desc_csum(vol, g, d);
	if (r == 0)
		decode(vol, d, ret);
	buf_put(b);
	return r;
}

static void encode_hi(struct disk_group_desc *d, const struct group_desc *gd)
{
	d->free_blocks_count_hi = le16_put((uint16_t)(gd->free_clusters >> 16));
	d->free_inodes_count_hi = le16_put((uint16_t)(gd->free_inodes >> 16));
	d->used_dirs_count_hi = le16_put((uint16_t)(gd->used_dirs >> 16));
	d->itable_unused_hi = le16_put((uint16_t)(gd->itable_unused >> 16));
	d->block_bitmap_csum_hi = le16_put((uint16_t)(gd->block_bitmap_csum >> 16));
	d->inode_bitmap_csum_hi = le16_put((uint16_t)(gd->inode_bitmap_csum >> 16));
}

void volume_group_encode(const struct volume *vol, group_t g, const struct group_desc *gd, void *raw)
{
	struct disk_group_desc *d = raw;

	d->free_blocks_count_lo = le16_put((uint16_t)gd->free_clusters);
	d->free_inodes_count_lo = le16_put((uint16_t)gd->free_inodes);
	d->used_dirs_count_lo = le16_put((uint16_t)gd->used_dirs);
	if (vol->csum) {
		d->block_bitmap_csum_lo = le16_put((uint16_t)gd->block_bitmap_csum);
		d->inode_bitmap_csum_lo = le16_put((uint16_t)gd->inode_bitmap_csum);
	}
	if (vol->gdt_csum) {
		d->flags = le16_put(gd->flags);
		d->itable_unused_lo = le16_put((uint16_t)gd->itable_unused);
	}
	if (vol->desc_size >= GROUP_DESC_SIZE_64BIT)
		encode_hi(d, gd);
	if (vol->csum)
		d->checksum = le16_put(csum_group_desc_crc32c(vol->csum_seed, g, d, vol->desc_size));
	else if (vol->gdt_csum)
		d->checksum = le16_put(csum_group_desc_crc16(vol->super.uuid, g, d, vol->desc_size));
}

/* Sets the bits of [pblk, pblk + count) that lie in group g. */
static void mark_blocks(
	const struct volume *vol, group_t g, uint8_t *bitmap, pblk_t pblk, uint64_t count)
{
	pblk_t first = volume_group_first_block(vol, g);
	pblk_t end = first + (pblk_t)volume_group_clusters(vol, g) * vol->cluster_ratio;
	pblk_t from = max_u64(pblk, first);
	pblk_t to = min_u64(pblk + count, end);

	if (from >= to)
		return;
	uint64_t bit = (from - first) >> vol->cluster_bits;
	uint64_t last = (to - 1 - first) >> vol->cluster_bits;
	bits_set_run(bitmap, bit, last - bit + 1);
}

/* The bitmap of a group that nobody allocated from yet. */
static void compute_block_bitmap(
	const struct volume *vol, group_t g, const struct group_desc *gd, uint8_t *bitmap)
{
	uint64_t table = ((uint64_t)vol->inodes_per_group * vol->inode_size + vol->block_size - 1) >>
			 vol->block_bits;
	uint32_t clusters = volume_group_clusters(vol, g);

	memset(bitmap, 0, vol->block_size);
	mark_blocks(
		vol, g, bitmap, volume_group_first_block(vol, g), volume_group_base_blocks(vol, g));
	mark_blocks(vol, g, bitmap, gd->block_bitmap, 1);
	mark_blocks(vol, g, bitmap, gd->inode_bitmap, 1);
	mark_blocks(vol, g, bitmap, gd->inode_table, table);
	bits_set_run(bitmap, clusters, 8ull * vol->block_size - clusters);
}

/* Low 16 bits are all there is with small descriptors. */
static bool bitmap_csum_ok(
	const struct volume *vol, uint32_t stored, const uint8_t *bitmap, uint32_t bits)
{
	uint32_t want = csum_bitmap(vol->csum_seed, bitmap, bits);

	if (!vol->csum)
		return true;
	return vol->desc_size >= GROUP_DESC_SIZE_64BIT ? stored == want : stored == (want & 0xFFFF);
}

/* Reads one bitmap block into *ret. */
static int read_bitmap(struct volume *vol, group_t g, pblk_t pblk, uint32_t stored_csum,
	uint32_t bits, uint8_t **ret)
{
	struct buf *b;

	if (pblk <= volume_super_block(vol) || pblk >= vol->blocks_count)
		return fail(vol->env, E4_WHY_GROUP_BITMAP_LOCATION, .block = pblk, .found = g,
			.expected = vol->blocks_count);
	int r = buf_get(vol->bufs, pblk, &buf_kind_plain, 0, 0, &b);
	if (r < 0)
		return r;
	uint8_t *copy = mem_zalloc(vol->env, vol->block_size);
	if (copy != NULL)
		memcpy(copy, b->data, vol->block_size);
	buf_put(b);
	if (copy == NULL)
		return fail(vol->env, E4_WHY_GROUP_BITMAP_NOMEM, .block = pblk);
	if (!bitmap_csum_ok(vol, stored_csum, copy, bits)) {
		r = fail(vol->env, E4_WHY_GROUP_BITMAP_CSUM, .block = pblk, .found = stored_csum,
			.expected = csum_bitmap(vol->csum_seed, copy, bits));
		if (!vol->opts.ignore_csum) {
			mem_free(vol->env, copy, vol->block_size);
			return r;
		}
	}
	*ret = copy;
	return 0;
}

int volume_block_bitmap(struct volume *vol, group_t g, const struct group_desc *gd, uint8_t **ret)
{
	if ((gd->flags & GROUP_BLOCK_UNINIT) == 0)
		return read_bitmap(vol, g, gd->block_bitmap, gd->block_bitmap_csum,
			vol->clusters_per_group, ret);
	uint8_t *bitmap = mem_zalloc(vol->env, vol->block_size);
	if (bitmap == NULL)
		return fail(vol->env, E4_WHY_GROUP_UNINIT_NOMEM, .found = g);
	compute_block_bitmap(vol, g, gd, bitmap);
	*ret = bitmap;
	return 0;
}

int volume_inode_bitmap(struct volume *vol, group_t g, const struct group_desc *gd, uint8_t **ret)
{
	if ((gd->flags & GROUP_INODE_UNINIT) == 0)
		return read_bitmap(vol, g, gd->inode_bitmap, gd->inode_bitmap_csum,
			vol->inodes_per_group, ret);
	uint8_t *bitmap = mem_zalloc(vol->env, vol->block_size);
	if (bitmap == NULL)
		return fail(vol->env, E4_WHY_GROUP_INODE_UNINIT_NOMEM, .found = g);
	bits_set_run(bitmap, vol->inodes_per_group, 8ull * vol->block_size - vol->inodes_per_group);
	*ret = bitmap;
	return 0;
}
