/*
 * dax.c - a pointer to a file's bytes where the device is memory.
 *
 * Locks:   none; on a mount that is not written nothing moves, so nothing is held until e4_dax_unmap().
 * Always:  a pointer is only given to written blocks inside the file. What has no bytes on the device has no pointer.
 */
#include "base/math.h"
#include "blockdev/blockdev.h"
#include "file/file_impl.h"
#include "map/map.h"

#include <errno.h>

static int check_request(struct inode *ip, uint64_t offset, uint64_t len)
{
	if (!inode_is(ip, INODE_REG))
		return fail(ip->vol->env, E4_WHY_DAX_KIND, .ino = ip->ino, .found = ip->mode);
	if (ip->flags & INODE_FL_ENCRYPT)
		return fail(ip->vol->env, E4_WHY_DAX_NOKEY, .ino = ip->ino);
	if (len == 0 || offset >= ip->size)
		return fail(ip->vol->env, E4_WHY_DAX_RANGE, .ino = ip->ino, .found = offset,
			.expected = ip->size);
	return ip->vol->dev->geo.can_map ? 0 : -EOPNOTSUPP;
}

int file_dax_map(struct inode *ip, uint64_t offset, uint64_t len, const void **ret, uint64_t *ret_len)
{
	struct map_iter it;
	void *at;
	int r = check_request(ip, offset, len);

	if (r < 0)
		return r;
	map_iter_start(&it, ip, offset, min_u64(len, ip->size - offset));
	r = map_iter_next(&it);
	if (r < 0)
		return r;
	if (it.m.type != E4_MAP_MAPPED)
		return -ENODATA;
	r = blockdev_map(ip->vol->dev, it.m.addr + (offset - it.m.offset), map_iter_len(&it), &at);
	if (r < 0)
		return r;
	*ret = at;
	*ret_len = map_iter_len(&it);
	return 0;
}
