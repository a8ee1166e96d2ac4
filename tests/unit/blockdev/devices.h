#ifndef TESTS_BLOCKDEV_DEVICES_H
#define TESTS_BLOCKDEV_DEVICES_H

#include "blockdev/blockdev.h"

#define DEVICE_SIZE (4u << 20)

/* A kind of device that the tests run over. */
struct device_kind {
	const char *name;
	/* Makes it, DEVICE_SIZE bytes of zeros, writable; NULL and a reason in *ret_skip where this machine cannot. */
	struct e4_blockdev *(*open)(const char **ret_skip);
};

extern const struct device_kind device_kinds[];
extern const unsigned device_kind_count;

/* Opens it or says aloud on standard output, as a TAP comment, why not (then NULL). */
struct e4_blockdev *device_open(const struct device_kind *kind);
/* Closes it and removes what it stood on. */
void device_close(struct e4_blockdev *dev);

/* A file of DEVICE_SIZE zeros, in a folder that takes O_DIRECT; its path is kept until the next call. */
const char *scratch_file(void);
void scratch_remove(void);
/* A loop device on the scratch file with direct I/O, or NULL with its reason. */
const char *scratch_loop(unsigned sector, const char **ret_skip);

/* Numbers of a seed; the same on every machine. */
uint32_t rand_next(uint32_t *state);
void rand_fill(uint32_t *state, void *buf, size_t len);

#endif
