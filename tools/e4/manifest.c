/*
 * manifest.c - e4 manifest: one line an object, to compare trees by.
 *
 * The walk collects all objects with their inodes' fields; then threads take rows by number and add what must
 * be read, the checksums; then the rows are sorted by path and printed.
 *
 * Owns:    the rows. A row belongs to the walk, then to the one thread that took its number, then to the printer.
 * Always:  what cannot be read shows as !ERRNO and the rest goes on. A directory met twice is not entered again.
 */
#include "common/copy.h"
#include "common/crc.h"
#include "common/inoset.h"
#include "common/listing.h"
#include "common/memory.h"
#include "common/path.h"
#include "common/report.h"
#include "common/text.h"
#include "common/volume.h"
#include "common/xattrs.h"
#include "e4/e4.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct row {
	char *path;
	struct e4_stat st;
	int err;         /* of the inode; or of a directory's entries */
	bool no_inode;   /* st holds nothing but ino and the type that the directory told */
	char *content;   /* NULL = - */
	char xattrs[24]; /* "" = - */
};

struct manifest {
	struct volume *v;
	struct row *rows;
	size_t count, capacity;
	struct inoset seen;
	atomic_size_t taken; /* rows given to threads */
	atomic_bool failed;
};

/* What a thread keeps between rows. */
struct worker {
	struct manifest *m;
	struct xattrs xattrs;
	void *buf; /* COPY_PIECE bytes */
	pthread_t thread;
	bool started;
};

static void failed(struct manifest *m, const char *path, int64_t err)
{
	(void)volume_failed(m->v, path, err);
	atomic_store(&m->failed, true);
}

static char *error_text(int64_t err)
{
	const char *name = e4_errno_name((int)err);
	size_t len = strlen(name);
	char *text = memory_grow(NULL, len + 2, 1);

	text[0] = '!';
	memcpy(text + 1, name, len + 1);
	return text;
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

/* Adds a row for ip, or for what could not be had (ip NULL, err). The path is kept. */
static void row_add(
	struct manifest *m, char *path, uint32_t ino, uint32_t type, struct e4_inode *ip, int err)
{
	struct row *row;

	m->rows = memory_room(m->rows, m->count, &m->capacity, sizeof(*m->rows));
	row = &m->rows[m->count++];
	*row = (struct row){.path = path, .err = err, .st.struct_size = sizeof(row->st)};
	if (ip != NULL) {
		row->err = e4_inode_stat(ip, &row->st);
	}
	if (row->err < 0) {
		row->no_inode = true;
		row->st.ino = ino;
		row->st.mode = type;
		failed(m, path, row->err);
	}
}

static void add_children(struct manifest *m, struct e4_inode *dir, size_t at)
{
	const char *path = m->rows[at].path;
	struct listing list;
	struct e4_inode *ip;
	int r = listing_read(dir, false, &list);

	for (size_t i = 0; i < list.count; i++) {
		const struct listing_entry *entry = &list.entries[i];
		int err = e4_inode_get(m->v->fs, entry->ino, 0, &ip);

		row_add(m, path_join(path, entry->name), entry->ino, entry->type,
			err < 0 ? NULL : ip, err);
		if (err == 0) {
			e4_inode_put(ip, 1);
		}
	}
	listing_free(&list);
	if (r < 0) {
		failed(m, path, r);
		m->rows[at].err = r;
	}
}

/* Rows are at the same time the list of directories to enter. */
static void walk(struct manifest *m)
{
	struct e4_inode *ip;
	int r;

	for (size_t at = 0; at < m->count; at++) {
		struct row *row = &m->rows[at];

		if (row->no_inode || !S_ISDIR(row->st.mode)) {
			continue;
		}
		if (!inoset_add(&m->seen, row->st.ino, NULL)) {
			report("manifest", row->path, -ELOOP, "this directory was listed already");
			atomic_store(&m->failed, true);
			row->err = -ELOOP;
			continue;
		}
		r = e4_inode_get(m->v->fs, row->st.ino, 0, &ip);
		if (r < 0) {
			row->err = r;
			failed(m, row->path, r);
			continue;
		}
		add_children(m, ip, at); /* moves the rows */
		e4_inode_put(ip, 1);
	}
}

/* --- what must be read ------------------------------------------------------------------------------------------- */

/* The CRC of a run of data from `pos` to `end`; 0 or a negative errno. */
static int crc_run(struct e4_file *file, void *buf, uint64_t pos, uint64_t end, uint32_t *crc)
{
	int64_t n;

	while (pos < end) {
		n = e4_pread(file, buf, end - pos < COPY_PIECE ? end - pos : COPY_PIECE, pos);
		if (n <= 0) {
			return n < 0 ? (int)n : -EIO;
		}
		*crc = crc_bytes(*crc, buf, (size_t)n);
		pos += (uint64_t)n;
	}
	return 0;
}

static int crc_file(struct e4_file *file, void *buf, uint64_t size, uint32_t *ret)
{
	uint32_t crc = 0;
	uint64_t pos = 0;
	int64_t data;
	int64_t hole;
	int r;

	while (pos < size) {
		data = e4_seek_data(file, pos);
		if (data == -ENXIO) {
			data = (int64_t)size;
		}
		if (data < 0) {
			return (int)data;
		}
		if ((uint64_t)data > size) {
			data = (int64_t)size;
		}
		crc = crc_zeros(crc, (uint64_t)data - pos);
		pos = (uint64_t)data;
		if (pos == size) {
			break;
		}
		hole = e4_seek_hole(file, pos);
		if (hole < 0) {
			return (int)hole;
		}
		hole = (uint64_t)hole < size ? hole : (int64_t)size;
		r = crc_run(file, buf, pos, (uint64_t)hole, &crc);
		if (r < 0) {
			return r;
		}
		pos = (uint64_t)hole;
	}
	*ret = crc;
	return 0;
}

static void fill_file(struct worker *w, struct row *row, struct e4_inode *ip)
{
	char text[16];
	struct e4_file *file;
	uint32_t crc = 0;
	int r = e4_inode_open(ip, E4_O_RDONLY, &file);

	if (r == 0) {
		r = crc_file(file, w->buf, row->st.size, &crc);
		(void)e4_close(file);
	}
	if (r < 0) {
		row->content = error_text(r);
		/* without a key an encrypted file cannot be read by anyone: that is no failure */
		if (r != -ENOKEY) {
			failed(w->m, row->path, r);
		}
		return;
	}
	snprintf(text, sizeof(text), "%08" PRIx32, crc);
	row->content = memory_copy(text, strlen(text));
}

static void fill_link(struct worker *w, struct row *row, struct e4_inode *ip)
{
	int64_t len = e4_inode_readlink(ip, w->buf, COPY_PIECE);

	if (len < 0) {
		row->content = error_text(len);
		failed(w->m, row->path, len);
	} else {
		row->content = text_escaped(w->buf, len < COPY_PIECE ? (size_t)len : COPY_PIECE);
	}
}

/* A list that cannot be had shows as none, as the kernel's own tools see it, but it is reported. */
static void fill_xattrs(struct worker *w, struct row *row, struct e4_inode *ip)
{
	struct xattrs *x = &w->xattrs;
	uint32_t crc = 0;
	int64_t len = xattrs_list(x, ip);

	if (len < 0) {
		if (len != -EOPNOTSUPP) {
			failed(w->m, row->path, len);
		}
		return;
	}
	for (size_t i = 0; i < x->count; i++) {
		len = xattrs_get(x, ip, x->names[i]);
		if (len < 0) {
			snprintf(row->xattrs, sizeof(row->xattrs), "!%s", e4_errno_name((int)len));
			failed(w->m, row->path, len);
			return;
		}
		crc = crc_bytes(crc, x->names[i], strlen(x->names[i]));
		crc = crc_bytes(crc, "=", 1);
		crc = crc_bytes(crc, x->value, (size_t)len);
		crc = crc_bytes(crc, "", 1);
	}
	if (x->count > 0) {
		snprintf(row->xattrs, sizeof(row->xattrs), "%08" PRIx32, crc);
	}
}

static void fill(struct worker *w, struct row *row)
{
	struct e4_inode *ip;
	int r;

	if (row->no_inode) {
		return;
	}
	r = e4_inode_get(w->m->v->fs, row->st.ino, 0, &ip);
	if (r < 0) {
		row->content = error_text(r);
		failed(w->m, row->path, r);
		return;
	}
	if (S_ISREG(row->st.mode)) {
		fill_file(w, row, ip);
	} else if (S_ISLNK(row->st.mode)) {
		fill_link(w, row, ip);
	}
	fill_xattrs(w, row, ip);
	e4_inode_put(ip, 1);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	size_t at;

	w->buf = memory_grow(NULL, COPY_PIECE, 1);
	while ((at = atomic_fetch_add(&w->m->taken, 1)) < w->m->count) {
		fill(w, &w->m->rows[at]);
	}
	free(w->buf);
	xattrs_free(&w->xattrs);
	return NULL;
}

/* Threads that cannot be had are done without; this one works too. */
static void fill_all(struct manifest *m, unsigned threads)
{
	struct worker workers[THREADS_MAX] = {0};

	for (unsigned i = 0; i < threads; i++) {
		workers[i].m = m;
		workers[i].started = i > 0 && pthread_create(&workers[i].thread, NULL, work,
						      &workers[i]) == 0;
	}
	(void)work(&workers[0]);
	for (unsigned i = 1; i < threads; i++) {
		if (workers[i].started) {
			(void)pthread_join(workers[i].thread, NULL);
		}
	}
}

/* --- printing ---------------------------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->path, ((const struct row *)b)->path);
}

static void print_row(const struct row *row)
{
	const struct e4_stat *st = &row->st;
	char *path = text_escaped(row->path, strlen(row->path));
	char *content = row->content;
	char time[TEXT_TIME_MAX];

	if (row->no_inode) {
		printf("%s\t%c\t-\t-\t-\t-\t-\t-\t-\t!%s\t-\n", path, text_type_letter(st->mode),
			e4_errno_name(row->err));
		free(path);
		return;
	}
	printf("%s\t%c\t%" PRIo32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t", path,
		text_type_letter(st->mode), st->mode & 07777, st->uid, st->gid, st->nlink);
	if (S_ISDIR(st->mode)) {
		fputs("-\t", stdout);
	} else {
		printf("%" PRIu64 "\t", st->size);
	}
	text_time(&st->mtime, time);
	printf("%s\t", time);
	if (S_ISCHR(st->mode) || S_ISBLK(st->mode)) {
		printf("%" PRIu32 ":%" PRIu32 "\t", st->rdev_major, st->rdev_minor);
	} else {
		fputs("-\t", stdout);
	}
	if (content == NULL && row->err < 0) {
		printf("!%s", e4_errno_name(row->err));
	} else {
		fputs(content != NULL ? content : "-", stdout);
	}
	printf("\t%s\n", row->xattrs[0] != '\0' ? row->xattrs : "-");
	free(path);
}

/* --- the command --------------------------------------------------------------------------------------------------- */

static int manifest_run(struct manifest *m, const char *start, unsigned threads)
{
	char *path = path_clean(start);
	struct e4_inode *ip;
	int r = e4_path_lookup(m->v->fs, path, 0, &ip);

	if (r < 0) {
		(void)volume_failed(m->v, path, r);
		free(path);
		return STATUS_FAILED;
	}
	row_add(m, path, e4_inode_number(ip), 0, ip, 0);
	e4_inode_put(ip, 1);
	walk(m);
	fill_all(m, threads);
	qsort(m->rows, m->count, sizeof(*m->rows), by_path);
	for (size_t i = 0; i < m->count; i++) {
		print_row(&m->rows[i]);
		free(m->rows[i].path);
		free(m->rows[i].content);
	}
	free(m->rows);
	inoset_free(&m->seen);
	return atomic_load(&m->failed) ? STATUS_FAILED : STATUS_DONE;
}

int e4_manifest(const struct command *command, int argc, char **argv)
{
	uint64_t threads = 0;
	const struct option_spec specs[] = {
		{0, "threads", "N", "read with so many threads (one a processor, at most 8)", NULL,
			NULL, &threads},
	};
	struct manifest m = {0};
	struct volume v;
	struct args args;
	long processors;
	int status = args_parse(&args, command, specs, 1, argc, argv, 1, 2);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open(&v, &args) < 0) {
		return STATUS_FAILED;
	}
	if (threads == 0) {
		processors = sysconf(_SC_NPROCESSORS_ONLN);
		threads = processors < 1 ? 1 : (uint64_t)processors;
		threads = threads < 8 ? threads : 8;
	}
	m.v = &v;
	status = manifest_run(&m, args.operand_count > 1 ? args.operands[1] : "/",
		threads < THREADS_MAX ? (unsigned)threads : THREADS_MAX);
	volume_close(&v);
	return status;
}
