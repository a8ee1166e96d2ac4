/*
 * statfs.c - totals and the summary of a mount.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  free counts come from the superblock only of a volume that had been left clean; else the groups are counted.
 */
#include "base/math.h"
#include "fs/fs_impl.h"
#include "recover/recover.h"

#include <string.h>

#define INTERNAL_RESERVE_CLUSTERS 4096u

struct totals {
	uint64_t free_blocks, free_inodes;
};

static uint64_t wide(const struct volume *vol, struct le32 lo, struct le32 hi)
{
	return le32_get(lo) |
	       (volume_has_incompat(vol, FEATURE_INCOMPAT_64BIT) ? (uint64_t)le32_get(hi) << 32 : 0);
}

static int count_groups(struct volume *vol, struct totals *ret)
{
	*ret = (struct totals){0};
	for (group_t g = 0; g < vol->groups_count; g++) {
		struct group_desc gd;
		int r = volume_group(vol, g, &gd);

		if (r < 0)
			return r;
		ret->free_blocks += (uint64_t)gd.free_clusters << vol->cluster_bits;
		ret->free_inodes += gd.free_inodes;
	}
	return 0;
}

static int totals(struct e4_fs *fs, struct totals *ret)
{
	const struct disk_super *s = &fs->vol->super;

	if (!fs->trust_totals)
		return count_groups(fs->vol, ret);
	*ret = (struct totals){
		.free_blocks = wide(fs->vol, s->free_blocks_count_lo, s->free_blocks_count_hi),
		.free_inodes = le32_get(s->free_inodes_count),
	};
	return 0;
}

/* Kept back by the kernel for extent conversions, and so not available. */
static uint64_t internal_reserve(const struct volume *vol)
{
	uint64_t clusters = vol->blocks_count >> vol->cluster_bits;

	if (!volume_has_incompat(vol, FEATURE_INCOMPAT_EXTENTS))
		return 0;
	return min_u64(clusters / 50, INTERNAL_RESERVE_CLUSTERS) << vol->cluster_bits;
}

int fs_statfs(struct e4_fs *fs, struct e4_statfs *ret)
{
	struct volume *vol = fs->vol;
	struct totals t;
	int r = totals(fs, &t);

	if (r < 0)
		return r;
	uint64_t reserved = wide(vol, vol->super.r_blocks_count_lo, vol->super.r_blocks_count_hi) +
			    internal_reserve(vol);
	struct e4_statfs s = {
		.struct_size = ret->struct_size,
		.block_size = vol->block_size,
		.blocks = vol->blocks_count - volume_overhead_blocks(vol),
		.blocks_free = t.free_blocks,
		.blocks_avail = t.free_blocks > reserved ? t.free_blocks - reserved : 0,
		.files = vol->inodes_count,
		.files_free = t.free_inodes,
		.name_max = 255,
	};
	for (unsigned i = 0; i < 8; i++)
		s.fsid[i] = vol->super.uuid[i] ^ vol->super.uuid[i + 8];
	memcpy(ret, &s, (size_t)min_u64(ret->struct_size, sizeof(s)));
	return 0;
}

/* What only the journal's own superblock tells. One that cannot be opened was reported. */
static void add_journal(struct volume *vol, struct e4_blockdev *dev, struct e4_blockdev *external,
	struct e4_fs_info *i)
{
	struct journal *j;

	if (!i->has_journal || recover_open_journal(vol, dev, external, &j) < 0)
		return;
	const struct disk_jbd2_super *js = journal_super(j);
	i->journal_blocks = be32_get(js->maxlen);
	i->journal_features_compat = be32_get(js->feature_compat);
	i->journal_features_incompat = be32_get(js->feature_incompat);
	i->journal_sequence = be32_get(js->sequence);
	i->journal_start = be32_get(js->start);
	i->journal_errno = (int32_t)be32_get(js->error);
	if (volume_has_compat(vol, FEATURE_COMPAT_FAST_COMMIT))
		i->journal_fc_blocks = be32_get(js->num_fc_blks);
	journal_close(j);
}

void fs_info(struct e4_fs *fs, struct e4_fs_info *ret)
{
	struct e4_fs_info i = {.struct_size = sizeof(i)};

	volume_info(&fs->found, &i);
	add_journal(fs->vol, fs->dev, fs->journal, &i);
	i.read_only = fs->read_only;
	memcpy(i.read_only_reason, fs->vol->read_only_reason, sizeof(i.read_only_reason));
	i.struct_size = ret->struct_size;
	memcpy(ret, &i, (size_t)min_u64(ret->struct_size, sizeof(i)));
}

/* The newest failure's text stands as the reason why nothing can be done with the volume. */
static void reason_from_failure(struct env *env, struct e4_fs_info *i)
{
	struct e4_error e = {.struct_size = sizeof(e)};

	if (error_last(env, &e)) {
		size_t n = (size_t)min_u64(strlen(e.text), sizeof(i->read_only_reason) - 1);

		memcpy(i->read_only_reason, e.text, n);
		i->read_only_reason[n] = '\0';
	}
}

int fs_probe(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs_info *ret)
{
	struct e4_mount_options o = fs_options(opts);
	struct volume_options vo = fs_volume_options(&o);
	struct e4_fs_info i = {.struct_size = sizeof(i)};
	struct disk_super s;
	struct volume *vol;
	int r = volume_read_super(dev->env, dev, &vo, &s);

	if (r < 0)
		return fs_report(dev->env, &o, r);
	volume_info(&s, &i);
	i.read_only = 1;
	if (volume_load(dev->env, dev, &vo, &vol) == 0) {
		add_journal(vol, dev, o.journal, &i);
		memcpy(i.read_only_reason, vol->read_only_reason, sizeof(i.read_only_reason));
		volume_free(vol);
	} else {
		reason_from_failure(dev->env, &i);
	}
	i.struct_size = ret->struct_size;
	memcpy(ret, &i, (size_t)min_u64(ret->struct_size, sizeof(i)));
	return 0;
}
