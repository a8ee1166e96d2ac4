/*
 * info.c - the public summary of a superblock.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  strings end in NUL, whatever the disk holds; caller's older structs get as much as they hold.
 */
#include "base/math.h"
#include "format/inode.h"
#include "volume/volume.h"

#include <ext4core/fs.h>

#include <string.h>

/* 40-bit unsigned seconds. */
static int64_t super_time(struct le32 lo, uint8_t hi)
{
	return (int64_t)(le32_get(lo) | (uint64_t)hi << 32);
}

static uint64_t wide(const struct disk_super *s, struct le32 lo, struct le32 hi)
{
	return le32_get(lo) |
	       (disk_super_has_incompat(s, FEATURE_INCOMPAT_64BIT) ? (uint64_t)le32_get(hi) << 32
								   : 0);
}

static void fill_sizes(const struct disk_super *s, struct e4_fs_info *i)
{
	uint32_t log = le32_get(s->log_block_size);
	uint32_t log_cluster = le32_get(s->log_cluster_size);

	i->block_size = log <= 6 ? 1024u << log : 0;
	i->cluster_size = log_cluster <= 19 ? 1024u << log_cluster : 0;
	i->inode_size = le32_get(s->rev_level) == 0 ? INODE_CLASSIC_SIZE : le16_get(s->inode_size);
	i->desc_size = disk_super_has_incompat(s, FEATURE_INCOMPAT_64BIT) ? le16_get(s->desc_size)
									  : GROUP_DESC_SIZE_MIN;
	i->blocks_per_group = le32_get(s->blocks_per_group);
	i->inodes_per_group = le32_get(s->inodes_per_group);
	i->first_data_block = le32_get(s->first_data_block);
	i->blocks = wide(s, s->blocks_count_lo, s->blocks_count_hi);
	i->free_blocks = wide(s, s->free_blocks_count_lo, s->free_blocks_count_hi);
	i->reserved_blocks = wide(s, s->r_blocks_count_lo, s->r_blocks_count_hi);
	i->inodes = le32_get(s->inodes_count);
	i->free_inodes = le32_get(s->free_inodes_count);
	i->first_ino = le32_get(s->rev_level) == 0 ? INODE_FIRST_REV0 : le32_get(s->first_ino);
	if (i->blocks_per_group != 0 && i->blocks > i->first_data_block)
		i->groups = (uint32_t)div_up_u64(
			i->blocks - i->first_data_block, i->blocks_per_group);
}

static void fill_history(const struct disk_super *s, struct e4_fs_info *i)
{
	i->state = le16_get(s->state);
	i->errors = le16_get(s->errors);
	i->error_count = le32_get(s->error_count);
	i->mount_count = le16_get(s->mnt_count);
	i->max_mount_count = (int16_t)le16_get(s->max_mnt_count);
	i->rev_level = le32_get(s->rev_level);
	i->creator_os = le32_get(s->creator_os);
	i->created = super_time(s->mkfs_time, s->mkfs_time_hi);
	i->checked = super_time(s->lastcheck, s->lastcheck_hi);
	i->mounted = super_time(s->mtime, s->mtime_hi);
	i->written = super_time(s->wtime, s->wtime_hi);
	i->kbytes_written = le64_get(s->kbytes_written);
}

static void fill_journal(const struct disk_super *s, struct e4_fs_info *i)
{
	i->has_journal = disk_super_has_compat(s, FEATURE_COMPAT_HAS_JOURNAL);
	i->needs_recovery = disk_super_has_incompat(s, FEATURE_INCOMPAT_RECOVER);
	if (!i->has_journal)
		return;
	i->journal_ino = le32_get(s->journal_inum);
	i->journal_external = i->journal_ino == 0;
	memcpy(i->journal_uuid, s->journal_uuid, sizeof(i->journal_uuid));
}

void volume_info(const struct disk_super *s, struct e4_fs_info *ret)
{
	struct e4_fs_info i = {.struct_size = ret->struct_size};

	fill_sizes(s, &i);
	fill_history(s, &i);
	fill_journal(s, &i);
	i.feature_compat = le32_get(s->feature_compat);
	i.feature_incompat = le32_get(s->feature_incompat);
	i.feature_ro_compat = le32_get(s->feature_ro_compat);
	i.hash_version = s->def_hash_version;
	memcpy(i.uuid, s->uuid, sizeof(i.uuid));
	memcpy(i.hash_seed, s->hash_seed, sizeof(i.hash_seed));
	memcpy(i.label, s->volume_name, sizeof(s->volume_name));
	memcpy(i.last_mounted, s->last_mounted, sizeof(s->last_mounted));
	memcpy(ret, &i, (size_t)min_u64(ret->struct_size, sizeof(i)));
}
