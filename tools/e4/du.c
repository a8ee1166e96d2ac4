/*
 * du.c - e4 du: the space that directories use, as du(1).
 *
 * Always:  an inode with several names counts once; a directory is shown after what is in it.
 */
#include "common/inoset.h"
#include "common/listing.h"
#include "common/memory.h"
#include "common/path.h"
#include "common/report.h"
#include "common/text.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct level {
	struct listing list;
	size_t next;
	char *path;
	uint64_t bytes;
};

struct du {
	struct volume *v;
	bool all, apparent, human, kilo, summarize, bytes;
	uint64_t depth_limit;
	bool limited, terminal;
	struct level *levels;
	size_t depth, capacity;
	struct inoset seen; /* directories, and inodes with several names */
	struct json json;
	int status;
};

static void failed(struct du *d, const char *path, int err)
{
	d->status = volume_failed(d->v, path, err);
}

static uint64_t usage(const struct du *d, const struct e4_stat *st)
{
	if (!d->apparent) {
		return st->blocks * 512;
	}
	return S_ISREG(st->mode) || S_ISLNK(st->mode) ? st->size : 0;
}

static void print(struct du *d, const char *path, uint64_t bytes)
{
	char text[TEXT_SIZE_MAX];

	if (d->v->args->json) {
		json_object_begin(&d->json, NULL);
		json_text(&d->json, "path", path);
		json_number(&d->json, "bytes", bytes);
		json_object_end(&d->json);
		return;
	}
	if (d->human) {
		text_size(bytes, text);
		printf("%s\t", text);
	} else {
		printf("%" PRIu64 "\t", d->bytes ? bytes : (bytes + 1023) / 1024);
	}
	text_name(stdout, path, d->terminal);
	putchar('\n');
}

/* Adds to the level that is open now, or prints the total of an operand. */
static void account(struct du *d, const char *path, uint64_t bytes, bool directory)
{
	bool shown = d->depth == 0 ||
		     ((directory || d->all) && (!d->limited || d->depth <= d->depth_limit));

	if (shown) {
		print(d, path, bytes);
	}
	if (d->depth > 0) {
		d->levels[d->depth - 1].bytes += bytes;
	}
}

static void enter(struct du *d, struct e4_inode *ip, const char *path, uint64_t own)
{
	struct level *level;
	int r;

	d->levels = memory_room(d->levels, d->depth, &d->capacity, sizeof(*d->levels));
	level = &d->levels[d->depth++];
	*level = (struct level){.path = memory_copy(path, strlen(path)), .bytes = own};
	r = listing_read(ip, false, &level->list);
	if (r < 0) {
		failed(d, path, r);
	}
}

static void leave(struct du *d)
{
	struct level level = d->levels[--d->depth];

	account(d, level.path, level.bytes, true);
	listing_free(&level.list);
	free(level.path);
}

/* An object met on the way: entered if it is a directory, else counted. */
static void meet(struct du *d, struct e4_inode *ip, const char *path)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	int r = e4_inode_stat(ip, &st);

	if (r < 0) {
		failed(d, path, r);
		return;
	}
	if ((S_ISDIR(st.mode) || st.nlink > 1) && !inoset_add(&d->seen, st.ino, NULL)) {
		if (S_ISDIR(st.mode) && d->depth > 0) {
			report("du", path, -ELOOP, "this directory was counted already");
			d->status = STATUS_FAILED;
		}
		return;
	}
	if (S_ISDIR(st.mode)) {
		enter(d, ip, path, usage(d, &st));
	} else {
		account(d, path, usage(d, &st), false);
	}
}

static void step(struct du *d)
{
	struct level *level = &d->levels[d->depth - 1];
	const struct listing_entry *entry;
	struct e4_inode *ip;
	char *path;
	int r;

	if (level->next >= level->list.count) {
		leave(d);
		return;
	}
	entry = &level->list.entries[level->next++];
	path = path_join(level->path, entry->name);
	r = e4_inode_get(d->v->fs, entry->ino, 0, &ip);
	if (r < 0) {
		failed(d, path, r);
	} else {
		meet(d, ip, path);
		e4_inode_put(ip, 1);
	}
	free(path);
}

static void du_one(struct du *d, const char *path)
{
	struct e4_inode *ip;
	int r = e4_path_lookup(d->v->fs, path, E4_PATH_NOFOLLOW, &ip);

	if (r < 0) {
		failed(d, path, r);
		return;
	}
	meet(d, ip, path);
	e4_inode_put(ip, 1);
	while (d->depth > 0) {
		step(d);
	}
}

int e4_du(const struct command *command, int argc, char **argv)
{
	struct volume v;
	struct args args;
	struct du d = {.v = &v, .json.out = stdout, .depth_limit = UINT64_MAX};
	const struct option_spec specs[] = {
		{'a', "all", NULL, "files too, not only directories", &d.all, NULL, NULL},
		{'s', "summarize", NULL, "only a total for each PATH", &d.summarize, NULL, NULL},
		{'d', "max-depth", "N", "only so many levels below PATH", NULL, NULL, &d.depth_limit},
		{'k', NULL, NULL, "units of 1024 bytes (the default)", &d.kilo, NULL, NULL},
		{'b', "bytes", NULL, "sizes of the files in bytes, not what they use", &d.bytes,
			NULL, NULL},
		{0, "apparent-size", NULL, "sizes of the files, not what they use", &d.apparent,
			NULL, NULL},
		{'h', "human-readable", NULL, "sizes as 1.5G", &d.human, NULL, NULL},
	};
	int status = args_parse(
		&args, command, specs, sizeof(specs) / sizeof(specs[0]), argc, argv, 1, UINT32_MAX);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	d.terminal = isatty(STDOUT_FILENO) != 0;
	d.apparent = d.apparent || d.bytes;
	d.limited = d.summarize || d.depth_limit != UINT64_MAX;
	d.depth_limit = d.summarize ? 0 : d.depth_limit;
	if (args.json) {
		json_list_begin(&d.json, NULL);
	}
	if (args.operand_count == 1) {
		du_one(&d, "/");
	}
	for (unsigned i = 1; i < args.operand_count; i++) {
		du_one(&d, args.operands[i]);
	}
	if (args.json) {
		json_list_end(&d.json);
		json_end(&d.json);
	}
	free(d.levels);
	inoset_free(&d.seen);
	volume_close(&v);
	return d.status;
}
