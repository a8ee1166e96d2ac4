/*
 * walk.c - every object of a volume, by inode: a list of directories still to read, and no path looked up.
 * One line each: inode, mode, size, path.
 */
#include <ext4core/ext4core.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A directory still to read. */
struct todo {
	uint32_t ino;
	char *path;
	struct todo *next;
};

static int complain(struct e4_fs *fs, const char *path, int err)
{
	struct e4_error why = {.struct_size = sizeof(why)};

	(void)e4_last_error(fs, &why);
	fprintf(stderr, "walk: %s: %s (%s)\n", path, why.err == err ? why.text : strerror(-err),
		e4_errno_name(err));
	return err;
}

static void push(struct todo **list, uint32_t ino, const char *folder, const char *name)
{
	size_t size = strlen(folder) + strlen(name) + 2;
	struct todo *t = malloc(sizeof(*t));

	if (t == NULL || (t->path = malloc(size)) == NULL)
		exit(1);
	snprintf(t->path, size, "%s%s%s", folder, folder[1] == '\0' || *name == '\0' ? "" : "/",
		name);
	t->ino = ino;
	t->next = *list;
	*list = t;
}

/* Shows what is in a directory and notes the directories among it, each once: a broken volume may have a loop. */
static int list(struct e4_fs *fs, const struct todo *folder, struct todo **todo, unsigned char *seen)
{
	struct e4_inode *ip, *child;
	struct e4_dir *dir;
	struct e4_dirent entry;
	int r = e4_inode_get(fs, folder->ino, 0, &ip); /* 0: whatever its generation */

	if (r < 0)
		return complain(fs, folder->path, r);
	r = e4_inode_opendir(ip, &dir);
	while (r >= 0 && (r = e4_readdir(dir, &entry)) > 0) {
		struct e4_stat st = {.struct_size = sizeof(st)};
		if (strcmp(entry.name, ".") == 0 || strcmp(entry.name, "..") == 0)
			continue;
		if ((r = e4_inode_get(fs, entry.ino, 0, &child)) == 0) {
			r = e4_inode_stat(child, &st);
			e4_inode_put(child, 1);
		}
		if (r < 0)
			break;
		printf("%10" PRIu32 " %06" PRIo32 " %12" PRIu64 " %s/%s\n", st.ino, st.mode,
			st.size, folder->path[1] == '\0' ? "" : folder->path, entry.name);
		if (S_ISDIR(st.mode) && (seen[st.ino / 8] & 1 << st.ino % 8) == 0)
			push(todo, st.ino, folder->path, entry.name);
		seen[st.ino / 8] |= (unsigned char)(1 << st.ino % 8);
	}
	if (r < 0)
		(void)complain(fs, folder->path, r);
	(void)e4_closedir(dir);
	e4_inode_put(ip, 1);
	return r;
}

int main(int argc, char **argv)
{
	struct e4_error why = {.struct_size = sizeof(why)};
	struct e4_blockdev_options dev_options;
	struct e4_mount_options options;
	struct e4_blockdev *dev;
	struct e4_fs_info info = {.struct_size = sizeof(info)};
	struct todo *todo = NULL, *folder;
	unsigned char *seen;
	struct e4_fs *fs;
	int r, status = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DEV\n", argv[0]);
		return 2;
	}
	e4_blockdev_options_init(&dev_options);
	e4_mount_options_init(&options);
	options.flags = E4_MOUNT_RDONLY;
	dev_options.error = options.error = &why;
	r = e4_blockdev_open(argv[1], E4_BLOCKDEV_RDONLY, &dev_options, &dev);
	if (r == 0 && (r = e4_mount(dev, &options, &fs)) < 0)
		(void)e4_blockdev_close(dev);
	if (r < 0) {
		fprintf(stderr, "walk: %s: %s (%s)\n", argv[1], why.text, e4_errno_name(r));
		return 1;
	}

	if (e4_fs_info(fs, &info) < 0 || (seen = calloc(info.inodes / 8 + 1, 1)) == NULL)
		return 1;
	push(&todo, E4_ROOT_INO, "/", "");
	while ((folder = todo) != NULL) {
		todo = folder->next;
		status |= list(fs, folder, &todo, seen) < 0;
		free(folder->path);
		free(folder);
	}
	free(seen);
	(void)e4_unmount(fs, 0);
	(void)e4_blockdev_close(dev);
	return status;
}
