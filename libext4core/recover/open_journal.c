/*
 * open_journal.c - where the volume's log is: in its journal inode, or on a device of its own.
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  an external journal is taken only when both devices name each other.
 * Uses:    inode, extent, journal.
 */
#include "base/math.h"
#include "base/mem.h"
#include "extent/extent.h"
#include "format/csum.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

struct runs {
	struct env *env;
	struct journal_run_map *map;
	uint32_t count, capacity;
};

static int ignore_meta(void *arg, pblk_t pblk)
{
	(void)arg;
	(void)pblk;
	return 0;
}

static int add_run(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	struct runs *runs = arg;

	(void)unwritten;
	if (runs->count > 0) {
		struct journal_run_map *prev = &runs->map[runs->count - 1];

		if (prev->lblk + prev->len == lblk && prev->pblk + prev->len == pblk) {
			prev->len += len;
			return 0;
		}
	}
	if (runs->count == runs->capacity) {
		uint32_t capacity = runs->capacity == 0 ? 16 : runs->capacity * 2;
		struct journal_run_map *bigger = mem_zalloc_array(
			runs->env, capacity, sizeof(*bigger));

		if (bigger == NULL)
			return -ENOMEM;
		if (runs->count > 0)
			memcpy(bigger, runs->map, runs->count * sizeof(*bigger));
		mem_free(runs->env, runs->map, runs->capacity * sizeof(*runs->map));
		runs->map = bigger;
		runs->capacity = capacity;
	}
	runs->map[runs->count++] = (struct journal_run_map){.lblk = lblk, .len = len, .pblk = pblk};
	return 0;
}

static int collect_runs(struct volume *vol, inum_t ino, struct inode *ip, struct runs *runs)
{
	int err = inode_load(vol, ino, INODE_FOR_SYSTEM, ip);

	if (err != 0)
		return err;
	if (!inode_is(ip, INODE_REG) || ip->nlink == 0 || (ip->flags & INODE_FL_ENCRYPT) != 0)
		err = fail(vol->env, E4_WHY_JOURNAL_INODE, .ino = ino, .found = ip->mode,
			.expected = INODE_REG);
	else
		err = extent_visit_all(ip,
			&(struct extent_visit){.meta = ignore_meta, .run = add_run, .arg = runs});
	inode_unload(ip);
	return err;
}

static int open_internal(
	struct volume *vol, struct e4_blockdev *dev, struct e4_blockdev *home, struct journal **ret)
{
	struct runs runs = {.env = vol->env};
	struct inode *ip = mem_zalloc(vol->env, sizeof(*ip));

	if (ip == NULL)
		return -ENOMEM;
	int err = collect_runs(vol, le32_get(vol->super.journal_inum), ip, &runs);

	mem_free(vol->env, ip, sizeof(*ip));
	if (err == 0) {
		struct journal_config config = {
			.env = vol->env,
			.log_dev = dev,
			.home_dev = home,
			.block_size = vol->block_size,
			.home_blocks = vol->blocks_count,
			.runs = runs.map,
			.run_count = runs.count,
			.ignore_csum = vol->opts.ignore_csum,
		};

		err = journal_open(&config, ret);
	}
	mem_free(vol->env, runs.map, runs.capacity * sizeof(*runs.map));
	return err;
}

static int bad_external(struct volume *vol, const char *what)
{
	return fail(vol->env, E4_WHY_JOURNAL_EXTERNAL, .name = what);
}

/* The ext superblock of the journal's device. */
static int check_external(
	struct volume *vol, struct e4_blockdev *external, const struct disk_super *s)
{
	if (le16_get(s->magic) != SUPER_MAGIC ||
		!disk_super_has_incompat(s, FEATURE_INCOMPAT_JOURNAL_DEV))
		return bad_external(vol, "the device is no journal");
	if (memcmp(s->uuid, vol->super.journal_uuid, sizeof(s->uuid)) != 0)
		return bad_external(vol, "it belongs to another volume");
	if (le32_get(s->log_block_size) != vol->block_bits - 10)
		return bad_external(vol, "its block size differs");
	if (disk_super_has_ro_compat(s, FEATURE_RO_COMPAT_METADATA_CSUM) &&
		le32_get(s->checksum) != csum_super(s) && !vol->opts.ignore_csum)
		return bad_external(vol, "its superblock has a wrong checksum");
	if ((uint64_t)le32_get(s->blocks_count_lo) * vol->block_size > external->geo.size)
		return bad_external(vol, "its device is too small");
	return 0;
}

/* The journal's users name this volume. */
static bool is_user(const struct volume *vol, const struct disk_jbd2_super *js)
{
	static const uint8_t none[16];
	uint32_t users = be32_get(js->nr_users);

	return users == 0 || memcmp(js->users, vol->super.uuid, 16) == 0 ||
	       memcmp(js->users, none, 16) == 0;
}

static int open_external(struct volume *vol, struct e4_blockdev *dev, struct e4_blockdev *external,
	struct journal **ret)
{
	struct disk_super *s = mem_zalloc(vol->env, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	int err = blockdev_read(external, SUPER_OFFSET, s, sizeof(*s));

	if (err == 0)
		err = check_external(vol, external, s);
	struct journal_run_map run = {.len = le32_get(s->blocks_count_lo)};

	mem_free(vol->env, s, sizeof(*s));
	if (err != 0)
		return err;
	struct journal_config config = {
		.env = vol->env,
		.log_dev = external,
		.home_dev = dev,
		.block_size = vol->block_size,
		.home_blocks = vol->blocks_count,
		.runs = &run,
		.run_count = 1,
		.external = true,
		.ignore_csum = vol->opts.ignore_csum,
	};

	err = journal_open(&config, ret);
	if (err == 0 && !is_user(vol, journal_super(*ret))) {
		journal_close(*ret);
		err = bad_external(vol, "it does not list this volume");
	}
	return err;
}

/*
 * *ret NULL without an error: the volume has no journal. The log is read from (and written to) dev, or `external`; what is replayed goes
 * to home_dev, which may be an overlay. -ENXIO when the log is on a device that was not given; else as journal_open().
 */
int open_journal(struct volume *vol, struct e4_blockdev *dev, struct e4_blockdev *home_dev,
	struct e4_blockdev *external, struct journal **ret)
{
	*ret = NULL;
	if (!volume_has_compat(vol, FEATURE_COMPAT_HAS_JOURNAL))
		return 0;
	if (le32_get(vol->super.journal_inum) != 0)
		return open_internal(vol, dev, home_dev, ret);
	if (external == NULL)
		return fail(vol->env, E4_WHY_JOURNAL_ELSEWHERE,
			.found = le32_get(vol->super.journal_dev));
	return open_external(vol, home_dev, external, ret);
}

int recover_open_journal(struct volume *vol, struct e4_blockdev *home_dev,
	struct e4_blockdev *external, struct journal **ret)
{
	return open_journal(vol, home_dev, home_dev, external, ret);
}
