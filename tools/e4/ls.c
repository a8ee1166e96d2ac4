/*
 * ls.c - e4 ls: listings, as ls(1) with numeric owners.
 *
 * Always:  names in the order of their bytes, one a line; on a terminal bytes that could move the cursor as \ooo.
 */
#include "common/inoset.h"
#include "common/listing.h"
#include "common/memory.h"
#include "common/path.h"
#include "common/report.h"
#include "common/text.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ls {
	struct volume *v;
	bool all, almost_all, directory, inode, lines, long_form, recursive, one, human;
	bool terminal;
	bool titled;  /* a line with the directory's path stands above */
	bool follows; /* something was printed */
	int status;
	struct json json;
	char **stack; /* directories to come, the next one last */
	size_t stack_count, stack_capacity;
	struct inoset seen; /* directories listed by -R */
};

/* One line to come. */
struct item {
	const char *name;
	char *path;
	char *target; /* of a link, with -l; else NULL */
	struct e4_stat st;
	int err; /* st holds nothing but ino */
};

struct widths {
	int ino, nlink, uid, gid, size;
};

static void failed(struct ls *ls, const char *path, int err)
{
	ls->status = volume_failed(ls->v, path, err);
}

static char *target_of(struct e4_inode *ip)
{
	char buf[4096];
	int64_t len = e4_inode_readlink(ip, buf, sizeof(buf));

	if (len < 0) {
		return NULL;
	}
	return memory_copy(buf, len < (int64_t)sizeof(buf) ? (size_t)len : sizeof(buf));
}

/* Fills the item from the inode, where the listing needs more than name and number. */
static void item_fill(struct ls *ls, struct item *item)
{
	uint32_t ino = item->st.ino;
	struct e4_inode *ip;

	item->err = e4_inode_get(ls->v->fs, ino, 0, &ip);
	if (item->err == 0) {
		item->st = (struct e4_stat){.struct_size = sizeof(item->st)};
		item->err = e4_inode_stat(ip, &item->st);
		if (item->err == 0 && S_ISLNK(item->st.mode)) {
			item->target = target_of(ip);
		}
		e4_inode_put(ip, 1);
	}
	item->st.ino = ino;
	if (item->err < 0) {
		failed(ls, item->path, item->err);
	}
}

static int digits(uint64_t value)
{
	int n = 1;

	for (; value >= 10; value /= 10) {
		n++;
	}
	return n;
}

static void widen(int *width, int to)
{
	*width = *width > to ? *width : to;
}

static int size_width(const struct ls *ls, const struct e4_stat *st)
{
	if (S_ISCHR(st->mode) || S_ISBLK(st->mode)) {
		return digits(st->rdev_major) + 2 + digits(st->rdev_minor);
	}
	return ls->human ? 4 : digits(st->size);
}

static struct widths widths_of(const struct ls *ls, const struct item *items, size_t count)
{
	struct widths w = {0};

	for (size_t i = 0; i < count; i++) {
		widen(&w.ino, digits(items[i].st.ino));
		widen(&w.nlink, digits(items[i].st.nlink));
		widen(&w.uid, digits(items[i].st.uid));
		widen(&w.gid, digits(items[i].st.gid));
		widen(&w.size, size_width(ls, &items[i].st));
	}
	return w;
}

static void print_long(const struct ls *ls, const struct item *item, const struct widths *w)
{
	const struct e4_stat *st = &item->st;
	char text[TEXT_TIME_MAX];
	char mode[11];

	if (item->err < 0) {
		printf("?????????? %*s %*s %*s %*s %16s ", w->nlink, "?", w->uid, "?", w->gid, "?",
			w->size, "?", "?");
		return;
	}
	text_mode(st->mode, mode);
	printf("%s %*" PRIu32 " %*" PRIu32 " %*" PRIu32 " ", mode, w->nlink, st->nlink, w->uid,
		st->uid, w->gid, st->gid);
	if (S_ISCHR(st->mode) || S_ISBLK(st->mode)) {
		snprintf(text, sizeof(text), "%" PRIu32 ", %" PRIu32, st->rdev_major, st->rdev_minor);
	} else if (ls->human) {
		text_size(st->size, text);
	} else {
		snprintf(text, sizeof(text), "%" PRIu64, st->size);
	}
	printf("%*s ", w->size, text);
	text_date(&st->mtime, 0, text);
	printf("%s ", text);
}

static void print_item(const struct ls *ls, const struct item *item, const struct widths *w)
{
	if (ls->inode) {
		printf("%*" PRIu32 " ", w->ino, item->st.ino);
	}
	if (ls->long_form) {
		print_long(ls, item, w);
	}
	text_name(stdout, item->name, ls->terminal);
	if (ls->long_form && item->target != NULL) {
		fputs(" -> ", stdout);
		text_name(stdout, item->target, ls->terminal);
	}
	putchar('\n');
}

static void print_item_json(struct ls *ls, const struct item *item)
{
	struct json *j = &ls->json;

	json_object_begin(j, NULL);
	json_text(j, "path", item->path);
	json_text(j, "name", item->name);
	if (item->err < 0) {
		json_number(j, "ino", item->st.ino);
		json_text(j, "error", e4_errno_name(item->err));
	} else {
		stat_json(j, &item->st);
		if (item->target != NULL) {
			json_text(j, "target", item->target);
		}
	}
	json_object_end(j);
}

static void print_items(struct ls *ls, const struct item *items, size_t count)
{
	struct widths w = widths_of(ls, items, count);

	for (size_t i = 0; i < count; i++) {
		if (ls->v->args->json) {
			print_item_json(ls, &items[i]);
		} else {
			print_item(ls, &items[i], &w);
		}
	}
	ls->follows = ls->follows || count > 0;
}

static void items_free(struct item *items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(items[i].path);
		free(items[i].target);
	}
	free(items);
}

static void push(struct ls *ls, const char *path)
{
	ls->stack = memory_room(ls->stack, ls->stack_count, &ls->stack_capacity, sizeof(*ls->stack));
	ls->stack[ls->stack_count++] = memory_copy(path, strlen(path));
}

static bool hidden(const struct ls *ls, const char *name)
{
	return name[0] == '.' && !ls->all && !ls->almost_all;
}

/* The items of a directory, those that are shown. */
static struct item *items_of(
	struct ls *ls, const char *path, const struct listing *l, size_t *ret_count)
{
	bool fill = ls->long_form || ls->recursive || ls->v->args->json;
	struct item *items = memory_grow(NULL, l->count, sizeof(*items));
	size_t count = 0;
	struct item *item;

	for (size_t i = 0; i < l->count; i++) {
		if (hidden(ls, l->entries[i].name)) {
			continue;
		}
		item = &items[count++];
		*item = (struct item){.name = l->entries[i].name, .st.ino = l->entries[i].ino};
		item->path = path_join(path, item->name);
		if (fill) {
			item_fill(ls, item);
		}
	}
	*ret_count = count;
	return items;
}

static void print_title(struct ls *ls, const char *path, const struct item *items, size_t count)
{
	uint64_t blocks = 0;

	if (ls->v->args->json) {
		return;
	}
	if (ls->titled) {
		if (ls->follows) {
			putchar('\n');
		}
		text_name(stdout, path, ls->terminal);
		puts(":");
		ls->follows = true;
	}
	if (ls->long_form) {
		for (size_t i = 0; i < count; i++) {
			blocks += items[i].st.blocks;
		}
		printf("total %" PRIu64 "\n", (blocks + 1) / 2);
	}
}

static void list_directory(struct ls *ls, const char *path)
{
	struct e4_inode *ip;
	struct listing l;
	struct item *items;
	size_t count;
	int r = e4_path_lookup(ls->v->fs, path, 0, &ip);

	if (r < 0) {
		failed(ls, path, r);
		return;
	}
	if (ls->recursive && !inoset_add(&ls->seen, e4_inode_number(ip), NULL)) {
		report("ls", path, -ELOOP, "this directory was listed already");
		ls->status = STATUS_FAILED;
		e4_inode_put(ip, 1);
		return;
	}
	r = listing_read(ip, ls->all, &l);
	if (r < 0) {
		failed(ls, path, r);
	}
	items = items_of(ls, path, &l, &count);
	print_title(ls, path, items, count);
	print_items(ls, items, count);
	for (size_t i = count; ls->recursive && i > 0; i--) {
		if (items[i - 1].err == 0 && S_ISDIR(items[i - 1].st.mode) &&
			listing_name_safe(items[i - 1].name)) {
			push(ls, items[i - 1].path);
		}
	}
	items_free(items, count);
	listing_free(&l);
	e4_inode_put(ip, 1);
}

/* Operands that are no directories come first, then each directory. */
static void list_operands(struct ls *ls, char **paths, unsigned count)
{
	struct item *items = memory_grow(NULL, count, sizeof(*items));
	char **directories = memory_grow(NULL, count, sizeof(*directories));
	size_t item_count = 0;
	size_t directory_count = 0;
	struct item *item;
	struct e4_inode *ip;
	int r;

	for (unsigned i = 0; i < count; i++) {
		item = &items[item_count];
		*item = (struct item){.name = paths[i], .st.struct_size = sizeof(item->st)};
		r = e4_path_lookup(ls->v->fs, paths[i],
			ls->long_form || ls->directory ? E4_PATH_NOFOLLOW : 0, &ip);
		if (r < 0) {
			failed(ls, paths[i], r);
			continue;
		}
		item->path = memory_copy(paths[i], strlen(paths[i]));
		item->st.ino = e4_inode_number(ip);
		e4_inode_put(ip, 1);
		item_fill(ls, item);
		if (item->err == 0 && S_ISDIR(item->st.mode) && !ls->directory) {
			directories[directory_count++] = paths[i];
			free(item->path);
		} else {
			item_count++;
		}
	}
	print_items(ls, items, item_count);
	items_free(items, item_count);
	while (directory_count > 0) {
		push(ls, directories[--directory_count]);
	}
	free(directories);
}

static void ls_run(struct ls *ls, char **paths, unsigned count)
{
	static char root[] = "/";
	char *only_root[] = {root};
	char *path;

	ls->titled = ls->recursive || count > 1;
	if (ls->v->args->json) {
		json_list_begin(&ls->json, NULL);
	}
	list_operands(ls, count > 0 ? paths : only_root, count > 0 ? count : 1);
	while (ls->stack_count > 0) {
		path = ls->stack[--ls->stack_count];
		list_directory(ls, path);
		free(path);
	}
	if (ls->v->args->json) {
		json_list_end(&ls->json);
		json_end(&ls->json);
	}
	free(ls->stack);
	inoset_free(&ls->seen);
}

int e4_ls(const struct command *command, int argc, char **argv)
{
	struct volume v;
	struct args args;
	struct ls ls = {.v = &v, .json.out = stdout};
	const struct option_spec specs[] = {
		{'a', "all", NULL, "names that begin with a dot too", &ls.all, NULL, NULL},
		{'A', "almost-all", NULL, "the same without . and ..", &ls.almost_all, NULL, NULL},
		{'d', "directory", NULL, "directories themselves, not what is in them",
			&ls.directory, NULL, NULL},
		{'h', "human-readable", NULL, "sizes as 1.5G", &ls.human, NULL, NULL},
		{'i', "inode", NULL, "inode numbers", &ls.inode, NULL, NULL},
		{'l', NULL, NULL, "mode, links, owner, group, size, time", &ls.long_form, NULL, NULL},
		{'R', "recursive", NULL, "what is below too", &ls.recursive, NULL, NULL},
		{'1', NULL, NULL, "one name a line (always so)", &ls.one, NULL, NULL},
	};
	int status = args_parse(
		&args, command, specs, sizeof(specs) / sizeof(specs[0]), argc, argv, 1, UINT32_MAX);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	ls.terminal = isatty(STDOUT_FILENO) != 0;
	ls_run(&ls, args.operands + 1, args.operand_count - 1);
	volume_close(&v);
	return ls.status;
}
