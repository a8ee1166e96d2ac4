/*
 * ondisk_check.c - sizes and offsets of every on-disk struct, held at build time.
 *
 * Owns:    nothing; compiles to nothing.
 * Locks:   none.
 * Always:  the numbers are those of format/ *.md.
 */
#include "format/dirent.h"
#include "format/extent.h"
#include "format/group_desc.h"
#include "format/htree.h"
#include "format/inode.h"
#include "format/jbd2.h"
#include "format/orphan_file.h"
#include "format/super.h"
#include "format/xattr.h"

#include <assert.h>
#include <stddef.h>

#define SIZE(type, size) static_assert(sizeof(struct type) == (size), #type)
#define OFF(type, field, offs)                                                                     \
	static_assert(offsetof(struct type, field) == (offs), #type "." #field)

SIZE(disk_super, 1024);
OFF(disk_super, mtime, 0x2C);
OFF(disk_super, magic, 0x38);
OFF(disk_super, rev_level, 0x4C);
OFF(disk_super, feature_compat, 0x5C);
OFF(disk_super, uuid, 0x68);
OFF(disk_super, last_mounted, 0x88);
OFF(disk_super, reserved_gdt_blocks, 0xCE);
OFF(disk_super, journal_uuid, 0xD0);
OFF(disk_super, last_orphan, 0xE8);
OFF(disk_super, hash_seed, 0xEC);
OFF(disk_super, desc_size, 0xFE);
OFF(disk_super, jnl_blocks, 0x10C);
OFF(disk_super, blocks_count_hi, 0x150);
OFF(disk_super, flags, 0x160);
OFF(disk_super, mmp_block, 0x168);
OFF(disk_super, kbytes_written, 0x178);
OFF(disk_super, error_count, SUPER_ERROR_RECORD_FIRST);
OFF(disk_super, first_error_block, 0x1A0);
OFF(disk_super, last_error_time, 0x1CC);
OFF(disk_super, last_error_block, 0x1D8);
OFF(disk_super, mount_opts, SUPER_ERROR_RECORD_END);
OFF(disk_super, usr_quota_inum, 0x240);
OFF(disk_super, backup_bgs, 0x24C);
OFF(disk_super, prj_quota_inum, 0x26C);
OFF(disk_super, checksum_seed, 0x270);
OFF(disk_super, encoding, 0x27C);
OFF(disk_super, orphan_file_inum, 0x280);
OFF(disk_super, checksum, 0x3FC);

SIZE(disk_group_desc, 64);
OFF(disk_group_desc, flags, 0x12);
OFF(disk_group_desc, itable_unused_lo, 0x1C);
OFF(disk_group_desc, checksum, 0x1E);
OFF(disk_group_desc, block_bitmap_hi, 0x20);
OFF(disk_group_desc, itable_unused_hi, 0x32);
OFF(disk_group_desc, inode_bitmap_csum_hi, 0x3A);

SIZE(disk_inode, 160);
OFF(disk_inode, dtime, 0x14);
OFF(disk_inode, flags, 0x20);
OFF(disk_inode, block, 0x28);
OFF(disk_inode, generation, 0x64);
OFF(disk_inode, size_hi, 0x6C);
OFF(disk_inode, checksum_lo, 0x7C);
OFF(disk_inode, extra_isize, 0x80);
OFF(disk_inode, checksum_hi, 0x82);
OFF(disk_inode, crtime, 0x90);
OFF(disk_inode, projid, 0x9C);

SIZE(disk_extent_header, 12);
SIZE(disk_extent, 12);
SIZE(disk_extent_idx, 12);
SIZE(disk_dirent, 8);
SIZE(disk_dirent_tail, 12);
SIZE(disk_htree_root_info, 8);
SIZE(disk_htree_countlimit, 4);
SIZE(disk_htree_entry, 8);
SIZE(disk_htree_tail, 8);
SIZE(disk_xattr_block_header, 32);
OFF(disk_xattr_block_header, checksum, 0x10);
SIZE(disk_xattr_entry, 16);
SIZE(disk_orphan_tail, 8);
SIZE(disk_mmp, 1024);
OFF(disk_mmp, check_interval, 0x70);
OFF(disk_mmp, checksum, MMP_CSUM_OFFSET);

SIZE(disk_jbd2_header, 12);
SIZE(disk_jbd2_super, 1024);
OFF(disk_jbd2_super, start, 0x1C);
OFF(disk_jbd2_super, uuid, 0x30);
OFF(disk_jbd2_super, num_fc_blks, 0x54);
OFF(disk_jbd2_super, head, 0x58);
OFF(disk_jbd2_super, checksum, 0xFC);
SIZE(disk_jbd2_tag3, 16);
SIZE(disk_jbd2_tag, 8);
SIZE(disk_jbd2_revoke, 16);
SIZE(disk_jbd2_commit, 60);
OFF(disk_jbd2_commit, commit_sec, 0x30);
SIZE(disk_fc_tl, 4);
