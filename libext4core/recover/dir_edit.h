/*
 * dir_edit.h - what dir_edit.c and dir_index.c share.
 */
#ifndef RECOVER_DIR_EDIT_H
#define RECOVER_DIR_EDIT_H

#include "dir/dir.h"
#include "format/dirent.h"
#include "recover/recover_impl.h"

/* Bytes that hold a chain of entries. */
struct chain {
	uint8_t *data;
	uint32_t size; /* no entry reaches beyond */
	uint32_t len;  /* entries begin before; behind it is the checksum tail */
	inum_t ino;    /* the directory */
};

struct found {
	struct buf *buf; /* NULL: inline */
	struct chain chain;
	uint32_t at, prev; /* prev UINT32_MAX: first of its chain */
	inum_t ino;
};

struct new_entry {
	const uint8_t *name;
	uint32_t len;
	inum_t ino;
	uint8_t type;
};

struct chain dir_chain_of_block(
	const struct recovery *r, const struct rinode *dir, uint8_t *data, bool leaf);
int dir_chain_find(struct recovery *r, const struct rinode *dir, const struct chain *c,
	const uint8_t *name, uint32_t len, struct found *ret) E4_MUST_CHECK;
/* 1 when the chain had room. */
int dir_chain_add(struct recovery *r, const struct chain *c, const struct new_entry *e) E4_MUST_CHECK;
void dir_put_entry(const struct recovery *r, void *at, uint32_t rec_len, const struct new_entry *e);
void dir_make_empty_block(const struct recovery *r, uint8_t *data);
uint32_t dir_edit_blocks(const struct recovery *r, const struct rinode *dir);
int dir_edit_block(struct recovery *r, struct rinode *dir, lblk_t lblk, const struct buf_kind *kind,
	struct buf **ret) E4_MUST_CHECK;
int dir_edit_append(struct recovery *r, struct rinode *dir, const struct buf_kind *kind,
	lblk_t *ret_lblk, struct buf **ret) E4_MUST_CHECK;

/* dir_index.c */
int dir_index_find(struct recovery *r, struct rinode *dir, const uint8_t *name, uint32_t len,
	struct found *ret) E4_MUST_CHECK;
int dir_index_add(struct recovery *r, struct rinode *dir, const struct new_entry *e) E4_MUST_CHECK;

#endif
