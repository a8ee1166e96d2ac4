/*
 * inline_data.c - data that lives in the inode: 60 bytes in i_block, the rest in the attribute system.data beside it.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the attribute is in the inode itself; its place is looked up at each use and never kept.
 * Uses:    xattr.c.
 */
#include "base/assert.h"
#include "base/math.h"
#include "inode/inode_impl.h"

#include <errno.h>
#include <string.h>

/* The attribute exists as long as the flag is set, empty where the data fits i_block. On success ret->buf is held. */
static int system_data(struct inode *ip, struct xattr_value *ret)
{
	struct env *env = ip->vol->env;
	int r = xattr_find_in_inode(ip, XATTR_INDEX_SYSTEM, "data", 4, ret);

	if (r < 0)
		return r;
	if (r == 0)
		return fail(env, E4_WHY_INLINE_NO_DATA, .ino = ip->ino);
	if (ret->value_ino != 0) {
		buf_put(ret->buf);
		return fail(env, E4_WHY_INLINE_EXTERNAL, .ino = ip->ino, .found = ret->value_ino);
	}
	return 0;
}

/* Copies what lies in a part of `part_len` bytes that begins at file offset `base`; the number of bytes. */
static uint64_t copy_part(uint8_t *out, uint64_t len, uint64_t offset, const uint8_t *part,
	uint64_t part_len, uint64_t base)
{
	if (offset < base || offset - base >= part_len)
		return 0;
	uint64_t n = min_u64(len, part_len - (offset - base));
	if (n > 0)
		memcpy(out, part + (offset - base), (size_t)n);
	return n;
}

int inline_data_read(struct inode *ip, uint64_t offset, void *buf, uint64_t len)
{
	uint8_t *out = buf;
	struct xattr_value v;
	int r = system_data(ip, &v);

	if (r < 0)
		return r;
	E4_ASSERT(offset <= ip->size && len <= ip->size - offset);
	/* A file may have been extended over its data without being moved to blocks; the rest reads as zeros. */
	uint8_t *end = out + copy_part(out, len, offset, ip->block, INODE_BLOCK_BYTES, 0);
	end += copy_part(end, (uint64_t)(out + len - end), offset + (uint64_t)(end - out), v.data,
		v.size, INODE_BLOCK_BYTES);
	memset(end, 0, (size_t)(out + len - end));
	buf_put(v.buf);
	return 0;
}

int inline_data_parts(
	struct inode *ip, const uint8_t **ret_value, uint32_t *ret_value_len, struct buf **ret_buf)
{
	struct xattr_value v;
	int r = system_data(ip, &v);

	if (r < 0)
		return r;
	*ret_value = v.data;
	*ret_value_len = v.size;
	*ret_buf = v.buf;
	return 0;
}
