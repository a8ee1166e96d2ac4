/*
 * linear.c - looks a name up by going through all entries.
 *
 * A block that cannot be trusted does not hide the names in the others; only when the name is in none of them does the first
 * error become the answer, as "not there" is not known then. Holes hold no names: they are reported once and passed over.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  one pass over the blocks within the directory's size.
 */
#include "dir/dir_impl.h"

#include <errno.h>

int dir_search_area(const struct dir_query *q, const struct dir_area *a, struct dir_entry *ret)
{
	uint32_t offset = 0;
	int r;

	while ((r = dir_area_next(a, &offset, ret)) > 0) {
		if (ret->ino != 0 && dir_query_matches(q, ret))
			return 1;
	}
	return r;
}

static int search_block(const struct dir_query *q, lblk_t lblk, bool *hole_told,
	struct dir_entry *ret, uint64_t *ret_next)
{
	struct inode *ip = q->ip;
	struct buf *b = NULL;
	int r = dir_read_next(ip, lblk, &b, ret_next);

	if (r == 0 && !*hole_told) {
		(void)dir_report_hole(ip, lblk);
		*hole_told = true;
	}
	if (r <= 0)
		return r;
	struct dir_area a = dir_area_of(ip, b->pblk, b->data, ip->vol->block_size);
	r = dir_search_area(q, &a, ret);
	buf_put(b);
	return r;
}

int dir_search_blocks(const struct dir_query *q, uint64_t count, inum_t *ret_ino, uint8_t *ret_type)
{
	bool hole_told = false;
	int first_err = 0;

	for (uint64_t lblk = 0, next; lblk < count; lblk = next) {
		struct dir_entry e;
		int r = search_block(q, (lblk_t)lblk, &hole_told, &e, &next);

		if (r > 0) {
			*ret_ino = e.ino;
			*ret_type = e.type;
			return 1;
		}
		if (r < 0 && r != -EUCLEAN && r != -EBADMSG)
			return r;
		if (r < 0 && first_err == 0)
			first_err = r;
	}
	return first_err;
}
