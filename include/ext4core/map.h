/** @file map.h
 *  Where a file's bytes lie on the device, for applications that do the I/O themselves. In the shape of the kernel's iomap. */
#ifndef EXT4CORE_MAP_H
#define EXT4CORE_MAP_H

#include <ext4core/types.h>

E4_BEGIN_DECLS

enum e4_map_type {
	E4_MAP_HOLE = 0,
	E4_MAP_DELALLOC = 1, /**< space promised, not chosen yet */
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
	E4_MAP_F_DIRTY = 1 << 0, /**< only with E4_MAP_REPORT_DIRTY: what fdatasync would have to make durable is not, see DESIGN 7 */
	E4_MAP_F_MERGED = 1 << 1,    /**< several extents of the tree, physically one run */
	E4_MAP_F_SHARED = 1 << 2,    /**< blocks may belong to other files too (shared_blocks) */
	E4_MAP_F_ENCRYPTED = 1 << 3, /**< the device holds ciphertext */
	E4_MAP_F_VERITY = 1 << 4,    /**< past the end of the file lie verity metadata */
};

/** Set by the core that drives a mapping. */
enum e4_map_core_flags {
	E4_MAP_C_LAST = 1 << 0,  /**< nothing is mapped after it */
	E4_MAP_C_STALE = 1 << 1, /**< the cookie no longer matches */
};

/** A piece of a file. Units are bytes. length is at least 1. */
struct e4_mapping {
	uint32_t struct_size;
	uint32_t type; /**< enum e4_map_type */
	uint64_t offset; /**< of the piece in the file; a multiple of the block size, at or below the offset asked for */
	uint64_t length;
	uint64_t addr;       /**< on the device; UINT64_MAX when there is none */
	uint32_t fs_flags;   /**< enum e4_map_fs_flags */
	uint32_t core_flags; /**< enum e4_map_core_flags */
	uint64_t cookie; /**< changes when the file's map changes; validates caches that do no I/O */
	void *internal;  /**< the library's, until e4_map_end() */
};

/**
 * The piece of the file that covers an offset, of at most `len` bytes from it, cut at extent borders. Whoever does the I/O
 * himself does it between begin and end.
 * @param file the open file.
 * @param offset bytes.
 * @param len bytes wanted, at least 1.
 * @param intent enum e4_map_intent.
 * @param flags enum e4_map_flags.
 * @param ret the piece; its struct_size must be set. At least 1 byte long.
 * @return 0; the mapping must be ended by e4_map_end().
 * @errors -EINVAL an argument is NULL, len is 0 or a flag unknown; -EISDIR; -EROFS intent WRITE on a read-only mount; -EIO (or
 *   the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN
 *   the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's until ended.
 * *Blocking*: on device reads for a part of the map not seen before; a cached lookup takes no lock.
 * @since 0.1
 * @source the kernel's iomap_begin; DESIGN 7. E4_MAP_F_DIRTY is set if and only if asked for and true; on a read-only mount
 *   nothing is dirty.
 */
E4_API int e4_map_begin(struct e4_file *file, uint64_t offset, uint64_t len, uint32_t intent,
	uint32_t flags, struct e4_mapping *ret);

/**
 * Ends what e4_map_begin() began.
 * @param m the mapping.
 * @param done_bytes how much of it was used, 0 to its length.
 * @param err 0, or the negative errno that the caller's I/O met.
 * @return err.
 * @errors -EINVAL m is NULL, done_bytes larger than the mapping, or err positive.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: m holds nothing afterwards. *Blocking*:
 * no.
 * @since 0.1
 * @source the kernel's iomap_end.
 */
E4_API int e4_map_end(struct e4_mapping *m, uint64_t done_bytes, int err);

/**
 * The piece at or after an offset in the whole tree as it stands on disk, past the end of the file too; for reports.
 * @param file the open file.
 * @param offset bytes.
 * @param ret the piece; its struct_size must be set.
 * @return 1 and a mapped or unwritten piece, 0 when there is nothing from there on.
 * @errors -EINVAL an argument is NULL; -EIO (or the device's own errno) reading failed; -EUCLEAN, -EBADMSG the volume is
 *   damaged or a checksum is wrong; -ENOMEM; -ESHUTDOWN the volume was unmounted by force.
 * *Threads*: any number at once. *Durability*: none; nothing is written. *Ownership*: ret is the caller's; there is nothing to
 * end. *Blocking*: on device reads.
 * @since 0.1
 * @source the FS_IOC_FIEMAP ioctl.
 */
E4_API int e4_map_report(struct e4_file *file, uint64_t offset, struct e4_mapping *ret);

E4_END_DECLS

#endif
