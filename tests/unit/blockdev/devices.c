/*
 * devices.c - the devices that the matrix of tests runs over, made of what this machine has.
 */
#include "devices.h"

#include "base/math.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file_path[256];
static char loop_path[64];

uint32_t rand_next(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

void rand_fill(uint32_t *state, void *buf, size_t len)
{
	uint8_t *p = buf;

	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(rand_next(state) >> 11);
}

const char *scratch_file(void)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

	scratch_remove();
	(void)snprintf(file_path, sizeof(file_path), "%s/e4-blockdev-XXXXXX", folder);
	int fd = mkstemp(file_path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, DEVICE_SIZE), 0);
	close(fd);
	return file_path;
}

static void loop_detach(void)
{
	char command[512];

	(void)snprintf(command, sizeof(command), "losetup -d %s", loop_path);
	if (system(command) != 0)
		printf("# failed: %s\n", command);
}

void scratch_remove(void)
{
	if (loop_path[0] != '\0')
		loop_detach();
	if (file_path[0] != '\0')
		unlink(file_path);
	loop_path[0] = file_path[0] = '\0';
}

const char *scratch_loop(unsigned sector, const char **ret_skip)
{
	char command[512];

	if (geteuid() != 0) {
		*ret_skip = "not root";
		return NULL;
	}
	(void)snprintf(command, sizeof(command),
		"losetup -f --show --direct-io=on --sector-size %u %s 2>/dev/null", sector,
		scratch_file());
	FILE *pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	if (fgets(loop_path, sizeof(loop_path), pipe) == NULL)
		loop_path[0] = '\0';
	loop_path[strcspn(loop_path, "\n")] = '\0';
	if (pclose(pipe) == 0 && loop_path[0] != '\0')
		return loop_path;
	loop_path[0] = '\0';
	*ret_skip = "no loop devices";
	return NULL;
}

static struct e4_blockdev *open_spec(
	const char *prefix, const char *path, const char *keys, const char **ret_skip)
{
	struct e4_error err = {.struct_size = sizeof(err)};
	struct e4_blockdev_options opts;
	static char reason[300];
	struct e4_blockdev *dev;
	char spec[512];

	e4_blockdev_options_init(&opts);
	opts.error = &err;
	(void)snprintf(spec, sizeof(spec), "%s%s%s", prefix, path, keys);
	int r = e4_blockdev_open(spec, E4_BLOCKDEV_RDWR, &opts, &dev);
	if (r == 0)
		return dev;
	(void)snprintf(reason, sizeof(reason), "%s", err.text);
	*ret_skip = reason;
	/* Only what a build or a file system may lack is a reason to skip. */
	ck_assert_msg(r == -EOPNOTSUPP || r == -EINVAL, "%s: %d %s", spec, r, err.text);
	return NULL;
}

static struct e4_blockdev *open_mem(const char **ret_skip)
{
	return open_spec("mem:", "4M", "", ret_skip);
}

static struct e4_blockdev *open_file(const char **ret_skip)
{
	return open_spec("file:", scratch_file(), "", ret_skip);
}

static struct e4_blockdev *open_file_sync(const char **ret_skip)
{
	return open_spec("file:", scratch_file(), ",sync", ret_skip);
}

static struct e4_blockdev *open_direct(const char **ret_skip)
{
	return open_spec("direct:", scratch_file(), "", ret_skip);
}

static struct e4_blockdev *open_uring(const char **ret_skip)
{
	return open_spec("uring:", scratch_file(), "", ret_skip);
}

static struct e4_blockdev *open_pmem(const char **ret_skip)
{
	return open_spec("pmem:", scratch_file(), "", ret_skip);
}

static struct e4_blockdev *open_loop(const char *prefix, unsigned sector, const char **ret_skip)
{
	const char *loop = scratch_loop(sector, ret_skip);

	return loop != NULL ? open_spec(prefix, loop, "", ret_skip) : NULL;
}

static struct e4_blockdev *open_loop_uring(const char **ret_skip)
{
	return open_loop("uring:", 512, ret_skip);
}

static struct e4_blockdev *open_loop_direct_4k(const char **ret_skip)
{
	return open_loop("direct:", 4096, ret_skip);
}

static struct e4_blockdev *open_loop_uring_4k(const char **ret_skip)
{
	return open_loop("uring:", 4096, ret_skip);
}

/* An embedder's device that insists: sectors of 4096, memory to 512, at most 16 KiB; finishes queued requests backwards. */
struct strict {
	uint8_t *bytes;
	pthread_mutex_t lock;
	struct e4_blockdev_request *queued[4096]; /* [lock] */
	pthread_t owner[4096];                    /* [lock] */
	uint32_t count;                           /* [lock] */
};

static int strict_geometry(void *ctx, struct e4_geometry *ret)
{
	(void)ctx;
	ret->logical_block = 4096;
	ret->dma_align = 512;
	ret->max_transfer = 16384;
	ret->size = DEVICE_SIZE;
	ret->queue_depth = 32;
	ret->write_cache = 1;
	return 0;
}

static void strict_check(uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < iov_count; i++) {
		ck_assert_uint_eq((uintptr_t)iov[i].base % 512, 0);
		ck_assert_uint_eq(iov[i].len % 4096, 0);
		len += iov[i].len;
	}
	ck_assert_uint_eq(offset % 4096, 0);
	ck_assert_uint_gt(len, 0);
	ck_assert_uint_le(len, 16384);
	ck_assert_uint_le(offset + len, DEVICE_SIZE);
}

static int strict_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	struct strict *d = ctx;

	strict_check(offset, iov, iov_count);
	for (uint32_t i = 0; i < iov_count; i++) {
		memcpy(iov[i].base, d->bytes + offset, iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

static int strict_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	struct strict *d = ctx;

	ck_assert_uint_eq(flags, 0); /* the geometry has no FUA */
	strict_check(offset, iov, iov_count);
	for (uint32_t i = 0; i < iov_count; i++) {
		memcpy(d->bytes + offset, iov[i].base, iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

static int strict_flush(void *ctx)
{
	(void)ctx;
	return 0;
}

static int strict_submit(void *ctx, struct e4_blockdev_request **reqs, uint32_t count)
{
	struct strict *d = ctx;

	(void)count; /* takes one at a time: the caller has to come again */
	ck_assert_uint_eq(reqs[0]->flags, 0);
	pthread_mutex_lock(&d->lock);
	d->owner[d->count] = pthread_self();
	d->queued[d->count++] = reqs[0];
	pthread_mutex_unlock(&d->lock);
	return 1;
}

/* The newest request of the calling thread, or NULL. */
static struct e4_blockdev_request *strict_pop(struct strict *d)
{
	struct e4_blockdev_request *req = NULL;

	pthread_mutex_lock(&d->lock);
	for (uint32_t i = d->count; i > 0 && req == NULL; i--) {
		if (!pthread_equal(d->owner[i - 1], pthread_self()))
			continue;
		req = d->queued[i - 1];
		d->queued[i - 1] = d->queued[d->count - 1];
		d->owner[i - 1] = d->owner[d->count - 1];
		d->count--;
	}
	pthread_mutex_unlock(&d->lock);
	return req;
}

static int strict_reap(void *ctx, struct e4_blockdev_request **ret, uint32_t min, uint32_t max)
{
	struct strict *d = ctx;
	uint32_t n = 0;

	(void)min;
	while (n < max && n < 3) { /* never all at once */
		struct e4_blockdev_request *req = strict_pop(d);

		if (req == NULL)
			break;
		req->result = 0;
		if (req->op == E4_BLOCKDEV_READ)
			req->result = strict_read(d, req->offset, req->iov, req->iov_count);
		else if (req->op == E4_BLOCKDEV_WRITE)
			req->result = strict_write(d, req->offset, req->iov, req->iov_count, 0);
		ret[n++] = req;
	}
	return (int)n;
}

static void strict_close(void *ctx)
{
	struct strict *d = ctx;

	pthread_mutex_destroy(&d->lock);
	free(d->bytes);
	free(d);
}

static struct e4_blockdev *open_strict(bool queued)
{
	struct e4_blockdev_ops ops = {
		.struct_size = sizeof(ops),
		.geometry = strict_geometry,
		.read = strict_read,
		.write = strict_write,
		.flush = strict_flush,
		.close = strict_close,
		.submit = queued ? strict_submit : NULL,
		.reap = queued ? strict_reap : NULL,
	};
	struct strict *d = calloc(1, sizeof(*d));
	struct e4_blockdev *dev;

	ck_assert_ptr_nonnull(d);
	d->bytes = calloc(1, DEVICE_SIZE);
	ck_assert_ptr_nonnull(d->bytes);
	pthread_mutex_init(&d->lock, NULL);
	ck_assert_int_eq(e4_blockdev_new(&ops, d, NULL, &dev), 0);
	return dev;
}

static struct e4_blockdev *open_own(const char **ret_skip)
{
	(void)ret_skip;
	return open_strict(false);
}

static struct e4_blockdev *open_own_queue(const char **ret_skip)
{
	(void)ret_skip;
	return open_strict(true);
}

/* Closing the upper one has to close the lower: that is what a specification does. */
static struct e4_blockdev *owning(struct e4_blockdev *upper)
{
	upper->owns_lower = true;
	return upper;
}

static struct e4_blockdev *open_cow(const char **ret_skip)
{
	struct e4_blockdev *dev;

	(void)ret_skip;
	ck_assert_int_eq(e4_blockdev_cow(open_strict(true), 1024, &dev), 0);
	return owning(dev);
}

/* Every stacked device, on a window that begins inside a sector. */
static struct e4_blockdev *open_tower(const char **ret_skip)
{
	struct e4_blockdev *dev, *upper;

	(void)ret_skip;
	ck_assert_int_eq(e4_blockdev_open("mem:5M", E4_BLOCKDEV_RDWR, NULL, &dev), 0);
	ck_assert_int_eq(e4_blockdev_window(dev, 1536, DEVICE_SIZE, &upper), 0);
	dev = owning(upper);
	ck_assert_int_eq(e4_blockdev_trace(dev, &upper), 0);
	dev = owning(upper);
	ck_assert_int_eq(e4_blockdev_record(dev, &upper), 0);
	dev = owning(upper);
	ck_assert_int_eq(e4_blockdev_fault(dev, &upper), 0);
	return owning(upper);
}

/* The same over a device that cares. */
static struct e4_blockdev *open_window_strict(const char **ret_skip)
{
	struct e4_blockdev *dev, *upper;

	(void)ret_skip;
	ck_assert_int_eq(e4_blockdev_window(open_strict(true), 4096, 0, &upper), 0);
	dev = owning(upper);
	ck_assert_int_eq(e4_blockdev_record(dev, &upper), 0);
	return owning(upper);
}

const struct device_kind device_kinds[] = {
	{"mem", open_mem},
	{"file", open_file},
	{"file,sync", open_file_sync},
	{"direct", open_direct},
	{"uring", open_uring},
	{"pmem", open_pmem},
	{"own", open_own},
	{"own queue", open_own_queue},
	{"cow", open_cow},
	{"tower", open_tower},
	{"window on own queue", open_window_strict},
	{"uring on loop 512", open_loop_uring},
	{"direct on loop 4096", open_loop_direct_4k},
	{"uring on loop 4096", open_loop_uring_4k},
};
const unsigned device_kind_count = sizeof(device_kinds) / sizeof(device_kinds[0]);

struct e4_blockdev *device_open(const struct device_kind *kind)
{
	const char *skip = "";
	struct e4_blockdev *dev = kind->open(&skip);

	if (dev == NULL) {
		printf("# skipped on %s: %s\n", kind->name, skip);
		scratch_remove();
	}
	return dev;
}

void device_close(struct e4_blockdev *dev)
{
	ck_assert_int_eq(e4_blockdev_close(dev), 0);
	scratch_remove();
}
