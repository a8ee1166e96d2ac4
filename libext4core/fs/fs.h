/*
 * fs.h - the face of the fs room: the order of start-up, paths, totals.
 */
#ifndef FS_FS_H
#define FS_FS_H

#include <ext4core/fs.h>

#include "base/env.h"
#include "blockdev/blockdev.h"
#include "inode/inode.h"
#include "volume/volume.h"

struct e4_fs {
	struct env *env;               /* [const] a reference is held */
	struct e4_blockdev *dev;       /* [const] the caller's */
	struct e4_blockdev *journal;   /* [const] the caller's external journal, or NULL */
	struct e4_blockdev *overlay;   /* [const] recovered state in memory, or NULL */
	struct volume *vol;            /* [const] */
	struct inode_cache *inodes;    /* [const] */
	struct disk_super found_super; /* [const] the superblock as it was on the device */
	_Atomic uint32_t open_count;   /* [atomic] files, directories */
	_Atomic uint32_t dead;         /* [atomic] unmounted by force */
};

int fs_mount(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs **ret) E4_MUST_CHECK;
int fs_unmount(struct e4_fs *fs, uint32_t flags) E4_MUST_CHECK;
int fs_replay(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_replay_result *ret) E4_MUST_CHECK;

/* Resolves path from `start` (NULL = root); a reference is returned. */
int fs_path_lookup(struct e4_fs *fs, struct inode *start, const char *path, uint32_t flags, struct inode **ret) E4_MUST_CHECK;
/* One entry of a directory. */
int fs_lookup(struct e4_fs *fs, struct inode *dir, const char *name, uint32_t len, struct inode **ret) E4_MUST_CHECK;
int fs_statfs(struct e4_fs *fs, struct e4_statfs *ret) E4_MUST_CHECK;

#endif
