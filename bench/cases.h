#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "engine.h"
#include "lab.h"

enum {
	CASE_PEERS_MAX = 3,
	SPEC_MAX = LAB_PATH_MAX + 8,
};

/* What a figure is. */
enum metric {
	METRIC_IOPS,      /* operations a second */
	METRIC_BANDWIDTH, /* bytes a second */
	METRIC_TIME,      /* nanoseconds an operation */
};

/* On what a rival works. */
enum ground {
	GROUND_FILE,    /* the file, through the kernel's mount, direct */
	GROUND_DEVICE,  /* the same span of the device, direct */
	GROUND_MEMORY,  /* the same bytes in memory */
	GROUND_TREE,    /* the kernel's mount */
	GROUND_FIND,    /* the same, by find(1) */
	GROUND_DEBUGFS, /* the device, by debugfs(8) */
	GROUND_MOUNT,   /* the device, which the kernel mounts */
};

struct peer {
	const char *name; /* as --peer knows it; NULL ends the list */
	const struct engine *engine;
	enum ground ground;
};

struct bench_case {
	const char *name;
	enum metric metric;
	enum lab_kind kind;
	enum lab_content content;
	uint64_t amount, quick_amount; /* of the content */
	uint64_t bs;
	unsigned depth;
	bool random;
	bool one_thread; /* more have no meaning */
	uint64_t batch;  /* operations between two looks at the clock */
	const struct engine *ours;
	struct peer peers[CASE_PEERS_MAX + 1];
};

/* All that this version can do; the last has no name. */
extern const struct bench_case bench_cases[];
/* Names of CONTRACT.md that need writing or a data cache, which this version has not; NULL ends the list. */
extern const char *const bench_cases_later[];

/* How a case is to be run. */
struct case_request {
	const struct bench_case *which;
	const struct peer *peer;
	uint64_t amount;
	unsigned threads;
	uint64_t seed;
	const char *backend; /* NULL = the case's own */
};

/* A case ready to run: both sides opened, on the same bytes. */
struct stage {
	const struct lab_volume *volume;
	char spec[SPEC_MAX]; /* of the device, as the library opens it */
	struct target target;
	int fd; /* the rival's */
	struct path_list list;
	const char *argv[8];          /* the rival program */
	char commands[LAB_PATH_MAX];  /* a file of debugfs commands; "" when there is none */
	struct stream *ours, *theirs; /* one a thread */
};

/* Reports what fails for `compare`, and answers a negative errno. */
int stage_open(struct stage *s, struct lab *lab, const struct case_request *req);
void stage_close(struct stage *s);

#endif
