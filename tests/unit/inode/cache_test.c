/*
 * cache_test.c - inodes found, held, forgotten; by many threads under eviction.
 */
#include "fixture.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct inode_cache *cache;
static _Atomic uint32_t evicted, checked;
static _Atomic int check_answer;

static void count_evict(struct inode *ip)
{
	ck_assert_uint_ne(ip->ino, 0);
	atomic_fetch_add(&evicted, 1);
}

static int count_check(struct inode *ip)
{
	ck_assert_uint_ne(ip->mode, 0);
	atomic_fetch_add(&checked, 1);
	return atomic_load(&check_answer);
}

static const struct inode_cache_ops ops = {.evict = count_evict, .check = count_check};

static void setup(void)
{
	fx_setup();
	fx_load();
	atomic_store(&evicted, 0);
	atomic_store(&checked, 0);
	atomic_store(&check_answer, 0);
	for (inum_t ino = 11; ino <= FX_INODES; ino++) {
		struct fx_inode i = fx_inode_new(INODE_REG | 0644);

		i.d.generation = le32_put(ino * 3);
		i.d.uid_lo = le16_put((uint16_t)ino);
		fx_put(ino, &i);
	}
	cache = NULL;
}

static void teardown(void)
{
	inode_cache_free(cache);
	fx_teardown();
}

static void start(uint32_t max_unused)
{
	ck_assert_int_eq(inode_cache_new(fx.vol, &ops, max_unused, &cache), 0);
}

static void touch(inum_t ino)
{
	struct inode *ip;

	ck_assert_int_eq(inode_get(cache, ino, 0, &ip), 0);
	inode_put(ip, 1);
}

START_TEST(inode_get__twice__is_the_same_inode)
{
	struct inode *a, *b;

	start(4);
	ck_assert_int_eq(inode_get(cache, 20, 0, &a), 0);
	ck_assert_int_eq(inode_get(cache, 20, 60, &b), 0);
	ck_assert_ptr_eq(a, b);
	ck_assert_uint_eq(a->uid, 20);
	ck_assert_uint_eq(inode_cache_count(cache), 1);
	ck_assert_uint_eq(inode_cache_held(cache), 1);
	inode_hold(a);
	inode_put(a, 2);
	ck_assert_uint_eq(inode_cache_held(cache), 1);
	inode_put(a, 1);
	ck_assert_uint_eq(inode_cache_held(cache), 0);
	ck_assert_uint_eq(inode_cache_count(cache), 1);
	ck_assert_uint_eq(atomic_load(&checked), 1);
}
END_TEST

START_TEST(inode_get__wrong_generation__is_stale)
{
	struct inode *ip;

	start(4);
	ck_assert_int_eq(inode_get(cache, 20, 61, &ip), -ESTALE);
	ck_assert_str_eq(fx_why(), "INODE_GENERATION");
	ck_assert_uint_eq(inode_cache_held(cache), 0);
}
END_TEST

START_TEST(inode_get__free_inode__is_stale_and_not_kept)
{
	struct fx_inode i;
	struct inode *ip;

	memset(&i, 0, sizeof(i));
	fx_put_unsealed(20, &i);
	start(4);
	ck_assert_int_eq(inode_get(cache, 20, 0, &ip), -ESTALE);
	ck_assert_uint_eq(inode_cache_count(cache), 0);
	i = fx_inode_new(INODE_REG | 0644);
	fx_put(20, &i);
	ck_assert_int_eq(inode_get(cache, 20, 0, &ip), 0);
	inode_put(ip, 1);
}
END_TEST

START_TEST(inode_get__reserved_number__is_corrupt_even_if_cached)
{
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	struct inode *ip, *again;

	fx_put(INODE_JOURNAL, &i);
	start(4);
	ck_assert_int_eq(inode_get_for(cache, INODE_JOURNAL, INODE_FOR_SYSTEM, &ip), 0);
	ck_assert_int_eq(inode_get(cache, INODE_JOURNAL, 0, &again), -EUCLEAN);
	inode_put(ip, 1);
}
END_TEST

START_TEST(inode_get_for__cached_for_another_purpose__is_asked_again)
{
	struct fx_inode i = fx_inode_new(INODE_REG | 0600);
	struct inode *ip, *other;

	i.d.flags = le32_put(INODE_FL_EA_INODE);
	fx_put(20, &i);
	start(4);
	ck_assert_int_eq(inode_get_for(cache, 20, INODE_FOR_EA, &ip), 0);
	ck_assert_int_eq(inode_get(cache, 20, 0, &other), -EUCLEAN);
	ck_assert_str_eq(fx_why(), "INODE_EA_NAMED");
	inode_put(ip, 1);
	ck_assert_int_eq(inode_get(cache, 21, 0, &ip), 0);
	ck_assert_int_eq(inode_get_for(cache, 21, INODE_FOR_EA, &other), -EUCLEAN);
	inode_put(ip, 1);
	ck_assert_uint_eq(inode_cache_held(cache), 0);
}
END_TEST

START_TEST(inode_get__map_is_bad__is_refused_and_what_was_built_goes)
{
	struct inode *ip;

	start(4);
	atomic_store(&check_answer, -EUCLEAN);
	ck_assert_int_eq(inode_get(cache, 20, 0, &ip), -EUCLEAN);
	ck_assert_uint_eq(atomic_load(&evicted), 1);
	ck_assert_uint_eq(inode_cache_count(cache), 0);
}
END_TEST

START_TEST(inode_put__more_unused_than_allowed__forgets_the_longest_unused)
{
	struct inode *held;

	start(4);
	ck_assert_int_eq(inode_get(cache, 20, 0, &held), 0);
	for (inum_t ino = 21; ino < 25; ino++)
		touch(ino);
	ck_assert_uint_eq(atomic_load(&evicted), 0);
	touch(21); /* now 22 is the oldest */
	touch(25);
	ck_assert_uint_eq(atomic_load(&evicted), 1);
	ck_assert_uint_eq(inode_cache_count(cache), 5);
	uint32_t loads = atomic_load(&checked);
	touch(21);
	touch(20);
	ck_assert_uint_eq(atomic_load(&checked), loads);
	touch(22);
	ck_assert_uint_eq(atomic_load(&checked), loads + 1);
	inode_put(held, 1);
}
END_TEST

START_TEST(inode_put__no_unused_allowed__forgets_at_once)
{
	start(0);
	touch(20);
	ck_assert_uint_eq(inode_cache_count(cache), 0);
	ck_assert_uint_eq(atomic_load(&evicted), 1);
}
END_TEST

START_TEST(inode_get__many_held__finds_each)
{
	struct inode *held[FX_INODES + 1];

	start(0); /* one shard, whose table must grow */
	for (inum_t ino = 11; ino <= FX_INODES; ino++)
		ck_assert_int_eq(inode_get(cache, ino, 0, &held[ino]), 0);
	ck_assert_uint_eq(inode_cache_held(cache), FX_INODES - 10);
	for (inum_t ino = 11; ino <= FX_INODES; ino++) {
		struct inode *again;

		ck_assert_int_eq(inode_get(cache, ino, 0, &again), 0);
		ck_assert_ptr_eq(again, held[ino]);
		inode_put(again, 2);
	}
	ck_assert_uint_eq(inode_cache_count(cache), 0);
}
END_TEST

START_TEST(inode_cache_es_totals__sums_what_hangs_on_inodes)
{
	struct inode *a, *b;
	uint64_t records, bytes;

	start(4);
	ck_assert_int_eq(inode_get(cache, 20, 0, &a), 0);
	ck_assert_int_eq(inode_get(cache, 21, 0, &b), 0);
	atomic_store(&a->es.records, 3);
	atomic_store(&b->es.records, 4);
	atomic_store(&b->es.heap_bytes, 100);
	inode_cache_es_totals(cache, &records, &bytes);
	ck_assert_uint_eq(records, 7);
	ck_assert_uint_eq(bytes, 100);
	inode_put(a, 1);
	inode_put(b, 1);
}
END_TEST

/* --- threads --- */

#define THREADS 8
#define ROUNDS  2000

static _Atomic uint32_t wrong;

static void *hammer(void *arg)
{
	uint32_t x = *(uint32_t *)arg * 2654435761u + 1;

	for (int n = 0; n < ROUNDS; n++) {
		struct inode *ip;

		x = x * 1664525 + 1013904223;
		inum_t ino = 11 + (x >> 16) % 60;
		int r = inode_get(cache, ino, x >> 31 ? ino * 3 : 0, &ip);
		if (ino % 10 == 0) { /* these are free */
			if (r != -ESTALE)
				atomic_fetch_add(&wrong, 1);
			continue;
		}
		if (r != 0 || ip->ino != ino || ip->uid != ino || ip->generation != ino * 3) {
			atomic_fetch_add(&wrong, 1);
			continue;
		}
		if (n % 3 == 0) {
			inode_hold(ip);
			inode_put(ip, 2);
		} else {
			inode_put(ip, 1);
		}
	}
	return NULL;
}

/* Limits: none kept, a few, all. */
static const uint32_t limits[] = {0, 8, 40, 1000};

START_TEST(inode_get__eight_threads_under_eviction__each_sees_its_inode)
{
	pthread_t threads[THREADS];
	uint32_t seeds[THREADS];
	struct fx_inode zero;

	memset(&zero, 0, sizeof(zero));
	for (inum_t ino = 20; ino < 80; ino += 10)
		fx_put_unsealed(ino, &zero);
	start(limits[_i]);
	atomic_store(&wrong, 0);
	for (uint32_t t = 0; t < THREADS; t++) {
		seeds[t] = t + 1;
		ck_assert_int_eq(pthread_create(&threads[t], NULL, hammer, &seeds[t]), 0);
	}
	for (uint32_t t = 0; t < THREADS; t++)
		ck_assert_int_eq(pthread_join(threads[t], NULL), 0);
	ck_assert_uint_eq(atomic_load(&wrong), 0);
	ck_assert_uint_eq(inode_cache_held(cache), 0);
	ck_assert_uint_le(inode_cache_count(cache), limits[_i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("inode/cache");
	TCase *tc = tcase_create("cache");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, inode_get__twice__is_the_same_inode);
	tcase_add_test(tc, inode_get__wrong_generation__is_stale);
	tcase_add_test(tc, inode_get__free_inode__is_stale_and_not_kept);
	tcase_add_test(tc, inode_get__reserved_number__is_corrupt_even_if_cached);
	tcase_add_test(tc, inode_get_for__cached_for_another_purpose__is_asked_again);
	tcase_add_test(tc, inode_get__map_is_bad__is_refused_and_what_was_built_goes);
	tcase_add_test(tc, inode_put__more_unused_than_allowed__forgets_the_longest_unused);
	tcase_add_test(tc, inode_put__no_unused_allowed__forgets_at_once);
	tcase_add_test(tc, inode_get__many_held__finds_each);
	tcase_add_test(tc, inode_cache_es_totals__sums_what_hangs_on_inodes);
	tcase_add_loop_test(tc, inode_get__eight_threads_under_eviction__each_sees_its_inode, 0,
		(int)(sizeof(limits) / sizeof(limits[0])));
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
