/*
 * duel.c - two ways of doing the same, in slices by turns, in one process.
 *
 * Owns:    worker threads, which live from the first slice to the last: contexts and rings belong to threads.
 * Locks:   two barriers a slice; between them workers run, outside them the main thread looks at what they left.
 * Always:  a pair of slices is one ratio; which side begins changes from pair to pair, so that drift of the machine
 *          meets both. The first pair warms up and is not counted.
 */
#include "duel.h"

#include "clock.h"
#include "rmw.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum side {
	OURS = 0,
	THEIRS = 1,
};

enum command {
	RUN,
	COUNT_BEGIN, /* look at the counters that are a thread's own */
	COUNT_END,
	QUIT,
};

struct worker {
	struct arena *arena;
	pthread_t thread;
	unsigned number;
	void *states[2];
	int64_t done; /* operations of the slice, or what the side answered */
	int err[2];
	struct rmw_meter meter;
	uint64_t rmw;
};

struct arena {
	const struct duel *duel;
	pthread_barrier_t start, stop;
	enum command command;
	enum side side;
	struct worker workers[DUEL_THREADS_MAX];
};

static const struct duellist *duellist_of(const struct duel *d, enum side side)
{
	return side == OURS ? &d->ours : &d->theirs;
}

static void begin(struct worker *w, enum side side)
{
	const struct duellist *l = duellist_of(w->arena->duel, side);

	w->err[side] = l->engine->begin(&l->streams[w->number], &w->states[side]);
}

static int64_t run(struct worker *w, enum side side)
{
	const struct engine *engine = duellist_of(w->arena->duel, side)->engine;
	uint64_t until = clock_now_ns() + w->arena->duel->slice_ns;
	int64_t done = 0;
	int64_t n;

	do {
		n = engine->step(w->states[side], w->arena->duel->batch);
		done += n;
	} while (n >= 0 && clock_now_ns() < until);
	if (n >= 0 && engine->pause != NULL) {
		n = engine->pause(w->states[side]);
		done += n;
	}
	if (n < 0) {
		w->err[side] = (int)n;
	}
	return n < 0 ? 0 : done;
}

static void obey(struct worker *w)
{
	switch (w->arena->command) {
	case RUN:
		w->done = w->err[OURS] == 0 && w->err[THEIRS] == 0 ? run(w, w->arena->side) : 0;
		return;
	case COUNT_BEGIN:
		rmw_begin(&w->meter, w->arena->duel->fs);
		return;
	case COUNT_END:
		w->rmw = rmw_end(&w->meter, w->arena->duel->fs);
		return;
	case QUIT:
		return;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	enum command command;

	begin(w, OURS);
	begin(w, THEIRS);
	do {
		pthread_barrier_wait(&w->arena->start);
		command = w->arena->command;
		obey(w);
		pthread_barrier_wait(&w->arena->stop);
	} while (command != QUIT);
	for (enum side side = OURS; side <= THEIRS; side++) {
		if (w->states[side] != NULL) {
			duellist_of(w->arena->duel, side)->engine->end(w->states[side]);
		}
	}
	return NULL;
}

static void command(struct arena *a, enum command c, enum side side)
{
	a->command = c;
	a->side = side;
	pthread_barrier_wait(&a->start);
	pthread_barrier_wait(&a->stop);
}

/* What a slice cost, an operation. */
struct cost {
	double ns, cpu_ns;
	uint64_t operations;
};

static struct cost slice(struct arena *a, enum side side)
{
	uint64_t cpu = clock_cpu_ns();
	uint64_t started = clock_now_ns();
	struct cost c = {0};

	command(a, RUN, side);
	c.ns = (double)(clock_now_ns() - started);
	c.cpu_ns = (double)(clock_cpu_ns() - cpu);
	for (unsigned i = 0; i < a->duel->threads; i++) {
		c.operations += (uint64_t)a->workers[i].done;
	}
	c.ns /= (double)c.operations;
	c.cpu_ns /= (double)c.operations;
	return c;
}

static int first_error(const struct arena *a, bool *ret_theirs)
{
	for (unsigned i = 0; i < a->duel->threads; i++) {
		for (enum side side = OURS; side <= THEIRS; side++) {
			if (a->workers[i].err[side] != 0) {
				*ret_theirs = side == THEIRS;
				return a->workers[i].err[side];
			}
		}
	}
	return 0;
}

/* Of all threads. */
static uint64_t count_end(struct arena *a)
{
	uint64_t sum = 0;

	command(a, COUNT_END, OURS);
	for (unsigned i = 0; i < a->duel->threads; i++) {
		sum += a->workers[i].rmw;
	}
	return sum;
}

/* Figures of all slices. */
struct figures {
	double ns[2][DUEL_SLICES_MAX], cpu_ns[2][DUEL_SLICES_MAX];
	double ratio[DUEL_SLICES_MAX], cpu_ratio[DUEL_SLICES_MAX];
};

static void summarise(struct figures *f, unsigned runs, struct duel_result *ret)
{
	ret->ours_ns = spread_of(f->ns[OURS], runs);
	ret->theirs_ns = spread_of(f->ns[THEIRS], runs);
	ret->ours_cpu_ns = spread_of(f->cpu_ns[OURS], runs);
	ret->theirs_cpu_ns = spread_of(f->cpu_ns[THEIRS], runs);
	ret->ratio = spread_of(f->ratio, runs);
	ret->cpu_ratio = spread_of(f->cpu_ratio, runs);
	ret->runs = runs;
}

static int fight(struct arena *a, struct figures *f, struct duel_result *ret, bool *ret_theirs)
{
	uint64_t operations = 0;
	uint64_t rmw;
	int r;

	slice(a, OURS);
	slice(a, THEIRS);
	r = first_error(a, ret_theirs);
	if (r < 0) {
		return r;
	}
	command(a, COUNT_BEGIN, OURS);
	for (unsigned i = 0; i < a->duel->slices; i++) {
		enum side sides[2] = {i % 2 == 0 ? OURS : THEIRS, i % 2 == 0 ? THEIRS : OURS};

		for (unsigned k = 0; k < 2; k++) {
			struct cost c = slice(a, sides[k]);

			f->ns[sides[k]][i] = c.ns;
			f->cpu_ns[sides[k]][i] = c.cpu_ns;
			operations += sides[k] == OURS ? c.operations : 0;
		}
		f->ratio[i] = f->ns[THEIRS][i] / f->ns[OURS][i];
		f->cpu_ratio[i] = f->cpu_ns[THEIRS][i] / f->cpu_ns[OURS][i];
		r = first_error(a, ret_theirs);
		if (r < 0) {
			return r;
		}
	}
	rmw = count_end(a);
	summarise(f, a->duel->slices, ret);
	ret->rmw_shared = a->duel->fs != NULL ? (double)rmw / (double)operations : -1;
	return 0;
}

static void threads_start(struct arena *a)
{
	for (unsigned i = 0; i < a->duel->threads; i++) {
		struct worker *w = &a->workers[i];

		w->arena = a;
		w->number = i;
		if (pthread_create(&w->thread, NULL, work, w) != 0) {
			abort(); /* those at the barrier can only go on with all of them: there is no way back */
		}
	}
}

int duel_run(const struct duel *d, struct duel_result *ret, bool *ret_theirs)
{
	struct figures *f = malloc(sizeof(*f));
	struct arena *a = calloc(1, sizeof(*a));
	int r = f != NULL && a != NULL ? 0 : -ENOMEM;

	if (r == 0) {
		a->duel = d;
		pthread_barrier_init(&a->start, NULL, d->threads + 1);
		pthread_barrier_init(&a->stop, NULL, d->threads + 1);
		threads_start(a);
		r = fight(a, f, ret, ret_theirs);
		command(a, QUIT, OURS);
		for (unsigned i = 0; i < d->threads; i++) {
			pthread_join(a->workers[i].thread, NULL);
		}
		pthread_barrier_destroy(&a->start);
		pthread_barrier_destroy(&a->stop);
	}
	free(f);
	free(a);
	return r;
}
