/*
 * map.h - the face of the map room: byte ranges of files to byte ranges of the device, in the shape of iomap.
 *
 * On a read-only mount nothing is dirty and begin/end hold nothing; both calls keep the shape that writing needs.
 */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "inode/inode.h"

#include <ext4core/map.h>

int map_begin(struct inode *ip, uint64_t offset, uint64_t len, uint32_t intent, uint32_t flags,
	struct e4_mapping *ret) E4_MUST_CHECK;
int map_end(struct e4_mapping *m, uint64_t done_bytes, int err) E4_MUST_CHECK;
/* Past the end of the file too, each extent of the tree by itself; 1 found, 0 nothing mapped at or after offset. */
int map_report(struct inode *ip, uint64_t offset, struct e4_mapping *ret) E4_MUST_CHECK;
/* SEEK_DATA, SEEK_HOLE: offset, or -ENXIO. */
int64_t map_seek_data(struct inode *ip, uint64_t offset) E4_MUST_CHECK;
int64_t map_seek_hole(struct inode *ip, uint64_t offset) E4_MUST_CHECK;

/* A loop over the pieces of [offset, offset + len); errors surface where the loop ends. */
struct map_iter {
	struct inode *ip;
	uint64_t pos, end;
	struct e4_mapping m; /* the piece at pos; its part within the range is [pos, pos + map_iter_len()) */
};
void map_iter_start(struct map_iter *it, struct inode *ip, uint64_t offset, uint64_t len);
/* 1 and it->m set, 0 at the end, negative errno. */
int map_iter_next(struct map_iter *it) E4_MUST_CHECK;
uint64_t map_iter_len(const struct map_iter *it);
void map_iter_advance(struct map_iter *it, uint64_t bytes);

#endif
