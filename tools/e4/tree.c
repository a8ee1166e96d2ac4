/*
 * tree.c - e4 tree: a drawing of directories, as tree(1).
 *
 * Always:  a stack of open directories, one level each; a directory met a second time is not entered, so that
 *          a loop on the volume ends.
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

struct strokes {
	const char *branch, *last, *pass, *blank;
};

struct level {
	struct listing list;
	size_t next;
	char *path;
};

struct tree {
	struct volume *v;
	bool all, directories_only;
	uint64_t depth_limit; /* 0 = none */
	bool terminal;
	const struct strokes *strokes;
	struct level *levels;
	size_t depth, capacity;
	uint64_t directories, files;
	struct inoset seen;
	struct json json;
	int status;
};

/* As tree(1): lines where the locale speaks UTF-8. */
static const struct strokes *strokes_of_locale(void)
{
	static const struct strokes lines = {"├── ", "└── ", "│   ", "    "};
	static const struct strokes ascii = {"|-- ", "`-- ", "|   ", "    "};
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	const char *locale = NULL;

	for (unsigned i = 0; i < 3 && (locale == NULL || locale[0] == '\0'); i++) {
		locale = getenv(variables[i]); /* NOLINT(concurrency-mt-unsafe): one thread */
	}
	if (locale != NULL &&
		(strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL)) {
		return &lines;
	}
	return &ascii;
}

static void failed(struct tree *t, const char *path, int err)
{
	t->status = volume_failed(t->v, path, err);
}

/* Drops what is not shown, so that the last entry of a level is known. */
static void keep_shown(struct tree *t, struct listing *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++) {
		if ((l->entries[i].name[0] == '.' && !t->all) ||
			(t->directories_only && l->entries[i].type != E4_FT_DIR &&
				l->entries[i].type != 0)) {
			free(l->entries[i].name);
		} else {
			l->entries[kept++] = l->entries[i];
		}
	}
	l->count = kept;
}

/* Opens a level. False when the directory is not entered. */
static bool enter(struct tree *t, struct e4_inode *ip, const char *path)
{
	struct level *level;
	int r;

	if (t->depth_limit > 0 && t->depth >= t->depth_limit) {
		return false;
	}
	if (!inoset_add(&t->seen, e4_inode_number(ip), NULL)) {
		report("tree", path, -ELOOP, "this directory was shown already");
		t->status = STATUS_FAILED;
		return false;
	}
	t->levels = memory_room(t->levels, t->depth, &t->capacity, sizeof(*t->levels));
	level = &t->levels[t->depth++];
	*level = (struct level){.path = memory_copy(path, strlen(path))};
	r = listing_read(ip, false, &level->list);
	if (r < 0) {
		failed(t, path, r);
	}
	keep_shown(t, &level->list);
	return true;
}

static void leave(struct tree *t)
{
	struct level *level = &t->levels[--t->depth];

	listing_free(&level->list);
	free(level->path);
}

static void draw_name(struct tree *t, const char *name, struct e4_inode *ip, uint32_t mode)
{
	char target[4096];
	int64_t len;
	const struct level *level;

	for (size_t i = 0; i + 1 < t->depth; i++) {
		level = &t->levels[i];
		fputs(level->next < level->list.count ? t->strokes->pass : t->strokes->blank, stdout);
	}
	level = &t->levels[t->depth - 1];
	fputs(level->next < level->list.count ? t->strokes->branch : t->strokes->last, stdout);
	text_name(stdout, name, t->terminal);
	if (ip != NULL && S_ISLNK(mode)) {
		len = e4_inode_readlink(ip, target, sizeof(target) - 1);
		if (len >= 0) {
			target[len < (int64_t)sizeof(target) ? len : (int64_t)sizeof(target) - 1] = '\0';
			fputs(" -> ", stdout);
			text_name(stdout, target, t->terminal);
		}
	}
	putchar('\n');
}

static const char *json_type(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "link";
	case S_IFREG:
		return "file";
	case S_IFCHR:
		return "char";
	case S_IFBLK:
		return "block";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "unknown";
	}
}

/* Begins the entry; leave_json() ends a directory's, everything else ends at once. */
static void begin_json(struct tree *t, const char *name, struct e4_inode *ip, uint32_t mode)
{
	char target[4096];
	int64_t len;

	json_object_begin(&t->json, NULL);
	json_text(&t->json, "type", json_type(mode));
	json_text(&t->json, "name", name);
	if (ip != NULL && S_ISLNK(mode)) {
		len = e4_inode_readlink(ip, target, sizeof(target));
		if (len >= 0) {
			json_bytes(&t->json, "target", target,
				len < (int64_t)sizeof(target) ? (size_t)len : sizeof(target));
		}
	}
	if (S_ISDIR(mode)) {
		json_list_begin(&t->json, "contents");
	} else {
		json_object_end(&t->json);
	}
}

static void end_json(struct tree *t)
{
	json_list_end(&t->json);
	json_object_end(&t->json);
}

static void show(struct tree *t, const char *name, struct e4_inode *ip, uint32_t mode)
{
	if (S_ISDIR(mode)) {
		t->directories++;
	} else {
		t->files++;
	}
	if (t->v->args->json) {
		begin_json(t, name, ip, mode);
	} else {
		draw_name(t, name, ip, mode);
	}
}

/* The next entry of the innermost level. */
static void step(struct tree *t)
{
	struct level *level = &t->levels[t->depth - 1];
	const struct listing_entry *entry = &level->list.entries[level->next++];
	struct e4_stat st = {.struct_size = sizeof(st)};
	char *path = path_join(level->path, entry->name);
	struct e4_inode *ip;
	int r = e4_inode_get(t->v->fs, entry->ino, 0, &ip);

	if (r < 0) {
		failed(t, path, r);
		show(t, entry->name, NULL, 0);
		free(path);
		return;
	}
	r = e4_inode_stat(ip, &st);
	if (r < 0) {
		failed(t, path, r);
	}
	show(t, entry->name, ip, st.mode);
	if (S_ISDIR(st.mode) && !enter(t, ip, path) && t->v->args->json) {
		end_json(t);
	}
	e4_inode_put(ip, 1);
	free(path);
}

static void walk(struct tree *t)
{
	while (t->depth > 0) {
		if (t->levels[t->depth - 1].next < t->levels[t->depth - 1].list.count) {
			step(t);
			continue;
		}
		leave(t);
		if (t->v->args->json) {
			end_json(t);
		}
	}
}

static void tree_run(struct tree *t, const char *path)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct e4_inode *ip;
	int r = e4_path_lookup(t->v->fs, path, 0, &ip);

	if (r == 0) {
		r = e4_inode_stat(ip, &st);
		if (r == 0 && !S_ISDIR(st.mode)) {
			r = -ENOTDIR;
		}
		if (r < 0) {
			e4_inode_put(ip, 1);
		}
	}
	if (r < 0) {
		failed(t, path, r);
		return;
	}
	if (t->v->args->json) {
		json_list_begin(&t->json, NULL);
		begin_json(t, path, ip, st.mode);
	} else {
		text_name(stdout, path, t->terminal);
		putchar('\n');
	}
	(void)enter(t, ip, path);
	e4_inode_put(ip, 1);
	walk(t);
	if (!t->v->args->json) {
		printf("\n%" PRIu64 " director%s", t->directories, t->directories == 1 ? "y" : "ies");
		if (!t->directories_only) {
			printf(", %" PRIu64 " file%s", t->files, t->files == 1 ? "" : "s");
		}
		putchar('\n');
		return;
	}
	json_object_begin(&t->json, NULL);
	json_text(&t->json, "type", "report");
	json_number(&t->json, "directories", t->directories);
	json_number(&t->json, "files", t->files);
	json_object_end(&t->json);
	json_list_end(&t->json);
	json_end(&t->json);
}

int e4_tree(const struct command *command, int argc, char **argv)
{
	struct volume v;
	struct args args;
	struct tree t = {.v = &v, .json.out = stdout};
	const struct option_spec specs[] = {
		{'a', NULL, NULL, "names that begin with a dot too", &t.all, NULL, NULL},
		{'d', NULL, NULL, "directories only", &t.directories_only, NULL, NULL},
		{'L', NULL, "N", "at most so many levels", NULL, NULL, &t.depth_limit},
	};
	int status = args_parse(&args, command, specs, 3, argc, argv, 1, 2);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	t.terminal = isatty(STDOUT_FILENO) != 0;
	t.strokes = strokes_of_locale();
	tree_run(&t, args.operand_count > 1 ? args.operands[1] : "/");
	free(t.levels);
	inoset_free(&t.seen);
	volume_close(&v);
	return t.status;
}
