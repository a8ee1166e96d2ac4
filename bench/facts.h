#ifndef BENCH_FACTS_H
#define BENCH_FACTS_H

#include "common/json.h"

/* What a figure was measured on. */
struct facts {
	char build[160];
	char machine[160];
	char kernel[160];
};

void facts_init(struct facts *f);
/* Into the innermost object: build, machine, kernel. */
void facts_write(const struct facts *f, struct json *j);

#endif
