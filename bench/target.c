/*
 * target.c - opening what the library is measured on.
 */
#include "target.h"

#include "report.h"

#include <stddef.h>

static int open_device(struct target *t, const char *command, const char *spec)
{
	struct e4_error error = {.struct_size = sizeof(error)};
	struct e4_blockdev_options options;
	int r;

	e4_blockdev_options_init(&options);
	options.error = &error;
	r = e4_blockdev_open(spec, E4_BLOCKDEV_RDONLY, &options, &t->dev);
	if (r < 0) {
		report_error(command, spec, r, &error);
		return r;
	}
	t->geo.struct_size = sizeof(t->geo);
	r = e4_blockdev_geometry(t->dev, &t->geo);
	t->size = t->geo.size;
	return r;
}

static int mount_volume(struct target *t, const char *command, const char *spec)
{
	struct e4_error error = {.struct_size = sizeof(error)};
	struct e4_mount_options options;
	int r;

	e4_mount_options_init(&options);
	options.flags = E4_MOUNT_RDONLY;
	options.error = &error;
	r = e4_mount(t->dev, &options, &t->fs);
	if (r < 0) {
		report_error(command, spec, r, &error);
	}
	return r;
}

static int open_file(struct target *t, const char *command, const char *file, uint32_t flags)
{
	struct e4_error error = {.struct_size = sizeof(error)};
	struct e4_stat st = {.struct_size = sizeof(st)};
	int r = e4_open(t->fs, file, E4_O_RDONLY | flags, 0, &t->file);

	if (r == 0) {
		r = e4_fstat(t->file, &st);
		t->size = st.size;
	}
	if (r < 0) {
		(void)e4_last_error(t->fs, &error);
		report_error(command, file, r, &error);
	}
	return r;
}

int target_open(struct target *t, const char *command, const char *spec, const char *file,
	int mount, uint32_t open_flags)
{
	int r;

	*t = (struct target){0};
	r = open_device(t, command, spec);
	if (r == 0 && (mount || file != NULL)) {
		r = mount_volume(t, command, spec);
	}
	if (r == 0 && file != NULL) {
		r = open_file(t, command, file, open_flags);
	}
	if (r < 0) {
		target_close(t);
	}
	return r;
}

void target_close(struct target *t)
{
	if (t->file != NULL) {
		e4_close(t->file);
	}
	if (t->fs != NULL) {
		e4_unmount(t->fs, 0);
	}
	if (t->dev != NULL) {
		e4_blockdev_close(t->dev);
	}
	*t = (struct target){0};
}
