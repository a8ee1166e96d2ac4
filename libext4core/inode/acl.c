/*
 * acl.c - POSIX ACLs from the form on disk (version 1, short entries) to that of the system calls (version 2).
 *
 * Owns:    nothing.
 * Locks:   none.
 * Always:  the output's length is known from the input's before anything is written.
 * Uses:    xattr.c for the stored value.
 */
#include "base/assert.h"
#include "base/math.h"
#include "inode/inode_impl.h"

#include <errno.h>
#include <string.h>

#define HEADER_SIZE 4u
#define SHORT_SIZE  4u
#define LONG_SIZE   8u /* also of every entry in version 2 */
#define SHORT_MAX   4u /* entries without an id that an ACL can have */
#define ID_NONE     0xFFFFFFFFu

/* Entries in `len` bytes behind the header, by the lengths alone; -1 when no mix of entries has this length. */
static int64_t count_entries(uint32_t len)
{
	uint32_t shorts = min_u32(len, SHORT_MAX * SHORT_SIZE);
	uint32_t rest = len - shorts;

	if (shorts % SHORT_SIZE != 0 || rest % LONG_SIZE != 0)
		return -1;
	return (int64_t)(shorts / SHORT_SIZE) + rest / LONG_SIZE;
}

/* Bytes that the entry with this tag takes on disk; 0 = no such tag. */
static uint32_t entry_size(uint16_t tag)
{
	switch (tag) {
	case ACL_USER_OBJ:
	case ACL_GROUP_OBJ:
	case ACL_MASK:
	case ACL_OTHER:
		return SHORT_SIZE;
	case ACL_USER:
	case ACL_GROUP:
		return LONG_SIZE;
	default:
		return 0;
	}
}

/* `count` entries that must take exactly `len` bytes; out NULL = only check. False when they do not. */
static bool convert_entries(const uint8_t *disk, uint32_t len, int64_t count, uint8_t *out)
{
	uint32_t at = 0;

	for (int64_t i = 0; i < count; i++) {
		uint32_t id = ID_NONE;

		if (len - at < SHORT_SIZE)
			return false;
		uint32_t size = entry_size(le16_at(disk + at));
		if (size == 0 || len - at < size)
			return false;
		if (size == LONG_SIZE)
			id = le32_at(disk + at + SHORT_SIZE);
		if (out != NULL) {
			struct le32 le_id = le32_put(id);

			memcpy(out + i * LONG_SIZE, disk + at, SHORT_SIZE); /* tag and permissions */
			memcpy(out + i * LONG_SIZE + SHORT_SIZE, &le_id, sizeof(le_id));
		}
		at += size;
	}
	return at == len;
}

static int64_t acl_convert(
	const struct inode *ip, const uint8_t *disk, uint32_t len, uint8_t *out, uint64_t size)
{
	int64_t count = -1;
	struct le32 version = le32_put(ACL_VERSION_API);

	if (len >= HEADER_SIZE && le32_at(disk) == ACL_VERSION_DISK)
		count = count_entries(len - HEADER_SIZE);
	if (count < 0 || !convert_entries(disk + HEADER_SIZE, len - HEADER_SIZE, count, NULL))
		return fail(ip->vol->env, E4_WHY_ACL_MALFORMED, .ino = ip->ino, .found = len);
	if (count == 0)
		return -ENODATA;
	int64_t need = HEADER_SIZE + count * LONG_SIZE;
	if (size == 0)
		return need;
	if (size < (uint64_t)need)
		return -ERANGE;
	memcpy(out, &version, sizeof(version));
	bool ok = convert_entries(disk + HEADER_SIZE, len - HEADER_SIZE, count, out + HEADER_SIZE);
	E4_ASSERT(ok);
	return need;
}

/* The same for a value in an inode of its own. */
static int64_t convert_external(
	struct inode *ip, const struct xattr_value *v, uint8_t *out, uint64_t size)
{
	struct env *env = ip->vol->env;
	uint8_t *copy = mem_zalloc(env, v->size);

	if (copy == NULL)
		return fail(env, E4_WHY_ACL_MEMORY, .ino = ip->ino, .found = v->size);
	int64_t r = xattr_read_value(ip, v, copy);
	if (r >= 0)
		r = acl_convert(ip, copy, v->size, out, size);
	mem_free(env, copy, v->size);
	return r;
}

int64_t acl_get(struct inode *ip, uint8_t index, void *buf, uint64_t size)
{
	struct xattr_value v;

	if (inode_is(ip, INODE_LNK))
		return -EOPNOTSUPP;
	int64_t r = xattr_find(ip, index, "", 0, &v);
	if (r < 0)
		return r;
	if (r == 0)
		return -ENODATA;
	if (v.size == 0)
		r = -ENODATA;
	else if (v.value_ino != 0)
		r = convert_external(ip, &v, buf, size);
	else
		r = acl_convert(ip, v.data, v.size, buf, size);
	buf_put(v.buf);
	return r;
}
