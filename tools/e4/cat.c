/* cat.c - e4 cat: files to standard output. */
#include "common/copy.h"
#include "common/memory.h"
#include "common/report.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int cat_one(struct volume *v, const char *path, void *buf, struct progress *progress)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct copy_result result;
	struct e4_file *file;
	int r = e4_open(v->fs, path, E4_O_RDONLY, 0, &file);

	if (r < 0) {
		return volume_failed(v, path, r);
	}
	r = e4_fstat(file, &st);
	if (r == 0 && S_ISDIR(st.mode)) {
		r = -EISDIR;
	}
	if (r < 0) {
		result = (struct copy_result){r, true};
	} else {
		progress->total_bytes += st.size;
		result = copy_stream(file, STDOUT_FILENO, buf, progress);
	}
	progress_clear(progress);
	if (result.err < 0 && result.reading) {
		(void)volume_failed(v, path, result.err);
	} else if (result.err < 0 && result.err != -EPIPE) {
		report_fs("cat", "standard output", NULL, result.err);
	}
	(void)e4_close(file);
	return result.err < 0 ? STATUS_FAILED : STATUS_DONE;
}

int e4_cat(const struct command *command, int argc, char **argv)
{
	struct progress progress;
	struct volume v;
	struct args args;
	void *buf;
	int status = args_parse(&args, command, NULL, 0, argc, argv, 2, UINT32_MAX);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	/* a terminal shows the text itself */
	if (args.progress == PROGRESS_AUTO && isatty(STDOUT_FILENO)) {
		args.progress = PROGRESS_NEVER;
	}
	progress_begin(&progress, args.progress, "cat");
	buf = memory_grow(NULL, COPY_PIECE, 1);
	status = STATUS_DONE;
	for (unsigned i = 1; i < args.operand_count; i++) {
		if (cat_one(&v, args.operands[i], buf, &progress) != STATUS_DONE) {
			status = STATUS_FAILED;
		}
	}
	free(buf);
	volume_close(&v);
	return status;
}
