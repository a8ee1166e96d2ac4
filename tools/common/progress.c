/* progress.c - how far a long copy has come. */
#include "common/progress.h"

#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

void progress_begin(struct progress *p, enum progress_mode mode, const char *verb)
{
	*p = (struct progress){.verb = verb};
	p->shown = mode == PROGRESS_ALWAYS || (mode == PROGRESS_AUTO && isatty(STDERR_FILENO));
	(void)clock_gettime(CLOCK_MONOTONIC, &p->begun);
	p->drawn_at = p->begun;
}

static void draw(struct progress *p, const struct timespec *now)
{
	double elapsed = seconds_between(&p->begun, now);
	char done[TEXT_SIZE_MAX];
	char rate[TEXT_SIZE_MAX];
	char percent[16] = "";

	text_size(p->bytes, done);
	text_size(elapsed > 0 ? (uint64_t)((double)p->bytes / elapsed) : 0, rate);
	if (p->total_bytes > 0) {
		snprintf(percent, sizeof(percent), ", %u %%",
			(unsigned)(100.0 * (double)p->bytes / (double)p->total_bytes));
	}
	fprintf(stderr, "\r\033[K%s: %" PRIu64 " objects, %s (%s/s)%s", p->verb, p->objects, done,
		rate, percent);
	(void)fflush(stderr);
	p->drawn = true;
	p->drawn_at = *now;
}

void progress_add(struct progress *p, uint64_t objects, uint64_t bytes)
{
	struct timespec now;

	p->objects += objects;
	p->bytes += bytes;
	if (!p->shown) {
		return;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (seconds_between(&p->drawn_at, &now) >= 0.2) {
		draw(p, &now);
	}
}

void progress_clear(struct progress *p)
{
	if (p->drawn) {
		fputs("\r\033[K", stderr);
		p->drawn = false;
	}
}
