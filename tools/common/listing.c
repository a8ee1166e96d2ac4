/* listing.c - a whole directory in memory. */
#include "common/listing.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(
		((const struct listing_entry *)a)->name, ((const struct listing_entry *)b)->name);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool listing_name_safe(const char *name)
{
	return name[0] != '\0' && !is_dots(name) && strchr(name, '/') == NULL;
}

int listing_read(struct e4_inode *ip, bool dots, struct listing *ret)
{
	struct e4_dirent entry;
	struct e4_dir *dir;
	int r;

	*ret = (struct listing){0};
	r = e4_inode_opendir(ip, &dir);
	if (r < 0) {
		return r;
	}
	while ((r = e4_readdir(dir, &entry)) > 0) {
		if (!dots && is_dots(entry.name)) {
			continue;
		}
		ret->entries = memory_room(
			ret->entries, ret->count, &ret->capacity, sizeof(*ret->entries));
		ret->entries[ret->count++] = (struct listing_entry){
			.name = memory_copy(entry.name, strlen(entry.name)),
			.ino = entry.ino,
			.type = entry.type,
		};
	}
	(void)e4_closedir(dir);
	if (ret->count > 0) {
		qsort(ret->entries, ret->count, sizeof(*ret->entries), by_name);
	}
	return r;
}

void listing_free(struct listing *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->entries[i].name);
	}
	free(l->entries);
	*l = (struct listing){0};
}
