/** @file dir.h
 *  Directory streams, in the kernel's order with its 64-bit cookies. */
#ifndef EXT4CORE_DIR_H
#define EXT4CORE_DIR_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

/** One entry. */
struct e4_dirent {
	uint32_t ino;
	uint32_t type;   /**< enum e4_file_type, 0 = unknown */
	uint64_t cookie; /**< position after this entry: e4_seekdir() there continues with the next */
	uint32_t name_len; /**< bytes, 1..255 */
	char name[256]; /**< bytes, NUL-terminated; in an encrypted directory without its key the no-key name */
};

/**
 * Opens a directory stream.
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param ret the stream, before its first entry.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENOENT no such name; -ENOTDIR a component is no directory; -ELOOP
 *   more than 40 symbolic links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096; -EIO (or the device's own errno)
 *   reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted
 *   by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the stream is the caller's, to be closed
 * by e4_closedir() before e4_unmount(). *Blocking*: on device reads.
 * @since 0.1
 * @source opendir(3).
 */
E4_API int e4_opendir(struct e4_fs *fs, const char *path, struct e4_dir **ret);

/**
 * Opens a stream on a held directory.
 * @param ip the directory; an own reference is taken.
 * @param ret the stream.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENOTDIR; -ENOMEM; -ESHUTDOWN.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the stream is the caller's. *Blocking*:
 * no.
 * @since 0.1
 * @source fdopendir(3).
 */
E4_API int e4_inode_opendir(struct e4_inode *ip, struct e4_dir **ret);

/**
 * The next entry, in the kernel's order ("." and ".." included). In a damaged directory what can be read is given.
 * @param dir the stream.
 * @param ret the entry.
 * @return 1 and an entry, 0 at the end.
 * @errors -EINVAL an argument is NULL; -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is
 *   damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: one at a time on one stream; any number of streams. *Durability*: none; nothing is written. *Ownership*: ret is
 * the caller's. *Blocking*: on device reads.
 * @since 0.1
 * @source readdir(3), getdents64(2); format/directories.md "readdir order and positions".
 */
E4_API int e4_readdir(struct e4_dir *dir, struct e4_dirent *ret);

/**
 * Moves the stream.
 * @param dir the stream.
 * @param cookie 0 = the beginning, or e4_dirent.cookie of an entry of this directory, from any stream: the entry after it comes
 *   next.
 * @return 0.
 * @errors -EINVAL dir is NULL; -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a
 *   checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: one at a time on one stream. *Durability*: none; nothing is written. *Ownership*: arguments stay the caller's.
 * *Blocking*: on device reads.
 * @since 0.1
 * @source seekdir(3), with the 64-bit cookies of NFS.
 */
E4_API int e4_seekdir(struct e4_dir *dir, uint64_t cookie);

/**
 * The stream's position.
 * @param dir the stream; NULL gives 0.
 * @return a cookie for e4_seekdir().
 * @errors none.
 * *Threads*: one at a time on one stream. *Durability*: none; nothing is written. *Ownership*: arguments stay the caller's.
 * *Blocking*: never.
 * @since 0.1
 * @source telldir(3).
 */
E4_API uint64_t e4_telldir(struct e4_dir *dir);

/**
 * Closes a stream.
 * @param dir the stream.
 * @return 0.
 * @errors -EINVAL dir is NULL.
 * *Threads*: no call on this stream may be running. *Durability*: none; nothing is written. *Ownership*: dir is gone.
 * *Blocking*: no.
 * @since 0.1
 * @source closedir(3).
 */
E4_API int e4_closedir(struct e4_dir *dir);

E4_END_DECLS

#endif
