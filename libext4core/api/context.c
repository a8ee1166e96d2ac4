/*
 * api/context.c - contexts by hand, for fibres.
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  a public context handle is the context itself.
 */
#include "api/api_impl.h"

#include <ext4core/fs.h>

#include <errno.h>

int e4_context_new(struct e4_fs *fs, struct e4_context **ret)
{
	struct context *ctx;

	if (fs == NULL || ret == NULL)
		return -EINVAL;
	int r = fs_alive(fs);
	if (r == 0)
		r = context_new(fs->env, &ctx);
	if (r == 0)
		*ret = (struct e4_context *)(void *)ctx;
	return r;
}

int e4_context_bind(struct e4_fs *fs, struct e4_context *ctx)
{
	if (fs == NULL)
		return -EINVAL;
	return context_bind(fs->env, (struct context *)(void *)ctx);
}

void e4_context_free(struct e4_context *ctx)
{
	context_free((struct context *)(void *)ctx);
}
