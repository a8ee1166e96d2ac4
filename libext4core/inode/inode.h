/*
 * inode.h - the face of the inode room: inodes in memory, their codec, cache and attributes.
 *
 * An inode is decoded once when it comes in and checked as format/inode.md "Kernel sanity checks" says. Holders count references.
 * The extent-status snapshot is kept here so that a root with up to four extents needs no heap; its contents belong to `extent`.
 */
#ifndef INODE_INODE_H
#define INODE_INODE_H

#include "base/env.h"
#include "base/types.h"
#include "buf/buf.h"
#include "format/extent.h"
#include "format/inode.h"
#include "format/xattr.h"
#include "volume/volume.h"

#include <ext4core/types.h>

struct inode_cache;
struct es_node;

enum es_kind {
	ES_NONE = 0,   /* not decoded yet */
	ES_LEAF = 1,   /* the root's extents stand in key[] and value[] */
	ES_TREE = 2,   /* the root has children: key[], value[] (their blocks) and child[] */
	ES_INLINE = 3, /* no blocks: inline data, fast symlink, device */
};

/*
 * The decoded map of an inode, mirroring the tree on disk. Only `extent` looks inside; the inode room zeroes it, gives `lock` its life
 * and sums heap_bytes and records. The root needs no heap: readers take it like a sequence lock, by `state` before and after.
 */
struct es_map {
	_Atomic uint32_t state; /* [atomic] enum es_kind, the root's depth, and a count of changes */
	_Atomic lblk_t key[EXTENT_ROOT_ENTRIES +
			   1]; /* [atomic] first blocks; unused ones, and the last, are 2^32-1 */
	_Atomic uint64_t value[EXTENT_ROOT_ENTRIES]; /* [atomic] packed runs (es_run) or blocks of children */
	_Atomic(struct es_node *) child[EXTENT_ROOT_ENTRIES]; /* [atomic] NULL until read */
	_Atomic uint64_t cookie; /* [atomic] changes with the map, not with what is cached of it */
	_Atomic uint64_t heap_bytes,
		records;   /* [atomic, written under lock] nodes' bytes; extents held */
	struct mutex lock; /* rank EXTENT_STATUS: who adds or drops nodes */
};

struct inode_time {
	int64_t sec;
	uint32_t nsec;
};

struct inode {
	/* Identity. */
	struct volume *vol;        /* [const] */
	struct inode_cache *cache; /* [const] NULL for an inode outside the cache (recovery) */
	inum_t ino;                /* [const] */
	uint32_t generation;       /* [const] */
	uint32_t csum_seed;        /* [const] of its blocks */

	/* Decoded fields. [const while mounted read-only] */
	uint16_t mode;
	uint32_t uid, gid, nlink, flags, projid;
	uint64_t size;      /* bytes */
	uint64_t blocks512; /* units of 512 bytes */
	uint64_t version;
	pblk_t file_acl;
	uint16_t extra_isize; /* bytes beyond the classic 128 that hold fields */
	bool has_btime;
	bool in_inode_xattrs; /* attributes stand behind the extra fields */
	struct inode_time atime, mtime, ctime, btime;
	uint32_t dtime;
	uint32_t rdev_major, rdev_minor;
	uint8_t block[INODE_BLOCK_BYTES]; /* i_block as on disk */

	struct es_map es;

	/* The cache's. */
	struct list hash, lru;
	uint64_t refs; /* [cache lock] */
	bool loading, failed;
	int load_err;
};

/* How an inode may be used when it is loaded. */
enum inode_purpose {
	INODE_FOR_USE = 0, /* a directory entry or a caller named it: must be allocated, ordinary, no EA inode */
	INODE_FOR_SYSTEM = 1, /* journal, quota, orphan file, resize inode: reserved numbers allowed */
	INODE_FOR_EA = 2,     /* must be an EA inode */
	INODE_FOR_ORPHAN = 3, /* links may be 0 */
};

/* --- codec.c --- */

/*
 * Decodes raw (vol->inode_size bytes) into *ip, which is zeroed first; checks the checksum and the sanity rules for `purpose`. What
 * i_block maps is the extent room's to check. Release with inode_unload().
 */
int inode_decode(struct volume *vol, inum_t ino, const void *raw, enum inode_purpose purpose,
	struct inode *ip) E4_MUST_CHECK;
/*
 * Loads one inode outside the cache (caller's storage; es is empty). Release with inode_unload(), after extent_map_drop() where a
 * mapping was looked up. For USE and EA an inode that its group never initialised is -ESTALE without being read.
 */
int inode_load(
	struct volume *vol, inum_t ino, enum inode_purpose purpose, struct inode *ip) E4_MUST_CHECK;
void inode_unload(struct inode *ip);
/* The raw bytes of the inode: a held buf and the offset in it. */
int inode_raw(struct volume *vol, inum_t ino, struct buf **ret_buf,
	const uint8_t **ret_raw) E4_MUST_CHECK;
/* Recovery: puts mode, links, size, blocks, times, dtime, flags, file_acl and i_block into raw bytes and seals the checksum. */
void inode_encode(const struct inode *ip, void *raw);
/* Only the checksum, for raw bytes that were put together otherwise (fast commits carry whole inodes). */
void inode_seal(const struct volume *vol, inum_t ino, void *raw);
bool inode_is_fast_symlink(const struct inode *ip);
static inline bool inode_is(const struct inode *ip, enum inode_type type)
{
	return (ip->mode & INODE_TYPE_MASK) == (uint32_t)type;
}
/* Fills all but struct_size. An encrypted link's size is that of its no-key target, as stat(2) without the key. */
void inode_to_stat(const struct inode *ip, struct e4_stat *ret);

/* --- cache.c --- */

struct inode_cache_ops {
	/* Frees what other rooms keep in the inode (the extent-status nodes). Called without the cache's lock. */
	void (*evict)(struct inode *ip);
	/* Validates what i_block maps before anybody sees the inode, as the kernel does when it loads one; NULL = not checked here. */
	int (*check)(struct inode *ip);
};

int inode_cache_new(struct volume *vol, const struct inode_cache_ops *ops, uint32_t max_unused,
	struct inode_cache **ret) E4_MUST_CHECK;
/* Nobody may hold an inode. */
void inode_cache_free(struct inode_cache *cache);
/* A reference, INODE_FOR_USE. generation 0 = any, else -ESTALE. A free inode is -ESTALE when asked by number. */
int inode_get(struct inode_cache *cache, inum_t ino, uint32_t generation,
	struct inode **ret) E4_MUST_CHECK;
/* The same for another purpose. A cached inode is held to the purpose's rules each time. */
int inode_get_for(struct inode_cache *cache, inum_t ino, enum inode_purpose purpose,
	struct inode **ret) E4_MUST_CHECK;
void inode_hold(struct inode *ip);
void inode_put(struct inode *ip, uint64_t n);
uint64_t inode_cache_count(struct inode_cache *cache);
/* Held inodes (references > 0). */
uint64_t inode_cache_held(struct inode_cache *cache);
/* Extent records and heap bytes of all cached inodes. */
void inode_cache_es_totals(struct inode_cache *cache, uint64_t *ret_records, uint64_t *ret_bytes);

/* --- xattr.c --- */

/* One attribute found: where its value is. */
struct xattr_value {
	const uint8_t *data; /* inside buf, or NULL when the value is in an EA inode */
	uint32_t size;
	inum_t value_ino; /* EA inode, 0 = local */
	uint32_t hash;    /* e_hash, to verify an EA inode's value */
	uint8_t index, name_len;
	const uint8_t *name; /* suffix, name_len bytes, inside buf */
	struct buf *buf;     /* held while data and name are used */
};

/* Finds (index, suffix); 1 found (put ret->buf), 0 not, negative errno when an area is bad. */
int xattr_find(struct inode *ip, uint8_t index, const char *suffix, uint32_t suffix_len,
	struct xattr_value *ret) E4_MUST_CHECK;
/* Calls fn for each attribute, in-inode first then the block, as they stand. */
int xattr_foreach(struct inode *ip, int (*fn)(void *arg, const struct xattr_value *v),
	void *arg) E4_MUST_CHECK;
/* Copies v->size bytes of a found attribute into buf; those of an EA inode are read and held to both hashes. */
int xattr_read_value(struct inode *ip, const struct xattr_value *v, void *buf) E4_MUST_CHECK;
/*
 * The system calls' view, as root: full names, ACLs in version 2 form, hidden indexes left out. Bytes, or -ENODATA, -ERANGE,
 * -EOPNOTSUPP for a prefix the kernel does not serve, -EINVAL for a bare prefix or a malformed ACL. size 0 asks for the length.
 */
int64_t xattr_get(struct inode *ip, const char *name, void *buf, uint64_t size) E4_MUST_CHECK;
int64_t xattr_list(struct inode *ip, char *buf, uint64_t size) E4_MUST_CHECK;
/* Reads an EA inode's value; handed in by `file`, which stands above. */
typedef int (*xattr_read_inode_fn)(struct inode *ea, void *buf, uint64_t len);
void xattr_set_reader(struct inode_cache *cache, xattr_read_inode_fn fn);

/* --- inline_data.c --- */

/* Copies inline bytes [offset, offset + len) of the file (within its size) into buf. -EUCLEAN where the size is beyond what is stored. */
int inline_data_read(struct inode *ip, uint64_t offset, void *buf, uint64_t len) E4_MUST_CHECK;
/* The two parts of an inline directory: 56 bytes of entries in i_block, then the value of system.data. *ret_buf is held (may be NULL). */
int inline_data_parts(struct inode *ip, const uint8_t **ret_value, uint32_t *ret_value_len,
	struct buf **ret_buf) E4_MUST_CHECK;

extern const struct buf_kind buf_kind_xattr;

#endif
