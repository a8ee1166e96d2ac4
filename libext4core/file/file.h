/*
 * file.h - the face of the file room: bytes of files, links, EA values.
 */
#ifndef FILE_FILE_H
#define FILE_FILE_H

#include "inode/inode.h"

#include <ext4core/blockdev.h>

/* pread(2) over several pieces of memory: bytes, 0 at the end, negative errno. Short only at the end, or before a failing block. */
int64_t file_read(struct inode *ip, const struct e4_iovec *iov, uint32_t iov_count,
	uint64_t offset) E4_MUST_CHECK;
/* All of [offset, offset + len) or an error; for the library's own readers. */
int file_read_exact(struct inode *ip, void *buf, uint64_t len, uint64_t offset) E4_MUST_CHECK;
/* The link's target into buf (at most size bytes, no NUL); returns its whole length. Encrypted: the no-key form. */
int64_t file_readlink(struct inode *ip, char *buf, uint64_t size) E4_MUST_CHECK;
/* For xattr_set_reader(). */
int file_read_ea(struct inode *ea, void *buf, uint64_t len) E4_MUST_CHECK;
/* fs-verity descriptor with signature: length, as much as fits. -ENODATA when the file has none. */
int64_t file_verity_descriptor(struct inode *ip, void *buf, uint64_t size) E4_MUST_CHECK;
int file_dax_map(struct inode *ip, uint64_t offset, uint64_t len, const void **ret,
	uint64_t *ret_len) E4_MUST_CHECK;

#endif
