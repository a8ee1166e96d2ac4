/*
 * geometry.c - where inodes lie, how large files may be, how much of a volume is its own.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  a position handed out lies inside the volume.
 */
#include "base/math.h"
#include "format/inode.h"
#include "volume/volume_impl.h"

#include <errno.h>

int volume_inode_location(struct volume *vol, inum_t ino, pblk_t *ret_pblk, uint32_t *ret_offset)
{
	struct group_desc gd;

	if (ino == 0 || ino > vol->inodes_count)
		return fail(vol->env, E4_WHY_INODE_NUMBER, .ino = ino, .found = ino,
			.expected = vol->inodes_count);
	group_t g = (ino - 1) / vol->inodes_per_group;
	uint64_t byte = (uint64_t)((ino - 1) % vol->inodes_per_group) * vol->inode_size;
	int r = volume_group(vol, g, &gd);
	if (r < 0)
		return r;
	pblk_t pblk = gd.inode_table + (byte >> vol->block_bits);
	if (gd.inode_table <= volume_super_block(vol) || pblk >= vol->blocks_count)
		return fail(vol->env, E4_WHY_GROUP_TABLE_LOCATION, .ino = ino,
			.block = gd.inode_table, .found = gd.inode_table,
			.expected = vol->blocks_count);
	*ret_pblk = pblk;
	*ret_offset = (uint32_t)(byte & (vol->block_size - 1));
	return 0;
}

uint64_t volume_max_file_bytes(const struct volume *vol, bool extents)
{
	uint64_t apb = vol->block_size / 4;
	uint64_t blocks = extents ? UINT32_MAX : 12 + apb + apb * apb + apb * apb * apb;
	uint64_t max = min_u64(blocks, UINT32_MAX) << vol->block_bits;

	/* Without huge_file the count of 512-byte units must fit 32 bits. */
	if (!volume_has_ro_compat(vol, FEATURE_RO_COMPAT_HUGE_FILE))
		max = min_u64(max, (uint64_t)UINT32_MAX << 9);
	return max;
}

uint64_t volume_overhead_blocks(const struct volume *vol)
{
	uint64_t stored = (uint64_t)le32_get(vol->super.overhead_clusters) << vol->cluster_bits;
	uint64_t table = ((uint64_t)vol->inodes_per_group * vol->inode_size + vol->block_size - 1) >>
			 vol->block_bits;

	if (stored != 0 && stored <= vol->blocks_count)
		return stored;
	uint64_t n = vol->first_data_block + (uint64_t)vol->groups_count * (2 + table);
	for (group_t g = 0; g < vol->groups_count; g++)
		n += volume_group_base_blocks(vol, g);
	for (uint32_t i = 0; i < vol->journal_run_count; i++)
		n += vol->journal_runs[i].len;
	return min_u64(n, vol->blocks_count);
}
