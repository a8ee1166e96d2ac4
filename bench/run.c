/*
 * run.c - `e4bench run`: reads through the library as fio would do them, and one JSON document about it.
 *
 * Always:  threads share the mount and nothing else; what they saw is put together when all have ended.
 */
#include "bench.h"
#include "clock.h"
#include "engine.h"
#include "facts.h"
#include "options.h"
#include "report.h"
#include "rmw.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
	JOBS_MAX = 64,
	DEPTH_MAX = 4096,
	BATCH = 64,
	LATENCY_EVERY_DAX = 16, /* a look at the clock costs a tenth of a copy */
};

struct settings {
	const char *rw, *direct, *engine, *file;
	uint64_t bs, size, iodepth, numjobs, runtime, fsync, seed;
	bool json; /* taken, as by the other commands; there is no other form */
};

struct job {
	const struct engine *engine;
	struct stream stream;
	struct hist latency;
	pthread_t thread;
	uint64_t limit; /* operations; 0 = until the time is up */
	uint64_t until_ns;
	uint64_t done;
	uint64_t rmw;
	int err;
};

/* What the process used between two looks. */
struct usage {
	uint64_t ns, cpu_ns, user_ns, system_ns;
	struct e4_counters counters;
};

static uint64_t batch_of(const struct job *j)
{
	uint64_t left = j->limit == 0 ? BATCH : j->limit - j->done;

	return left < BATCH ? left : BATCH;
}

static void *work(void *arg)
{
	struct job *j = arg;
	struct e4_fs *fs = j->stream.target->fs;
	struct rmw_meter meter;
	void *state;
	int64_t n = j->engine->begin(&j->stream, &state);

	if (n < 0) {
		j->err = (int)n;
		return NULL;
	}
	rmw_begin(&meter, fs);
	while (n >= 0 && (j->limit == 0 || j->done < j->limit) && clock_now_ns() < j->until_ns) {
		n = j->engine->step(state, batch_of(j));
		j->done += n > 0 ? (uint64_t)n : 0;
	}
	if (n >= 0 && j->engine->pause != NULL) {
		n = j->engine->pause(state);
		j->done += n > 0 ? (uint64_t)n : 0;
	}
	j->rmw = rmw_end(&meter, fs);
	j->err = n < 0 ? (int)n : 0;
	j->engine->end(state);
	return NULL;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void look(const struct target *t, struct usage *ret)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	*ret = (struct usage){
		.ns = clock_now_ns(),
		.cpu_ns = clock_cpu_ns(),
		.user_ns = timeval_ns(ru.ru_utime),
		.system_ns = timeval_ns(ru.ru_stime),
		.counters.struct_size = sizeof(ret->counters),
	};
	if (t->fs != NULL) {
		(void)e4_counters(t->fs, &ret->counters);
	}
}

static void write_latency(struct json *j, const struct hist *h)
{
	static const struct {
		const char *name;
		double percent;
	} points[] = {{"p1", 1}, {"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"p999", 99.9},
		{"p9999", 99.99}};

	json_object_begin(j, "latency_ns");
	json_number(j, "samples", h->count);
	json_real(j, "mean", h->count != 0 ? (double)h->sum / (double)h->count : 0);
	for (unsigned i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		json_number(j, points[i].name, hist_percentile(h, points[i].percent));
	}
	json_number(j, "max", h->max);
	json_object_end(j);
}

static void write_counters(
	struct json *j, const struct e4_counters *from, const struct e4_counters *to, uint64_t rmw)
{
	json_object_begin(j, "counters");
	json_number(j, "device_reads", to->dev_reads - from->dev_reads);
	json_number(j, "device_read_bytes", to->dev_read_bytes - from->dev_read_bytes);
	json_number(j, "device_writes", to->dev_writes - from->dev_writes);
	json_number(j, "device_write_bytes", to->dev_write_bytes - from->dev_write_bytes);
	json_number(j, "device_flushes", to->dev_flushes - from->dev_flushes);
	json_number(j, "handles_started", to->handles_started - from->handles_started);
	json_number(j, "map_lookups", to->map_lookups - from->map_lookups);
	json_number(j, "map_misses", to->map_misses - from->map_misses);
	json_number(j, "metadata_hits", to->buf_hits - from->buf_hits);
	json_number(j, "metadata_reads", to->buf_misses - from->buf_misses);
	json_number(j, "extent_records", to->extent_records);
	json_number(j, "extent_heap_bytes", to->extent_heap_bytes);
	json_number(j, "rmw_shared", rmw);
	json_object_end(j);
}

static void write_options(struct json *j, const struct settings *set)
{
	json_object_begin(j, "options");
	json_text(j, "rw", set->rw);
	json_number(j, "bs", set->bs);
	json_number(j, "size", set->size);
	json_number(j, "iodepth", set->iodepth);
	json_number(j, "numjobs", set->numjobs);
	json_text(j, "direct", set->direct);
	json_text(j, "engine", set->engine);
	json_number(j, "runtime", set->runtime);
	if (set->file != NULL) {
		json_text(j, "file", set->file);
	} else {
		json_null(j, "file");
	}
	json_object_end(j);
}

/* The word before the colon, where there is one and it is no path. */
static void backend_name(const char *spec, char *ret, size_t size)
{
	size_t len = strcspn(spec, ":");

	if (spec[len] == '\0' || memchr(spec, '/', len) != NULL) {
		snprintf(ret, size, "default");
	} else {
		snprintf(ret, size, "%.*s", (int)len, spec);
	}
}

static void write_report(const struct settings *set, const char *spec, const struct target *t,
	struct job *jobs, const struct usage *from, const struct usage *to)
{
	struct json j = {.out = stdout};
	double seconds = (double)(to->ns - from->ns) / 1e9;
	uint64_t done = 0;
	uint64_t rmw = 0;
	struct facts facts;
	char backend[16];

	for (uint64_t i = 0; i < set->numjobs; i++) {
		done += jobs[i].done;
		rmw += jobs[i].rmw;
		if (i > 0) {
			hist_merge(&jobs[0].latency, &jobs[i].latency);
		}
	}
	facts_init(&facts);
	backend_name(spec, backend, sizeof(backend));
	json_object_begin(&j, NULL);
	json_number(&j, "operations", done);
	json_real(&j, "seconds", seconds);
	json_real(&j, "iops", (double)done / seconds);
	json_real(&j, "bandwidth", (double)done * (double)set->bs / seconds);
	json_real(&j, "cpu_ns_per_op", (double)(to->cpu_ns - from->cpu_ns) / (double)done);
	json_real(&j, "user_ns_per_op", (double)(to->user_ns - from->user_ns) / (double)done);
	json_real(&j, "system_ns_per_op", (double)(to->system_ns - from->system_ns) / (double)done);
	json_real(&j, "rmw_shared_per_op", (double)rmw / (double)done);
	write_latency(&j, &jobs[0].latency);
	write_counters(&j, &from->counters, &to->counters, rmw);
	facts_write(&facts, &j);
	json_text(&j, "device", spec);
	json_text(&j, "backend", backend);
	json_number(&j, "logical_block", t->geo.logical_block);
	json_bool(&j, "nowait", t->geo.nowait);
	write_options(&j, set);
	json_number(&j, "seed", set->seed);
	json_object_end(&j);
	json_end(&j);
}

static void job_init(
	struct job *job, const struct settings *set, const struct target *t, unsigned number)
{
	uint64_t share = t->size / set->bs / set->numjobs;

	job->engine = strcmp(set->direct, "dax") == 0     ? &engine_dax
		      : strcmp(set->engine, "queue") == 0 ? &engine_queue
							  : &engine_sync;
	job->stream = (struct stream){
		.target = t,
		.fd = -1,
		.pattern = pattern_init(
			set->bs, t->size, strcmp(set->rw, "randread") == 0, set->seed + number),
		.depth = (unsigned)set->iodepth,
		.latency = &job->latency,
		.latency_every = job->engine == &engine_dax ? LATENCY_EVERY_DAX : 1,
	};
	job->stream.pattern.next = share * number;
	if (set->size != 0) {
		job->limit = set->size / set->bs != 0 ? set->size / set->bs : 1;
	} else if (set->runtime == 0) {
		job->limit = share != 0 ? share : 1;
	}
	job->until_ns = UINT64_MAX;
}

static int measure(const struct settings *set, const char *spec, const struct target *t)
{
	struct job *jobs = calloc(set->numjobs, sizeof(*jobs));
	struct usage from;
	struct usage to;
	uint64_t started = 0;
	int err = jobs != NULL ? 0 : -ENOMEM;

	if (err == 0) {
		look(t, &from);
	}
	for (; err == 0 && started < set->numjobs; started++) {
		job_init(&jobs[started], set, t, (unsigned)started);
		if (set->runtime != 0) {
			jobs[started].until_ns = from.ns + set->runtime * 1000000000u;
		}
		err = -pthread_create(&jobs[started].thread, NULL, work, &jobs[started]);
		if (err != 0) {
			break;
		}
	}
	for (uint64_t i = 0; i < started; i++) {
		pthread_join(jobs[i].thread, NULL);
		err = err == 0 ? jobs[i].err : err;
	}
	if (err == 0) {
		look(t, &to);
		write_report(set, spec, t, jobs, &from, &to);
	} else {
		report("run", set->file != NULL ? set->file : spec, err, NULL);
	}
	free(jobs);
	return err == 0 ? STATUS_DONE : STATUS_FAILED;
}

static int open_and_measure(const struct settings *set, const char *spec)
{
	struct target t;
	int status;

	if (target_open(&t, "run", spec, set->file, 0,
		    strcmp(set->direct, "1") == 0 ? E4_O_DIRECT : 0) < 0) {
		return STATUS_FAILED;
	}
	if (t.size < set->bs) {
		report("run", set->file != NULL ? set->file : spec, -EINVAL, "is smaller than --bs");
		status = STATUS_FAILED;
	} else {
		status = measure(set, spec, &t);
	}
	target_close(&t);
	return status;
}

static bool is_one_of(const char *word, const char *const words[])
{
	while (*words != NULL && strcmp(word, *words) != 0) {
		words++;
	}
	return *words != NULL;
}

static int check_words(const struct settings *set)
{
	if (is_one_of(set->rw, (const char *const[]){
				       "write", "randwrite", "randrw", "overwrite", "rw", NULL})) {
		report("run", set->rw, -EOPNOTSUPP, "this version only reads");
		return STATUS_FAILED;
	}
	if (!is_one_of(set->rw, (const char *const[]){"read", "randread", NULL})) {
		return options_mistake("run", "--rw", "is read or randread");
	}
	if (!is_one_of(set->direct, (const char *const[]){"0", "1", "dax", NULL})) {
		return options_mistake("run", "--direct", "is 0, 1 or dax");
	}
	if (!is_one_of(set->engine, (const char *const[]){"sync", "queue", NULL})) {
		return options_mistake("run", "--engine", "is sync or queue");
	}
	return OPTIONS_GO_ON;
}

static int check(const struct settings *set, unsigned operands, char **argv)
{
	bool queue = strcmp(set->engine, "queue") == 0;
	bool dax = strcmp(set->direct, "dax") == 0;

	if (operands != 1) {
		return options_mistake("run", operands > 1 ? argv[1] : "DEV",
			operands > 1 ? "is an operand too many" : "is missing");
	}
	if (set->bs == 0 || set->bs > 1u << 30) {
		return options_mistake("run", "--bs", "is from 1 to 1G");
	}
	if (set->numjobs == 0 || set->numjobs > JOBS_MAX) {
		return options_mistake("run", "--numjobs", "is from 1 to 64");
	}
	if (set->iodepth == 0 || set->iodepth > DEPTH_MAX || (!queue && set->iodepth > 1)) {
		return options_mistake("run", "--iodepth",
			"is from 1 to 4096, and above 1 with --engine=queue only");
	}
	if (dax && (queue || set->file == NULL)) {
		return options_mistake("run", "--direct=dax", "needs --file and --engine=sync");
	}
	return check_words(set);
}

int bench_run(int argc, char **argv)
{
	struct settings set = {.rw = "randread",
		.direct = "1",
		.engine = "sync",
		.bs = 4096,
		.iodepth = 1,
		.numjobs = 1,
		.seed = 1};
	const struct option_spec specs[] = {
		{"rw", "KIND", "read or randread (randread)", NULL, &set.rw, NULL},
		{"bs", "BYTES", "size of an operation (4k)", NULL, NULL, &set.bs},
		{"size", "BYTES", "each job ends after so many bytes", NULL, NULL, &set.size},
		{"iodepth", "N", "reads in flight, with --engine=queue (1)", NULL, NULL,
			&set.iodepth},
		{"numjobs", "N", "threads (1)", NULL, NULL, &set.numjobs},
		{"direct", "HOW", "0, 1, or dax: copies from mapped memory (1)", NULL, &set.direct,
			NULL},
		{"engine", "NAME", "sync: e4_pread; queue: mappings, and requests of our own (sync)",
			NULL, &set.engine, NULL},
		{"fsync", "N", "taken for fio's sake: reads need none", NULL, NULL, &set.fsync},
		{"runtime", "SECONDS", "end after so long", NULL, NULL, &set.runtime},
		{"file", "PATH", "a file of the volume; without it the device is read", NULL,
			&set.file, NULL},
		{"seed", "N", "of the places (1)", NULL, NULL, &set.seed},
		{"json", NULL, "the output is JSON with or without it", &set.json, NULL, NULL},
	};
	unsigned operands = 0;
	int status = options_parse(
		"run", "DEV", specs, sizeof(specs) / sizeof(specs[0]), argc, argv, &operands);

	if (status == OPTIONS_GO_ON) {
		status = check(&set, operands, argv);
	}
	return status == OPTIONS_GO_ON ? open_and_measure(&set, argv[0]) : status;
}
