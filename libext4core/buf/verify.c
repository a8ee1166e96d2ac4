/*
 * verify.c - each kind's checks after a read, its checksum before a write.
 *
 * Owns:    kind, seed and ino of a buf: what its bytes were last found good as.
 * Locks:   the shard's lock guards these three; the checks themselves run without it, on bytes that do not change.
 * Always:  nobody gets a buf as a kind, or with a seed, that its bytes were not checked for.
 */
#include "base/assert.h"
#include "buf/buf_impl.h"

#include <errno.h>

const struct buf_kind buf_kind_plain = {.name = "plain"};

static struct buf_owner owner_of(struct buf *b, inum_t ino, uint32_t seed)
{
	const struct buf_cache_config *c = &b->cache->config;

	return (struct buf_owner){.env = c->env,
		.block_size = c->block_size,
		.csum = c->csum,
		.seed = seed,
		.ino = ino,
		.pblk = b->pblk};
}

bool buf_checked_as(const struct buf *b, const struct buf_kind *kind, inum_t ino, uint32_t seed)
{
	if (kind->verify == NULL && kind->csum_ok == NULL)
		return true;
	/* A joined buf is recovery's own work in progress; its checksum is put in when it is sealed. */
	return b->joined || (b->kind == kind && b->seed == seed && b->ino == ino);
}

static void set_checked(struct buf *b, const struct buf_kind *kind, inum_t ino, uint32_t seed)
{
	struct buf_shard *shard = buf_shard_of(b->cache, b->pblk);

	mutex_lock(&shard->lock);
	b->kind = kind;
	b->seed = seed;
	b->ino = ino;
	mutex_unlock(&shard->lock);
}

int buf_verify_as(struct buf *b, const struct buf_kind *kind, inum_t ino, uint32_t seed)
{
	const struct buf_cache_config *c = &b->cache->config;

	struct buf_owner o = owner_of(b, ino, seed);
	if (c->csum && kind->csum_ok != NULL && !kind->csum_ok(&o, b->data)) {
		int r = fail(
			c->env, E4_WHY_BUF_CSUM, .block = b->pblk, .ino = ino, .name = kind->name);

		if (!c->ignore_csum)
			return r;
	}
	if (kind->verify != NULL) {
		int r = kind->verify(&o, b->data);

		if (r < 0)
			return r;
	}
	set_checked(b, kind, ino, seed);
	return 0;
}

void buf_seal(struct buf *b)
{
	E4_ASSERT(b->joined);
	if (b->kind == NULL || b->kind->seal == NULL || !b->cache->config.csum)
		return;
	struct buf_owner o = owner_of(b, b->ino, b->seed);
	b->kind->seal(&o, b->data);
}
