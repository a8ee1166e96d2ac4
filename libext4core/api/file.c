/*
 * api/file.c - the public calls of file.h: check arguments, call down.
 *
 * Owns:    struct e4_file.
 * Locks:   none.
 * Always:  no logic beyond what open(2) decides from the kind of object; an open file counts as one object of its mount.
 */
#include "file/file.h"

#include "api/api_impl.h"
#include "map/map.h"

#include <ext4core/file.h>

#include <errno.h>

#define OPEN_FLAGS (E4_O_ACCMODE | E4_O_DIRECT | E4_O_NOFOLLOW | E4_O_DIRECTORY)

/* What open(2) answers for this object on a mount that is not written. */
static int may_open(struct inode *ip, uint32_t flags)
{
	bool writes = (flags & E4_O_ACCMODE) != E4_O_RDONLY;

	if ((flags & E4_O_DIRECTORY) && !inode_is(ip, INODE_DIR))
		return -ENOTDIR;
	if (inode_is(ip, INODE_LNK))
		return -ELOOP;
	if (inode_is(ip, INODE_DIR))
		return writes ? -EISDIR : 0;
	if (!inode_is(ip, INODE_REG))
		return -ENXIO;
	if (writes)
		return fail(ip->vol->env, E4_WHY_OPEN_WRITE, .ino = ip->ino);
	if (ip->flags & INODE_FL_ENCRYPT)
		return fail(ip->vol->env, E4_WHY_OPEN_NOKEY, .ino = ip->ino);
	return 0;
}

/* Takes over the reference to ip, also when it fails. */
static int open_inode(struct e4_fs *fs, struct inode *ip, uint32_t flags, struct e4_file **ret)
{
	int r = may_open(ip, flags);
	struct e4_file *file = r == 0 ? mem_zalloc(fs->env, sizeof(*file)) : NULL;

	if (file == NULL) {
		if (r == 0)
			r = fail(fs->env, E4_WHY_OPEN_NOMEM, .ino = ip->ino);
		inode_put(ip, 1);
		return r;
	}
	*file = (struct e4_file){.fs = fs, .ip = ip, .flags = flags};
	fs_hold(fs, 1);
	*ret = file;
	return 0;
}

static int open_path(struct e4_fs *fs, struct inode *start, const char *path, uint32_t flags,
	struct e4_file **ret)
{
	uint32_t path_flags = flags & E4_O_NOFOLLOW ? E4_PATH_NOFOLLOW : 0;
	struct inode *ip;
	int r = fs_path_lookup(fs, start, path, path_flags, &ip);

	return r < 0 ? r : open_inode(fs, ip, flags, ret);
}

static bool flags_ok(uint32_t flags)
{
	return (flags & ~(uint32_t)OPEN_FLAGS) == 0 && (flags & E4_O_ACCMODE) != E4_O_ACCMODE;
}

int e4_open(struct e4_fs *fs, const char *path, uint32_t flags, uint32_t mode, struct e4_file **ret)
{
	(void)mode;
	if (fs == NULL || path == NULL || ret == NULL || !flags_ok(flags))
		return -EINVAL;
	int r = fs_alive(fs);
	return r < 0 ? r : open_path(fs, NULL, path, flags, ret);
}

int e4_openat(
	struct e4_inode *dir, const char *path, uint32_t flags, uint32_t mode, struct e4_file **ret)
{
	(void)mode;
	if (path == NULL || ret == NULL || !flags_ok(flags))
		return -EINVAL;
	int r = api_inode(dir);
	return r < 0 ? r : open_path(fs_of(inode_of(dir)), inode_of(dir), path, flags, ret);
}

int e4_inode_open(struct e4_inode *ip, uint32_t flags, struct e4_file **ret)
{
	if (ret == NULL || !flags_ok(flags))
		return -EINVAL;
	int r = api_inode(ip);
	if (r < 0)
		return r;
	inode_hold(inode_of(ip));
	return open_inode(fs_of(inode_of(ip)), inode_of(ip), flags, ret);
}

int e4_close(struct e4_file *file)
{
	if (file == NULL)
		return -EINVAL;
	struct e4_fs *fs = file->fs;
	if (fs_is_child(fs))
		return -ESHUTDOWN;
	inode_put(file->ip, 1);
	mem_free(fs->env, file, sizeof(*file));
	fs_drop(fs, 1);
	return 0;
}

struct e4_inode *e4_file_inode(struct e4_file *file)
{
	return file == NULL ? NULL : handle_of(file->ip);
}

int e4_fstat(struct e4_file *file, struct e4_stat *ret)
{
	return file == NULL ? -EINVAL : e4_inode_stat(handle_of(file->ip), ret);
}

int64_t e4_pread(struct e4_file *file, void *buf, uint64_t len, uint64_t offset)
{
	struct e4_iovec iov = {.base = buf, .len = len};

	return e4_preadv(file, &iov, 1, offset, 0);
}

int64_t e4_preadv(struct e4_file *file, const struct e4_iovec *iov, uint32_t iov_count,
	uint64_t offset, uint32_t flags)
{
	if (file == NULL || (iov == NULL && iov_count != 0) || flags != 0 || offset > INT64_MAX)
		return -EINVAL;
	int r = fs_alive(file->fs);
	return r < 0 ? r : file_read(file->ip, iov, iov_count, offset);
}

int64_t e4_inode_pread(struct e4_inode *ip, void *buf, uint64_t len, uint64_t offset)
{
	struct e4_iovec iov = {.base = buf, .len = len};

	if (offset > INT64_MAX)
		return -EINVAL;
	int r = api_inode(ip);
	return r < 0 ? r : file_read(inode_of(ip), &iov, 1, offset);
}

int64_t e4_seek_data(struct e4_file *file, uint64_t offset)
{
	if (file == NULL)
		return -EINVAL;
	int r = fs_alive(file->fs);
	return r < 0 ? r : map_seek_data(file->ip, offset);
}

int64_t e4_seek_hole(struct e4_file *file, uint64_t offset)
{
	if (file == NULL)
		return -EINVAL;
	int r = fs_alive(file->fs);
	return r < 0 ? r : map_seek_hole(file->ip, offset);
}

int e4_dax_map(
	struct e4_file *file, uint64_t offset, uint64_t len, const void **ret, uint64_t *ret_len)
{
	if (file == NULL || ret == NULL || ret_len == NULL || len == 0)
		return -EINVAL;
	int r = fs_alive(file->fs);
	return r < 0 ? r : file_dax_map(file->ip, offset, len, ret, ret_len);
}

int e4_dax_unmap(struct e4_file *file, const void *ptr, uint64_t len)
{
	/* Nothing moves under a read-only mount, so nothing is held. */
	return file == NULL || ptr == NULL || len == 0 ? -EINVAL : 0;
}

int64_t e4_verity_descriptor(struct e4_inode *ip, void *buf, uint64_t size)
{
	if (buf == NULL && size != 0)
		return -EINVAL;
	int r = api_inode(ip);
	return r < 0 ? r : file_verity_descriptor(inode_of(ip), buf, size);
}
