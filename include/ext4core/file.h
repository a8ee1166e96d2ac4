/** @file file.h
 *  Open files: reading, and a pointer to the data where the device is memory. */
#ifndef EXT4CORE_FILE_H
#define EXT4CORE_FILE_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

/** Flags of e4_open(), by the names of open(2); values are our own, the same on every platform. */
enum e4_open_flags {
	E4_O_RDONLY = 0,
	E4_O_WRONLY = 1,
	E4_O_RDWR = 2,
	E4_O_ACCMODE = 3,
	E4_O_DIRECT = 1 << 4,
	E4_O_NOFOLLOW = 1 << 5,  /**< -ELOOP when the path ends in a symbolic link */
	E4_O_DIRECTORY = 1 << 6, /**< -ENOTDIR unless it is a directory */
};

/**
 * Opens a regular file for reading (or a directory, for its handle).
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param flags enum e4_open_flags.
 * @param mode of a file to be created; unused in this version.
 * @param ret the open file.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENOENT no such name; -ENOTDIR a component is no directory; -ELOOP
 *   more than 40 symbolic links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096; -ELOOP it is a symbolic link and
 *   NOFOLLOW is given; -ENOTDIR DIRECTORY is given and it is none; -EISDIR a directory opened for writing; -EROFS writing is not
 *   part of this version; -ENXIO a device, fifo or socket: nobody is at its other end; -ENOKEY its content is encrypted; -EIO (or
 *   the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN
 *   the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the file is the caller's, to be closed by
 * e4_close() before e4_unmount(). *Blocking*: on device reads.
 * @since 0.1
 * @source open(2).
 */
E4_API int e4_open(
	struct e4_fs *fs, const char *path, uint32_t flags, uint32_t mode, struct e4_file **ret);

/**
 * e4_open() from a directory.
 * @param dir where a relative path starts; an absolute one starts at the root.
 * @param path bytes ended by NUL.
 * @param flags enum e4_open_flags.
 * @param mode unused in this version.
 * @param ret the open file.
 * @return 0.
 * @errors as e4_open().
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the file is the caller's; dir is
 * borrowed. *Blocking*: on device reads.
 * @since 0.1
 * @source openat(2).
 */
E4_API int e4_openat(struct e4_inode *dir, const char *path, uint32_t flags, uint32_t mode,
	struct e4_file **ret);

/**
 * Opens a held inode.
 * @param ip the inode; an own reference is taken.
 * @param flags enum e4_open_flags.
 * @param ret the open file.
 * @return 0.
 * @errors as e4_open(), without those of paths.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the file is the caller's; so stays ip.
 * *Blocking*: no.
 * @since 0.1
 * @source open(2).
 */
E4_API int e4_inode_open(struct e4_inode *ip, uint32_t flags, struct e4_file **ret);

/**
 * Closes a file.
 * @param file the open file.
 * @return 0.
 * @errors -EINVAL file is NULL.
 * *Threads*: no call on this file may be running. *Durability*: none; nothing is written. *Ownership*: file is gone.
 * *Blocking*: no.
 * @since 0.1
 * @source close(2).
 */
E4_API int e4_close(struct e4_file *file);

/**
 * The inode behind an open file.
 * @param file the open file; NULL gives NULL.
 * @return the inode.
 * @errors none.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: borrowed: valid until e4_close(), not to
 * be put. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API struct e4_inode *e4_file_inode(struct e4_file *file);

/**
 * stat(2) of an open file.
 * @param file the open file.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL or struct_size is 0; -ESHUTDOWN.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's. *Blocking*: no.
 * @since 0.1
 * @source fstat(2).
 */
E4_API int e4_fstat(struct e4_file *file, struct e4_stat *ret);

/**
 * Reads bytes at an offset. Holes and unwritten ranges read as zeros; a failing block never does: bytes before it are returned,
 * then the error.
 * @param file the open file.
 * @param buf receives the bytes; any alignment.
 * @param len bytes.
 * @param offset 0 to 2^63 - 1.
 * @return bytes read, short only at the end of the file or before a failing block; 0 at or past the end.
 * @errors -EINVAL file is NULL or the offset too large; -EISDIR a directory; -EINVAL no regular file; -EIO (or the device's own
 *   errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was
 *   unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source pread(2).
 */
E4_API int64_t e4_pread(struct e4_file *file, void *buf, uint64_t len, uint64_t offset);

/**
 * Reads bytes at an offset into several pieces of memory.
 * @param file the open file.
 * @param iov the pieces.
 * @param iov_count their number; 0 reads nothing.
 * @param offset 0 to 2^63 - 1.
 * @param flags must be 0 in this version.
 * @return as e4_pread().
 * @errors as e4_pread(); -EINVAL flags is not 0.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the pieces are the caller's. *Blocking*:
 * on device reads.
 * @since 0.1
 * @source preadv2(2).
 */
E4_API int64_t e4_preadv(struct e4_file *file, const struct e4_iovec *iov, uint32_t iov_count,
	uint64_t offset, uint32_t flags);

/**
 * e4_pread() of a held inode.
 * @param ip a regular file.
 * @param buf receives the bytes.
 * @param len bytes.
 * @param offset 0 to 2^63 - 1.
 * @return as e4_pread().
 * @errors as e4_pread(); -ENOKEY its content is encrypted.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source pread(2).
 */
E4_API int64_t e4_inode_pread(struct e4_inode *ip, void *buf, uint64_t len, uint64_t offset);

/**
 * The first byte of data at or after an offset. Unwritten extents are holes.
 * @param file the open file.
 * @param offset bytes.
 * @return the offset of data, at least the one given.
 * @errors -EINVAL file is NULL; -ENXIO there is no data from there on; -EIO (or the device's own errno) reading failed;
 *   -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: arguments stay the caller's. *Blocking*:
 * on device reads.
 * @since 0.1
 * @source lseek(2) SEEK_DATA.
 */
E4_API int64_t e4_seek_data(struct e4_file *file, uint64_t offset);

/**
 * The first byte of a hole at or after an offset; the end of the file counts as one.
 * @param file the open file.
 * @param offset bytes.
 * @return the offset of the hole, at least the one given.
 * @errors -EINVAL file is NULL; -ENXIO offset is at or past the end; -EIO (or the device's own errno) reading failed; -EUCLEAN,
 *   -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: arguments stay the caller's. *Blocking*:
 * on device reads.
 * @since 0.1
 * @source lseek(2) SEEK_HOLE.
 */
E4_API int64_t e4_seek_hole(struct e4_file *file, uint64_t offset);

/**
 * A pointer to the file's bytes, on a device that is memory (pmem, mem).
 * @param file the open file.
 * @param offset bytes, inside the file.
 * @param len bytes wanted, at least 1.
 * @param ret the pointer.
 * @param ret_len bytes there, 1 to len: it ends with the extent, or the file.
 * @return 0.
 * @errors -EINVAL an argument is NULL, len is 0 or offset past the end; -ENODATA a hole, an unwritten range or inline data:
 *   there are no such bytes on the device; -EOPNOTSUPP the device is no memory; -ENOKEY encrypted; -EIO (or the device's own
 *   errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was
 *   unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the memory is the device's: read-only,
 * valid until e4_dax_unmap() or e4_close(). *Blocking*: on device reads.
 * @since 0.1
 * @source mmap(2) with DAX; DESIGN 7.
 */
E4_API int e4_dax_map(
	struct e4_file *file, uint64_t offset, uint64_t len, const void **ret, uint64_t *ret_len);

/**
 * Gives a pointer of e4_dax_map() back.
 * @param file the open file.
 * @param ptr the pointer.
 * @param len bytes, as returned.
 * @return 0.
 * @errors -EINVAL an argument is NULL or len is 0.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ptr is gone. *Blocking*: never.
 * @since 0.1
 * @source munmap(2).
 */
E4_API int e4_dax_unmap(struct e4_file *file, const void *ptr, uint64_t len);

/**
 * The fs-verity descriptor of a file: 256 bytes and the signature, as they stand on disk. Content is served unverified.
 * @param ip a regular file.
 * @param buf receives up to size bytes; may be NULL with size 0.
 * @param size of buf, bytes.
 * @return the descriptor's whole length in bytes.
 * @errors -EINVAL ip is NULL; -ENODATA the file is no verity file; -EUCLEAN its metadata is damaged; -EIO (or the device's own
 *   errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was
 *   unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source FS_IOC_READ_VERITY_METADATA; format/orphans-mmp-quota-verity-crypt.md 4.
 */
E4_API int64_t e4_verity_descriptor(struct e4_inode *ip, void *buf, uint64_t size);

E4_END_DECLS

#endif
