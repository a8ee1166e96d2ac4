/*
 * handlog.c - logs built by hand. Written apart from the library's own writer, so that the two check each other.
 */
#include "handlog.h"

#include "base/crc32c.h"
#include "format/csum.h"
#include "format/features.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void must(int err)
{
	if (err != 0)
		abort();
}

static bool with_csum(const struct hand *h)
{
	return (h->incompat & (JBD2_INCOMPAT_CSUM_V2 | JBD2_INCOMPAT_CSUM_V3)) != 0;
}

static void put32(uint8_t *p, uint32_t v)
{
	struct be32 b = be32_put(v);

	memcpy(p, &b, 4);
}

void hand_raw(struct hand *h, uint32_t lblk, const void *block)
{
	must(blockdev_write(h->dev, (uint64_t)lblk * h->block_size, block, h->block_size, 0));
}

static void append(struct hand *h, const uint8_t *block)
{
	hand_raw(h, h->lblk, block);
	h->lblk = h->lblk + 1 == h->last ? 1 : h->lblk + 1;
}

void hand_open(
	struct hand *h, uint32_t block_size, uint32_t compat, uint32_t incompat, uint32_t start)
{
	struct disk_jbd2_super s;

	*h = (struct hand){.block_size = block_size,
		.compat = compat,
		.incompat = incompat,
		.tid = 7,
		.sec = 1000};
	h->lblk = start != 0 ? start : 1;
	h->last = HAND_BLOCKS - ((incompat & JBD2_INCOMPAT_FAST_COMMIT) != 0 ? HAND_FC : 0);
	h->crc = CRC32C_SEED;
	must(env_new(NULL, 0, &h->env));
	must(blockdev_mem_new(h->env, (uint64_t)HAND_HOMES * block_size, &h->dev));
	memset(&s, 0, sizeof(s));
	s.header.magic = be32_put(JBD2_MAGIC);
	s.header.blocktype = be32_put(JBD2_SUPER_V2);
	s.blocksize = be32_put(block_size);
	s.maxlen = be32_put(HAND_BLOCKS);
	s.first = be32_put(1);
	s.sequence = be32_put(h->tid);
	s.start = be32_put(start);
	s.feature_compat = be32_put(compat);
	s.feature_incompat = be32_put(incompat);
	s.nr_users = be32_put(1);
	memcpy(s.uuid, uuid, sizeof(uuid));
	if (with_csum(h)) {
		s.checksum_type = JBD2_CSUM_CRC32C;
		s.checksum = be32_put(csum_jbd2_super(&s));
	}
	must(blockdev_write(h->dev, 0, &s, sizeof(s), 0));
}

void hand_close(struct hand *h)
{
	blockdev_free(h->dev);
	env_put(h->env);
}

static uint8_t *new_block(const struct hand *h, uint32_t type)
{
	uint8_t *block = calloc(1, h->block_size);

	if (block == NULL)
		abort();
	put32(block, JBD2_MAGIC);
	put32(block + 4, type);
	put32(block + 8, h->tid);
	return block;
}

static void seal_tail(const struct hand *h, uint8_t *block)
{
	uint32_t at = h->block_size - 4;

	if (with_csum(h))
		put32(block + at, csum_jbd2_block(csum_jbd2_seed(uuid), block, h->block_size, at));
}

/* One tag; its size. */
static uint32_t put_tag(
	const struct hand *h, uint8_t *p, uint64_t home, uint32_t flags, uint32_t csum)
{
	bool wide = (h->incompat & JBD2_INCOMPAT_64BIT) != 0;
	uint32_t size = 8;

	put32(p, (uint32_t)home);
	put32(p + 4, flags); /* the low 16 bits are at 6 in every layout */
	if ((h->incompat & JBD2_INCOMPAT_CSUM_V3) != 0) {
		put32(p + 8, (uint32_t)(home >> 32));
		put32(p + 12, csum);
		return 16;
	}
	if ((h->incompat & JBD2_INCOMPAT_CSUM_V2) != 0) {
		p[4] = (uint8_t)(csum >> 8);
		p[5] = (uint8_t)csum;
	}
	if (wide) {
		put32(p + 8, (uint32_t)(home >> 32));
		size += 4;
	}
	return size + ((h->incompat & JBD2_INCOMPAT_CSUM_V2) != 0 ? 2 : 0);
}

void hand_data(struct hand *h, const uint64_t *homes, uint32_t n, uint8_t fill, bool escape)
{
	uint8_t *descriptor = new_block(h, JBD2_DESCRIPTOR);
	uint8_t *data = malloc((size_t)n * h->block_size);
	uint32_t at = 12;

	if (data == NULL)
		abort();
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *block = data + (size_t)i * h->block_size;
		uint32_t flags = (i > 0 ? JBD2_TAG_SAME_UUID : 0) | (i == n - 1 ? JBD2_TAG_LAST : 0);

		memset(block, fill + (int)i, h->block_size);
		if (escape) {
			memset(block, 0, 4);
			flags |= JBD2_TAG_ESCAPE;
		}
		at += put_tag(h, descriptor + at, homes[i], flags,
			csum_jbd2_data(csum_jbd2_seed(uuid), h->tid, block, h->block_size));
		at += i == 0 ? 16 : 0;
	}
	seal_tail(h, descriptor);
	append(h, descriptor);
	h->crc = crc32_be(h->crc, descriptor, h->block_size);
	for (uint32_t i = 0; i < n; i++) {
		append(h, data + (size_t)i * h->block_size);
		h->crc = crc32_be(h->crc, data + (size_t)i * h->block_size, h->block_size);
	}
	free(descriptor);
	free(data);
}

void hand_revoke(struct hand *h, const uint64_t *homes, uint32_t n)
{
	uint8_t *block = new_block(h, JBD2_REVOKE);
	uint32_t step = (h->incompat & JBD2_INCOMPAT_64BIT) != 0 ? 8 : 4;

	put32(block + 12, 16 + n * step);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *p = block + 16 + i * step;

		if (step == 8) {
			put32(p, (uint32_t)(homes[i] >> 32));
			p += 4;
		}
		put32(p, (uint32_t)homes[i]);
	}
	seal_tail(h, block);
	append(h, block);
	free(block);
}

void hand_commit(struct hand *h)
{
	uint8_t *block = new_block(h, JBD2_COMMIT);

	put32(block + 0x34, (uint32_t)h->sec);
	if ((h->compat & JBD2_COMPAT_CHECKSUM) != 0) {
		block[12] = JBD2_CSUM_V1_CRC32;
		block[13] = 4;
		put32(block + 16, h->crc);
	}
	if (with_csum(h))
		put32(block + 16, csum_jbd2_block(csum_jbd2_seed(uuid), block, h->block_size, 16));
	append(h, block);
	free(block);
	h->tid++;
	h->sec++;
	h->crc = CRC32C_SEED;
}

void hand_damage(struct hand *h, uint32_t lblk, uint32_t offset)
{
	uint8_t byte;
	uint64_t at = (uint64_t)lblk * h->block_size + offset;

	must(blockdev_read(h->dev, at, &byte, 1));
	byte ^= 0x40;
	must(blockdev_write(h->dev, at, &byte, 1, 0));
}

uint8_t hand_home(struct hand *h, uint64_t home)
{
	uint8_t byte;

	must(blockdev_read(h->dev, home * h->block_size + h->block_size - 1, &byte, 1));
	return byte;
}

uint32_t hand_home_word(struct hand *h, uint64_t home)
{
	uint8_t word[4];

	must(blockdev_read(h->dev, home * h->block_size, word, 4));
	return be32_at(word);
}

int hand_journal(struct hand *h, struct journal **ret)
{
	/* Two runs out of order on the device would do as well; one keeps block numbers readable. */
	struct journal_run_map run = {.len = HAND_BLOCKS};
	struct journal_config config = {
		.env = h->env,
		.log_dev = h->dev,
		.home_dev = h->dev,
		.block_size = h->block_size,
		.home_blocks = HAND_HOMES,
		.runs = &run,
		.run_count = 1,
	};

	return journal_open(&config, ret);
}

int hand_replay(struct hand *h, struct journal_recovery *ret)
{
	struct journal *j;
	int err = hand_journal(h, &j);

	if (err != 0)
		return err;
	err = journal_replay(j, ret);
	journal_close(j);
	return err;
}
