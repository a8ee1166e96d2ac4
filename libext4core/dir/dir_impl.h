/* dir_impl.h - what the files of the directory room share. */
#ifndef DIR_DIR_IMPL_H
#define DIR_DIR_IMPL_H

#include "dir/dir.h"
#include "format/dirent.h"
#include "format/htree.h"

#define DIR_HASH_EOF     HTREE_EOF_HASH /* of a hash shifted right by one */
#define DIR_HTREE_LEVELS 3u             /* of index blocks: root and two nodes (large_dir) */
#define DIR_FOLDED_MAX   1024u          /* a name of 255 bytes grows at most fourfold */
#define DIR_CIPHER_MIN   16u            /* bytes of an encrypted name, at least */
#define DIR_READ_AHEAD   32u            /* blocks; a scan asks for so many at a time */

/* --- block.c: entries in a block or an inline area --- */

/* Bytes that hold a chain of entries, and how to read them. */
struct dir_area {
	struct buf_owner owner;
	const uint8_t *data;
	uint32_t len;
	uint32_t inodes_count; /* of the volume: no entry may name a higher one */
	bool with_hash;        /* hashes stand behind the names (encrypted and casefolded) */
	bool encrypted;        /* names are any bytes, at least 16 */
};

struct dir_entry {
	uint32_t offset;  /* in the area */
	uint32_t rec_len; /* bytes to the next one */
	inum_t ino;       /* 0 = unused */
	uint8_t type;     /* enum dirent_type, or garbage */
	uint8_t name_len;
	const uint8_t *name;
};

/* The chain of a whole block of directory ip. Borrows data. */
struct dir_area dir_area_of(const struct inode *ip, pblk_t pblk, const uint8_t *data, uint32_t len);
/* The entry at offset, checked: 0, or -EUCLEAN. */
int dir_entry_parse(const struct dir_area *a, uint32_t offset, struct dir_entry *ret) E4_MUST_CHECK;
/* The next entry at or after *offset, used or not; moves *offset past it. 1, 0 at the end (the checksum tail is no entry), -EUCLEAN. */
int dir_area_next(const struct dir_area *a, uint32_t *offset, struct dir_entry *ret) E4_MUST_CHECK;
/* The same, passing over unused entries and, with a report, over those whose name no name may be. */
int dir_area_next_used(
	const struct dir_area *a, uint32_t *offset, struct dir_entry *ret) E4_MUST_CHECK;
bool dir_entry_is_dots(const struct dir_entry *e);
/* The hash that stands behind the name (areas with_hash); zeros behind "." and "..". */
struct dir_hash dir_entry_stored_hash(const struct dir_entry *e);

/* --- hash.c --- */

/* Bit 0 off, and not the end mark. */
uint32_t dir_hash_clean(uint32_t hash);
bool dir_hash_version_known(uint8_t version);

/* --- read.c: blocks of a directory --- */

uint64_t dir_blocks_count(const struct inode *ip);
/* A held, verified block: 1; 0 = a hole (the caller reports it, once); negative errno. */
int dir_read(struct inode *ip, lblk_t lblk, const struct buf_kind *kind, struct buf **ret);
#define DIR_NO_MAP UINT64_MAX
/*
 * The same for a leaf of a scan, which reads ahead. *ret_next is where the scan goes on: behind the block, or behind the hole, however long the
 * directory says that it is; DIR_NO_MAP when the map itself cannot be read, and so no later block either.
 */
int dir_read_next(struct inode *ip, lblk_t lblk, struct buf **ret, uint64_t *ret_next);
/* Records a hole at lblk: directories have none. Always -EUCLEAN. */
int dir_report_hole(struct inode *ip, lblk_t lblk);
bool dir_is_indexed(const struct inode *ip);
bool dir_is_encrypted_casefolded(const struct inode *ip);
/* The hash version that is used where no root says it, or that stands in a root: unsigned where the volume says so. */
uint8_t dir_hash_version(const struct volume *vol, uint8_t disk_version);

/* --- match.c: is this the name --- */

enum dir_match {
	DIR_MATCH_BYTES,
	DIR_MATCH_FOLDED,
	DIR_MATCH_NOKEY,
};

/* A name that is looked up, prepared once. */
struct dir_query {
	struct inode *ip;
	enum dir_match match;
	const uint8_t *name; /* the caller's */
	uint32_t len;
	bool dots;            /* "." or "..": plain everywhere, and not in the index */
	bool never;           /* no entry can have this name */
	bool unsure;          /* this build cannot fold: "not there" is not known */
	struct dir_hash hash; /* DIR_MATCH_NOKEY: as the name says */
	/* DIR_MATCH_FOLDED: the folded form; DIR_MATCH_NOKEY: the ciphertext, or its start and the digest of its rest. On the heap. */
	uint8_t *form;
	uint32_t form_len;
	bool has_digest;
	uint8_t *scratch; /* an entry's folded form is made here */
};

int dir_query_init(
	struct dir_query *q, struct inode *ip, const uint8_t *name, uint32_t len) E4_MUST_CHECK;
void dir_query_fini(struct dir_query *q);
bool dir_query_matches(const struct dir_query *q, const struct dir_entry *e);
/* The hash of q's name by an index of this version. */
struct dir_hash dir_query_hash(const struct dir_query *q, uint8_t version);
/* A name as it is hashed: folded in a casefolded directory. fold: DIR_FOLDED_MAX bytes, used there only. */
struct dir_hash dir_hash_in(
	const struct inode *ip, uint8_t version, const uint8_t *name, uint32_t len, uint8_t *fold);
/* Whether this build can tell the hash of any name of ip. */
bool dir_can_hash(const struct inode *ip);

/* --- nokey.c --- */

#define DIR_NOKEY_BYTES_MAX                                                                        \
	149u /* of the ciphertext that a no-key name shows; a digest of the rest follows */

/* Decodes a no-key name into at most 189 bytes behind the two hash words; false when it is none. */
bool dir_nokey_decode(const char *name, uint32_t len, struct dir_hash *ret_hash, uint8_t *ret_form,
	uint32_t *ret_len, bool *ret_digest);
bool dir_nokey_matches(const uint8_t *form, uint32_t form_len, bool has_digest,
	const uint8_t *cipher, uint32_t len);

/* --- linear.c, inline.c: look-ups --- */

/* In one chain: 1 and *ret, 0, -EUCLEAN. */
int dir_search_area(
	const struct dir_query *q, const struct dir_area *a, struct dir_entry *ret) E4_MUST_CHECK;
/* Blocks [0, count): 1, 0, or the first error met when the name is nowhere else. */
int dir_search_blocks(const struct dir_query *q, uint64_t count, inum_t *ret_ino,
	uint8_t *ret_type) E4_MUST_CHECK;
int dir_search_inline(const struct dir_query *q, inum_t *ret_ino, uint8_t *ret_type) E4_MUST_CHECK;

/* Inline directories: part 0 is in i_block, part 1 in the attribute; *ret_buf is held, or NULL. */
int dir_inline_area(
	struct inode *ip, uint32_t part, struct dir_area *ret, struct buf **ret_buf) E4_MUST_CHECK;
inum_t dir_inline_parent(const struct inode *ip);

/* --- htree.c --- */

/* One level of a path from the root to a leaf. */
struct htree_frame {
	struct buf *buf;
	lblk_t lblk;
	uint32_t entries_offset;
	uint32_t count, at; /* entries, and the one that was followed */
};

struct htree_path {
	struct inode *ip;
	uint8_t version; /* of the hash, unsigned variants resolved */
	uint32_t depth;  /* index levels; the last one's entry names a leaf */
	struct htree_frame frames[DIR_HTREE_LEVELS];
	uint64_t leaves_left; /* how many more an honest index can name */
};

/* Reads and checks the root; path->version is known then. On an error nothing is held. */
int htree_open(struct inode *ip, struct htree_path *path) E4_MUST_CHECK;
/* Goes down to the leaf that holds `hash`. */
int htree_probe(struct htree_path *path, uint32_t hash) E4_MUST_CHECK;
/* The leaf that the path leads to, read and held. */
int htree_leaf(struct htree_path *path, struct buf **ret) E4_MUST_CHECK;
/* The hash that stands in the index for the next leaf (bit 0: the previous leaf's last hash goes on in it); false at the end. */
bool htree_next_hash(const struct htree_path *path, uint32_t *ret);
/* Moves to the next leaf, which htree_next_hash() said is there. */
int htree_advance(struct htree_path *path) E4_MUST_CHECK;
void htree_close(struct htree_path *path);
int dir_search_htree(const struct dir_query *q, inum_t *ret_ino, uint8_t *ret_type) E4_MUST_CHECK;

/* --- iterate.c, iterate_hash.c, iterate_offset.c: listing --- */

enum iter_mode {
	ITER_INDEX,  /* by hash, leaf range by leaf range */
	ITER_ONCE,   /* by hash, all at once: one block, or inline */
	ITER_OFFSET, /* by byte offset */
};

/* An entry of the batch, in the order of the listing. */
struct iter_record {
	uint32_t hash, minor;
	uint32_t at; /* in the arena */
};

/* By hash. The batch holds all entries from start_hash on, up to the next leaf that begins a new hash. */
struct iter_batch {
	struct iter_record *records;
	uint32_t size, count, at;
	uint32_t equal_from; /* the first record with the hash of record `at` */
	uint32_t start_hash;
	uint64_t start; /* cookie to begin at within the batch */
	uint32_t next_hash;
	bool last;            /* no batch follows */
	uint64_t leaves_left; /* since the last seek; bounds the work on a looping index */
};

/* By offset. The arena holds one block, or an inline directory as three chains: dots, part 0, part 1. */
struct iter_chain {
	struct dir_area area;
	uint64_t pos;    /* position of the area's first byte */
	uint32_t base;   /* where the area is in the arena */
	uint32_t offset; /* next entry to look at, in the area */
	uint64_t start;  /* positions before are passed over (after a seek) */
	uint32_t current;
	bool found; /* an entry stands at `current`, in the area */
	bool hole_told;
};

#define ITER_COOKIE_EOF 0x7FFFFFFFFFFFFFFFull /* by hash */
#define ITER_COOKIE_EQUAL                                                                          \
	0x8000000000000000ull /* the low half counts entries of one hash: see iterate_hash.c */
#define ITER_DOTS_SIZE 24u    /* "." and ".." as two entries */

struct dir_iter {
	struct inode *ip; /* borrowed */
	enum iter_mode mode;
	uint8_t version; /* of the hash */
	uint64_t tell;   /* position of the next entry */
	int pending;     /* an error met while looking ahead; told by the next call */
	uint8_t *fold;   /* DIR_FOLDED_MAX bytes in a casefolded directory */
	/* Copies of the blocks (or inline parts) being listed, so that no buf is held between calls. */
	uint8_t *arena;
	uint32_t arena_size, arena_used;
	bool loaded; /* the batch, or the chain */
	struct iter_batch batch;
	struct iter_chain chain;
};

/* Copies len bytes to the end of the arena; *ret is where they are. */
int iter_arena_add(struct dir_iter *it, const void *data, uint32_t len, uint32_t *ret) E4_MUST_CHECK;
/* "." and ".." as ITER_DOTS_SIZE bytes of entries. */
int iter_arena_add_dots(struct dir_iter *it, inum_t self, inum_t parent, uint32_t *ret) E4_MUST_CHECK;
/* Part 0 or 1 of an inline directory; its area, reading from the arena. */
int iter_arena_add_inline(
	struct dir_iter *it, uint32_t part, struct dir_area *ret, uint32_t *ret_base) E4_MUST_CHECK;

/* The next entry, without moving: 1, 0 at the end, negative errno. */
struct iter_spot {
	uint64_t cookie;
	uint32_t at;          /* in the arena */
	struct dir_hash hash; /* zeros by offset */
};
int iter_hash_peek(struct dir_iter *it, struct iter_spot *ret) E4_MUST_CHECK;
void iter_hash_step(struct dir_iter *it);
void iter_hash_seek(struct dir_iter *it, uint64_t cookie);
/* Where to begin again after an error in what follows the last entry. */
uint64_t iter_hash_resume(const struct dir_iter *it);
int iter_offset_peek(struct dir_iter *it, struct iter_spot *ret) E4_MUST_CHECK;
void iter_offset_step(struct dir_iter *it);
void iter_offset_seek(struct dir_iter *it, uint64_t cookie);
uint64_t iter_offset_resume(const struct dir_iter *it);
uint64_t iter_offset_end(const struct dir_iter *it);

#endif
