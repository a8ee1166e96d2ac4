/*
 * file_impl.h - what the files of the file room tell each other.
 */
#ifndef FILE_FILE_IMPL_H
#define FILE_FILE_IMPL_H

#include "file/file.h"
#include "file/memory.h"

/*
 * Bytes [offset, offset + len) of the inode's blocks as the map has them: whatever the inode is, past its size too, ciphertext where it
 * is encrypted. *ret_done counts what was read before an error.
 */
int file_read_blocks(struct inode *ip, struct memory *mem, uint64_t offset, uint64_t len,
	uint64_t *ret_done) E4_MUST_CHECK;
/* The same into one piece of memory, whole or not at all; inline data too. */
int file_read_raw(struct inode *ip, void *buf, uint64_t len, uint64_t offset) E4_MUST_CHECK;

#endif
