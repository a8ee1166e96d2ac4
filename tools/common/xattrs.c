/* xattrs.c - the extended attributes of one object. */
#include "common/xattrs.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void forget_names(struct xattrs *x)
{
	free(x->names);
	free(x->list);
	x->names = NULL;
	x->list = NULL;
	x->count = 0;
}

int xattrs_list(struct xattrs *x, struct e4_inode *ip)
{
	size_t capacity = 0;
	int64_t len;

	forget_names(x);
	len = e4_inode_listxattr(ip, NULL, 0);
	if (len <= 0) {
		return (int)len;
	}
	x->list = memory_grow(NULL, (size_t)len + 1, 1);
	len = e4_inode_listxattr(ip, x->list, (uint64_t)len);
	if (len < 0) {
		forget_names(x);
		return (int)len;
	}
	x->list[len] = '\0';
	for (char *name = x->list; name < x->list + len; name += strlen(name) + 1) {
		x->names = memory_room(x->names, x->count, &capacity, sizeof(*x->names));
		x->names[x->count++] = name;
	}
	if (x->count > 0) {
		qsort(x->names, x->count, sizeof(*x->names), by_name);
	}
	return 0;
}

int64_t xattrs_get(struct xattrs *x, struct e4_inode *ip, const char *name)
{
	int64_t len = e4_inode_getxattr(ip, name, NULL, 0);

	if (len < 0) {
		return len;
	}
	if ((size_t)len > x->value_capacity || x->value == NULL) {
		x->value = memory_grow(x->value, (size_t)len + 1, 1);
		x->value_capacity = (size_t)len;
	}
	return len > 0 ? e4_inode_getxattr(ip, name, x->value, (uint64_t)len) : 0;
}

void xattrs_free(struct xattrs *x)
{
	forget_names(x);
	free(x->value);
	*x = (struct xattrs){0};
}
