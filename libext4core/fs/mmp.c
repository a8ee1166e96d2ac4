/*
 * mmp.c - multi-mount protection around a recovery that writes (format/orphans-mmp-quota-verity-crypt.md 2).
 *
 * Owns:    the MMP block while we hold the volume.
 * Locks:   none.
 * Always:  nothing else is written before the block shows that nobody else has the volume; reads bypass every cache.
 *          Held only for the length of one recovery, far below the shortest check interval, so no updater runs.
 */

#include "base/math.h"
#include "format/csum.h"
#include "format/orphan_file.h"
#include "fs/fs_impl.h"

#define MMP_INTERVAL_MIN 5u
#define MMP_INTERVAL_MAX 300u

static bool has_mmp(const struct volume *vol)
{
	return volume_has_incompat(vol, FEATURE_INCOMPAT_MMP);
}

static uint64_t mmp_offset(const struct volume *vol)
{
	return le64_get(vol->super.mmp_block) << vol->block_bits;
}

static int mmp_read(struct volume *vol, struct e4_blockdev *dev, struct disk_mmp *ret)
{
	pblk_t pblk = le64_get(vol->super.mmp_block);

	if (pblk <= vol->first_data_block || pblk >= vol->blocks_count)
		return fail(vol->env, E4_WHY_MMP_LOCATION, .block = pblk,
			.expected = vol->blocks_count);
	int r = blockdev_read(dev, mmp_offset(vol), ret, sizeof(*ret));
	if (r < 0)
		return r;
	if (le32_get(ret->magic) != MMP_MAGIC)
		return fail(vol->env, E4_WHY_MMP_MAGIC, .block = pblk,
			.found = le32_get(ret->magic), .expected = MMP_MAGIC);
	if (vol->csum && le32_get(ret->checksum) != csum_mmp(vol->csum_seed, ret))
		return fail(
			vol->env, E4_WHY_MMP_CSUM, .block = pblk, .found = le32_get(ret->checksum));
	return 0;
}

static int mmp_write(struct volume *vol, struct e4_blockdev *dev, struct disk_mmp *mmp, uint32_t seq)
{
	mmp->seq = le32_put(seq);
	mmp->time = le64_put((uint64_t)env_clock_wall(vol->env).sec);
	if (vol->csum)
		mmp->checksum = le32_put(csum_mmp(vol->csum_seed, mmp));
	return blockdev_write(
		dev, mmp_offset(vol), mmp, sizeof(*mmp), E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA);
}

/* Sleeps, reads again, and fails if anybody wrote meanwhile. */
static int mmp_wait(struct volume *vol, struct e4_blockdev *dev, uint32_t seconds, uint32_t seq,
	struct disk_mmp *mmp)
{
	env_sleep_seconds(vol->env, seconds);
	int r = mmp_read(vol, dev, mmp);
	if (r < 0)
		return r;
	if (le32_get(mmp->seq) != seq)
		return fail(vol->env, E4_WHY_MMP_ALIVE, .block = le64_get(vol->super.mmp_block),
			.found = le32_get(mmp->seq), .expected = seq);
	return 0;
}

int mmp_start(struct volume *vol, struct e4_blockdev *dev)
{
	struct disk_mmp mmp;
	uint32_t wait = 0;
	uint32_t seq;

	if (!has_mmp(vol))
		return 0;
	int r = mmp_read(vol, dev, &mmp);
	if (r < 0)
		return r;
	uint32_t found = le32_get(mmp.seq);
	if (found != MMP_SEQ_CLEAN) {
		uint32_t interval = max_u32(
			le16_get(vol->super.mmp_update_interval), le16_get(mmp.check_interval));

		if (found > MMP_SEQ_MAX)
			return fail(vol->env, E4_WHY_MMP_BUSY,
				.block = le64_get(vol->super.mmp_block), .found = found);
		interval = min_u32(max_u32(interval, MMP_INTERVAL_MIN), MMP_INTERVAL_MAX);
		wait = min_u32(2 * interval + 1, interval + 60);
		r = mmp_wait(vol, dev, wait, found, &mmp);
		if (r < 0)
			return r;
	}
	env_random(vol->env, &seq, sizeof(seq));
	seq = seq % MMP_SEQ_MAX + 1;
	r = mmp_write(vol, dev, &mmp, seq);
	return r < 0 ? r : mmp_wait(vol, dev, wait, seq, &mmp);
}

int mmp_stop(struct volume *vol, struct e4_blockdev *dev)
{
	struct disk_mmp mmp;

	if (!has_mmp(vol))
		return 0;
	int r = mmp_read(vol, dev, &mmp);
	return r < 0 ? r : mmp_write(vol, dev, &mmp, MMP_SEQ_CLEAN);
}
