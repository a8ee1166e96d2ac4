/*
 * map.c - mappings of byte ranges: begin and end.
 *
 * Owns:    the translation of the tree's pieces into struct e4_mapping.
 * Locks:   none. A mount that is not written changes no map, so begin holds nothing; `internal` keeps the inode for end, as the
 *          gate will need it.
 * Always:  length >= 1. E4_MAP_F_DIRTY is set if and only if it was asked for and the inode is dirty, which on a mount that is not
 *          written it never is. A debug build sets it where it was not asked for, so that nobody reads an answer to no question.
 */
#include "map/map.h"

#include "base/math.h"
#include "map/map_impl.h"

#include <errno.h>

#ifdef E4_DEBUG
#define DIRTY_UNASKED E4_MAP_F_DIRTY
#else
#define DIRTY_UNASKED 0
#endif

static uint32_t file_flags(const struct inode *ip)
{
	uint32_t flags = 0;

	if (volume_has_ro_compat(ip->vol, FEATURE_RO_COMPAT_SHARED_BLOCKS))
		flags |= E4_MAP_F_SHARED;
	if (ip->flags & INODE_FL_ENCRYPT)
		flags |= E4_MAP_F_ENCRYPTED;
	if (ip->flags & INODE_FL_VERITY)
		flags |= E4_MAP_F_VERITY;
	return flags;
}

struct e4_mapping map_blank(struct inode *ip, uint64_t offset, uint64_t length)
{
	return (struct e4_mapping){
		.struct_size = sizeof(struct e4_mapping),
		.type = E4_MAP_HOLE,
		.offset = offset,
		.length = length,
		.addr = UINT64_MAX,
		.fs_flags = file_flags(ip),
		.cookie = atomic_load_explicit(&ip->es.cookie, memory_order_acquire),
		.internal = ip,
	};
}

static enum e4_map_type type_of(enum extent_type type)
{
	switch (type) {
	case EXTENT_HOLE:
		return E4_MAP_HOLE;
	case EXTENT_MAPPED:
		return E4_MAP_MAPPED;
	case EXTENT_UNWRITTEN:
		return E4_MAP_UNWRITTEN;
	}
	return E4_MAP_HOLE;
}

int map_piece(struct inode *ip, uint64_t offset, struct e4_mapping *ret)
{
	uint32_t bits = ip->vol->block_bits;
	struct extent_piece piece;
	int r = extent_lookup(ip, (lblk_t)(offset >> bits), &piece);

	if (r < 0)
		return r;
	*ret = map_blank(ip, (uint64_t)piece.lblk << bits, piece.len << bits);
	ret->type = (uint32_t)type_of(piece.type);
	if (piece.type != EXTENT_HOLE)
		ret->addr = piece.pblk << bits;
	return 0;
}

/* Cuts the mapping to [from, to); both block borders, both inside it but for the end of a hole. */
static void clip(struct e4_mapping *m, uint64_t from, uint64_t to)
{
	uint64_t end = min_u64(m->offset + m->length, to);

	if (m->addr != UINT64_MAX)
		m->addr += from - m->offset;
	m->offset = from;
	m->length = end - from;
}

/* Inline bytes are one piece; behind them is nothing, from the first byte that they do not fill. */
void map_inline_piece(struct inode *ip, uint64_t offset, struct e4_mapping *ret)
{
	if (offset >= ip->size) {
		*ret = map_blank(ip, ip->size, max_u64(map_limit(ip), offset + 1) - ip->size);
		return;
	}
	*ret = map_blank(ip, 0, ip->size);
	ret->type = E4_MAP_INLINE;
}

/* What lies past the last block of the file is shown as a hole, unless it was asked for. */
static int block_piece(
	struct inode *ip, uint64_t offset, uint64_t len, uint32_t flags, struct e4_mapping *ret)
{
	uint64_t block = ip->vol->block_size;
	uint64_t from = round_down_u64(offset, block);
	uint64_t file_end = map_limit(ip);

	if (!(flags & E4_MAP_REPORT_BEYOND))
		file_end = min_u64(file_end, round_up_u64(ip->size, block));
	if (from >= file_end) {
		*ret = map_blank(ip, from, map_limit(ip) - from);
		return 0;
	}
	int r = map_piece(ip, offset, ret);
	if (r < 0)
		return r;
	/* A hole is given as far as it is known, past the end of the file too. */
	uint64_t wanted_end = offset > map_limit(ip) - min_u64(len, map_limit(ip))
				      ? map_limit(ip)
				      : round_up_u64(offset + len, block);
	clip(ret, from, ret->type == E4_MAP_HOLE ? map_limit(ip) : min_u64(file_end, wanted_end));
	return 0;
}

int map_begin(struct inode *ip, uint64_t offset, uint64_t len, uint32_t intent, uint32_t flags,
	struct e4_mapping *ret)
{
	int r = 0;

	if (len == 0 || offset >= map_limit(ip) || intent > E4_MAP_WRITE)
		return fail(ip->vol->env, E4_WHY_MAP_RANGE, .ino = ip->ino, .found = offset,
			.expected = map_limit(ip));
	if (intent == E4_MAP_WRITE)
		return fail(ip->vol->env, E4_WHY_MAP_READ_ONLY, .ino = ip->ino);
	if (map_is_inline(ip))
		map_inline_piece(ip, offset, ret);
	else
		r = block_piece(ip, offset, len, flags, ret);
	if (r == 0 && !(flags & E4_MAP_REPORT_DIRTY))
		ret->fs_flags |= DIRTY_UNASKED;
	return r;
}

int map_end(struct e4_mapping *m, uint64_t done_bytes, int err)
{
	struct inode *ip = m->internal;

	if (ip == NULL || done_bytes > m->length)
		return -EINVAL;
	if (atomic_load_explicit(&ip->es.cookie, memory_order_acquire) != m->cookie)
		m->core_flags |= E4_MAP_C_STALE;
	m->internal = NULL;
	return err;
}
