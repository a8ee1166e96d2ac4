/*
 * cow.c - an overlay: reads the lower device, keeps what is written in memory. Read-only recovery replays into one.
 *
 * Owns:    the changed blocks.
 * Locks:   cow->lock (rank DEVICE) makes one block at a time the overlay's, lower read included; blocks that are there are
 *          found, read and overwritten without it.
 * Always:  the lower device is never written. A block that is in the overlay hides the lower one for good.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"
#include "blockdev/sparse.h"

#include <errno.h>
#include <string.h>

struct cow {
	struct env *env;
	struct e4_blockdev *lower;
	uint64_t block_size;
	struct mutex lock; /* rank DEVICE, above the lower device's own of the same rank */
	struct sparse blocks;
};

static int cow_geometry(void *ctx, struct e4_geometry *ret)
{
	struct cow *cow = ctx;

	ret->logical_block = 1;
	ret->physical_block = (uint32_t)cow->block_size;
	ret->dma_align = 1;
	ret->size = cow->lower->geo.size;
	ret->queue_depth = cow->lower->geo.queue_depth;
	ret->optimal_transfer = cow->lower->geo.optimal_transfer;
	ret->fua = 1;
	ret->nowait = cow->lower->geo.nowait;
	return 0;
}

/* How many bytes from offset, at most max, lie below the overlay in one run: 0 when its block is in the overlay. */
static uint64_t lower_run(struct cow *cow, uint64_t offset, uint64_t max)
{
	uint64_t done = 0;

	if (atomic_load_explicit(&cow->blocks.count_chunks, memory_order_relaxed) == 0 &&
		atomic_load_explicit(&cow->blocks.root, memory_order_acquire) == NULL)
		return max;
	while (done < max && sparse_find(&cow->blocks, (offset + done) / cow->block_size) == NULL)
		done += min_u64(max - done, cow->block_size - (offset + done) % cow->block_size);
	return done;
}

/* One run of one piece, from where it lies; *ret_done bytes. */
static int read_run(struct cow *cow, uint64_t offset, uint8_t *to, uint64_t max, uint64_t *ret_done)
{
	uint64_t n = lower_run(cow, offset, max);

	*ret_done = n;
	if (n > 0)
		return blockdev_read(cow->lower, offset, to, n);
	uint64_t in_block = offset % cow->block_size;
	const uint8_t *block = sparse_find(&cow->blocks, offset / cow->block_size);
	n = min_u64(max, cow->block_size - in_block);
	memcpy(to, block + in_block, (size_t)n);
	*ret_done = n;
	return 0;
}

static int cow_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct cow *cow = ctx;
	uint64_t len = 0;
	int r = 0;

	if (iov_len(iov, iov_count, &len) && lower_run(cow, offset, len) == len)
		return blockdev_readv(cow->lower, offset, iov, iov_count);
	for (uint32_t i = 0; i < iov_count && r == 0; i++) {
		uint64_t done = 0;
		uint64_t n;

		while (done < iov[i].len && r == 0) {
			r = read_run(
				cow, offset, (uint8_t *)iov[i].base + done, iov[i].len - done, &n);
			done += n;
			offset += n;
		}
	}
	return r;
}

/* Bytes of block `index` that the device has. */
static uint64_t block_len(const struct cow *cow, uint64_t index)
{
	return min_u64(cow->block_size, cow->lower->geo.size - index * cow->block_size);
}

/* Fills a new block: what the write does not cover comes from below. */
static int fill(struct cow *cow, uint64_t index, uint8_t *block, uint64_t at, uint64_t n)
{
	uint64_t len = block_len(cow, index);

	if (at == 0 && n >= len) {
		memset(block + len, 0, (size_t)(cow->block_size - len));
		return 0;
	}
	memset(block, 0, (size_t)cow->block_size);
	return blockdev_read(cow->lower, index * cow->block_size, block, len);
}

/* Puts a block into the overlay with [at, at + n) already changed, so that no reader sees it half made. */
static int add_block(struct cow *cow, uint64_t index, uint64_t at, const uint8_t *from, uint64_t n)
	E4_REQUIRES(cow->lock)
{
	uint8_t *block = sparse_chunk_new(&cow->blocks);
	void *there;

	if (block == NULL)
		return fail(cow->env, E4_WHY_COW_MEMORY, .block = index);
	int r = fill(cow, index, block, at, n);
	if (r < 0) {
		mem_free(cow->env, block, (size_t)cow->block_size);
		return r;
	}
	memcpy(block + at, from, (size_t)n);
	r = sparse_insert(&cow->blocks, index, block, &there);
	return r < 0 ? fail(cow->env, E4_WHY_COW_TABLE_MEMORY, .block = index) : 0;
}

static int write_block(struct cow *cow, uint64_t index, uint64_t at, const uint8_t *from, uint64_t n)
{
	uint8_t *block = sparse_find(&cow->blocks, index);
	int r = 0;

	if (block == NULL) {
		mutex_lock(&cow->lock);
		block = sparse_find(&cow->blocks, index);
		if (block == NULL)
			r = add_block(cow, index, at, from, n);
		mutex_unlock(&cow->lock);
	}
	if (block != NULL)
		memcpy(block + at, from, (size_t)n);
	return r;
}

static int cow_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct cow *cow = ctx;
	struct iov_cursor it = {.iov = iov, .count = iov_count};

	(void)flags;
	for (;;) {
		uint64_t at = offset % cow->block_size;
		uint64_t n;
		const uint8_t *from = iov_take(&it, cow->block_size - at, &n);

		if (n == 0)
			return 0;
		int r = write_block(cow, offset / cow->block_size, at, from, n);
		if (r < 0)
			return r;
		offset += n;
	}
}

static int cow_flush(void *ctx)
{
	(void)ctx;
	return 0;
}

static void cow_close(void *ctx)
{
	struct cow *cow = ctx;

	sparse_fini(&cow->blocks);
	mutex_fini(&cow->lock);
	mem_free(cow->env, cow, sizeof(*cow));
}

static const struct e4_blockdev_ops cow_ops = {
	.struct_size = sizeof(cow_ops),
	.geometry = cow_geometry,
	.read = cow_read,
	.write = cow_write,
	.flush = cow_flush,
	.close = cow_close,
};

/* Reads that the overlay does not touch go down as they are; the rest is memory. */
static enum stack_verdict cow_before(
	void *ctx, struct e4_blockdev_request *req, struct e4_blockdev_request *child)
{
	struct cow *cow = ctx;

	(void)child;
	if (req->op == E4_BLOCKDEV_READ) {
		if (lower_run(cow, req->offset, req->len) == req->len)
			return STACK_PASS;
		req->result = cow_read(cow, req->offset, req->iov, req->iov_count);
	} else if (req->op == E4_BLOCKDEV_WRITE) {
		req->result = cow_write(cow, req->offset, req->iov, req->iov_count, req->flags);
	} else {
		req->result = req->op == E4_BLOCKDEV_FLUSH ? 0 : -EOPNOTSUPP;
	}
	return STACK_DONE;
}

static const struct stack_ops cow_stack = {.before = cow_before, .ends_here = true};

int blockdev_cow_new(struct e4_blockdev *lower, uint32_t block_size, struct e4_blockdev **ret)
{
	struct env *env = lower->env;

	if (!is_pow2_u64(block_size) || block_size < 512 || block_size > 65536)
		return fail(env, E4_WHY_COW_BLOCK, .found = block_size);
	struct cow *cow = mem_zalloc(env, sizeof(*cow));
	if (cow == NULL)
		return fail(env, E4_WHY_STACK_MEMORY, .name = "cow");
	cow->env = env;
	cow->lower = lower;
	cow->block_size = block_size;
	mutex_init(&cow->lock, RANK_DEVICE);
	sparse_init(
		&cow->blocks, env, block_size, max_u64(div_up_u64(lower->geo.size, block_size), 1));
	struct backend backend = {.ops = cow_ops, .ctx = cow, .kind = "cow"};
	return blockdev_stack(env, &backend, &cow_stack, lower, ret);
}

int blockdev_cow_foreach(struct e4_blockdev *dev,
	int (*fn)(void *arg, uint64_t offset, const void *data, uint32_t len), void *arg)
{
	if (dev->stack != &cow_stack)
		return -EINVAL;
	struct cow *cow = dev->ctx;
	uint64_t index = 0;
	const void *block;
	int r = 0;

	while (r == 0 && (block = sparse_next(&cow->blocks, &index)) != NULL) {
		r = fn(arg, index * cow->block_size, block, (uint32_t)block_len(cow, index));
		index++;
	}
	return r;
}

int blockdev_cow_size(struct e4_blockdev *dev, uint64_t *ret_bytes)
{
	if (dev->stack != &cow_stack)
		return -EINVAL;
	struct cow *cow = dev->ctx;
	*ret_bytes = atomic_load_explicit(&cow->blocks.count_chunks, memory_order_relaxed) *
		     cow->block_size;
	return 0;
}
