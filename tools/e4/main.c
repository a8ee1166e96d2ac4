/*
 * main.c - the e4 command: which commands there are, and how the program ends.
 *
 * Always:  the exit status is 0 when all was done, 1 when something failed, 2 when the command line was wrong
 *          (`check`: as e2fsck).
 */
#include "common/report.h"
#include "e4/e4.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{"info", "DEV", "Shows what a volume is", e4_info},
	{"ls", "DEV [PATH...]", "Lists directories", e4_ls},
	{"tree", "DEV [PATH]", "Draws a tree of directories", e4_tree},
	{"cat", "DEV PATH...", "Writes files to standard output", e4_cat},
	{"readlink", "DEV PATH...", "Shows where symbolic links point", e4_print_link},
	{"stat", "DEV PATH...", "Shows what an inode says", e4_print_stat},
	{"map", "DEV PATH", "Shows where a file's blocks lie", e4_map},
	{"manifest", "DEV [PATH]", "Lists all objects with checksums of their content", e4_manifest},
	{"xattr", "get|set|rm|ls DEV PATH [NAME [VALUE]]", "Handles extended attributes", e4_xattr},
	{"get", "DEV SRC... DST", "Copies files out of the volume", e4_get},
	{"replay", "DEV", "Recovers a volume for good: log and orphans", e4_recover},
	{"df", "DEV...", "Shows free space", e4_df},
	{"du", "DEV [PATH...]", "Adds up the space that directories use", e4_du},
	{"put", "DEV SRC... DST", "Copies files into the volume", e4_later},
	{"mkdir", "DEV PATH...", "Makes directories", e4_later},
	{"rm", "DEV PATH...", "Removes files and directories", e4_later},
	{"mv", "DEV SRC... DST", "Renames", e4_later},
	{"ln", "DEV TARGET PATH", "Makes links", e4_later},
	{"chmod", "DEV MODE PATH...", "Changes permissions", e4_later},
	{"chown", "DEV OWNER PATH...", "Changes owners", e4_later},
	{"touch", "DEV PATH...", "Makes files or changes their times", e4_later},
	{"truncate", "DEV PATH", "Changes a file's size", e4_later},
	{"fallocate", "DEV PATH", "Allocates or frees a file's blocks", e4_later},
	{"mknod", "DEV PATH TYPE [MAJOR MINOR]", "Makes devices and fifos", e4_later},
	{"chattr", "DEV FLAGS PATH...", "Changes an inode's flags", e4_later},
	{"mkfs", "DEV [SIZE]", "Makes a volume", e4_later},
	{"build", "-o IMG", "Makes a populated volume", e4_later},
	{"check", "DEV", "Checks a volume", e4_later},
	{"resize", "DEV SIZE", "Changes a volume's size", e4_later},
	{"tune", "DEV", "Changes a volume's settings", e4_later},
	{"label", "DEV [LABEL]", "Changes a volume's label", e4_later},
	{"uuid", "DEV [UUID]", "Changes a volume's UUID", e4_later},
	{"trim", "DEV", "Discards free blocks", e4_later},
	{"script", "DEV [FILE]", "Runs operations, one a line", e4_later},
	{"shell", "DEV", "Runs operations interactively", e4_later},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const struct command *command_find(const char *name)
{
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0) {
			return &commands[i];
		}
	}
	return NULL;
}

static void help(FILE *out)
{
	fputs("usage: e4 COMMAND [options] DEV ...\n"
	      "Works on ext2, ext3 and ext4 volumes without mounting them. DEV is a path, or\n"
	      "BACKEND:path[,key=value...] with file, direct, uring, pmem or mem.\n\n",
		out);
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		if (commands[i].run != e4_later) {
			fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
		}
	}
	fputs("\n`e4 COMMAND --help` shows its options, `e4 --version` the version. Names that "
	      "later\n"
	      "versions bring:",
		out);
	for (unsigned i = 0; i < COMMAND_COUNT; i++) {
		if (commands[i].run == e4_later) {
			fprintf(out, " %s", commands[i].name);
		}
	}
	fputs(".\n", out);
}

/* What was printed must have arrived. A reader that has gone away wants no message. */
static int finish(const char *command, int status)
{
	int err = 0;

	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		err = errno != 0 ? -errno : -EIO;
	}
	if (err == 0) {
		return status;
	}
	if (err != -EPIPE) {
		report_fs(command, "standard output", NULL, err);
	}
	return status == STATUS_DONE ? STATUS_FAILED : status;
}

int main(int argc, char **argv)
{
	const struct command *command;
	const char *name = argc > 1 ? argv[1] : NULL;
	char *asked[] = {argc > 2 ? argv[2] : NULL, (char[]){"--help"}, NULL};

	(void)signal(SIGPIPE, SIG_IGN);
	if (name == NULL) {
		help(stderr);
		return STATUS_USAGE;
	}
	if (strcmp(name, "--version") == 0) {
		printf("e4 %s\n", e4_version());
		return finish("version", STATUS_DONE);
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
		(strcmp(name, "help") == 0 && argc == 2)) {
		help(stdout);
		return finish("help", STATUS_DONE);
	}
	if (strcmp(name, "help") == 0) {
		name = argv[2];
		argc = 2;
		argv = asked;
	} else {
		argc--;
		argv++;
	}
	command = command_find(name);
	if (command == NULL) {
		report("e4", name, -EINVAL, "there is no such command; `e4 --help` lists them");
		return STATUS_USAGE;
	}
	return finish(command->name, command->run(command, argc, argv));
}
