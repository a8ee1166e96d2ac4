/*
 * pmem_none.c - stands in for pmem.c where libpmem2 was not found.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  refuses by name.
 */
#include "blockdev/blockdev_impl.h"

int backend_pmem_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	(void)req;
	(void)ret;
	return fail(env, E4_WHY_PMEM_ABSENT, .name = "pmem");
}
