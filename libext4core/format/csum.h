/*
 * csum.h - which bytes each checksum covers and in which order (format/README.md "All checksums at a glance").
 *
 * Pure functions: they compute, the caller compares. All results are running CRC states, stored as they are.
 */
#ifndef FORMAT_CSUM_H
#define FORMAT_CSUM_H

#include "base/types.h"
#include "format/group_desc.h"
#include "format/inode.h"
#include "format/jbd2.h"
#include "format/super.h"

/* The seed of every metadata checksum of a volume: s_checksum_seed with csum_seed, else from the UUID. */
uint32_t csum_seed(const struct disk_super *s);
uint32_t csum_inode_seed(uint32_t seed, inum_t ino, uint32_t generation);

uint32_t csum_super(const struct disk_super *s);
/* desc points to desc_size bytes. */
uint16_t csum_group_desc_crc32c(uint32_t seed, group_t group, const void *desc, uint32_t desc_size);
uint16_t csum_group_desc_crc16(
	const uint8_t uuid[16], group_t group, const void *desc, uint32_t desc_size);
/* The first `bits / 8` bytes. */
uint32_t csum_bitmap(uint32_t seed, const void *bitmap, uint32_t bits);
/* raw: inode_size bytes; *ret_hi false when only the low 16 bits are stored. */
uint32_t csum_inode(uint32_t inode_seed, const void *raw, uint32_t inode_size, bool *ret_hi);
/* Over `len` bytes: an extent block up to its tail, a directory leaf up to its tail. */
uint32_t csum_run(uint32_t inode_seed, const void *block, uint32_t len);
/* An htree block: `used_len` bytes up to the end of the used entries, then the tail's reserved word and 4 zero bytes. */
uint32_t csum_htree(
	uint32_t inode_seed, const void *block, uint32_t used_len, const void *tail_reserved);
uint32_t csum_xattr_block(uint32_t seed, pblk_t pblk, const void *block, uint32_t block_size);
uint32_t csum_orphan_block(uint32_t inode_seed, pblk_t pblk, const void *block, uint32_t block_size);
uint32_t csum_mmp(uint32_t seed, const void *block);

/* Journal (journal.md). */
uint32_t csum_jbd2_seed(const uint8_t uuid[16]);
uint32_t csum_jbd2_super(const struct disk_jbd2_super *s);
/* A block whose checksum field is the 4 bytes at csum_offset. */
uint32_t csum_jbd2_block(uint32_t seed, const void *block, uint32_t block_size, uint32_t csum_offset);
/* A logged data block as it stands in the log. */
uint32_t csum_jbd2_data(uint32_t seed, tid_t tid, const void *block, uint32_t block_size);

#endif
