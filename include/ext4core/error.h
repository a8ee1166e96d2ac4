/** @file error.h
 *  Why something failed: beyond the errno, the rule that broke, the block and inode, and a sentence. */
#ifndef EXT4CORE_ERROR_H
#define EXT4CORE_ERROR_H

#include <ext4core/version.h>

#include <stdint.h>

E4_BEGIN_DECLS

struct e4_fs;
struct e4_blockdev;

/** A failure as it was born. Numbers that do not apply are 0. */
struct e4_error {
	uint32_t struct_size; /**< set by the caller to sizeof(struct e4_error) */
	int32_t err;          /**< negative errno; 0 when there is no error to report */
	const char *why; /**< name of the reason, such as "EXTENT_DEPTH"; valid for ever; "" when none */
	uint64_t block;    /**< block of the volume */
	uint64_t found;    /**< the value that was there */
	uint64_t expected; /**< the value, or limit, that should have been */
	uint64_t thread;   /**< the kernel's thread id */
	uint64_t sequence; /**< counts failures of this device from 1 */
	uint32_t ino;      /**< inode */
	uint32_t line;     /**< source line of the library */
	const char *file;  /**< source file of the library */
	char text[232];    /**< one sentence for a person, without newline */
};

/**
 * The newest failure that the calling thread met on a mount.
 * @param fs  the mount.
 * @param ret filled in; its struct_size must be set.
 * @return 0, or -ENOENT if this thread met none (ret->err is 0 then).
 * @errors -EINVAL fs or ret is NULL or struct_size is 0; -ENOENT as above.
 * *Threads*: any; each sees its own. *Durability*: none. *Ownership*: strings in ret are the library's and live for ever.
 * *Blocking*: never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_last_error(struct e4_fs *fs, struct e4_error *ret);

/**
 * The same for a device that is not (yet) mounted.
 * @param dev the device.
 * @param ret filled in; its struct_size must be set.
 * @return 0, or -ENOENT if this thread met none.
 * @errors -EINVAL an argument is NULL or struct_size is 0; -ENOENT as above.
 * *Threads*: any. *Durability*: none. *Ownership*: as e4_last_error(). *Blocking*: never on I/O.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_blockdev_last_error(struct e4_blockdev *dev, struct e4_error *ret);

/**
 * The name of an errno, as the kernel spells it.
 * @param err an errno, positive or negative.
 * @return "EIO", "EOPNOTSUPP", ...; "E<number>" is never returned: an unknown number gives "EUNKNOWN".
 * @errors none.
 * *Threads*: any. *Durability*: none. *Ownership*: the library's, for ever. *Blocking*: never.
 * @since 0.1
 * @source errno(3).
 */
E4_API const char *e4_errno_name(int err);

E4_END_DECLS

#endif
