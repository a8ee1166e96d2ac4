/*
 * tx.c - the exclusive handle of recovery: blocks that it changes, until they are written into the overlay.
 *
 * Owns:    recovery->dirty.
 * Locks:   none; nobody else is in.
 * Always:  a joined buf stays where it is, so pointers into it hold until tx_write() or tx_drop().
 * Uses:    buf.
 */
#include "recover/recover_impl.h"

static void join(struct recovery *r, struct buf *b)
{
	if (!b->joined)
		r->dirty_count++;
	buf_join(b, &r->dirty);
	buf_put(b); /* joining holds it */
}

/* The block, verified as `kind`, to be changed. */
int tx_get(struct recovery *r, pblk_t pblk, const struct buf_kind *kind, inum_t ino, uint32_t seed,
	struct buf **ret)
{
	int err = buf_get(r->vol->bufs, pblk, kind, ino, seed, ret);

	if (err == 0)
		join(r, *ret);
	return err;
}

/* A block that was free, zeroed. */
int tx_get_zeroed(struct recovery *r, pblk_t pblk, const struct buf_kind *kind, inum_t ino,
	uint32_t seed, struct buf **ret)
{
	int err = buf_get_zeroed(r->vol->bufs, pblk, kind, ino, seed, ret);

	if (err == 0)
		join(r, *ret);
	return err;
}

int tx_write(struct recovery *r)
{
	uint32_t bs = r->vol->block_size;
	int err = 0;

	list_for_safe (it, tmp, &r->dirty) {
		struct buf *b = container_of(it, struct buf, dirty);

		buf_seal(b);
		err = blockdev_write(r->work, b->pblk * bs, b->data, bs, 0);
		if (err != 0)
			return err;
		buf_unjoin(b);
	}
	r->dirty_count = 0;
	return 0;
}

void tx_drop(struct recovery *r)
{
	list_for_safe (it, tmp, &r->dirty) {
		buf_unjoin(container_of(it, struct buf, dirty));
	}
	r->dirty_count = 0;
}
