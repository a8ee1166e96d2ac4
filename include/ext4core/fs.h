/** @file fs.h
 *  Mounting a volume, what it is, inodes by number, paths, counters.
 *  After fork(2) the child's handles are dead: every call on them answers -ESHUTDOWN and touches nothing. */
#ifndef EXT4CORE_FS_H
#define EXT4CORE_FS_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

enum e4_mount_flags {
	E4_MOUNT_RDONLY = 1 << 0, /**< writes not one byte, and still shows the replayed journal */
	E4_MOUNT_NORECOVERY = 1 << 1, /**< read-only: show the volume as it is, without replay (noload) */
	E4_MOUNT_IGNORE_CSUM = 1 << 2, /**< rescue: go on past a bad checksum (each is still reported) */
	E4_MOUNT_BACKUP_DESCS = 1 << 3, /**< rescue: group descriptors from the backup that belongs to `superblock` */
};

struct e4_mount_options {
	uint32_t struct_size;
	uint32_t flags; /**< enum e4_mount_flags */
	uint64_t superblock; /**< block of the superblock to use, in blocks of `superblock_bsize`; 0 = the primary */
	uint32_t superblock_bsize; /**< 1024..65536; 0 = 1024 */
	uint32_t reserved;
	uint64_t memory_budget; /**< bytes, a hard limit for everything, of which caches take up to half; 0 = no limit, caches of 64 MiB */
	struct e4_blockdev *journal; /**< external journal, where the volume has one; must outlive the mount */
	struct e4_error *error; /**< filled in when mounting fails (struct_size set); NULL = not wanted */
};

/**
 * Sets every member to its default and struct_size to the caller's.
 * @param opts the struct to fill; NULL is fine.
 * @return nothing.
 * @errors none.
 * *Threads*: any number at once. *Durability*: none. *Ownership*: the caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API void e4_mount_options_init(struct e4_mount_options *opts);

/**
 * Opens the volume on a device. With E4_MOUNT_RDONLY not one byte is written: a log that must be replayed, fast commits and
 * orphans are recovered in memory, and the mount shows the state that the kernel would show. Without it the volume is recovered
 * for good first (as e4_replay()); no call to change files exists in this version, so opening one for writing still answers
 * -EROFS.
 * @param dev the device; stays open until after e4_unmount().
 * @param opts NULL = defaults.
 * @param ret the mount.
 * @return 0.
 * @errors -EINVAL an argument is NULL, a flag unknown, the device holds no ext2/3/4 volume, or NORECOVERY without RDONLY;
 *   -EOPNOTSUPP a feature that is not read, by name, or an external journal device; -EUCLEAN, -EBADMSG the superblock, the log or
 *   the root is damaged; -EBUSY the device is in use, or the volume is in use elsewhere (MMP); -EROFS writing is wanted and the
 *   device or a feature forbids it; -EIO; -ENOMEM. opts->error tells which.
 * *Threads*: any number at once. *Durability*: read-only: nothing is written. Else a finished recovery is on the medium on
 * return. *Ownership*: the mount is the caller's, to be given back by e4_unmount(); dev and opts->journal stay the caller's and
 * must outlive it. *Blocking*: on device I/O; with MMP up to twice its interval.
 * @since 0.1
 * @source mount(8), ext4(5); format/journal.md, format/kernel-behaviours.md "Mount sequence". Unlike the kernel, a read-only
 *   mount of a dirty volume never writes.
 */
E4_API int e4_mount(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs **ret);

enum e4_unmount_flags {
	E4_UNMOUNT_FORCE = 1 << 0, /**< with files, inodes or directories still open: they answer -ESHUTDOWN from now on */
};

/**
 * Ends a mount.
 * @param fs the mount.
 * @param flags enum e4_unmount_flags.
 * @return 0.
 * @errors -EINVAL fs is NULL or a flag unknown; -EBUSY files, directories or inodes are open and FORCE is not given.
 * *Threads*: no call that takes the mount itself may be running. With FORCE, calls on files, directories and inodes may: they
 * finish, and later ones answer -ESHUTDOWN.
 * *Durability*: none; nothing is written. *Ownership*: fs is gone on success; forced, what is still open stays valid until it
 * is closed. *Blocking*: no.
 * @since 0.1
 * @source umount(2).
 */
E4_API int e4_unmount(struct e4_fs *fs, uint32_t flags);

/** What a recovery did. */
struct e4_replay_result {
	uint32_t struct_size;
	uint32_t was_needed;   /**< 0: the volume was clean and was not written */
	uint64_t transactions; /**< replayed */
	uint64_t blocks;       /**< written home from the log */
	uint64_t revoked;      /**< skipped because they were revoked */
	uint64_t fast_commits; /**< records applied */
	uint64_t orphans_deleted, orphans_truncated;
};

/**
 * Recovers the volume on a device for good: log, fast commits, orphans. Doing it again changes nothing; cut at any moment,
 * doing it again ends in the same state.
 * @param dev opened with E4_BLOCKDEV_RDWR, not in use.
 * @param opts as for e4_mount(); RDONLY and NORECOVERY are ignored. NULL = defaults.
 * @param ret what was done; its struct_size must be set.
 * @return 0, also when nothing had to be done (ret->was_needed is 0).
 * @errors as e4_mount(); -EOPNOTSUPP recovery would have to write something that is not supported, by name. When it fails
 *   before its first write the device is untouched.
 * *Threads*: nobody else may use the device. *Durability*: everything is on the medium on return. *Ownership*: arguments stay
 * the caller's. *Blocking*: on device I/O; with MMP up to twice its interval.
 * @since 0.1
 * @source format/journal.md "Recovery"; e2fsck(8) -E journal_only does the first part.
 */
E4_API int e4_replay(
	struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_replay_result *ret);

/** The volume's summary. Strings are NUL-terminated copies. */
struct e4_fs_info {
	uint32_t struct_size;
	uint32_t block_size, cluster_size, inode_size, desc_size;
	uint32_t blocks_per_group, inodes_per_group, groups, first_data_block;
	uint64_t blocks, free_blocks, reserved_blocks;
	uint32_t inodes, free_inodes, first_ino;
	uint32_t feature_compat, feature_incompat, feature_ro_compat;
	uint32_t state;  /**< s_state: 1 clean, 2 errors, 4 orphans */
	uint32_t errors; /**< s_errors: 1 continue, 2 remount-ro, 3 panic */
	uint32_t error_count;
	uint32_t mount_count;
	int32_t max_mount_count;
	uint32_t rev_level, creator_os;
	uint32_t hash_version; /**< s_def_hash_version */
	uint32_t read_only;
	uint32_t needs_recovery; /**< as found on the device */
	uint32_t journal_ino;    /**< 0 = none or external */
	uint32_t journal_blocks; /**< 0 = none */
	uint32_t journal_fc_blocks;
	uint32_t journal_features_compat, journal_features_incompat;
	uint32_t journal_sequence, journal_start;
	int32_t journal_errno;
	uint8_t has_journal, journal_external;
	uint8_t uuid[16], journal_uuid[16], hash_seed[16];
	uint8_t pad[2];
	int64_t created, checked, mounted, written; /**< seconds since 1970, 0 = never */
	uint64_t kbytes_written;
	char label[17];
	char last_mounted[65];
	char read_only_reason[128]; /**< "" when a writable mount would be possible; else the feature or cause, by name */
};

/**
 * The summary of a mounted volume: superblock and journal as they stand on the device.
 * @param fs the mount.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL or struct_size is 0; -ESHUTDOWN. What cannot be read of the journal stays 0.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's; strings in it are
 * copies. *Blocking*: on device reads.
 * @since 0.1
 * @source format/superblock.md; dumpe2fs(8) -h.
 */
E4_API int e4_fs_info(struct e4_fs *fs, struct e4_fs_info *ret);

/**
 * The summary of a volume without mounting it, also of one that cannot be mounted, as far as its superblock has the magic;
 * read_only_reason then says why.
 * @param dev the device.
 * @param opts superblock and superblock_bsize count; NULL = the primary.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL, or there is no superblock; -EIO.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source format/superblock.md; blkid(8).
 */
E4_API int e4_probe(
	struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs_info *ret);

/**
 * Name of one feature bit as mke2fs spells it.
 * @param set 0 compat, 1 incompat, 2 ro_compat.
 * @param bit one bit.
 * @return the name, or NULL when the bit has none.
 * @errors none.
 * *Threads*: any number at once. *Durability*: none. *Ownership*: the library's, for ever. *Blocking*: never.
 * @since 0.1
 * @source mke2fs(8), ext4(5); format/features.md.
 */
E4_API const char *e4_feature_name(uint32_t set, uint32_t bit);

/**
 * Totals of the volume. Free counts come from the superblock of a volume that was clean, else all groups are counted.
 * @param fs the mount.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL or struct_size is 0; -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG
 *   the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source statfs(2); format/kernel-behaviours.md "Space reservation".
 */
E4_API int e4_statfs(struct e4_fs *fs, struct e4_statfs *ret);

/* --- inodes by number ------------------------------------------------------------------------------------------------ */

/**
 * Holds an inode by its number.
 * @param fs the mount.
 * @param ino 1 to the number of inodes; the root is E4_ROOT_INO.
 * @param generation 0 = any.
 * @param ret the inode, one reference.
 * @return 0.
 * @errors -EINVAL an argument is NULL; -ESTALE the inode is free or its generation differs; -EUCLEAN a reserved inode, or a
 *   damaged one; -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is
 *   wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the reference is the caller's, to be
 * given back by e4_inode_put(). *Blocking*: on device reads.
 * @since 0.1
 * @source open_by_handle_at(2); format/inode.md.
 */
E4_API int e4_inode_get(struct e4_fs *fs, uint32_t ino, uint32_t generation, struct e4_inode **ret);

/**
 * Gives back references taken by e4_inode_get(), e4_inode_lookup() or e4_path_lookup().
 * @param ip the inode; NULL is fine.
 * @param n how many.
 * @return nothing.
 * @errors none.
 * *Threads*: any number at once. *Durability*: none. *Ownership*: ip is gone with its last reference. *Blocking*: no.
 * @since 0.1
 * @source the forget call of FUSE.
 */
E4_API void e4_inode_put(struct e4_inode *ip, uint64_t n);

/**
 * The inode's number.
 * @param ip the inode; NULL gives 0.
 * @return the number.
 * @errors none.
 * *Threads*: any number at once. *Durability*: none. *Ownership*: arguments stay the caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API uint32_t e4_inode_number(const struct e4_inode *ip);

/**
 * stat(2) of a held inode.
 * @param ip the inode.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL or struct_size is 0; -ESHUTDOWN.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's. *Blocking*: no.
 * @since 0.1
 * @source statx(2); format/inode.md.
 */
E4_API int e4_inode_stat(struct e4_inode *ip, struct e4_stat *ret);

/**
 * Finds one entry of a directory.
 * @param ip the directory.
 * @param name the name's bytes, no slash, no NUL; "." and ".." are names like others.
 * @param len of the name, 1 to 255 bytes.
 * @param ret the inode, one reference.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown, or the name holds a slash or NUL; -ENOENT; -ENOTDIR ip is no
 *   directory; -ENAMETOOLONG; -EOPNOTSUPP a casefolded directory in a build without utf8proc; -EIO (or the device's own errno)
 *   reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted
 *   by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the reference is the caller's.
 * *Blocking*: on device reads.
 * @since 0.1
 * @source lookup of FUSE; format/directories.md.
 */
E4_API int e4_inode_lookup(
	struct e4_inode *ip, const char *name, uint32_t len, struct e4_inode **ret);

/* --- paths ----------------------------------------------------------------------------------------------------------- */

enum e4_path_flags {
	E4_PATH_NOFOLLOW = 1 << 0, /**< a symbolic link at the end is itself the object */
};

/**
 * Resolves a path from the volume's root; ".." stops there, absolute links start there.
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param flags enum e4_path_flags.
 * @param ret the inode, one reference.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENOENT no such name; -ENOTDIR a component is no directory; -ELOOP
 *   more than 40 symbolic links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096; -EIO (or the device's own errno)
 *   reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted
 *   by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the reference is the caller's.
 * *Blocking*: on device reads.
 * @since 0.1
 * @source path_resolution(7). No permissions are checked.
 */
E4_API int e4_path_lookup(struct e4_fs *fs, const char *path, uint32_t flags, struct e4_inode **ret);

/**
 * stat(2), or lstat(2) with E4_PATH_NOFOLLOW.
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param flags enum e4_path_flags.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown or struct_size is 0; -ENOENT no such name; -ENOTDIR a component is
 *   no directory; -ELOOP more than 40 symbolic links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096; -EIO (or the
 *   device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the
 *   volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source stat(2), statx(2).
 */
E4_API int e4_stat(struct e4_fs *fs, const char *path, uint32_t flags, struct e4_stat *ret);

/**
 * The target of a symbolic link. An encrypted one gives its no-key form.
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param buf receives up to size bytes, no NUL; may be NULL with size 0.
 * @param size of buf, bytes.
 * @return the target's whole length in bytes, which may be more than size.
 * @errors -EINVAL an argument is NULL, or it is no symbolic link; -ENOENT no such name; -ENOTDIR a component is no directory;
 *   -ELOOP more than 40 symbolic links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096; -EIO (or the device's own
 *   errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was
 *   unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source readlink(2), which cuts silently; here the length tells.
 */
E4_API int64_t e4_readlink(struct e4_fs *fs, const char *path, char *buf, uint64_t size);

/**
 * The same of a held inode.
 * @param ip the link.
 * @param buf receives up to size bytes, no NUL; may be NULL with size 0.
 * @param size of buf, bytes.
 * @return the target's whole length in bytes.
 * @errors -EINVAL an argument is NULL, or it is no symbolic link; -EIO (or the device's own errno) reading failed; -EUCLEAN,
 *   -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source readlink(2).
 */
E4_API int64_t e4_inode_readlink(struct e4_inode *ip, char *buf, uint64_t size);

/* --- extended attributes --------------------------------------------------------------------------------------------- */

/**
 * One extended attribute, as root sees it: trusted.* is there; ACLs come in the form of the system calls.
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param flags enum e4_path_flags; NOFOLLOW = of the link itself.
 * @param name full name with its prefix.
 * @param buf receives the value; may be NULL with size 0.
 * @param size of buf, bytes; 0 asks for the length.
 * @return the value's length in bytes.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENODATA no such attribute; -ERANGE buf is too small; -EOPNOTSUPP a
 *   prefix that ext4 does not have; -ENOENT no such name; -ENOTDIR a component is no directory; -ELOOP more than 40 symbolic
 *   links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096; -EIO (or the device's own errno) reading failed;
 *   -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source getxattr(2); format/xattr.md.
 */
E4_API int64_t e4_getxattr(struct e4_fs *fs, const char *path, uint32_t flags, const char *name,
	void *buf, uint64_t size);

/**
 * The names of all extended attributes, each ended by NUL, as root sees them.
 * @param fs the mount.
 * @param path bytes ended by NUL; resolved from the volume's root.
 * @param flags enum e4_path_flags.
 * @param buf receives the names; may be NULL with size 0.
 * @param size of buf, bytes; 0 asks for the length.
 * @return the length of the list in bytes, 0 when there are none.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ERANGE buf is too small; -ENOENT no such name; -ENOTDIR a
 *   component is no directory; -ELOOP more than 40 symbolic links; -ENAMETOOLONG a component over 255 bytes or a path of 4,096;
 *   -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM;
 *   -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source listxattr(2).
 */
E4_API int64_t e4_listxattr(
	struct e4_fs *fs, const char *path, uint32_t flags, char *buf, uint64_t size);

/**
 * e4_getxattr() of a held inode.
 * @param ip the inode.
 * @param name full name with its prefix.
 * @param buf receives the value; may be NULL with size 0.
 * @param size of buf, bytes; 0 asks for the length.
 * @return the value's length in bytes.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENODATA no such attribute; -ERANGE buf is too small; -EOPNOTSUPP a
 *   prefix that ext4 does not have; -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or
 *   a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source fgetxattr(2).
 */
E4_API int64_t e4_inode_getxattr(struct e4_inode *ip, const char *name, void *buf, uint64_t size);

/**
 * e4_listxattr() of a held inode.
 * @param ip the inode.
 * @param buf receives the names; may be NULL with size 0.
 * @param size of buf, bytes; 0 asks for the length.
 * @return the length of the list in bytes.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ERANGE buf is too small; -EIO (or the device's own errno) reading
 *   failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by
 *   force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: buf is the caller's. *Blocking*: on
 * device reads.
 * @since 0.1
 * @source flistxattr(2).
 */
E4_API int64_t e4_inode_listxattr(struct e4_inode *ip, char *buf, uint64_t size);

/* --- contexts -------------------------------------------------------------------------------------------------------- */

/**
 * A context by hand, for fibres that move between threads. Threads need none: each gets its own at its first call.
 * @param fs the mount.
 * @param ret the context.
 * @return 0.
 * @errors -EINVAL an argument is NULL or a flag is unknown; -ENOMEM; -ESHUTDOWN.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: the caller's, to be freed by
 * e4_context_free() before e4_unmount(). *Blocking*: no.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_context_new(struct e4_fs *fs, struct e4_context **ret);

/**
 * From now on the calling thread works with this context on this mount.
 * @param fs the mount.
 * @param ctx made by e4_context_new() on the same mount; NULL goes back to the thread's own.
 * @return 0.
 * @errors -EINVAL fs is NULL, or ctx belongs to another mount.
 * *Threads*: a context is bound in one thread at a time. *Durability*: none; nothing is written. *Ownership*: ctx stays the
 * caller's. *Blocking*: never.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_context_bind(struct e4_fs *fs, struct e4_context *ctx);

/**
 * Ends a context.
 * @param ctx bound in no other thread; NULL is fine.
 * @return nothing.
 * @errors none.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ctx is gone. *Blocking*: no.
 * @since 0.1
 * @source none; our own.
 */
E4_API void e4_context_free(struct e4_context *ctx);

/* --- counters -------------------------------------------------------------------------------------------------------- */

struct e4_counters {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t dev_reads, dev_read_bytes, dev_writes, dev_write_bytes, dev_flushes;
	uint64_t map_lookups;          /**< mappings looked up */
	uint64_t map_misses;           /**< of these, answered by reading the tree */
	uint64_t buf_hits, buf_misses; /**< metadata blocks */
	uint64_t extent_records;       /**< extents held in memory */
	uint64_t extent_heap_bytes;    /**< heap they use */
	uint64_t inodes_cached;
	uint64_t handles_started; /**< journal handles */
	uint64_t rmw_shared; /**< atomic read-modify-writes (locks count two) by the calling thread, ever */
	uint64_t memory_bytes; /**< held now, of everything */
	uint64_t errors;       /**< failures recorded */
};

/**
 * Counts since the device was opened, summed over all threads (rmw_shared: of the calling thread since it began).
 * @param fs the mount.
 * @param ret filled in; its struct_size must be set.
 * @return 0.
 * @errors -EINVAL an argument is NULL or struct_size is 0; -ESHUTDOWN.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's. *Blocking*: no.
 * @since 0.1
 * @source none; our own.
 */
E4_API int e4_counters(struct e4_fs *fs, struct e4_counters *ret);

E4_END_DECLS

#endif
