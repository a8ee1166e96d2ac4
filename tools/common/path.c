/* path.c - paths as text. */
#include "common/path.h"

#include "common/memory.h"

#include <string.h>

char *path_join(const char *dir, const char *name)
{
	size_t dir_len = strlen(dir);
	size_t name_len = strlen(name);
	char *path = memory_grow(NULL, dir_len + name_len + 2, 1);

	memcpy(path, dir, dir_len);
	if (dir_len > 0 && dir[dir_len - 1] != '/') {
		path[dir_len++] = '/';
	}
	memcpy(path + dir_len, name, name_len);
	path[dir_len + name_len] = '\0';
	return path;
}

char *path_clean(const char *path)
{
	char *ret = memory_grow(NULL, strlen(path) + 2, 1);
	size_t len = 0; /* of what is there; ends without a slash */
	size_t n;

	for (; *path != '\0'; path += n) {
		n = strcspn(path, "/");
		if (n == 0) {
			n = 1;
		} else if (n == 2 && memcmp(path, "..", 2) == 0) {
			while (len > 0 && ret[--len] != '/') {
			}
		} else if (n != 1 || *path != '.') {
			ret[len++] = '/';
			memcpy(ret + len, path, n);
			len += n;
		}
	}
	if (len == 0) {
		ret[len++] = '/';
	}
	ret[len] = '\0';
	return ret;
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}
