/*
 * rmw.c - how much a thread disturbed the others.
 *
 * Always:  what asking costs is not counted. Without a mount there is nothing to count.
 */
#include "rmw.h"

static uint64_t look(struct e4_fs *fs)
{
	struct e4_counters c = {.struct_size = sizeof(c)};

	return fs != NULL && e4_counters(fs, &c) == 0 ? c.rmw_shared : 0;
}

void rmw_begin(struct rmw_meter *m, struct e4_fs *fs)
{
	uint64_t first = look(fs);

	m->at = look(fs);
	m->cost = m->at - first;
}

uint64_t rmw_end(struct rmw_meter *m, struct e4_fs *fs)
{
	uint64_t seen = look(fs) - m->at;

	return seen > m->cost ? seen - m->cost : 0;
}
