/*
 * args.c - the options of a command.
 *
 * Always:  argv keeps its strings; operands are moved to its front, in their order.
 */
#include "common/args.h"

#include "common/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMON_MAX = 10 };

/* Where a parse stands. */
struct parse {
	const struct command *command;
	const struct option_spec *tables[2]; /* the command's, the common ones */
	unsigned counts[2];
	int argc;
	char **argv;
	int at;
};

static unsigned common_specs(
	struct args *a, const char **progress, bool *help, struct option_spec ret[COMMON_MAX])
{
	const struct option_spec specs[] = {
		{0, "json", NULL, "print one JSON document", &a->json, NULL, NULL},
		{0, "journal", "DEV", "external journal of the volume", NULL, &a->journal, NULL},
		{0, "superblock", "N", "use the superblock in block N (see --blocksize)", NULL,
			NULL, &a->superblock},
		{0, "blocksize", "B", "block size that N counts in; 0 tries them all", NULL, NULL,
			&a->superblock_bsize},
		{0, "backup-descriptors", NULL, "take the group descriptors beside that superblock",
			&a->backup_descriptors, NULL, NULL},
		{0, "ignore-checksums", NULL, "rescue: go on past a bad checksum",
			&a->ignore_checksums, NULL, NULL},
		{0, "norecovery", NULL, "show a dirty volume as it is, without its log",
			&a->norecovery, NULL, NULL},
		{0, "memory", "BYTES", "limit for caches (64M)", NULL, NULL, &a->memory},
		{0, "progress", "WHEN", "never, always, or auto: on a terminal", NULL, progress,
			NULL},
		{0, "help", NULL, "show this", help, NULL, NULL},
	};

	memcpy(ret, specs, sizeof(specs));
	return sizeof(specs) / sizeof(specs[0]);
}

static void help_option(const struct option_spec *s)
{
	char left[64];

	if (s->name == NULL) {
		snprintf(left, sizeof(left), "-%c", s->letter);
	} else {
		snprintf(left, sizeof(left), "%c%c%s--%s%s%s", s->letter ? '-' : ' ',
			s->letter ? s->letter : ' ', s->letter ? ", " : "  ", s->name,
			s->argument ? "=" : "", s->argument ? s->argument : "");
	}
	printf("  %-28s %s\n", left, s->help);
}

static void help_show(const struct parse *p)
{
	printf("usage: e4 %s [options] %s\n%s.\n\n", p->command->name, p->command->synopsis,
		p->command->summary);
	for (unsigned t = 0; t < 2; t++) {
		for (unsigned i = 0; i < p->counts[t]; i++) {
			help_option(&p->tables[t][i]);
		}
	}
}

/* A number with an optional K, M, G or T. */
static int number_parse(const char *text, uint64_t *ret)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	char *end;
	unsigned long long value;
	unsigned shift = 0;

	if (*text < '0' || *text > '9') {
		return -EINVAL;
	}
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0) {
		return -errno;
	}
	if (*end != '\0') {
		suffix = strchr(suffixes, *end & ~0x20);
		if (suffix == NULL || *suffix == '\0' || end[1] != '\0') {
			return -EINVAL;
		}
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (shift > 0 && value > UINT64_MAX >> shift) {
		return -ERANGE;
	}
	*ret = (uint64_t)value << shift;
	return 0;
}

static int usage(const struct parse *p, const char *object, const char *reason)
{
	fprintf(stderr, "e4: %s: ", p->command->name);
	report_object(object);
	fprintf(stderr, ": %s; `e4 %s --help` shows the usage (EINVAL)\n", reason, p->command->name);
	return STATUS_USAGE;
}

static int option_take(
	const struct parse *p, const struct option_spec *s, const char *shown, const char *value)
{
	if (s->flag != NULL) {
		*s->flag = true;
	} else if (s->text != NULL) {
		*s->text = value;
	} else if (number_parse(value, s->number) < 0) {
		return usage(p, shown, "needs a number");
	}
	return ARGS_GO_ON;
}

static const struct option_spec *spec_find(
	const struct parse *p, char letter, const char *name, size_t len)
{
	const struct option_spec *s;

	for (unsigned t = 0; t < 2; t++) {
		for (unsigned i = 0; i < p->counts[t]; i++) {
			s = &p->tables[t][i];
			if (letter != 0 && s->letter == letter) {
				return s;
			}
			if (letter == 0 && s->name != NULL && strlen(s->name) == len &&
				memcmp(s->name, name, len) == 0) {
				return s;
			}
		}
	}
	return NULL;
}

/* --name, --name=value, --name value */
static int long_option(struct parse *p)
{
	const char *shown = p->argv[p->at];
	const char *name = shown + 2;
	const char *value = strchr(name, '=');
	const struct option_spec *s = spec_find(
		p, 0, name, value ? (size_t)(value - name) : strlen(name));

	if (s == NULL) {
		return usage(p, shown, "there is no such option");
	}
	if (s->flag != NULL && value != NULL) {
		return usage(p, shown, "takes no value");
	}
	if (s->flag == NULL && value == NULL && p->at + 1 >= p->argc) {
		return usage(p, shown, "needs a value");
	}
	if (s->flag == NULL) {
		value = value != NULL ? value + 1 : p->argv[++p->at];
	}
	return option_take(p, s, shown, value);
}

/* -abc, -o value, -ovalue */
static int short_options(struct parse *p)
{
	const char *shown = p->argv[p->at];
	const struct option_spec *s;
	const char *value;
	int status;

	for (const char *c = shown + 1; *c != '\0'; c++) {
		s = spec_find(p, *c, NULL, 0);
		if (s == NULL) {
			return usage(p, shown, "there is no such option");
		}
		if (s->flag != NULL) {
			*s->flag = true;
			continue;
		}
		if (c[1] == '\0' && p->at + 1 >= p->argc) {
			return usage(p, shown, "needs a value");
		}
		value = c[1] != '\0' ? c + 1 : p->argv[++p->at];
		status = option_take(p, s, shown, value);
		return status;
	}
	return ARGS_GO_ON;
}

static int parse_all(struct parse *p, struct args *ret)
{
	bool options = true;
	int status;
	char *word;

	for (p->at = 1; p->at < p->argc; p->at++) {
		word = p->argv[p->at];
		if (!options || word[0] != '-' || word[1] == '\0') {
			ret->operands[ret->operand_count++] = word;
			continue;
		}
		if (strcmp(word, "--") == 0) {
			options = false;
			continue;
		}
		status = word[1] == '-' ? long_option(p) : short_options(p);
		if (status != ARGS_GO_ON) {
			return status;
		}
	}
	return ARGS_GO_ON;
}

static int progress_parse(const struct parse *p, const char *text, enum progress_mode *ret)
{
	static const char *const names[] = {
		[PROGRESS_AUTO] = "auto", [PROGRESS_NEVER] = "never", [PROGRESS_ALWAYS] = "always"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (text == NULL || strcmp(text, names[i]) == 0) {
			*ret = (enum progress_mode)i;
			return ARGS_GO_ON;
		}
	}
	return usage(p, "--progress", "is never, auto or always");
}

int args_parse(struct args *ret, const struct command *command, const struct option_spec *specs,
	unsigned spec_count, int argc, char **argv, unsigned min_operands, unsigned max_operands)
{
	struct option_spec common[COMMON_MAX];
	const char *progress = NULL;
	bool help = false;
	struct parse p = {.command = command, .argc = argc, .argv = argv};
	int status;

	*ret = (struct args){.command = command, .operands = argv};
	p.tables[0] = specs;
	p.counts[0] = spec_count;
	p.counts[1] = common_specs(ret, &progress, &help, common);
	p.tables[1] = common;

	status = parse_all(&p, ret);
	if (status != ARGS_GO_ON) {
		return status;
	}
	if (help) {
		help_show(&p);
		return STATUS_DONE;
	}
	if (ret->operand_count < min_operands) {
		return usage(&p, command->synopsis, "an operand is missing");
	}
	if (ret->operand_count > max_operands) {
		return usage(&p, ret->operands[max_operands], "is an operand too many");
	}
	return progress_parse(&p, progress, &ret->progress);
}
