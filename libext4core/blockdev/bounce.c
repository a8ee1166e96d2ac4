/*
 * bounce.c - requests that the device would refuse: any offset, length and memory through an aligned buffer.
 *
 * Owns:    nothing; the buffer lives as long as the call.
 * Locks:   dev->edge_lock, held from reading a sector to writing it back, so that two writers of parts of one sector both win.
 *          A write of whole sectors does not take it: two writers of the same bytes race on any device.
 * Always:  what goes to the backend is whole sectors, at most max_transfer.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"

#include <errno.h>
#include <string.h>

#define BOUNCE_MAX (1u << 20)

struct bounce {
	uint8_t *mem;
	uint64_t size;
};

static int bounce_init(struct e4_blockdev *dev, uint64_t offset, uint64_t len, struct bounce *ret)
{
	uint64_t sector = dev->geo.logical_block;
	uint64_t need = round_up_u64(offset + len, sector) - round_down_u64(offset, sector);
	uint64_t size = max_u64(min_u64(need, BOUNCE_MAX), sector);
	uint32_t align = max_u32(dev->geo.dma_align, (uint32_t)min_u64(sector, 4096));

	if (dev->geo.max_transfer != 0)
		size = max_u64(min_u64(size, dev->geo.max_transfer), sector);
	*ret = (struct bounce){.mem = mem_alloc_aligned(dev->env, (size_t)size, align), .size = size};
	return ret->mem != NULL ? 0 : fail(dev->env, E4_WHY_DEV_BOUNCE_MEMORY, .name = dev->kind);
}

static int raw_read(struct e4_blockdev *dev, uint64_t offset, void *mem, uint64_t len)
{
	struct e4_iovec iov = {.base = mem, .len = len};

	blockdev_count(dev, E4_BLOCKDEV_READ, len);
	int r = dev->ops.read(dev->ctx, offset, &iov, 1);
	return r >= 0 ? 0 : blockdev_failed(dev, E4_BLOCKDEV_READ, r, offset, len);
}

static int raw_write(
	struct e4_blockdev *dev, uint64_t offset, void *mem, uint64_t len, uint32_t flags)
{
	struct e4_iovec iov = {.base = mem, .len = len};

	blockdev_count(dev, E4_BLOCKDEV_WRITE, len);
	int r = dev->ops.write(dev->ctx, offset, &iov, 1, flags);
	return r >= 0 ? 0 : blockdev_failed(dev, E4_BLOCKDEV_WRITE, r, offset, len);
}

/* The part of [offset, end) that fits the buffer, and the whole sectors around it. */
struct piece {
	uint64_t offset, len;   /* wanted */
	uint64_t first, length; /* of the sectors */
};

static struct piece piece_at(
	const struct e4_blockdev *dev, uint64_t offset, uint64_t end, uint64_t size)
{
	uint64_t sector = dev->geo.logical_block;
	uint64_t first = round_down_u64(offset, sector);
	uint64_t stop = min_u64(end, first + size);

	return (struct piece){
		.offset = offset,
		.len = stop - offset,
		.first = first,
		.length = round_up_u64(stop, sector) - first,
	};
}

int bounce_read(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint64_t len)
{
	struct bounce b;
	uint64_t done = 0;
	int r = bounce_init(dev, offset, len, &b);

	(void)iov_count;
	while (r == 0 && done < len) {
		struct piece p = piece_at(dev, offset + done, offset + len, b.size);

		r = raw_read(dev, p.first, b.mem, p.length);
		if (r == 0)
			iov_copy_out(iov, done, b.mem + (p.offset - p.first), p.len);
		done += p.len;
	}
	if (b.mem != NULL)
		mem_free(dev->env, b.mem, (size_t)b.size);
	return r;
}

/* Reads the first and last sector of a piece where they are not wholly overwritten. */
static int read_edges(struct e4_blockdev *dev, const struct piece *p, uint8_t *mem)
{
	uint64_t sector = dev->geo.logical_block;
	uint64_t last = p->length - sector;
	bool head = p->offset != p->first;
	bool tail = p->offset + p->len != p->first + p->length;
	int r = 0;

	if (head || (tail && last == 0))
		r = raw_read(dev, p->first, mem, sector);
	if (r == 0 && tail && last != 0)
		r = raw_read(dev, p->first + last, mem + last, sector);
	return r;
}

static int write_part(struct e4_blockdev *dev, const struct piece *p, const struct e4_iovec *iov,
	uint64_t done, uint8_t *mem, uint32_t flags)
{
	mutex_lock(&dev->edge_lock);
	int r = read_edges(dev, p, mem);
	if (r == 0) {
		iov_copy_in(mem + (p->offset - p->first), iov, done, p->len);
		r = raw_write(dev, p->first, mem, p->length, flags);
	}
	mutex_unlock(&dev->edge_lock);
	return r;
}

int bounce_write(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint64_t len, uint32_t flags)
{
	struct bounce b;
	uint64_t done = 0;
	int r = bounce_init(dev, offset, len, &b);

	(void)iov_count;
	while (r == 0 && done < len) {
		struct piece p = piece_at(dev, offset + done, offset + len, b.size);

		if (p.length != p.len) {
			r = write_part(dev, &p, iov, done, b.mem, flags);
		} else {
			iov_copy_in(b.mem, iov, done, p.len);
			r = raw_write(dev, p.first, b.mem, p.length, flags);
		}
		done += p.len;
	}
	if (b.mem != NULL)
		mem_free(dev->env, b.mem, (size_t)b.size);
	return r;
}
