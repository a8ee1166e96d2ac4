/*
 * recover_impl.h - what the files of the recover room share.
 */
#ifndef RECOVER_RECOVER_IMPL_H
#define RECOVER_RECOVER_IMPL_H

#include "base/list.h"
#include "inode/inode.h"
#include "recover/recover.h"

#define RECOVER_HASH 256u

/* One extent of an inode's map, as a list. */
struct map_piece {
	lblk_t lblk;
	uint32_t len;
	pblk_t pblk;
	bool unwritten;
};

struct map_list {
	struct map_piece *pieces; /* sorted, not overlapping */
	uint32_t count, capacity;
	pblk_t *meta; /* blocks of the tree itself */
	uint32_t meta_count, meta_capacity;
};

/* An inode that recovery changes. Kept until the end, so that each is decoded once and written once. */
struct rinode {
	struct list hash;
	struct inode ip;
	struct buf *buf; /* of the inode table, joined */
	uint8_t *raw;
	bool map_loaded, map_changed;
	struct map_list map;
};

/* A group whose bitmaps or counters are looked at or changed. */
struct rgroup {
	struct list hash;
	group_t number;
	struct group_desc gd;
	uint8_t *block_bitmap, *inode_bitmap; /* own copies; NULL until needed */
	bool block_changed, inode_changed, changed;
};

/* Of whom usage is kept. */
enum quota_type {
	QUOTA_USER,
	QUOTA_GROUP,
	QUOTA_PROJECT,
	QUOTA_TYPES,
};

struct usage;

/* Physical blocks that may not be allocated, since a later record names them. */
struct claim {
	pblk_t pblk;
	uint32_t len;
};

struct recovery {
	struct env *env;
	struct volume *vol; /* reads from `work` */
	const struct recover_request *rq;
	struct journal *journal;      /* NULL: the volume has none */
	struct e4_blockdev *replayed; /* over the device: what the log holds */
	struct e4_blockdev *work;     /* over that: what fast commits and orphans change */
	struct journal_recovery log;
	struct disk_super super; /* as it will be, with RECOVER still set */
	struct list dirty;       /* joined bufs */
	uint32_t dirty_count;
	struct list groups[RECOVER_HASH];
	struct list inodes[RECOVER_HASH];
	uint32_t group_count;
	uint32_t dirty_limit; /* stop between two orphans at so many blocks; 0 = never */
	bool more;            /* stopped there */
	bool idle;            /* it changed nothing on the device */
	bool progress;        /* an orphan was processed, or made smaller */
	bool forced; /* the round before changed nothing: begin with an orphan whatever the limit */
	struct claim *claims; /* sorted */
	uint32_t claim_count;
	group_t alloc_hint;
	struct usage *usage; /* NULL: not tracked, or nothing will be written */
	uint32_t now;        /* seconds: the i_dtime of what is deleted */
	struct e4_replay_result *result;
};

/* open_journal.c */
int open_journal(struct volume *vol, struct e4_blockdev *dev, struct e4_blockdev *home_dev,
	struct e4_blockdev *external, struct journal **ret) E4_MUST_CHECK;

/* tx.c: blocks */
int tx_get(struct recovery *r, pblk_t pblk, const struct buf_kind *kind, inum_t ino, uint32_t seed,
	struct buf **ret) E4_MUST_CHECK;
int tx_get_zeroed(struct recovery *r, pblk_t pblk, const struct buf_kind *kind, inum_t ino,
	uint32_t seed, struct buf **ret) E4_MUST_CHECK;
/* Writes all joined bufs into the overlay. */
int tx_write(struct recovery *r) E4_MUST_CHECK;
void tx_drop(struct recovery *r);

/* bitmap.c: blocks and inodes in use */
int bitmap_prepare_blocks(struct recovery *r, pblk_t pblk, uint64_t len) E4_MUST_CHECK;
int bitmap_prepare_inode(struct recovery *r, inum_t ino) E4_MUST_CHECK;
int bitmap_free_blocks(struct recovery *r, pblk_t pblk, uint64_t len) E4_MUST_CHECK;
int bitmap_use_blocks(struct recovery *r, pblk_t pblk, uint64_t len) E4_MUST_CHECK;
int bitmap_alloc_block(struct recovery *r, pblk_t goal, pblk_t *ret) E4_MUST_CHECK;
int bitmap_inode_used(struct recovery *r, inum_t ino, bool *ret) E4_MUST_CHECK;
int bitmap_free_inode(struct recovery *r, inum_t ino, bool is_dir) E4_MUST_CHECK;
int bitmap_use_inode(struct recovery *r, inum_t ino, bool is_dir) E4_MUST_CHECK;
int bitmap_add_dirs(struct recovery *r, inum_t ino, int delta) E4_MUST_CHECK;
/* Bitmaps and descriptors into their blocks, totals into r->super. */
int bitmap_write(struct recovery *r) E4_MUST_CHECK;
void bitmap_drop(struct recovery *r);

/* inode_edit.c */
int rinode_get(struct recovery *r, inum_t ino, enum inode_purpose purpose,
	struct rinode **ret) E4_MUST_CHECK;
/* Forgets what was decoded and decodes the raw bytes again, after they were overwritten. */
int rinode_reload(struct recovery *r, inum_t ino, enum inode_purpose purpose,
	struct rinode **ret) E4_MUST_CHECK;
void rinode_store(struct rinode *ri);
/* The checksum of raw bytes that were put together by hand. */
void rinode_seal_raw(const struct recovery *r, inum_t ino, uint8_t *raw);
void rinodes_drop(struct recovery *r);
bool rinode_has_map(const struct rinode *ri);
/* Deletes: blocks, attributes, number. Changes nothing when it fails before the first change (*ret_changed). */
int rinode_delete(struct recovery *r, struct rinode *ri, bool *ret_changed) E4_MUST_CHECK;
/* i_blocks from the map, the xattr block and the EA values. */
int rinode_count_blocks(struct recovery *r, struct rinode *ri) E4_MUST_CHECK;

/* extent_edit.c: maps as lists */
int map_load(struct recovery *r, struct rinode *ri) E4_MUST_CHECK;
/* Unmaps [lblk, end) and frees what no other piece needs. */
int map_remove(struct recovery *r, struct rinode *ri, uint64_t lblk, uint64_t end) E4_MUST_CHECK;
/* Makes [lblk, + len) map to exactly this. */
int map_set(struct recovery *r, struct rinode *ri, const struct map_piece *piece) E4_MUST_CHECK;
const struct map_piece *map_find(const struct rinode *ri, lblk_t lblk);
/* A fresh tree for the list; counts i_blocks; stores the inode. */
int map_write(struct recovery *r, struct rinode *ri) E4_MUST_CHECK;
void map_fini(struct env *env, struct map_list *m);

/* indirect_edit.c */
int indirect_truncate(
	struct recovery *r, struct rinode *ri, uint64_t first, bool *ret_changed) E4_MUST_CHECK;

/* Frees what lies behind `first`, in place: only the path to the cut changes, however large the tree is. Stores the inode. */
int map_cut(struct recovery *r, struct rinode *ri, uint64_t first) E4_MUST_CHECK;

/* shrink.c */
int shrink_orphan(
	struct recovery *r, struct rinode *ri, uint64_t first, bool *ret_changed) E4_MUST_CHECK;

/* recover.c: blocks that this round changes so far, at most */
uint32_t recover_blocks_changed(const struct recovery *r);

/* orphans.c */
bool orphans_present(const struct recovery *r);
int orphans_process(struct recovery *r) E4_MUST_CHECK;
/* Whether ino stands on the list of the superblock (1, 0). */
int orphans_on_list(struct recovery *r, inum_t ino) E4_MUST_CHECK;

/* fastcommit.c */
int fastcommit_replay(struct recovery *r) E4_MUST_CHECK;

/* dir_edit.c */
int dir_edit_add(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	inum_t ino, uint8_t type) E4_MUST_CHECK;
/* 1 removed, 0 when the name is not there or names another inode. */
int dir_edit_remove(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	inum_t ino) E4_MUST_CHECK;
/* The exact name: 1 and *ret_ino, 0. */
int dir_edit_find(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	inum_t *ret_ino) E4_MUST_CHECK;
/* The first block of a new directory. */
int dir_edit_init(struct recovery *r, struct rinode *dir, inum_t parent) E4_MUST_CHECK;

/* usage.c: who is charged */
int usage_begin(struct recovery *r) E4_MUST_CHECK;
int usage_note_inode(struct recovery *r, struct inode *ip) E4_MUST_CHECK;
int usage_note_free(struct recovery *r, inum_t ino) E4_MUST_CHECK;
/* Blocks that usage_write() will change at most, if no entry has to be made. */
uint32_t usage_blocks(const struct recovery *r);
int usage_write(struct recovery *r) E4_MUST_CHECK;
void usage_drop(struct recovery *r);

/* store.c: for good */
int store_super(
	struct recovery *r, struct e4_blockdev *dev, bool recover, uint32_t flags) E4_MUST_CHECK;
int store_for_good(struct recovery *r) E4_MUST_CHECK;
int store_in_memory(struct recovery *r) E4_MUST_CHECK;

#endif
