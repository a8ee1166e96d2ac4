/* features.h - feature flags of the superblock (format/features.md). */
#ifndef FORMAT_FEATURES_H
#define FORMAT_FEATURES_H

#include "base/types.h"

/* FEATURE(set, name, bit, label): label is the word mke2fs uses. */
#define FEATURES(FEATURE)                                                                          \
	FEATURE(COMPAT, DIR_PREALLOC, 0x1, "dir_prealloc")                                         \
	FEATURE(COMPAT, IMAGIC_INODES, 0x2, "imagic_inodes")                                       \
	FEATURE(COMPAT, HAS_JOURNAL, 0x4, "has_journal")                                           \
	FEATURE(COMPAT, EXT_ATTR, 0x8, "ext_attr")                                                 \
	FEATURE(COMPAT, RESIZE_INODE, 0x10, "resize_inode")                                        \
	FEATURE(COMPAT, DIR_INDEX, 0x20, "dir_index")                                              \
	FEATURE(COMPAT, LAZY_BG, 0x40, "lazy_bg")                                                  \
	FEATURE(COMPAT, EXCLUDE_INODE, 0x80, "exclude_inode")                                      \
	FEATURE(COMPAT, EXCLUDE_BITMAP, 0x100, "exclude_bitmap")                                   \
	FEATURE(COMPAT, SPARSE_SUPER2, 0x200, "sparse_super2")                                     \
	FEATURE(COMPAT, FAST_COMMIT, 0x400, "fast_commit")                                         \
	FEATURE(COMPAT, STABLE_INODES, 0x800, "stable_inodes")                                     \
	FEATURE(COMPAT, ORPHAN_FILE, 0x1000, "orphan_file")                                        \
	FEATURE(INCOMPAT, COMPRESSION, 0x1, "compression")                                         \
	FEATURE(INCOMPAT, FILETYPE, 0x2, "filetype")                                               \
	FEATURE(INCOMPAT, RECOVER, 0x4, "needs_recovery")                                          \
	FEATURE(INCOMPAT, JOURNAL_DEV, 0x8, "journal_dev")                                         \
	FEATURE(INCOMPAT, META_BG, 0x10, "meta_bg")                                                \
	FEATURE(INCOMPAT, EXTENTS, 0x40, "extent")                                                 \
	FEATURE(INCOMPAT, 64BIT, 0x80, "64bit")                                                    \
	FEATURE(INCOMPAT, MMP, 0x100, "mmp")                                                       \
	FEATURE(INCOMPAT, FLEX_BG, 0x200, "flex_bg")                                               \
	FEATURE(INCOMPAT, EA_INODE, 0x400, "ea_inode")                                             \
	FEATURE(INCOMPAT, DIRDATA, 0x1000, "dirdata")                                              \
	FEATURE(INCOMPAT, CSUM_SEED, 0x2000, "metadata_csum_seed")                                 \
	FEATURE(INCOMPAT, LARGEDIR, 0x4000, "large_dir")                                           \
	FEATURE(INCOMPAT, INLINE_DATA, 0x8000, "inline_data")                                      \
	FEATURE(INCOMPAT, ENCRYPT, 0x10000, "encrypt")                                             \
	FEATURE(INCOMPAT, CASEFOLD, 0x20000, "casefold")                                           \
	FEATURE(RO_COMPAT, SPARSE_SUPER, 0x1, "sparse_super")                                      \
	FEATURE(RO_COMPAT, LARGE_FILE, 0x2, "large_file")                                          \
	FEATURE(RO_COMPAT, BTREE_DIR, 0x4, "btree_dir")                                            \
	FEATURE(RO_COMPAT, HUGE_FILE, 0x8, "huge_file")                                            \
	FEATURE(RO_COMPAT, GDT_CSUM, 0x10, "uninit_bg")                                            \
	FEATURE(RO_COMPAT, DIR_NLINK, 0x20, "dir_nlink")                                           \
	FEATURE(RO_COMPAT, EXTRA_ISIZE, 0x40, "extra_isize")                                       \
	FEATURE(RO_COMPAT, HAS_SNAPSHOT, 0x80, "snapshot")                                         \
	FEATURE(RO_COMPAT, QUOTA, 0x100, "quota")                                                  \
	FEATURE(RO_COMPAT, BIGALLOC, 0x200, "bigalloc")                                            \
	FEATURE(RO_COMPAT, METADATA_CSUM, 0x400, "metadata_csum")                                  \
	FEATURE(RO_COMPAT, REPLICA, 0x800, "replica")                                              \
	FEATURE(RO_COMPAT, READONLY, 0x1000, "read-only")                                          \
	FEATURE(RO_COMPAT, PROJECT, 0x2000, "project")                                             \
	FEATURE(RO_COMPAT, SHARED_BLOCKS, 0x4000, "shared_blocks")                                 \
	FEATURE(RO_COMPAT, VERITY, 0x8000, "verity")                                               \
	FEATURE(RO_COMPAT, ORPHAN_PRESENT, 0x10000, "orphan_present")

enum feature {
#define FEATURE(set, name, bit, label) FEATURE_##set##_##name = (bit),
	FEATURES(FEATURE)
#undef FEATURE
};

/* Journal features (journal.md). */
enum jbd2_feature {
	JBD2_COMPAT_CHECKSUM = 0x1,
	JBD2_INCOMPAT_REVOKE = 0x1,
	JBD2_INCOMPAT_64BIT = 0x2,
	JBD2_INCOMPAT_ASYNC_COMMIT = 0x4,
	JBD2_INCOMPAT_CSUM_V2 = 0x8,
	JBD2_INCOMPAT_CSUM_V3 = 0x10,
	JBD2_INCOMPAT_FAST_COMMIT = 0x20,
	JBD2_INCOMPAT_KNOWN = 0x3F,
};

#endif
