/*
 * api/error.c - the public calls of error.h, hooks.h and version.h.
 *
 * Owns:    the table of errno names.
 * Locks:   none.
 * Always:  names are the kernel's: EOPNOTSUPP, EAGAIN.
 */
#include "base/env.h"
#include "config.h"
#include "fs/fs.h"

#include <ext4core/error.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int e4_last_error(struct e4_fs *fs, struct e4_error *ret)
{
	if (fs == NULL || ret == NULL || ret->struct_size == 0)
		return -EINVAL;
	return error_last(fs->env, ret) ? 0 : -ENOENT;
}

struct errno_name {
	int err;
	const char *name;
};

#define NAME(e)                                                                                    \
	{                                                                                          \
		e, #e                                                                              \
	}

static const struct errno_name names[] = {
	NAME(EPERM),
	NAME(ENOENT),
	NAME(EINTR),
	NAME(EIO),
	NAME(ENXIO),
	NAME(E2BIG),
	NAME(EBADF),
	NAME(EAGAIN),
	NAME(ENOMEM),
	NAME(EACCES),
	NAME(EFAULT),
	NAME(EBUSY),
	NAME(EEXIST),
	NAME(EXDEV),
	NAME(ENODEV),
	NAME(ENOTDIR),
	NAME(EISDIR),
	NAME(EINVAL),
	NAME(ENFILE),
	NAME(EMFILE),
	NAME(ENOTTY),
	NAME(ETXTBSY),
	NAME(EFBIG),
	NAME(ENOSPC),
	NAME(ESPIPE),
	NAME(EROFS),
	NAME(EMLINK),
	NAME(EPIPE),
	NAME(EDOM),
	NAME(ERANGE),
	NAME(EDEADLK),
	NAME(ENAMETOOLONG),
	NAME(ENOLCK),
	NAME(ENOSYS),
	NAME(ENOTEMPTY),
	NAME(ELOOP),
	NAME(ENODATA),
	NAME(ETIME),
	NAME(EREMOTEIO),
	NAME(EBADMSG),
	NAME(EOVERFLOW),
	NAME(EILSEQ),
	NAME(EOPNOTSUPP),
	NAME(ETIMEDOUT),
	NAME(EALREADY),
	NAME(EINPROGRESS),
	NAME(ESTALE),
	NAME(EUCLEAN),
	NAME(EDQUOT),
	NAME(ENOMEDIUM),
	NAME(EMEDIUMTYPE),
	NAME(ECANCELED),
	NAME(ENOKEY),
	NAME(EKEYEXPIRED),
	NAME(EKEYREVOKED),
	NAME(EKEYREJECTED),
	NAME(ESHUTDOWN),
	NAME(ECONNREFUSED),
	NAME(ECONNRESET),
	NAME(ENOTCONN),
	NAME(EPROTO),
	NAME(EREMCHG),
};

const char *e4_errno_name(int err)
{
	int e = abs(err);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].err == e)
			return names[i].name;
	}
	return "EUNKNOWN";
}

void e4_hooks_init(struct e4_hooks *hooks)
{
	if (hooks == NULL)
		return;
	memset(hooks, 0, sizeof(*hooks));
	hooks->struct_size = sizeof(*hooks);
}

const char *e4_version(void)
{
	return E4_VERSION;
}
