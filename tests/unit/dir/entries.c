/*
 * entries.c - see entries.h.
 */
#include "entries.h"

#include "format/dirent.h"
#include "format/htree.h"

#include <string.h>

void put_entry(uint8_t *p, uint32_t ino, uint32_t rec_len, const char *name)
{
	struct disk_dirent d = {
		.inode = le32_put(ino),
		.rec_len = le16_put((uint16_t)rec_len),
		.name_len = (uint8_t)strlen(name),
		.file_type = DIRENT_REG,
	};

	memcpy(p, &d, sizeof(d));
	memcpy(p + sizeof(d), name, strlen(name));
}

void put_block(uint8_t *p, uint32_t size, uint32_t ino, const char *const *names)
{
	uint32_t at = 0;

	memset(p, 0, size);
	if (*names == NULL)
		put_entry(p, 0, size, "");
	for (; *names != NULL; names++, ino++) {
		uint32_t need = dirent_need((uint32_t)strlen(*names), false);

		if (need < DIRENT_MIN_SIZE)
			need = DIRENT_MIN_SIZE;
		put_entry(p + at, ino, names[1] == NULL ? size - at : need, *names);
		at += need;
	}
}

void put_root(uint8_t *p, uint32_t size, uint8_t version, uint8_t levels)
{
	struct disk_htree_root_info info = {
		.hash_version = version, .info_length = 8, .indirect_levels = levels};
	struct disk_htree_countlimit cl = {.limit = le16_put((uint16_t)((size - 32) / 8))};

	memset(p, 0, size);
	put_entry(p, 12, 12, ".");
	put_entry(p + 12, 2, size - 12, "..");
	memcpy(p + HTREE_ROOT_INFO_OFFSET, &info, sizeof(info));
	memcpy(p + HTREE_ROOT_ENTRIES_OFFSET, &cl, sizeof(cl));
}

void put_node(uint8_t *p, uint32_t size)
{
	struct disk_htree_countlimit cl = {.limit = le16_put((uint16_t)((size - 8) / 8))};

	memset(p, 0, size);
	put_entry(p, 0, size, "");
	p[7] = 0; /* no type */
	memcpy(p + HTREE_NODE_ENTRIES_OFFSET, &cl, sizeof(cl));
}

void put_index(uint8_t *p, uint32_t entries_offset, uint32_t hash, uint32_t block)
{
	struct disk_htree_countlimit *cl = (void *)(p + entries_offset);
	struct disk_htree_entry *e = (void *)(p + entries_offset);
	uint16_t count = le16_get(cl->count);

	if (count > 0)
		e[count].hash = le32_put(hash);
	e[count].block = le32_put(block);
	cl->count = le16_put((uint16_t)(count + 1));
}
