/*
 * lab_device.c - block devices without hardware.
 *
 * Always:  a device is noted for the janitor as soon as it is ours; zram0 is the system's and is left alone.
 */
#include "lab_device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LOOP_SECTOR = 4096, LOOP_TRIES = 16 };

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0) {
		return -errno;
	}
	if (write(fd, text, strlen(text)) < 0) {
		r = -errno;
	}
	close(fd);
	return r;
}

static int zram_add(unsigned *ret)
{
	FILE *f = fopen("/sys/class/zram-control/hot_add", "re");
	int r = -ENODEV;
	char text[16];

	if (f == NULL) {
		return -errno;
	}
	if (fgets(text, sizeof(text), f) != NULL) {
		*ret = (unsigned)strtoul(text, NULL, 10);
		r = 0;
	}
	(void)fclose(f);
	return r;
}

static int zram_set(unsigned number, const char *attribute, const char *value)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/zram%u/%s", number, attribute);
	return write_text(path, value);
}

int lab_zram(struct lab *lab, uint64_t size, char ret[LAB_PATH_MAX])
{
	char text[24];
	unsigned number = 0;
	int r = zram_add(&number);

	if (r < 0) {
		return r;
	}
	snprintf(text, sizeof(text), "%u", number);
	if (number == 0) {
		(void)write_text("/sys/class/zram-control/hot_remove", text);
		return -EBUSY;
	}
	r = janitor_note(&lab->janitor, JANITOR_ZRAM, text);
	if (r == 0) {
		r = zram_set(number, "comp_algorithm", "lz4");
	}
	snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
	if (r == 0) {
		r = zram_set(number, "disksize", text);
	}
	snprintf(ret, LAB_PATH_MAX, "/dev/zram%u", number);
	return r;
}

int lab_file(struct lab *lab, const char *name, uint64_t size, char ret[LAB_PATH_MAX])
{
	int fd;
	int r;

	snprintf(ret, LAB_PATH_MAX, "%.100s/%.20s", lab->dir, name);
	r = janitor_note(&lab->janitor, JANITOR_UNLINK, ret);
	if (r < 0) {
		return r;
	}
	fd = open(ret, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		return -errno;
	}
	if (ftruncate(fd, (off_t)size) < 0) {
		r = -errno;
	}
	close(fd);
	return r;
}

/* Another process may take the free one first: then the next. */
static int loop_configure(int control, const struct loop_config *config, char ret[LAB_PATH_MAX])
{
	for (unsigned i = 0; i < LOOP_TRIES; i++) {
		int number = ioctl(control, LOOP_CTL_GET_FREE);
		int fd;
		int r = 0;

		if (number < 0) {
			return -errno;
		}
		snprintf(ret, LAB_PATH_MAX, "/dev/loop%d", number);
		fd = open(ret, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			return -errno;
		}
		if (ioctl(fd, LOOP_CONFIGURE, config) < 0) {
			r = -errno;
		}
		close(fd);
		if (r != -EBUSY) {
			return r;
		}
	}
	return -EBUSY;
}

int lab_loop(struct lab *lab, const char *file, char ret[LAB_PATH_MAX])
{
	struct loop_config config = {
		.block_size = LOOP_SECTOR,
		.info.lo_flags = LO_FLAGS_DIRECT_IO,
	};
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int fd = open(file, O_RDWR | O_CLOEXEC);
	int r;

	if (control < 0 || fd < 0) {
		r = -errno;
	} else {
		config.fd = (unsigned)fd;
		r = loop_configure(control, &config, ret);
	}
	if (r == 0) {
		r = janitor_note(&lab->janitor, JANITOR_DETACH, ret);
	}
	if (control >= 0) {
		close(control);
	}
	if (fd >= 0) {
		close(fd);
	}
	return r;
}
