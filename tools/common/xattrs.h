#ifndef TOOLS_COMMON_XATTRS_H
#define TOOLS_COMMON_XATTRS_H

#include <ext4core/fs.h>

#include <stddef.h>

/* The names of an object's extended attributes, sorted by their bytes, and room for one value. */
struct xattrs {
	char **names; /* into list */
	size_t count;
	char *list;
	char *value;
	size_t value_capacity;
};

/* Reads the names; a negative errno leaves x empty. xattrs_free() is due in any case. x begins as {0} and may be used again. */
int xattrs_list(struct xattrs *x, struct e4_inode *ip);
/* The value of `name` in x->value; its length, or a negative errno. */
int64_t xattrs_get(struct xattrs *x, struct e4_inode *ip, const char *name);
void xattrs_free(struct xattrs *x);

#endif
