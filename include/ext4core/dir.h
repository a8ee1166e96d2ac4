/** @file dir.h
 *  Directory streams, in the kernel's order with its 64-bit cookies. */
#ifndef EXT4CORE_DIR_H
#define EXT4CORE_DIR_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

/** One entry. */
struct e4_dirent {
	uint32_t ino;
	uint32_t type;     /**< enum e4_file_type, 0 = unknown */
	uint64_t cookie;   /**< position after this entry: e4_seekdir() there continues with the next */
	uint32_t name_len; /**< bytes, 1..255 */
	char name[256];    /**< bytes, NUL-terminated; in an encrypted directory without its key the no-key name */
};

E4_API int e4_opendir(struct e4_fs *fs, const char *path, struct e4_dir **ret);
E4_API int e4_inode_opendir(struct e4_inode *ip, struct e4_dir **ret);
/* 1 and an entry, 0 at the end, or a negative errno. One thread at a time on one stream. */
E4_API int e4_readdir(struct e4_dir *dir, struct e4_dirent *ret);
/* cookie 0 is the beginning; others come from an entry of the same directory, in this stream or an earlier one. */
E4_API int e4_seekdir(struct e4_dir *dir, uint64_t cookie);
E4_API uint64_t e4_telldir(struct e4_dir *dir);
E4_API int e4_closedir(struct e4_dir *dir);

E4_END_DECLS

#endif
