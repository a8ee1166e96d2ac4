/*
 * es_lookup.c - how long does a lookup in a cached map take, at 1, 4, 340 and 10,000 extents?
 *
 * Extents of 1 to 8 blocks, 4 KiB blocks, full leaves of 340. Blocks are looked up in random order: "apart" one after the other as fast as
 * they go, "chained" each only when the one before is known. Times are of the fastest and the median of 401 slices of the thread's own time. A line of JSON a
 * result; "floor" is what every lookup pays besides the search: the thread's context and, for trees, the epoch section.
 */
#include "base/atomic.h"
#include "base/env.h"
#include "unit/extent/maps.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BLOCK   4096u
#define QUERIES 4096u /* per pass: 16 KiB, as the queries themselves must not be what is measured */
#define SLICES  401
#define PASSES  2

static struct maps m;
static struct inode ip;
static lblk_t queries[QUERIES];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t pass_apart(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < QUERIES; i++) {
		struct extent_piece p;

		if (extent_lookup(&ip, queries[i], &p) < 0)
			abort();
		sum += p.pblk;
	}
	return sum;
}

static uint64_t pass_chained(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < QUERIES; i++) {
		struct extent_piece p;

		/* No length has bit 40: the answer decides nothing, but the processor cannot know. */
		if (extent_lookup(&ip, queries[i] + (lblk_t)(sum >> 40), &p) < 0)
			abort();
		sum = p.len;
	}
	return sum;
}

static uint64_t pass_context(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < QUERIES; i++)
		sum += context_get(m.env)->epoch_depth;
	return sum;
}

static uint64_t pass_epoch(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < QUERIES; i++) {
		struct context *ctx = context_get(m.env);

		epoch_enter(ctx, &m.env->epochs);
		sum += ctx->epoch_depth;
		epoch_leave(ctx);
	}
	return sum;
}

/*
 * The other way: what a lock and a tree cost, as in the kernel's extent status. A reader-writer lock of the C library, a node of
 * 48 bytes an extent, perfectly balanced; kinder than life, where insertions leave it less so.
 */
struct tree_node {
	struct tree_node *child[2];
	struct tree_node *parent; /* a red-black tree has one, with the colour */
	lblk_t lblk;
	uint32_t len;
	pblk_t pblk;
};

static pthread_rwlock_t tree_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct tree_node *tree_root;
static struct tree_node *tree_nodes;

static struct tree_node *tree_build(
	const struct maps_run *runs, const uint32_t *order, uint32_t first, uint32_t end)
{
	if (first == end)
		return NULL;
	uint32_t mid = first + (end - first) / 2;
	struct tree_node *n = &tree_nodes[order[mid]];

	*n = (struct tree_node){.lblk = runs[mid].lblk, .len = runs[mid].len, .pblk = runs[mid].pblk};
	n->child[0] = tree_build(runs, order, first, mid);
	n->child[1] = tree_build(runs, order, mid + 1, end);
	return n;
}

static void tree_make(const struct maps_run *runs, uint32_t count)
{
	uint32_t *order = calloc(count, sizeof(*order));
	uint64_t seed = 3;

	tree_nodes = calloc(count, sizeof(*tree_nodes));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	/* Nodes lie in memory as they came, not in order. */
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t k = (uint32_t)(maps_random(&seed) % (i + 1));
		uint32_t t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	tree_root = tree_build(runs, order, 0, count);
	free(order);
}

static uint64_t pass_tree(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < QUERIES; i++) {
		lblk_t lblk = queries[i];

		pthread_rwlock_rdlock(&tree_lock);
		for (const struct tree_node *n = tree_root; n != NULL;) {
			if (lblk < n->lblk) {
				n = n->child[0];
			} else if (lblk - n->lblk >= n->len) {
				n = n->child[1];
			} else {
				sum += n->pblk;
				break;
			}
		}
		pthread_rwlock_unlock(&tree_lock);
	}
	return sum;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, uint32_t extents, uint64_t (*pass)(void))
{
	double slice[SLICES];
	volatile uint64_t sink = pass();
	uint64_t rmw = base_rmw_count;

	for (int s = 0; s < SLICES; s++) {
		double start = now_ns();

		for (int p = 0; p < PASSES; p++)
			sink = sink + pass();
		slice[s] = (now_ns() - start) / PASSES / QUERIES;
	}
	qsort(slice, SLICES, sizeof(slice[0]), by_value);
	printf("{\"case\":\"%s\",\"extents\":%u,\"unit\":\"ns\",\"min\":%.2f,\"median\":%.2f,"
	       "\"rmw\":%llu,\"heap_bytes\":%llu,\"records\":%llu}\n",
		name, extents, slice[0], slice[SLICES / 2],
		(unsigned long long)(base_rmw_count - rmw),
		(unsigned long long)atomic_load(&ip.es.heap_bytes),
		(unsigned long long)atomic_load(&ip.es.records));
}

static void run(uint32_t extents)
{
	struct maps_run *runs = calloc(extents, sizeof(*runs));
	uint64_t seed = 1;

	maps_inode_init(&m, &ip);
	maps_random_runs(&m, runs, extents, 8, 42);
	maps_write_tree(&m, &ip, runs, extents, 0);
	uint64_t span = (uint64_t)runs[extents - 1].lblk + runs[extents - 1].len;
	for (uint32_t i = 0; i < QUERIES; i++)
		queries[i] = (lblk_t)(maps_random(&seed) % span);
	for (uint64_t lblk = 0; lblk < span; lblk++) {
		struct extent_piece p;

		if (extent_lookup(&ip, (lblk_t)lblk, &p) < 0)
			abort();
	}
	tree_make(runs, extents);
	measure("rwlock, tree", extents, pass_tree);
	free(tree_nodes);
	measure("apart", extents, pass_apart);
	measure("chained", extents, pass_chained);
	if (extents == 1)
		measure("floor context", extents, pass_context);
	if (extents == 1)
		measure("floor context, epoch", extents, pass_epoch);
	maps_inode_fini(&ip);
	free(runs);
}

int main(void)
{
	maps_open(&m, BLOCK, 131072);
	run(1);
	run(4);
	run(340);
	run(10000);
	maps_close(&m);
	return 0;
}
