/*
 * store.c - what recovery computed becomes lasting: in memory for a reader, or on the device.
 *
 * For good, in this order; a cut anywhere leaves a volume that recovers to the same state:
 *   1. the log's blocks go home, flush;
 *   2. if fast commits or orphans changed anything: the tail moves to (head, E), so that the log is empty and fast commits of E still
 *      count; all changed blocks are committed to the log as transaction E, which ends these fast commits; then they go home, flush;
 *   3. the log is declared empty; 4. the superblock loses RECOVER.
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  RECOVER is set on the device while the log holds anything that counts.
 * Uses:    journal, blockdev.
 */
#include "base/math.h"
#include "base/mem.h"
#include "format/csum.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

#define HOME_BYTES (1u << 20) /* largest write of blocks going home */

/* r->super onto dev, with or without RECOVER; flags as for a write. */
int store_super(struct recovery *r, struct e4_blockdev *dev, bool recover, uint32_t flags)
{
	struct disk_super *s = &r->super;
	uint32_t incompat = le32_get(s->feature_incompat);

	incompat = recover ? incompat | FEATURE_INCOMPAT_RECOVER
			   : incompat & ~(uint32_t)FEATURE_INCOMPAT_RECOVER;
	s->feature_incompat = le32_put(incompat);
	if (disk_super_has_ro_compat(s, FEATURE_RO_COMPAT_METADATA_CSUM))
		s->checksum = le32_put(csum_super(s));
	return blockdev_write(dev, SUPER_OFFSET, s, sizeof(*s), flags);
}

/* --- blocks going home ------------------------------------------------------------------------------------------------- */

/* Neighbours are gathered into large writes. */
struct home {
	struct e4_blockdev *dev;
	struct env *env;
	uint8_t *staged;
	uint64_t offset;
	uint32_t len;
};

static int home_write(struct home *h)
{
	int err = h->len == 0 ? 0 : blockdev_write(h->dev, h->offset, h->staged, h->len, 0);

	h->len = 0;
	return err;
}

static int home_add(void *arg, uint64_t offset, const void *data, uint32_t len)
{
	struct home *h = arg;

	if (h->len > 0 && (h->offset + h->len != offset || h->len + len > HOME_BYTES)) {
		int err = home_write(h);

		if (err != 0)
			return err;
	}
	if (h->len == 0)
		h->offset = offset;
	memcpy(h->staged + h->len, data, len);
	h->len += len;
	return 0;
}

static int home_init(struct recovery *r, struct home *h)
{
	*h = (struct home){.dev = r->rq->dev, .env = r->env};
	h->staged = mem_alloc_aligned(r->env, HOME_BYTES, 4096);
	return h->staged == NULL ? -ENOMEM : 0;
}

/* Writes what is left, frees, flushes. */
static int home_end(struct home *h, int err)
{
	if (err == 0)
		err = home_write(h);
	mem_free(h->env, h->staged, HOME_BYTES);
	return err != 0 ? err : blockdev_flush(h->dev);
}

/* Everything an overlay holds onto the device. */
static int cow_home(struct recovery *r, struct e4_blockdev *cow)
{
	struct home h;
	int err = home_init(r, &h);

	if (err == 0)
		err = blockdev_cow_foreach(cow, home_add, &h);
	return home_end(&h, err);
}

/* --- transaction E ----------------------------------------------------------------------------------------------------- */

struct changes {
	struct recovery *r;
	struct journal_block *blocks;
	uint32_t count, capacity;
	uint8_t *below; /* the block as it was */
	bool only_super;
};

static int add_change(void *arg, uint64_t offset, const void *data, uint32_t len)
{
	struct changes *c = arg;
	int err = blockdev_read(c->r->replayed, offset, c->below, len);

	if (err != 0 || memcmp(c->below, data, len) == 0)
		return err;
	if (c->count == c->capacity) {
		uint32_t capacity = c->capacity == 0 ? 64 : c->capacity * 2;
		struct journal_block *bigger = mem_zalloc_array(c->r->env, capacity, sizeof(*bigger));

		if (bigger == NULL)
			return -ENOMEM;
		if (c->count > 0)
			memcpy(bigger, c->blocks, c->count * sizeof(*bigger));
		mem_free(c->r->env, c->blocks, c->capacity * sizeof(*c->blocks));
		c->blocks = bigger;
		c->capacity = capacity;
	}
	if (offset / len != SUPER_OFFSET / len)
		c->only_super = false;
	c->blocks[c->count++] = (struct journal_block){
		.home = offset / c->r->vol->block_size, .data = data};
	return 0;
}

static int collect_changes(struct recovery *r, struct changes *c)
{
	*c = (struct changes){.r = r, .only_super = true};
	c->below = mem_alloc_aligned(r->env, r->vol->block_size, 4096);
	return c->below == NULL ? -ENOMEM : blockdev_cow_foreach(r->work, add_change, c);
}

static void changes_fini(struct changes *c)
{
	mem_free(c->r->env, c->below, c->r->vol->block_size);
	mem_free(c->r->env, c->blocks, c->capacity * sizeof(*c->blocks));
}

static int changes_home(struct recovery *r, const struct changes *c)
{
	struct home h;
	int err = home_init(r, &h);

	for (uint32_t i = 0; i < c->count && err == 0; i++) {
		/* Without a log the superblock is the last of all. */
		if (r->journal == NULL && c->blocks[i].home == SUPER_OFFSET / r->vol->block_size)
			continue;
		err = home_add(&h, c->blocks[i].home * r->vol->block_size, c->blocks[i].data,
			r->vol->block_size);
	}
	return home_end(&h, err);
}

/* Without RECOVER a log is ignored: set it before anything is committed. */
static int ensure_recover_flag(struct recovery *r)
{
	struct disk_super s;
	int err = blockdev_read(r->rq->dev, SUPER_OFFSET, &s, sizeof(s));

	if (err != 0 || disk_super_has_incompat(&s, FEATURE_INCOMPAT_RECOVER))
		return err;
	s.feature_incompat = le32_put(le32_get(s.feature_incompat) | FEATURE_INCOMPAT_RECOVER);
	if (disk_super_has_ro_compat(&s, FEATURE_RO_COMPAT_METADATA_CSUM))
		s.checksum = le32_put(csum_super(&s));
	return blockdev_write(
		r->rq->dev, SUPER_OFFSET, &s, sizeof(s), E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA);
}

static int commit_changes(struct recovery *r, const struct changes *c)
{
	if (c->count > journal_capacity(r->journal))
		return fail(r->env, E4_WHY_RECOVER_FULL, .found = c->count,
			.expected = journal_capacity(r->journal));
	int err = ensure_recover_flag(r);

	if (err == 0)
		err = journal_set_tail(r->journal, r->log.head, r->log.next_tid);
	if (err == 0)
		err = journal_append(r->journal, &r->log.head, r->log.next_tid, c->blocks, c->count);
	if (err != 0)
		return err;
	r->log.next_tid++;
	return changes_home(r, c);
}

/* Nothing can be repeated after a cut, so the volume says meanwhile that it was not left clean, and a checker will look at it. */
static int store_without_log(struct recovery *r, const struct changes *c)
{
	struct disk_super s;
	int err = blockdev_read(r->rq->dev, SUPER_OFFSET, &s, sizeof(s));

	if (err != 0)
		return err;
	s.state = le16_put((uint16_t)(le16_get(s.state) & ~(unsigned)SUPER_STATE_VALID));
	if (disk_super_has_ro_compat(&s, FEATURE_RO_COMPAT_METADATA_CSUM))
		s.checksum = le32_put(csum_super(&s));
	err = blockdev_write(
		r->rq->dev, SUPER_OFFSET, &s, sizeof(s), E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA);
	return err != 0 ? err : changes_home(r, c);
}

/* Everything is home and flushed: nothing in the log counts any more. */
static int empty_log(struct recovery *r)
{
	if (r->journal == NULL)
		return 0;
	const struct disk_jbd2_super *js = journal_super(r->journal);

	if (journal_is_empty(r->journal) && be32_get(js->error) == 0)
		return 0;
	/* A clean log keeps its numbers: the next tid is one beyond the stored one. */
	tid_t last = journal_is_empty(r->journal) ? be32_get(js->sequence) - 1 : r->log.next_tid - 1;

	return journal_set_empty(r->journal, last, r->log.head, 0);
}

/* The device as it ends: r->super without RECOVER, if that is not how it is already. */
static int final_super(struct recovery *r)
{
	struct disk_super s;
	int err = blockdev_read(r->rq->dev, SUPER_OFFSET, &s, sizeof(s));
	uint32_t incompat = le32_get(r->super.feature_incompat) &
			    ~(uint32_t)FEATURE_INCOMPAT_RECOVER;

	if (err != 0)
		return err;
	r->super.feature_incompat = le32_put(incompat);
	if (disk_super_has_ro_compat(&r->super, FEATURE_RO_COMPAT_METADATA_CSUM))
		r->super.checksum = le32_put(csum_super(&r->super));
	if (memcmp(&s, &r->super, sizeof(s)) == 0)
		return 0;
	return store_super(r, r->rq->dev, false, E4_BLOCKDEV_PREFLUSH | E4_BLOCKDEV_FUA);
}

int store_for_good(struct recovery *r)
{
	struct changes c;
	int err = collect_changes(r, &c);

	/* What cannot be finished is refused before the first write. */
	if (err == 0 && !c.only_super && r->journal != NULL && c.count > journal_capacity(r->journal))
		err = commit_changes(r, &c);
	if (err == 0 && r->log.blocks > 0)
		err = cow_home(r, r->replayed);
	if (err == 0 && !c.only_super)
		err = r->journal != NULL ? commit_changes(r, &c) : store_without_log(r, &c);
	changes_fini(&c);
	if (err != 0)
		return err;
	r->idle = c.only_super;
	if (r->more)
		return journal_set_tail(r->journal, r->log.head, r->log.next_tid);
	err = empty_log(r);
	return err != 0 ? err : final_super(r);
}

/* --- in memory ---------------------------------------------------------------------------------------------------------- */

static int copy_block(void *arg, uint64_t offset, const void *data, uint32_t len)
{
	return blockdev_write(arg, offset, data, len, 0);
}

/* Both overlays become one: `replayed`. */
int store_in_memory(struct recovery *r)
{
	int err = blockdev_cow_foreach(r->work, copy_block, r->replayed);

	return err != 0 ? err : store_super(r, r->replayed, false, 0);
}
