/*
 * mount.c - the order of start-up: superblock, recovery, journal blocks, inodes, root.
 *
 * Owns:    struct e4_fs.
 * Locks:   none; nobody else is in before fs_mount() returns, nobody after the last reference went.
 * Always:  a read-only mount writes nothing: what recovery changes stays in the overlay. Whatever step fails, the ones before are
 *          undone in reverse order and the device is as it was (but for a recovery that was asked for and finished).
 */
#include "base/atomic.h"
#include "base/log.h"
#include "base/math.h"
#include "extent/extent.h"
#include "file/file.h"
#include "fs/fs_impl.h"
#include "recover/recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_DEFAULT_BYTES (64u << 20)
#define INODE_COST_BYTES    1024u /* of a cached inode with a small map, roughly */
#define INODES_MIN          64u

struct e4_mount_options fs_options(const struct e4_mount_options *opts)
{
	struct e4_mount_options o = {.struct_size = sizeof(o)};

	if (opts != NULL)
		memcpy(&o, opts, (size_t)min_u64(opts->struct_size, sizeof(o)));
	o.struct_size = sizeof(o);
	return o;
}

static uint64_t cache_bytes(const struct e4_mount_options *opts)
{
	return opts->memory_budget != 0 ? opts->memory_budget / 2 : CACHE_DEFAULT_BYTES;
}

struct volume_options fs_volume_options(const struct e4_mount_options *opts)
{
	return (struct volume_options){
		.read_only = (opts->flags & E4_MOUNT_RDONLY) != 0,
		.ignore_csum = (opts->flags & E4_MOUNT_IGNORE_CSUM) != 0,
		.backup_descs = (opts->flags & E4_MOUNT_BACKUP_DESCS) != 0,
		.superblock = opts->superblock,
		.superblock_bsize = opts->superblock_bsize,
		.cache_limit_bytes = cache_bytes(opts) / 4 * 3,
	};
}

int fs_report(struct env *env, const struct e4_mount_options *opts, int r)
{
	if (r < 0 && opts->error != NULL)
		(void)error_last(env, opts->error);
	return r;
}

/* The runs of the log, collected. */
struct run_list {
	struct volume *vol;
	struct volume_range *runs;
	uint32_t count, capacity;
};

static int run_list_add(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	struct run_list *l = arg;
	struct env *env = l->vol->env;

	(void)lblk;
	(void)unwritten;
	if (l->count == l->capacity) {
		uint32_t capacity = l->capacity == 0 ? 16 : l->capacity * 2;
		struct volume_range *more = mem_zalloc_array(env, capacity, sizeof(*more));

		if (more == NULL)
			return fail(env, E4_WHY_JOURNAL_RUNS_NOMEM, .ino = INODE_JOURNAL);
		if (l->count > 0)
			memcpy(more, l->runs, l->count * sizeof(*more));
		mem_free(env, l->runs, l->capacity * sizeof(*l->runs));
		l->runs = more;
		l->capacity = capacity;
	}
	l->runs[l->count++] = (struct volume_range){.pblk = pblk, .len = len};
	return 0;
}

static int run_list_add_meta(void *arg, pblk_t pblk)
{
	return run_list_add(arg, 0, 1, pblk, false);
}

static int by_pblk(const void *a, const void *b)
{
	const struct volume_range *x = a;
	const struct volume_range *y = b;

	return x->pblk < y->pblk ? -1 : x->pblk > y->pblk;
}

void fs_learn_journal(struct volume *vol)
{
	struct run_list l = {.vol = vol};
	struct inode ip;
	inum_t ino = le32_get(vol->super.journal_inum);

	if (!volume_has_compat(vol, FEATURE_COMPAT_HAS_JOURNAL) || ino == 0)
		return;
	int r = inode_load(vol, ino, INODE_FOR_SYSTEM, &ip);
	if (r == 0) {
		r = extent_visit_all(
			&ip, &(struct extent_visit){
				     .meta = run_list_add_meta, .run = run_list_add, .arg = &l});
		inode_unload(&ip);
	}
	if (r < 0)
		log_line(vol->env,
			E4_LOG_WARN, "image: the journal's blocks are not known, mappings into it will not be noticed");
	if (l.count > 0)
		qsort(l.runs, l.count, sizeof(*l.runs), by_pblk);
	mem_free(vol->env, vol->journal_runs, vol->journal_run_capacity * sizeof(*l.runs));
	vol->journal_runs = l.runs;
	vol->journal_run_count = l.count;
	vol->journal_run_capacity = l.capacity;
}

/* What must hold before a byte may be written. */
static int check_may_write(struct volume *vol, struct e4_blockdev *dev)
{
	if (dev->geo.read_only)
		return fail(vol->env, E4_WHY_MOUNT_DEVICE_RO, .found = 0);
	if (vol->block_size < dev->geo.logical_block)
		return fail(vol->env, E4_WHY_MOUNT_SECTOR, .found = vol->block_size,
			.expected = dev->geo.logical_block);
	if (!volume_may_recover_for_good(vol))
		return fail(vol->env, E4_WHY_MOUNT_RO_COMPAT, .name = vol->read_only_reason);
	return 0;
}

/* Recovery as the mount wants it; also tells whether the volume had been left clean. */
static int recover(
	struct e4_fs *fs, const struct e4_mount_options *opts, struct e4_replay_result *result)
{
	bool for_good = (opts->flags & E4_MOUNT_RDONLY) == 0;
	struct recover_request rq = {
		.vol = fs->vol, .dev = fs->dev, .journal = fs->journal, .for_good = for_good};

	fs->trust_totals = !recover_is_needed(fs->vol) &&
			   (le16_get(fs->found.state) & SUPER_STATE_VALID) != 0;
	if (opts->flags & E4_MOUNT_NORECOVERY)
		return 0;
	if (!for_good)
		return recover_run(&rq, &fs->overlay, result);
	int r = check_may_write(fs->vol, fs->dev);
	if (r == 0)
		r = mmp_start(fs->vol, fs->dev);
	if (r < 0)
		return r;
	r = recover_run(&rq, &fs->overlay, result);
	int stop = mmp_stop(fs->vol, fs->dev);
	return r < 0 ? r : stop;
}

static int load_root(struct e4_fs *fs)
{
	int r = inode_get(fs->inodes, INODE_ROOT, 0, &fs->root);

	if (r < 0)
		return r;
	if (!inode_is(fs->root, INODE_DIR))
		return fail(fs->env, E4_WHY_MOUNT_ROOT, .ino = INODE_ROOT, .found = fs->root->mode,
			.expected = INODE_DIR);
	return 0;
}

static int make_inode_cache(struct e4_fs *fs, const struct e4_mount_options *opts)
{
	static const struct inode_cache_ops ops = {.evict = extent_evict};
	uint32_t max = (uint32_t)min_u64(cache_bytes(opts) / 4 / INODE_COST_BYTES, UINT32_MAX);
	int r = inode_cache_new(fs->vol, &ops, max_u32(max, INODES_MIN), &fs->inodes);

	if (r == 0)
		xattr_set_reader(fs->inodes, file_read_ea);
	return r;
}

static void teardown(struct e4_fs *fs)
{
	struct env *env = fs->env;

	if (fs->root != NULL)
		inode_put(fs->root, 1);
	if (fs->inodes != NULL)
		inode_cache_free(fs->inodes);
	epoch_reclaim(env);
	volume_free(fs->vol);
	if (fs->overlay != NULL)
		blockdev_free(fs->overlay);
	if (fs->journal != NULL)
		blockdev_release(fs->journal);
	blockdev_release(fs->dev);
	env->mem.budget_bytes = fs->budget_before;
	mem_free(env, fs, sizeof(*fs));
	env_put(env);
}

static int start(
	struct e4_fs *fs, const struct e4_mount_options *opts, struct e4_replay_result *result)
{
	struct volume_options vo = fs_volume_options(opts);
	int r = volume_load(fs->env, fs->dev, &vo, &fs->vol);

	if (r < 0)
		return r;
	fs->vol->owner = fs;
	fs->found = fs->vol->super;
	fs->read_only = (opts->flags & E4_MOUNT_RDONLY) != 0;
	r = recover(fs, opts, result);
	if (r < 0)
		return r;
	fs_learn_journal(fs->vol);
	r = make_inode_cache(fs, opts);
	return r < 0 ? r : load_root(fs);
}

/* A mount object on dev, nothing read yet. */
static int fs_new(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs **ret)
{
	struct env *env = dev->env;

	if ((opts->flags & E4_MOUNT_NORECOVERY) && !(opts->flags & E4_MOUNT_RDONLY))
		return fail(env, E4_WHY_MOUNT_NORECOVERY_RW, .found = opts->flags);
	if (atomic_load(&dev->users) != 0)
		return fail(env, E4_WHY_MOUNT_IN_USE, .found = atomic_load(&dev->users));
	/* The budget is this mount's: it ends with it. */
	uint64_t budget_before = env->mem.budget_bytes;
	if (opts->memory_budget != 0)
		env->mem.budget_bytes = opts->memory_budget;
	struct e4_fs *fs = mem_zalloc(env, sizeof(*fs));
	if (fs == NULL) {
		env->mem.budget_bytes = budget_before;
		return fail(env, E4_WHY_MOUNT_NOMEM, .expected = sizeof(*fs));
	}
	fs->env = env;
	fs->budget_before = budget_before;
	fs->dev = dev;
	fs->journal = opts->journal;
	atomic_store(&fs->refs, 1);
	env_get(env);
	blockdev_hold(dev);
	if (fs->journal != NULL)
		blockdev_hold(fs->journal);
	*ret = fs;
	return 0;
}

int fs_mount(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs **ret)
{
	struct e4_mount_options o = fs_options(opts);
	struct e4_replay_result result = {.struct_size = sizeof(result)};
	struct e4_fs *fs;
	int r = fs_new(dev, &o, &fs);

	if (r < 0)
		return fs_report(dev->env, &o, r);
	r = start(fs, &o, &result);
	if (r < 0) {
		fs_report(dev->env, &o, r);
		teardown(fs);
		return r;
	}
	*ret = fs;
	return 0;
}

int fs_replay(
	struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_replay_result *ret)
{
	struct e4_mount_options o = fs_options(opts);
	struct e4_replay_result result = {.struct_size = sizeof(result)};
	struct e4_fs *fs;

	o.flags &= ~(uint32_t)(E4_MOUNT_RDONLY | E4_MOUNT_NORECOVERY);
	int r = fs_new(dev, &o, &fs);
	if (r < 0)
		return fs_report(dev->env, &o, r);
	r = start(fs, &o, &result);
	fs_report(dev->env, &o, r);
	teardown(fs);
	if (r < 0)
		return r;
	result.struct_size = ret->struct_size;
	memcpy(ret, &result, (size_t)min_u64(ret->struct_size, sizeof(result)));
	return 0;
}

int fs_unmount(struct e4_fs *fs, uint32_t flags)
{
	bool force = (flags & E4_UNMOUNT_FORCE) != 0;

	if (fs_is_child(fs))
		return -ESHUTDOWN;
	if (!force && atomic_load(&fs->refs) != 1)
		return fail(fs->env, E4_WHY_UNMOUNT_BUSY, .found = atomic_load(&fs->refs) - 1);
	atomic_store(&fs->dead, 1);
	fs_drop(fs, 1);
	return 0;
}

bool fs_is_child(const struct e4_fs *fs)
{
	return fork_guard_is_child(&fs->env->fork);
}

int fs_alive(struct e4_fs *fs)
{
	/* In a child of the process that mounted, a lock may be held for ever: nothing is touched, not even to record it. */
	if (E4_UNLIKELY(fs_is_child(fs)))
		return -ESHUTDOWN;
	if (E4_UNLIKELY(atomic_load_explicit(&fs->dead, memory_order_acquire) != 0))
		return fail(fs->env, E4_WHY_SHUT_DOWN, .found = 0);
	return 0;
}

void fs_hold(struct e4_fs *fs, uint64_t n)
{
	rmw_add_u64(&fs->refs, n);
}

void fs_drop(struct e4_fs *fs, uint64_t n)
{
	if (rmw_sub_u64(&fs->refs, n) == n)
		teardown(fs);
}

struct e4_fs *fs_of(const struct inode *ip)
{
	return ip->vol->owner;
}
