/*
 * inline.c - directories that live in their inode: the parent's number, then two independent chains of entries.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  "." and ".." have no entries; they are made up where somebody asks for them.
 */
#include "dir/dir_impl.h"

#define PARENT_SIZE sizeof(struct le32)

inum_t dir_inline_parent(const struct inode *ip)
{
	return le32_at(ip->block);
}

int dir_inline_area(struct inode *ip, uint32_t part, struct dir_area *ret, struct buf **ret_buf)
{
	const uint8_t *value = NULL;
	uint32_t value_len = 0;

	*ret_buf = NULL;
	if (part == 0) {
		*ret = dir_area_of(
			ip, 0, ip->block + PARENT_SIZE, INODE_BLOCK_BYTES - (uint32_t)PARENT_SIZE);
		return 0;
	}
	int r = inline_data_parts(ip, &value, &value_len, ret_buf);
	if (r < 0)
		return r;
	*ret = dir_area_of(ip, *ret_buf != NULL ? (*ret_buf)->pblk : 0, value, value_len);
	return 0;
}

static int search_dots(const struct dir_query *q, inum_t *ret_ino, uint8_t *ret_type)
{
	struct inode *ip = q->ip;

	*ret_ino = q->len == 1 ? ip->ino : dir_inline_parent(ip);
	*ret_type = DIRENT_DIR;
	if (*ret_ino == 0 || *ret_ino > ip->vol->inodes_count)
		return fail(ip->vol->env, E4_WHY_DIR_INLINE_PARENT, .ino = ip->ino,
			.found = *ret_ino, .expected = ip->vol->inodes_count);
	return 1;
}

int dir_search_inline(const struct dir_query *q, inum_t *ret_ino, uint8_t *ret_type)
{
	int first_err = 0;

	if (q->dots)
		return search_dots(q, ret_ino, ret_type);
	for (uint32_t part = 0; part < 2; part++) {
		struct dir_area a;
		struct dir_entry e;
		struct buf *b = NULL;
		int r = dir_inline_area(q->ip, part, &a, &b);

		if (r == 0) {
			r = dir_search_area(q, &a, &e);
			if (r > 0) {
				*ret_ino = e.ino;
				*ret_type = e.type;
			}
			buf_put(b);
		}
		if (r > 0)
			return r;
		if (r < 0 && first_err == 0)
			first_err = r;
	}
	return first_err;
}
