/*
 * journal_impl.h - what the files of the journal room share.
 */
#ifndef JOURNAL_JOURNAL_IMPL_H
#define JOURNAL_JOURNAL_IMPL_H

#include "journal/journal.h"

#define JOURNAL_WINDOW_BYTES (1u << 20) /* largest read, and largest write, of the log */
#define JOURNAL_JUMP_BYTES                                                                         \
	(1u << 16) /* read after a jump, where little of what follows may be wanted */

enum journal_csum {
	JOURNAL_CSUM_NONE = 0,
	JOURNAL_CSUM_V1 = 1, /* in the commit block only */
	JOURNAL_CSUM_V2 = 2,
	JOURNAL_CSUM_V3 = 3,
};

struct revoke_slot {
	uint32_t lo, hi_used; /* block number; bit 31 of hi_used: the slot is taken */
	tid_t tid;
};

/* The newest tid that revoked each block. Open addressing, a power of two slots. */
struct revoke_table {
	struct revoke_slot *slots;
	uint64_t slot_count, used;
	uint64_t salt;
};

struct journal {
	struct env *env;
	struct journal_config cfg;
	struct journal_run_map *runs; /* own copy, by log block */
	struct journal_run_map *by_pblk; /* the same by place on the volume; NULL for an external log */
	struct disk_jbd2_super super; /* as on the device */
	uint32_t super_lblk;
	uint32_t block_size;
	uint32_t total;               /* log blocks the runs cover */
	uint32_t maxlen, first, last; /* the ring is [first, last) */
	uint32_t compat, incompat;
	enum journal_csum csum;
	uint32_t seed; /* of v2 and v3 checksums */
	uint32_t tag_bytes;
	uint8_t *window; /* JOURNAL_WINDOW_BYTES (or one block): [window_lblk, + window_count) */
	uint32_t window_lblk, window_count, window_max;
	struct revoke_table revokes;
};

/* One tag of a descriptor block. */
struct journal_tag {
	uint64_t home;
	uint32_t flags;
	uint32_t csum;
};

/* Where a walk over transactions stands. */
struct journal_walk {
	uint32_t lblk;   /* next block to read */
	tid_t tid;       /* the transaction it must belong to */
	uint64_t budget; /* blocks of the ring not yet passed */
};

/* super.c */
bool journal_has_block_csum(const struct journal *j);
int journal_super_store(struct journal *j) E4_MUST_CHECK;

/* log.c */
int journal_log_init(struct journal *j) E4_MUST_CHECK;
void journal_log_fini(struct journal *j);
int journal_log_read(struct journal *j, uint32_t lblk, uint32_t count, void *buf) E4_MUST_CHECK;
int journal_log_write(struct journal *j, uint32_t lblk, uint32_t count, const void *buf,
	uint32_t flags) E4_MUST_CHECK;
/* One block through the read-ahead window; valid until the next call. */
int journal_log_block(struct journal *j, uint32_t lblk, const uint8_t **ret) E4_MUST_CHECK;
void journal_log_forget(struct journal *j);
uint32_t journal_log_advance(const struct journal *j, uint32_t lblk, uint32_t count);
bool journal_log_holds(const struct journal *j, uint64_t pblk);

/* scan.c */
bool journal_block_csum_ok(const struct journal *j, const uint8_t *block);
/* 1 and a tag, 0 behind the last. *offset starts at sizeof(struct disk_jbd2_header). */
int journal_tag_next(const struct journal *j, const uint8_t *block, uint32_t *offset, bool *last,
	struct journal_tag *ret);
uint32_t journal_tag_count(const struct journal *j, const uint8_t *block);
void journal_walk_start(const struct journal *j, struct journal_walk *w);
/* The type of the next block of transaction w->tid and its bytes, passed; 0 where the log ends. */
int journal_walk_next(struct journal *j, struct journal_walk *w, const uint8_t **ret) E4_MUST_CHECK;
/* Passes the data blocks behind a descriptor. */
int journal_walk_skip(struct journal *j, struct journal_walk *w, uint32_t count) E4_MUST_CHECK;
int journal_pass_scan(struct journal *j, struct journal_recovery *r) E4_MUST_CHECK;

/* revoke.c */
int revoke_add(struct journal *j, uint64_t block, tid_t tid) E4_MUST_CHECK;
/* Whether an image of `block` logged by `tid` is overruled. */
bool revoke_covers(const struct journal *j, uint64_t block, tid_t tid);
void revoke_fini(struct journal *j);
int journal_pass_revoke(struct journal *j, tid_t end) E4_MUST_CHECK;

/* replay.c */
int journal_pass_replay(struct journal *j, struct journal_recovery *r) E4_MUST_CHECK;

#endif
