/*
 * open_test.c - opening: who may share with whom, what a device that shrinks answers, what a read-only one refuses.
 */
#include "devices.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct e4_error err;

static int open_as(const char *backend, const char *path, uint32_t flags, struct e4_blockdev **ret)
{
	struct e4_blockdev_options opts;
	char spec[512];

	e4_blockdev_options_init(&opts);
	err = (struct e4_error){.struct_size = sizeof(err)};
	opts.error = &err;
	(void)snprintf(spec, sizeof(spec), "%s:%s", backend, path);
	return e4_blockdev_open(spec, flags, &opts, ret);
}

static const char *const file_backends[] = {"file", "direct", "uring"};
#define FILE_BACKENDS 3

static bool absent(const char *backend, int r)
{
	if (r == 0 || (r != -EOPNOTSUPP && strcmp(err.why, "DEV_DIRECT_REFUSED") != 0))
		return false;
	printf("# skipped on %s: %s\n", backend, err.text);
	return true;
}

START_TEST(open__second_writer_of_a_file__is_refused)
{
	const char *backend = file_backends[_i], *path = scratch_file();
	struct e4_blockdev *first, *second;
	int r = open_as(backend, path, E4_BLOCKDEV_RDWR, &first);

	if (absent(backend, r))
		return;
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(open_as(backend, path, E4_BLOCKDEV_RDWR, &second), -EBUSY);
	ck_assert_str_eq(err.why, "DEV_LOCKED");
	/* Readers come and go beside the writer. */
	ck_assert_int_eq(open_as(backend, path, E4_BLOCKDEV_RDONLY, &second), 0);
	ck_assert_int_eq(e4_blockdev_close(second), 0);
	ck_assert_int_eq(e4_blockdev_close(first), 0);
	/* Nothing of the first is left, whatever it had queued. */
	ck_assert_int_eq(open_as(backend, path, E4_BLOCKDEV_RDWR, &first), 0);
	ck_assert_int_eq(e4_blockdev_close(first), 0);
}
END_TEST

/* Queues one read from another thread, so that a ring of that thread exists. */
static void *read_queued(void *arg)
{
	struct e4_blockdev *dev = arg;
	void *mem = aligned_alloc(4096, 4096);
	struct e4_iovec iov = {.base = mem, .len = 4096};
	struct e4_blockdev_request req = {
		.op = E4_BLOCKDEV_READ, .len = 4096, .iov = &iov, .iov_count = 1};
	struct e4_blockdev_request *reqs[] = {&req};

	ck_assert_int_eq(blockdev_submit(dev, reqs, 1), 1);
	ck_assert_int_eq(blockdev_reap(dev, reqs, 1, 1), 1);
	ck_assert_int_eq(req.result, 0);
	free(mem);
	return NULL;
}

static pthread_barrier_t meet;

/* The same, and stays alive while the device is closed. */
static void *read_and_stay(void *arg)
{
	(void)read_queued(arg);
	pthread_barrier_wait(&meet); /* done */
	pthread_barrier_wait(&meet); /* closed */
	return NULL;
}

/* Rings hold the file in the kernel; the owner's mark, a lock or O_EXCL, must not last as long as they do. */
static void reopen_often(const char *path, unsigned count)
{
	struct e4_blockdev *dev;
	pthread_t thread;

	pthread_barrier_init(&meet, NULL, 2);
	for (unsigned i = 0; i < count; i++) {
		int r = open_as("uring", path, E4_BLOCKDEV_RDWR, &dev);

		if (absent("uring", r))
			return;
		ck_assert_msg(r == 0, "%s", err.text);
		(void)read_queued(dev);
		ck_assert_int_eq(pthread_create(&thread, NULL, read_and_stay, dev), 0);
		pthread_barrier_wait(&meet);
		ck_assert_int_eq(e4_blockdev_close(dev), 0);
		pthread_barrier_wait(&meet);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
	pthread_barrier_destroy(&meet);
}

START_TEST(close__rings_of_living_threads__leave_no_lock)
{
	reopen_often(scratch_file(), 100);
}
END_TEST

START_TEST(close__rings_of_living_threads__leave_no_exclusive_owner)
{
	const char *skip;
	const char *loop = scratch_loop(512, &skip);

	if (loop == NULL) {
		printf("# skipped: %s\n", skip);
		return;
	}
	reopen_often(loop, 100);
}
END_TEST

START_TEST(submit__context_bound_by_hand__may_wander_between_threads)
{
	struct e4_blockdev *dev;
	struct context *ctx;
	pthread_t thread;
	int r = open_as("uring", scratch_file(), E4_BLOCKDEV_RDWR, &dev);

	if (absent("uring", r))
		return;
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(context_new(dev->env, &ctx), 0);
	ck_assert_int_eq(context_bind(dev->env, ctx), 0);
	(void)read_queued(dev);
	ck_assert_int_eq(context_bind(dev->env, NULL), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, read_queued, dev), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	context_free(ctx);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(open__read_only__refuses_writes_and_changes_nothing)
{
	const char *backend = file_backends[_i], *path = scratch_file();
	struct stat before, after;
	struct e4_blockdev *dev;
	uint8_t byte = 1;

	ck_assert_int_eq(chmod(path, 0400), 0);
	ck_assert_int_eq(stat(path, &before), 0);
	int r = open_as(backend, path, E4_BLOCKDEV_RDONLY, &dev);
	if (absent(backend, r))
		return;
	ck_assert_int_eq(r, 0);
	ck_assert(dev->geo.read_only);
	ck_assert_int_eq(e4_blockdev_write(dev, 0, &byte, 1, 0), -EROFS);
	ck_assert_int_eq(blockdev_write_zeroes(dev, 0, 4096), -EROFS);
	ck_assert_int_eq(blockdev_discard(dev, 0, 4096), -EROFS);
	ck_assert_int_eq(e4_blockdev_flush(dev), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, 0, &byte, 1), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_int_eq(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
}
END_TEST

START_TEST(read__file_cut_short_behind__is_an_error_of_the_device)
{
	const char *backend = file_backends[_i], *path = scratch_file();
	struct e4_geometry geo = {.struct_size = sizeof(geo)};
	uint8_t *data = aligned_alloc(4096, 16384);
	struct e4_blockdev *dev;
	int r = open_as(backend, path, E4_BLOCKDEV_RDONLY, &dev);

	if (absent(backend, r))
		return;
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(truncate(path, DEVICE_SIZE / 2 + 4096), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, DEVICE_SIZE / 2, data, 4096), 0);
	ck_assert_int_eq(e4_blockdev_read(dev, DEVICE_SIZE / 2, data, 16384), -EIO);
	struct e4_error last = {.struct_size = sizeof(last)};
	ck_assert_int_eq(e4_blockdev_last_error(dev, &last), 0);
	ck_assert_str_eq(last.why, "DEV_SHORT");
	ck_assert_int_eq(e4_blockdev_geometry(dev, &geo), 0);
	ck_assert_uint_eq(geo.size, DEVICE_SIZE / 2 + 4096);

	struct e4_iovec iov = {.base = data, .len = 16384};
	struct e4_blockdev_request req = {.op = E4_BLOCKDEV_READ,
		.offset = DEVICE_SIZE / 2,
		.len = 16384,
		.iov = &iov,
		.iov_count = 1};
	struct e4_blockdev_request *reqs[] = {&req};
	ck_assert_int_eq(blockdev_submit(dev, reqs, 1), 1);
	ck_assert_int_eq(blockdev_reap(dev, reqs, 1, 1), 1);
	ck_assert_int_eq(req.result, -EIO);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	free(data);
}
END_TEST

START_TEST(open__file_behind_a_loop_device__is_refused_for_writing)
{
	const char *skip;
	const char *loop = scratch_loop(512, &skip);
	struct e4_blockdev *dev, *second;
	char file[256];

	if (loop == NULL) {
		printf("# skipped: %s\n", skip);
		return;
	}
	(void)snprintf(file, sizeof(file), "/sys/block/%s/loop/backing_file", loop + 5);
	FILE *f = fopen(file, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(file, sizeof(file), f));
	fclose(f);
	file[strcspn(file, "\n")] = '\0';
	ck_assert_int_eq(open_as("file", file, E4_BLOCKDEV_RDWR, &dev), -EBUSY);
	ck_assert_str_eq(err.why, "DEV_LOOP");
	ck_assert_int_eq(open_as("file", file, E4_BLOCKDEV_RDONLY, &dev), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	/* The block device itself belongs to one writer. */
	int r = open_as("direct", loop, E4_BLOCKDEV_RDWR, &dev);
	if (r == -EINVAL && strcmp(err.why, "DEV_DIRECT") == 0) {
		printf("# skipped: no direct I/O on a loop device here (an emulated process?)\n");
		return;
	}
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(open_as("file", loop, E4_BLOCKDEV_RDWR, &second), -EBUSY);
	ck_assert_str_eq(err.why, "DEV_BUSY");
	ck_assert_int_eq(open_as("file", loop, E4_BLOCKDEV_RDONLY, &second), 0);
	ck_assert_int_eq(e4_blockdev_close(second), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

START_TEST(open__mem_of_a_file__is_a_private_copy)
{
	const char *path = scratch_file();
	int fd = open(path, O_RDWR);
	struct e4_blockdev *dev;
	char text[16] = {0};

	ck_assert_int_eq(pwrite(fd, "original", 8, 1000000), 8);
	ck_assert_int_eq(open_as("mem", path, E4_BLOCKDEV_RDWR, &dev), 0);
	ck_assert_uint_eq(dev->geo.size, DEVICE_SIZE);
	ck_assert_int_eq(e4_blockdev_read(dev, 1000000, text, 8), 0);
	ck_assert_str_eq(text, "original");
	ck_assert_int_eq(e4_blockdev_write(dev, 1000000, "replaced", 8, E4_BLOCKDEV_FUA), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	ck_assert_int_eq(pread(fd, text, 8, 1000000), 8);
	ck_assert_str_eq(text, "original");
	close(fd);
}
END_TEST

START_TEST(open__budget_too_small_for_the_file__says_so)
{
	struct e4_blockdev_options opts;
	struct e4_blockdev *dev;

	e4_blockdev_options_init(&opts);
	opts.memory_budget = 200000;
	ck_assert_int_eq(e4_blockdev_open("mem:4M", E4_BLOCKDEV_RDWR, &opts, &dev), 0);
	uint8_t *data = calloc(1, DEVICE_SIZE);
	ck_assert_int_eq(e4_blockdev_write(dev, 0, data, DEVICE_SIZE, 0), -ENOMEM);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	free(data);
}
END_TEST

START_TEST(close__device_in_use__is_busy)
{
	struct e4_blockdev *dev, *upper;

	ck_assert_int_eq(open_as("mem", "1M", E4_BLOCKDEV_RDWR, &dev), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 0, 0, &upper), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), -EBUSY);
	ck_assert_int_eq(e4_blockdev_close(upper), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	ck_assert_int_eq(e4_blockdev_close(NULL), 0);
}
END_TEST

START_TEST(count__reads_writes_and_flushes__are_those_of_the_lowest_device)
{
	struct e4_blockdev *dev, *upper;
	struct context_totals t;
	uint8_t data[8192] = {0};

	ck_assert_int_eq(open_as("mem", "1M", E4_BLOCKDEV_RDWR, &dev), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 4096, 0, &upper), 0);
	ck_assert_int_eq(blockdev_write(upper, 0, data, 8192, E4_BLOCKDEV_PREFLUSH), 0);
	ck_assert_int_eq(blockdev_read(upper, 0, data, 100), 0);
	context_sum(dev->env, &t);
	ck_assert_uint_eq(t.dev_writes, 1);
	ck_assert_uint_eq(t.dev_write_bytes, 8192);
	ck_assert_uint_eq(t.dev_reads, 1);
	ck_assert_uint_eq(t.dev_read_bytes, 100);
	ck_assert_uint_eq(t.dev_flushes, 1);
	ck_assert_int_eq(e4_blockdev_close(upper), 0);
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blockdev/open");
	TCase *tc = tcase_create("opening and closing");

	tcase_add_checked_fixture(tc, NULL, scratch_remove);
	tcase_add_loop_test(tc, open__second_writer_of_a_file__is_refused, 0, FILE_BACKENDS);
	tcase_add_test(tc, close__rings_of_living_threads__leave_no_lock);
	tcase_add_test(tc, close__rings_of_living_threads__leave_no_exclusive_owner);
	tcase_add_test(tc, submit__context_bound_by_hand__may_wander_between_threads);
	tcase_add_loop_test(
		tc, open__read_only__refuses_writes_and_changes_nothing, 0, FILE_BACKENDS);
	tcase_add_loop_test(
		tc, read__file_cut_short_behind__is_an_error_of_the_device, 0, FILE_BACKENDS);
	tcase_add_test(tc, open__file_behind_a_loop_device__is_refused_for_writing);
	tcase_add_test(tc, open__mem_of_a_file__is_a_private_copy);
	tcase_add_test(tc, open__budget_too_small_for_the_file__says_so);
	tcase_add_test(tc, close__device_in_use__is_busy);
	tcase_add_test(tc, count__reads_writes_and_flushes__are_those_of_the_lowest_device);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
