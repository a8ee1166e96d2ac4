/*
 * buf.h - the face of the metadata block cache.
 *
 * A buf is one block of the volume, copied into memory before it is verified (a mapping can change under the reader). Each use names
 * the kind of block it expects; a block is verified once per (kind, seed) and again when somebody asks for it as something else, so a
 * hostile image that names one block twice gains nothing. Contents never change while a reader may look: a writer joins a buf to
 * a handle, which today only recovery does, before anybody else is let in.
 */
#ifndef BUF_BUF_H
#define BUF_BUF_H

#include "base/env.h"
#include "base/types.h"
#include "blockdev/blockdev.h"

struct buf_cache;
struct buf;

/* Whose block it is: what a verifier, or a seal, needs besides the bytes. */
struct buf_owner {
	struct env *env;
	uint32_t block_size;
	bool csum;     /* checksums are kept on this volume (metadata_csum) */
	uint32_t seed; /* of this block's checksum: the inode's or the volume's */
	inum_t ino;    /* 0 = the volume itself */
	pblk_t pblk;
};

/* A kind of block. One static const object each; its address is its identity. */
struct buf_kind {
	const char *name;
	/* 0, or a negative errno from fail(). NULL = nothing to verify. Structure only: the checksum has its own call. */
	int (*verify)(const struct buf_owner *o, const void *data);
	/* True when the stored checksum is right. NULL = has none. Called only if o->csum. */
	bool (*csum_ok)(const struct buf_owner *o, const void *data);
	/* Puts the checksum in; called when a changed block is about to be logged or written. NULL = has none. */
	void (*seal)(const struct buf_owner *o, void *data);
};

struct buf {
	pblk_t pblk;   /* [const while held] */
	uint8_t *data; /* [const pointer] block_size bytes */
	/* The rest is the room's. */
	struct buf_cache *cache;
	struct list hash, lru;
	uint32_t refs;
	uint8_t state;
	const struct buf_kind *kind;
	uint32_t seed;
	inum_t ino;
	struct list dirty; /* in a handle */
	bool joined;
};

/* Blocks of plain bytes without checksum or structure. */
extern const struct buf_kind buf_kind_plain;

struct buf_cache_config {
	struct env *env;
	struct e4_blockdev *dev;
	uint32_t block_size;
	bool csum, ignore_csum;
	uint64_t blocks_count; /* of the volume; a block beyond is a bug of the caller's check */
	uint64_t limit_bytes;  /* memory it may keep when nobody holds it */
};

int buf_cache_new(const struct buf_cache_config *config, struct buf_cache **ret) E4_MUST_CHECK;
/* No buf may be held. Changed blocks that were joined to a handle are dropped. */
void buf_cache_free(struct buf_cache *cache);
/* Forgets everything, after the device changed underneath (replay). No buf may be held. */
void buf_cache_drop(struct buf_cache *cache);
/* Reads from another device from now on (recovery's overlay). Drops everything; no buf may be held. */
void buf_cache_set_device(struct buf_cache *cache, struct e4_blockdev *dev);

/*
 * The block, verified as `kind` with `seed` (of inode ino; 0 = volume). -EUCLEAN/-EBADMSG/-EIO with a reason. A failed block is not
 * kept. Waits for I/O; takes no lock while reading.
 */
int buf_get(struct buf_cache *cache, pblk_t pblk, const struct buf_kind *kind, inum_t ino,
	uint32_t seed, struct buf **ret) E4_MUST_CHECK;
/* Another reference. */
void buf_hold(struct buf *b);
void buf_put(struct buf *b);
/* A hint: reads [pblk, pblk + count) in one request where most of it is missing. Errors are dropped: buf_get() meets them again. */
void buf_read_ahead(struct buf_cache *cache, pblk_t pblk, uint32_t count);

/* A new block's buf without reading it, zeroed, to be joined to a handle at once. */
int buf_get_zeroed(struct buf_cache *cache, pblk_t pblk, const struct buf_kind *kind, inum_t ino,
	uint32_t seed, struct buf **ret) E4_MUST_CHECK;

/* For handles: marks it changed (a reference is kept until buf_unjoin), seals it before it is written. */
void buf_join(struct buf *b, struct list *dirty_list);
void buf_unjoin(struct buf *b);
void buf_seal(struct buf *b);

struct env *buf_cache_env(struct buf_cache *cache);
uint64_t buf_cache_bytes(struct buf_cache *cache);

#endif
