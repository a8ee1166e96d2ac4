/*
 * parallel_read.c - many threads on one mount: every file below DIR on this host is compared, byte by byte, with the file
 * of the same path on the volume. Threads take the next file from a counter; nothing else is shared.
 */
#include <ext4core/ext4core.h>

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 18, PATHS_MAX = 1 << 16, THREADS_MAX = 64 };

static char *paths[PATHS_MAX]; /* on the host; nftw(3) hands its callback no argument */
static unsigned path_count;
static size_t root_len;
static struct e4_fs *fs;
static atomic_uint next_path, differ;
static atomic_uint_fast64_t bytes;

static int collect(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)where;
	if (type == FTW_F && S_ISREG(st->st_mode) && path_count < PATHS_MAX)
		paths[path_count++] = strdup(path);
	return path_count > 0 && paths[path_count - 1] == NULL ? -1 : 0;
}

/* Both to their ends. 0, or the errno of what went wrong; -EILSEQ when bytes differ. */
static int64_t compare(struct e4_file *file, FILE *host, char *ours, char *theirs)
{
	uint64_t pos = 0;
	int64_t n;

	do {
		n = e4_pread(file, ours, PIECE, pos);
		if (n < 0)
			return n;
		if (fread(theirs, 1, PIECE, host) != (size_t)n ||
			memcmp(ours, theirs, (size_t)n) != 0)
			return -EILSEQ;
		pos += (uint64_t)n;
	} while (n > 0);
	bytes += pos;
	return 0;
}

static void check(const char *path, char *buf)
{
	struct e4_error why = {.struct_size = sizeof(why)};
	struct e4_file *file;
	FILE *host = fopen(path, "rb");
	int64_t r = host != NULL ? e4_open(fs, path + root_len, E4_O_RDONLY, 0, &file) : -errno;

	if (r == 0) {
		r = compare(file, host, buf, buf + PIECE);
		(void)e4_close(file);
	}
	if (host != NULL)
		(void)fclose(host);
	if (r < 0) {
		differ++;
		if (e4_last_error(fs, &why) < 0 || why.err != r)
			snprintf(why.text, sizeof(why.text), "differs");
		fprintf(stderr, "parallel_read: %s: %s (%s)\n", path + root_len, why.text,
			e4_errno_name((int)r));
	}
}

static void *work(void *arg)
{
	char *buf = malloc(2 * PIECE);

	(void)arg;
	for (unsigned i; buf != NULL && (i = next_path++) < path_count;)
		check(paths[i], buf);
	free(buf);
	return NULL;
}

int main(int argc, char **argv)
{
	struct e4_error why = {.struct_size = sizeof(why)};
	struct e4_mount_options options;
	struct e4_blockdev *dev;
	pthread_t threads[THREADS_MAX];
	unsigned count = argc == 4 ? (unsigned)atoi(argv[3]) : 8, started = 0;
	int r;
	if (argc < 3 || count < 1 || count > THREADS_MAX) {
		fprintf(stderr, "usage: %s DEV DIR [THREADS]\n", argv[0]);
		return 2;
	}
	root_len = strlen(argv[2]);
	if (nftw(argv[2], collect, 32, FTW_PHYS) != 0) {
		perror(argv[2]);
		return 1;
	}
	e4_mount_options_init(&options);
	options.flags = E4_MOUNT_RDONLY;
	options.error = &why;
	if ((r = e4_blockdev_open(argv[1], E4_BLOCKDEV_RDONLY, NULL, &dev)) < 0 ||
		(r = e4_mount(dev, &options, &fs)) < 0) {
		fprintf(stderr, "parallel_read: %s: %s (%s)\n", argv[1], why.text, e4_errno_name(r));
		return 1;
	}
	while (started < count && pthread_create(&threads[started], NULL, work, NULL) == 0)
		started++;
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(threads[i], NULL);
	(void)e4_unmount(fs, 0);
	(void)e4_blockdev_close(dev);
	printf("%u threads read %u files, %" PRIu64 " bytes: %u differ\n", started, path_count,
		bytes, differ);
	return started == 0 || next_path < path_count || differ != 0;
}
