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

/* Opens a regular file (or a directory, read-only, for its handle). mode is for creation, which comes with writing. Devices, fifos and
 * sockets: -ENXIO, there is nobody at their other end. Encrypted content: -ENOKEY. Any write access: -EROFS. */
E4_API int e4_open(struct e4_fs *fs, const char *path, uint32_t flags, uint32_t mode, struct e4_file **ret);
/* path relative to directory `dir` (an absolute one starts at the root). */
E4_API int e4_openat(struct e4_inode *dir, const char *path, uint32_t flags, uint32_t mode, struct e4_file **ret);
E4_API int e4_inode_open(struct e4_inode *ip, uint32_t flags, struct e4_file **ret);
E4_API int e4_close(struct e4_file *file);
/* The inode behind the handle; borrowed, valid until e4_close(). */
E4_API struct e4_inode *e4_file_inode(struct e4_file *file);
E4_API int e4_fstat(struct e4_file *file, struct e4_stat *ret);

/* pread(2), preadv(2): bytes read, 0 at the end, or a negative errno. A failing block in the middle gives the bytes before it, then the error. */
E4_API int64_t e4_pread(struct e4_file *file, void *buf, uint64_t len, uint64_t offset);
E4_API int64_t e4_preadv(struct e4_file *file, const struct e4_iovec *iov, uint32_t iov_count, uint64_t offset, uint32_t flags);
E4_API int64_t e4_inode_pread(struct e4_inode *ip, void *buf, uint64_t len, uint64_t offset);

/* lseek(2) SEEK_DATA, SEEK_HOLE: the offset, or -ENXIO past the end. Unwritten extents are holes. */
E4_API int64_t e4_seek_data(struct e4_file *file, uint64_t offset);
E4_API int64_t e4_seek_hole(struct e4_file *file, uint64_t offset);

/* A pointer to the file's bytes on a device that is memory: *ret_len (at least 1) bytes from offset, ending with the extent or the file.
 * Holes and unwritten ranges have no bytes: -ENODATA. Other devices: -EOPNOTSUPP. Valid until e4_dax_unmap(). */
E4_API int e4_dax_map(struct e4_file *file, uint64_t offset, uint64_t len, const void **ret, uint64_t *ret_len);
E4_API int e4_dax_unmap(struct e4_file *file, const void *ptr, uint64_t len);

/* The fs-verity descriptor of a verity file (256 bytes and the signature): its length, as much as fits in buf. -ENODATA when it is none. Content is
 * served unverified. */
E4_API int64_t e4_verity_descriptor(struct e4_inode *ip, void *buf, uint64_t size);

E4_END_DECLS

#endif
