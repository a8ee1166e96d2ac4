#ifndef TOOLS_COMMON_VOLUME_H
#define TOOLS_COMMON_VOLUME_H

#include "common/args.h"

#include <ext4core/fs.h>

/* An open volume and what it stands on. */
struct volume {
	const struct args *args;
	struct e4_blockdev *dev;
	struct e4_blockdev *journal; /* NULL unless --journal */
	struct e4_fs *fs;            /* NULL while only the devices are open */
	struct e4_mount_options options;
	struct e4_error error; /* why opening failed */
};

/* Opens the first operand's device (flags of e4_blockdev_open) and the journal's. Reports and answers a negative errno. */
int volume_open_devices(struct volume *v, const struct args *args, uint32_t flags);
/* The same, then mounts read-only: not one byte of the device changes. */
int volume_open(struct volume *v, const struct args *args);
/* Mounts what volume_open_devices() has opened; fills v->error and reports nothing. */
int volume_mount(struct volume *v);
/* Everything that is open; v may hold nothing. */
void volume_close(struct volume *v);

/* Reports a failure on an object of the volume, for the command that is running; answers STATUS_FAILED. */
int volume_failed(struct volume *v, const char *object, int64_t err);

#endif
