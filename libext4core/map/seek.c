/*
 * seek.c - SEEK_DATA and SEEK_HOLE as the kernel answers them.
 *
 * Locks:   none.
 * Always:  written extents and inline bytes are data; unwritten extents are holes, since nothing dirty covers them here. The end of
 *          the file is a hole; at and past it there is neither.
 */
#include "base/math.h"
#include "map/map_impl.h"

#include <errno.h>

/* The first offset from `offset` < size on where data (or what is none) lies; size when there is none. */
static int64_t seek(struct inode *ip, uint64_t offset, bool want_data)
{
	uint64_t end = min_u64(ip->size, map_limit(ip));

	while (offset < end) {
		struct e4_mapping m;
		int r = map_piece(ip, offset, &m);

		if (r < 0)
			return r;
		if ((m.type == E4_MAP_MAPPED) == want_data)
			return (int64_t)offset;
		offset = m.offset + m.length;
	}
	return (int64_t)ip->size;
}

/* Devices have no bytes here, a directory's are not its reader's business; both are for the caller to have refused. */
static int check_seek(struct inode *ip, uint64_t offset)
{
	if (!inode_is(ip, INODE_REG))
		return fail(ip->vol->env, E4_WHY_MAP_SEEK_KIND, .ino = ip->ino, .found = ip->mode);
	/* Asked for at every end of a copying loop: an answer, not a failure to be recorded. */
	return offset >= ip->size ? -ENXIO : 0;
}

int64_t map_seek_data(struct inode *ip, uint64_t offset)
{
	int r = check_seek(ip, offset);

	if (r < 0)
		return r;
	if (map_is_inline(ip))
		return (int64_t)offset;
	int64_t found = seek(ip, offset, true);
	return found == (int64_t)ip->size ? -ENXIO : found;
}

int64_t map_seek_hole(struct inode *ip, uint64_t offset)
{
	int r = check_seek(ip, offset);

	if (r < 0)
		return r;
	return map_is_inline(ip) ? (int64_t)ip->size : seek(ip, offset, false);
}
