/*
 * map.c - e4 map: where a file's blocks lie.
 *
 * Always:  the pieces follow each other without a gap up to the end of the file; what lies past it (space
 *          kept by fallocate) follows, without holes.
 */
#include "common/memory.h"
#include "common/text.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_BLOCK UINT64_MAX

/* In blocks. */
struct piece {
	uint64_t lblk, pblk, len;
	enum e4_map_type type;
};

struct pieces {
	struct piece *list;
	size_t count, capacity;
};

static const char *type_name(enum e4_map_type type)
{
	switch (type) {
	case E4_MAP_HOLE:
		return "hole";
	case E4_MAP_DELALLOC:
		return "delalloc";
	case E4_MAP_MAPPED:
		return "mapped";
	case E4_MAP_UNWRITTEN:
		return "unwritten";
	case E4_MAP_INLINE:
		return "inline";
	}
	return "unknown";
}

static void pieces_add(struct pieces *p, struct piece piece)
{
	struct piece *last = p->count > 0 ? &p->list[p->count - 1] : NULL;

	if (piece.type == E4_MAP_HOLE && last != NULL && last->type == E4_MAP_HOLE) {
		last->len += piece.len;
		return;
	}
	p->list = memory_room(p->list, p->count, &p->capacity, sizeof(*p->list));
	p->list[p->count++] = piece;
}

static void pieces_add_hole(struct pieces *p, uint64_t from, uint64_t to)
{
	if (from < to) {
		pieces_add(p, (struct piece){from, NO_BLOCK, to - from, E4_MAP_HOLE});
	}
}

/* All pieces of the file; 0 or a negative errno. */
static int pieces_read(struct e4_file *file, uint64_t bsize, uint64_t end, struct pieces *ret)
{
	struct e4_mapping m;
	struct piece piece;
	uint64_t next = 0;
	int r;

	for (;;) {
		m = (struct e4_mapping){.struct_size = sizeof(m)};
		r = e4_map_report(file, next * bsize, &m);
		if (r <= 0) {
			break;
		}
		piece.type = (enum e4_map_type)m.type;
		piece.lblk = m.offset / bsize;
		piece.len = (m.length + bsize - 1) / bsize;
		piece.pblk = piece.type == E4_MAP_MAPPED || piece.type == E4_MAP_UNWRITTEN
				     ? m.addr / bsize
				     : NO_BLOCK;
		if (piece.type != E4_MAP_HOLE) {
			pieces_add_hole(ret, next, piece.lblk < end ? piece.lblk : end);
			pieces_add(ret, piece);
		} else {
			pieces_add_hole(ret, next,
				piece.lblk + piece.len < end ? piece.lblk + piece.len : end);
		}
		if (piece.lblk + piece.len <= next) {
			return -EIO; /* the library promises to get on */
		}
		next = piece.lblk + piece.len;
	}
	if (r == 0) {
		pieces_add_hole(ret, next, end);
	}
	return r;
}

static void print_json(const struct pieces *p)
{
	struct json j = {.out = stdout};

	json_list_begin(&j, NULL);
	for (size_t i = 0; i < p->count; i++) {
		json_object_begin(&j, NULL);
		json_number(&j, "lblk", p->list[i].lblk);
		if (p->list[i].pblk == NO_BLOCK) {
			json_null(&j, "pblk");
		} else {
			json_number(&j, "pblk", p->list[i].pblk);
		}
		json_number(&j, "len", p->list[i].len);
		json_text(&j, "type", type_name(p->list[i].type));
		json_object_end(&j);
	}
	json_list_end(&j);
	json_end(&j);
}

static void print_person(
	const char *path, const struct e4_stat *st, uint64_t bsize, const struct pieces *p)
{
	size_t extents = 0;
	const struct piece *e;

	fputs("File size of ", stdout);
	text_name(stdout, path, isatty(STDOUT_FILENO));
	printf(" is %" PRIu64 " (%" PRIu64 " blocks of %" PRIu64 " bytes)\n", st->size,
		(st->size + bsize - 1) / bsize, bsize);
	puts(" ext:     logical_offset:           physical_offset:      length: type");
	for (size_t i = 0; i < p->count; i++) {
		e = &p->list[i];
		printf("%4zu: %10" PRIu64 "..%10" PRIu64 ": ", i, e->lblk, e->lblk + e->len - 1);
		if (e->pblk == NO_BLOCK) {
			printf("%12s  %12s: ", "-", "");
		} else {
			printf("%12" PRIu64 "..%12" PRIu64 ": ", e->pblk, e->pblk + e->len - 1);
		}
		printf("%11" PRIu64 ": %s\n", e->len, type_name(e->type));
		extents += e->type != E4_MAP_HOLE;
	}
	text_name(stdout, path, isatty(STDOUT_FILENO));
	printf(": %zu extent%s found\n", extents, extents == 1 ? "" : "s");
}

static int map_one(struct volume *v, const char *path)
{
	struct e4_fs_info info = {.struct_size = sizeof(info)};
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct pieces pieces = {0};
	struct e4_file *file;
	int r = e4_fs_info(v->fs, &info);

	if (r < 0) {
		return volume_failed(v, path, r);
	}
	r = e4_open(v->fs, path, E4_O_RDONLY, 0, &file);
	if (r < 0) {
		return volume_failed(v, path, r);
	}
	r = e4_fstat(file, &st);
	if (r == 0) {
		r = pieces_read(file, info.block_size,
			(st.size + info.block_size - 1) / info.block_size, &pieces);
	}
	if (r < 0) {
		(void)volume_failed(v, path, r);
	} else if (v->args->json) {
		print_json(&pieces);
	} else {
		print_person(path, &st, info.block_size, &pieces);
	}
	free(pieces.list);
	(void)e4_close(file);
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}

int e4_map(const struct command *command, int argc, char **argv)
{
	struct volume v;
	struct args args;
	int status = args_parse(&args, command, NULL, 0, argc, argv, 2, 2);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	status = map_one(&v, args.operands[1]);
	volume_close(&v);
	return status;
}
