/*
 * volumes.h - volumes made by mke2fs and debugfs in a directory of their own; the one at hand is the file `v`.
 */
#ifndef TESTS_RECOVER_VOLUMES_H
#define TESTS_RECOVER_VOLUMES_H

#include "crash.h"
#include "format/super.h"

#include <stdio.h>

bool volumes_begin(void);
void volumes_end(void);
/* Whether mke2fs, debugfs and e2fsck are there. */
bool have_tools(void);
/* In the directory; what is printed goes to the file `out`. */
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What the last shell() printed. */
FILE *open_out(void);
/* A file of `pieces` runs of `len` bytes, each at the start of `step` bytes. */
void make_sparse(const char *name, uint32_t pieces, uint32_t len, uint32_t step);
void read_volume(struct image *ret);
/* e2fsck -fn finds nothing. */
void check_clean(const struct image *img);
/* e2fsck can put it right. */
void check_repairable(const struct image *img);
struct disk_super *super_of(struct image *img);
/* After a change of its superblock. */
void reseal(struct disk_super *s);

#endif
