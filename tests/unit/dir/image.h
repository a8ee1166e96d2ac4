/* image.h - a volume for the tests of the directory room: from an image file or from bytes, without the rooms above. */
#ifndef TESTS_DIR_IMAGE_H
#define TESTS_DIR_IMAGE_H

#include "dir/dir.h"

struct image {
	struct env *env;
	struct e4_blockdev *dev;
	struct volume *vol;
};

/* Both fail the test when the volume does not load. */
void image_open_file(struct image *img, const char *path);
void image_open_bytes(struct image *img, const uint8_t *bytes, uint64_t len);
void image_close(struct image *img);
/* The inode at path ("/", "/a/b"); release with image_put(). */
struct inode *image_inode(struct image *img, const char *path);
struct inode *image_inode_by_number(struct image *img, inum_t ino);
void image_put(struct inode *ip);
/* The newest failure's reason, "" when there is none. */
const char *image_why(struct image *img);

#endif
