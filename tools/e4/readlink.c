/* readlink.c - e4 readlink: where symbolic links point. */
#include "common/volume.h"
#include "e4/e4.h"

#include <unistd.h>

static int print_one(struct volume *v, const char *path, bool newline, struct json *j)
{
	char target[65536]; /* a link fills at most one block */
	int64_t len = e4_readlink(v->fs, path, target, sizeof(target));

	if (len < 0) {
		return volume_failed(v, path, len);
	}
	if (v->args->json) {
		json_bytes(j, NULL, target, (size_t)len);
	} else {
		(void)fwrite(target, 1, (size_t)len, stdout);
		if (newline) {
			fputc('\n', stdout);
		}
	}
	return STATUS_DONE;
}

int e4_print_link(const struct command *command, int argc, char **argv)
{
	bool bare = false;
	const struct option_spec specs[] = {
		{'n', "no-newline", NULL, "no newline behind the target", &bare, NULL, NULL},
	};
	struct json j = {.out = stdout};
	struct volume v;
	struct args args;
	bool list;
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
		status |= print_one(&v, args.operands[i], !bare, &j);
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
