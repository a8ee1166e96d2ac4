/*
 * fd.h - what the backends that sit on a file descriptor share: opening with the right ownership, geometry, plain I/O.
 */
#ifndef BLOCKDEV_FD_H
#define BLOCKDEV_FD_H

#include "blockdev/blockdev_impl.h"

struct fd_dev {
	struct env *env;
	int fd;
	bool is_block; /* a block device, else a regular file */
	bool read_only;
	bool sync;
	uint64_t size; /* bytes, as of opening */
};

/*
 * Opens req->path with `extra` flags of open(2). Writable: O_EXCL on a block device; a lock on a file, which no loop device may
 * use. Reading takes and disturbs nothing. Raises the reason.
 */
int fd_open(struct env *env, const struct open_request *req, int extra,
	struct fd_dev *ret) E4_MUST_CHECK;
void fd_close(struct fd_dev *d);
/* The size now. */
int fd_size(const struct fd_dev *d, uint64_t *ret) E4_MUST_CHECK;
/* Size, sectors, cache, discard as the kernel tells; alignment 1: direct backends put in theirs. */
int fd_geometry(const struct fd_dev *d, struct e4_geometry *ret) E4_MUST_CHECK;

/* All of it or an error; a file that ends early is BLOCKDEV_SHORT. rwf: RWF_* flags. */
int fd_readv(int fd, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count,
	int rwf) E4_MUST_CHECK;
int fd_writev(int fd, uint64_t offset, const struct e4_iovec *iov, uint32_t iov_count,
	int rwf) E4_MUST_CHECK;
int fd_flush(const struct fd_dev *d) E4_MUST_CHECK;
int fd_discard(const struct fd_dev *d, uint64_t offset, uint64_t len) E4_MUST_CHECK;
int fd_write_zeroes(const struct fd_dev *d, uint64_t offset, uint64_t len) E4_MUST_CHECK;

/* -EBUSY with its reason if a loop device uses the file. */
int fd_refuse_loop(struct env *env, int fd, const char *path) E4_MUST_CHECK;
/* A number from the queue folder of a block device in sysfs, or `absent`. */
uint64_t fd_queue_number(int fd, const char *name, uint64_t absent);
/* Whether the file called so says `word`. */
bool fd_queue_says(int fd, const char *name, const char *word);

#endif
