/*
 * options.c - the command line of e4bench, in the manner of fio's.
 */
#include "options.h"

#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number with an optional K, M, G or T, as fio takes them: 4k, 1M. */
static bool number_parse(const char *text, uint64_t *ret)
{
	static const char suffixes[] = "kmgt";
	unsigned long long value;
	unsigned shift = 0;
	char *end;

	if (*text < '0' || *text > '9') {
		return false;
	}
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end != '\0') {
		const char *suffix = strchr(suffixes, *end | 0x20);

		if (suffix == NULL || end[1] != '\0') {
			return false;
		}
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (errno != 0 || (shift > 0 && value > UINT64_MAX >> shift)) {
		return false;
	}
	*ret = (uint64_t)value << shift;
	return true;
}

int options_mistake(const char *command, const char *object, const char *reason)
{
	fprintf(stderr, "e4bench: %s: %s: %s; `e4bench %s --help` shows the usage (EINVAL)\n",
		command, object, reason, command);
	return STATUS_USAGE;
}

static void help(
	const char *command, const char *synopsis, const struct option_spec *specs, unsigned count)
{
	printf("usage: e4bench %s [options]%s%s\n\n", command, *synopsis ? " " : "", synopsis);
	for (unsigned i = 0; i < count; i++) {
		char left[48];

		snprintf(left, sizeof(left), "--%s%s%s", specs[i].name,
			specs[i].argument ? "=" : "", specs[i].argument ? specs[i].argument : "");
		printf("  %-28s %s\n", left, specs[i].help);
	}
}

static const struct option_spec *find(
	const struct option_spec *specs, unsigned count, const char *name, size_t len)
{
	for (unsigned i = 0; i < count; i++) {
		if (strlen(specs[i].name) == len && memcmp(specs[i].name, name, len) == 0) {
			return &specs[i];
		}
	}
	return NULL;
}

/* Takes the option at argv[*at]. */
static int take(const char *command, const struct option_spec *specs, unsigned count, int argc,
	char **argv, int *at)
{
	const char *shown = argv[*at];
	const char *value = strchr(shown, '=');
	size_t len = value != NULL ? (size_t)(value - shown) : strlen(shown);
	const struct option_spec *s = len > 2 ? find(specs, count, shown + 2, len - 2) : NULL;

	if (s == NULL) {
		return options_mistake(command, shown, "there is no such option");
	}
	if (s->flag != NULL) {
		*s->flag = true;
		return value == NULL ? OPTIONS_GO_ON
				     : options_mistake(command, shown, "takes no value");
	}
	if (value == NULL && *at + 1 == argc) {
		return options_mistake(command, shown, "needs a value");
	}
	value = value != NULL ? value + 1 : argv[++*at];
	if (s->text != NULL) {
		*s->text = value;
		return OPTIONS_GO_ON;
	}
	return number_parse(value, s->number) ? OPTIONS_GO_ON
					      : options_mistake(command, shown, "needs a number");
}

int options_parse(const char *command, const char *synopsis, const struct option_spec *specs,
	unsigned spec_count, int argc, char **argv, unsigned *ret_operands)
{
	unsigned operands = 0;
	bool options = true;

	for (int at = 1; at < argc; at++) {
		int status;

		if (!options || argv[at][0] != '-') {
			argv[operands++] = argv[at];
			continue;
		}
		if (strcmp(argv[at], "--") == 0) {
			options = false;
			continue;
		}
		if (strcmp(argv[at], "--help") == 0) {
			help(command, synopsis, specs, spec_count);
			return STATUS_DONE;
		}
		status = take(command, specs, spec_count, argc, argv, &at);
		if (status != OPTIONS_GO_ON) {
			return status;
		}
	}
	*ret_operands = operands;
	return OPTIONS_GO_ON;
}
