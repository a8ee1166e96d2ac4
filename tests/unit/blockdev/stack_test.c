/*
 * stack_test.c - the stacked devices: overlay, fault, record, trace, windows side by side.
 */
#include "blockdev/blockdev.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE (1u << 20)

static struct e4_blockdev *base;
static uint8_t pattern[SIZE];

static void setup(void)
{
	ck_assert_int_eq(e4_blockdev_open("mem:1M", E4_BLOCKDEV_RDWR, NULL, &base), 0);
	for (unsigned i = 0; i < SIZE; i++)
		pattern[i] = (uint8_t)(i * 2654435761u >> 24);
	ck_assert_int_eq(e4_blockdev_write(base, 0, pattern, SIZE, 0), 0);
}

static void teardown(void)
{
	ck_assert_int_eq(e4_blockdev_close(base), 0);
}

struct seen {
	uint64_t next;
	unsigned count;
	const uint8_t *model;
};

static int see(void *arg, uint64_t offset, const void *data, uint32_t len)
{
	struct seen *s = arg;

	ck_assert_uint_ge(offset, s->next);
	ck_assert_mem_eq(data, s->model + offset, len);
	s->next = offset + len;
	s->count++;
	return 0;
}

static int stop(void *arg, uint64_t offset, const void *data, uint32_t len)
{
	(void)arg;
	(void)data;
	(void)len;
	return offset != 0 ? 7 : 0;
}

START_TEST(cow__changed_blocks__come_in_rising_order_and_leave_the_lower_alone)
{
	static const uint32_t sizes[] = {512, 1024, 4096, 65536};
	static uint8_t model[SIZE], back[SIZE];
	struct e4_blockdev *cow;
	uint32_t x = 12345;
	uint64_t held;

	memcpy(model, pattern, SIZE);
	ck_assert_int_eq(e4_blockdev_cow(base, sizes[_i], &cow), 0);
	for (unsigned i = 0; i < 100; i++) {
		x = x * 1664525u + 1013904223u;
		uint32_t offset = (x >> 8) % (SIZE - 3000), len = x % 3000;

		memset(model + offset, (int)i, len);
		ck_assert_int_eq(blockdev_write(cow, offset, model + offset, len, 0), 0);
		ck_assert_int_eq(blockdev_read(cow, 0, back, SIZE), 0);
		ck_assert_mem_eq(back, model, SIZE);
	}
	struct seen s = {.model = model};
	ck_assert_int_eq(blockdev_cow_foreach(cow, see, &s), 0);
	ck_assert_int_eq(e4_blockdev_cow_size(cow, &held), 0);
	ck_assert_uint_eq(held, (uint64_t)s.count * sizes[_i]);
	ck_assert_int_eq(blockdev_cow_foreach(cow, stop, NULL), 7);
	ck_assert_int_eq(blockdev_read(base, 0, back, SIZE), 0);
	ck_assert_mem_eq(back, pattern, SIZE);
	ck_assert_int_eq(e4_blockdev_close(cow), 0);
	ck_assert_int_eq(e4_blockdev_cow_size(base, &held), -EINVAL);
	ck_assert_int_eq(e4_blockdev_cow(base, 1000, &cow), -EINVAL);
}
END_TEST

START_TEST(cow__huge_device__keeps_far_blocks_cheaply)
{
	static const uint64_t places[] = {0, 4096, 1ull << 40, (1ull << 50) - 512};
	struct e4_blockdev *dev, *cow;
	uint8_t byte;

	ck_assert_int_eq(e4_blockdev_open("mem:1P", E4_BLOCKDEV_RDWR, NULL, &dev), 0);
	ck_assert_int_eq(e4_blockdev_cow(dev, 512, &cow), 0);
	for (unsigned i = 0; i < 4; i++) {
		byte = (uint8_t)(i + 1);
		ck_assert_int_eq(blockdev_write(cow, places[i], &byte, 1, 0), 0);
		ck_assert_int_eq(blockdev_write(dev, places[i] + 1, &byte, 1, 0), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(blockdev_read(cow, places[i], &byte, 1), 0);
		ck_assert_uint_eq(byte, i + 1);
	}
	ck_assert_uint_lt(mem_used_bytes(dev->env), 1u << 20);
	ck_assert_int_eq(e4_blockdev_close(cow), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

static struct e4_blockdev *fault_on(
	uint32_t kinds, uint64_t nth, uint64_t count, int err, uint32_t short_bytes, int64_t bit)
{
	struct e4_fault_plan plan;
	struct e4_blockdev *dev;

	e4_fault_plan_init(&plan);
	plan.kinds = kinds;
	plan.nth = nth;
	plan.count = count;
	plan.err = err;
	plan.short_bytes = short_bytes;
	plan.flip_bit = bit;
	ck_assert_int_eq(e4_blockdev_fault(base, &dev), 0);
	ck_assert_int_eq(e4_blockdev_fault_set(dev, &plan), 0);
	return dev;
}

START_TEST(fault__nth_of_its_kinds__fails_and_others_do_not)
{
	struct e4_blockdev *dev = fault_on(E4_FAULT_READ | E4_FAULT_FLUSH, 3, 2, -ENODATA, 0, -1);
	struct e4_error err = {.struct_size = sizeof(err)};
	uint8_t b = 0;

	ck_assert_int_eq(e4_blockdev_read(dev, 0, &b, 1), 0);
	ck_assert_int_eq(e4_blockdev_write(dev, 0, &b, 1, 0), 0);
	ck_assert_int_eq(e4_blockdev_flush(dev), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, &b, 1), -ENODATA);
	ck_assert_int_eq(e4_blockdev_last_error(dev, &err), 0);
	ck_assert_str_eq(err.why, "FAULT_PLANNED");
	ck_assert_int_eq(e4_blockdev_write(dev, 0, &b, 1, 0), 0);
	ck_assert_int_eq(e4_blockdev_flush(dev), -ENODATA);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, &b, 1), 0);
	ck_assert_uint_eq(e4_blockdev_fault_count(dev, E4_FAULT_READ), 3);
	ck_assert_uint_eq(e4_blockdev_fault_count(dev, E4_FAULT_WRITE | E4_FAULT_FLUSH), 4);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(fault__short_write__moves_the_beginning_and_fails)
{
	struct e4_blockdev *dev = fault_on(E4_FAULT_WRITE, 1, 0, -EIO, 700, -1);
	uint8_t data[4096], back[4096];

	memset(data, 0xAB, sizeof(data));
	ck_assert_int_eq(e4_blockdev_write(dev, 8192, data, 4096, 0), -EIO);
	ck_assert_int_eq(e4_blockdev_read(dev, 8192, back, 4096), 0);
	ck_assert_mem_eq(back, data, 700);
	ck_assert_mem_eq(back + 700, pattern + 8192 + 700, 4096 - 700);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(fault__turned_bit__goes_unnoticed)
{
	struct e4_blockdev *dev = fault_on(E4_FAULT_READ, 2, 1, 0, 0, 8 * 100 + 3);
	uint8_t back[4096];

	ck_assert_int_eq(e4_blockdev_read(dev, 4096, back, 4096), 0);
	ck_assert_mem_eq(back, pattern + 4096, 4096);
	ck_assert_int_eq(e4_blockdev_read(dev, 4096, back, 4096), 0);
	ck_assert_uint_eq(back[100] ^ pattern[4096 + 100], 8);
	back[100] ^= 8;
	ck_assert_mem_eq(back, pattern + 4096, 4096);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(fault__queued_requests__are_counted_and_hit_alike)
{
	struct e4_blockdev *dev = fault_on(E4_FAULT_WRITE, 2, 1, -EIO, 0, -1);
	struct e4_blockdev_request req[3], *reqs[3], *done[3];
	uint8_t data[512] = {1};
	struct e4_iovec iov = {.base = data, .len = 512};

	for (unsigned i = 0; i < 3; i++) {
		req[i] = (struct e4_blockdev_request){.op = E4_BLOCKDEV_WRITE,
			.offset = i * 512,
			.len = 512,
			.iov = &iov,
			.iov_count = 1};
		reqs[i] = &req[i];
	}
	ck_assert_int_eq(blockdev_submit(dev, reqs, 3), 3);
	ck_assert_int_eq(blockdev_reap(dev, done, 3, 3), 3);
	ck_assert_int_eq(req[0].result, 0);
	ck_assert_int_eq(req[1].result, -EIO);
	ck_assert_int_eq(req[2].result, 0);
	ck_assert_uint_eq(e4_blockdev_fault_count(dev, E4_FAULT_WRITE), 3);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(record__writes_and_flushes__stand_with_their_moments_and_data)
{
	struct e4_blockdev *dev;
	struct e4_record_entry a, b, c;
	uint8_t data[3000];

	memset(data, 0x5A, sizeof(data));
	ck_assert_int_eq(e4_blockdev_record(base, &dev), 0);
	ck_assert_int_eq(e4_blockdev_write(dev, 100, data, 3000, 0), 0);
	ck_assert_int_eq(
		e4_blockdev_write(dev, 5000, data, 10, E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA), 0);
	ck_assert_uint_eq(e4_blockdev_record_count(dev), 3);
	ck_assert_int_eq(e4_blockdev_record_get(dev, 0, &a), 0);
	ck_assert_int_eq(e4_blockdev_record_get(dev, 1, &b), 0);
	ck_assert_int_eq(e4_blockdev_record_get(dev, 2, &c), 0);
	ck_assert_int_eq(e4_blockdev_record_get(dev, 3, &c), -ENOENT);
	ck_assert_uint_eq(a.op, E4_BLOCKDEV_WRITE);
	ck_assert_uint_eq(a.offset, 100);
	ck_assert_uint_eq(a.len, 3000);
	ck_assert_mem_eq(a.data, data, 3000);
	ck_assert_uint_eq(a.submitted, 1);
	ck_assert_uint_eq(a.completed, 2);
	ck_assert_uint_eq(b.op, E4_BLOCKDEV_FLUSH);
	ck_assert_uint_gt(b.submitted, a.completed);
	ck_assert_uint_eq(c.flags, E4_BLOCKDEV_FUA);
	ck_assert_uint_eq(c.submitted, 5);
	ck_assert_int_eq(e4_blockdev_record_clear(dev), 0);
	ck_assert_uint_eq(e4_blockdev_record_count(dev), 0);
	ck_assert_int_eq(e4_blockdev_flush(dev), 0);
	ck_assert_int_eq(e4_blockdev_record_get(dev, 0, &a), 0);
	ck_assert_uint_eq(a.submitted, 7);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(record__failed_write__stands_with_its_result)
{
	struct e4_blockdev *fault = fault_on(E4_FAULT_WRITE, 1, 1, -EIO, 0, -1), *dev;
	struct e4_record_entry e;
	uint8_t b = 1;

	ck_assert_int_eq(e4_blockdev_record(fault, &dev), 0);
	ck_assert_int_eq(e4_blockdev_write(dev, 0, &b, 1, 0), -EIO);
	ck_assert_int_eq(e4_blockdev_record_get(dev, 0, &e), 0);
	ck_assert_int_eq(e.result, -EIO);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	ck_assert_int_eq(e4_blockdev_close(fault), 0);
}
END_TEST

START_TEST(trace__everything__is_counted_by_size)
{
	struct e4_trace_stats s = {.struct_size = sizeof(s)};
	struct e4_blockdev *dev;
	uint8_t data[4096] = {0};

	ck_assert_int_eq(e4_blockdev_trace(base, &dev), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, data, 4096), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, data, 1), 0);
	ck_assert_int_eq(e4_blockdev_write(dev, 0, data, 1000, 0), 0);
	ck_assert_int_eq(e4_blockdev_flush(dev), 0);
	ck_assert_int_eq(e4_blockdev_trace_stats(dev, &s), 0);
	ck_assert_uint_eq(s.reads, 2);
	ck_assert_uint_eq(s.read_bytes, 4097);
	ck_assert_uint_eq(s.read_histogram[12], 1);
	ck_assert_uint_eq(s.read_histogram[0], 1);
	ck_assert_uint_eq(s.write_histogram[9], 1);
	ck_assert_uint_eq(s.flushes, 1);
	ck_assert_uint_eq(s.errors, 0);
	ck_assert_int_eq(e4_blockdev_trace_stats(base, &s), -EINVAL);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

/* A device whose requests end only when told to, to see who is handed what. */
static struct e4_blockdev_request *held[8];
static int held_count;

static int hold_geometry(void *ctx, struct e4_geometry *ret)
{
	(void)ctx;
	ret->size = SIZE;
	return 0;
}

static int hold_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	(void)ctx, (void)offset, (void)iov, (void)iov_count;
	return 0;
}

static void hold_close(void *ctx)
{
	(void)ctx;
}

static int hold_submit(void *ctx, struct e4_blockdev_request **reqs, uint32_t count)
{
	(void)ctx;
	for (uint32_t i = 0; i < count; i++)
		held[held_count++] = reqs[i];
	return (int)count;
}

static int hold_reap(void *ctx, struct e4_blockdev_request **ret, uint32_t min, uint32_t max)
{
	(void)ctx, (void)min, (void)max;
	if (held_count == 0)
		return 0;
	ret[0] = held[0];
	ret[0]->result = 0;
	memmove(held, held + 1, sizeof(held) - sizeof(held[0]));
	held_count--;
	return 1;
}

START_TEST(reap__two_windows_of_one_device__get_their_own_requests)
{
	const struct e4_blockdev_ops ops = {
		.struct_size = sizeof(ops),
		.geometry = hold_geometry,
		.read = hold_read,
		.close = hold_close,
		.submit = hold_submit,
		.reap = hold_reap,
	};
	struct e4_blockdev *dev, *left, *right;
	struct e4_blockdev_request reqs[3], *p, *done[3];
	uint8_t data[512];
	struct e4_iovec iov = {.base = data, .len = 512};

	for (unsigned i = 0; i < 3; i++)
		reqs[i] = (struct e4_blockdev_request){
			.op = E4_BLOCKDEV_READ, .len = 512, .iov = &iov, .iov_count = 1};
	ck_assert_int_eq(e4_blockdev_new(&ops, NULL, NULL, &dev), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 0, 4096, &left), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 8192, 4096, &right), 0);
	p = &reqs[0];
	ck_assert_int_eq(blockdev_submit(dev, &p, 1), 1);
	p = &reqs[1];
	ck_assert_int_eq(blockdev_submit(left, &p, 1), 1);
	p = &reqs[2];
	ck_assert_int_eq(blockdev_submit(right, &p, 1), 1);
	ck_assert_uint_eq(held[2]->offset, 8192);
	/* The last one asks first: what ends before its own is kept for the others. */
	ck_assert_int_eq(blockdev_reap(right, done, 1, 3), 1);
	ck_assert_ptr_eq(done[0], &reqs[2]);
	ck_assert_uint_eq(reqs[2].offset, 0);
	ck_assert_int_eq(blockdev_reap(dev, done, 0, 3), 1);
	ck_assert_ptr_eq(done[0], &reqs[0]);
	ck_assert_int_eq(blockdev_reap(left, done, 0, 3), 1);
	ck_assert_ptr_eq(done[0], &reqs[1]);
	ck_assert_int_eq(e4_blockdev_close(left), 0);
	ck_assert_int_eq(e4_blockdev_close(right), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(submit__bad_requests__come_back_with_their_reason)
{
	struct e4_blockdev *dev, *ro;
	uint8_t data[1024];
	struct e4_iovec iov = {.base = data, .len = 1024};
	struct e4_blockdev_request sum = {
		.op = E4_BLOCKDEV_READ, .len = 512, .iov = &iov, .iov_count = 1};
	struct e4_blockdev_request far = {
		.op = E4_BLOCKDEV_READ, .offset = SIZE, .len = 1024, .iov = &iov, .iov_count = 1};
	struct e4_blockdev_request *reqs[] = {&sum, &far}, *done[2];
	const struct e4_blockdev_ops ops = {.struct_size = sizeof(ops),
		.geometry = hold_geometry,
		.read = hold_read,
		.close = hold_close};

	ck_assert_int_eq(e4_blockdev_window(base, 0, 0, &dev), 0);
	ck_assert_int_eq(blockdev_submit(dev, reqs, 2), 2);
	ck_assert_int_eq(blockdev_reap(dev, done, 2, 2), 2);
	ck_assert_int_eq(sum.result, -EINVAL);
	ck_assert_int_eq(far.result, -EINVAL);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	ck_assert_int_eq(e4_blockdev_new(&ops, NULL, NULL, &ro), 0);
	far.op = E4_BLOCKDEV_WRITE;
	ck_assert_int_eq(blockdev_submit(ro, &reqs[1], 1), 1);
	ck_assert_int_eq(blockdev_reap(ro, done, 1, 1), 1);
	ck_assert_int_eq(far.result, -EROFS);
	ck_assert_int_eq(e4_blockdev_close(ro), 0);
}
END_TEST

START_TEST(new__incomplete_tables__are_refused)
{
	struct e4_error err = {.struct_size = sizeof(err)};
	struct e4_blockdev_ops ops = {
		.struct_size = sizeof(ops), .geometry = hold_geometry, .read = hold_read};
	struct e4_blockdev_options opts;
	struct e4_blockdev *dev;

	e4_blockdev_options_init(&opts);
	opts.error = &err;
	ck_assert_int_eq(e4_blockdev_new(&ops, NULL, &opts, &dev), -EINVAL);
	ck_assert_str_eq(err.why, "DEV_TABLE");
	ops.struct_size = 0;
	ck_assert_int_eq(e4_blockdev_new(&ops, NULL, &opts, &dev), -EINVAL);
}
END_TEST

static void *cow_writer(void *arg)
{
	struct e4_blockdev *cow = arg;
	static _Atomic unsigned next;
	unsigned me = atomic_fetch_add(&next, 1);
	uint8_t v = (uint8_t)(me + 1), back;

	/* Neighbours within each block, so that all eight make the same blocks. */
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_int_eq(blockdev_write(cow, i * 4096 + me, &v, 1, 0), 0);
		ck_assert_int_eq(blockdev_read(cow, i * 4096 + me, &back, 1), 0);
		ck_assert_uint_eq(back, v);
	}
	return NULL;
}

START_TEST(cow__eight_threads_in_the_same_blocks__lose_nothing)
{
	struct e4_blockdev *cow;
	pthread_t threads[8];
	uint64_t held_bytes;
	uint8_t row[8];

	ck_assert_int_eq(e4_blockdev_cow(base, 4096, &cow), 0);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, cow_writer, cow), 0);
	for (unsigned i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_int_eq(blockdev_read(cow, i * 4096, row, 8), 0);
		for (unsigned k = 0; k < 8; k++)
			ck_assert_uint_eq(row[k], k + 1);
	}
	ck_assert_int_eq(e4_blockdev_cow_size(cow, &held_bytes), 0);
	ck_assert_uint_eq(held_bytes, 200 * 4096);
	ck_assert_int_eq(e4_blockdev_close(cow), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blockdev/stack");
	TCase *tc = tcase_create("stacked devices");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(
		tc, cow__changed_blocks__come_in_rising_order_and_leave_the_lower_alone, 0, 4);
	tcase_add_test(tc, cow__huge_device__keeps_far_blocks_cheaply);
	tcase_add_test(tc, cow__eight_threads_in_the_same_blocks__lose_nothing);
	tcase_add_test(tc, fault__nth_of_its_kinds__fails_and_others_do_not);
	tcase_add_test(tc, fault__short_write__moves_the_beginning_and_fails);
	tcase_add_test(tc, fault__turned_bit__goes_unnoticed);
	tcase_add_test(tc, fault__queued_requests__are_counted_and_hit_alike);
	tcase_add_test(tc, record__writes_and_flushes__stand_with_their_moments_and_data);
	tcase_add_test(tc, record__failed_write__stands_with_its_result);
	tcase_add_test(tc, trace__everything__is_counted_by_size);
	tcase_add_test(tc, reap__two_windows_of_one_device__get_their_own_requests);
	tcase_add_test(tc, submit__bad_requests__come_back_with_their_reason);
	tcase_add_test(tc, new__incomplete_tables__are_refused);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
