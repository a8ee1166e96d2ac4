/*
 * io.c - synchronous requests: bounds, alignment, flush and FUA, counters, reasons.
 *
 * Owns:    nothing.
 * Locks:   none here; bounce.c takes the device's edge_lock.
 * Always:  a backend sees requests inside the device, aligned to its sector and memory rule, of at most max_transfer bytes; a
 *          write with FUA only where its geometry says so, with PREFLUSH never.
 */
#include "base/math.h"
#include "blockdev/blockdev.h"
#include "blockdev/blockdev_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ZERO_CHUNK (128u << 10)

static enum why why_of(enum e4_blockdev_op op)
{
	switch (op) {
	case E4_BLOCKDEV_READ:
		return E4_WHY_DEV_READ;
	case E4_BLOCKDEV_WRITE:
		return E4_WHY_DEV_WRITE;
	case E4_BLOCKDEV_FLUSH:
		return E4_WHY_DEV_FLUSH;
	case E4_BLOCKDEV_DISCARD:
		return E4_WHY_DEV_DISCARD;
	case E4_BLOCKDEV_ZERO:
		return E4_WHY_DEV_ZERO;
	}
	return E4_WHY_DEV_READ;
}

/* A stacked device only hands on what the lower one has explained already. */
int blockdev_failed(
	struct e4_blockdev *dev, enum e4_blockdev_op op, int err, uint64_t offset, uint64_t len)
{
	char place[96];
	bool is_short = err == BLOCKDEV_SHORT;

	if (err < -4095)
		err = -EIO;
	if (dev->lower != NULL)
		return err;
	(void)snprintf(place, sizeof(place), "%s, byte %llu, length %llu", dev->kind,
		(unsigned long long)offset, (unsigned long long)len);
	return fail(dev->env, is_short ? E4_WHY_DEV_SHORT : why_of(op), .err = err, .name = place);
}

void blockdev_count(struct e4_blockdev *dev, enum e4_blockdev_op op, uint64_t len)
{
	struct context *ctx = dev->lower == NULL ? context_get(dev->env) : NULL;

	if (ctx == NULL)
		return;
	if (op == E4_BLOCKDEV_READ) {
		context_count(&ctx->count.dev_reads, 1);
		context_count(&ctx->count.dev_read_bytes, len);
	} else if (op == E4_BLOCKDEV_WRITE) {
		context_count(&ctx->count.dev_writes, 1);
		context_count(&ctx->count.dev_write_bytes, len);
	} else if (op == E4_BLOCKDEV_FLUSH) {
		context_count(&ctx->count.dev_flushes, 1);
	}
}

int blockdev_check_range(struct e4_blockdev *dev, uint64_t offset, uint64_t len)
{
	uint64_t end;

	if (E4_LIKELY(add_u64(offset, len, &end) && end <= dev->geo.size))
		return 0;
	char place[96];
	(void)snprintf(place, sizeof(place), "byte %llu, length %llu, device of %llu",
		(unsigned long long)offset, (unsigned long long)len,
		(unsigned long long)dev->geo.size);
	return fail(dev->env, E4_WHY_DEV_RANGE, .name = place);
}

static int check_writable(struct e4_blockdev *dev)
{
	if (E4_LIKELY(!dev->geo.read_only))
		return 0;
	return fail(dev->env, E4_WHY_DEV_WRITE_REFUSED, .name = dev->kind);
}

bool blockdev_aligned(const struct e4_blockdev *dev, uint64_t offset, uint64_t len,
	const struct e4_iovec *iov, uint32_t iov_count)
{
	uint64_t sector_mask = dev->geo.logical_block - 1u;
	uint64_t memory_mask = dev->geo.dma_align - 1u;
	uint64_t wrong = (offset | len) & sector_mask;

	if (dev->geo.max_transfer != 0 && len > dev->geo.max_transfer)
		return false;
	for (uint32_t i = 0; i < iov_count; i++)
		wrong |= ((uintptr_t)iov[i].base & memory_mask) | (iov[i].len & sector_mask);
	return wrong == 0;
}

int blockdev_readv(
	struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	uint64_t len;
	int r;

	if (!iov_len(iov, iov_count, &len))
		len = UINT64_MAX;
	r = blockdev_check_range(dev, offset, len);
	if (r < 0 || len == 0)
		return r;
	if (E4_UNLIKELY(!blockdev_aligned(dev, offset, len, iov, iov_count)))
		return bounce_read(dev, offset, iov, iov_count, len);
	blockdev_count(dev, E4_BLOCKDEV_READ, len);
	r = dev->ops.read(dev->ctx, offset, iov, iov_count);
	return E4_LIKELY(r >= 0) ? 0 : blockdev_failed(dev, E4_BLOCKDEV_READ, r, offset, len);
}

int blockdev_read(struct e4_blockdev *dev, uint64_t offset, void *buf, uint64_t len)
{
	struct e4_iovec iov = {.base = buf, .len = len};

	return blockdev_readv(dev, offset, &iov, 1);
}

static int write_pieces(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint64_t len, uint32_t flags)
{
	if (E4_UNLIKELY(!blockdev_aligned(dev, offset, len, iov, iov_count)))
		return bounce_write(dev, offset, iov, iov_count, len, flags);
	blockdev_count(dev, E4_BLOCKDEV_WRITE, len);
	int r = dev->ops.write(dev->ctx, offset, iov, iov_count, flags);
	return E4_LIKELY(r >= 0) ? 0 : blockdev_failed(dev, E4_BLOCKDEV_WRITE, r, offset, len);
}

int blockdev_writev(struct e4_blockdev *dev, uint64_t offset, const struct e4_iovec *iov,
	uint32_t iov_count, uint32_t flags)
{
	bool flush_after = (flags & E4_BLOCKDEV_FUA) && !dev->geo.fua;
	uint64_t len;
	int r;

	if (!iov_len(iov, iov_count, &len))
		len = UINT64_MAX;
	r = blockdev_check_range(dev, offset, len);
	if (r == 0)
		r = check_writable(dev);
	if (r == 0 && (flags & E4_BLOCKDEV_PREFLUSH))
		r = blockdev_flush(dev);
	if (r < 0 || len == 0)
		return r;
	r = write_pieces(dev, offset, iov, iov_count, len, flush_after ? 0 : flags & E4_BLOCKDEV_FUA);
	if (r == 0 && flush_after)
		r = blockdev_flush(dev);
	return r;
}

int blockdev_write(
	struct e4_blockdev *dev, uint64_t offset, const void *buf, uint64_t len, uint32_t flags)
{
	struct e4_iovec iov = {.len = len};

	/* Writes only read from base; the type serves both directions, so the address is copied without its const. */
	memcpy(&iov.base, &buf, sizeof(buf));
	return blockdev_writev(dev, offset, &iov, 1, flags);
}

int blockdev_flush(struct e4_blockdev *dev)
{
	if (dev->ops.flush == NULL || dev->geo.read_only)
		return 0;
	blockdev_count(dev, E4_BLOCKDEV_FLUSH, 0);
	int r = dev->ops.flush(dev->ctx);
	return E4_LIKELY(r >= 0) ? 0 : blockdev_failed(dev, E4_BLOCKDEV_FLUSH, r, 0, 0);
}

int blockdev_discard(struct e4_blockdev *dev, uint64_t offset, uint64_t len)
{
	int r = blockdev_check_range(dev, offset, len);

	if (r == 0)
		r = check_writable(dev);
	if (r < 0)
		return r;
	if (dev->ops.discard == NULL || !dev->geo.discard)
		return -EOPNOTSUPP;
	uint64_t first = round_up_u64(offset, dev->geo.logical_block);
	uint64_t end = round_down_u64(offset + len, dev->geo.logical_block);
	if (end <= first)
		return 0;
	r = dev->ops.discard(dev->ctx, first, end - first);
	if (r == -EOPNOTSUPP)
		return r;
	return r >= 0 ? 0 : blockdev_failed(dev, E4_BLOCKDEV_DISCARD, r, offset, len);
}

/* For devices without a better way. */
static int write_zeroes_by_hand(struct e4_blockdev *dev, uint64_t offset, uint64_t len)
{
	size_t size = (size_t)min_u64(len, ZERO_CHUNK);
	void *zeros = mem_zalloc(dev->env, size);
	int r = 0;

	if (zeros == NULL)
		return blockdev_failed(dev, E4_BLOCKDEV_ZERO, -ENOMEM, offset, len);
	while (len > 0 && r == 0) {
		uint64_t n = min_u64(len, size);

		r = blockdev_write(dev, offset, zeros, n, 0);
		offset += n;
		len -= n;
	}
	mem_free(dev->env, zeros, size);
	return r;
}

int blockdev_write_zeroes(struct e4_blockdev *dev, uint64_t offset, uint64_t len)
{
	bool whole = ((offset | len) & (dev->geo.logical_block - 1u)) == 0;
	int r = blockdev_check_range(dev, offset, len);

	if (r == 0)
		r = check_writable(dev);
	if (r < 0 || len == 0)
		return r;
	if (dev->ops.write_zeroes == NULL || !dev->geo.write_zeroes || !whole)
		return write_zeroes_by_hand(dev, offset, len);
	r = dev->ops.write_zeroes(dev->ctx, offset, len);
	if (r == -EOPNOTSUPP)
		return write_zeroes_by_hand(dev, offset, len);
	return r >= 0 ? 0 : blockdev_failed(dev, E4_BLOCKDEV_ZERO, r, offset, len);
}
