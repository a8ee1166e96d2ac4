/*
 * get.c - e4 get: files out of the volume, by the rules of cp(1).
 *
 * Always:  SRC `/`, or one that ends in `/.`, stands for what is in that directory, put into DST itself.
 */
#include "common/copy.h"
#include "common/memory.h"
#include "common/path.h"
#include "common/report.h"
#include "e4/copy_out.h"
#include "e4/e4.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* DST taken apart: a folder that exists, and the name in it; name NULL = each SRC's own. */
struct target {
	int folder_fd;
	char *name;
};

/* The folder above the last component of dst and that component, for a copy under a new name. */
static int target_split(const char *dst, struct target *ret)
{
	size_t len = strlen(dst);
	size_t cut;
	char *folder;

	while (len > 1 && dst[len - 1] == '/') {
		len--;
	}
	cut = len;
	while (cut > 0 && dst[cut - 1] != '/') {
		cut--;
	}
	ret->name = memory_copy(dst + cut, len - cut);
	folder = cut > 0 ? memory_copy(dst, cut) : memory_copy(".", 1);
	ret->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	return ret->folder_fd < 0 ? -errno : 0;
}

static int target_open(const char *dst, unsigned sources, struct target *ret)
{
	struct stat st;

	*ret = (struct target){.folder_fd = -1};
	if (stat(dst, &st) == 0 && S_ISDIR(st.st_mode)) {
		ret->folder_fd = open(dst, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return ret->folder_fd < 0 ? -errno : 0;
	}
	if (sources > 1 || dst[0] == '\0') {
		return dst[0] == '\0' ? -ENOENT : -ENOTDIR;
	}
	return target_split(dst, ret);
}

static bool means_content(const char *src)
{
	size_t len = strlen(src);

	return len >= 2 && strcmp(src + len - 2, "/.") == 0;
}

static void get_one(struct copy_out *c, const char *src, const struct target *to)
{
	char *path = path_clean(src);
	struct e4_stat st = {.struct_size = sizeof(st)};
	const char *name = to->name;
	struct e4_inode *ip;
	int r = e4_path_lookup(c->v->fs, src, c->recursive ? E4_PATH_NOFOLLOW : 0, &ip);

	if (r < 0) {
		copy_out_failed(c, src, r);
		free(path);
		return;
	}
	if (name == NULL) {
		name = means_content(src) || strcmp(path, "/") == 0 ? "." : path_name(path);
	}
	r = e4_inode_stat(ip, &st);
	if (r < 0) {
		copy_out_failed(c, src, r);
	} else if (S_ISDIR(st.mode) && !c->recursive) {
		copy_out_failed_there(c, src, -EISDIR, "left out, as -r was not given");
	} else if (S_ISREG(st.mode) && to->name != NULL) {
		copy_out_file(c, ip, path, name);
	} else {
		copy_out_tree(c, ip, path, name);
	}
	e4_inode_put(ip, 1);
	free(path);
}

/* Without -r, cp writes a file over one that is there; -r replaces it. Both end with the same content. */
static int get_all(struct copy_out *c, const struct args *args)
{
	unsigned last = args->operand_count - 1;
	const char *dst = args->operands[last];
	struct target to;
	int r = target_open(dst, last - 1, &to);

	if (r < 0) {
		copy_out_failed_there(c, dst, r, "cannot be copied to");
	} else {
		c->base_fd = to.folder_fd;
		for (unsigned i = 1; i < last; i++) {
			get_one(c, args->operands[i], &to);
		}
	}
	if (to.folder_fd >= 0) {
		(void)close(to.folder_fd);
	}
	free(to.name);
	return c->status;
}

int e4_get(const struct command *command, int argc, char **argv)
{
	struct volume v;
	struct args args;
	struct copy_out c = {.v = &v};
	bool archive = false;
	const struct option_spec specs[] = {
		{'r', "recursive", NULL, "directories with all that is in them", &c.recursive, NULL,
			NULL},
		{'p', "preserve", NULL, "keep mode, owner, times and extended attributes",
			&c.preserve, NULL, NULL},
		{'a', "archive", NULL, "the same as -rp", &archive, NULL, NULL},
	};
	int status = args_parse(&args, command, specs, 3, argc, argv, 3, UINT32_MAX);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	c.recursive = c.recursive || archive;
	c.preserve = c.preserve || archive;
	c.root = geteuid() == 0;
	c.umask = umask(0);
	(void)umask(c.umask);
	c.buf = memory_grow(NULL, COPY_PIECE, 1);
	progress_begin(&c.progress, args.progress, "get");
	status = get_all(&c, &args);
	progress_clear(&c.progress);
	free(c.buf);
	inoset_free(&c.links);
	inoset_free(&c.entered);
	volume_close(&v);
	return status;
}
