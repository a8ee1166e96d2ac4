/*
 * match.c - a name prepared for a look-up, and whether an entry has it.
 *
 * In a casefolded directory names are equal when their folded forms are; one that does not fold (not UTF-8) is equal to the
 * same bytes only. In an encrypted directory the caller's name is a no-key name.
 *
 * Owns:    the query's form and scratch, on the heap.
 * Locks:   none.
 * Always:  "." and ".." are compared as bytes, in every directory.
 */
#include "dir/dir_impl.h"

#include <errno.h>
#include <string.h>

#define ENCODING_STRICT 0x1u /* s_encoding_flags */

static bool is_dots(const uint8_t *name, uint32_t len)
{
	return (len == 1 || len == 2) && name[0] == '.' && name[len - 1] == '.';
}

static int init_folded(struct dir_query *q)
{
	struct volume *vol = q->ip->vol;

	if (!casefold_available()) {
		q->unsure = true;
		return 0;
	}
	q->form = mem_zalloc_array(vol->env, 2, DIR_FOLDED_MAX);
	if (q->form == NULL)
		return fail(vol->env, E4_WHY_DIR_NOMEM_FOLDED, .ino = q->ip->ino);
	q->scratch = q->form + DIR_FOLDED_MAX;
	int r = casefold(q->name, q->len, q->form, DIR_FOLDED_MAX);
	if (r < 0 && (le16_get(vol->super.encoding_flags) & ENCODING_STRICT) != 0)
		return fail(vol->env, E4_WHY_DIR_NAME_ENCODING, .ino = q->ip->ino);
	if (r >= 0) {
		q->match = DIR_MATCH_FOLDED;
		q->form_len = (uint32_t)r;
	}
	return 0;
}

static int init_nokey(struct dir_query *q)
{
	struct env *env = q->ip->vol->env;

	q->match = DIR_MATCH_NOKEY;
	q->form = mem_zalloc_array(env, 2, DIR_FOLDED_MAX);
	if (q->form == NULL)
		return fail(env, E4_WHY_DIR_NOMEM_NOKEY, .ino = q->ip->ino);
	q->never = !dir_nokey_decode(
		(const char *)q->name, q->len, &q->hash, q->form, &q->form_len, &q->has_digest);
	return 0;
}

int dir_query_init(struct dir_query *q, struct inode *ip, const uint8_t *name, uint32_t len)
{
	int r = 0;

	*q = (struct dir_query){.ip = ip,
		.match = DIR_MATCH_BYTES,
		.name = name,
		.len = len,
		.dots = is_dots(name, len)};
	if (q->dots)
		return 0;
	if ((ip->flags & INODE_FL_ENCRYPT) != 0)
		r = init_nokey(q);
	else if ((ip->flags & INODE_FL_CASEFOLD) != 0)
		r = init_folded(q);
	if (r < 0)
		dir_query_fini(q);
	return r;
}

void dir_query_fini(struct dir_query *q)
{
	mem_free(q->ip->vol->env, q->form, 2 * (size_t)DIR_FOLDED_MAX);
	q->form = NULL;
}

static bool folded_equal(const struct dir_query *q, const struct dir_entry *e)
{
	int n = casefold(e->name, e->name_len, q->scratch, DIR_FOLDED_MAX);

	return n >= 0 && (uint32_t)n == q->form_len && memcmp(q->scratch, q->form, q->form_len) == 0;
}

bool dir_query_matches(const struct dir_query *q, const struct dir_entry *e)
{
	bool same = e->name_len == q->len && memcmp(e->name, q->name, q->len) == 0;

	if (q->dots || dir_entry_is_dots(e))
		return same;
	switch (q->match) {
	case DIR_MATCH_BYTES:
		return same;
	case DIR_MATCH_FOLDED:
		return same || folded_equal(q, e);
	case DIR_MATCH_NOKEY:
		break;
	}
	return dir_nokey_matches(q->form, q->form_len, q->has_digest, e->name, e->name_len);
}

struct dir_hash dir_query_hash(const struct dir_query *q, uint8_t version)
{
	const uint32_t *seed = q->ip->vol->hash_seed;

	switch (q->match) {
	case DIR_MATCH_BYTES:
		return dir_hash_name(version, seed, q->name, q->len);
	case DIR_MATCH_NOKEY:
		/* The digest cannot be hashed, nor can a folded plaintext; the name brings its hash along. */
		if (q->has_digest || version == HASH_SIPHASH)
			return (struct dir_hash){dir_hash_clean(q->hash.hash), q->hash.minor};
		break;
	case DIR_MATCH_FOLDED:
		break;
	}
	return dir_hash_name(version, seed, q->form, q->form_len);
}

struct dir_hash dir_hash_in(
	const struct inode *ip, uint8_t version, const uint8_t *name, uint32_t len, uint8_t *fold)
{
	const uint32_t *seed = ip->vol->hash_seed;

	if ((ip->flags & INODE_FL_CASEFOLD) != 0 && (ip->flags & INODE_FL_ENCRYPT) == 0) {
		int n = casefold(name, len, fold, DIR_FOLDED_MAX);

		if (n >= 0)
			return dir_hash_name(version, seed, fold, (uint32_t)n);
	}
	return dir_hash_name(version, seed, name, len);
}

bool dir_can_hash(const struct inode *ip)
{
	return (ip->flags & INODE_FL_CASEFOLD) == 0 || (ip->flags & INODE_FL_ENCRYPT) != 0 ||
	       casefold_available();
}
