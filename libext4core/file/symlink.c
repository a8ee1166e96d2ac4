/*
 * symlink.c - where a link leads: in the inode, in inline data, in a block, or behind a key that we do not have.
 *
 * Locks:   none.
 * Always:  a target has 1 to block size - 1 bytes, none of them NUL; what is stored otherwise is corrupt.
 */
#include "base/math.h"
#include "dir/dir.h"
#include "file/file_impl.h"

#include <errno.h>
#include <string.h>

#define NOKEY_NAME_SIZE 256u
#define CIPHER_HEAD     2u  /* le16: bytes of ciphertext that follow */
#define CIPHER_LEN_MIN  16u /* one block of the cipher */

/* All i_size bytes as stored. A target in the inode needs room for its NUL. */
static int read_stored(struct inode *ip, uint8_t *buf, uint32_t len)
{
	if (!inode_is_fast_symlink(ip))
		return file_read_raw(ip, buf, len, 0);
	if (len >= INODE_BLOCK_BYTES)
		return fail(ip->vol->env, E4_WHY_SYMLINK_FAST_SIZE, .ino = ip->ino, .found = len,
			.expected = INODE_BLOCK_BYTES - 1);
	memcpy(buf, ip->block, len);
	return 0;
}

static int64_t plain_target(
	struct inode *ip, const uint8_t *stored, uint32_t len, char *buf, uint64_t size)
{
	const uint8_t *nul = memchr(stored, 0, len);

	if (nul != NULL)
		return fail(ip->vol->env, E4_WHY_SYMLINK_NUL, .ino = ip->ino,
			.found = (uint64_t)(nul - stored), .expected = len);
	if (size > 0)
		memcpy(buf, stored, (size_t)min_u64(size, len));
	return len;
}

/* Without the key there is a name made from the ciphertext; its hash words are 0, as a target stands in no directory. */
static int64_t nokey_target(
	struct inode *ip, const uint8_t *stored, uint32_t len, char *buf, uint64_t size)
{
	static const struct dir_hash no_hash;
	char name[NOKEY_NAME_SIZE];
	uint32_t cipher_len = len > CIPHER_HEAD ? le16_at(stored) : 0;

	if (cipher_len < CIPHER_LEN_MIN || cipher_len > len - CIPHER_HEAD)
		return fail(ip->vol->env, E4_WHY_SYMLINK_CIPHER, .ino = ip->ino,
			.found = cipher_len, .expected = len);
	uint32_t name_len = dir_nokey_name(&no_hash, stored + CIPHER_HEAD, cipher_len, name);
	if (size > 0)
		memcpy(buf, name, (size_t)min_u64(size, name_len));
	return name_len;
}

int64_t file_readlink(struct inode *ip, char *buf, uint64_t size)
{
	struct env *env = ip->vol->env;

	if (!inode_is(ip, INODE_LNK))
		return fail(env, E4_WHY_SYMLINK_KIND, .ino = ip->ino, .found = ip->mode);
	if (ip->size == 0 || ip->size >= ip->vol->block_size)
		return fail(env, E4_WHY_SYMLINK_SIZE, .ino = ip->ino, .found = ip->size,
			.expected = ip->vol->block_size - 1);
	uint32_t len = (uint32_t)ip->size;
	uint8_t *stored = mem_zalloc(env, len);
	if (stored == NULL)
		return -ENOMEM;
	int64_t r = read_stored(ip, stored, len);
	if (r == 0 && (ip->flags & INODE_FL_ENCRYPT))
		r = nokey_target(ip, stored, len, buf, size);
	else if (r == 0)
		r = plain_target(ip, stored, len, buf, size);
	mem_free(env, stored, len);
	return r;
}
