/*
 * lab.c - volumes to measure on: devices that need no hardware, made and filled by e2fsprogs and the kernel.
 *
 * Owns:    a folder on tmpfs; devices and mounts, which the janitor undoes.
 * Always:  a volume is clean and nobody writes it while it is measured, so that both sides may have it open. Devices
 *          are filled with random bytes first: pages of zeros would read too fast from zram.
 */
#include "lab.h"

#include "lab_device.h"
#include "pattern.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MIB = 1024 * 1024 };

int lab_open(struct lab *lab, const char *tmpfs)
{
	int r;

	*lab = (struct lab){.root = geteuid() == 0};
	r = janitor_start(&lab->janitor);
	if (r < 0) {
		return r;
	}
	snprintf(lab->dir, sizeof(lab->dir), "%.80s/e4bench.XXXXXX", tmpfs);
	if (mkdtemp(lab->dir) == NULL) {
		r = -errno;
		janitor_finish(&lab->janitor);
		return r;
	}
	return janitor_note(&lab->janitor, JANITOR_RMDIR, lab->dir);
}

int lab_close(struct lab *lab)
{
	return janitor_finish(&lab->janitor);
}

void lab_tree_path(uint64_t n, char ret[LAB_PATH_MAX])
{
	snprintf(ret, LAB_PATH_MAX, "tree/d%05u/file-%07u", (unsigned)(n / LAB_TREE_FANOUT),
		(unsigned)n);
}

static int write_all(int fd, const char *buf, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n > 0) {
			buf += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* Random bytes from here on. */
static int fill(int fd, uint64_t len)
{
	uint64_t *words = malloc(MIB);
	uint64_t state = len;
	int r = words != NULL ? 0 : -ENOMEM;

	for (uint64_t done = 0; r == 0 && done < len; done += MIB) {
		for (unsigned i = 0; i < MIB / sizeof(*words); i++) {
			words[i] = pattern_random(&state);
		}
		r = write_all(fd, (const char *)words, len - done < MIB ? len - done : MIB);
	}
	free(words);
	return r;
}

static int fill_device(const char *path, uint64_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0) {
		return -errno;
	}
	r = fill(fd, size);
	if (r == 0 && fsync(fd) < 0) {
		r = -errno;
	}
	close(fd);
	return r;
}

static int make_data(int dir, uint64_t size)
{
	int fd = openat(dir, "data", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	int r = 0;

	if (fd < 0) {
		return -errno;
	}
	if (fallocate(fd, 0, 0, (off_t)size) < 0) {
		r = -errno;
	}
	if (r == 0) {
		r = fill(fd, size);
	}
	if (r == 0 && fsync(fd) < 0) {
		r = -errno;
	}
	close(fd);
	return r;
}

static int make_tree(int dir, uint64_t count)
{
	char path[LAB_PATH_MAX];
	int fd;

	if (mkdirat(dir, "tree", 0755) < 0) {
		return -errno;
	}
	for (uint64_t i = 0; i < count; i++) {
		lab_tree_path(i, path);
		if (i % LAB_TREE_FANOUT == 0) {
			*strrchr(path, '/') = '\0';
			if (mkdirat(dir, path, 0755) < 0) {
				return -errno;
			}
			lab_tree_path(i, path);
		}
		fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0) {
			return -errno;
		}
		close(fd);
	}
	return 0;
}

static int populate(const char *path, const struct lab_volume *v)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir < 0) {
		return -errno;
	}
	r = v->content == LAB_DATA ? make_data(dir, v->amount) : make_tree(dir, v->amount);
	close(dir);
	return r;
}

static uint64_t volume_size(const struct lab_volume *v)
{
	/* An inode and a directory entry each; the journal and the tables beside. */
	return v->content == LAB_DATA ? v->amount + v->amount / 8 + 32 * (uint64_t)MIB
				      : v->amount * 600 + 64 * (uint64_t)MIB;
}

static int make_filesystem(const struct lab_volume *v, const char *from)
{
	char inodes[32];
	const char *argv[] = {"mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-E",
		"nodiscard,lazy_itable_init=0,lazy_journal_init=0", "-N", inodes, v->dev,
		from != NULL ? "-d" : NULL, from, NULL};

	snprintf(inodes, sizeof(inodes), "%llu",
		v->content == LAB_DATA ? 1024ull
				       : (unsigned long long)(v->amount + v->amount / 100 + 1024));
	return program_run(argv);
}

static int mount_at(const char *dev, const char *mnt, unsigned long flags)
{
	return mount(dev, mnt, "ext4", MS_NOATIME | flags, NULL) == 0 ? 0 : -errno;
}

/* The kernel fills the volume, then shows it read-only. */
static int fill_by_kernel(struct lab *lab, struct lab_volume *v, const char *mnt)
{
	int r = janitor_note(&lab->janitor, JANITOR_RMDIR, mnt);

	if (r == 0 && mkdir(mnt, 0700) < 0) {
		r = -errno;
	}
	if (r == 0) {
		r = janitor_note(&lab->janitor, JANITOR_UNMOUNT, mnt);
	}
	if (r == 0) {
		r = mount_at(v->dev, mnt, 0);
	}
	if (r < 0) {
		return r;
	}
	r = populate(mnt, v);
	if (umount2(mnt, 0) < 0 && r == 0) {
		r = -errno;
	}
	if (r == 0) {
		r = mount_at(v->dev, mnt, MS_RDONLY);
	}
	if (r == 0) {
		snprintf(v->mnt, sizeof(v->mnt), "%s", mnt);
	}
	return r;
}

static int make_device(struct lab *lab, struct lab_volume *v)
{
	char name[32];
	char file[LAB_PATH_MAX];
	uint64_t size = volume_size(v) & ~(uint64_t)(MIB - 1);
	int r;

	snprintf(name, sizeof(name), "volume%u", lab->volume_count);
	if (v->kind == LAB_ZRAM) {
		r = lab_zram(lab, size, v->dev);
	} else {
		r = lab_file(lab, name, size, file);
	}
	if (r < 0) {
		return r;
	}
	if (v->kind == LAB_LOOP) {
		r = lab_loop(lab, file, v->dev);
	} else if (v->kind == LAB_FILE) {
		memcpy(v->dev, file, sizeof(file));
	}
	return r == 0 && v->content == LAB_DATA && v->kind != LAB_FILE ? fill_device(v->dev, size)
								       : r;
}

/* Without a kernel's help: mke2fs copies a folder. */
static int fill_by_mke2fs(struct lab *lab, const struct lab_volume *v)
{
	char from[LAB_PATH_MAX];
	char file[LAB_PATH_MAX + 8];
	int r;

	if (v->content != LAB_DATA) {
		return -EPERM;
	}
	snprintf(from, sizeof(from), "%.100s/from%u", lab->dir, lab->volume_count);
	snprintf(file, sizeof(file), "%s/data", from);
	r = janitor_note(&lab->janitor, JANITOR_RMDIR, from);
	if (r == 0) {
		r = janitor_note(&lab->janitor, JANITOR_UNLINK, file);
	}
	if (r == 0 && mkdir(from, 0700) < 0) {
		r = -errno;
	}
	if (r == 0) {
		r = populate(from, v);
	}
	if (r == 0) {
		r = make_filesystem(v, from);
	}
	unlink(file);
	rmdir(from);
	return r;
}

static int make(struct lab *lab, struct lab_volume *v)
{
	char mnt[LAB_PATH_MAX];
	int r;

	if (!lab->root && v->kind != LAB_FILE) {
		return -EPERM;
	}
	r = make_device(lab, v);
	if (r < 0) {
		return r;
	}
	if (v->kind == LAB_FILE) {
		return fill_by_mke2fs(lab, v);
	}
	snprintf(mnt, sizeof(mnt), "%.100s/mnt%u", lab->dir, lab->volume_count);
	r = make_filesystem(v, NULL);
	return r < 0 ? r : fill_by_kernel(lab, v, mnt);
}

int lab_volume(struct lab *lab, enum lab_kind kind, enum lab_content content, uint64_t amount,
	const struct lab_volume **ret)
{
	struct lab_volume *v;
	int r;

	for (unsigned i = 0; i < lab->volume_count; i++) {
		v = &lab->volumes[i];
		if (v->kind == kind && v->content == content && v->amount == amount) {
			*ret = v;
			return 0;
		}
	}
	if (lab->volume_count == LAB_VOLUMES_MAX) {
		return -ENOSPC;
	}
	v = &lab->volumes[lab->volume_count];
	*v = (struct lab_volume){.kind = kind, .content = content, .amount = amount};
	r = make(lab, v);
	if (r < 0) {
		return r;
	}
	lab->volume_count++;
	*ret = v;
	return 0;
}
