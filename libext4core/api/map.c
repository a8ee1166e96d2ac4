/*
 * api/map.c - the public calls of map.h: check arguments, call down.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  no logic.
 */
#include "map/map.h"

#include "api/api_impl.h"

#include <ext4core/map.h>

#include <errno.h>

int e4_map_begin(struct e4_file *file, uint64_t offset, uint64_t len, uint32_t intent,
	uint32_t flags, struct e4_mapping *ret)
{
	if (file == NULL || ret == NULL || ret->struct_size < sizeof(*ret) || len == 0 ||
		intent > E4_MAP_WRITE ||
		(flags & ~(uint32_t)(E4_MAP_REPORT_DIRTY | E4_MAP_REPORT_BEYOND)) != 0)
		return -EINVAL;
	int r = fs_alive(file->fs);
	return r < 0 ? r : map_begin(file->ip, offset, len, intent, flags, ret);
}

int e4_map_end(struct e4_mapping *m, uint64_t done_bytes, int err)
{
	if (m == NULL || m->struct_size < sizeof(*m) || done_bytes > m->length || err > 0)
		return -EINVAL;
	return map_end(m, done_bytes, err);
}

int e4_map_report(struct e4_file *file, uint64_t offset, struct e4_mapping *ret)
{
	if (file == NULL || ret == NULL || ret->struct_size < sizeof(*ret))
		return -EINVAL;
	int r = fs_alive(file->fs);
	return r < 0 ? r : map_report(file->ip, offset, ret);
}
