/* df.c - e4 df: free space and inodes, as df(1). */
#include "common/text.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <inttypes.h>
#include <string.h>

struct df_options {
	bool inodes, human;
};

/* Rounded up, as df does, so that a volume with one used block is not empty. */
static void percent(uint64_t used, uint64_t of, char ret[8])
{
	if (of == 0) {
		memcpy(ret, "-", 2);
	} else {
		snprintf(ret, 8, "%u%%",
			(unsigned)(((double)used * 100 + (double)of - 1) / (double)of));
	}
}

static void print_json(struct json *j, const char *dev, const struct e4_statfs *s)
{
	json_object_begin(j, NULL);
	json_text(j, "device", dev);
	json_number(j, "block_size", s->block_size);
	json_number(j, "size", s->blocks * s->block_size);
	json_number(j, "used", (s->blocks - s->blocks_free) * s->block_size);
	json_number(j, "free", s->blocks_free * s->block_size);
	json_number(j, "available", s->blocks_avail * s->block_size);
	json_number(j, "inodes", s->files);
	json_number(j, "inodes_used", s->files - s->files_free);
	json_number(j, "inodes_free", s->files_free);
	json_number(j, "name_max", s->name_max);
	json_object_end(j);
}

static void size_text(
	const struct df_options *o, uint64_t blocks, uint64_t bsize, char ret[TEXT_SIZE_MAX + 8])
{
	if (o->human) {
		text_size(blocks * bsize, ret);
	} else {
		snprintf(ret, TEXT_SIZE_MAX + 8, "%" PRIu64, (blocks * bsize + 1023) / 1024);
	}
}

static void print_person(const struct df_options *o, const char *dev, const struct e4_statfs *s)
{
	uint64_t used = o->inodes ? s->files - s->files_free : s->blocks - s->blocks_free;
	char columns[3][TEXT_SIZE_MAX + 8];
	char share[8];

	if (o->inodes) {
		percent(used, s->files, share);
		printf("%-20s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %5s\n", dev, s->files, used,
			s->files_free, share);
		return;
	}
	percent(used, used + s->blocks_avail, share);
	size_text(o, s->blocks, s->block_size, columns[0]);
	size_text(o, used, s->block_size, columns[1]);
	size_text(o, s->blocks_avail, s->block_size, columns[2]);
	printf("%-20s %12s %12s %12s %5s\n", dev, columns[0], columns[1], columns[2], share);
}

/* One device: opened, asked, closed. The operand is moved to where volume_open() looks. */
static int df_one(const struct args *all, unsigned i, const struct df_options *o, struct json *j)
{
	struct e4_statfs s = {.struct_size = sizeof(s)};
	struct args args = *all;
	struct volume v;
	int status = STATUS_DONE;
	int r;

	args.operands = all->operands + i;
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	r = e4_statfs(v.fs, &s);
	if (r < 0) {
		status = volume_failed(&v, args.operands[0], r);
	} else if (args.json) {
		print_json(j, args.operands[0], &s);
	} else {
		print_person(o, args.operands[0], &s);
	}
	volume_close(&v);
	return status;
}

int e4_df(const struct command *command, int argc, char **argv)
{
	struct df_options o = {0};
	bool kilo = false;
	const struct option_spec specs[] = {
		{'i', "inodes", NULL, "inodes in place of blocks", &o.inodes, NULL, NULL},
		{'k', NULL, NULL, "units of 1024 bytes (the default)", &kilo, NULL, NULL},
		{'h', "human-readable", NULL, "sizes as 1.5G", &o.human, NULL, NULL},
	};
	struct json j = {.out = stdout};
	struct args args;
	bool list;
	int status = args_parse(&args, command, specs, 3, argc, argv, 1, UINT32_MAX);

	if (status != ARGS_GO_ON) {
		return status;
	}
	list = args.json && args.operand_count > 1;
	if (list) {
		json_list_begin(&j, NULL);
	} else if (!args.json && o.inodes) {
		printf("%-20s %10s %10s %10s %5s\n", "Filesystem", "Inodes", "IUsed", "IFree",
			"IUse%");
	} else if (!args.json) {
		printf("%-20s %12s %12s %12s %5s\n", "Filesystem", o.human ? "Size" : "1K-blocks",
			"Used", o.human ? "Avail" : "Available", "Use%");
	}
	status = STATUS_DONE;
	for (unsigned i = 0; i < args.operand_count; i++) {
		status |= df_one(&args, i, &o, &j);
	}
	if (list) {
		json_list_end(&j);
	}
	if (list || (args.json && status == STATUS_DONE)) {
		json_end(&j);
	}
	return status;
}
