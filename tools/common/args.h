#ifndef TOOLS_COMMON_ARGS_H
#define TOOLS_COMMON_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/* Exit statuses. */
enum {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

enum progress_mode {
	PROGRESS_AUTO,
	PROGRESS_NEVER,
	PROGRESS_ALWAYS,
};

/* One command of a program. */
struct command {
	const char *name;
	const char *synopsis; /* operands, as in "DEV PATH" */
	const char *summary;  /* one line */
	int (*run)(const struct command *command, int argc, char **argv); /* argv[0] is the command */
};

/* One option of a command. Exactly one of flag, text and number is set. */
struct option_spec {
	char letter;          /* 0 = none */
	const char *name;     /* NULL = none */
	const char *argument; /* its name in the help, NULL for a flag */
	const char *help;
	bool *flag;
	const char **text;
	uint64_t *number;
};

/* What the command line said, beside the command's own options. */
struct args {
	const struct command *command;
	char **operands; /* in argv, moved together */
	unsigned operand_count;
	bool json;
	bool ignore_checksums, norecovery, backup_descriptors;
	const char *journal; /* device specification of an external journal, or NULL */
	uint64_t superblock, superblock_bsize;
	uint64_t memory;
	enum progress_mode progress;
};

/* The answer of args_parse() that lets the command go on; anything else is its exit status. */
#define ARGS_GO_ON (-1)

/*
 * Reads the command line. Options may stand behind operands; `--` ends them. A mistake is reported in one
 * line and answered with STATUS_USAGE; --help is shown and answered with STATUS_DONE.
 */
int args_parse(struct args *ret, const struct command *command, const struct option_spec *specs,
	unsigned spec_count, int argc, char **argv, unsigned min_operands, unsigned max_operands);

#endif
