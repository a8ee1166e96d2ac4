/*
 * uring_none.c - stands in for uring.c where liburing was not found.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  refuses by name.
 */
#include "blockdev/blockdev_impl.h"

bool backend_uring_built(void)
{
	return false;
}

int backend_uring_open(struct env *env, const struct open_request *req, struct backend *ret)
{
	(void)req;
	(void)ret;
	return fail(env, E4_WHY_URING_ABSENT, .name = "uring");
}
