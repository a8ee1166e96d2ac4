/*
 * report.c - what FIEMAP shows: the mapped extents of the tree, one by one, past the end of the file too.
 *
 * Locks:   none.
 * Always:  extents come as they stand in the tree, whole and unmerged. A turn of the loop passes a hole of at least one block; an
 *          indirect map of holes costs one turn per block of pointers that is there at all.
 */
#include "map/map_impl.h"

#include <errno.h>

/* The first mapped piece at or after offset: 1 and *ret, 0 none. */
static int next_mapped(struct inode *ip, uint64_t offset, struct e4_mapping *ret)
{
	while (offset < map_limit(ip)) {
		int r = map_piece(ip, offset, ret);

		if (r < 0)
			return r;
		if (ret->type != E4_MAP_HOLE)
			return 1;
		offset = ret->offset + ret->length;
	}
	return 0;
}

static int report_inline(struct inode *ip, uint64_t offset, struct e4_mapping *ret)
{
	if (offset >= ip->size)
		return 0;
	map_inline_piece(ip, offset, ret);
	ret->core_flags = E4_MAP_C_LAST;
	ret->internal = NULL;
	return 1;
}

int map_report(struct inode *ip, uint64_t offset, struct e4_mapping *ret)
{
	struct e4_mapping after;

	if (map_is_inline(ip))
		return report_inline(ip, offset, ret);
	int r = next_mapped(ip, offset, ret);
	if (r <= 0)
		return r;
	ret->internal = NULL; /* a report is not ended */
	r = next_mapped(ip, ret->offset + ret->length, &after);
	if (r == 0)
		ret->core_flags |= E4_MAP_C_LAST;
	return r < 0 ? r : 1;
}
