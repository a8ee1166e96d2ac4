#ifndef TOOLS_COMMON_PATH_H
#define TOOLS_COMMON_PATH_H

/* DIR/NAME with one slash between them; the caller frees it. */
char *path_join(const char *dir, const char *name);
/* From the root, without `.`, empty components and (by words alone) `..`; the caller frees it. */
char *path_clean(const char *path);
/* The last component; "" for the root. The path must be clean. */
const char *path_name(const char *path);

#endif
