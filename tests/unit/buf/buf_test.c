/* buf_test.c - the metadata block cache: each block once, verified as what it is asked for, bounded, honest about errors. */
#include "buf/buf.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define BLOCK   4096u
#define BLOCKS  512u
#define THREADS 8

static struct env *env;
static struct e4_blockdev *mem;
static struct e4_blockdev *dev;
static struct buf_cache *cache;

/* Block n is filled with (uint8_t)n, its last byte with n ^ 0xFF as a checksum; block 7 has a bad one. */
static void setup_with(uint64_t limit)
{
	uint8_t block[BLOCK];

	ck_assert_int_eq(env_new(NULL, 0, &env), 0);
	ck_assert_int_eq(blockdev_mem_new(env, (uint64_t)BLOCK * BLOCKS, &mem), 0);
	for (uint32_t n = 0; n < BLOCKS; n++) {
		memset(block, (int)n, BLOCK);
		block[BLOCK - 1] = (uint8_t)(n == 7 ? n : n ^ 0xFF);
		ck_assert_int_eq(blockdev_write(mem, (uint64_t)n * BLOCK, block, BLOCK, 0), 0);
	}
	ck_assert_int_eq(e4_blockdev_fault(mem, &dev), 0);
	ck_assert_int_eq(buf_cache_new(&(struct buf_cache_config){.env = env,
					       .dev = dev,
					       .block_size = BLOCK,
					       .csum = true,
					       .blocks_count = BLOCKS,
					       .limit_bytes = limit},
				 &cache),
		0);
}

static void setup(void)
{
	setup_with(1 << 20);
}

static void teardown(void)
{
	buf_cache_free(cache);
	blockdev_free(dev);
	blockdev_free(mem);
	env_put(env);
}

static _Atomic int verified;

static int verify_even(const struct buf_owner *o, const void *data)
{
	const uint8_t *p = data;

	atomic_fetch_add(&verified, 1);
	return p[0] % 2 == 0 ? 0 : fail(o->env, E4_WHY_BUF_BEYOND, .block = o->pblk);
}

static bool csum_ok(const struct buf_owner *o, const void *data)
{
	const uint8_t *p = data;

	return (p[BLOCK - 1] ^ p[0]) == 0xFF && o->seed != 13;
}

static const struct buf_kind kind_even = {.name = "even", .verify = verify_even};
static const struct buf_kind kind_summed = {.name = "summed", .csum_ok = csum_ok};

START_TEST(buf_get__twice__reads_once_and_is_the_same)
{
	struct buf *a;
	struct buf *b;

	ck_assert_int_eq(buf_get(cache, 5, &buf_kind_plain, 0, 0, &a), 0);
	ck_assert_int_eq(buf_get(cache, 5, &buf_kind_plain, 0, 0, &b), 0);
	ck_assert_ptr_eq(a, b);
	ck_assert_uint_eq(a->data[100], 5);
	buf_put(a);
	buf_put(b);
	ck_assert_uint_eq(e4_blockdev_fault_count(dev, E4_FAULT_READ), 1);
}
END_TEST

START_TEST(buf_get__verified_once_for_each_kind_and_seed)
{
	struct buf *b;

	atomic_store(&verified, 0);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(buf_get(cache, 4, &kind_even, 12, 1, &b), 0);
		buf_put(b);
	}
	ck_assert_int_eq(atomic_load(&verified), 1);
	ck_assert_int_eq(buf_get(cache, 4, &kind_summed, 12, 1, &b), 0);
	buf_put(b);
	ck_assert_int_eq(buf_get(cache, 4, &kind_summed, 12, 13, &b), -EBADMSG);
	ck_assert_int_eq(buf_get(cache, 4, &kind_even, 12, 1, &b), 0);
	buf_put(b);
	ck_assert_int_eq(atomic_load(&verified), 2);
	ck_assert_int_eq(buf_get(cache, 5, &kind_even, 12, 1, &b), -EUCLEAN);
	ck_assert_int_eq(buf_get(cache, 5, &buf_kind_plain, 12, 1, &b), 0);
	buf_put(b);
}
END_TEST

START_TEST(buf_get__bad_checksum__is_EBADMSG_naming_the_block)
{
	struct e4_error e = {.struct_size = sizeof(e)};
	struct buf *b;

	ck_assert_int_eq(buf_get(cache, 7, &kind_summed, 12, 0, &b), -EBADMSG);
	ck_assert(error_last(env, &e));
	ck_assert_uint_eq(e.block, 7);
	ck_assert_str_eq(e.why, "BUF_CSUM");
}
END_TEST

START_TEST(buf_get__beyond_the_volume__is_EUCLEAN)
{
	struct buf *b;

	ck_assert_int_eq(buf_get(cache, BLOCKS, &buf_kind_plain, 0, 0, &b), -EUCLEAN);
	ck_assert_int_eq(buf_get(cache, UINT64_MAX, &buf_kind_plain, 0, 0, &b), -EUCLEAN);
}
END_TEST

START_TEST(buf_get__device_error__passes_on_and_is_not_kept)
{
	struct e4_fault_plan plan = {.struct_size = sizeof(plan),
		.kinds = E4_FAULT_READ,
		.nth = 1,
		.count = 1,
		.err = -ENODATA,
		.flip_bit = -1};
	struct buf *b;

	ck_assert_int_eq(e4_blockdev_fault_set(dev, &plan), 0);
	ck_assert_int_eq(buf_get(cache, 9, &buf_kind_plain, 0, 0, &b), -ENODATA);
	ck_assert_int_eq(buf_get(cache, 9, &buf_kind_plain, 0, 0, &b), 0);
	ck_assert_uint_eq(b->data[0], 9);
	buf_put(b);
}
END_TEST

START_TEST(buf_read_ahead__one_request__and_an_error_condemns_nobody)
{
	struct e4_fault_plan plan = {.struct_size = sizeof(plan),
		.kinds = E4_FAULT_READ,
		.nth = 1,
		.count = 1,
		.err = -EIO,
		.flip_bit = -1};
	struct buf *b;

	ck_assert_int_eq(e4_blockdev_fault_set(dev, &plan), 0);
	buf_read_ahead(cache, 20, 8);
	ck_assert_int_eq(buf_get(cache, 21, &buf_kind_plain, 0, 0, &b), 0);
	buf_put(b);
	plan.nth = 0;
	ck_assert_int_eq(e4_blockdev_fault_set(dev, &plan), 0);
	buf_read_ahead(cache, 20, 8);
	ck_assert_uint_eq(
		e4_blockdev_fault_count(dev, E4_FAULT_READ), 2); /* 20, then 22..27: 21 is there */
	for (uint32_t n = 20; n < 28; n++) {
		ck_assert_int_eq(buf_get(cache, n, &buf_kind_plain, 0, 0, &b), 0);
		ck_assert_uint_eq(b->data[5], n);
		buf_put(b);
	}
	ck_assert_uint_eq(e4_blockdev_fault_count(dev, E4_FAULT_READ), 2);
	buf_read_ahead(cache, BLOCKS - 2, 100);
	buf_read_ahead(cache, BLOCKS + 2, 100);
}
END_TEST

START_TEST(buf_put__past_the_limit__memory_stays_bounded)
{
	struct buf *b;

	teardown();
	setup_with(16 * 4 * BLOCK);
	for (unsigned round = 0; round < 2; round++) {
		for (uint32_t n = 0; n < BLOCKS; n++) {
			ck_assert_int_eq(buf_get(cache, n, &buf_kind_plain, 0, 0, &b), 0);
			buf_put(b);
			ck_assert_uint_le(buf_cache_bytes(cache), 16 * 4 * BLOCK);
		}
	}
}
END_TEST

START_TEST(buf_get__no_memory__says_so_and_recovers)
{
	struct buf *b;

	env->mem.budget_bytes = mem_used_bytes(env) + 10;
	ck_assert_int_eq(buf_get(cache, 3, &buf_kind_plain, 0, 0, &b), -ENOMEM);
	env->mem.budget_bytes = 0;
	ck_assert_int_eq(buf_get(cache, 3, &buf_kind_plain, 0, 0, &b), 0);
	buf_put(b);
}
END_TEST

static void *hammer(void *arg)
{
	uint32_t x = (uint32_t)(uintptr_t)arg * 2654435761u + 1;
	struct buf *b;

	for (unsigned i = 0; i < 4000; i++) {
		x = x * 1664525u + 1013904223u;
		uint32_t n = (x >> 8) % BLOCKS;

		if (x >> 30 == 0)
			buf_read_ahead(cache, n, 8);
		if (n == 7)
			continue;
		ck_assert_int_eq(buf_get(cache, n, &kind_summed, 12, 0, &b), 0);
		ck_assert_uint_eq(b->data[17], n & 0xFF);
		buf_put(b);
	}
	return NULL;
}

START_TEST(buf_get__eight_threads_in_a_small_cache__everybody_sees_his_block)
{
	pthread_t t[THREADS];

	teardown();
	setup_with(16 * 2 * BLOCK);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, hammer, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("buf/buf");
	TCase *tc = tcase_create("buf");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, buf_get__twice__reads_once_and_is_the_same);
	tcase_add_test(tc, buf_get__verified_once_for_each_kind_and_seed);
	tcase_add_test(tc, buf_get__bad_checksum__is_EBADMSG_naming_the_block);
	tcase_add_test(tc, buf_get__beyond_the_volume__is_EUCLEAN);
	tcase_add_test(tc, buf_get__device_error__passes_on_and_is_not_kept);
	tcase_add_test(tc, buf_read_ahead__one_request__and_an_error_condemns_nobody);
	tcase_add_test(tc, buf_put__past_the_limit__memory_stays_bounded);
	tcase_add_test(tc, buf_get__no_memory__says_so_and_recovers);
	tcase_add_test(tc, buf_get__eight_threads_in_a_small_cache__everybody_sees_his_block);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
