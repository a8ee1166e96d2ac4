/*
 * uring_test.c - memory registered for queued requests: the same bytes with and without, who may register, what stops it.
 */
#include "base/math.h"
#include "devices.h"
#include "unit.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE   4096u
#define JOBS    48u
#define AREA    (JOBS * 2 * PIECE)
#define THREADS 8u

static uint8_t *buffer(size_t size)
{
	uint8_t *p = aligned_alloc(4096, size);

	ck_assert_ptr_nonnull(p);
	memset(p, 0, size);
	return p;
}

/* A `uring` device on the path, or NULL and said aloud why not: for `skip` where there is no path. */
static struct e4_blockdev *open_path(const char *path, const char *skip)
{
	struct e4_error err = {.struct_size = sizeof(err)};
	struct e4_blockdev_options opts;
	struct e4_blockdev *dev = NULL;
	char spec[300];

	e4_blockdev_options_init(&opts);
	opts.error = &err;
	if (path != NULL) {
		(void)snprintf(spec, sizeof(spec), "uring:%s", path);
		int r = e4_blockdev_open(spec, E4_BLOCKDEV_RDWR, &opts, &dev);
		ck_assert_msg(r == 0 || r == -EOPNOTSUPP || r == -EINVAL, "%s", err.text);
		skip = err.text;
		if (r < 0)
			dev = NULL;
	}
	if (dev != NULL && strcmp(dev->kind, "uring") != 0) {
		ck_assert_int_eq(e4_blockdev_close(dev), 0);
		dev = NULL;
		skip = "io_uring is not permitted here";
	}
	if (dev == NULL)
		printf("# skipped: %s\n", skip);
	return dev;
}

/* The same on a file (0) or a loop device (1). */
static struct e4_blockdev *open_uring(int on_loop)
{
	const char *skip = NULL;
	const char *path = on_loop ? scratch_loop(512, &skip) : scratch_file();

	return open_path(path, skip);
}

static const char *last_why(struct e4_blockdev *dev)
{
	static struct e4_error err;

	err = (struct e4_error){.struct_size = sizeof(err)};
	ck_assert_int_eq(e4_blockdev_last_error(dev, &err), 0);
	return err.why;
}

/*
 * Where a request's memory lies: inside the first buffer, inside the second, across their border (neighbours, but two), in no buffer,
 * half in one, in two pieces.
 */
struct job {
	struct e4_blockdev_request req;
	struct e4_iovec iov[2];
};

static void job_init(struct job *job, enum e4_blockdev_op op, unsigned i, uint64_t base, uint8_t *mem)
{
	uint8_t *at = mem + (size_t)i * 2 * PIECE;

	job->iov[0] = (struct e4_iovec){.base = at, .len = i % 5 == 4 ? PIECE : 2 * PIECE};
	job->iov[1] = (struct e4_iovec){.base = at + PIECE, .len = PIECE};
	job->req = (struct e4_blockdev_request){.op = op,
		.flags = op == E4_BLOCKDEV_WRITE && i % 7 == 3 ? E4_BLOCKDEV_FUA : 0,
		.offset = base + (uint64_t)i * 2 * PIECE,
		.len = 2ull * PIECE,
		.iov = job->iov,
		.iov_count = i % 5 == 4 ? 2 : 1};
}

static void queue_all(struct e4_blockdev *dev, enum e4_blockdev_op op, uint64_t base, uint8_t *mem)
{
	struct e4_blockdev_request *reqs[JOBS];
	struct job jobs[JOBS];
	unsigned seen = 0;

	for (unsigned i = 0; i < JOBS; i++) {
		job_init(&jobs[i], op, i, base, mem);
		reqs[i] = &jobs[i].req;
	}
	ck_assert_int_eq(e4_blockdev_submit(dev, reqs, JOBS), JOBS);
	while (seen < JOBS) {
		int n = e4_blockdev_reap(dev, reqs, 1, JOBS);

		ck_assert_int_gt(n, 0);
		for (int i = 0; i < n; i++)
			ck_assert_int_eq(reqs[i]->result, 0);
		seen += (unsigned)n;
	}
}

/* Registers parts of mem, in an order of no meaning: borders at 9, 20.5 and 30 requests; what is behind 38 is in none. */
static int register_parts(struct e4_blockdev *dev, uint8_t *mem)
{
	const struct e4_iovec bufs[] = {
		{.base = mem + 61 * PIECE, .len = 15 * PIECE},
		{.base = mem, .len = 18 * PIECE},
		{.base = mem + 18 * PIECE, .len = 23 * PIECE},
		{.base = mem + 41 * PIECE, .len = 10 * PIECE},
	};

	return e4_blockdev_buffers_register(dev, bufs, 4);
}

static void both_ways(struct e4_blockdev *dev, uint64_t base, uint32_t seed)
{
	uint8_t *mem = buffer(AREA), *model = buffer(AREA), *back = buffer(AREA);

	for (unsigned round = 0; round < 4; round++) {
		bool with = round % 2 == 0;

		if (with)
			ck_assert_int_eq(register_parts(dev, mem), 0);
		rand_fill(&seed, mem, AREA);
		memcpy(model, mem, AREA);
		queue_all(dev, E4_BLOCKDEV_WRITE, base, mem);
		ck_assert_int_eq(e4_blockdev_read(dev, base, back, AREA), 0);
		ck_assert_mem_eq(back, model, AREA);
		memset(mem, 0xEE, AREA);
		queue_all(dev, E4_BLOCKDEV_READ, base, mem);
		ck_assert_mem_eq(mem, model, AREA);
		if (with)
			ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), 0);
	}
	free(mem);
	free(model);
	free(back);
}

START_TEST(buffers__registered_and_not__move_the_same_bytes)
{
	struct e4_blockdev *dev = open_uring(_i);

	if (dev == NULL)
		return;
	both_ways(dev, 8192, 1);
	device_close(dev);
}
END_TEST

START_TEST(buffers__stacked_devices__hand_them_down)
{
	struct e4_blockdev *dev = open_uring(_i);
	struct e4_blockdev *stack[5];

	if (dev == NULL)
		return;
	stack[0] = dev;
	ck_assert_int_eq(e4_blockdev_window(stack[0], 65536, 0, &stack[1]), 0);
	ck_assert_int_eq(e4_blockdev_trace(stack[1], &stack[2]), 0);
	ck_assert_int_eq(e4_blockdev_record(stack[2], &stack[3]), 0);
	ck_assert_int_eq(e4_blockdev_fault(stack[3], &stack[4]), 0);
	both_ways(stack[4], 8192, 2);
	/* A thread has one registration with the real device, whichever of these made it. */
	uint8_t *mem = buffer(AREA);
	ck_assert_int_eq(register_parts(stack[4], mem), 0);
	ck_assert_int_eq(register_parts(stack[1], mem), -EBUSY);
	ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), 0);
	free(mem);
	for (unsigned i = 4; i > 0; i--)
		ck_assert_int_eq(e4_blockdev_close(stack[i]), 0);
	device_close(dev);
}
END_TEST

START_TEST(buffers__requests_in_flight__keep_them)
{
	struct e4_blockdev *dev = open_uring(_i);

	if (dev == NULL)
		return;
	uint8_t *mem = buffer(AREA);
	struct e4_iovec iov = {.base = mem, .len = PIECE};
	struct e4_blockdev_request req = {
		.op = E4_BLOCKDEV_READ, .len = PIECE, .iov = &iov, .iov_count = 1};
	struct e4_blockdev_request *reqs[] = {&req};

	ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), -ENOENT);
	ck_assert_int_eq(register_parts(dev, mem), 0);
	ck_assert_int_eq(e4_blockdev_submit(dev, reqs, 1), 1);
	ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), -EBUSY);
	ck_assert_str_eq(last_why(dev), "DEV_BUFFERS_KEPT");
	ck_assert_int_eq(e4_blockdev_reap(dev, reqs, 1, 1), 1);
	ck_assert_int_eq(req.result, 0);
	ck_assert_int_eq(register_parts(dev, mem), -EBUSY);
	ck_assert_str_eq(last_why(dev), "DEV_BUFFERS");
	ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), 0);
	ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), -ENOENT);
	/* What is still registered goes with the device. */
	ck_assert_int_eq(register_parts(dev, mem), 0);
	device_close(dev);
	free(mem);
}
END_TEST

struct worker {
	struct e4_blockdev *dev;
	uint64_t base;
	uint32_t seed;
};

static pthread_barrier_t meet;

/* The last registration is left to whoever ends first: an odd thread leaves, an even one waits for the device to be closed. */
static void *work(void *arg)
{
	struct worker *w = arg;
	uint8_t *mem = buffer(AREA);

	both_ways(w->dev, w->base, w->seed);
	ck_assert_int_eq(register_parts(w->dev, mem), 0);
	queue_all(w->dev, E4_BLOCKDEV_READ, w->base, mem);
	if (w->seed % 2 == 0) {
		pthread_barrier_wait(&meet); /* done */
		pthread_barrier_wait(&meet); /* closed */
	}
	free(mem);
	return NULL;
}

START_TEST(buffers__eight_threads__have_each_their_own)
{
	struct e4_blockdev *dev = open_uring(_i);
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	if (dev == NULL)
		return;
	pthread_barrier_init(&meet, NULL, THREADS / 2 + 1);
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.dev = dev, .base = (uint64_t)i * AREA, .seed = i + 1};
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i += 2)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	pthread_barrier_wait(&meet);
	device_close(dev);
	pthread_barrier_wait(&meet);
	for (unsigned i = 1; i < THREADS; i += 2)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	pthread_barrier_destroy(&meet);
}
END_TEST

struct wanderer {
	struct e4_blockdev *dev;
	struct context *ctx;
	uint8_t *mem;
};

/* Goes on in a context that another thread has registered memory in, and takes it back. */
static void *wander(void *arg)
{
	struct wanderer *w = arg;

	ck_assert_int_eq(context_bind(w->dev->env, w->ctx), 0);
	queue_all(w->dev, E4_BLOCKDEV_READ, 8192, w->mem);
	ck_assert_int_eq(e4_blockdev_buffers_unregister(w->dev), 0);
	ck_assert_int_eq(context_bind(w->dev->env, NULL), 0);
	return NULL;
}

START_TEST(buffers__context_bound_by_hand__takes_them_along)
{
	struct wanderer w = {.dev = open_uring(_i)};
	uint8_t *model = buffer(AREA);
	uint32_t seed = 3;
	pthread_t thread;

	if (w.dev == NULL)
		return;
	w.mem = buffer(AREA);
	rand_fill(&seed, model, AREA);
	ck_assert_int_eq(e4_blockdev_write(w.dev, 8192, model, AREA, 0), 0);
	ck_assert_int_eq(context_new(w.dev->env, &w.ctx), 0);
	ck_assert_int_eq(context_bind(w.dev->env, w.ctx), 0);
	ck_assert_int_eq(register_parts(w.dev, w.mem), 0);
	ck_assert_int_eq(context_bind(w.dev->env, NULL), 0);
	/* This thread's own context has none. */
	ck_assert_int_eq(e4_blockdev_buffers_unregister(w.dev), -ENOENT);
	ck_assert_int_eq(pthread_create(&thread, NULL, wander, &w), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_mem_eq(w.mem, model, AREA);
	context_free(w.ctx);
	device_close(w.dev);
	free(w.mem);
	free(model);
}
END_TEST

START_TEST(buffers__impossible_lists__are_refused)
{
	struct e4_blockdev *dev = open_uring(0);

	if (dev == NULL)
		return;
	uint8_t *mem = buffer(PIECE);
	struct e4_iovec none = {.base = NULL, .len = PIECE}, empty = {.base = mem};
	struct e4_iovec large = {.base = mem, .len = (1ull << 30) + 1};
	struct e4_iovec good = {.base = mem, .len = PIECE};

	ck_assert_int_eq(e4_blockdev_buffers_register(NULL, &good, 1), -EINVAL);
	ck_assert_int_eq(e4_blockdev_buffers_register(dev, NULL, 1), -EINVAL);
	ck_assert_int_eq(e4_blockdev_buffers_unregister(NULL), -EINVAL);
	ck_assert_int_eq(e4_blockdev_buffers_register(dev, &good, 0), -EINVAL);
	ck_assert_str_eq(last_why(dev), "DEV_BUFFERS_RANGE");
	ck_assert_int_eq(e4_blockdev_buffers_register(dev, &none, 1), -EINVAL);
	ck_assert_int_eq(e4_blockdev_buffers_register(dev, &empty, 1), -EINVAL);
	ck_assert_int_eq(e4_blockdev_buffers_register(dev, &large, 1), -EINVAL);
	ck_assert_int_eq(e4_blockdev_buffers_register(dev, &good, 1), 0);
	device_close(dev);
	free(mem);
}
END_TEST

/* In a process of its own, which gives up its rights: 0 as it should be, 77 where this cannot be tried. */
static int register_beyond_the_limit(struct e4_blockdev *dev)
{
	const struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
	const size_t size = 8 << 20;
	uint8_t *mem = buffer(size);
	struct e4_iovec buf = {.base = mem, .len = size};
	struct e4_iovec small = {.base = mem, .len = 16 * PIECE};

	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (geteuid() == 0 && setuid(54321) != 0))
		return 77;
	if (e4_blockdev_buffers_register(dev, &buf, 1) != -ENOMEM)
		return 1;
	return e4_blockdev_buffers_register(dev, &small, 1) == 0 ? 0 : 2;
}

START_TEST(buffers__more_than_may_be_locked__is_no_memory_and_less_still_works)
{
	const char *path = scratch_file(); /* this process removes it: the other may not */
	int status = 0;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct e4_blockdev *dev = open_path(path, NULL);
		int r = dev != NULL ? register_beyond_the_limit(dev) : 77;

		if (dev != NULL && e4_blockdev_close(dev) != 0)
			r = 3;
		fflush(stdout);
		_exit(r);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		printf("# skipped: this process cannot give up its right to lock memory\n");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* A table of the caller's own. */
static uint64_t own_bytes;

static int own_geometry(void *ctx, struct e4_geometry *ret)
{
	(void)ctx;
	ret->size = DEVICE_SIZE;
	return 0;
}

static int own_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	(void)ctx, (void)offset, (void)iov, (void)iov_count;
	return 0;
}

static void own_close(void *ctx)
{
	(void)ctx;
}

static int own_submit(void *ctx, struct e4_blockdev_request **reqs, uint32_t count)
{
	(void)ctx, (void)reqs, (void)count;
	return -EIO;
}

static int own_reap(void *ctx, struct e4_blockdev_request **ret, uint32_t min, uint32_t max)
{
	(void)ctx, (void)ret, (void)min, (void)max;
	return 0;
}

static int own_register(void *ctx, const struct e4_iovec *bufs, uint32_t count)
{
	(void)ctx;
	for (uint32_t i = 0; i < count; i++)
		own_bytes += bufs[i].len;
	return 0;
}

static int own_unregister(void *ctx)
{
	(void)ctx;
	own_bytes = 0;
	return 0;
}

START_TEST(buffers__own_table__is_asked_if_it_has_both_functions)
{
	struct e4_blockdev_ops ops = {.struct_size = sizeof(ops),
		.geometry = own_geometry,
		.read = own_read,
		.close = own_close,
		.submit = own_submit,
		.reap = own_reap,
		.buffers_register = own_register,
		.buffers_unregister = own_unregister};
	uint8_t *mem = buffer(AREA);
	struct e4_blockdev *dev, *upper;

	ck_assert_int_eq(e4_blockdev_new(&ops, NULL, NULL, &dev), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 4096, 0, &upper), 0);
	ck_assert_int_eq(register_parts(upper, mem), 0);
	ck_assert_uint_eq(own_bytes, 66ull * PIECE);
	ck_assert_int_eq(e4_blockdev_buffers_unregister(upper), 0);
	ck_assert_uint_eq(own_bytes, 0);
	ck_assert_int_eq(e4_blockdev_close(upper), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	/* A table from before these functions were there. */
	ops.struct_size = offsetof(struct e4_blockdev_ops, buffers_register);
	ck_assert_int_eq(e4_blockdev_new(&ops, NULL, NULL, &dev), 0);
	ck_assert_int_eq(register_parts(dev, mem), -EOPNOTSUPP);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	free(mem);
}
END_TEST

START_TEST(buffers__devices_without_a_queue__refuse_by_name)
{
	struct e4_error err = {.struct_size = sizeof(err)};
	uint8_t *mem = buffer(AREA);
	struct e4_blockdev *dev, *cow;

	ck_assert_int_eq(e4_blockdev_open("mem:1M", E4_BLOCKDEV_RDWR, NULL, &dev), 0);
	ck_assert_int_eq(register_parts(dev, mem), -EOPNOTSUPP);
	ck_assert_str_eq(last_why(dev), "DEV_BUFFERS_ABSENT");
	ck_assert_int_eq(e4_blockdev_buffers_unregister(dev), -EOPNOTSUPP);
	/* An overlay keeps what it is handed, and asks the device below by itself. */
	ck_assert_int_eq(e4_blockdev_cow(dev, 4096, &cow), 0);
	ck_assert_int_eq(register_parts(cow, mem), -EOPNOTSUPP);
	ck_assert_int_eq(e4_blockdev_last_error(cow, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "cow"));
	ck_assert_int_eq(e4_blockdev_close(cow), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	free(mem);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blockdev/uring");
	TCase *tc = tcase_create("registered memory");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, scratch_remove);
	tcase_add_loop_test(tc, buffers__registered_and_not__move_the_same_bytes, 0, 2);
	tcase_add_loop_test(tc, buffers__stacked_devices__hand_them_down, 0, 2);
	tcase_add_loop_test(tc, buffers__requests_in_flight__keep_them, 0, 2);
	tcase_add_loop_test(tc, buffers__eight_threads__have_each_their_own, 0, 2);
	tcase_add_loop_test(tc, buffers__context_bound_by_hand__takes_them_along, 0, 2);
	tcase_add_test(tc, buffers__impossible_lists__are_refused);
	tcase_add_test(tc, buffers__more_than_may_be_locked__is_no_memory_and_less_still_works);
	tcase_add_test(tc, buffers__own_table__is_asked_if_it_has_both_functions);
	tcase_add_test(tc, buffers__devices_without_a_queue__refuse_by_name);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
