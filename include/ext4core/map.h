/** @file map.h
 *  Where a file's bytes lie on the device, for applications that do the I/O themselves. In the shape of the kernel's iomap. */
#ifndef EXT4CORE_MAP_H
#define EXT4CORE_MAP_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

enum e4_map_type {
	E4_MAP_HOLE = 0,
	E4_MAP_DELALLOC = 1,  /**< space promised, not chosen yet */
	E4_MAP_MAPPED = 2,
	E4_MAP_UNWRITTEN = 3, /**< space owned, reads as zeros */
	E4_MAP_INLINE = 4,    /**< bytes live in the inode: read them with e4_pread() */
};

/** What the caller asks for. */
enum e4_map_intent {
	E4_MAP_READ = 0,
	E4_MAP_WRITE = 1,
};

enum e4_map_flags {
	E4_MAP_REPORT_DIRTY = 1 << 0, /**< ask for E4_MAP_F_DIRTY */
	E4_MAP_REPORT_BEYOND = 1 << 1, /**< show blocks past the end of the file too (as FIEMAP does) */
};

/** Set by the file system. */
enum e4_map_fs_flags {
	E4_MAP_F_DIRTY = 1 << 0,   /**< only with E4_MAP_REPORT_DIRTY: what fdatasync would have to make durable is not, see DESIGN 7 */
	E4_MAP_F_MERGED = 1 << 1,  /**< several extents of the tree, physically one run */
	E4_MAP_F_SHARED = 1 << 2,  /**< blocks may belong to other files too (shared_blocks) */
	E4_MAP_F_ENCRYPTED = 1 << 3, /**< the device holds ciphertext */
	E4_MAP_F_VERITY = 1 << 4,  /**< past the end of the file lie verity metadata */
};

/** Set by the core that drives a mapping. */
enum e4_map_core_flags {
	E4_MAP_C_LAST = 1 << 0,    /**< nothing is mapped after it */
	E4_MAP_C_STALE = 1 << 1,   /**< the cookie no longer matches */
};

/** A piece of a file. Units are bytes. length is at least 1. */
struct e4_mapping {
	uint32_t struct_size;
	uint32_t type;      /**< enum e4_map_type */
	uint64_t offset;    /**< of the piece in the file; a multiple of the block size, at or below the offset asked for */
	uint64_t length;
	uint64_t addr;      /**< on the device; UINT64_MAX when there is none */
	uint32_t fs_flags;  /**< enum e4_map_fs_flags */
	uint32_t core_flags; /**< enum e4_map_core_flags */
	uint64_t cookie;    /**< changes when the file's map changes; validates caches that do no I/O */
	void *internal;     /**< the library's, until e4_map_end() */
};

/* The piece that covers `offset`, of at most `len` bytes from it (cut at extent borders, holes are given whole as far as known). Must be ended. Intent WRITE:
 * -EROFS on a read-only mount. */
E4_API int e4_map_begin(struct e4_file *file, uint64_t offset, uint64_t len, uint32_t intent, uint32_t flags, struct e4_mapping *ret);
/* done_bytes: how much of it was used; err: what the caller met, 0 for none (returned unchanged). */
E4_API int e4_map_end(struct e4_mapping *m, uint64_t done_bytes, int err);
/* The piece at `offset` in blocks of the volume, of the whole tree as it is on disk, for reports (FIEMAP): past the end too. 1 found, 0 nothing from there on. */
E4_API int e4_map_report(struct e4_file *file, uint64_t offset, struct e4_mapping *ret);

E4_END_DECLS

#endif
