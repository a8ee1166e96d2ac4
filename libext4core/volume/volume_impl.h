/* volume_impl.h - what the files of the volume room share. */
#ifndef VOLUME_VOLUME_IMPL_H
#define VOLUME_VOLUME_IMPL_H

#include "volume/volume.h"

/* Refuses what cannot be read, by name; fills vol->read_only_reason with what forbids writing. */
int features_check(struct volume *vol) E4_MUST_CHECK;

int zone_cache_new(struct env *env, struct zone_cache **ret) E4_MUST_CHECK;
void zone_cache_free(struct env *env, struct zone_cache *zc);

/* The primary superblock's block: 1 with 1 KiB blocks, else 0 (where it shares the block with the boot area). */
pblk_t volume_super_block(const struct volume *vol);

#endif
