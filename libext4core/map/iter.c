/*
 * iter.c - a loop over the pieces of a range, as the tree has them.
 *
 * Owns:    nothing; the iterator is its caller's.
 * Locks:   none.
 * Always:  each turn is one lookup and passes at least one byte. The end of the file is not looked at: whoever reads up to it says so by
 *          the range. It does not outlast a change of the map; on a mount that is not written there is none.
 */
#include "base/assert.h"
#include "base/math.h"
#include "map/map_impl.h"

void map_iter_start(struct map_iter *it, struct inode *ip, uint64_t offset, uint64_t len)
{
	uint64_t end;

	if (!add_u64(offset, len, &end))
		end = UINT64_MAX;
	*it = (struct map_iter){.ip = ip, .pos = offset, .end = end};
}

int map_iter_next(struct map_iter *it)
{
	if (it->pos >= it->end)
		return 0;
	/* Behind the last block that can be mapped there is one more hole. */
	if (it->pos >= map_limit(it->ip)) {
		it->m = map_blank(it->ip, it->pos, it->end - it->pos);
		return 1;
	}
	if (map_is_inline(it->ip)) {
		map_inline_piece(it->ip, it->pos, &it->m);
		return 1;
	}
	int r = map_piece(it->ip, it->pos, &it->m);
	return r < 0 ? r : 1;
}

uint64_t map_iter_len(const struct map_iter *it)
{
	return min_u64(it->m.offset + it->m.length, it->end) - it->pos;
}

void map_iter_advance(struct map_iter *it, uint64_t bytes)
{
	E4_ASSERT(bytes <= map_iter_len(it));
	it->pos += bytes;
}
