/*
 * volume.c - from a device specification to a mount.
 *
 * Owns:    the devices and the mount in struct volume; volume_close() gives back what is there.
 * Always:  only `replay` opens a device for writing; every mount is read-only.
 */
#include "common/volume.h"

#include "common/memory.h"
#include "common/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int device_open(
	const struct args *args, const char *spec, uint32_t flags, struct e4_blockdev **ret)
{
	struct e4_blockdev_options options;
	struct e4_error error = {.struct_size = sizeof(error)};
	int r;

	e4_blockdev_options_init(&options);
	options.error = &error;
	r = e4_blockdev_open(spec, flags, &options, ret);
	if (r < 0) {
		report_error(args->command->name, spec, r, &error);
	}
	return r;
}

/* The end of a value in a device specification: an unescaped comma, or the string's. */
static const char *value_end(const char *p)
{
	while (*p != '\0' && *p != ',') {
		p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
	}
	return p;
}

/*
 * Takes the key `journal=DEV` out of a specification, which is a path of its own where such a path exists:
 * programs that have one string for a volume need the external journal in it. Both results are the caller's to
 * free; *ret_journal is NULL without the key.
 */
static char *journal_split(const char *spec, char **ret_journal)
{
	static const char key[] = ",journal=";
	const char *end = spec;
	const char *value;
	char *rest;
	char *out;

	*ret_journal = NULL;
	rest = memory_copy(spec, strlen(spec));
	if (access(spec, F_OK) == 0) {
		return rest;
	}
	for (end = value_end(spec); *end != '\0'; end = value_end(end + 1)) {
		if (strncmp(end, key, sizeof(key) - 1) != 0) {
			continue;
		}
		value = end + sizeof(key) - 1;
		memcpy(rest + (end - spec), value_end(value), strlen(value_end(value)) + 1);
		*ret_journal = out = memory_copy(value, (size_t)(value_end(value) - value));
		for (const char *p = out; *p != '\0'; p++) {
			p += p[0] == '\\' && (p[1] == ',' || p[1] == ':');
			*out++ = *p;
		}
		*out = '\0';
		return rest;
	}
	return rest;
}

static int devices_open(struct volume *v, uint32_t flags)
{
	const struct args *args = v->args;
	const char *journal = args->journal;
	char *journal_key;
	char *spec = journal_split(args->operands[0], &journal_key);
	int r = device_open(args, spec, flags, &v->dev);

	if (journal == NULL) {
		journal = journal_key;
	}
	if (r == 0 && journal != NULL) {
		r = device_open(args, journal, flags, &v->journal);
	}
	free(spec);
	free(journal_key);
	return r;
}

static void options_fill(struct volume *v)
{
	const struct args *args = v->args;
	struct e4_mount_options *o = &v->options;

	e4_mount_options_init(o);
	o->flags = E4_MOUNT_RDONLY;
	if (args->norecovery) {
		o->flags |= E4_MOUNT_NORECOVERY;
	}
	if (args->ignore_checksums) {
		o->flags |= E4_MOUNT_IGNORE_CSUM;
	}
	if (args->backup_descriptors) {
		o->flags |= E4_MOUNT_BACKUP_DESCS;
	}
	o->superblock = args->superblock;
	o->superblock_bsize = (uint32_t)args->superblock_bsize;
	o->memory_budget = args->memory;
	o->journal = v->journal;
	v->error = (struct e4_error){.struct_size = sizeof(v->error)};
	o->error = &v->error;
}

/*
 * `--superblock N` alone: which block size N counts in follows from where a superblock is found, as e2fsck
 * does it. A backup says its own block size, so a wrong guess shows.
 */
static void superblock_find(struct volume *v)
{
	struct e4_fs_info info;

	if (v->options.superblock == 0 || v->options.superblock_bsize != 0) {
		return;
	}
	for (uint32_t size = 1024; size <= 65536; size *= 2) {
		info = (struct e4_fs_info){.struct_size = sizeof(info)};
		v->options.superblock_bsize = size;
		if (e4_probe(v->dev, &v->options, &info) == 0 && info.block_size == size) {
			return;
		}
	}
	v->options.superblock_bsize = 0;
}

int volume_open_devices(struct volume *v, const struct args *args, uint32_t flags)
{
	int r;

	*v = (struct volume){.args = args};
	if (args->superblock_bsize > 65536 ||
		(args->superblock_bsize & (args->superblock_bsize - 1)) != 0) {
		report(args->command->name, "--blocksize", -EINVAL, "is a power of two up to 65536");
		return -EINVAL;
	}
	r = devices_open(v, flags);
	if (r < 0) {
		volume_close(v);
		return r;
	}
	options_fill(v);
	superblock_find(v);
	return 0;
}

int volume_mount(struct volume *v)
{
	int r;

	v->error = (struct e4_error){.struct_size = sizeof(v->error)};
	r = e4_mount(v->dev, &v->options, &v->fs);
	if (r < 0) {
		v->fs = NULL;
	}
	return r;
}

int volume_open(struct volume *v, const struct args *args)
{
	int r = volume_open_devices(v, args, E4_BLOCKDEV_RDONLY);

	if (r < 0) {
		return r;
	}
	r = volume_mount(v);
	if (r < 0) {
		report_error(args->command->name, args->operands[0], r, &v->error);
		volume_close(v);
	}
	return r;
}

/* Nothing was written, so that nothing can be lost by a close that fails: it would only hide the first error. */
void volume_close(struct volume *v)
{
	if (v->fs != NULL) {
		(void)e4_unmount(v->fs, E4_UNMOUNT_FORCE);
	}
	if (v->journal != NULL) {
		(void)e4_blockdev_close(v->journal);
	}
	if (v->dev != NULL) {
		(void)e4_blockdev_close(v->dev);
	}
	v->fs = NULL;
	v->dev = v->journal = NULL;
}

int volume_failed(struct volume *v, const char *object, int64_t err)
{
	report_fs(v->args->command->name, object, v->fs, (int)err);
	return STATUS_FAILED;
}
