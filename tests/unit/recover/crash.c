/*
 * crash.c - recovery, cut at each of its own writes: every prefix, and subsets of what no flush had ordered.
 */
#include "crash.h"

#include "recover/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- images ---------------------------------------------------------------------------------------------------------------- */

static int read_file(const char *path, uint8_t **ret, uint64_t *ret_size)
{
	FILE *f = fopen(path, "rb");

	if (f == NULL || fseek(f, 0, SEEK_END) != 0)
		return -ENOENT;
	long size = ftell(f);

	rewind(f);
	*ret = malloc((size_t)size);
	*ret_size = (uint64_t)size;
	size_t n = *ret != NULL ? fread(*ret, 1, (size_t)size, f) : 0;

	fclose(f);
	return n == (size_t)size ? 0 : -EIO;
}

int image_read(const char *path, const char *log_path, struct image *ret)
{
	*ret = (struct image){.size = 0};
	int err = read_file(path, &ret->bytes, &ret->size);

	return err != 0 || log_path == NULL ? err : read_file(log_path, &ret->log, &ret->log_size);
}

int image_write(const struct image *img, const char *path)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL)
		return -EIO;
	size_t n = fwrite(img->bytes, 1, img->size, f);

	return fclose(f) == 0 && n == img->size ? 0 : -EIO;
}

int image_copy(const struct image *img, struct image *ret)
{
	*ret = *img;
	ret->bytes = malloc(img->size);
	ret->log = img->log != NULL ? malloc(img->log_size) : NULL;
	if (ret->bytes == NULL || (img->log != NULL && ret->log == NULL))
		return -ENOMEM;
	memcpy(ret->bytes, img->bytes, img->size);
	if (img->log != NULL)
		memcpy(ret->log, img->log, img->log_size);
	return 0;
}

void image_fini(struct image *img)
{
	free(img->bytes);
	free(img->log);
	*img = (struct image){.size = 0};
}

static bool image_equal(const struct image *a, const struct image *b)
{
	return memcmp(a->bytes, b->bytes, a->size) == 0 &&
	       (a->log == NULL || memcmp(a->log, b->log, a->log_size) == 0);
}

/* --- one device over both, so that one record has all writes in their order -------------------------------------------------- */

struct both {
	struct image *img;
};

static int both_geometry(void *ctx, struct e4_geometry *ret)
{
	struct both *b = ctx;

	ret->logical_block = 1;
	ret->physical_block = 4096;
	ret->dma_align = 1;
	ret->size = b->img->size + b->img->log_size;
	ret->queue_depth = 1;
	ret->write_cache = 1;
	ret->fua = 1;
	return 0;
}

/* The volume's bytes, then the log's. */
static uint8_t *both_at(struct both *b, uint64_t offset)
{
	return offset < b->img->size ? b->img->bytes + offset
				     : b->img->log + (offset - b->img->size);
}

static int both_read(void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count)
{
	for (uint32_t i = 0; i < iov_count; i++) {
		memcpy(iov[i].base, both_at(ctx, offset), iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

static int both_write(
	void *ctx, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count, uint32_t flags)
{
	(void)flags;
	for (uint32_t i = 0; i < iov_count; i++) {
		memcpy(both_at(ctx, offset), iov[i].base, iov[i].len);
		offset += iov[i].len;
	}
	return 0;
}

static int both_flush(void *ctx)
{
	(void)ctx;
	return 0;
}

static void both_close(void *ctx)
{
	(void)ctx;
}

static const struct e4_blockdev_ops both_ops = {
	.struct_size = sizeof(both_ops),
	.geometry = both_geometry,
	.read = both_read,
	.write = both_write,
	.flush = both_flush,
	.close = both_close,
};

static void still_clock(void *ctx, struct e4_timespec *ret)
{
	(void)ctx;
	*ret = (struct e4_timespec){.sec = 1900000000};
}

static void to_stderr(void *ctx, enum e4_log_level level, const char *line)
{
	(void)ctx;
	(void)level;
	if (getenv("E4_TEST_LOG") != NULL)
		fprintf(stderr, "# %s\n", line);
}

struct stack {
	struct both both;
	struct e4_blockdev *base, *record, *volume, *log;
};

static int stack_open(struct stack *s, struct image *img, bool recording)
{
	struct e4_hooks hooks;
	struct e4_blockdev_options opts;

	*s = (struct stack){.both.img = img};
	e4_hooks_init(&hooks);
	hooks.clock_wall = still_clock;
	hooks.log = to_stderr;
	hooks.log_level = E4_LOG_INFO;
	e4_blockdev_options_init(&opts);
	opts.hooks = &hooks;
	int err = e4_blockdev_new(&both_ops, &s->both, &opts, &s->base);
	struct e4_blockdev *top = s->base;

	if (err == 0 && recording) {
		err = e4_blockdev_record(s->base, &s->record);
		top = s->record;
	}
	if (err == 0)
		err = e4_blockdev_window(top, 0, img->size, &s->volume);
	if (err == 0 && img->log != NULL)
		err = e4_blockdev_window(top, img->size, img->log_size, &s->log);
	return err;
}

static void stack_close(struct stack *s)
{
	struct e4_blockdev *all[] = {s->log, s->volume, s->record, s->base};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i] != NULL && e4_blockdev_close(all[i]) != 0)
			abort();
	}
}

static int put_block(void *arg, uint64_t offset, const void *data, uint32_t len)
{
	memcpy((uint8_t *)arg + offset, data, len);
	return 0;
}

static int recover(
	struct stack *s, bool for_good, uint8_t *overlay_into, struct e4_replay_result *ret)
{
	struct volume_options vo = {.cache_limit_bytes = 8u << 20};
	struct e4_blockdev *overlay = NULL;
	struct volume *vol;
	int err = volume_load(s->volume->env, s->volume, &vo, &vol);

	if (err != 0)
		return err;
	struct recover_request rq = {
		.vol = vol, .dev = s->volume, .journal = s->log, .for_good = for_good};

	*ret = (struct e4_replay_result){.struct_size = sizeof(*ret)};
	err = recover_run(&rq, &overlay, ret);
	volume_free(vol);
	if (overlay != NULL) {
		if (err == 0)
			err = blockdev_cow_foreach(overlay, put_block, overlay_into);
		blockdev_free(overlay);
	}
	return err;
}

int image_recover(struct image *img, struct e4_replay_result *ret)
{
	struct stack s;
	int err = stack_open(&s, img, false);

	if (err == 0)
		err = recover(&s, true, NULL, ret);
	stack_close(&s);
	return err;
}

int image_recover_in_memory(struct image *img, struct e4_replay_result *ret)
{
	struct image seen = {0};
	struct image before = {0};
	struct stack s = {0};
	int err = image_copy(img, &seen);

	if (err == 0)
		err = image_copy(img, &before);
	if (err == 0)
		err = stack_open(&s, img, false);
	if (err == 0)
		err = recover(&s, false, seen.bytes, ret);
	stack_close(&s);
	if (err == 0 && !image_equal(img, &before))
		err = -EIO;
	image_fini(img);
	image_fini(&before);
	*img = seen;
	return err;
}

/* --- cuts ------------------------------------------------------------------------------------------------------------------------ */

struct cutter {
	const struct image *dirty;
	const struct image *final;
	struct e4_record_entry *entries; /* with their data */
	uint64_t count;
	uint64_t *barrier; /* of each entry: the first one that may be missing when a cut comes right after it */
};

static void apply(struct image *img, const struct e4_record_entry *e)
{
	struct both b = {.img = img};

	if (e->op == E4_BLOCKDEV_WRITE)
		memcpy(both_at(&b, e->offset), e->data, e->len);
}

/* Recovers from `cut` and compares; takes the image over. */
static int settle(const struct cutter *c, struct image *cut, struct crash_stats *ret)
{
	struct e4_replay_result r;
	int err = image_recover(cut, &r);

	if (err == 0 && !image_equal(cut, c->final))
		ret->equal = false;
	image_fini(cut);
	return err;
}

static int cut_prefix(const struct cutter *c, uint64_t n, struct crash_stats *ret)
{
	struct image cut;
	int err = image_copy(c->dirty, &cut);

	for (uint64_t i = 0; i < n && err == 0; i++)
		apply(&cut, &c->entries[i]);
	ret->cuts++;
	return err != 0 ? err : settle(c, &cut, ret);
}

/* What was flushed, and of the rest up to n what the bits of `mask` say; a forced write that was acknowledged is there. */
static int cut_subset(const struct cutter *c, uint64_t n, uint64_t mask, struct crash_stats *ret)
{
	struct image cut;
	uint64_t barrier = n > 0 ? c->barrier[n - 1] : 0;
	int err = image_copy(c->dirty, &cut);

	for (uint64_t i = 0; i < n && err == 0; i++) {
		bool forced = (c->entries[i].flags & E4_BLOCKDEV_FUA) != 0 && i + 1 < n;

		if (i < barrier || forced || (mask >> ((i - barrier) % 64) & 1) != 0)
			apply(&cut, &c->entries[i]);
	}
	ret->subsets++;
	return err != 0 ? err : settle(c, &cut, ret);
}

/* A write torn at a sector: its first part reached the medium. */
static int cut_torn(const struct cutter *c, uint64_t n, uint64_t part, struct crash_stats *ret)
{
	struct image cut;
	struct e4_record_entry e = c->entries[n];
	int err = image_copy(c->dirty, &cut);

	for (uint64_t i = 0; i < n && err == 0; i++)
		apply(&cut, &c->entries[i]);
	if (e.op != E4_BLOCKDEV_WRITE || e.len <= 1024) {
		image_fini(&cut);
		return err; /* superblocks are taken to be whole */
	}
	e.len = part % (e.len / 512) * 512;
	if (e.offset + e.len > 1024 && e.offset + e.len < 2048) {
		image_fini(&cut);
		return 0; /* the same superblock, in a larger write */
	}
	apply(&cut, &e);
	ret->subsets++;
	return err != 0 ? err : settle(c, &cut, ret);
}

static int copy_entries(struct cutter *c, struct e4_blockdev *record)
{
	uint64_t barrier = 0;

	c->count = e4_blockdev_record_count(record);
	c->entries = calloc(c->count + 1, sizeof(*c->entries));
	c->barrier = calloc(c->count + 1, sizeof(*c->barrier));
	if (c->entries == NULL || c->barrier == NULL)
		return -ENOMEM;
	for (uint64_t i = 0; i < c->count; i++) {
		struct e4_record_entry *e = &c->entries[i];

		if (e4_blockdev_record_get(record, i, e) != 0)
			return -EIO;
		if (e->op == E4_BLOCKDEV_FLUSH || (e->flags & E4_BLOCKDEV_PREFLUSH) != 0)
			barrier = i;
		c->barrier[i] = barrier;
		void *copy = malloc(e->len + 1);

		if (copy == NULL)
			return -ENOMEM;
		if (e->op == E4_BLOCKDEV_WRITE)
			memcpy(copy, e->data, e->len);
		e->data = copy;
	}
	return 0;
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static int cut_everywhere(const struct cutter *c, uint32_t max_cuts, uint32_t subsets,
	uint32_t seed, struct crash_stats *ret)
{
	uint64_t step = max_cuts == 0 || c->count <= max_cuts ? 1 : c->count / max_cuts;
	int err = 0;

	for (uint64_t n = 0; n <= c->count && err == 0; n += step)
		err = cut_prefix(c, n, ret);
	for (uint32_t i = 0; i < subsets && c->count > 0 && err == 0; i++) {
		uint64_t n = next_random(&seed) % (c->count + 1);
		uint64_t mask = (uint64_t)next_random(&seed) << 32 | next_random(&seed);

		err = cut_subset(c, n, mask, ret);
		if (err == 0 && n < c->count)
			err = cut_torn(c, n, next_random(&seed), ret);
	}
	return err;
}

/* Recovers *ret_final for good and records what was written. */
static int record_run(struct cutter *c, struct image *ret_final, struct e4_replay_result *ret)
{
	struct stack s;
	int err = stack_open(&s, ret_final, true);

	if (err == 0)
		err = recover(&s, true, NULL, ret);
	if (err == 0)
		err = copy_entries(c, s.record);
	stack_close(&s);
	return err;
}

static void cutter_fini(struct cutter *c)
{
	for (uint64_t i = 0; i < c->count && c->entries != NULL; i++)
		free((void *)(uintptr_t)c->entries[i].data);
	free(c->entries);
	free(c->barrier);
}

int crash_all(const struct image *dirty, uint32_t max_cuts, uint32_t subsets, uint32_t seed,
	struct crash_stats *ret, struct image *ret_final)
{
	struct cutter c = {.dirty = dirty, .final = ret_final};
	int err = image_copy(dirty, ret_final);

	*ret = (struct crash_stats){.equal = true};
	if (err == 0)
		err = record_run(&c, ret_final, &ret->result);
	ret->writes = (uint32_t)c.count;
	if (err == 0)
		err = cut_everywhere(&c, max_cuts, subsets, seed, ret);
	cutter_fini(&c);
	return err;
}

int crash_foreach_prefix(const struct image *dirty,
	void (*fn)(struct image *cut, uint32_t n, uint32_t count), struct e4_replay_result *ret)
{
	struct cutter c = {.dirty = dirty};
	struct image final;
	struct image cut;
	int err = image_copy(dirty, &final);

	if (err == 0)
		err = record_run(&c, &final, ret);
	image_fini(&final);
	if (err == 0)
		err = image_copy(dirty, &cut);
	if (err == 0) {
		for (uint64_t n = 0; n < c.count; n++) {
			apply(&cut, &c.entries[n]);
			fn(&cut, (uint32_t)n + 1, (uint32_t)c.count);
		}
		image_fini(&cut);
	}
	cutter_fini(&c);
	return err;
}
