/* api_impl.h - the shapes behind the public handles. */
#ifndef API_API_IMPL_H
#define API_API_IMPL_H

#include "dir/dir.h"
#include "fs/fs.h"
#include "inode/inode.h"

struct e4_file {
	struct e4_fs *fs;
	struct inode *ip; /* a reference is held */
	uint32_t flags;
};

struct e4_dir {
	struct e4_fs *fs;
	struct inode *ip; /* a reference is held */
	struct dir_iter *it;
};

/* A public inode handle is the inode itself. */
static inline struct inode *inode_of(struct e4_inode *ip)
{
	return (struct inode *)(void *)ip;
}

static inline struct e4_inode *handle_of(struct inode *ip)
{
	return (struct e4_inode *)(void *)ip;
}

/* Path to a held inode, after checking arguments and life. */
int api_path(struct e4_fs *fs, const char *path, uint32_t flags, struct inode **ret) E4_MUST_CHECK;
/* 0 when the inode may be used. */
int api_inode(struct e4_inode *ip) E4_MUST_CHECK;

#endif
