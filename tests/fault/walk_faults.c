/*
 * walk_faults.c IMAGE...: mounts and walks each volume with the 1st, 2nd, ... read of the device failing, then with the 1st, 2nd, ...
 * allocation failing, until a walk meets no failure. Each time every object is either what it is on a sound device, or an errno: never
 * zeros, never somebody else's bytes, never missing without an error above it.
 */
#include "digest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fault { FAULT_READ, FAULT_ALLOC };

static uint64_t alloc_countdown; /* 0 = never */
static bool alloc_failed;

static void *failing_alloc(void *ctx, size_t size, size_t align)
{
	void *p = NULL;

	(void)ctx;
	if (alloc_countdown != 0 && --alloc_countdown == 0) {
		alloc_failed = true;
		return NULL;
	}
	return posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? p
											      : NULL;
}

static void plain_free(void *ctx, void *ptr, size_t size)
{
	(void)ctx;
	(void)size;
	free(ptr);
}

/* A walk with the nth read or allocation failing (0 = none). True when the failure happened; *ret empty when the volume did not even mount. */
static bool walk(const char *image, enum fault fault, uint64_t nth, struct digest *ret)
{
	struct e4_fault_plan plan = {.struct_size = sizeof(plan),
		.kinds = E4_FAULT_READ,
		.nth = nth,
		.count = 1,
		.err = -EIO,
		.flip_bit = -1};
	struct e4_blockdev_options bo;
	struct e4_mount_options opts;
	struct e4_blockdev *lower;
	struct e4_blockdev *dev;
	struct e4_hooks hooks;
	struct e4_fs *fs;
	bool met;

	memset(ret, 0, sizeof(*ret));
	e4_hooks_init(&hooks);
	hooks.alloc = failing_alloc;
	hooks.free = plain_free;
	e4_blockdev_options_init(&bo);
	bo.hooks = &hooks;
	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY;
	opts.memory_budget = 8u << 20; /* small: blocks are read more than once */
	alloc_countdown = 0;
	alloc_failed = false;
	if (e4_blockdev_open(image, E4_BLOCKDEV_RDONLY, &bo, &lower) < 0 ||
		e4_blockdev_fault(lower, &dev) < 0)
		abort();
	if (fault == FAULT_READ && e4_blockdev_fault_set(dev, &plan) < 0)
		abort();
	if (fault == FAULT_ALLOC)
		alloc_countdown = nth;
	int r = e4_mount(dev, &opts, &fs);
	if (r == 0) {
		digest_walk(fs, ret);
		if (e4_unmount(fs, 0) < 0)
			abort();
	}
	alloc_countdown = 0;
	met = fault == FAULT_READ ? nth != 0 && e4_blockdev_fault_count(dev, E4_FAULT_READ) >= nth
				  : alloc_failed;
	if (!met && r < 0) {
		printf("%s: does not mount: %s\n", image, e4_errno_name(r));
		exit(1);
	}
	if (e4_blockdev_close(dev) < 0 || e4_blockdev_close(lower) < 0)
		abort(); /* something was leaked */
	return met;
}

static int run(const char *image, enum fault fault, uint64_t step)
{
	struct digest whole;
	struct digest seen;
	int bad = 0;
	uint64_t nth = 1;

	walk(image, fault, 0, &whole);
	for (bool met = true; met; nth += met ? step : 0) {
		met = walk(image, fault, nth, &seen);
		if (seen.count > 0) {
			int n = digest_contradictions(&whole, &seen);

			if (n > 0)
				printf("%s: with %s %llu failing\n", image,
					fault == FAULT_READ ? "read" : "allocation",
					(unsigned long long)nth);
			bad += n;
		}
		digest_free(&seen);
	}
	printf("# %s: %u objects, %s 1..%llu in steps of %llu failed\n", image, whole.count,
		fault == FAULT_READ ? "reads" : "allocations", (unsigned long long)nth,
		(unsigned long long)step);
	digest_free(&whole);
	return bad;
}

int main(int argc, char **argv)
{
	/* 0 = each; CI takes every so many (first argument). */
	uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int number = 0;

	if (argc < 3 || step == 0) {
		fprintf(stderr, "usage: walk_faults STEP IMAGE...\n");
		return 2;
	}
	printf("1..%d\n", 2 * (argc - 2));
	for (int i = 2; i < argc; i++) {
		const char *base = strrchr(argv[i], '/') != NULL ? strrchr(argv[i], '/') + 1
								 : argv[i];

		printf("%sok %d - %s: each failing read\n",
			run(argv[i], FAULT_READ, step) > 0 ? "not " : "", ++number, base);
		printf("%sok %d - %s: each failing allocation\n",
			run(argv[i], FAULT_ALLOC, 3 * step) > 0 ? "not " : "", ++number, base);
		fflush(stdout);
	}
	return 0;
}
