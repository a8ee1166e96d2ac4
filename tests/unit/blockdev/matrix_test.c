/*
 * matrix_test.c - what holds of every device, whatever it is made of.
 */
#include "base/math.h"
#include "devices.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS  300
#define PIECES  40
#define DEPTH   32
#define THREADS 8

static uint8_t *buffer(size_t size)
{
	uint8_t *p = aligned_alloc(4096, (size + 4095) / 4096 * 4096);

	ck_assert_ptr_nonnull(p);
	memset(p, 0, size);
	return p;
}

static const char *last_why(struct e4_blockdev *dev)
{
	static struct e4_error err;

	err = (struct e4_error){.struct_size = sizeof(err)};
	ck_assert_int_eq(e4_blockdev_last_error(dev, &err), 0);
	return err.why;
}

START_TEST(blockdev__misaligned_reads_and_writes__equal_a_model)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);

	if (dev == NULL)
		return;
	size_t size = (size_t)dev->geo.size;
	uint8_t *model = buffer(size), *data = buffer(size + 64);
	uint32_t seed = 1234567;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t offset = rand_next(&seed) % size;
		uint64_t len = min_u64(
			size - offset, rand_next(&seed) % (i % 10 == 0 ? 300000 : 9000));
		uint8_t *at = data + rand_next(&seed) % 64;

		if (i % 7 == 0)
			offset = offset / 4096 * 4096, len = len / 4096 * 4096, at = data;
		if (i % 3 != 0) {
			rand_fill(&seed, at, (size_t)len);
			memcpy(model + offset, at, (size_t)len);
			ck_assert_int_eq(
				e4_blockdev_write(dev, offset, at, len, rand_next(&seed) % 4), 0);
		} else {
			memset(at, 0xEE, (size_t)len);
			ck_assert_int_eq(e4_blockdev_read(dev, offset, at, len), 0);
			ck_assert_mem_eq(at, model + offset, (size_t)len);
		}
	}
	ck_assert_int_eq(e4_blockdev_flush(dev), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, data, size), 0);
	ck_assert_mem_eq(data, model, size);
	free(model);
	free(data);
	device_close(dev);
}
END_TEST

/* Cuts [0, len) of buf into pieces of odd lengths, some of none. */
static void cut(uint8_t *buf, uint64_t len, uint32_t *seed, struct e4_iovec *iov)
{
	for (unsigned i = 0; i < PIECES; i++) {
		uint64_t n = i == PIECES - 1 ? len
					     : min_u64(len, rand_next(seed) % 3000 * (i % 5 != 0));

		iov[i] = (struct e4_iovec){.base = n != 0 ? buf : NULL, .len = n};
		buf += n;
		len -= n;
	}
}

START_TEST(blockdev__many_pieces__arrive_in_order)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	uint8_t *out = buffer(200000), *in = buffer(200000);
	struct e4_iovec iov[PIECES];
	uint32_t seed = 99;

	if (dev == NULL)
		return;
	rand_fill(&seed, out, 200000);
	cut(out, 200000, &seed, iov);
	ck_assert_int_eq(blockdev_writev(dev, 12345, iov, PIECES, E4_BLOCKDEV_FUA), 0);
	cut(in, 200000, &seed, iov);
	ck_assert_int_eq(blockdev_readv(dev, 12345, iov, PIECES), 0);
	ck_assert_mem_eq(in, out, 200000);
	/* The same with pieces that no device needs to have copied. */
	for (unsigned i = 0; i < PIECES; i++)
		iov[i] = (struct e4_iovec){.base = out + i * 4096, .len = 4096};
	ck_assert_int_eq(blockdev_writev(dev, 65536, iov, PIECES, 0), 0);
	ck_assert_int_eq(blockdev_read(dev, 65536, in, PIECES * 4096), 0);
	ck_assert_mem_eq(in, out, PIECES * 4096);
	free(out);
	free(in);
	device_close(dev);
}
END_TEST

START_TEST(blockdev__beyond_the_end__is_refused_as_the_callers_mistake)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	uint8_t byte = 0;

	if (dev == NULL)
		return;
	uint64_t size = dev->geo.size;
	ck_assert_int_eq(e4_blockdev_read(dev, size - 1, &byte, 1), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, size, &byte, 0), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, size, &byte, 1), -EINVAL);
	ck_assert_str_eq(last_why(dev), "DEV_RANGE");
	ck_assert_int_eq(e4_blockdev_write(dev, UINT64_MAX, &byte, 1, 0), -EINVAL);
	ck_assert_int_eq(blockdev_write_zeroes(dev, size - 4096, 8192), -EINVAL);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, &byte, UINT64_MAX), -EINVAL);
	device_close(dev);
}
END_TEST

START_TEST(blockdev__zeroed_range__reads_as_zeros_and_nothing_else_changes)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	uint8_t *model = buffer(1 << 20), *data = buffer(1 << 20);
	uint32_t seed = 5;

	if (dev == NULL)
		return;
	rand_fill(&seed, model, 1 << 20);
	ck_assert_int_eq(blockdev_write(dev, 0, model, 1 << 20, 0), 0);
	memset(model + 65536, 0, 131072);
	ck_assert_int_eq(blockdev_write_zeroes(dev, 65536, 131072), 0);
	memset(model + 300001, 0, 5000);
	ck_assert_int_eq(blockdev_write_zeroes(dev, 300001, 5000), 0);
	ck_assert_int_eq(blockdev_read(dev, 0, data, 1 << 20), 0);
	ck_assert_mem_eq(data, model, 1 << 20);
	int r = blockdev_discard(dev, 524288, 65536);
	ck_assert(r == 0 || r == -EOPNOTSUPP);
	ck_assert_int_eq(blockdev_read(dev, 0, data, 1 << 20), 0);
	ck_assert_mem_eq(data, model, 524288);
	ck_assert_mem_eq(data + 524288 + 65536, model + 524288 + 65536, (1 << 20) - 524288 - 65536);
	free(model);
	free(data);
	device_close(dev);
}
END_TEST

/* One request of 4096 bytes or more, of one piece or two. */
struct job {
	struct e4_blockdev_request req;
	struct e4_iovec iov[2];
	uint8_t *mem;
};

static void job_init(struct job *job, enum e4_blockdev_op op, uint64_t offset, bool two)
{
	job->iov[0] = (struct e4_iovec){.base = job->mem, .len = two ? 4096 : 8192};
	job->iov[1] = (struct e4_iovec){.base = job->mem + 4096, .len = 4096};
	job->req = (struct e4_blockdev_request){.op = op,
		.offset = offset,
		.len = 8192,
		.iov = job->iov,
		.iov_count = two ? 2 : 1,
		.user = job};
}

/* Keeps DEPTH requests in flight: every slot is written and then read, one flush in between each so often. */
static void queue_work(struct e4_blockdev *dev, uint64_t base, unsigned rounds, uint32_t seed)
{
	struct e4_blockdev_request *reqs[DEPTH], *done[DEPTH];
	struct job jobs[DEPTH];
	uint8_t *model = buffer(DEPTH * 8192);

	for (unsigned i = 0; i < DEPTH; i++)
		jobs[i].mem = buffer(8192);
	for (unsigned round = 0; round < rounds; round++) {
		enum e4_blockdev_op op = round % 2 == 0 ? E4_BLOCKDEV_WRITE : E4_BLOCKDEV_READ;
		unsigned seen = 0;

		for (unsigned i = 0; i < DEPTH; i++) {
			job_init(&jobs[i], op, base + i * 8192, i % 2 != 0);
			if (op == E4_BLOCKDEV_WRITE) {
				rand_fill(&seed, jobs[i].mem, 8192);
				memcpy(model + i * 8192, jobs[i].mem, 8192);
				jobs[i].req.flags = i == 7   ? E4_BLOCKDEV_FUA
						    : i == 9 ? E4_BLOCKDEV_PREFLUSH
							     : 0;
			} else {
				memset(jobs[i].mem, 0xEE, 8192);
			}
			reqs[i] = &jobs[i].req;
		}
		ck_assert_int_eq(blockdev_submit(dev, reqs, DEPTH), DEPTH);
		while (seen < DEPTH) {
			int n = blockdev_reap(dev, done,
				seen % 5 == 0 ? 1 : min_u32(5, DEPTH - seen), DEPTH - seen);

			ck_assert_int_gt(n, 0);
			for (int i = 0; i < n; i++) {
				struct job *job = done[i]->user;

				ck_assert_int_eq(done[i]->result, 0);
				ck_assert_uint_eq(
					done[i]->offset, base + (uint64_t)(job - jobs) * 8192);
				ck_assert_mem_eq(job->mem, model + (job - jobs) * 8192, 8192);
				job->req.result = 1; /* seen once */
			}
			seen += (unsigned)n;
		}
		for (unsigned i = 0; i < DEPTH; i++)
			ck_assert_int_eq(jobs[i].req.result, 1);
		ck_assert_int_eq(blockdev_reap(dev, done, 1, DEPTH), 0);
	}
	for (unsigned i = 0; i < DEPTH; i++)
		free(jobs[i].mem);
	free(model);
}

START_TEST(blockdev__queue_of_32__every_request_comes_back_once_with_its_data)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);

	if (dev == NULL)
		return;
	queue_work(dev, 8192, 20, 77);
	device_close(dev);
}
END_TEST

START_TEST(blockdev__looking_without_waiting__sees_what_completes)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	struct e4_blockdev_request *reqs[8], *done[8];
	struct job jobs[8];
	unsigned seen = 0;

	if (dev == NULL)
		return;
	for (unsigned i = 0; i < 8; i++) {
		jobs[i].mem = buffer(8192);
		job_init(&jobs[i], E4_BLOCKDEV_READ, i * 8192, false);
		reqs[i] = &jobs[i].req;
	}
	ck_assert_int_eq(blockdev_submit(dev, reqs, 8), 8);
	while (seen < 8) {
		int n = blockdev_reap(dev, done, 0, 8);

		ck_assert_int_ge(n, 0);
		seen += (unsigned)n;
	}
	for (unsigned i = 0; i < 8; i++)
		free(jobs[i].mem);
	device_close(dev);
}
END_TEST

START_TEST(blockdev__queued_other_operations__complete)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	struct e4_blockdev_request flush = {.op = E4_BLOCKDEV_FLUSH, .result = 1};
	struct e4_blockdev_request zero = {
		.op = E4_BLOCKDEV_ZERO, .offset = 4096, .len = 8192, .result = 1};
	struct e4_blockdev_request far = {
		.op = E4_BLOCKDEV_ZERO, .offset = UINT64_MAX - 4095, .len = 4096, .result = 1};
	struct e4_blockdev_request *reqs[] = {&flush, &zero, &far}, *done[3];

	if (dev == NULL)
		return;
	ck_assert_int_eq(blockdev_submit(dev, reqs, 3), 3);
	ck_assert_int_eq(blockdev_reap(dev, done, 3, 3), 3);
	ck_assert_int_eq(flush.result, 0);
	/* Only the overlay has no zeroing of its own to queue, and then says so. */
	ck_assert(zero.result == 0 || zero.result == -EOPNOTSUPP);
	ck_assert_int_eq(far.result, -EINVAL);
	device_close(dev);
}
END_TEST

struct worker {
	struct e4_blockdev *dev;
	uint64_t base;
	uint32_t seed;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	uint8_t data[3000], back[3000];

	for (unsigned i = 0; i < 40; i++) {
		uint64_t offset = w->base + rand_next(&w->seed) % (200000 - sizeof(data));

		rand_fill(&w->seed, data, sizeof(data));
		ck_assert_int_eq(blockdev_write(w->dev, offset, data, sizeof(data), 0), 0);
		ck_assert_int_eq(blockdev_read(w->dev, offset, back, sizeof(back)), 0);
		ck_assert_mem_eq(back, data, sizeof(data));
	}
	queue_work(w->dev, (w->base + 8191) / 8192 * 8192 + 204800, 4, w->seed);
	return NULL;
}

START_TEST(blockdev__eight_threads__do_not_disturb_each_other)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	if (dev == NULL)
		return;
	for (unsigned i = 0; i < THREADS; i++) {
		/* Areas end within a sector, so that neighbours share one. */
		workers[i] = (struct worker){
			.dev = dev, .base = i * 487424u + 100 * i, .seed = i + 1};
		ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	device_close(dev);
}
END_TEST

/* Each thread owns bytes of one sector; a lost read-modify-write would show. */
static void *scribble(void *arg)
{
	struct worker *w = arg;

	for (unsigned i = 1; i <= 100; i++) {
		uint8_t v = (uint8_t)i;

		ck_assert_int_eq(blockdev_write(w->dev, w->base, &v, 1, 0), 0);
	}
	return NULL;
}

START_TEST(blockdev__writers_of_parts_of_one_sector__all_win)
{
	struct e4_blockdev *dev = device_open(&device_kinds[_i]);
	struct worker workers[THREADS];
	pthread_t threads[THREADS];
	uint8_t bytes[THREADS];

	if (dev == NULL)
		return;
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){.dev = dev, .base = 4096 + i};
		ck_assert_int_eq(pthread_create(&threads[i], NULL, scribble, &workers[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(blockdev_read(dev, 4096, bytes, THREADS), 0);
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_uint_eq(bytes[i], 100);
	device_close(dev);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blockdev/matrix");
	TCase *tc = tcase_create("every device");
	int n = (int)device_kind_count;

	tcase_set_timeout(tc, 100);
	tcase_add_checked_fixture(tc, NULL, scratch_remove);
	tcase_add_loop_test(tc, blockdev__misaligned_reads_and_writes__equal_a_model, 0, n);
	tcase_add_loop_test(tc, blockdev__many_pieces__arrive_in_order, 0, n);
	tcase_add_loop_test(tc, blockdev__beyond_the_end__is_refused_as_the_callers_mistake, 0, n);
	tcase_add_loop_test(
		tc, blockdev__zeroed_range__reads_as_zeros_and_nothing_else_changes, 0, n);
	tcase_add_loop_test(
		tc, blockdev__queue_of_32__every_request_comes_back_once_with_its_data, 0, n);
	tcase_add_loop_test(tc, blockdev__looking_without_waiting__sees_what_completes, 0, n);
	tcase_add_loop_test(tc, blockdev__queued_other_operations__complete, 0, n);
	tcase_add_loop_test(tc, blockdev__eight_threads__do_not_disturb_each_other, 0, n);
	tcase_add_loop_test(tc, blockdev__writers_of_parts_of_one_sector__all_win, 0, n);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
