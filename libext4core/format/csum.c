/*
 * csum.c - the checksums of all on-disk structures.
 *
 * Owns:    nothing; pure functions.
 * Locks:   none.
 * Always:  a field that holds the result is taken as zero (or left out), as the format says for each.
 */
#include "format/csum.h"

#include "base/crc32c.h"
#include "format/features.h"
#include "format/orphan_file.h"
#include "format/xattr.h"

#include <string.h>

static const uint8_t zeros[8];

/* Over a block of `len` bytes whose 4 bytes at `hole` count as zero. */
static uint32_t with_hole(uint32_t state, const void *block, size_t len, size_t hole)
{
	const uint8_t *p = block;

	state = crc32c(state, p, hole);
	state = crc32c(state, zeros, 4);
	return crc32c(state, p + hole + 4, len - hole - 4);
}

uint32_t csum_seed(const struct disk_super *s)
{
	if (disk_super_has_incompat(s, FEATURE_INCOMPAT_CSUM_SEED))
		return le32_get(s->checksum_seed);
	return crc32c(CRC32C_SEED, s->uuid, sizeof(s->uuid));
}

uint32_t csum_inode_seed(uint32_t seed, inum_t ino, uint32_t generation)
{
	struct le32 words[2] = {le32_put(ino), le32_put(generation)};

	return crc32c(seed, words, sizeof(words));
}

uint32_t csum_super(const struct disk_super *s)
{
	return crc32c(CRC32C_SEED, s, offsetof(struct disk_super, checksum));
}

uint16_t csum_group_desc_crc32c(uint32_t seed, group_t group, const void *desc, uint32_t desc_size)
{
	const uint8_t *p = desc;
	struct le32 g = le32_put(group);
	size_t field = offsetof(struct disk_group_desc, checksum);
	uint32_t state = crc32c(seed, &g, sizeof(g));

	state = crc32c(state, p, field);
	state = crc32c(state, zeros, 2);
	state = crc32c(state, p + field + 2, desc_size - field - 2);
	return (uint16_t)state;
}

uint16_t csum_group_desc_crc16(
	const uint8_t uuid[16], group_t group, const void *desc, uint32_t desc_size)
{
	const uint8_t *p = desc;
	struct le32 g = le32_put(group);
	size_t field = offsetof(struct disk_group_desc, checksum);
	uint16_t state = crc16(0xFFFF, uuid, 16);

	state = crc16(state, &g, sizeof(g));
	state = crc16(state, p, field);
	if (desc_size > GROUP_DESC_SIZE_MIN)
		state = crc16(state, p + field + 2, desc_size - field - 2);
	return state;
}

uint32_t csum_bitmap(uint32_t seed, const void *bitmap, uint32_t bits)
{
	return crc32c(seed, bitmap, bits / 8);
}

uint32_t csum_inode(uint32_t inode_seed, const void *raw, uint32_t inode_size, bool *ret_hi)
{
	const uint8_t *p = raw;
	const struct disk_inode *di = raw;
	size_t lo = offsetof(struct disk_inode, checksum_lo);
	size_t hi = offsetof(struct disk_inode, checksum_hi);
	bool has_hi = inode_size > INODE_CLASSIC_SIZE &&
		      INODE_CLASSIC_SIZE + le16_get(di->extra_isize) >= INODE_FIELD_END(checksum_hi);
	uint32_t state = crc32c(inode_seed, p, lo);

	state = crc32c(state, zeros, 2);
	state = crc32c(state, p + lo + 2, INODE_CLASSIC_SIZE - lo - 2);
	if (inode_size > INODE_CLASSIC_SIZE) {
		state = crc32c(state, p + INODE_CLASSIC_SIZE, hi - INODE_CLASSIC_SIZE);
		state = crc32c(state, has_hi ? zeros : p + hi, 2);
		state = crc32c(state, p + hi + 2, inode_size - hi - 2);
	}
	*ret_hi = has_hi;
	return state;
}

uint32_t csum_run(uint32_t inode_seed, const void *block, uint32_t len)
{
	return crc32c(inode_seed, block, len);
}

uint32_t csum_htree(
	uint32_t inode_seed, const void *block, uint32_t used_len, const void *tail_reserved)
{
	uint32_t state = crc32c(inode_seed, block, used_len);

	state = crc32c(state, tail_reserved, 4);
	return crc32c(state, zeros, 4);
}

uint32_t csum_xattr_block(uint32_t seed, pblk_t pblk, const void *block, uint32_t block_size)
{
	struct le64 nr = le64_put(pblk);

	return with_hole(crc32c(seed, &nr, sizeof(nr)), block, block_size,
		offsetof(struct disk_xattr_block_header, checksum));
}

uint32_t csum_orphan_block(uint32_t inode_seed, pblk_t pblk, const void *block, uint32_t block_size)
{
	struct le64 nr = le64_put(pblk);

	return crc32c(crc32c(inode_seed, &nr, sizeof(nr)), block,
		block_size - sizeof(struct disk_orphan_tail));
}

uint32_t csum_mmp(uint32_t seed, const void *block)
{
	return crc32c(seed, block, MMP_CSUM_OFFSET);
}

uint32_t csum_jbd2_seed(const uint8_t uuid[16])
{
	return crc32c(CRC32C_SEED, uuid, 16);
}

uint32_t csum_jbd2_super(const struct disk_jbd2_super *s)
{
	return with_hole(CRC32C_SEED, s, sizeof(*s), offsetof(struct disk_jbd2_super, checksum));
}

uint32_t csum_jbd2_block(uint32_t seed, const void *block, uint32_t block_size, uint32_t csum_offset)
{
	return with_hole(seed, block, block_size, csum_offset);
}

uint32_t csum_jbd2_data(uint32_t seed, tid_t tid, const void *block, uint32_t block_size)
{
	struct be32 t = be32_put(tid);

	return crc32c(crc32c(seed, &t, sizeof(t)), block, block_size);
}
