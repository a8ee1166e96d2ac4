/* inode_impl.h - what the files of the inode room share. */
#ifndef INODE_INODE_IMPL_H
#define INODE_INODE_IMPL_H

#include "inode/inode.h"

/* s_creator_os */
enum creator_os {
	CREATOR_LINUX = 0,
	CREATOR_HURD = 1,
};

/* --- check.c --- */

/* Whether an inode of this number may be loaded for `purpose` at all. Needs no I/O. */
int inode_check_number(struct volume *vol, inum_t ino, enum inode_purpose purpose) E4_MUST_CHECK;
/* Bytes as they stand: i_extra_isize and checksum. */
int inode_check_raw(struct volume *vol, inum_t ino, const void *raw) E4_MUST_CHECK;
/* Whether it is allocated, and an EA inode or not, as `purpose` wants it. Costs nothing, so cached inodes are asked each time. */
int inode_check_purpose(const struct inode *ip, enum inode_purpose purpose) E4_MUST_CHECK;
/* What must hold for every inode in use. May read descriptors, to know whether i_file_acl is metadata. */
int inode_check_fields(const struct inode *ip, enum inode_purpose purpose) E4_MUST_CHECK;
/* Linux keeps inode checksums only on volumes that Linux made. */
bool inode_has_csum(const struct volume *vol);

/* --- codec.c --- */

/* inode_decode() into an inode whose vol and ino are set and whose decoded fields are zero; touches nothing of the cache's. */
int inode_fill(struct inode *ip, const void *raw, enum inode_purpose purpose) E4_MUST_CHECK;

/* --- table.c --- */

/* Reads the inode's slot and fills it in. Takes no lock while reading. */
int inode_read(struct inode *ip, enum inode_purpose purpose) E4_MUST_CHECK;

/* --- cache.c --- */

xattr_read_inode_fn inode_cache_reader(const struct inode_cache *cache);

/* --- xattr_area.c --- */

/* One place that holds attributes, checked: names chain from `first` to `names_end`, values lie between that and `end`. */
struct xattr_area {
	struct volume *vol;
	inum_t ino;
	pblk_t pblk;              /* 0 = in the inode */
	const uint8_t *first;     /* the first entry */
	const uint8_t *names_end; /* the terminator behind the last */
	const uint8_t *base;      /* value offsets count from here */
	const uint8_t *end;       /* one past the area */
};

/* The area in raw inode bytes: 1, 0 when there is none, negative errno when it is bad. */
int xattr_area_in_inode(
	struct volume *vol, inum_t ino, const void *raw, struct xattr_area *ret) E4_MUST_CHECK;
/* The area in a block that was got as buf_kind_xattr. */
int xattr_area_in_block(
	struct volume *vol, inum_t ino, const struct buf *b, struct xattr_area *ret) E4_MUST_CHECK;
/* The entry at *at and a step: 1, 0 at the end, negative errno. *at starts at area->first; v->buf is not set. */
int xattr_area_next(
	const struct xattr_area *area, const uint8_t **at, struct xattr_value *v) E4_MUST_CHECK;

/* --- xattr.c --- */

/* xattr_find() in the inode itself only. */
int xattr_find_in_inode(struct inode *ip, uint8_t index, const char *suffix, uint32_t suffix_len,
	struct xattr_value *ret) E4_MUST_CHECK;

/* --- acl.c --- */

/* xattr_get() for index XATTR_INDEX_ACL_ACCESS or _DEFAULT. */
int64_t acl_get(struct inode *ip, uint8_t index, void *buf, uint64_t size) E4_MUST_CHECK;

#endif
