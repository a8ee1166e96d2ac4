/*
 * lookup.c - finds a name: inline, by the index, or by going through all entries.
 *
 * A bad index does not make its directory unreadable: the fault is in the ring by then, and the blocks are gone through.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  an indexed directory with a good index is never scanned.
 */
#include "base/math.h"
#include "dir/dir_impl.h"

#include <errno.h>

static int search(const struct dir_query *q, inum_t *ret_ino, uint8_t *ret_type)
{
	struct inode *ip = q->ip;
	uint64_t count = dir_blocks_count(ip);
	int r;

	if (q->never)
		return 0;
	if ((ip->flags & INODE_FL_INLINE_DATA) != 0)
		return dir_search_inline(q, ret_ino, ret_type);
	if (q->dots) /* always in the first block */
		return dir_search_blocks(q, min_u64(count, 1), ret_ino, ret_type);
	if (dir_is_indexed(ip) && !q->unsure) {
		r = dir_search_htree(q, ret_ino, ret_type);
		if (r != -EUCLEAN && r != -EBADMSG)
			return r;
	}
	return dir_search_blocks(q, count, ret_ino, ret_type);
}

/* A type that the volume does not keep, or that is none, is unknown. */
static uint8_t known_type(const struct inode *ip, uint8_t type)
{
	bool kept = volume_has_incompat(ip->vol, FEATURE_INCOMPAT_FILETYPE);

	return kept && type <= DIRENT_LNK ? type : DIRENT_UNKNOWN;
}

int dir_lookup(struct inode *ip, const char *name, uint32_t len, inum_t *ret_ino, uint8_t *ret_type)
{
	struct env *env = ip->vol->env;
	struct dir_query q;
	inum_t ino = 0;
	uint8_t type = DIRENT_UNKNOWN;

	if (!inode_is(ip, INODE_DIR))
		return fail(env, E4_WHY_DIR_NOT_DIR, .ino = ip->ino);
	if (len > DIRENT_NAME_MAX)
		return fail(env, E4_WHY_DIR_NAME_LONG, .ino = ip->ino, .found = len,
			.expected = DIRENT_NAME_MAX);
	if (len == 0)
		return 0;
	int r = dir_query_init(&q, ip, (const uint8_t *)name, len);
	if (r < 0)
		return r;
	r = search(&q, &ino, &type);
	if (r == 0 && q.unsure)
		r = fail(env, E4_WHY_DIR_NO_CASEFOLD, .ino = ip->ino);
	dir_query_fini(&q);
	if (r > 0) {
		*ret_ino = ino;
		*ret_type = known_type(ip, type);
	}
	return r;
}
