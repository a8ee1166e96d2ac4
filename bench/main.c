/*
 * main.c - the e4bench command: which commands there are.
 */
#include "bench.h"
#include "report.h"

#include <ext4core/version.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char usage_text[] =
	"usage: e4bench COMMAND [options]\n"
	"\n"
	"  run [options] DEV   reads through the library as fio would, and tells how fast\n"
	"  compare [options]   the same work by the library and by a rival, in turn\n"
	"\n"
	"`e4bench COMMAND --help` shows the options of one.\n";

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs(usage_text, stderr);
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "run") == 0) {
		return bench_run(argc - 1, argv + 1);
	}
	if (strcmp(argv[1], "compare") == 0) {
		return bench_compare(argc - 1, argv + 1);
	}
	if (strcmp(argv[1], "meta") == 0 || strcmp(argv[1], "seeds") == 0) {
		report(argv[1], "e4bench", -EOPNOTSUPP, "this version has no such command yet");
		return STATUS_FAILED;
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
		fputs(usage_text, stdout);
		return STATUS_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("e4bench %s\n", e4_version());
		return STATUS_DONE;
	}
	fputs(usage_text, stderr);
	return STATUS_USAGE;
}
