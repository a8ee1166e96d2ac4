/* stat.c - e4 stat: all that an inode says. */
#include "common/text.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static void json_time(struct json *j, const char *key, const struct e4_timespec *t)
{
	char text[TEXT_TIME_MAX];

	text_time(t, text);
	json_text(j, key, text);
}

static bool is_device(uint32_t mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode);
}

void stat_json(struct json *j, const struct e4_stat *st)
{
	char text[TEXT_FLAGS_MAX];

	json_number(j, "ino", st->ino);
	json_text(j, "type", text_type_words(st->mode));
	snprintf(text, sizeof(text), "%" PRIo32, st->mode & 07777);
	json_text(j, "mode", text);
	json_number(j, "uid", st->uid);
	json_number(j, "gid", st->gid);
	json_number(j, "nlink", st->nlink);
	json_number(j, "size", st->size);
	json_number(j, "blocks", st->blocks);
	json_number(j, "blksize", st->blksize);
	json_time(j, "atime", &st->atime);
	json_time(j, "mtime", &st->mtime);
	json_time(j, "ctime", &st->ctime);
	if (st->has_btime) {
		json_time(j, "btime", &st->btime);
	} else {
		json_null(j, "btime");
	}
	if (is_device(st->mode)) {
		snprintf(text, sizeof(text), "%" PRIu32 ":%" PRIu32, st->rdev_major, st->rdev_minor);
		json_text(j, "rdev", text);
	} else {
		json_null(j, "rdev");
	}
	text_flags(st->flags, text);
	json_list_begin(j, "flags");
	for (const char *c = text; *c != '\0'; c++) {
		json_bytes(j, NULL, c, 1);
	}
	json_list_end(j);
	json_number(j, "generation", st->generation);
	json_number(j, "projid", st->projid);
	json_number(j, "version", st->version);
}

static void print_time(const char *title, const struct e4_timespec *t)
{
	char date[TEXT_TIME_MAX];

	text_date(t, 1, date);
	printf("%7s: %s\n", title, date);
}

static void print_person(const char *path, const struct e4_stat *st)
{
	char text[TEXT_FLAGS_MAX];
	char mode[11];

	fputs("   File: ", stdout);
	text_name(stdout, path, isatty(STDOUT_FILENO));
	printf("\n   Size: %-16" PRIu64 "Blocks: %-12" PRIu64 "IO Block: %-8" PRIu32 "%s\n",
		st->size, st->blocks, st->blksize, text_type_words(st->mode));
	printf("  Inode: %-16" PRIu32 "Links: %-13" PRIu32 "Generation: %" PRIu32, st->ino,
		st->nlink, st->generation);
	if (is_device(st->mode)) {
		printf("   Device type: %" PRIu32 ",%" PRIu32, st->rdev_major, st->rdev_minor);
	}
	text_mode(st->mode, mode);
	printf("\n Access: (%04" PRIo32 "/%s)  Uid: %-12" PRIu32 "Gid: %-12" PRIu32
	       "Project: %" PRIu32 "\n",
		st->mode & 07777, mode, st->uid, st->gid, st->projid);
	text_flags(st->flags, text);
	printf("  Flags: %-16sVersion: %" PRIu64 "\n", text[0] != '\0' ? text : "-", st->version);
	print_time("Access", &st->atime);
	print_time("Modify", &st->mtime);
	print_time("Change", &st->ctime);
	if (st->has_btime) {
		print_time("Birth", &st->btime);
	} else {
		puts("  Birth: -");
	}
}

int e4_print_stat(const struct command *command, int argc, char **argv)
{
	bool follow = false;
	const struct option_spec specs[] = {
		{'L', "dereference", NULL, "follow a symbolic link at the end", &follow, NULL, NULL},
	};
	struct e4_stat st;
	struct json j = {.out = stdout};
	struct volume v;
	struct args args;
	bool list;
	int r;
	int status = args_parse(&args, command, specs, 1, argc, argv, 2, UINT32_MAX);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	list = args.json && args.operand_count > 2;
	if (list) {
		json_list_begin(&j, NULL);
	}
	status = STATUS_DONE;
	for (unsigned i = 1; i < args.operand_count; i++) {
		st = (struct e4_stat){.struct_size = sizeof(st)};
		r = e4_stat(v.fs, args.operands[i], follow ? 0 : E4_PATH_NOFOLLOW, &st);
		if (r < 0) {
			status = volume_failed(&v, args.operands[i], r);
		} else if (args.json) {
			json_object_begin(&j, NULL);
			stat_json(&j, &st);
			json_object_end(&j);
		} else {
			print_person(args.operands[i], &st);
		}
	}
	if (list) {
		json_list_end(&j);
	}
	if (list || (args.json && status == STATUS_DONE)) {
		json_end(&j);
	}
	volume_close(&v);
	return status;
}
