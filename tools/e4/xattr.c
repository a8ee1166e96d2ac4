/*
 * xattr.c - e4 xattr: extended attributes, by the names of the system calls.
 *
 * Always:  acts on the object itself; a symbolic link is followed with -L only.
 */
#include "common/memory.h"
#include "common/report.h"
#include "common/volume.h"
#include "common/xattrs.h"
#include "e4/e4.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPERANDS = 4 };

static char *hex(const char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *ret = memory_grow(NULL, 2 * len + 1, 1);

	for (size_t i = 0; i < len; i++) {
		ret[2 * i] = digits[(unsigned char)bytes[i] >> 4];
		ret[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
	}
	ret[2 * len] = '\0';
	return ret;
}

static void json_value(struct json *j, const char *name, const char *value, size_t len)
{
	char *text = hex(value, len);

	json_object_begin(j, NULL);
	json_text(j, "name", name);
	json_number(j, "size", len);
	json_bytes(j, "value", value, len);
	json_text(j, "hex", text);
	json_object_end(j);
	free(text);
}

/* As getfattr -d: quoted where the value is printable text, else 0x... */
static void print_pair(const char *name, const char *value, size_t len)
{
	bool printable = true;
	char *text;

	for (size_t i = 0; i < len; i++) {
		printable = printable && value[i] >= 32 && value[i] < 127;
	}
	if (!printable) {
		text = hex(value, len);
		printf("%s=0x%s\n", name, text);
		free(text);
		return;
	}
	printf("%s=\"", name);
	for (size_t i = 0; i < len; i++) {
		printf("%s%c", value[i] == '"' || value[i] == '\\' ? "\\" : "", value[i]);
	}
	puts("\"");
}

/* One value, its bytes and nothing else; on a terminal with a line's end. */
static void print_bare(const char *value, size_t len)
{
	(void)fwrite(value, 1, len, stdout);
	if (isatty(STDOUT_FILENO)) {
		putchar('\n');
	}
}

static int get_one(struct volume *v, struct e4_inode *ip, const char *path, const char *name)
{
	struct json j = {.out = stdout};
	struct xattrs x = {0};
	int64_t len = xattrs_get(&x, ip, name);

	if (len < 0) {
		(void)volume_failed(v, path, len);
	} else if (v->args->json) {
		json_value(&j, name, x.value, (size_t)len);
		json_end(&j);
	} else {
		print_bare(x.value, (size_t)len);
	}
	xattrs_free(&x);
	return len < 0 ? STATUS_FAILED : STATUS_DONE;
}

/* All names, or all names with their values. */
static int list_all(struct volume *v, struct e4_inode *ip, const char *path, bool values)
{
	struct json j = {.out = stdout};
	struct xattrs x = {0};
	int status = STATUS_DONE;
	int64_t len = xattrs_list(&x, ip);

	if (len < 0) {
		return volume_failed(v, path, len);
	}
	if (v->args->json) {
		json_list_begin(&j, NULL);
	}
	for (size_t i = 0; i < x.count; i++) {
		len = values ? xattrs_get(&x, ip, x.names[i]) : 0;
		if (len < 0) {
			status = volume_failed(v, path, len);
		} else if (v->args->json && values) {
			json_value(&j, x.names[i], x.value, (size_t)len);
		} else if (v->args->json) {
			json_text(&j, NULL, x.names[i]);
		} else if (values) {
			print_pair(x.names[i], x.value, (size_t)len);
		} else {
			puts(x.names[i]);
		}
	}
	if (v->args->json) {
		json_list_end(&j);
		json_end(&j);
	}
	xattrs_free(&x);
	return status;
}

static int usage(const char *object, const char *reason)
{
	report("xattr", object, -EINVAL, reason);
	return STATUS_USAGE;
}

static int xattr_run(struct volume *v, bool follow, bool get)
{
	char **operands = v->args->operands; /* DEV PATH [NAME] */
	struct e4_inode *ip;
	int status;
	int r = e4_path_lookup(v->fs, operands[1], follow ? 0 : E4_PATH_NOFOLLOW, &ip);

	if (r < 0) {
		return volume_failed(v, operands[1], r);
	}
	if (get && v->args->operand_count == 3) {
		status = get_one(v, ip, operands[1], operands[2]);
	} else {
		status = list_all(v, ip, operands[1], get);
	}
	e4_inode_put(ip, 1);
	return status;
}

int e4_xattr(const struct command *command, int argc, char **argv)
{
	bool follow = false;
	bool no_follow = false;
	const struct option_spec specs[] = {
		{'L', "dereference", NULL, "follow a symbolic link at the end", &follow, NULL, NULL},
		{'h', "no-dereference", NULL, "do not (the default)", &no_follow, NULL, NULL},
	};
	struct volume v;
	struct args args;
	const char *action;
	int status = args_parse(&args, command, specs, 2, argc, argv, 3, MAX_OPERANDS + 1);

	if (status != ARGS_GO_ON) {
		return status;
	}
	action = args.operands[0];
	args.operands++;
	args.operand_count--;
	if (strcmp(action, "set") == 0 || strcmp(action, "rm") == 0) {
		report("xattr", args.operands[1], -EOPNOTSUPP,
			"this version only reads; set and rm come later");
		return STATUS_FAILED;
	}
	if (strcmp(action, "get") != 0 && strcmp(action, "ls") != 0) {
		return usage(action, "is none of get, set, rm and ls");
	}
	if (args.operand_count > (action[0] == 'g' ? 3u : 2u)) {
		return usage(args.operands[args.operand_count - 1], "is an operand too many");
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	status = xattr_run(&v, follow && !no_follow, action[0] == 'g');
	volume_close(&v);
	return status;
}
