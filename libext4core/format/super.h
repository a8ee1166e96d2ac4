/* super.h - the superblock on disk (format/superblock.md): 1024 bytes at byte 1024 of the volume. */
#ifndef FORMAT_SUPER_H
#define FORMAT_SUPER_H

#include "base/le.h"
#include "base/types.h"

#define SUPER_OFFSET      1024u
#define SUPER_SIZE        1024u
#define SUPER_MAGIC       0xEF53u
#define BLOCK_SIZE_MIN    1024u
#define BLOCK_SIZE_MAX    65536u
#define SUPER_CSUM_CRC32C 1u

enum super_state {
	SUPER_STATE_VALID = 0x1,
	SUPER_STATE_ERROR = 0x2,
	SUPER_STATE_ORPHAN = 0x4,
	SUPER_STATE_FC_REPLAY = 0x20,
};

enum super_flags {
	SUPER_FLAG_SIGNED_HASH = 0x1,
	SUPER_FLAG_UNSIGNED_HASH = 0x2,
	SUPER_FLAG_TEST_FS = 0x4,
};

struct disk_super {
	struct le32 inodes_count;
	struct le32 blocks_count_lo;
	struct le32 r_blocks_count_lo;
	struct le32 free_blocks_count_lo;
	struct le32 free_inodes_count;
	struct le32 first_data_block;
	struct le32 log_block_size;
	struct le32 log_cluster_size;
	struct le32 blocks_per_group;
	struct le32 clusters_per_group;
	struct le32 inodes_per_group;
	struct le32 mtime;
	struct le32 wtime;
	struct le16 mnt_count;
	struct le16 max_mnt_count;
	struct le16 magic;
	struct le16 state;
	struct le16 errors;
	struct le16 minor_rev_level;
	struct le32 lastcheck;
	struct le32 checkinterval;
	struct le32 creator_os;
	struct le32 rev_level;
	struct le16 def_resuid;
	struct le16 def_resgid;
	struct le32 first_ino;
	struct le16 inode_size;
	struct le16 block_group_nr;
	struct le32 feature_compat;
	struct le32 feature_incompat;
	struct le32 feature_ro_compat;
	uint8_t uuid[16];
	uint8_t volume_name[16];
	uint8_t last_mounted[64];
	struct le32 algorithm_usage_bitmap;
	uint8_t prealloc_blocks;
	uint8_t prealloc_dir_blocks;
	struct le16 reserved_gdt_blocks;
	uint8_t journal_uuid[16];
	struct le32 journal_inum;
	struct le32 journal_dev;
	struct le32 last_orphan;
	struct le32 hash_seed[4];
	uint8_t def_hash_version;
	uint8_t jnl_backup_type;
	struct le16 desc_size;
	struct le32 default_mount_opts;
	struct le32 first_meta_bg;
	struct le32 mkfs_time;
	struct le32 jnl_blocks[17];
	struct le32 blocks_count_hi;
	struct le32 r_blocks_count_hi;
	struct le32 free_blocks_count_hi;
	struct le16 min_extra_isize;
	struct le16 want_extra_isize;
	struct le32 flags;
	struct le16 raid_stride;
	struct le16 mmp_update_interval;
	struct le64 mmp_block;
	struct le32 raid_stripe_width;
	uint8_t log_groups_per_flex;
	uint8_t checksum_type;
	uint8_t encryption_level;
	uint8_t reserved_pad;
	struct le64 kbytes_written;
	struct le32 snapshot_inum;
	struct le32 snapshot_id;
	struct le64 snapshot_r_blocks_count;
	struct le32 snapshot_list;
	struct le32 error_count;
	struct le32 first_error_time;
	struct le32 first_error_ino;
	struct le64 first_error_block;
	uint8_t first_error_func[32];
	struct le32 first_error_line;
	struct le32 last_error_time;
	struct le32 last_error_ino;
	struct le32 last_error_line;
	struct le64 last_error_block;
	uint8_t last_error_func[32];
	uint8_t mount_opts[64];
	struct le32 usr_quota_inum;
	struct le32 grp_quota_inum;
	struct le32 overhead_clusters;
	struct le32 backup_bgs[2];
	uint8_t encrypt_algos[4];
	uint8_t encrypt_pw_salt[16];
	struct le32 lpf_ino;
	struct le32 prj_quota_inum;
	struct le32 checksum_seed;
	uint8_t wtime_hi;
	uint8_t mtime_hi;
	uint8_t mkfs_time_hi;
	uint8_t lastcheck_hi;
	uint8_t first_error_time_hi;
	uint8_t last_error_time_hi;
	uint8_t first_error_errcode;
	uint8_t last_error_errcode;
	struct le16 encoding;
	struct le16 encoding_flags;
	struct le32 orphan_file_inum;
	struct le32 reserved[94];
	struct le32 checksum;
};

#define SUPER_ERROR_RECORD_FIRST                                                                   \
	0x194u /* bytes [FIRST, END) are the error record, which a replay must not lose */
#define SUPER_ERROR_RECORD_END 0x200u

static inline bool disk_super_has_compat(const struct disk_super *s, uint32_t bit)
{
	return (le32_get(s->feature_compat) & bit) != 0;
}

static inline bool disk_super_has_incompat(const struct disk_super *s, uint32_t bit)
{
	return (le32_get(s->feature_incompat) & bit) != 0;
}

static inline bool disk_super_has_ro_compat(const struct disk_super *s, uint32_t bit)
{
	return (le32_get(s->feature_ro_compat) & bit) != 0;
}

#endif
