/*
 * super.c - loads and validates the superblock; the volume's life.
 *
 * Owns:    struct volume.
 * Locks:   none; the volume is constant once fs has let anybody in.
 * Always:  every number that other rooms divide by, shift by or index with was checked here against format/superblock.md
 *          "Validation before use"; a volume that fails is refused with the rule that broke.
 */
#include "base/math.h"
#include "format/csum.h"
#include "format/htree.h"
#include "format/inode.h"
#include "volume/volume_impl.h"

#include <errno.h>
#include <string.h>

#define CLUSTERS_LOG_MAX 19u /* of s_log_cluster_size: clusters up to 2^29 bytes */

static int bad(struct volume *vol, const char *field, uint64_t found, uint64_t limit)
{
	return fail(vol->env, E4_WHY_SUPER_FIELD, .name = field, .found = found, .expected = limit);
}

static uint64_t super_offset(const struct volume_options *opts)
{
	uint32_t bsize = opts->superblock_bsize != 0 ? opts->superblock_bsize : BLOCK_SIZE_MIN;

	return opts->superblock == 0 ? SUPER_OFFSET : opts->superblock * bsize;
}

int volume_read_super(struct env *env, struct e4_blockdev *dev, const struct volume_options *opts,
	struct disk_super *ret)
{
	uint64_t offset = super_offset(opts);

	if (dev->geo.size < offset + SUPER_SIZE)
		return fail(env, E4_WHY_SUPER_DEVICE_SMALL, .found = dev->geo.size,
			.expected = offset + SUPER_SIZE);
	int r = blockdev_read(dev, offset, ret, sizeof(*ret));
	if (r < 0)
		return r;
	if (le16_get(ret->magic) != SUPER_MAGIC)
		return fail(env, E4_WHY_SUPER_MAGIC, .found = le16_get(ret->magic),
			.expected = SUPER_MAGIC);
	return 0;
}

/* Block and cluster size: all other sizes are counted in them. */
static int load_block_size(struct volume *vol)
{
	const struct disk_super *s = &vol->super;
	uint32_t log = le32_get(s->log_block_size);
	uint32_t log_cluster = le32_get(s->log_cluster_size);

	if (log > 6)
		return bad(vol, "s_log_block_size", log, 6);
	vol->block_bits = log + 10;
	vol->block_size = 1u << vol->block_bits;
	if (volume_has_ro_compat(vol, FEATURE_RO_COMPAT_BIGALLOC)) {
		if (log_cluster < log || log_cluster > CLUSTERS_LOG_MAX)
			return bad(vol, "s_log_cluster_size", log_cluster, CLUSTERS_LOG_MAX);
		vol->cluster_bits = log_cluster - log;
	} else {
		if (log_cluster != log)
			return bad(vol, "s_log_cluster_size", log_cluster, log);
		vol->cluster_bits = 0;
	}
	vol->cluster_ratio = 1u << vol->cluster_bits;
	return 0;
}

static int load_inode_size(struct volume *vol)
{
	const struct disk_super *s = &vol->super;

	if (le32_get(s->rev_level) == 0) {
		vol->inode_size = INODE_CLASSIC_SIZE;
		vol->first_ino = INODE_FIRST_REV0;
		return 0;
	}
	vol->inode_size = le16_get(s->inode_size);
	vol->first_ino = le32_get(s->first_ino);
	if (!is_pow2_u64(vol->inode_size) || vol->inode_size < INODE_CLASSIC_SIZE ||
		vol->inode_size > vol->block_size)
		return bad(vol, "s_inode_size", vol->inode_size, vol->block_size);
	if (vol->first_ino < INODE_FIRST_REV0)
		return bad(vol, "s_first_ino", vol->first_ino, INODE_FIRST_REV0);
	if (vol->inode_size > INODE_CLASSIC_SIZE &&
		volume_has_ro_compat(vol, FEATURE_RO_COMPAT_EXTRA_ISIZE)) {
		uint32_t room = vol->inode_size - INODE_CLASSIC_SIZE;

		if (le16_get(s->want_extra_isize) > room)
			return bad(vol, "s_want_extra_isize", le16_get(s->want_extra_isize), room);
		if (le16_get(s->min_extra_isize) > room)
			return bad(vol, "s_min_extra_isize", le16_get(s->min_extra_isize), room);
	}
	return 0;
}

static int load_desc_size(struct volume *vol)
{
	vol->desc_size = GROUP_DESC_SIZE_MIN;
	if (volume_has_incompat(vol, FEATURE_INCOMPAT_64BIT)) {
		vol->desc_size = le16_get(vol->super.desc_size);
		if (!is_pow2_u64(vol->desc_size) || vol->desc_size < GROUP_DESC_SIZE_64BIT ||
			vol->desc_size > 1024)
			return bad(vol, "s_desc_size", vol->desc_size, GROUP_DESC_SIZE_64BIT);
	}
	vol->descs_per_block = vol->block_size / vol->desc_size;
	return 0;
}

/* Numbers of a group: rule 9 of the sheet. */
static int load_group_shape(struct volume *vol)
{
	const struct disk_super *s = &vol->super;
	uint32_t bits = 8 * vol->block_size;

	vol->inodes_per_group = le32_get(s->inodes_per_group);
	vol->clusters_per_group = le32_get(s->clusters_per_group);
	vol->blocks_per_group = le32_get(s->blocks_per_group);
	if (!volume_has_ro_compat(vol, FEATURE_RO_COMPAT_BIGALLOC))
		vol->clusters_per_group = vol->blocks_per_group;
	if (vol->inodes_per_group < vol->block_size / vol->inode_size ||
		vol->inodes_per_group > bits || vol->inodes_per_group % 8 != 0)
		return bad(vol, "s_inodes_per_group", vol->inodes_per_group, bits);
	if (vol->clusters_per_group == 0 || vol->clusters_per_group > bits ||
		vol->clusters_per_group % 8 != 0)
		return bad(vol, "s_clusters_per_group", vol->clusters_per_group, bits);
	if (vol->blocks_per_group != (uint64_t)vol->clusters_per_group * vol->cluster_ratio)
		return bad(vol, "s_blocks_per_group", vol->blocks_per_group,
			(uint64_t)vol->clusters_per_group * vol->cluster_ratio);
	return 0;
}

/* Where the volume begins and ends, and into how many groups it falls: rules 10 to 13. */
static int load_extent_of_volume(struct volume *vol)
{
	const struct disk_super *s = &vol->super;
	bool has64 = volume_has_incompat(vol, FEATURE_INCOMPAT_64BIT);
	uint32_t first = le32_get(s->first_data_block);
	uint64_t bytes;

	vol->blocks_count = le32_get(s->blocks_count_lo) |
			    (has64 ? (uint64_t)le32_get(s->blocks_count_hi) << 32 : 0);
	vol->first_data_block = first;
	if (first >= vol->blocks_count)
		return bad(vol, "s_first_data_block", first, vol->blocks_count);
	if (first != (vol->block_size == BLOCK_SIZE_MIN && vol->cluster_ratio == 1 ? 1u : 0u))
		return bad(vol, "s_first_data_block", first, vol->block_size == BLOCK_SIZE_MIN);
	if (!mul_u64(vol->blocks_count, vol->block_size, &bytes) ||
		vol->blocks_count >= (uint64_t)1 << 48)
		return bad(vol, "s_blocks_count", vol->blocks_count, (uint64_t)1 << 48);
	if (bytes > vol->dev->geo.size)
		return fail(vol->env, E4_WHY_SUPER_TRUNCATED, .found = vol->dev->geo.size,
			.expected = bytes);
	uint64_t groups = div_up_u64(vol->blocks_count - first, vol->blocks_per_group);
	if (groups > ((uint64_t)1 << 32) - vol->descs_per_block)
		return bad(vol, "number of groups", groups, (uint64_t)1 << 32);
	vol->groups_count = (group_t)groups;
	vol->gdt_blocks = (uint32_t)div_up_u64(groups, vol->descs_per_block);
	vol->inodes_count = le32_get(s->inodes_count);
	if (vol->inodes_count != groups * vol->inodes_per_group)
		return bad(vol, "s_inodes_count", vol->inodes_count, groups * vol->inodes_per_group);
	if (le16_get(s->reserved_gdt_blocks) > vol->block_size / 4)
		return bad(vol, "s_reserved_gdt_blocks", le16_get(s->reserved_gdt_blocks),
			vol->block_size / 4);
	if (volume_has_incompat(vol, FEATURE_INCOMPAT_META_BG) &&
		le32_get(s->first_meta_bg) > vol->gdt_blocks)
		return bad(vol, "s_first_meta_bg", le32_get(s->first_meta_bg), vol->gdt_blocks);
	return 0;
}

static void load_hash(struct volume *vol)
{
	static const uint32_t builtin[4] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
	const struct disk_super *s = &vol->super;
	uint32_t any = 0;

	for (unsigned i = 0; i < 4; i++) {
		vol->hash_seed[i] = le32_get(s->hash_seed[i]);
		any |= vol->hash_seed[i];
	}
	if (any == 0)
		memcpy(vol->hash_seed, builtin, sizeof(builtin));
	vol->hash_unsigned = (le32_get(s->flags) & SUPER_FLAG_UNSIGNED_HASH) != 0;
	vol->def_hash_version = s->def_hash_version;
}

static int load_rest(struct volume *vol)
{
	const struct disk_super *s = &vol->super;

	if (s->def_hash_version >= HASH_SIPHASH)
		return bad(vol, "s_def_hash_version", s->def_hash_version, HASH_TEA_UNSIGNED);
	load_hash(vol);
	if (volume_has_incompat(vol, FEATURE_INCOMPAT_ENCRYPT) && s->encryption_level != 0)
		return bad(vol, "s_encryption_level", s->encryption_level, 0);
	if (volume_has_incompat(vol, FEATURE_INCOMPAT_CASEFOLD) && le16_get(s->encoding) != 1)
		return bad(vol, "s_encoding", le16_get(s->encoding), 1);
	if (le32_get(s->journal_inum) != 0 && le32_get(s->journal_dev) != 0 &&
		volume_has_compat(vol, FEATURE_COMPAT_HAS_JOURNAL))
		return bad(vol, "s_journal_dev beside s_journal_inum", le32_get(s->journal_dev), 0);
	vol->flex_groups = 1;
	if (volume_has_incompat(vol, FEATURE_INCOMPAT_FLEX_BG) && s->log_groups_per_flex > 0 &&
		s->log_groups_per_flex < 31)
		vol->flex_groups = 1u << s->log_groups_per_flex;
	vol->csum = volume_has_ro_compat(vol, FEATURE_RO_COMPAT_METADATA_CSUM);
	vol->gdt_csum = vol->csum || volume_has_ro_compat(vol, FEATURE_RO_COMPAT_GDT_CSUM);
	vol->csum_seed = csum_seed(s);
	return 0;
}

static int check_super_csum(struct volume *vol)
{
	const struct disk_super *s = &vol->super;

	if (!disk_super_has_ro_compat(s, FEATURE_RO_COMPAT_METADATA_CSUM))
		return 0;
	if (s->checksum_type != SUPER_CSUM_CRC32C)
		return bad(vol, "s_checksum_type", s->checksum_type, SUPER_CSUM_CRC32C);
	if (le32_get(s->checksum) == csum_super(s))
		return 0;
	int r = fail(vol->env, E4_WHY_SUPER_CSUM, .found = le32_get(s->checksum),
		.expected = csum_super(s));
	return vol->opts.ignore_csum ? 0 : r;
}

/* Everything that follows from the 1,024 bytes in vol->super. */
static int interpret(struct volume *vol)
{
	static int (*const steps[])(struct volume *) = {check_super_csum, load_block_size,
		features_check, load_inode_size, load_desc_size, load_group_shape,
		load_extent_of_volume, load_rest};

	vol->feature_compat = le32_get(vol->super.feature_compat);
	vol->feature_incompat = le32_get(vol->super.feature_incompat);
	vol->feature_ro_compat = le32_get(vol->super.feature_ro_compat);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int r = steps[i](vol);

		if (r < 0)
			return r;
	}
	return 0;
}

static int make_caches(struct volume *vol)
{
	int r = zone_cache_new(vol->env, &vol->zones);

	if (r < 0)
		return r;
	return buf_cache_new(&(struct buf_cache_config){.env = vol->env,
				     .dev = vol->dev,
				     .block_size = vol->block_size,
				     .csum = vol->csum,
				     .ignore_csum = vol->opts.ignore_csum,
				     .blocks_count = vol->blocks_count,
				     .limit_bytes = vol->opts.cache_limit_bytes},
		&vol->bufs);
}

static void drop_caches(struct volume *vol)
{
	buf_cache_free(vol->bufs);
	vol->bufs = NULL;
	zone_cache_free(vol->env, vol->zones);
	vol->zones = NULL;
}

int volume_load(struct env *env, struct e4_blockdev *dev, const struct volume_options *opts,
	struct volume **ret)
{
	struct volume *vol = mem_zalloc(env, sizeof(*vol));

	if (vol == NULL)
		return fail(env, E4_WHY_VOLUME_NOMEM, .expected = sizeof(*vol));
	vol->env = env;
	vol->dev = dev;
	vol->opts = *opts;
	int r = volume_read_super(env, dev, opts, &vol->super);
	if (r == 0)
		r = interpret(vol);
	if (r == 0)
		r = make_caches(vol);
	if (r < 0) {
		volume_free(vol);
		return r;
	}
	*ret = vol;
	return 0;
}

int volume_reload(struct volume *vol, struct e4_blockdev *dev)
{
	struct volume_options primary = vol->opts;
	struct disk_super s;

	/* What was replayed is the primary superblock; a backup was only the way in. */
	primary.superblock = 0;
	int r = volume_read_super(vol->env, dev, &primary, &s);
	if (r < 0)
		return r;
	drop_caches(vol);
	vol->super = s;
	vol->dev = dev;
	r = interpret(vol);
	return r < 0 ? r : make_caches(vol);
}

void volume_free(struct volume *vol)
{
	if (vol == NULL)
		return;
	drop_caches(vol);
	mem_free(vol->env, vol->journal_runs, vol->journal_run_capacity * sizeof(*vol->journal_runs));
	mem_free(vol->env, vol, sizeof(*vol));
}
