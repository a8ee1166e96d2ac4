/*
 * fs.h - the face of the fs room: the order of start-up and its undoing, paths, totals.
 */
#ifndef FS_FS_H
#define FS_FS_H

#include "base/env.h"
#include "blockdev/blockdev.h"
#include "inode/inode.h"
#include "volume/volume.h"

#include <ext4core/fs.h>

#define FS_SYMLINKS_MAX 40u   /* followed in one path, as the kernel */
#define FS_PATH_MAX     4096u /* bytes, NUL included */

struct e4_fs {
	struct env *env;             /* [const] a reference is held */
	struct e4_blockdev *dev;     /* [const] the caller's, held */
	struct e4_blockdev *journal; /* [const] the caller's external journal, held; or NULL */
	struct e4_blockdev *overlay; /* [const] recovered state in memory, or NULL */
	struct volume *vol;          /* [const] */
	struct inode *root;          /* [const] held as long as the mount */
	struct inode_cache *inodes;  /* [const] */
	struct disk_super found;     /* [const] the superblock as it stood on the device */
	uint64_t budget_before;      /* [const] the device's memory budget, to be restored */
	bool read_only;              /* [const] */
	bool trust_totals; /* [const] the superblock's free counts are exact: the volume was clean */
	_Atomic uint32_t dead; /* [atomic] unmounted by force: calls answer -ESHUTDOWN */
	/* [atomic] the mount, each open file and directory, each inode reference handed out; the last one tears down. */
	_Atomic uint64_t refs;
};

int fs_mount(struct e4_blockdev *dev, const struct e4_mount_options *opts,
	struct e4_fs **ret) E4_MUST_CHECK;
int fs_unmount(struct e4_fs *fs, uint32_t flags) E4_MUST_CHECK;
int fs_replay(struct e4_blockdev *dev, const struct e4_mount_options *opts,
	struct e4_replay_result *ret) E4_MUST_CHECK;
int fs_probe(struct e4_blockdev *dev, const struct e4_mount_options *opts,
	struct e4_fs_info *ret) E4_MUST_CHECK;
void fs_info(struct e4_fs *fs, struct e4_fs_info *ret);
int fs_statfs(struct e4_fs *fs, struct e4_statfs *ret) E4_MUST_CHECK;

/* 0, or -ESHUTDOWN when the mount was ended by force, or this is a child of the process that mounted. */
int fs_alive(struct e4_fs *fs) E4_MUST_CHECK;
/* True in a child of the process that mounted: nothing of the mount may be touched, not even to free it. */
bool fs_is_child(const struct e4_fs *fs);
/* Objects that a caller holds; the last drop after a forced unmount frees the mount. */
void fs_hold(struct e4_fs *fs, uint64_t n);
void fs_drop(struct e4_fs *fs, uint64_t n);
/* The mount that an inode belongs to. */
struct e4_fs *fs_of(const struct inode *ip);

/* Resolves path from `start` (NULL = root); a reference is returned. flags: enum e4_path_flags. */
int fs_path_lookup(struct e4_fs *fs, struct inode *start, const char *path, uint32_t flags,
	struct inode **ret) E4_MUST_CHECK;
/* One entry of a directory; -ENOENT when there is none. */
int fs_lookup(struct e4_fs *fs, struct inode *dir, const char *name, uint32_t len,
	struct inode **ret) E4_MUST_CHECK;

#endif
