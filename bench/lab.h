#ifndef BENCH_LAB_H
#define BENCH_LAB_H

#include "janitor.h"

#include <stdbool.h>
#include <stdint.h>

/* What a volume stands on. */
enum lab_kind {
	LAB_ZRAM, /* a block device in memory: requests are served at once */
	LAB_LOOP, /* a loop device with direct I/O over a tmpfs file: requests are queued */
	LAB_FILE, /* a tmpfs file */
};

/* What is on it. */
enum lab_content {
	LAB_DATA, /* the file /data of `amount` random bytes */
	LAB_TREE, /* `amount` small files under /tree, LAB_TREE_FANOUT to a directory */
};

enum {
	LAB_TREE_FANOUT = 1000,
	LAB_VOLUMES_MAX = 8,
	LAB_PATH_MAX = 128,
};

struct lab_volume {
	enum lab_kind kind;
	enum lab_content content;
	uint64_t amount;
	char dev[LAB_PATH_MAX];
	char mnt[LAB_PATH_MAX]; /* where the kernel shows it, read-only; "" when it does not */
};

struct lab {
	struct janitor janitor;
	bool root; /* the kernel's part can be had */
	char dir[LAB_PATH_MAX];
	struct lab_volume volumes[LAB_VOLUMES_MAX];
	unsigned volume_count;
};

/* Devices, mounts and files of a lab go when the process does. */
int lab_open(struct lab *lab, const char *tmpfs);
int lab_close(struct lab *lab);

/*
 * A volume of that kind and content, made at the first call: by mke2fs, filled by the kernel, and mounted read-only.
 * Without root only LAB_FILE can be had, not mounted. -EPERM, -ENOENT without mke2fs, or what failed.
 */
int lab_volume(struct lab *lab, enum lab_kind kind, enum lab_content content, uint64_t amount,
	const struct lab_volume **ret);

/* The nth file of LAB_TREE from the volume's root, without a leading slash. */
void lab_tree_path(uint64_t n, char ret[LAB_PATH_MAX]);

#endif
