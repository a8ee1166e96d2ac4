/*
 * verity.c - the fs-verity descriptor of a file: found from the end of its last extent backwards.
 *
 * Locks:   none.
 * Always:  the descriptor lies past the end of the file, from the next multiple of 64 KiB on; the last four mapped bytes are its length
 *          and it begins at the border of a block (orphans-mmp-quota-verity-crypt.md 4).
 */
#include "base/le.h"
#include "base/math.h"
#include "extent/extent.h"
#include "file/file_impl.h"

#include <errno.h>

#define VERITY_ALIGN   65536u
#define VERITY_FIXED   256u   /* bytes before the signature */
#define VERITY_LEN_MAX 16384u /* as the kernel */
#define VERITY_VERSION 1u

/* Where the fields stand that say whether it is this file's. */
enum {
	AT_VERSION = 0,
	AT_SIG_LEN = 4,
	AT_DATA_SIZE = 8,
};

/* Behind the last mapped byte; 0 when nothing is mapped. */
static int mapped_end(struct inode *ip, uint64_t *ret)
{
	struct extent_piece p;
	lblk_t lblk = LBLK_MAX;
	int r;

	for (;;) {
		r = extent_lookup(ip, lblk, &p);
		if (r < 0)
			return r;
		if (p.type != EXTENT_HOLE) {
			*ret = (p.lblk + p.len) << ip->vol->block_bits;
			return 0;
		}
		if (p.lblk == 0)
			break;
		lblk = p.lblk - 1;
	}
	*ret = 0;
	return 0;
}

/* Position and length, by the kernel's rules. */
static int locate(struct inode *ip, uint64_t *ret_pos, uint32_t *ret_len)
{
	struct env *env = ip->vol->env;
	struct le32 word;
	uint64_t end;
	int r = mapped_end(ip, &end);

	if (r < 0)
		return r;
	uint64_t first = round_up_u64(ip->size, VERITY_ALIGN);
	if (end < first + VERITY_FIXED + sizeof(word))
		return fail(env, E4_WHY_VERITY_END, .ino = ip->ino, .found = end, .expected = first);
	end -= sizeof(word);
	r = file_read_raw(ip, &word, sizeof(word), end);
	if (r < 0)
		return r;
	uint32_t len = le32_get(word);
	if (len < VERITY_FIXED || len > VERITY_LEN_MAX || len > end)
		return fail(env, E4_WHY_VERITY_LEN, .ino = ip->ino, .found = len,
			.expected = VERITY_LEN_MAX);
	uint64_t pos = round_down_u64(end - len, ip->vol->block_size);
	if (pos < first)
		return fail(
			env, E4_WHY_VERITY_PLACE, .ino = ip->ino, .found = pos, .expected = first);
	*ret_pos = pos;
	*ret_len = len;
	return 0;
}

static int check_descriptor(struct inode *ip, const uint8_t *d, uint32_t len)
{
	if (d[AT_VERSION] != VERITY_VERSION)
		return fail(ip->vol->env, E4_WHY_VERITY_VERSION, .ino = ip->ino,
			.found = d[AT_VERSION], .expected = VERITY_VERSION);
	if (le32_at(d + AT_SIG_LEN) > len - VERITY_FIXED)
		return fail(ip->vol->env, E4_WHY_VERITY_SIGNATURE, .ino = ip->ino,
			.found = le32_at(d + AT_SIG_LEN), .expected = len - VERITY_FIXED);
	if (le64_at(d + AT_DATA_SIZE) != ip->size)
		return fail(ip->vol->env, E4_WHY_VERITY_DATA_SIZE, .ino = ip->ino,
			.found = le64_at(d + AT_DATA_SIZE), .expected = ip->size);
	return 0;
}

int64_t file_verity_descriptor(struct inode *ip, void *buf, uint64_t size)
{
	struct env *env = ip->vol->env;
	uint8_t fixed[VERITY_FIXED];
	uint64_t pos = 0;
	uint32_t len = 0;

	/* An answer that callers ask for, not a failure. */
	if (!(ip->flags & INODE_FL_VERITY) || !inode_is(ip, INODE_REG))
		return -ENODATA;
	if (!(ip->flags & INODE_FL_EXTENTS) || (ip->flags & INODE_FL_INLINE_DATA))
		return fail(env, E4_WHY_VERITY_MAP, .ino = ip->ino, .found = ip->flags);
	if (ip->flags & INODE_FL_ENCRYPT)
		return fail(env, E4_WHY_VERITY_NOKEY, .ino = ip->ino);
	int r = locate(ip, &pos, &len);
	if (r == 0)
		r = file_read_raw(ip, fixed, sizeof(fixed), pos);
	if (r == 0)
		r = check_descriptor(ip, fixed, len);
	if (r == 0 && size > 0)
		r = file_read_raw(ip, buf, min_u64(size, len), pos);
	return r < 0 ? r : (int64_t)len;
}
