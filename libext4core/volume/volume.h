/*
 * volume.h - the face of the volume room: superblock, features, geometry, group descriptors, what is metadata.
 *
 * Loaded once, constant while mounted (recovery reloads it before anybody is let in). Descriptors are read on demand: mounting costs
 * the same at any size.
 */
#ifndef VOLUME_VOLUME_H
#define VOLUME_VOLUME_H

#include "base/env.h"
#include "base/types.h"
#include "blockdev/blockdev.h"
#include "buf/buf.h"
#include "format/features.h"
#include "format/group_desc.h"
#include "format/super.h"

#include <ext4core/types.h>

struct zone_cache;
struct e4_fs_info;

/* How a volume is to be opened. */
struct volume_options {
	bool read_only;
	bool ignore_csum;
	bool backup_descs;
	uint64_t superblock; /* block number in superblock_bsize units; 0 = primary */
	uint32_t superblock_bsize;
	uint64_t cache_limit_bytes; /* of the buf cache */
};

/* Blocks that lie together. */
struct volume_range {
	pblk_t pblk;
	uint64_t len;
};

struct volume {
	struct env *env;            /* [const] */
	struct e4_blockdev *dev;    /* [const] what is read: the device, or recovery's overlay */
	struct buf_cache *bufs;     /* [const] */
	struct volume_options opts; /* [const] */
	struct disk_super super;    /* as loaded */

	/* Geometry, all [const] and checked. */
	uint32_t block_size, block_bits;
	uint32_t cluster_ratio, cluster_bits; /* blocks in a cluster; 1 without bigalloc */
	uint64_t blocks_count;
	uint32_t first_data_block;
	uint32_t blocks_per_group, clusters_per_group, inodes_per_group;
	uint32_t inodes_count, first_ino, inode_size;
	uint32_t desc_size, descs_per_block;
	group_t groups_count;
	uint32_t gdt_blocks;  /* descriptor blocks */
	uint32_t flex_groups; /* groups in a flex group; 1 = none */
	uint32_t feature_compat, feature_incompat, feature_ro_compat;
	uint32_t csum_seed;
	bool csum;             /* metadata_csum */
	bool gdt_csum;         /* descriptors carry flags and a checksum of either kind */
	uint32_t hash_seed[4]; /* native; the built-in default when the disk's is zero */
	bool hash_unsigned;
	uint8_t def_hash_version;
	char read_only_reason[128]; /* why a writable mount is refused; "" when it is not */

	struct zone_cache *zones; /* [atomic inside] metadata ranges by flex group, made on demand */
	struct volume_range *journal_runs; /* sorted by pblk; NULL = none */
	uint32_t journal_run_count, journal_run_capacity;
	_Atomic uint64_t bad_desc_reported; /* [atomic] 1 + the group whose bad checksum was reported last */
	void *owner;                        /* [const] the mount, opaque to the rooms below it */
};

/* One group's descriptor in native form. */
struct group_desc {
	pblk_t block_bitmap, inode_bitmap, inode_table;
	uint32_t free_clusters, free_inodes, used_dirs, itable_unused;
	uint16_t flags;
	uint32_t block_bitmap_csum,
		inode_bitmap_csum; /* as stored: 32 bits, or 16 with small descriptors */
};

/* Reads and validates the superblock; refuses by feature name. On success the caller owns the volume; dev is borrowed. */
int volume_load(struct env *env, struct e4_blockdev *dev, const struct volume_options *opts,
	struct volume **ret) E4_MUST_CHECK;
void volume_free(struct volume *vol);
/* Reads the superblock again, from dev (the overlay after a replay). Everything cached is dropped; nothing may be held. */
int volume_reload(struct volume *vol, struct e4_blockdev *dev) E4_MUST_CHECK;
/* Only the superblock's own checks: enough for e4_probe. */
int volume_read_super(struct env *env, struct e4_blockdev *dev, const struct volume_options *opts,
	struct disk_super *ret) E4_MUST_CHECK;
/* Public summary from a superblock. */
void volume_info(const struct disk_super *s, struct e4_fs_info *ret);

static inline bool volume_has_compat(const struct volume *vol, uint32_t bit)
{
	return (vol->feature_compat & bit) != 0;
}

static inline bool volume_has_incompat(const struct volume *vol, uint32_t bit)
{
	return (vol->feature_incompat & bit) != 0;
}

static inline bool volume_has_ro_compat(const struct volume *vol, uint32_t bit)
{
	return (vol->feature_ro_compat & bit) != 0;
}

/* --- features.c --- */

/* As mke2fs spells it; set: 0 compat, 1 incompat, 2 ro_compat. NULL when the bit has no name. */
const char *volume_feature_name(uint32_t set, uint32_t bit);
/* Every ro_compat bit is known, so that recovery may write. */
bool volume_may_recover_for_good(const struct volume *vol);

/* --- groups.c: descriptors --- */

/* Verified descriptor of group g (< groups_count). */
int volume_group(struct volume *vol, group_t g, struct group_desc *ret) E4_MUST_CHECK;
/* The block and offset where the descriptor of g lies (primary copy), for recovery to change it. */
void volume_group_location(
	const struct volume *vol, group_t g, pblk_t *ret_pblk, uint32_t *ret_offset);
/* Writes native values and the checksum into raw descriptor bytes. */
void volume_group_encode(const struct volume *vol, group_t g, const struct group_desc *gd, void *raw);
/* First block of g; clusters really in g (the last group may be short). */
pblk_t volume_group_first_block(const struct volume *vol, group_t g);
uint32_t volume_group_clusters(const struct volume *vol, group_t g);
group_t volume_group_of_block(const struct volume *vol, pblk_t pblk);
bool volume_group_has_super(const struct volume *vol, group_t g);
/* Blocks at the start of g taken by superblock, descriptors and reserved descriptors. */
uint32_t volume_group_base_blocks(const struct volume *vol, group_t g);
/* The bitmap of g as one block, checked against the descriptor; an uninitialised one is computed. Owned by the caller: block_size bytes, free with mem_free. */
int volume_block_bitmap(
	struct volume *vol, group_t g, const struct group_desc *gd, uint8_t **ret) E4_MUST_CHECK;
int volume_inode_bitmap(
	struct volume *vol, group_t g, const struct group_desc *gd, uint8_t **ret) E4_MUST_CHECK;

/* --- geometry.c --- */

/* ino in 1..inodes_count (checked: -EUCLEAN). */
int volume_inode_location(
	struct volume *vol, inum_t ino, pblk_t *ret_pblk, uint32_t *ret_offset) E4_MUST_CHECK;
/* The largest size a file may have, by its kind of map. */
uint64_t volume_max_file_bytes(const struct volume *vol, bool extents);
/* Blocks that files cannot use, for statfs. */
uint64_t volume_overhead_blocks(const struct volume *vol);

/* --- zones.c: is it metadata --- */

/*
 * A mapping of inode `ino` to [pblk, pblk + len) is inside the volume and touches no superblock, descriptor, bitmap, inode table or
 * journal block: 0, else -EUCLEAN with a reason. The zones of a flex group are read on first use.
 */
int volume_check_mapping(struct volume *vol, inum_t ino, pblk_t pblk, uint64_t len) E4_MUST_CHECK;

#endif
