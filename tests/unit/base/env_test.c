/* env_test.c - hooks, budget, failures, contexts, epochs: what every volume stands on. */
#include "base/atomic.h"
#include "base/env.h"
#include "unit.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8

struct host {
	uint64_t live_bytes;
	uint64_t fail_at; /* this many allocations from now on; 0 = never */
	char last_line[400];
};

static void *host_alloc(void *ctx, size_t size, size_t align)
{
	struct host *h = ctx;
	void *p = NULL;

	if (h->fail_at != 0 && --h->fail_at == 0)
		return NULL;
	if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size) != 0)
		return NULL;
	h->live_bytes += size;
	return p;
}

static void host_free(void *ctx, void *ptr, size_t size)
{
	struct host *h = ctx;

	if (ptr != NULL)
		h->live_bytes -= size;
	free(ptr);
}

static void host_log(void *ctx, enum e4_log_level level, const char *line)
{
	struct host *h = ctx;

	(void)level;
	strncpy(h->last_line, line, sizeof(h->last_line) - 1);
}

static struct env *env_with(struct host *h, uint64_t budget)
{
	struct e4_hooks hooks;
	struct env *env;

	e4_hooks_init(&hooks);
	hooks.ctx = h;
	hooks.alloc = host_alloc;
	hooks.free = host_free;
	hooks.log = host_log;
	hooks.log_level = E4_LOG_DEBUG;
	ck_assert_int_eq(env_new(&hooks, budget, &env), 0);
	return env;
}

START_TEST(env__put__gives_every_byte_back_to_the_host)
{
	struct host h = {0};
	struct env *env = env_with(&h, 0);
	void *p = mem_zalloc(env, 1000);

	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_nonnull(context_get(env));
	mem_free(env, p, 1000);
	env_put(env);
	ck_assert_uint_eq(h.live_bytes, 0);
}
END_TEST

START_TEST(mem__over_budget__is_refused_and_not_counted)
{
	struct host h = {0};
	struct env *env = env_with(&h, 10000);
	void *a = mem_zalloc(env, 6000);

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_null(mem_zalloc(env, 6000));
	ck_assert_uint_eq(mem_used_bytes(env), 6000);
	ck_assert_ptr_null(mem_zalloc_array(env, SIZE_MAX / 2, 3));
	mem_free(env, a, 6000);
	a = mem_zalloc(env, 6000);
	ck_assert_ptr_nonnull(a);
	mem_free(env, a, 6000);
	env_put(env);
}
END_TEST

START_TEST(env__without_memory__says_so)
{
	struct host h = {.fail_at = 1};
	struct e4_hooks hooks;
	struct env *env;

	e4_hooks_init(&hooks);
	hooks.ctx = &h;
	hooks.alloc = host_alloc;
	hooks.free = host_free;
	ck_assert_int_eq(env_new(&hooks, 0, &env), -ENOMEM);
}
END_TEST

START_TEST(fail__returns_the_rows_errno_and_is_remembered)
{
	struct host h = {0};
	struct env *env = env_with(&h, 0);
	struct e4_error e = {.struct_size = sizeof(e)};

	ck_assert(!error_last(env, &e));
	ck_assert_int_eq(e.err, 0);
	ck_assert_int_eq(
		fail(env, E4_WHY_SUPER_MAGIC, .found = 7, .expected = 0xEF53, .block = 3, .ino = 12),
		-EINVAL);
	ck_assert(error_last(env, &e));
	ck_assert_int_eq(e.err, -EINVAL);
	ck_assert_str_eq(e.why, "SUPER_MAGIC");
	ck_assert_uint_eq(e.found, 7);
	ck_assert_uint_eq(e.block, 3);
	ck_assert_ptr_nonnull(strstr(e.text, "inode 12, block 3, found 7, expected 61267)"));
	ck_assert_ptr_nonnull(strstr(h.last_line, "SUPER_MAGIC"));
	ck_assert_int_eq(fail(env, E4_WHY_SUPER_MAGIC, .err = -EIO), -EIO);
	env_put(env);
}
END_TEST

START_TEST(fail__more_than_the_ring_holds__keeps_the_newest)
{
	struct host h = {0};
	struct env *env = env_with(&h, 0);
	struct e4_error e = {.struct_size = sizeof(e)};

	for (uint64_t i = 1; i <= 3 * ERROR_RING_SIZE + 5; i++)
		(void)fail(env, E4_WHY_SUPER_MAGIC, .found = i);
	ck_assert(error_last(env, &e));
	ck_assert_uint_eq(e.found, 3 * ERROR_RING_SIZE + 5);
	ck_assert_uint_eq(e.sequence, 3 * ERROR_RING_SIZE + 5);
	ck_assert_uint_eq(error_count(env), 3 * ERROR_RING_SIZE + 5);
	env_put(env);
}
END_TEST

static void *fail_as(void *arg)
{
	struct env *env = arg;
	struct e4_error e = {.struct_size = sizeof(e)};

	ck_assert(!error_last(env, &e));
	(void)fail(env, E4_WHY_SUPER_CSUM, .found = 99);
	ck_assert(error_last(env, &e));
	ck_assert_uint_eq(e.found, 99);
	return NULL;
}

START_TEST(error_last__other_threads_failures__are_not_mine)
{
	struct host h = {0};
	struct env *env = env_with(&h, 0);
	struct e4_error e = {.struct_size = sizeof(e)};
	pthread_t t;

	(void)fail(env, E4_WHY_SUPER_MAGIC, .found = 1);
	pthread_create(&t, NULL, fail_as, env);
	pthread_join(t, NULL);
	ck_assert(error_last(env, &e));
	ck_assert_uint_eq(e.found, 1);
	env_put(env);
}
END_TEST

static int rings_closed;

static void ring_closed(struct context *ctx)
{
	(void)ctx;
	rings_closed++;
}

static void *use_context(void *arg)
{
	struct env *env = arg;
	struct context *ctx = context_get(env);

	ck_assert_ptr_eq(ctx, context_get(env));
	ctx->ring = &rings_closed;
	ctx->ring_close = ring_closed;
	return ctx;
}

START_TEST(context__of_a_thread_that_ended__is_drained_and_used_again)
{
	struct host h = {0};
	struct env *env = env_with(&h, 0);
	pthread_t t;
	void *first;
	void *second;

	rings_closed = 0;
	pthread_create(&t, NULL, use_context, env);
	pthread_join(t, &first);
	ck_assert_int_eq(rings_closed, 1);
	pthread_create(&t, NULL, use_context, env);
	pthread_join(t, &second);
	ck_assert_ptr_eq(first, second);
	env_put(env);
}
END_TEST

static pthread_barrier_t barrier;

static void *outlive(void *arg)
{
	struct env *env = *(struct env **)arg;

	(void)context_get(env);
	pthread_barrier_wait(&barrier); /* the main thread frees env now */
	pthread_barrier_wait(&barrier);
	return NULL;
}

START_TEST(context__thread_outlives_the_volume__touches_nothing_freed)
{
	struct host h = {0};
	struct env *env = env_with(&h, 0);
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, outlive, &env);
	pthread_barrier_wait(&barrier);
	env_put(env);
	pthread_barrier_wait(&barrier);
	pthread_join(t, NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_uint_eq(h.live_bytes, 0);
}
END_TEST

START_TEST(context__more_volumes_than_the_cache_holds__each_works)
{
	struct env *envs[20];

	for (unsigned i = 0; i < 20; i++)
		ck_assert_int_eq(env_new(NULL, 0, &envs[i]), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 20; i++)
			ck_assert_ptr_eq(context_get(envs[i])->env, envs[i]);
	}
	for (unsigned i = 0; i < 20; i++)
		env_put(envs[i]);
}
END_TEST

START_TEST(context__bound_by_hand__is_used_until_unbound)
{
	struct env *env;
	struct context *mine;
	struct context *fibre;

	ck_assert_int_eq(env_new(NULL, 0, &env), 0);
	mine = context_get(env);
	ck_assert_int_eq(context_new(env, &fibre), 0);
	ck_assert_int_eq(context_bind(env, fibre), 0);
	ck_assert_ptr_eq(context_get(env), fibre);
	ck_assert_int_eq(context_bind(env, NULL), 0);
	ck_assert_ptr_eq(context_get(env), mine);
	context_free(fibre);
	env_put(env);
}
END_TEST

struct snapshot {
	struct epoch_item item;
	_Atomic uint64_t magic;
};

struct shared {
	struct env *env;
	_Atomic(struct snapshot *) current;
	_Atomic bool stop;
};

static void snapshot_release(struct env *env, struct epoch_item *item)
{
	struct snapshot *s = (struct snapshot *)(void *)item;

	atomic_store(&s->magic, 0xDEAD);
	mem_free(env, s, sizeof(*s));
}

static struct snapshot *snapshot_new(struct env *env)
{
	struct snapshot *s = mem_zalloc(env, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	atomic_store(&s->magic, 0x600D);
	return s;
}

static void *read_snapshots(void *arg)
{
	struct shared *sh = arg;
	struct context *ctx = context_get(sh->env);

	while (!atomic_load(&sh->stop)) {
		uint64_t rmw = base_rmw_count;

		epoch_enter(ctx, &sh->env->epochs);
		ck_assert_uint_eq(atomic_load(&atomic_load(&sh->current)->magic), 0x600D);
		epoch_leave(ctx);
		ck_assert_uint_eq(base_rmw_count, rmw);
	}
	return NULL;
}

START_TEST(epoch__readers_under_replacement__never_see_freed_memory)
{
	struct shared sh = {0};
	pthread_t t[THREADS];

	ck_assert_int_eq(env_new(NULL, 0, &sh.env), 0);
	atomic_store(&sh.current, snapshot_new(sh.env));
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, read_snapshots, &sh);
	for (unsigned i = 0; i < 5000; i++) {
		struct snapshot *old = atomic_exchange(&sh.current, snapshot_new(sh.env));

		epoch_retire(sh.env, &old->item, snapshot_release);
	}
	atomic_store(&sh.stop, true);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	struct snapshot *last = atomic_load(&sh.current);
	mem_free(sh.env, last, sizeof(*last));
	env_put(sh.env); /* asserts that all memory came back */
}
END_TEST

START_TEST(epoch__reader_inside__holds_what_was_retired_after_it_entered)
{
	struct env *env;

	ck_assert_int_eq(env_new(NULL, 0, &env), 0);
	struct context *ctx = context_get(env);
	uint64_t before = mem_used_bytes(env);
	struct snapshot *s = snapshot_new(env);

	epoch_enter(ctx, &env->epochs);
	epoch_retire(env, &s->item, snapshot_release);
	epoch_reclaim(env);
	ck_assert_uint_eq(atomic_load(&s->magic), 0x600D);
	epoch_leave(ctx);
	epoch_reclaim(env);
	ck_assert_uint_eq(mem_used_bytes(env), before);
	env_put(env);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base/env");
	TCase *tc = tcase_create("env");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, env__put__gives_every_byte_back_to_the_host);
	tcase_add_test(tc, mem__over_budget__is_refused_and_not_counted);
	tcase_add_test(tc, env__without_memory__says_so);
	tcase_add_test(tc, fail__returns_the_rows_errno_and_is_remembered);
	tcase_add_test(tc, fail__more_than_the_ring_holds__keeps_the_newest);
	tcase_add_test(tc, error_last__other_threads_failures__are_not_mine);
	tcase_add_test(tc, context__of_a_thread_that_ended__is_drained_and_used_again);
	tcase_add_test(tc, context__thread_outlives_the_volume__touches_nothing_freed);
	tcase_add_test(tc, context__more_volumes_than_the_cache_holds__each_works);
	tcase_add_test(tc, context__bound_by_hand__is_used_until_unbound);
	tcase_add_test(tc, epoch__readers_under_replacement__never_see_freed_memory);
	tcase_add_test(tc, epoch__reader_inside__holds_what_was_retired_after_it_entered);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
