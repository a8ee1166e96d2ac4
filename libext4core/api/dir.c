/*
 * api/dir.c - the public calls of dir.h: check arguments, call down.
 *
 * Owns:    struct e4_dir.
 * Locks:   none; a stream is used by one thread at a time.
 * Always:  no logic; an open directory counts as one object of its mount.
 */
#include "api/api_impl.h"

#include <ext4core/dir.h>

#include <errno.h>

/* Takes over the reference to ip, also when it fails. */
static int open_dir(struct e4_fs *fs, struct inode *ip, struct e4_dir **ret)
{
	struct dir_iter *it = NULL;
	int r = inode_is(ip, INODE_DIR) ? dir_iter_new(ip, &it) : -ENOTDIR;
	struct e4_dir *dir = r == 0 ? mem_zalloc(fs->env, sizeof(*dir)) : NULL;

	if (dir == NULL) {
		if (r == 0)
			r = fail(fs->env, E4_WHY_OPENDIR_NOMEM, .ino = ip->ino);
		dir_iter_free(it);
		inode_put(ip, 1);
		return r;
	}
	*dir = (struct e4_dir){.fs = fs, .ip = ip, .it = it};
	fs_hold(fs, 1);
	*ret = dir;
	return 0;
}

int e4_opendir(struct e4_fs *fs, const char *path, struct e4_dir **ret)
{
	struct inode *ip;

	if (ret == NULL)
		return -EINVAL;
	int r = api_path(fs, path, 0, &ip);
	return r < 0 ? r : open_dir(fs, ip, ret);
}

int e4_inode_opendir(struct e4_inode *ip, struct e4_dir **ret)
{
	if (ret == NULL)
		return -EINVAL;
	int r = api_inode(ip);
	if (r < 0)
		return r;
	inode_hold(inode_of(ip));
	return open_dir(fs_of(inode_of(ip)), inode_of(ip), ret);
}

int e4_readdir(struct e4_dir *dir, struct e4_dirent *ret)
{
	if (dir == NULL || ret == NULL)
		return -EINVAL;
	int r = fs_alive(dir->fs);
	return r < 0 ? r : dir_iter_next(dir->it, ret);
}

int e4_seekdir(struct e4_dir *dir, uint64_t cookie)
{
	if (dir == NULL)
		return -EINVAL;
	int r = fs_alive(dir->fs);
	return r < 0 ? r : dir_iter_seek(dir->it, cookie);
}

uint64_t e4_telldir(struct e4_dir *dir)
{
	return dir == NULL ? 0 : dir_iter_tell(dir->it);
}

int e4_closedir(struct e4_dir *dir)
{
	if (dir == NULL)
		return -EINVAL;
	struct e4_fs *fs = dir->fs;
	if (fs_is_child(fs))
		return -ESHUTDOWN;
	dir_iter_free(dir->it);
	inode_put(dir->ip, 1);
	mem_free(fs->env, dir, sizeof(*dir));
	fs_drop(fs, 1);
	return 0;
}
