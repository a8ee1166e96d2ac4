#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* One option of a command, always `--name VALUE` or `--name=VALUE`, a flag without a value. Exactly one target is set. */
struct option_spec {
	const char *name;
	const char *argument; /* NULL for a flag */
	const char *help;
	bool *flag;
	const char **text;
	uint64_t *number; /* with K, M, G or T: times 1024 and so on */
};

/* Answers of options_parse() that are no exit status. */
#define OPTIONS_GO_ON (-1)

/*
 * Reads the command line of `command` (argv[0]); operands end up in argv[0..*ret_operands - 1]. OPTIONS_GO_ON, or an
 * exit status when --help was shown or a mistake reported.
 */
int options_parse(const char *command, const char *synopsis, const struct option_spec *specs,
	unsigned spec_count, int argc, char **argv, unsigned *ret_operands);
/* Reports a mistake in the command line; answers STATUS_USAGE. */
int options_mistake(const char *command, const char *object, const char *reason);

#endif
