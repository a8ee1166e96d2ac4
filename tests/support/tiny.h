/*
 * tiny.h - the smallest volume that mounts, laid out in memory, for tests that want to place every byte themselves.
 *
 * 1 KiB blocks, one group of TINY_BLOCKS blocks, 64 inodes of 256 bytes, no journal, extents, filetype, dir_index; no checksums, so that
 * what a test changes stays acceptable. Inode 2 is an empty root of one block. Blocks from TINY_FREE on are free for the test.
 */
#ifndef TESTS_TINY_H
#define TESTS_TINY_H

#include "format/inode.h"
#include "format/super.h"

#include <ext4core/blockdev.h>

#define TINY_BLOCK  1024u
#define TINY_BLOCKS 256u
#define TINY_BYTES  (TINY_BLOCK * TINY_BLOCKS)
#define TINY_INODES 64u
#define TINY_ROOT   22u /* the root directory's block */
#define TINY_FREE   24u

/* Fills bytes[TINY_BYTES]. */
void tiny_format(uint8_t *bytes);
struct disk_super *tiny_super(uint8_t *bytes);
struct disk_inode *tiny_inode(uint8_t *bytes, uint32_t ino);
/* Makes ino a file or directory (mode with type) of `blocks` blocks from `first`, one extent. */
void tiny_map(uint8_t *bytes, uint32_t ino, uint16_t mode, uint32_t first, uint16_t blocks,
	uint64_t size);
/* Adds an entry to the root's block (there is room for a few). */
void tiny_link(uint8_t *bytes, uint32_t ino, uint8_t type, const char *name);
/* A read-only device over bytes, which must outlive it. */
int tiny_device(const uint8_t *bytes, uint64_t size, struct e4_blockdev **ret);

#endif
