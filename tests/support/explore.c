/* explore.c - see explore.h. A queue of inode numbers, no recursion; each directory once. */
#include "explore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct queue {
	uint32_t *inos;
	uint32_t head, count, capacity;
};

static void count_error(struct explore_result *ret, int64_t r)
{
	if (r < 0)
		ret->errors++;
}

static void queue_add(struct queue *q, uint32_t ino)
{
	for (uint32_t i = 0; i < q->count; i++) {
		if (q->inos[i] == ino)
			return;
	}
	if (q->count < q->capacity)
		q->inos[q->count++] = ino;
}

static void explore_xattrs(struct e4_inode *ip, struct explore_result *ret)
{
	char names[4096];
	char value[4096];
	int64_t n = e4_inode_listxattr(ip, names, sizeof(names));

	count_error(ret, n);
	for (int64_t at = 0; at < n; at += (int64_t)strlen(names + at) + 1)
		count_error(ret, e4_inode_getxattr(ip, names + at, value, sizeof(value)));
}

static void explore_map(struct e4_file *file, struct explore_result *ret)
{
	struct e4_mapping m = {.struct_size = sizeof(m)};
	uint64_t offset = 0;

	for (unsigned i = 0; i < 64; i++) {
		int r = e4_map_report(file, offset, &m);

		count_error(ret, r);
		if (r != 1 || m.offset + m.length <= offset)
			break;
		offset = m.offset + m.length;
	}
	count_error(ret, e4_seek_data(file, 0));
	count_error(ret, e4_seek_hole(file, 0));
}

static void explore_content(struct e4_inode *ip, const struct explore_limits *limits, uint64_t size,
	struct explore_result *ret)
{
	char buf[16384];
	struct e4_file *file;
	int r = e4_inode_open(ip, E4_O_RDONLY, &file);

	count_error(ret, r);
	if (r < 0)
		return;
	explore_map(file, ret);
	for (uint64_t done = 0; done < limits->bytes;) {
		int64_t n = e4_pread(file, buf, sizeof(buf), done);

		count_error(ret, n);
		if (n <= 0)
			break;
		done += (uint64_t)n;
		ret->bytes += (uint64_t)n;
	}
	if (size > limits->bytes)
		count_error(ret, e4_pread(file, buf, sizeof(buf), size - 1));
	e4_close(file);
}

void explore_inode(
	struct e4_inode *ip, const struct explore_limits *limits, struct explore_result *ret)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	char buf[4096];

	ret->objects++;
	count_error(ret, e4_inode_stat(ip, &st));
	explore_xattrs(ip, ret);
	switch (st.mode & 0xF000) {
	case E4_FT_REG:
		explore_content(ip, limits, st.size, ret);
		count_error(ret, e4_verity_descriptor(ip, buf, sizeof(buf)));
		break;
	case E4_FT_LNK:
		count_error(ret, e4_inode_readlink(ip, buf, sizeof(buf)));
		break;
	default:
		break;
	}
}

static void explore_dir(struct e4_inode *ip, const struct explore_limits *limits, struct queue *q,
	struct explore_result *ret)
{
	struct e4_dirent de;
	struct e4_inode *child;
	struct e4_dir *dir;
	int r = e4_inode_opendir(ip, &dir);

	if (r < 0)
		return;
	for (uint32_t i = 0; i < limits->entries; i++) {
		r = e4_readdir(dir, &de);
		count_error(ret, r);
		if (r <= 0)
			break;
		ret->entries++;
		if (i % 16 == 7)
			count_error(ret, e4_seekdir(dir, de.cookie));
		r = e4_inode_lookup(ip, de.name, de.name_len, &child);
		count_error(ret, r);
		if (r == 0) {
			queue_add(q, e4_inode_number(child));
			e4_inode_put(child, 1);
		}
	}
	e4_closedir(dir);
}

void explore(struct e4_fs *fs, const struct explore_limits *limits, struct explore_result *ret)
{
	struct queue q = {.capacity = limits->objects};
	struct e4_statfs sf = {.struct_size = sizeof(sf)};
	struct e4_fs_info info = {.struct_size = sizeof(info)};

	memset(ret, 0, sizeof(*ret));
	count_error(ret, e4_statfs(fs, &sf));
	count_error(ret, e4_fs_info(fs, &info));
	q.inos = calloc(q.capacity, sizeof(*q.inos));
	if (q.inos == NULL)
		return;
	queue_add(&q, E4_ROOT_INO);
	for (; q.head < q.count; q.head++) {
		struct e4_inode *ip;
		int r = e4_inode_get(fs, q.inos[q.head], 0, &ip);

		count_error(ret, r);
		if (r < 0)
			continue;
		explore_inode(ip, limits, ret);
		explore_dir(ip, limits, &q, ret);
		e4_inode_put(ip, 1);
	}
	free(q.inos);
}
