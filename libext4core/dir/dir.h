/*
 * dir.h - the face of the directory room: lookup and iteration, for linear, inline and indexed directories.
 *
 * An indexed directory is looked up by hash, never by scanning, unless its index is bad: then it is scanned and the fault reported.
 */
#ifndef DIR_DIR_H
#define DIR_DIR_H

#include "dir/casefold.h"
#include "inode/inode.h"

#include <ext4core/dir.h>

/* A name's place in the index (directories.md "Hash functions"). version: enum hash_version, unsigned variants resolved by the caller. */
struct dir_hash {
	uint32_t hash, minor;
};
/* seed: four native words. Never fails: an unknown version gives -EOPNOTSUPP from the callers that read it from disk. */
struct dir_hash dir_hash_name(
	uint8_t version, const uint32_t seed[4], const uint8_t *name, uint32_t len);

/*
 * Looks `name` up in directory ip (in a casefolded directory by its folded form, in an encrypted one by its no-key name). 1 and *ret_ino,
 * 0 not there, negative errno. "." and ".." are entries like others. -ENOTDIR, -ENAMETOOLONG.
 */
int dir_lookup(struct inode *ip, const char *name, uint32_t len, inum_t *ret_ino,
	uint8_t *ret_type) E4_MUST_CHECK;

/* A position in a directory; one thread at a time. The inode is borrowed until dir_iter_free(). */
struct dir_iter;
int dir_iter_new(struct inode *ip, struct dir_iter **ret) E4_MUST_CHECK;
void dir_iter_free(struct dir_iter *it);
/* 1 and an entry, 0 at the end, negative errno. Order and cookies as the kernel's ("readdir order and positions"). */
int dir_iter_next(struct dir_iter *it, struct e4_dirent *ret) E4_MUST_CHECK;
int dir_iter_seek(struct dir_iter *it, uint64_t cookie) E4_MUST_CHECK;
uint64_t dir_iter_tell(const struct dir_iter *it);

/* No-key form of an encrypted name (orphans-mmp-...md 5.5): at most 252 characters and NUL into buf[256]; returns the length. */
uint32_t dir_nokey_name(const struct dir_hash *h, const uint8_t *cipher, uint32_t len, char buf[256]);

extern const struct buf_kind buf_kind_dir_leaf;
extern const struct buf_kind buf_kind_dir_root;
extern const struct buf_kind buf_kind_dir_node;

/*
 * For recovery: the raw entries of one block's or inline area's bytes, used or not, each checked. 1 and in *ret_entry the place of the
 * entry at *offset, which moves past it; 0 at the end (the checksum tail of a block is no entry); -EUCLEAN.
 */
int dir_block_next(const struct buf_owner *o, const uint8_t *area, uint32_t area_len,
	uint32_t *offset, uint32_t *ret_entry) E4_MUST_CHECK;

#endif
