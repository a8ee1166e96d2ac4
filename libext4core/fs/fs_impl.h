/* fs_impl.h - what the files of the fs room share. */
#ifndef FS_FS_IMPL_H
#define FS_FS_IMPL_H

#include "fs/fs.h"

/* Options with defaults filled in, whatever the caller's struct size. */
struct e4_mount_options fs_options(const struct e4_mount_options *opts);
struct volume_options fs_volume_options(const struct e4_mount_options *opts);
/* Puts the newest failure into opts->error, when the caller wants it. Returns r. */
int fs_report(struct env *env, const struct e4_mount_options *opts, int r);
/* Finds the log's blocks, so that no file may map them. A journal inode that cannot be read is reported and left out. */
void fs_learn_journal(struct volume *vol);

/* Multi-mount protection: takes the volume before the first write, gives it back. No-ops without the feature. */
int mmp_start(struct volume *vol, struct e4_blockdev *dev) E4_MUST_CHECK;
int mmp_stop(struct volume *vol, struct e4_blockdev *dev) E4_MUST_CHECK;

#endif
