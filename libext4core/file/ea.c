/*
 * ea.c - values of extended attributes that have an inode to themselves.
 *
 * Locks:   none.
 * Always:  only an inode marked for it is read, and only as a whole. Whether the value is the right one is for its hash to say, which
 *          the inode room checks.
 */
#include "file/file_impl.h"

int file_read_ea(struct inode *ea, void *buf, uint64_t len)
{
	if (!(ea->flags & INODE_FL_EA_INODE))
		return fail(ea->vol->env, E4_WHY_EA_KIND, .ino = ea->ino, .found = ea->flags);
	if (len != ea->size)
		return fail(ea->vol->env, E4_WHY_EA_SIZE, .ino = ea->ino, .found = ea->size,
			.expected = len);
	return file_read_raw(ea, buf, len, 0);
}
