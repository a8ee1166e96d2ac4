/*
 * compare.c - `e4bench compare`: the cases one after the other, and what came out as a table or as JSON.
 *
 * Always:  a case that cannot be had here is named with the reason, and the others go on.
 */
#include "bench.h"
#include "cases.h"
#include "duel.h"
#include "facts.h"
#include "options.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLICES = 15,
	SLICE_MS = 150,
	QUICK_SLICES = 10,
	QUICK_SLICE_MS = 20,
};

struct settings {
	const char *only, *peer, *backend, *tmpfs;
	uint64_t threads, files, size, slices, slice_ms, seed;
	bool json, quick;
};

struct comparison {
	struct settings set;
	struct lab lab;
	struct facts facts;
	struct json json;
	char options[256];
	unsigned results;
	bool failed;
};

static const char *metric_name(enum metric m)
{
	switch (m) {
	case METRIC_IOPS:
		return "iops";
	case METRIC_BANDWIDTH:
		return "bandwidth";
	case METRIC_TIME:
		return "time";
	}
	return "";
}

static const char *metric_unit(enum metric m)
{
	switch (m) {
	case METRIC_IOPS:
		return "1/s";
	case METRIC_BANDWIDTH:
		return "B/s";
	case METRIC_TIME:
		return "ns";
	}
	return "";
}

static double metric_value(const struct bench_case *c, double ns)
{
	switch (c->metric) {
	case METRIC_IOPS:
		return 1e9 / ns;
	case METRIC_BANDWIDTH:
		return 1e9 / ns * (double)c->bs;
	case METRIC_TIME:
		return ns;
	}
	return 0;
}

static void show_head(void)
{
	printf("%-22s %-8s %12s %12s %5s  %-20s %-20s %8s %8s %7s\n", "case", "peer", "ours",
		"theirs", "unit", "ratio (quartiles)", "cpu (quartiles)", "cpu ns", "theirs",
		"rmw/op");
}

/* Figures of six digits or fewer, with what they count in. */
static void show_value(char ret[16], const struct bench_case *c, double ns)
{
	double v = metric_value(c, ns);

	if (c->metric == METRIC_BANDWIDTH) {
		snprintf(ret, 16, "%.0f", v / 1048576);
	} else {
		snprintf(ret, 16, v < 100 ? "%.2f" : "%.0f", v);
	}
}

static void show_spread(char ret[32], const struct spread *s)
{
	snprintf(ret, 32, "%.2f (%.2f..%.2f)", s->median, s->low, s->high);
}

static void show_row(const struct case_request *req, const struct duel_result *r)
{
	const struct bench_case *c = req->which;
	char ours[16];
	char theirs[16];
	char ratio[32];
	char cpu[32];
	char rmw[16];

	show_value(ours, c, r->ours_ns.median);
	show_value(theirs, c, r->theirs_ns.median);
	show_spread(ratio, &r->ratio);
	show_spread(cpu, &r->cpu_ratio);
	snprintf(rmw, sizeof(rmw), r->rmw_shared < 0 ? "-" : "%.3f", r->rmw_shared);
	printf("%-22s %-8s %12s %12s %5s  %-20s %-20s %8.0f %8.0f %7s\n", c->name, req->peer->name,
		ours, theirs, c->metric == METRIC_BANDWIDTH ? "MiB/s" : metric_unit(c->metric),
		ratio, cpu, r->ours_cpu_ns.median, r->theirs_cpu_ns.median, rmw);
	(void)fflush(stdout);
}

static void write_result(struct comparison *cmp, const struct case_request *req,
	const struct stage *s, const struct duel_result *r)
{
	const struct bench_case *c = req->which;
	struct json *j = &cmp->json;

	json_object_begin(j, NULL);
	json_text(j, "case", c->name);
	json_text(j, "peer", req->peer->name);
	json_text(j, "metric", metric_name(c->metric));
	json_text(j, "unit", metric_unit(c->metric));
	json_real(j, "ours", metric_value(c, r->ours_ns.median));
	json_real(j, "theirs", metric_value(c, r->theirs_ns.median));
	json_real(j, "ratio", r->ratio.median);
	json_real(j, "ratio_low", r->ratio.low);
	json_real(j, "ratio_high", r->ratio.high);
	json_number(j, "runs", r->runs);
	json_real(j, "cpu_ratio", r->cpu_ratio.median);
	json_real(j, "cpu_ratio_low", r->cpu_ratio.low);
	json_real(j, "cpu_ratio_high", r->cpu_ratio.high);
	json_real(j, "ours_cpu_ns", r->ours_cpu_ns.median);
	json_real(j, "theirs_cpu_ns", r->theirs_cpu_ns.median);
	if (r->rmw_shared < 0) {
		json_null(j, "rmw_shared");
	} else {
		json_real(j, "rmw_shared", r->rmw_shared);
	}
	json_number(j, "threads", req->threads);
	json_number(j, "block_size", c->bs);
	json_number(j, "depth", c->depth);
	json_number(j, "amount", req->amount);
	facts_write(&cmp->facts, j);
	json_text(j, "device", s->volume->dev);
	json_text(j, "backend", s->spec);
	json_text(j, "options", cmp->options);
	json_number(j, "seed", req->seed);
	json_object_end(j);
}

static void skip(struct comparison *cmp, const char *name, const char *peer, const char *why)
{
	FILE *out = cmp->set.json ? stderr : stdout;

	fprintf(out, "SKIP %s%s%s: %s\n", name, peer != NULL ? " against " : "",
		peer != NULL ? peer : "", why);
}

/* What this machine lacks for it; NULL when nothing. */
static const char *missing(
	const struct comparison *cmp, const struct bench_case *c, const struct peer *p)
{
	if (!cmp->lab.root && c->kind != LAB_FILE) {
		return "needs root, for a block device and the kernel's mount";
	}
	if (p->engine == &engine_ring && !BENCH_HAVE_URING) {
		return "needs liburing, which this build does not have";
	}
	if (c->ours == &engine_dax && !BENCH_HAVE_PMEM) {
		return "needs libpmem2, which this build does not have";
	}
	if (cmp->set.threads > 1 && c->one_thread) {
		return "is for one thread";
	}
	return NULL;
}

static void fight(struct comparison *cmp, const struct case_request *req, struct stage *s)
{
	bool quick = cmp->set.quick;
	uint64_t slices = cmp->set.slices != 0 ? cmp->set.slices : quick ? QUICK_SLICES : SLICES;
	uint64_t slice_ms = cmp->set.slice_ms != 0 ? cmp->set.slice_ms
			    : quick                ? QUICK_SLICE_MS
						   : SLICE_MS;
	struct duel duel = {
		.ours = {req->which->ours, s->ours},
		.theirs = {req->peer->engine, s->theirs},
		.fs = s->target.fs,
		.threads = req->threads,
		.slices = (unsigned)slices,
		.slice_ns = slice_ms * 1000000,
		.batch = req->which->batch,
	};
	struct duel_result result;
	bool theirs = false;
	int r = duel_run(&duel, &result, &theirs);

	if (r == -ENOENT && theirs) {
		skip(cmp, req->which->name, req->peer->name, "there is no such program here");
		return;
	}
	if (r < 0) {
		report("compare", theirs ? req->peer->name : req->which->name, r, NULL);
		cmp->failed = true;
		return;
	}
	cmp->results++;
	if (cmp->set.json) {
		write_result(cmp, req, s, &result);
	} else {
		show_row(req, &result);
	}
}

static uint64_t amount_of(const struct comparison *cmp, const struct bench_case *c)
{
	if (c->ours == &engine_mount) {
		return c->amount;
	}
	if (c->content == LAB_TREE && cmp->set.files != 0) {
		return cmp->set.files;
	}
	if (c->content == LAB_DATA && cmp->set.size != 0) {
		return cmp->set.size;
	}
	return cmp->set.quick ? c->quick_amount : c->amount;
}

static void compare_with(struct comparison *cmp, const struct bench_case *c, const struct peer *p)
{
	const char *why = missing(cmp, c, p);
	struct case_request req = {
		.which = c,
		.peer = p,
		.amount = amount_of(cmp, c),
		.threads = (unsigned)cmp->set.threads,
		.seed = cmp->set.seed,
		.backend = cmp->set.backend,
	};
	struct stage stage;

	if (why != NULL) {
		skip(cmp, c->name, p->name, why);
		return;
	}
	if (stage_open(&stage, &cmp->lab, &req) < 0) {
		cmp->failed = true;
		return;
	}
	fight(cmp, &req, &stage);
	stage_close(&stage);
}

static void compare_case(struct comparison *cmp, const struct bench_case *c)
{
	if (cmp->set.only != NULL && strcmp(cmp->set.only, c->name) != 0) {
		return;
	}
	for (const struct peer *p = c->peers; p->name != NULL; p++) {
		if (cmp->set.peer == NULL || strcmp(cmp->set.peer, p->name) == 0) {
			compare_with(cmp, c, p);
		}
	}
}

static void compare_all(struct comparison *cmp)
{
	if (cmp->set.json) {
		cmp->json = (struct json){.out = stdout};
		json_object_begin(&cmp->json, NULL);
		json_list_begin(&cmp->json, "results");
	} else {
		printf("%s; %s; %s; seed %llu\n", cmp->facts.build, cmp->facts.machine,
			cmp->facts.kernel, (unsigned long long)cmp->set.seed);
		printf("A ratio above 1 means that ext4core is better.\n\n");
		show_head();
	}
	if (!cmp->lab.root) {
		skip(cmp, "the kernel", NULL, "needs root; what can be had without goes on");
	}
	for (const struct bench_case *c = bench_cases; c->name != NULL; c++) {
		compare_case(cmp, c);
	}
	for (unsigned i = 0; cmp->set.only == NULL && bench_cases_later[i] != NULL; i++) {
		skip(cmp, bench_cases_later[i], NULL, "not available in this version");
	}
	if (cmp->set.json) {
		json_list_end(&cmp->json);
		json_object_end(&cmp->json);
		json_end(&cmp->json);
	}
}

/* Whether there is such a case; what is promised for later is refused by name. OPTIONS_GO_ON, or the exit status. */
static int check_case(const char *name)
{
	for (const struct bench_case *c = bench_cases; c->name != NULL; c++) {
		if (strcmp(name, c->name) == 0) {
			return OPTIONS_GO_ON;
		}
	}
	for (unsigned i = 0; bench_cases_later[i] != NULL; i++) {
		if (strcmp(name, bench_cases_later[i]) == 0) {
			report("compare", name, -EOPNOTSUPP, "not available in this version");
			return STATUS_FAILED;
		}
	}
	return options_mistake("compare", name, "there is no such case");
}

static int check_peer(const char *name)
{
	for (const struct bench_case *c = bench_cases; c->name != NULL; c++) {
		for (const struct peer *p = c->peers; p->name != NULL; p++) {
			if (strcmp(name, p->name) == 0) {
				return OPTIONS_GO_ON;
			}
		}
	}
	if (strcmp(name, "fuse2fs") == 0) {
		report("compare", name, -EOPNOTSUPP, "not available in this version");
		return STATUS_FAILED;
	}
	return options_mistake("compare", name, "there is no such peer");
}

static int check(const struct settings *set, unsigned operands, char **argv)
{
	int status = OPTIONS_GO_ON;

	if (operands > 0) {
		return options_mistake("compare", argv[0], "is an operand too many");
	}
	if (set->threads < 1 || set->threads > DUEL_THREADS_MAX) {
		return options_mistake("compare", "--threads", "is from 1 to 64");
	}
	if (set->slices > DUEL_SLICES_MAX) {
		return options_mistake("compare", "--slices", "is at most 1000");
	}
	if (set->only != NULL) {
		status = check_case(set->only);
	}
	if (status == OPTIONS_GO_ON && set->peer != NULL) {
		status = check_peer(set->peer);
	}
	return status;
}

static int parse(struct settings *set, int argc, char **argv)
{
	const struct option_spec specs[] = {
		{"case", "NAME", "only this case", NULL, &set->only, NULL},
		{"peer", "NAME", "only this rival: kernel, raw, find, debugfs", NULL, &set->peer,
			NULL},
		{"threads", "N", "so many threads on each side (1)", NULL, NULL, &set->threads},
		{"json", NULL, "print one JSON document", &set->json, NULL, NULL},
		{"quick", NULL, "small volumes and short slices", &set->quick, NULL, NULL},
		{"files", "N", "files in the tree (100000)", NULL, NULL, &set->files},
		{"size", "BYTES", "size of the file that is read (512m)", NULL, NULL, &set->size},
		{"slices", "N", "slices of each side (15)", NULL, NULL, &set->slices},
		{"slice-ms", "N", "length of a slice (150)", NULL, NULL, &set->slice_ms},
		{"backend", "NAME", "open devices by it: direct, uring, file, pmem, mem", NULL,
			&set->backend, NULL},
		{"tmpfs", "DIR", "where volumes are kept (/dev/shm)", NULL, &set->tmpfs, NULL},
		{"seed", "N", "of places and names (1)", NULL, NULL, &set->seed},
	};
	unsigned operands = 0;
	int status = options_parse(
		"compare", "", specs, sizeof(specs) / sizeof(specs[0]), argc, argv, &operands);

	return status == OPTIONS_GO_ON ? check(set, operands, argv) : status;
}

/* As it was typed, for the record. */
static void keep_options(char *ret, size_t size, int argc, char **argv)
{
	size_t used = 0;

	ret[0] = '\0';
	for (int i = 1; i < argc && used < size; i++) {
		used += (size_t)snprintf(ret + used, size - used, "%s%s", i > 1 ? " " : "", argv[i]);
	}
}

int bench_compare(int argc, char **argv)
{
	struct comparison *cmp = calloc(1, sizeof(*cmp));
	int status;
	int r;

	if (cmp == NULL) {
		report("compare", "memory", -ENOMEM, NULL);
		return STATUS_FAILED;
	}
	cmp->set = (struct settings){.threads = 1, .seed = 1, .tmpfs = "/dev/shm"};
	keep_options(cmp->options, sizeof(cmp->options), argc, argv);
	status = parse(&cmp->set, argc, argv);
	if (status == OPTIONS_GO_ON) {
		/* Files of tmpfs have page granularity; stores are not what is measured. No other thread is there yet. */
		setenv("PMEM2_FORCE_GRANULARITY", "CACHE_LINE", 0); /* NOLINT(concurrency-mt-unsafe) */
		facts_init(&cmp->facts);
		r = lab_open(&cmp->lab, cmp->set.tmpfs);
		if (r < 0) {
			report("compare", cmp->set.tmpfs, r, NULL);
			status = STATUS_FAILED;
		} else {
			compare_all(cmp);
			r = lab_close(&cmp->lab);
			status = cmp->failed || r < 0 ? STATUS_FAILED : STATUS_DONE;
		}
	}
	free(cmp);
	return status;
}
