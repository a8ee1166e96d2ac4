/*
 * xattr.c - finding, listing and reading extended attributes.
 *
 * Owns:    nothing.
 * Locks:   none; what is found stays valid while its buf is held.
 * Always:  the inode itself is searched before its block, and an area is checked as a whole before anything in it is believed.
 * Uses:    buf; EA inodes through the cache, and the reader that `file` hands in for their contents.
 */
#include "base/assert.h"
#include "base/crc32c.h"
#include "inode/inode_impl.h"

#include <errno.h>
#include <string.h>

/* Names that the kernel serves; the other indexes (lustre, richacl, inline data, encryption, verity) have none. */
static const struct name_row {
	const char *text;
	uint8_t index;
	bool whole; /* not a prefix */
} name_rows[] = {
	{"user.", XATTR_INDEX_USER, false},
	{"system.posix_acl_access", XATTR_INDEX_ACL_ACCESS, true},
	{"system.posix_acl_default", XATTR_INDEX_ACL_DEFAULT, true},
	{"trusted.", XATTR_INDEX_TRUSTED, false},
	{"security.", XATTR_INDEX_SECURITY, false},
	{"gnu.", XATTR_INDEX_HURD, false},
};
#define NAME_ROWS (sizeof(name_rows) / sizeof(name_rows[0]))

enum place {
	PLACE_INODE,
	PLACE_BLOCK,
	PLACE_COUNT,
};

/* Opens one of the inode's areas: 1 with *ret_buf held, 0 when it has none there. */
static int area_open(struct inode *ip, enum place place, struct xattr_area *ret, struct buf **ret_buf)
{
	struct volume *vol = ip->vol;
	const uint8_t *raw;
	struct buf *b;
	int r;

	if (place == PLACE_INODE) {
		if (!ip->in_inode_xattrs)
			return 0;
		r = inode_raw(vol, ip->ino, &b, &raw);
		if (r < 0)
			return r;
		r = xattr_area_in_inode(vol, ip->ino, raw, ret);
	} else {
		if (ip->file_acl == 0)
			return 0;
		r = buf_get(vol->bufs, ip->file_acl, &buf_kind_xattr, ip->ino, vol->csum_seed, &b);
		if (r < 0)
			return r;
		r = xattr_area_in_block(vol, ip->ino, b, ret);
		if (r == 0)
			r = 1;
	}
	if (r > 0)
		*ret_buf = b;
	else
		buf_put(b);
	return r;
}

static int find_in(
	struct inode *ip, enum place place, const struct xattr_value *want, struct xattr_value *ret)
{
	struct xattr_area area;
	struct xattr_value v;
	struct buf *b;
	int r = area_open(ip, place, &area, &b);

	if (r <= 0)
		return r;
	const uint8_t *at = area.first;
	while ((r = xattr_area_next(&area, &at, &v)) > 0) {
		if (v.index == want->index && v.name_len == want->name_len &&
			memcmp(v.name, want->name, v.name_len) == 0) {
			*ret = v;
			ret->buf = b;
			return 1;
		}
	}
	buf_put(b);
	return r;
}

int xattr_find_in_inode(struct inode *ip, uint8_t index, const char *suffix, uint32_t suffix_len,
	struct xattr_value *ret)
{
	struct xattr_value want = {
		.index = index,
		.name = (const uint8_t *)suffix,
		.name_len = (uint8_t)suffix_len,
	};

	if (suffix_len > XATTR_NAME_MAX)
		return 0;
	return find_in(ip, PLACE_INODE, &want, ret);
}

int xattr_find(struct inode *ip, uint8_t index, const char *suffix, uint32_t suffix_len,
	struct xattr_value *ret)
{
	struct xattr_value want = {
		.index = index,
		.name = (const uint8_t *)suffix,
		.name_len = (uint8_t)suffix_len,
	};
	int r = xattr_find_in_inode(ip, index, suffix, suffix_len, ret);

	if (r != 0 || suffix_len > XATTR_NAME_MAX)
		return r;
	return find_in(ip, PLACE_BLOCK, &want, ret);
}

int xattr_foreach(struct inode *ip, int (*fn)(void *arg, const struct xattr_value *v), void *arg)
{
	for (enum place place = PLACE_INODE; place < PLACE_COUNT; place++) {
		struct xattr_area area;
		struct xattr_value v;
		struct buf *b;
		int r = area_open(ip, place, &area, &b);

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		const uint8_t *at = area.first;
		while ((r = xattr_area_next(&area, &at, &v)) > 0) {
			v.buf = b;
			r = fn(arg, &v);
			if (r != 0)
				break;
		}
		buf_put(b);
		if (r != 0)
			return r;
	}
	return 0;
}

/* --- values in inodes of their own --- */

/* format/xattr.md "Hashes"; old writers took name bytes as signed. */
static uint32_t entry_hash(const struct xattr_value *v, uint32_t value_hash, bool name_signed)
{
	uint32_t h = 0;

	for (uint32_t i = 0; i < v->name_len; i++) {
		uint32_t c = name_signed ? (uint32_t)(int8_t)v->name[i] : v->name[i];

		h = (h << 5 | h >> 27) ^ c;
	}
	return (h << 16 | h >> 16) ^ value_hash;
}

/* Lustre's first EA inodes name their owner instead of keeping hashes. */
static bool is_owned_by(const struct inode *ea, const struct inode *ip)
{
	return (uint32_t)ea->mtime.sec == ip->ino && ea->generation == ip->generation;
}

static int check_hashes(const struct inode *ip, const struct inode *ea, const struct xattr_value *v,
	const void *buf)
{
	struct env *env = ip->vol->env;
	uint32_t stored = (uint32_t)ea->atime.sec;
	uint32_t hash;

	if (v->hash != stored && is_owned_by(ea, ip))
		return 0;
	hash = crc32c(ip->vol->csum_seed, buf, v->size);
	if (hash != stored)
		return fail(env, E4_WHY_XATTR_EA_VALUE_HASH, .ino = ea->ino, .found = stored,
			.expected = hash);
	if (v->hash != entry_hash(v, hash, false) && v->hash != entry_hash(v, hash, true))
		return fail(env, E4_WHY_XATTR_EA_ENTRY_HASH, .ino = ip->ino, .found = v->hash,
			.expected = entry_hash(v, hash, false));
	return 0;
}

static int read_external(struct inode *ip, const struct xattr_value *v, void *buf)
{
	struct env *env = ip->vol->env;
	xattr_read_inode_fn reader = ip->cache != NULL ? inode_cache_reader(ip->cache) : NULL;
	struct inode *ea;

	if (reader == NULL)
		return fail(env, E4_WHY_XATTR_EA_NO_READER, .ino = ip->ino, .found = v->value_ino);
	if (v->value_ino == ip->ino)
		return fail(env, E4_WHY_XATTR_EA_SELF, .ino = ip->ino);
	int r = inode_get_for(ip->cache, v->value_ino, INODE_FOR_EA, &ea);
	if (r < 0)
		return r;
	if (ea->size != v->size)
		r = fail(env, E4_WHY_XATTR_EA_SIZE, .ino = ea->ino, .found = ea->size,
			.expected = v->size);
	else
		r = reader(ea, buf, v->size);
	if (r >= 0)
		r = check_hashes(ip, ea, v, buf);
	inode_put(ea, 1);
	return r;
}

int xattr_read_value(struct inode *ip, const struct xattr_value *v, void *buf)
{
	if (v->value_ino != 0)
		return read_external(ip, v, buf);
	if (v->size != 0)
		memcpy(buf, v->data, v->size);
	return 0;
}

/* --- as the system calls show them --- */

/* The row of a full name and where its suffix begins; -EOPNOTSUPP, -EINVAL as the kernel answers. */
static int resolve(const char *name, const struct name_row **ret_row, const char **ret_suffix)
{
	for (size_t i = 0; i < NAME_ROWS; i++) {
		const struct name_row *row = &name_rows[i];
		size_t len = strlen(row->text);

		if (strncmp(name, row->text, len) != 0 || (row->whole && name[len] != '\0'))
			continue;
		if (!row->whole && name[len] == '\0')
			return -EINVAL;
		*ret_row = row;
		*ret_suffix = name + len;
		return 0;
	}
	return -EOPNOTSUPP;
}

int64_t xattr_get(struct inode *ip, const char *name, void *buf, uint64_t size)
{
	const struct name_row *row;
	const char *suffix;
	struct xattr_value v;
	size_t len = strlen(name);

	if (len == 0 || len > XATTR_NAME_MAX)
		return -ERANGE;
	/* Whatever is stored, user attributes exist on files and directories only. */
	if (strncmp(name, "user.", 5) == 0 && !inode_is(ip, INODE_REG) && !inode_is(ip, INODE_DIR))
		return -ENODATA;
	int r = resolve(name, &row, &suffix);
	if (r < 0)
		return r;
	if (row->whole)
		return acl_get(ip, row->index, buf, size);
	r = xattr_find(ip, row->index, suffix, (uint32_t)strlen(suffix), &v);
	if (r < 0)
		return r;
	if (r == 0)
		return -ENODATA;
	if (size != 0)
		r = size < v.size ? -ERANGE : xattr_read_value(ip, &v, buf);
	buf_put(v.buf);
	return r < 0 ? r : (int64_t)v.size;
}

struct list_state {
	char *buf;
	uint64_t size, used;
};

static int list_one(void *arg, const struct xattr_value *v)
{
	struct list_state *s = arg;

	for (size_t i = 0; i < NAME_ROWS; i++) {
		const struct name_row *row = &name_rows[i];
		size_t prefix_len = strlen(row->text);
		size_t need = prefix_len + v->name_len + 1;

		if (row->index != v->index)
			continue;
		if (s->size != 0) {
			if (need > s->size - s->used)
				return -ERANGE;
			memcpy(s->buf + s->used, row->text, prefix_len);
			memcpy(s->buf + s->used + prefix_len, v->name, v->name_len);
			s->buf[s->used + need - 1] = '\0';
		}
		s->used += need;
	}
	return 0;
}

int64_t xattr_list(struct inode *ip, char *buf, uint64_t size)
{
	struct list_state s = {.size = size};
	int r;

	s.buf = buf;
	r = xattr_foreach(ip, list_one, &s);
	return r < 0 ? r : (int64_t)s.used;
}
