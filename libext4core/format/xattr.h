/* xattr.h - extended attributes on disk (format/xattr.md). */
#ifndef FORMAT_XATTR_H
#define FORMAT_XATTR_H

#include "base/le.h"
#include "base/types.h"

#define XATTR_MAGIC          0xEA020000u
#define XATTR_REFCOUNT_MAX   1024u
#define XATTR_VALUE_SIZE_MAX (1u << 24)
#define XATTR_NAME_MAX       255u

enum xattr_index {
	XATTR_INDEX_NONE = 0,
	XATTR_INDEX_USER = 1,
	XATTR_INDEX_ACL_ACCESS = 2,
	XATTR_INDEX_ACL_DEFAULT = 3,
	XATTR_INDEX_TRUSTED = 4,
	XATTR_INDEX_LUSTRE = 5,
	XATTR_INDEX_SECURITY = 6,
	XATTR_INDEX_SYSTEM = 7,
	XATTR_INDEX_RICHACL = 8,
	XATTR_INDEX_ENCRYPTION = 9,
	XATTR_INDEX_HURD = 10,
	XATTR_INDEX_VERITY = 11,
};

struct disk_xattr_block_header {
	struct le32 magic;
	struct le32 refcount;
	struct le32 blocks;
	struct le32 hash;
	struct le32 checksum;
	uint8_t reserved[12];
};

struct disk_xattr_entry {
	uint8_t name_len;
	uint8_t name_index;
	struct le16 value_offs;
	struct le32 value_inum;
	struct le32 value_size;
	struct le32 hash;
};

#define ACL_VERSION_DISK 1u
#define ACL_VERSION_API  2u

enum acl_tag {
	ACL_USER_OBJ = 0x01,
	ACL_USER = 0x02,
	ACL_GROUP_OBJ = 0x04,
	ACL_GROUP = 0x08,
	ACL_MASK = 0x10,
	ACL_OTHER = 0x20,
};

#endif
