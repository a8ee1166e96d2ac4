/*
 * fixture.h - a volume laid out by hand in memory, for the tests of the inode room: 1 KiB blocks, one group of 256 inodes of 256
 * bytes, metadata_csum unless a test says otherwise. Inodes and blocks are put in raw.
 */
#ifndef TESTS_INODE_FIXTURE_H
#define TESTS_INODE_FIXTURE_H

#include "inode/inode.h"

#define FX_BLOCK      1024u
#define FX_BLOCKS     4096u
#define FX_INODES     256u
#define FX_TABLE      5u   /* block of the inode table */
#define FX_DATA       200u /* first block that is nobody's metadata */
#define FX_INODE_SIZE 256u
#define FX_FILE       20u /* an ordinary inode */

struct fixture {
	struct env *env;
	struct e4_blockdev *dev;
	struct volume *vol;
	struct volume_options opts;
	struct disk_super super;
	uint32_t itable_unused;
	uint16_t group_flags;
};

extern struct fixture fx;

/* For tcase_add_checked_fixture: everything but the volume, which fx_load() loads once a test has changed fx.super. */
void fx_setup(void);
void fx_teardown(void);
void fx_load(void);
/* As fx_load(), without metadata_csum. */
void fx_load_without_csum(void);

/* A regular file's raw inode: one link, no blocks, 32 bytes of extra fields. Room for any inode size. */
struct fx_inode {
	union {
		struct disk_inode d;
		uint8_t raw[FX_BLOCK];
	};
};
struct fx_inode fx_inode_new(uint16_t mode);
/* Seals the checksum and writes it to its slot (or, not sealed, as it stands); what was cached is forgotten. */
void fx_put(inum_t ino, struct fx_inode *i);
void fx_put_unsealed(inum_t ino, const struct fx_inode *i);
void fx_put_block(pblk_t pblk, const void *data);
/* The same for an attribute block, with its checksum set right. */
void fx_put_xattr_block(pblk_t pblk, void *block);

/* Name of the newest failure's reason in this thread. */
const char *fx_why(void);
/* Decodes as INODE_FOR_USE; returns the error. */
int fx_decode(struct fx_inode *i, struct inode *ip);

/* --- attribute areas --- */

struct fx_xattr {
	uint8_t index;
	const char *name;
	const void *value;
	uint32_t size;
	inum_t value_ino;
	uint32_t hash;
};
/* Entries from `first` on, values from the end down; offsets count from `base`. */
void fx_xattr_fill(
	uint8_t *base, uint8_t *first, uint8_t *end, const struct fx_xattr *x, uint32_t count);
/* Behind the extra fields of an inode. */
void fx_xattr_in_inode(struct fx_inode *i, const struct fx_xattr *x, uint32_t count);
/* A whole block with its header and checksum, at pblk. */
void fx_xattr_in_block(pblk_t pblk, const struct fx_xattr *x, uint32_t count);

#endif
