/*
 * read.c - bytes of files, straight from the device into the caller's memory.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  one request per physical run, however many extents and pieces of memory it spans (up to MEMORY_SLICES of these). Zeros
 *          stand for holes and unwritten extents only, never for what could not be read. Bytes past the end of the file are not
 *          handed out, wherever its last block was read from.
 * Uses:    map for the pieces, blockdev for the bytes.
 */
#include "base/math.h"
#include "blockdev/blockdev.h"
#include "extent/extent.h"
#include "file/file_impl.h"
#include "map/map.h"

#include <errno.h>

/* Device bytes that lie together. */
struct run {
	uint64_t addr, len;
};

/* Reads up to len bytes into as many pieces of memory as one request takes, and goes on. *ret_len is how many it tried. */
static int read_once(struct volume *vol, struct memory *mem, const struct run *run, uint64_t *ret_len)
{
	struct e4_iovec iov[MEMORY_SLICES];
	uint32_t count;
	uint64_t len = memory_slice(mem, run->len, iov, &count);
	int r = blockdev_readv(vol->dev, run->addr, iov, count);

	*ret_len = len;
	if (r == 0)
		memory_advance(mem, len);
	return r;
}

/*
 * A run of several blocks failed: reads what precedes the bad block, halving. The last block that is left is not tried again, so that a
 * fault that went away still shows, as a short read.
 */
static uint64_t read_before_fault(struct volume *vol, struct memory *mem, struct run run)
{
	uint64_t done = 0;

	while (run.len > vol->block_size) {
		struct run half = {run.addr,
			round_down_u64(run.addr + run.len / 2, vol->block_size) - run.addr};
		uint64_t n;

		/* The first block may begin in its middle. */
		if (half.addr + half.len <= run.addr || half.len > run.len)
			half.len = round_down_u64(run.addr, vol->block_size) + vol->block_size -
				   run.addr;
		if (read_once(vol, mem, &half, &n) == 0) {
			done += n;
			run.addr += n;
			run.len -= n;
		} else {
			run.len = n;
			if (n <= vol->block_size)
				break;
		}
	}
	return done;
}

static int read_run(struct volume *vol, struct memory *mem, struct run run, uint64_t *done)
{
	while (run.len > 0) {
		uint64_t n;
		int r = read_once(vol, mem, &run, &n);

		if (r < 0) {
			run.len = n;
			*done += read_before_fault(vol, mem, run);
			return r;
		}
		run.addr += n;
		run.len -= n;
		*done += n;
	}
	return 0;
}

/* Takes pieces from the iterator as long as they continue each other on the device; the first is it->m, mapped. */
static int gather_run(struct map_iter *it, struct run *ret)
{
	struct run run = {.addr = it->m.addr + (it->pos - it->m.offset)};
	int r;

	do {
		uint64_t len = map_iter_len(it);

		run.len += len;
		map_iter_advance(it, len);
		r = map_iter_next(it);
	} while (r > 0 && it->m.type == E4_MAP_MAPPED &&
		 it->m.addr + (it->pos - it->m.offset) == run.addr + run.len);
	*ret = run;
	return r;
}

int file_read_blocks(
	struct inode *ip, struct memory *mem, uint64_t offset, uint64_t len, uint64_t *ret_done)
{
	struct map_iter it;
	uint64_t done = 0;
	int r;

	map_iter_start(&it, ip, offset, len);
	r = map_iter_next(&it);
	while (r > 0) {
		struct run run;

		if (it.m.type != E4_MAP_MAPPED) {
			uint64_t n = map_iter_len(&it);

			memory_zero(mem, n);
			done += n;
			map_iter_advance(&it, n);
			r = map_iter_next(&it);
			continue;
		}
		r = gather_run(&it, &run);
		/* An error of the lookup behind the run waits until the run was read. */
		int read = read_run(ip->vol, mem, run, &done);
		if (read < 0)
			r = read;
	}
	*ret_done = done;
	return r;
}

static int read_inline(
	struct inode *ip, struct memory *mem, uint64_t offset, uint64_t len, uint64_t *ret_done)
{
	uint64_t done = 0;
	int r = 0;

	while (done < len) {
		uint64_t n;
		void *at = memory_next(mem, len - done, &n);

		r = inline_data_read(ip, offset + done, at, n);
		if (r < 0)
			break;
		memory_advance(mem, n);
		done += n;
	}
	*ret_done = done;
	return r;
}

static int read_any(
	struct inode *ip, struct memory *mem, uint64_t offset, uint64_t len, uint64_t *ret_done)
{
	if (ip->flags & INODE_FL_INLINE_DATA)
		return read_inline(ip, mem, offset, len, ret_done);
	return file_read_blocks(ip, mem, offset, len, ret_done);
}

/* What has bytes for the reader of a file. */
static int check_kind(struct inode *ip)
{
	if (inode_is(ip, INODE_DIR))
		return fail(ip->vol->env, E4_WHY_FILE_IS_DIR, .ino = ip->ino);
	if (!inode_is(ip, INODE_REG))
		return fail(ip->vol->env, E4_WHY_FILE_KIND, .ino = ip->ino, .found = ip->mode);
	if (ip->flags & INODE_FL_ENCRYPT)
		return fail(ip->vol->env, E4_WHY_FILE_NOKEY, .ino = ip->ino);
	return 0;
}

/* False when the sum is more than a count can say. */
static bool total_bytes(const struct e4_iovec *iov, uint32_t iov_count, uint64_t *ret)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < iov_count; i++) {
		if (!add_u64(sum, iov[i].len, &sum) || sum > INT64_MAX)
			return false;
	}
	*ret = sum;
	return true;
}

/*
 * The common read: one piece of memory, inside one extent whose place is cached. The same request, the same answers and counts as the
 * general way, without its cursors. False when it is not that simple.
 */
static bool read_within_extent(
	struct inode *ip, void *buf, uint64_t len, uint64_t offset, int64_t *ret)
{
	uint32_t bits = ip->vol->block_bits;
	struct extent_piece piece;

	if ((ip->flags & INODE_FL_INLINE_DATA) ||
		extent_lookup_cached(ip, (lblk_t)(offset >> bits), &piece) != 1 ||
		piece.type != EXTENT_MAPPED)
		return false;
	uint64_t skip = offset - ((uint64_t)piece.lblk << bits);
	if (len > (piece.len << bits) - skip)
		return false;
	context_count(&context_get(ip->vol->env)->count.map_lookups, 1); /* it has one: it found */
	struct e4_iovec iov = {.base = buf, .len = len};
	struct run run = {.addr = (piece.pblk << bits) + skip, .len = len};
	int r = blockdev_readv(ip->vol->dev, run.addr, &iov, 1);
	if (E4_UNLIKELY(r < 0)) {
		struct memory mem = {.iov = &iov, .count = 1};
		uint64_t done = read_before_fault(ip->vol, &mem, run);

		*ret = done > 0 ? (int64_t)done : r;
		return true;
	}
	*ret = (int64_t)len;
	return true;
}

int64_t file_read(struct inode *ip, const struct e4_iovec *iov, uint32_t iov_count, uint64_t offset)
{
	struct memory mem = {.iov = iov, .count = iov_count};
	uint64_t len, done;
	int r = check_kind(ip);

	if (r < 0)
		return r;
	if (!total_bytes(iov, iov_count, &len) || offset > INT64_MAX)
		return fail(ip->vol->env, E4_WHY_FILE_READ_RANGE, .ino = ip->ino, .found = offset);
	if (offset >= ip->size)
		return 0;
	len = min_u64(len, ip->size - offset);
	int64_t n;
	if (iov_count == 1 && read_within_extent(ip, iov->base, len, offset, &n))
		return n;
	r = read_any(ip, &mem, offset, len, &done);
	return done > 0 ? (int64_t)done : r;
}

int file_read_raw(struct inode *ip, void *buf, uint64_t len, uint64_t offset)
{
	struct e4_iovec iov = {.base = buf, .len = len};
	struct memory mem = {.iov = &iov, .count = 1};
	uint64_t done;

	return read_any(ip, &mem, offset, len, &done);
}

int file_read_exact(struct inode *ip, void *buf, uint64_t len, uint64_t offset)
{
	int r = check_kind(ip);

	if (r < 0)
		return r;
	if (offset > ip->size || len > ip->size - offset)
		return fail(ip->vol->env, E4_WHY_FILE_SHORT, .ino = ip->ino, .found = ip->size,
			.expected = offset);
	return file_read_raw(ip, buf, len, offset);
}
