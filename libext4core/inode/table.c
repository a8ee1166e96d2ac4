/*
 * table.c - inodes in the tables of the block groups.
 *
 * Owns:    nothing; blocks are the buf cache's.
 * Locks:   none.
 * Always:  a slot that its group never initialised is not looked at for an inode that somebody named.
 * Uses:    buf, volume.
 */
#include "base/math.h"
#include "inode/inode_impl.h"

#include <errno.h>
#include <string.h>

#define READ_AHEAD_BYTES 32768u

/* Slots at the start of a group's table that may be in use. */
static uint32_t used_slots(const struct volume *vol, const struct group_desc *gd)
{
	if (!vol->gdt_csum)
		return vol->inodes_per_group;
	if ((gd->flags & GROUP_INODE_UNINIT) != 0)
		return 0;
	return vol->inodes_per_group - min_u32(gd->itable_unused, vol->inodes_per_group);
}

/* The slot's own group; `ino` is in range. */
static int group_of(struct volume *vol, inum_t ino, struct group_desc *ret, uint32_t *ret_index)
{
	*ret_index = (ino - 1) % vol->inodes_per_group;
	return volume_group(vol, (ino - 1) / vol->inodes_per_group, ret);
}

/*
 * Inodes are looked up in runs (a directory's lie together), so a whole aligned window comes in by one request: within the
 * group's table, and only what may be in use. A hint: whatever fails is met again by the read itself.
 */
static void read_ahead(struct volume *vol, inum_t ino, pblk_t pblk)
{
	struct group_desc gd;
	uint32_t index;
	uint32_t window = max_u32(READ_AHEAD_BYTES >> vol->block_bits, 1);

	if (window == 1 || group_of(vol, ino, &gd, &index) < 0)
		return;
	uint64_t used_bytes = (uint64_t)used_slots(vol, &gd) * vol->inode_size;
	pblk_t first = max_u64(round_down_u64(pblk, window), gd.inode_table);
	pblk_t end = min_u64(round_down_u64(pblk, window) + window,
		gd.inode_table + div_up_u64(used_bytes, vol->block_size));
	if (pblk >= first && pblk < end && end - first > 1)
		buf_read_ahead(vol->bufs, first, (uint32_t)(end - first));
}

int inode_raw(struct volume *vol, inum_t ino, struct buf **ret_buf, const uint8_t **ret_raw)
{
	struct buf *b;
	pblk_t pblk;
	uint32_t offset;
	int r = volume_inode_location(vol, ino, &pblk, &offset);

	if (r < 0)
		return r;
	read_ahead(vol, ino, pblk);
	r = buf_get(vol->bufs, pblk, &buf_kind_plain, 0, 0, &b);
	if (r < 0)
		return r;
	*ret_buf = b;
	*ret_raw = b->data + offset;
	return 0;
}

/* Recovery may load what it is about to account for; everybody else finds such a slot free, whatever bytes it holds. */
static int check_initialised(struct volume *vol, inum_t ino, enum inode_purpose purpose)
{
	struct group_desc gd;
	uint32_t index;

	if (purpose != INODE_FOR_USE && purpose != INODE_FOR_EA)
		return 0;
	int r = group_of(vol, ino, &gd, &index);
	if (r < 0)
		return r;
	if (index >= used_slots(vol, &gd))
		return fail(vol->env, E4_WHY_INODE_UNINIT, .ino = ino, .found = index,
			.expected = used_slots(vol, &gd));
	return 0;
}

int inode_read(struct inode *ip, enum inode_purpose purpose)
{
	struct buf *b;
	const uint8_t *raw;
	int r = inode_check_number(ip->vol, ip->ino, purpose);

	if (r < 0)
		return r;
	r = check_initialised(ip->vol, ip->ino, purpose);
	if (r < 0)
		return r;
	r = inode_raw(ip->vol, ip->ino, &b, &raw);
	if (r < 0)
		return r;
	r = inode_fill(ip, raw, purpose);
	buf_put(b);
	return r;
}

int inode_load(struct volume *vol, inum_t ino, enum inode_purpose purpose, struct inode *ip)
{
	memset(ip, 0, sizeof(*ip));
	ip->vol = vol;
	ip->ino = ino;
	int r = inode_read(ip, purpose);
	if (r == 0)
		mutex_init(&ip->es.lock, RANK_EXTENT_STATUS);
	return r;
}

void inode_unload(struct inode *ip)
{
	mutex_fini(&ip->es.lock);
}
