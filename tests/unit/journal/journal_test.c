/*
 * journal_test.c - recovery of logs built by hand, and logs written by journal_append() read back.
 */
#include "base/crc32c.h"
#include "base/mem.h"
#include "format/features.h"
#include "handlog.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define H(n) (HAND_BLOCKS + (n)) /* a home block */

struct format {
	uint32_t block_size, compat, incompat;
};

static const struct format formats[] = {
	{1024, 0, 0},
	{4096, 0, 0},
	{1024, 0, JBD2_INCOMPAT_64BIT},
	{1024, JBD2_COMPAT_CHECKSUM, 0},
	{4096, JBD2_COMPAT_CHECKSUM, JBD2_INCOMPAT_64BIT | JBD2_INCOMPAT_REVOKE},
	{1024, 0, JBD2_INCOMPAT_CSUM_V2},
	{4096, 0, JBD2_INCOMPAT_CSUM_V2 | JBD2_INCOMPAT_64BIT},
	{1024, 0, JBD2_INCOMPAT_CSUM_V3},
	{4096, 0, JBD2_INCOMPAT_CSUM_V3 | JBD2_INCOMPAT_64BIT},
	{1024, 0, JBD2_INCOMPAT_CSUM_V3 | JBD2_INCOMPAT_64BIT | JBD2_INCOMPAT_FAST_COMMIT},
	{65536, 0, JBD2_INCOMPAT_CSUM_V3 | JBD2_INCOMPAT_64BIT},
	{1024, 0, JBD2_INCOMPAT_CSUM_V3 | JBD2_INCOMPAT_ASYNC_COMMIT},
};
#define FORMATS ((int)(sizeof(formats) / sizeof(formats[0])))
#define V3      7 /* index of a plain v3 format */
#define ASYNC   11

static void open_format(struct hand *h, int i, uint32_t start)
{
	hand_open(h, formats[i].block_size, formats[i].compat, formats[i].incompat, start);
}

static const uint64_t a_b_c[] = {H(1), H(2), H(3)};

/* Two transactions, the second over part of the first. */
static void two_transactions(struct hand *h)
{
	static const uint64_t b[] = {H(2)};

	hand_data(h, a_b_c, 3, 10, false);
	hand_commit(h);
	hand_data(h, b, 1, 50, false);
	hand_commit(h);
}

START_TEST(journal_replay__every_format__writes_newest_images_home)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	two_transactions(&h);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 2);
	ck_assert_uint_eq(r.blocks, 4);
	ck_assert_uint_eq(r.next_tid, 9);
	ck_assert_uint_eq(r.head, h.lblk);
	ck_assert_uint_eq(hand_home(&h, H(1)), 10);
	ck_assert_uint_eq(hand_home(&h, H(2)), 50);
	ck_assert_uint_eq(hand_home(&h, H(3)), 12);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__log_wraps__goes_on_at_the_first_block)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	hand_close(&h);
	uint32_t last = h.last;

	open_format(&h, _i, last - 2);
	two_transactions(&h);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 2);
	ck_assert_uint_lt(r.head, 10);
	ck_assert_uint_eq(hand_home(&h, H(2)), 50);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__escaped_block__gets_its_magic_back)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	hand_data(&h, a_b_c, 2, 10, true);
	hand_commit(&h);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(hand_home_word(&h, H(1)), JBD2_MAGIC);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__revoked_block__stays_unless_logged_again)
{
	static const uint64_t gone[] = {H(1), H(2)};
	static const uint64_t again[] = {H(2)};
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	hand_data(&h, a_b_c, 3, 10, false);
	hand_commit(&h);
	hand_revoke(&h, gone, 2);
	hand_commit(&h);
	hand_data(&h, again, 1, 60, false);
	hand_commit(&h);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.revoked, 2);
	ck_assert_uint_eq(hand_home(&h, H(1)), 0);
	ck_assert_uint_eq(hand_home(&h, H(2)), 60);
	ck_assert_uint_eq(hand_home(&h, H(3)), 12);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__last_commit_missing__drops_that_transaction)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	two_transactions(&h);
	hand_data(&h, a_b_c, 3, 90, false);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 2);
	ck_assert_uint_eq(r.next_tid, 9);
	ck_assert_uint_eq(hand_home(&h, H(1)), 10);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__sequence_wraps_around__compares_by_distance)
{
	static const uint64_t gone[] = {H(1)};
	struct journal_recovery r;
	struct journal *j;
	struct hand h;

	open_format(&h, 0, 1);
	h.tid = UINT32_MAX;
	struct be32 tid = be32_put(h.tid);

	ck_assert_int_eq(blockdev_write(h.dev, 0x18, &tid, 4, 0), 0);
	hand_revoke(&h, gone, 1);
	hand_commit(&h);
	hand_data(&h, a_b_c, 3, 10, false);
	hand_commit(&h);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.next_tid, 1);
	ck_assert_uint_eq(r.revoked, 0);
	ck_assert_uint_eq(hand_home(&h, H(1)), 10);
	ck_assert_int_eq(hand_journal(&h, &j), 0);
	journal_close(j);
	hand_close(&h);
}
END_TEST

/* --- damage: the table "Observed failure behaviour" ---------------------------------------------------------------------------- */

START_TEST(journal_replay__data_checksum_wrong__leaves_that_block_out_and_says_so)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, V3, 1);
	two_transactions(&h);
	hand_damage(&h, 2, 100);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_int_eq(r.error, -EBADMSG);
	ck_assert_uint_eq(hand_home(&h, H(1)), 0);
	ck_assert_uint_eq(hand_home(&h, H(3)), 12);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__commit_checksum_wrong__ends_before_it_and_says_so)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, V3, 1);
	two_transactions(&h);
	hand_damage(&h, 5, 17);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert(r.failed_commit);
	ck_assert_uint_eq(r.failed_tid, 7);
	ck_assert_uint_eq(r.transactions, 0);
	ck_assert_uint_eq(hand_home(&h, H(1)), 0);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__async_commit_torn_at_the_end__is_dropped)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, ASYNC, 1);
	two_transactions(&h);
	hand_damage(&h, 8, 17);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert(!r.failed_commit);
	ck_assert_uint_eq(r.next_tid, 8);
	ck_assert_uint_eq(hand_home(&h, H(2)), 11);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__async_commit_torn_in_the_middle__is_corruption)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, ASYNC, 1);
	two_transactions(&h);
	hand_damage(&h, 5, 17);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert(r.failed_commit);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__descriptor_checksum_wrong__is_refused)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, V3, 1);
	two_transactions(&h);
	hand_damage(&h, 6, 500);
	ck_assert_int_eq(hand_replay(&h, &r), -EBADMSG);
	ck_assert_uint_eq(hand_home(&h, H(1)), 0);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__stale_transaction_of_an_earlier_lap__ends_the_log)
{
	struct journal_recovery r;
	struct hand h;

	open_format(&h, V3, 1);
	hand_data(&h, a_b_c, 3, 10, false);
	hand_commit(&h);
	h.sec = 5; /* older than what was committed just now */
	hand_data(&h, a_b_c, 1, 50, false);
	hand_commit(&h);
	hand_damage(&h, 6, 500);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert(!r.failed_commit);
	ck_assert_uint_eq(r.transactions, 1);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__commit_block_written_in_part__counts)
{
	uint8_t block[1024];
	struct journal_recovery r;
	struct hand h;

	open_format(&h, V3, 1);
	two_transactions(&h);
	ck_assert_int_eq(blockdev_read(h.dev, 8 * 1024, block, sizeof(block)), 0);
	memset(block + 512, 0xAA, 512);
	hand_raw(&h, 8, block);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 2);
	hand_close(&h);
}
END_TEST

/* --- hostile logs --------------------------------------------------------------------------------------------------------------- */

START_TEST(journal_replay__home_beyond_the_volume__is_refused)
{
	static const uint64_t far[] = {HAND_HOMES};
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	hand_data(&h, far, 1, 1, false);
	hand_commit(&h);
	ck_assert_int_eq(hand_replay(&h, &r), -EUCLEAN);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__home_inside_the_log__is_refused)
{
	static const uint64_t inside[] = {HAND_BLOCKS - 1};
	struct journal_recovery r;
	struct hand h;

	open_format(&h, _i, 1);
	hand_data(&h, inside, 1, 1, false);
	hand_commit(&h);
	ck_assert_int_eq(hand_replay(&h, &r), -EUCLEAN);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__revoke_count_impossible__is_refused)
{
	static const uint32_t counts[] = {0, 15, 1025, UINT32_MAX};
	struct journal_recovery r;
	struct hand h;

	hand_open(&h, 1024, 0, 0, 1);
	hand_revoke(&h, a_b_c, 3);
	hand_commit(&h);
	struct be32 count = be32_put(counts[_i]);

	ck_assert_int_eq(blockdev_write(h.dev, 1024 + 12, &count, 4, 0), 0);
	ck_assert_int_eq(hand_replay(&h, &r), -EUCLEAN);
	hand_close(&h);
}
END_TEST

START_TEST(journal_replay__descriptors_all_around_the_ring__end)
{
	uint8_t block[1024] = {0};
	struct journal_recovery r;
	struct hand h;

	hand_open(&h, 1024, 0, 0, 1);
	struct disk_jbd2_header head = {be32_put(JBD2_MAGIC), be32_put(JBD2_REVOKE), be32_put(7)};

	memcpy(block, &head, sizeof(head));
	for (uint32_t i = 1; i < HAND_BLOCKS; i++)
		hand_raw(&h, i, block);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 0);
	hand_close(&h);
}
END_TEST

START_TEST(journal_open__superblock_field_impossible__is_refused)
{
	static const struct {
		uint32_t offset, value;
		int err;
	} cases[] = {
		{0x00, 1, -EUCLEAN},               /* magic */
		{0x04, 5, -EUCLEAN},               /* type */
		{0x0C, 2048, -EUCLEAN},            /* block size */
		{0x10, HAND_BLOCKS + 1, -EUCLEAN}, /* longer than the file */
		{0x10, 1000, -EUCLEAN},            /* too short */
		{0x14, 0, -EUCLEAN},               /* first */
		{0x14, HAND_BLOCKS, -EUCLEAN}, {0x1C, HAND_BLOCKS, -EUCLEAN}, /* start */
		{0x28, 0x40, -EOPNOTSUPP},                                    /* incompat */
		{0x2C, 1, -EOPNOTSUPP},                                       /* ro_compat */
		{0x40, 2, -EOPNOTSUPP},                                       /* users */
		{0x28, 0x18, -EUCLEAN},                                       /* v2 and v3 */
	};
	struct be32 value = be32_put(cases[_i].value);
	struct journal *j;
	struct hand h;

	hand_open(&h, 1024, 0, 0, 1);
	ck_assert_int_eq(blockdev_write(h.dev, cases[_i].offset, &value, 4, 0), 0);
	ck_assert_int_eq(hand_journal(&h, &j), cases[_i].err);
	hand_close(&h);
}
END_TEST

/* Nothing that random damage does to a log makes it run away or write elsewhere; AddressSanitizer watches. */
START_TEST(journal_replay__random_damage__ends)
{
	uint32_t seed = 12345u + (uint32_t)_i;

	for (uint32_t round = 0; round < 60; round++) {
		struct journal_recovery r;
		struct hand h;
		int format = (int)(round % (uint32_t)FORMATS);

		if (formats[format].block_size > 4096)
			continue;
		open_format(&h, format, 1);
		two_transactions(&h);
		hand_revoke(&h, a_b_c, 2);
		two_transactions(&h);
		for (uint32_t i = 0; i < 4; i++) {
			seed = seed * 1664525u + 1013904223u;
			hand_damage(&h, 1 + (seed >> 8) % 14, (seed >> 12) % 64);
		}
		(void)hand_replay(&h, &r);
		hand_close(&h);
	}
}
END_TEST

/* Four million records, each of another block: a second or so, not minutes. */
START_TEST(bug_51_four_million_revokes__cost_linear_time)
{
	enum { RECORDS = 4u << 20, PER_BLOCK = (65536 - 16) / 4, LOG = RECORDS / PER_BLOCK + 8 };
	struct journal_run_map run = {.len = LOG + 1100};
	struct journal_recovery r;
	struct journal *j;
	struct hand h;
	uint32_t *block = calloc(1, 65536);

	ck_assert_ptr_nonnull(block);
	hand_open(&h, 65536, 0, 0, 1);
	blockdev_free(h.dev);
	ck_assert_int_eq(blockdev_mem_new(h.env, (uint64_t)(LOG + 1100) * 65536, &h.dev), 0);
	struct disk_jbd2_super s = {.blocksize = be32_put(65536),
		.maxlen = be32_put(LOG + 1100),
		.first = be32_put(1),
		.sequence = be32_put(7),
		.start = be32_put(1),
		.nr_users = be32_put(1),
		.header = {be32_put(JBD2_MAGIC), be32_put(JBD2_SUPER_V2), be32_put(0)}};

	ck_assert_int_eq(blockdev_write(h.dev, 0, &s, sizeof(s), 0), 0);
	for (uint32_t i = 0, n = 0; i * PER_BLOCK < RECORDS; i++) {
		struct disk_jbd2_revoke head = {
			{be32_put(JBD2_MAGIC), be32_put(JBD2_REVOKE), be32_put(7)}, be32_put(65536)};

		memcpy(block, &head, sizeof(head));
		for (uint32_t k = 0; k < PER_BLOCK; k++, n++) {
			struct be32 nr = be32_put(n * 64u + 5000u);

			memcpy(&block[4 + k], &nr, 4);
		}
		hand_raw(&h, 1 + i, block);
		h.lblk = 2 + i;
	}
	h.last = LOG + 1100;
	hand_commit(&h);
	struct journal_config config = {.env = h.env,
		.log_dev = h.dev,
		.home_dev = h.dev,
		.block_size = 65536,
		.home_blocks = UINT64_C(1) << 33,
		.runs = &run,
		.run_count = 1};

	ck_assert_int_eq(journal_open(&config, &j), 0);
	uint64_t before = env_mono_ns(h.env);

	ck_assert_int_eq(journal_replay(j, &r), 0);
	ck_assert_uint_eq(r.transactions, 1);
	ck_assert_uint_lt(env_mono_ns(h.env) - before, UINT64_C(20) * 1000000000);
	journal_close(j);
	free(block);
	hand_close(&h);
}
END_TEST

/* --- writing ------------------------------------------------------------------------------------------------------------------------ */

START_TEST(journal_append__every_format__is_read_back_by_replay)
{
	uint32_t bs = formats[_i].block_size;
	uint32_t count = bs > 4096 ? 20 : 700;
	struct journal_block *blocks = calloc(count, sizeof(*blocks));
	uint8_t *data = malloc((size_t)count * bs);
	struct journal_recovery r;
	struct journal *j;
	struct hand h;

	ck_assert(blocks != NULL && data != NULL);
	open_format(&h, _i, 0);
	for (uint32_t i = 0; i < count; i++) {
		memset(data + (size_t)i * bs, (int)(i * 7 + 1), bs);
		blocks[i] = (struct journal_block){.home = H(10) + i, .data = data + (size_t)i * bs};
	}
	struct be32 magic = be32_put(JBD2_MAGIC);

	memcpy(data + (size_t)5 * bs, &magic, 4);
	ck_assert_int_eq(hand_journal(&h, &j), 0);
	uint32_t head = h.last - 30; /* so that it wraps */

	ck_assert_int_eq(journal_set_tail(j, head, 41), 0);
	ck_assert_int_eq(journal_append(j, &head, 41, blocks, count), 0);
	journal_close(j);

	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 1);
	ck_assert_uint_eq(r.blocks, count);
	ck_assert_uint_eq(r.next_tid, 42);
	ck_assert_uint_eq(r.head, head);
	ck_assert_int_eq(r.error, 0);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(hand_home(&h, H(10) + i), (uint8_t)(i * 7 + 1));
	ck_assert_uint_eq(hand_home_word(&h, H(15)), JBD2_MAGIC);
	free(blocks);
	free(data);
	hand_close(&h);
}
END_TEST

START_TEST(journal_append__more_than_the_log_holds__is_enospc_and_writes_nothing)
{
	struct journal_block *blocks = calloc(HAND_BLOCKS, sizeof(*blocks));
	uint8_t data[1024] = {1};
	struct journal_recovery r;
	struct journal *j;
	struct hand h;

	ck_assert_ptr_nonnull(blocks);
	hand_open(&h, 1024, 0, JBD2_INCOMPAT_CSUM_V3, 0);
	for (uint32_t i = 0; i < HAND_BLOCKS; i++)
		blocks[i] = (struct journal_block){.home = H(1) + i, .data = data};
	ck_assert_int_eq(hand_journal(&h, &j), 0);
	uint32_t head = 1;
	uint32_t most = journal_capacity(j);

	ck_assert_int_eq(journal_set_tail(j, head, 9), 0);
	ck_assert_int_eq(journal_append(j, &head, 9, blocks, most + 1), -ENOSPC);
	ck_assert_uint_eq(head, 1);
	ck_assert_int_eq(journal_append(j, &head, 9, blocks, most), 0);
	journal_close(j);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.blocks, most);
	free(blocks);
	hand_close(&h);
}
END_TEST

/* What an unfinished transaction of the same tid left, its commit block included, never completes ours. */
START_TEST(journal_set_tail__unfinished_transaction_at_the_head__is_ended)
{
	struct journal_recovery r;
	struct journal *j;
	struct hand h;

	open_format(&h, V3, 1);
	hand_data(&h, a_b_c, 3, 10, false);
	hand_commit(&h);
	uint32_t head = h.lblk;

	hand_data(&h, a_b_c, 2, 70, false);
	ck_assert_int_eq(hand_journal(&h, &j), 0);
	ck_assert_int_eq(journal_replay(j, &r), 0);
	ck_assert_uint_eq(r.head, head);
	ck_assert_int_eq(journal_set_tail(j, r.head, r.next_tid), 0);
	journal_close(j);
	hand_commit(&h); /* as if it came late */
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 0);
	hand_close(&h);
}
END_TEST

START_TEST(journal_set_empty__next_tid_is_beyond_every_used_one)
{
	struct journal_recovery r;
	struct journal *j;
	struct hand h;

	open_format(&h, _i, 1);
	two_transactions(&h);
	ck_assert_int_eq(hand_journal(&h, &j), 0);
	ck_assert_int_eq(journal_replay(j, &r), 0);
	uint32_t head = r.head;

	ck_assert_int_eq(journal_set_empty(j, r.next_tid - 1, head, 0), 0);
	journal_close(j);
	ck_assert_int_eq(hand_replay(&h, &r), 0);
	ck_assert_uint_eq(r.transactions, 0);
	ck_assert_uint_gt(r.next_tid, 9);
	ck_assert_uint_eq(r.head, head);
	hand_close(&h);
}
END_TEST

/* --- fast commits ---------------------------------------------------------------------------------------------------------------------- */

struct fc {
	uint8_t block[1024];
	uint32_t at, crc, lblk;
};

static void fc_record(struct fc *f, uint16_t tag, uint16_t len, const void *value)
{
	uint8_t *p = f->block + f->at;

	p[0] = (uint8_t)tag;
	p[1] = 0;
	p[2] = (uint8_t)len;
	p[3] = (uint8_t)(len >> 8);
	memcpy(p + 4, value, len);
	f->crc = crc32c(f->crc, p, 4u + len);
	f->at += 4u + len;
}

static void fc_head(struct fc *f, uint32_t tid)
{
	struct le32 v[2] = {le32_put(0), le32_put(tid)};

	fc_record(f, FC_HEAD, 8, v);
}

/* Ends a commit and its block. */
static void fc_tail(struct hand *h, struct fc *f, uint32_t tid, uint32_t crc_xor)
{
	uint8_t *p = f->block + f->at;
	uint16_t len = (uint16_t)(1024 - f->at - 4);
	struct le32 v = le32_put(tid);

	p[0] = FC_TAIL;
	p[2] = (uint8_t)len;
	p[3] = (uint8_t)(len >> 8);
	memcpy(p + 4, &v, 4);
	f->crc = crc32c(f->crc, p, 8);
	v = le32_put(f->crc ^ crc_xor);
	memcpy(p + 8, &v, 4);
	hand_raw(h, f->lblk++, f->block);
	memset(f->block, 0, sizeof(f->block));
	f->at = f->crc = 0;
}

static int fc_read(struct hand *h, uint32_t tid, uint32_t *ret_len)
{
	uint8_t *records;
	struct journal *j;

	ck_assert_int_eq(hand_journal(h, &j), 0);
	int err = journal_fc_read(j, tid, &records, ret_len);

	if (err == 0)
		mem_free(h->env, records, *ret_len);
	journal_close(j);
	return err;
}

static const uint8_t range[12];

START_TEST(journal_fc_read__complete_commits__are_taken_and_the_unfinished_one_is_not)
{
	uint32_t len;
	struct hand h;

	hand_open(&h, 1024, 0, JBD2_INCOMPAT_FAST_COMMIT | JBD2_INCOMPAT_CSUM_V3, 1);
	struct fc f = {.lblk = h.last + 1};

	fc_head(&f, 7);
	fc_record(&f, FC_DEL_RANGE, 12, range);
	fc_tail(&h, &f, 7, 0);
	fc_record(&f, FC_DEL_RANGE, 12, range);
	fc_tail(&h, &f, 7, 0);
	fc_record(&f, FC_DEL_RANGE, 12, range);
	fc_tail(&h, &f, 7, 1);
	ck_assert_int_eq(fc_read(&h, 7, &len), 0);
	ck_assert_uint_eq(len, 32);
	ck_assert_int_eq(fc_read(&h, 8, &len), 0); /* another tid's: a full commit came after it */
	ck_assert_uint_eq(len, 0);
	hand_close(&h);
}
END_TEST

START_TEST(journal_fc_read__first_commit_with_wrong_checksum__is_refused)
{
	uint32_t len;
	struct hand h;

	hand_open(&h, 1024, 0, JBD2_INCOMPAT_FAST_COMMIT | JBD2_INCOMPAT_CSUM_V3, 1);
	struct fc f = {.lblk = h.last + 1};

	fc_head(&f, 7);
	fc_record(&f, FC_DEL_RANGE, 12, range);
	fc_tail(&h, &f, 7, 1);
	ck_assert_int_eq(fc_read(&h, 7, &len), -EBADMSG);
	hand_close(&h);
}
END_TEST

START_TEST(journal_fc_read__random_damage__stays_inside_its_block)
{
	uint32_t seed = 99;

	for (uint32_t round = 0; round < 300; round++) {
		uint32_t len;
		struct hand h;

		hand_open(&h, 1024, 0, JBD2_INCOMPAT_FAST_COMMIT, 1);
		struct fc f = {.lblk = h.last + 1};

		fc_head(&f, 7);
		for (uint32_t i = 0; i < 20; i++)
			fc_record(&f, FC_DEL_RANGE, 12, range);
		fc_tail(&h, &f, 7, 0);
		for (uint32_t i = 0; i < 3; i++) {
			seed = seed * 1664525u + 1013904223u;
			hand_damage(&h, h.last + 1, (seed >> 8) % 512);
		}
		int err = fc_read(&h, 7, &len);

		ck_assert(err == 0 || err == -EBADMSG || err == -EOPNOTSUPP);
		hand_close(&h);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("journal");
	TCase *t = tcase_create("journal");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, journal_replay__every_format__writes_newest_images_home, 0, FORMATS);
	tcase_add_loop_test(t, journal_replay__log_wraps__goes_on_at_the_first_block, 0, FORMATS);
	tcase_add_loop_test(t, journal_replay__escaped_block__gets_its_magic_back, 0, FORMATS);
	tcase_add_loop_test(t, journal_replay__revoked_block__stays_unless_logged_again, 0, FORMATS);
	tcase_add_loop_test(
		t, journal_replay__last_commit_missing__drops_that_transaction, 0, FORMATS);
	tcase_add_test(t, journal_replay__sequence_wraps_around__compares_by_distance);
	tcase_add_test(t, journal_replay__data_checksum_wrong__leaves_that_block_out_and_says_so);
	tcase_add_test(t, journal_replay__commit_checksum_wrong__ends_before_it_and_says_so);
	tcase_add_test(t, journal_replay__async_commit_torn_at_the_end__is_dropped);
	tcase_add_test(t, journal_replay__async_commit_torn_in_the_middle__is_corruption);
	tcase_add_test(t, journal_replay__descriptor_checksum_wrong__is_refused);
	tcase_add_test(t, journal_replay__stale_transaction_of_an_earlier_lap__ends_the_log);
	tcase_add_test(t, journal_replay__commit_block_written_in_part__counts);
	tcase_add_loop_test(t, journal_replay__home_beyond_the_volume__is_refused, 0, FORMATS);
	tcase_add_loop_test(t, journal_replay__home_inside_the_log__is_refused, 0, FORMATS);
	tcase_add_loop_test(t, journal_replay__revoke_count_impossible__is_refused, 0, 4);
	tcase_add_test(t, journal_replay__descriptors_all_around_the_ring__end);
	tcase_add_loop_test(t, journal_open__superblock_field_impossible__is_refused, 0, 12);
	tcase_add_loop_test(t, journal_replay__random_damage__ends, 0, 10);
	tcase_add_test(t, bug_51_four_million_revokes__cost_linear_time);
	tcase_add_loop_test(t, journal_append__every_format__is_read_back_by_replay, 0, FORMATS);
	tcase_add_test(t, journal_append__more_than_the_log_holds__is_enospc_and_writes_nothing);
	tcase_add_test(t, journal_set_tail__unfinished_transaction_at_the_head__is_ended);
	tcase_add_loop_test(t, journal_set_empty__next_tid_is_beyond_every_used_one, 0, FORMATS);
	tcase_add_test(t, journal_fc_read__complete_commits__are_taken_and_the_unfinished_one_is_not);
	tcase_add_test(t, journal_fc_read__first_commit_with_wrong_checksum__is_refused);
	tcase_add_test(t, journal_fc_read__random_damage__stays_inside_its_block);
	suite_add_tcase(suite, t);
	return unit_run(suite);
}
