#ifndef TOOLS_E4_COPY_OUT_H
#define TOOLS_E4_COPY_OUT_H

#include "common/inoset.h"
#include "common/progress.h"
#include "common/volume.h"

#include <sys/types.h>

/* A copy from the volume to this host. */
struct copy_out {
	struct volume *v;
	bool recursive, preserve;
	bool root; /* the caller is root: owners and devices are expected to work */
	mode_t umask;
	int status;            /* STATUS_FAILED once anything failed */
	int base_fd;           /* folder that everything goes below */
	struct inoset links;   /* inodes with several names -> the first copy, from base_fd */
	struct inoset entered; /* directories */
	struct progress progress;
	void *buf; /* COPY_PIECE bytes */
};

/*
 * Copies the object behind `ip` to `name` in base_fd; `src` is its path on the volume, for messages. A directory
 * goes with all that is below it. What fails is reported and left out.
 */
void copy_out_tree(struct copy_out *c, struct e4_inode *ip, const char *src, const char *name);
/* Copies a regular file to `name`, which may be an existing file, pipe or device, and is then written to. */
void copy_out_file(struct copy_out *c, struct e4_inode *ip, const char *src, const char *name);

/* --- inside ------------------------------------------------------------------------------------------------------ */

/* Where an object goes: `name` in dir_fd; `path` the same from base_fd. */
struct copy_place {
	int dir_fd;
	const char *name;
	const char *path;
};

/* Anything but a directory, under a name that is made new. */
void copy_out_object(struct copy_out *c, struct e4_inode *ip, const struct e4_stat *st,
	const char *src, const struct copy_place *to);
/*
 * Mode, and with -p owner, attributes and times: of descriptor fd, or with fd -1 of the name itself. `made`: the
 * object did not exist before.
 */
void copy_out_metadata(struct copy_out *c, struct e4_inode *ip, const struct e4_stat *st,
	const char *src, const struct copy_place *to, int fd, bool made);
/* Report a failure on the volume's side, or on the host's. */
void copy_out_failed(struct copy_out *c, const char *src, int64_t err);
void copy_out_failed_there(struct copy_out *c, const char *src, int err, const char *what);

#endif
