/*
 * maps.c - volumes and maps by hand. Without Check, as a bench uses them too: what goes wrong here is a mistake of the fixture.
 */
#include "maps.h"

#include "base/assert.h"
#include "base/math.h"
#include "format/csum.h"
#include "format/super.h"

#include <stdlib.h>
#include <string.h>

#define IPG 256u

static uint32_t blocks_per_group(uint32_t block_size)
{
	return min_u32(8 * block_size, 65528);
}

static void write_super(struct maps *m, uint32_t groups)
{
	struct disk_super s = {
		.inodes_count = le32_put(groups * IPG),
		.blocks_count_lo = le32_put(m->blocks),
		.first_data_block = le32_put(m->block_size == 1024),
		.log_block_size = le32_put(log2_u64(m->block_size) - 10),
		.log_cluster_size = le32_put(log2_u64(m->block_size) - 10),
		.blocks_per_group = le32_put(blocks_per_group(m->block_size)),
		.clusters_per_group = le32_put(blocks_per_group(m->block_size)),
		.inodes_per_group = le32_put(IPG),
		.magic = le16_put(SUPER_MAGIC),
		.rev_level = le32_put(1),
		.first_ino = le32_put(11),
		.inode_size = le16_put(256),
		.feature_incompat = le32_put(FEATURE_INCOMPAT_EXTENTS | FEATURE_INCOMPAT_FILETYPE),
		.feature_ro_compat = le32_put(
			FEATURE_RO_COMPAT_METADATA_CSUM | FEATURE_RO_COMPAT_HUGE_FILE),
		.checksum_type = SUPER_CSUM_CRC32C,
	};

	memset(s.uuid, 0x42, sizeof(s.uuid));
	s.checksum = le32_put(csum_super(&s));
	E4_ASSERT(blockdev_write(m->mem, SUPER_OFFSET, &s, sizeof(s), 0) == 0);
	uint32_t seed = csum_seed(&s);
	uint32_t gdt_blocks = (groups * 32 + m->block_size - 1) / m->block_size;
	uint32_t first_data = m->block_size == 1024;
	for (uint32_t g = 0; g < groups; g++) {
		uint8_t raw[sizeof(struct disk_group_desc)] = {0}; /* 32 bytes of it are used */
		struct disk_group_desc *d = (struct disk_group_desc *)(void *)raw;
		uint32_t first = first_data + g * blocks_per_group(m->block_size) + 1 + gdt_blocks;

		d->block_bitmap_lo = le32_put(first);
		d->inode_bitmap_lo = le32_put(first + 1);
		d->inode_table_lo = le32_put(first + 2);
		d->checksum = le16_put(csum_group_desc_crc32c(seed, g, raw, 32));
		uint64_t at = (uint64_t)(first_data + 1) * m->block_size + (uint64_t)g * 32;
		E4_ASSERT(blockdev_write(m->mem, at, raw, 32, 0) == 0);
	}
}

void maps_open(struct maps *m, uint32_t block_size, uint32_t blocks)
{
	struct volume_options opts = {.read_only = true, .cache_limit_bytes = 16 << 20};
	uint32_t bpg = blocks_per_group(block_size);

	*m = (struct maps){.block_size = block_size, .blocks = blocks, .next_node = blocks - 1};
	E4_ASSERT(env_new(NULL, 0, &m->env) == 0);
	E4_ASSERT(blockdev_mem_new(m->env, (uint64_t)blocks * block_size, &m->mem) == 0);
	write_super(m, (blocks - (block_size == 1024) + bpg - 1) / bpg);
	E4_ASSERT(e4_blockdev_fault(m->mem, &m->fault) == 0);
	E4_ASSERT(volume_load(m->env, m->fault, &opts, &m->vol) == 0);
}

void maps_close(struct maps *m)
{
	volume_free(m->vol);
	blockdev_free(m->fault);
	blockdev_free(m->mem);
	env_put(m->env);
}

void maps_forget(struct maps *m)
{
	buf_cache_drop(m->vol->bufs);
}

pblk_t maps_first_free(const struct maps *m)
{
	uint32_t groups = m->vol->groups_count;
	uint32_t itable = (IPG * 256 + m->block_size - 1) / m->block_size;

	return (m->block_size == 1024) + 1u + (groups * 32 + m->block_size - 1) / m->block_size +
	       2 + itable;
}

void maps_inode_init(struct maps *m, struct inode *ip)
{
	memset(ip, 0, sizeof(*ip));
	ip->vol = m->vol;
	ip->ino = MAPS_INO;
	ip->generation = 7;
	ip->csum_seed = csum_inode_seed(m->vol->csum_seed, ip->ino, ip->generation);
	ip->mode = INODE_REG | 0644;
	ip->nlink = 1;
	ip->flags = INODE_FL_EXTENTS;
	mutex_init(&ip->es.lock, RANK_EXTENT_STATUS);
	struct disk_extent_header h = maps_header(0, EXTENT_ROOT_ENTRIES, 0);
	memcpy(ip->block, &h, sizeof(h));
}

void maps_inode_fini(struct inode *ip)
{
	extent_evict(ip);
	mutex_fini(&ip->es.lock);
}

struct disk_extent_header maps_header(uint32_t entries, uint32_t max, uint32_t depth)
{
	return (struct disk_extent_header){
		.magic = le16_put(EXTENT_MAGIC),
		.entries = le16_put((uint16_t)entries),
		.max = le16_put((uint16_t)max),
		.depth = le16_put((uint16_t)depth),
	};
}

void maps_read_block(struct maps *m, pblk_t pblk, void *buf)
{
	E4_ASSERT(blockdev_read(m->mem, pblk * m->block_size, buf, m->block_size) == 0);
}

void maps_write_block(struct maps *m, pblk_t pblk, const void *buf)
{
	E4_ASSERT(blockdev_write(m->mem, pblk * m->block_size, buf, m->block_size, 0) == 0);
}

void maps_write_node(struct maps *m, const struct inode *ip, pblk_t pblk, void *node)
{
	uint32_t capacity = extent_block_capacity(m->block_size);
	uint32_t len = (uint32_t)sizeof(struct disk_extent_header) + capacity * 12;
	struct le32 sum = le32_put(csum_run(ip->csum_seed, node, len));

	memcpy((uint8_t *)node + len, &sum, sizeof(sum));
	maps_write_block(m, pblk, node);
}

static void put_root(
	struct inode *ip, const struct disk_extent *entries, uint32_t count, uint32_t depth)
{
	struct disk_extent_header h = maps_header(count, EXTENT_ROOT_ENTRIES, depth);

	memcpy(ip->block, &h, sizeof(h));
	memcpy(ip->block + sizeof(h), entries, count * sizeof(*entries));
}

/* Packs entries into blocks; entries[] then holds the index entries over them. */
static uint32_t write_level(struct maps *m, const struct inode *ip, struct disk_extent *entries,
	uint32_t count, uint32_t depth, uint32_t per_node)
{
	uint8_t *node = calloc(1, m->block_size);
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < count; i += per_node) {
		uint32_t n = min_u32(per_node, count - i);
		struct disk_extent_header h = maps_header(
			n, extent_block_capacity(m->block_size), depth);
		pblk_t pblk = m->next_node--;

		memset(node, 0, m->block_size);
		memcpy(node, &h, sizeof(h));
		memcpy(node + sizeof(h), &entries[i], n * sizeof(*entries));
		maps_write_node(m, ip, pblk, node);
		struct disk_extent_idx x = disk_extent_idx_make(le32_get(entries[i].block), pblk);
		memcpy(&entries[nodes++], &x, sizeof(x));
	}
	free(node);
	return nodes;
}

uint32_t maps_write_tree(struct maps *m, struct inode *ip, const struct maps_run *runs,
	uint32_t count, uint32_t per_node)
{
	struct disk_extent *entries = calloc(count + 1, sizeof(*entries));
	uint32_t written = 0;
	uint32_t depth = 0;

	if (per_node == 0)
		per_node = extent_block_capacity(m->block_size);
	for (uint32_t i = 0; i < count; i++)
		entries[i] = disk_extent_make(
			runs[i].lblk, runs[i].len, runs[i].unwritten, runs[i].pblk);
	while (count > EXTENT_ROOT_ENTRIES) {
		count = write_level(m, ip, entries, count, depth++, per_node);
		written += count;
	}
	put_root(ip, entries, count, depth);
	ip->flags |= INODE_FL_EXTENTS;
	free(entries);
	return written;
}

/* A block of pointers that is being filled, by level (1 single .. 3 triple). */
struct pointers {
	struct le32 *slots;
	pblk_t pblk;
};

/* Sets the pointer for lblk, making what leads to it. Slow and plain: it is the model. */
static uint32_t set_pointer(struct maps *m, struct inode *ip, uint64_t lblk, pblk_t pblk)
{
	struct le32 *root = (struct le32 *)(void *)ip->block;
	uint64_t apb = m->block_size / 4;
	uint64_t span = 1;
	uint32_t made = 0;
	uint32_t level = 0;
	struct le32 *block = calloc(1, m->block_size);

	if (lblk < 12) {
		root[lblk] = le32_put((uint32_t)pblk);
		free(block);
		return 0;
	}
	lblk -= 12;
	for (level = 1, span = apb; lblk >= span; level++, span *= apb)
		lblk -= span;
	struct le32 *slot = &root[11 + level];
	pblk_t slot_block = 0;
	for (;; level--) {
		pblk_t next = le32_get(*slot);

		if (level == 0)
			break;
		if (next == 0) {
			next = m->next_node--;
			*slot = le32_put((uint32_t)next);
			if (slot_block != 0)
				maps_write_block(m, slot_block, block);
			memset(block, 0, m->block_size);
			maps_write_block(m, next, block);
			made++;
		} else {
			maps_read_block(m, next, block);
		}
		span /= apb;
		slot = &block[lblk / span];
		lblk %= span;
		slot_block = next;
	}
	*slot = le32_put((uint32_t)pblk);
	maps_write_block(m, slot_block, block);
	free(block);
	return made;
}

uint32_t maps_write_indirect(
	struct maps *m, struct inode *ip, const struct maps_run *runs, uint32_t count)
{
	uint32_t written = 0;

	memset(ip->block, 0, sizeof(ip->block));
	ip->flags &= ~INODE_FL_EXTENTS;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t b = 0; b < runs[i].len; b++)
			written += set_pointer(m, ip, (uint64_t)runs[i].lblk + b, runs[i].pblk + b);
	}
	return written;
}

struct extent_piece maps_find(const struct maps_run *runs, uint32_t count, lblk_t lblk)
{
	uint64_t hole = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t end = (uint64_t)runs[i].lblk + runs[i].len;

		if (lblk < runs[i].lblk)
			return (struct extent_piece){
				.lblk = (lblk_t)hole, .len = runs[i].lblk - hole};
		if (lblk < end)
			return (struct extent_piece){
				.type = runs[i].unwritten ? EXTENT_UNWRITTEN : EXTENT_MAPPED,
				.lblk = runs[i].lblk,
				.len = runs[i].len,
				.pblk = runs[i].pblk,
			};
		hole = end;
	}
	return (struct extent_piece){.lblk = (lblk_t)hole, .len = UINT64_C(0x100000000) - hole};
}

uint64_t maps_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void maps_random_runs(const struct maps *m, struct maps_run *runs, uint32_t count, uint32_t len_max,
	uint64_t seed)
{
	uint32_t bpg = blocks_per_group(m->block_size);
	pblk_t start = maps_first_free(m);
	pblk_t at = start;
	lblk_t lblk = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t r = maps_random(&seed);
		uint32_t len = 1 + (uint32_t)(r % len_max);

		lblk += r >> 20 & 1 ? (lblk_t)(r >> 21 & 7) : 0;
		/* The next group's metadata stands in the way. */
		if ((at - (m->block_size == 1024)) % bpg + len > bpg)
			at = (at / bpg + 1) * bpg + start;
		E4_ASSERT(at + len < m->next_node);
		runs[i] = (struct maps_run){
			.lblk = lblk, .len = len, .pblk = at, .unwritten = (r >> 30 & 3) == 0};
		lblk += len;
		at += len + 1;
	}
}

uint8_t maps_pattern(uint64_t offset)
{
	uint64_t state = offset / 8;

	return (uint8_t)(maps_random(&state) >> 8 * (offset % 8)) | 1;
}

void maps_write_data(struct maps *m, const struct maps_run *runs, uint32_t count)
{
	uint8_t *block = malloc(m->block_size);

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t b = 0; b < runs[i].len; b++) {
			uint64_t offset = ((uint64_t)runs[i].lblk + b) * m->block_size;

			for (uint32_t k = 0; k < m->block_size; k++)
				block[k] = runs[i].unwritten ? 0xEE : maps_pattern(offset + k);
			maps_write_block(m, runs[i].pblk + b, block);
		}
	}
	free(block);
}

const char *maps_why(const struct maps *m)
{
	static struct e4_error e;

	e.struct_size = sizeof(e);
	return error_last(m->env, &e) ? e.why : "";
}

void maps_fail_read(struct maps *m, uint64_t nth)
{
	struct e4_fault_plan plan = {
		.struct_size = sizeof(plan), .kinds = E4_FAULT_READ, .nth = nth, .flip_bit = -1};

	E4_ASSERT(e4_blockdev_fault_set(m->fault, &plan) == 0);
}

uint64_t maps_reads(struct maps *m)
{
	return e4_blockdev_fault_count(m->fault, E4_FAULT_READ);
}
