/** @file fs.h
 *  Mounting a volume, what it is, inodes by number, paths, counters. */
#ifndef EXT4CORE_FS_H
#define EXT4CORE_FS_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

enum e4_mount_flags {
	E4_MOUNT_RDONLY = 1 << 0,      /**< writes not one byte, and still shows the replayed journal */
	E4_MOUNT_NORECOVERY = 1 << 1,  /**< read-only: show the volume as it is, without replay (noload) */
	E4_MOUNT_IGNORE_CSUM = 1 << 2, /**< rescue: go on past a bad checksum (each is still reported) */
	E4_MOUNT_BACKUP_DESCS = 1 << 3, /**< rescue: group descriptors from the backup that belongs to `superblock` */
};

struct e4_mount_options {
	uint32_t struct_size;
	uint32_t flags;           /**< enum e4_mount_flags */
	uint64_t superblock;      /**< block of the superblock to use, in blocks of `superblock_bsize`; 0 = the primary */
	uint32_t superblock_bsize; /**< 1024..65536; 0 = 1024 */
	uint32_t reserved;
	uint64_t memory_budget;   /**< bytes for caches and everything else; 0 = 64 MiB */
	struct e4_blockdev *journal; /**< external journal, where the volume has one; must outlive the mount */
	struct e4_error *error;   /**< filled in when mounting fails (struct_size set); NULL = not wanted */
};

E4_API void e4_mount_options_init(struct e4_mount_options *opts);

/* In this version only read-only mounts exist: without E4_MOUNT_RDONLY the answer is -EOPNOTSUPP. */
E4_API int e4_mount(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs **ret);

enum e4_unmount_flags {
	E4_UNMOUNT_FORCE = 1 << 0, /**< with files, inodes or directories still open: they answer -ESHUTDOWN from now on */
};

/* -EBUSY with open objects, unless forced. */
E4_API int e4_unmount(struct e4_fs *fs, uint32_t flags);

/* Recovers the volume on dev for good: log, fast commits, orphans. Idempotent, also when cut half way. Needs a device opened for writing. */
struct e4_replay_result {
	uint32_t struct_size;
	uint32_t was_needed;      /**< 0: the volume was clean and was not written */
	uint64_t transactions;    /**< replayed */
	uint64_t blocks;          /**< written home from the log */
	uint64_t revoked;         /**< skipped because they were revoked */
	uint64_t fast_commits;    /**< records applied */
	uint64_t orphans_deleted, orphans_truncated;
};
E4_API int e4_replay(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_replay_result *ret);

/** The volume's summary. Strings are NUL-terminated copies. */
struct e4_fs_info {
	uint32_t struct_size;
	uint32_t block_size, cluster_size, inode_size, desc_size;
	uint32_t blocks_per_group, inodes_per_group, groups, first_data_block;
	uint64_t blocks, free_blocks, reserved_blocks;
	uint32_t inodes, free_inodes, first_ino;
	uint32_t feature_compat, feature_incompat, feature_ro_compat;
	uint32_t state;      /**< s_state: 1 clean, 2 errors, 4 orphans */
	uint32_t errors;     /**< s_errors: 1 continue, 2 remount-ro, 3 panic */
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

E4_API int e4_fs_info(struct e4_fs *fs, struct e4_fs_info *ret);

/* The volume's summary without mounting (also of a volume that cannot be mounted, as far as its superblock is sound). */
E4_API int e4_probe(struct e4_blockdev *dev, const struct e4_mount_options *opts, struct e4_fs_info *ret);

/* Name of one feature bit as mke2fs spells it; set: 0 compat, 1 incompat, 2 ro_compat. NULL when the bit has no name. */
E4_API const char *e4_feature_name(uint32_t set, uint32_t bit);

E4_API int e4_statfs(struct e4_fs *fs, struct e4_statfs *ret);

/* --- inodes by number ------------------------------------------------------------------------------------------------ */

/* generation 0 = any; a wrong one, or a free inode, is -ESTALE. Inodes below the first ordinary one, except the root, are -EUCLEAN. */
E4_API int e4_inode_get(struct e4_fs *fs, uint32_t ino, uint32_t generation, struct e4_inode **ret);
/* Gives back n references taken by get (or lookup). */
E4_API void e4_inode_put(struct e4_inode *ip, uint64_t n);
E4_API uint32_t e4_inode_number(const struct e4_inode *ip);
E4_API int e4_inode_stat(struct e4_inode *ip, struct e4_stat *ret);
/* The entry `name` (len bytes, no slash) of directory ip; -ENOENT when there is none. A reference is returned. */
E4_API int e4_inode_lookup(struct e4_inode *ip, const char *name, uint32_t len, struct e4_inode **ret);

/* --- paths ----------------------------------------------------------------------------------------------------------- */

enum e4_path_flags {
	E4_PATH_NOFOLLOW = 1 << 0, /**< a symbolic link at the end is itself the object */
};

/* Resolves a path from the volume's root; ".." stops there, absolute links start there. At most 40 links. */
E4_API int e4_path_lookup(struct e4_fs *fs, const char *path, uint32_t flags, struct e4_inode **ret);
/* stat(2) and lstat(2): flags as in e4_path_lookup(). */
E4_API int e4_stat(struct e4_fs *fs, const char *path, uint32_t flags, struct e4_stat *ret);
/* Puts up to size bytes of the target into buf, without NUL; returns the target's whole length. An encrypted link gives its no-key name. */
E4_API int64_t e4_readlink(struct e4_fs *fs, const char *path, char *buf, uint64_t size);
E4_API int64_t e4_inode_readlink(struct e4_inode *ip, char *buf, uint64_t size);

/* --- extended attributes --------------------------------------------------------------------------------------------- */

/* As getxattr(2), listxattr(2) on the object itself (links are not followed with E4_PATH_NOFOLLOW). size 0 asks for the length.
 * ACLs come in the form of the system calls. -ENODATA, -ERANGE. Root's view: trusted.* is shown. */
E4_API int64_t e4_getxattr(struct e4_fs *fs, const char *path, uint32_t flags, const char *name, void *buf, uint64_t size);
E4_API int64_t e4_listxattr(struct e4_fs *fs, const char *path, uint32_t flags, char *buf, uint64_t size);
E4_API int64_t e4_inode_getxattr(struct e4_inode *ip, const char *name, void *buf, uint64_t size);
E4_API int64_t e4_inode_listxattr(struct e4_inode *ip, char *buf, uint64_t size);

/* --- contexts -------------------------------------------------------------------------------------------------------- */

/* A context by hand, for fibres that move between threads; bind it before each entry, NULL goes back to the thread's own. */
E4_API int e4_context_new(struct e4_fs *fs, struct e4_context **ret);
E4_API int e4_context_bind(struct e4_fs *fs, struct e4_context *ctx);
E4_API void e4_context_free(struct e4_context *ctx);

/* --- counters -------------------------------------------------------------------------------------------------------- */

struct e4_counters {
	uint32_t struct_size;
	uint32_t reserved;
	uint64_t dev_reads, dev_read_bytes, dev_writes, dev_write_bytes, dev_flushes;
	uint64_t map_lookups;    /**< mappings looked up */
	uint64_t map_misses;     /**< of these, answered by reading the tree */
	uint64_t buf_hits, buf_misses; /**< metadata blocks */
	uint64_t extent_records; /**< extents held in memory */
	uint64_t extent_heap_bytes; /**< heap they use */
	uint64_t inodes_cached;
	uint64_t handles_started; /**< journal handles */
	uint64_t rmw_shared;     /**< atomic read-modify-writes (locks count two) by the calling thread, ever */
	uint64_t memory_bytes;   /**< held now, of everything */
	uint64_t errors;         /**< failures recorded */
};

E4_API int e4_counters(struct e4_fs *fs, struct e4_counters *ret);

E4_END_DECLS

#endif
