/*
 * quota_file.h - one of the hidden files that hold usage.
 */
#ifndef RECOVER_QUOTA_FILE_H
#define RECOVER_QUOTA_FILE_H

#include "recover/recover_impl.h"

struct quota_file {
	struct recovery *r;
	struct rinode *file;
	uint8_t *header;
	uint32_t blocks; /* of 1024 bytes, as the header counts them */
};

/* The inode that keeps usage of this kind, 0 = none. */
inum_t quota_file_inum(const struct recovery *r, enum quota_type type);
/* The file, its header verified. Valid as long as recovery's changes are. */
int quota_file_open(struct recovery *r, enum quota_type type, struct quota_file *ret) E4_MUST_CHECK;
/* Adds to what the id uses. An entry that is not there is made when something grows, else there is nothing to do. */
int quota_file_change(struct quota_file *q, uint32_t id, int64_t space, int64_t inodes) E4_MUST_CHECK;

#endif
