#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H

#include <ext4core/ext4core.h>

/* A volume as the library sees it, or a device alone. */
struct target {
	struct e4_blockdev *dev;
	struct e4_fs *fs;     /* NULL: the device alone */
	struct e4_file *file; /* NULL: none */
	uint64_t size;        /* bytes that can be read: of the file, else of the device */
	struct e4_geometry geo;
};

/* Opens a device, and mounts it read-only unless `file` is NULL and mount is 0. Reports a failure for `command`. */
int target_open(struct target *t, const char *command, const char *spec, const char *file,
	int mount, uint32_t open_flags);
void target_close(struct target *t);

#endif
