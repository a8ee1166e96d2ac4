/*
 * walk_threads.c IMAGE...: eight threads walk and read one mount at the same time, in a memory budget that keeps pushing things out; each
 * must see what one thread sees.
 */
#include "digest.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 8

struct walker {
	struct e4_fs *fs;
	struct digest digest;
};

static void *walk(void *arg)
{
	struct walker *w = arg;

	digest_walk(w->fs, &w->digest);
	return NULL;
}

static int errors_in(const struct digest *d)
{
	int n = 0;

	for (uint32_t i = 0; i < d->count; i++)
		n += d->objects[i].err != 0 || d->objects[i].dir_err != 0;
	return n;
}

static int run(const char *image)
{
	struct walker w[THREADS + 1] = {0};
	struct e4_mount_options opts;
	struct e4_blockdev *dev;
	pthread_t t[THREADS];
	struct e4_fs *fs;
	int bad = 0;

	e4_mount_options_init(&opts);
	opts.flags = E4_MOUNT_RDONLY;
	opts.memory_budget = 8u << 20;
	if (e4_blockdev_open(image, E4_BLOCKDEV_RDONLY, NULL, &dev) < 0 ||
		e4_mount(dev, &opts, &fs) < 0)
		return 1;
	for (unsigned i = 0; i <= THREADS; i++)
		w[i].fs = fs;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, walk, &w[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	walk(&w[THREADS]);
	for (unsigned i = 0; i <= THREADS; i++)
		bad += errors_in(&w[i].digest) +
		       digest_contradictions(&w[THREADS].digest, &w[i].digest);
	printf("# %s: %u objects from each of %d threads\n", image, w[THREADS].digest.count, THREADS);
	for (unsigned i = 0; i <= THREADS; i++)
		digest_free(&w[i].digest);
	if (e4_unmount(fs, 0) < 0 || e4_blockdev_close(dev) < 0)
		abort();
	return bad;
}

int main(int argc, char **argv)
{
	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		const char *base = strrchr(argv[i], '/') != NULL ? strrchr(argv[i], '/') + 1
								 : argv[i];

		printf("%sok %d - %s: eight threads see what one sees\n",
			run(argv[i]) > 0 ? "not " : "", i, base);
		fflush(stdout);
	}
	return 0;
}
