/*
 * image.c - a volume, its inodes, and the newest reason in its ring.
 */
#include "image.h"

#include "extent/extent.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void load(struct image *img)
{
	struct volume_options opts = {.read_only = true, .cache_limit_bytes = 8u << 20};

	ck_assert_int_eq(volume_load(img->env, img->dev, &opts, &img->vol), 0);
}

void image_open_file(struct image *img, const char *path)
{
	struct e4_blockdev_options opts;

	e4_blockdev_options_init(&opts);
	ck_assert_int_eq(env_new(NULL, 0, &img->env), 0);
	ck_assert_int_eq(blockdev_open(img->env, path, E4_BLOCKDEV_RDONLY, &opts, &img->dev), 0);
	load(img);
}

void image_open_bytes(struct image *img, const uint8_t *bytes, uint64_t len)
{
	ck_assert_int_eq(env_new(NULL, 0, &img->env), 0);
	ck_assert_int_eq(blockdev_mem_new(img->env, len, &img->dev), 0);
	ck_assert_int_eq(blockdev_write(img->dev, 0, bytes, len, 0), 0);
	load(img);
}

void image_close(struct image *img)
{
	volume_free(img->vol);
	blockdev_free(img->dev);
	env_put(img->env);
}

struct inode *image_inode_by_number(struct image *img, inum_t ino)
{
	struct inode *ip = calloc(1, sizeof(*ip));

	ck_assert_ptr_nonnull(ip);
	ck_assert_int_eq(inode_load(img->vol, ino, INODE_FOR_USE, ip), 0);
	return ip;
}

struct inode *image_inode(struct image *img, const char *path)
{
	inum_t ino = INODE_ROOT;

	while (*path == '/')
		path++;
	while (*path != 0) {
		size_t len = strcspn(path, "/");
		struct inode *ip = image_inode_by_number(img, ino);
		uint8_t type;

		ck_assert_int_eq(dir_lookup(ip, path, (uint32_t)len, &ino, &type), 1);
		image_put(ip);
		path += len;
		while (*path == '/')
			path++;
	}
	return image_inode_by_number(img, ino);
}

void image_put(struct inode *ip)
{
	extent_map_drop(ip);
	inode_unload(ip);
	free(ip);
}

const char *image_why(struct image *img)
{
	static _Thread_local struct e4_error e;

	e.struct_size = sizeof(e);
	return error_last(img->env, &e) ? e.why : "";
}
