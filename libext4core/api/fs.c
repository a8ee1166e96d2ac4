/*
 * api/fs.c - the public calls of fs.h: check arguments, call down.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  no logic; a NULL argument, an unknown flag or a struct without its size is -EINVAL before anything is touched. An inode
 *          handed out counts as one object of its mount.
 */
#include "api/api_impl.h"
#include "base/atomic.h"
#include "base/math.h"
#include "file/file.h"

#include <ext4core/fs.h>

#include <errno.h>
#include <string.h>

#define MOUNT_FLAGS                                                                                \
	(E4_MOUNT_RDONLY | E4_MOUNT_NORECOVERY | E4_MOUNT_IGNORE_CSUM | E4_MOUNT_BACKUP_DESCS)

void e4_mount_options_init(struct e4_mount_options *opts)
{
	if (opts == NULL)
		return;
	memset(opts, 0, sizeof(*opts));
	opts->struct_size = sizeof(*opts);
}

static bool options_ok(const struct e4_mount_options *opts)
{
	if (opts == NULL)
		return true;
	if (opts->struct_size == 0 || (opts->flags & ~(uint32_t)MOUNT_FLAGS) != 0)
		return false;
	if (opts->struct_size < sizeof(*opts))
		return true;
	if (opts->superblock_bsize != 0 &&
		(!is_pow2_u64(opts->superblock_bsize) || opts->superblock_bsize < 1024 ||
			opts->superblock_bsize > 65536 || opts->superblock > UINT64_MAX / 65536))
		return false;
	return opts->error == NULL || opts->error->struct_size != 0;
}

int e4_mount(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs **ret)
{
	if (dev == NULL || ret == NULL || !options_ok(opts))
		return -EINVAL;
	return fs_mount(dev, opts, ret);
}

int e4_unmount(struct e4_fs *fs, uint32_t flags)
{
	if (fs == NULL || (flags & ~(uint32_t)E4_UNMOUNT_FORCE) != 0)
		return -EINVAL;
	return fs_unmount(fs, flags);
}

int e4_replay(
	struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_replay_result *ret)
{
	if (dev == NULL || ret == NULL || ret->struct_size == 0 || !options_ok(opts))
		return -EINVAL;
	return fs_replay(dev, opts, ret);
}

int e4_fs_info(struct e4_fs *fs, struct e4_fs_info *ret)
{
	if (fs == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	int r = fs_alive(fs);
	if (r == 0)
		fs_info(fs, ret);
	return r;
}

int e4_probe(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs_info *ret)
{
	if (dev == NULL || ret == NULL || ret->struct_size == 0 || !options_ok(opts))
		return -EINVAL;
	return fs_probe(dev, opts, ret);
}

const char *e4_feature_name(uint32_t set, uint32_t bit)
{
	return volume_feature_name(set, bit);
}

int e4_statfs(struct e4_fs *fs, struct e4_statfs *ret)
{
	if (fs == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	int r = fs_alive(fs);
	return r < 0 ? r : fs_statfs(fs, ret);
}

/* --- inodes by number --- */

int api_inode(struct e4_inode *ip)
{
	return ip == NULL ? -EINVAL : fs_alive(fs_of(inode_of(ip)));
}

/* Hands an inode out: the mount counts it until e4_inode_put(). */
static int hand_out(struct e4_fs *fs, int r, struct inode *ip, struct e4_inode **ret)
{
	if (r < 0)
		return r;
	fs_hold(fs, 1);
	*ret = handle_of(ip);
	return 0;
}

int e4_inode_get(struct e4_fs *fs, uint32_t ino, uint32_t generation, struct e4_inode **ret)
{
	struct inode *ip = NULL;

	if (fs == NULL || ret == NULL)
		return -EINVAL;
	int r = fs_alive(fs);
	if (r == 0)
		r = inode_get(fs->inodes, ino, generation, &ip);
	return hand_out(fs, r, ip, ret);
}

void e4_inode_put(struct e4_inode *ip, uint64_t n)
{
	if (ip == NULL || n == 0)
		return;
	struct e4_fs *fs = fs_of(inode_of(ip));
	if (fs_is_child(fs))
		return;
	inode_put(inode_of(ip), n);
	fs_drop(fs, n);
}

uint32_t e4_inode_number(const struct e4_inode *ip)
{
	return ip == NULL ? 0 : ((const struct inode *)(const void *)ip)->ino;
}

static int stat_inode(struct inode *ip, struct e4_stat *ret)
{
	struct e4_stat s = {.struct_size = sizeof(s)};

	inode_to_stat(ip, &s);
	s.struct_size = ret->struct_size;
	memcpy(ret, &s, (size_t)min_u64(ret->struct_size, sizeof(s)));
	return 0;
}

int e4_inode_stat(struct e4_inode *ip, struct e4_stat *ret)
{
	if (ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	int r = api_inode(ip);
	return r < 0 ? r : stat_inode(inode_of(ip), ret);
}

int e4_inode_lookup(struct e4_inode *ip, const char *name, uint32_t len, struct e4_inode **ret)
{
	struct inode *child = NULL;

	if (name == NULL || ret == NULL || len == 0 || memchr(name, '/', len) != NULL ||
		memchr(name, '\0', len) != NULL)
		return -EINVAL;
	int r = api_inode(ip);
	if (r < 0)
		return r;
	struct e4_fs *fs = fs_of(inode_of(ip));
	r = fs_lookup(fs, inode_of(ip), name, len, &child);
	return hand_out(fs, r, child, ret);
}

/* --- paths --- */

int api_path(struct e4_fs *fs, const char *path, uint32_t flags, struct inode **ret)
{
	if (fs == NULL || path == NULL || (flags & ~(uint32_t)E4_PATH_NOFOLLOW) != 0)
		return -EINVAL;
	int r = fs_alive(fs);
	return r < 0 ? r : fs_path_lookup(fs, NULL, path, flags, ret);
}

int e4_path_lookup(struct e4_fs *fs, const char *path, uint32_t flags, struct e4_inode **ret)
{
	struct inode *ip = NULL;

	if (ret == NULL)
		return -EINVAL;
	int r = api_path(fs, path, flags, &ip);
	return hand_out(fs, r, ip, ret);
}

int e4_stat(struct e4_fs *fs, const char *path, uint32_t flags, struct e4_stat *ret)
{
	struct inode *ip;

	if (ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	int r = api_path(fs, path, flags, &ip);
	if (r < 0)
		return r;
	r = stat_inode(ip, ret);
	inode_put(ip, 1);
	return r;
}

int64_t e4_readlink(struct e4_fs *fs, const char *path, char *buf, uint64_t size)
{
	struct inode *ip;

	if (buf == NULL && size != 0)
		return -EINVAL;
	int r = api_path(fs, path, E4_PATH_NOFOLLOW, &ip);
	if (r < 0)
		return r;
	int64_t n = file_readlink(ip, buf, size);
	inode_put(ip, 1);
	return n;
}

int64_t e4_inode_readlink(struct e4_inode *ip, char *buf, uint64_t size)
{
	if (buf == NULL && size != 0)
		return -EINVAL;
	int r = api_inode(ip);
	return r < 0 ? r : file_readlink(inode_of(ip), buf, size);
}

/* --- extended attributes --- */

int64_t e4_getxattr(struct e4_fs *fs, const char *path, uint32_t flags, const char *name, void *buf,
	uint64_t size)
{
	struct inode *ip;

	if (name == NULL || (buf == NULL && size != 0))
		return -EINVAL;
	int r = api_path(fs, path, flags, &ip);
	if (r < 0)
		return r;
	int64_t n = xattr_get(ip, name, buf, size);
	inode_put(ip, 1);
	return n;
}

int64_t e4_listxattr(struct e4_fs *fs, const char *path, uint32_t flags, char *buf, uint64_t size)
{
	struct inode *ip;

	if (buf == NULL && size != 0)
		return -EINVAL;
	int r = api_path(fs, path, flags, &ip);
	if (r < 0)
		return r;
	int64_t n = xattr_list(ip, buf, size);
	inode_put(ip, 1);
	return n;
}

int64_t e4_inode_getxattr(struct e4_inode *ip, const char *name, void *buf, uint64_t size)
{
	if (name == NULL || (buf == NULL && size != 0))
		return -EINVAL;
	int r = api_inode(ip);
	return r < 0 ? r : xattr_get(inode_of(ip), name, buf, size);
}

int64_t e4_inode_listxattr(struct e4_inode *ip, char *buf, uint64_t size)
{
	if (buf == NULL && size != 0)
		return -EINVAL;
	int r = api_inode(ip);
	return r < 0 ? r : xattr_list(inode_of(ip), buf, size);
}

/* --- counters --- */

int e4_counters(struct e4_fs *fs, struct e4_counters *ret)
{
	struct context_totals t;

	if (fs == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	int r = fs_alive(fs);
	if (r < 0)
		return r;
	uint64_t rmw = base_rmw_count;
	context_sum(fs->env, &t);
	struct e4_counters c = {
		.struct_size = ret->struct_size,
		.dev_reads = t.dev_reads,
		.dev_read_bytes = t.dev_read_bytes,
		.dev_writes = t.dev_writes,
		.dev_write_bytes = t.dev_write_bytes,
		.dev_flushes = t.dev_flushes,
		.map_lookups = t.map_lookups,
		.map_misses = t.map_misses,
		.buf_hits = t.buf_hits,
		.buf_misses = t.buf_misses,
		.inodes_cached = inode_cache_count(fs->inodes),
		.rmw_shared = rmw,
		.memory_bytes = mem_used_bytes(fs->env),
		.errors = error_count(fs->env),
	};
	inode_cache_es_totals(fs->inodes, &c.extent_records, &c.extent_heap_bytes);
	memcpy(ret, &c, (size_t)min_u64(ret->struct_size, sizeof(c)));
	return 0;
}
