/*
 * usage_test.c - who is charged after a recovery, where usage is tracked: e2fsck counts it all again.
 */
#include "base/be.h"
#include "base/crc32c.h"
#include "crash.h"
#include "format/csum.h"
#include "format/extent.h"
#include "format/features.h"
#include "format/inode.h"
#include "format/jbd2.h"
#include "unit.h"
#include "volumes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define QUOTA "-O quota,project,fast_commit -E quotatype=usrquota:grpquota:prjquota "

static const char *const kinds[] = {
	QUOTA "-b 1024 -J size=1,fast_commit_size=64",
	QUOTA "-b 4096 -J size=4,fast_commit_size=64",
	QUOTA "-b 2048 -J size=2,fast_commit_size=64 -O ^metadata_csum",
	QUOTA "-b 1024 -J size=1,fast_commit_size=64 -O bigalloc -C 8192",
	QUOTA "-b 1024 -J size=1,fast_commit_size=64 -O ^extent,^64bit",
	QUOTA "-b 1024 -J size=1,fast_commit_size=64 -O ea_inode",
};
#define KINDS    ((int)(sizeof(kinds) / sizeof(kinds[0])))
#define INDIRECT 4 /* its usage files cannot grow */

#define FILES 20u /* a1, a2 ... with inodes in this order */

/* Files of many owners, usage that is right, a log that holds a block. */
static void make_volume(int kind, struct image *ret)
{
	ck_assert_int_eq(
		shell("rm -f v; truncate -s 24M v; mkfs.ext4 -q -F %s v && head -c 50000 "
		      "/dev/urandom >f; head -c 5000 /dev/urandom >value; for i in $(seq 1 %u); do "
		      "echo write f a$i; echo sif a$i uid $((i * 1000003 %% 60000)); echo sif a$i "
		      "gid $((i * 7)); echo sif a$i projid $((i %% 3)); done >c; echo ea_set -f "
		      "value a3 user.v >>c; echo ea_set -f value a9 user.v >>c; debugfs -w -f c v; "
		      "e2fsck -fy v; e2fsck -fn v",
			kinds[kind], FILES),
		0);
	read_volume(ret);
}

/* The first number in what a command of debugfs prints, behind `label`. */
static unsigned ask(const char *label, const char *command, unsigned argument)
{
	unsigned answer = 0;
	char line[80];

	ck_assert_int_eq(shell("debugfs -R '%s%u' v 2>/dev/null", command, argument), 0);
	FILE *f = open_out();

	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, label, strlen(label)) == 0 &&
			sscanf(line + strlen(label), "%u", &answer) == 1)
			break;
	}
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_uint_ne(answer, 0);
	return answer;
}

static inum_t first_file(void)
{
	return ask("Inode: ", "stat a", 1);
}

/* Of the first files half lost their names and half are cut short, in one chain. */
static void make_orphans(struct image *img)
{
	inum_t first = first_file();
	char script[4000];
	int at = 0;

	image_fini(img);
	for (uint32_t i = 1; i <= 12; i++) {
		at += snprintf(script + at, sizeof(script) - (size_t)at, "sif a%u dtime %u\n", i,
			i < 12 ? first + i : 0);
		at += snprintf(script + at, sizeof(script) - (size_t)at,
			i % 2 == 0 ? "sif a%u size 1%u\n" : "sif a%u links_count 0\nunlink a%u\n",
			i, i);
	}
	snprintf(script + at, sizeof(script) - (size_t)at, "ssv last_orphan %u\n", first);
	ck_assert_int_eq(shell("cat >c <<'END'\n%sEND\ndebugfs -w -f c v", script), 0);
	read_volume(img);
}

START_TEST(recover_run__orphans_of_many_owners__usage_follows)
{
	struct crash_stats stats;
	struct image dirty;
	struct image final;

	if (!have_tools())
		return;
	make_volume(_i, &dirty);
	make_orphans(&dirty);
	ck_assert_int_eq(crash_all(&dirty, 0, 10, 3u + (uint32_t)_i, &stats, &final), 0);
	ck_assert(stats.equal);
	ck_assert_uint_eq(stats.result.orphans_deleted, 6);
	ck_assert_uint_eq(stats.result.orphans_truncated, 6);
	check_clean(&final);
	image_fini(&dirty);
	image_fini(&final);
}
END_TEST

/* --- fast commits ------------------------------------------------------------------------------------------------------- */

/* Records, put together in blocks as a fast commit. */
struct records {
	uint8_t *area;
	uint32_t block_size, at;
	uint32_t crc;
};

static void put_record(struct records *w, uint32_t tag, const void *value, uint32_t len)
{
	uint8_t *p = w->area + w->at;
	uint32_t left = w->block_size - w->at % w->block_size;

	/* A record lies in one block, and room for a header stays behind it. */
	if (tag != FC_PAD && left < 4 + len + 4) {
		uint8_t zeros[4096] = {0};

		put_record(w, FC_PAD, zeros, left - 4);
		p = w->area + w->at;
	}
	struct disk_fc_tl *tl = (void *)p;

	tl->tag = le16_put((uint16_t)tag);
	tl->len = le16_put((uint16_t)len);
	memcpy(p + 4, value, len);
	w->crc = crc32c(w->crc, p, 4 + len);
	w->at += 4 + len;
}

static void begin_records(struct records *w, tid_t tid)
{
	struct le32 head[2] = {le32_put(0), le32_put(tid)};

	put_record(w, FC_HEAD, head, sizeof(head));
}

static void end_records(struct records *w, tid_t tid)
{
	uint32_t left = w->block_size - w->at % w->block_size;
	struct disk_fc_tl *tl = (void *)(w->area + w->at);

	ck_assert_uint_ge(left, 12);
	tl->tag = le16_put(FC_TAIL);
	tl->len = le16_put((uint16_t)(left - 4));
	*(struct le32 *)(void *)(w->area + w->at + 4) = le32_put(tid);
	w->crc = crc32c(w->crc, w->area + w->at, 8);
	*(struct le32 *)(void *)(w->area + w->at + 8) = le32_put(w->crc);
}

static uint8_t *slot_of(struct image *img, inum_t ino)
{
	struct disk_super *s = super_of(img);
	uint64_t bs = (uint64_t)1024 << le32_get(s->log_block_size);
	const uint8_t *desc = img->bytes + (1024 / bs + 1) * bs;

	return img->bytes + le32_at(desc + 8) * bs + (uint64_t)(ino - 1) * le16_get(s->inode_size);
}

/* The log gets its feature bit; *ret is its area for fast commits, whose beginning is one run. */
static void open_area(struct image *img, struct records *ret)
{
	uint64_t bs = (uint64_t)1024 << le32_get(super_of(img)->log_block_size);
	struct disk_jbd2_super *js = (void *)(img->bytes + ask("", "bmap <8> ", 0) * bs);

	ck_assert_uint_eq(be32_get(js->header.magic), JBD2_MAGIC);
	js->feature_incompat = be32_put(be32_get(js->feature_incompat) | JBD2_INCOMPAT_FAST_COMMIT);
	js->checksum = be32_put(csum_jbd2_super(js));
	uint32_t first = be32_get(js->maxlen) - be32_get(js->num_fc_blks) + 1;

	*ret = (struct records){
		.area = img->bytes + ask("", "bmap <8> ", first) * bs, .block_size = (uint32_t)bs};
}

static struct le16 low(uint32_t v)
{
	return le16_put((uint16_t)v);
}

static struct le16 high(uint32_t v)
{
	return le16_put((uint16_t)(v >> 16));
}

/* All files change owners, to ids with different first bytes; one file is new and has a block. */
static void make_fast_commit(int kind, uint32_t files, struct image *img)
{
	inum_t first = first_file();
	uint8_t value[4 + 256];
	struct disk_inode *di = (void *)(value + 4);
	struct records w;

	image_fini(img);
	ck_assert_int_eq(
		shell("head -c 8192 /dev/urandom >blk; printf '%%s\\n' '%s' 'jw -b 2900 blk' jc | "
		      "debugfs -w -f - v",
			kind == 2 ? "jo" : "jo -c -v 3"),
		0);
	read_volume(img);
	open_area(img, &w);
	begin_records(&w, 2);
	for (uint32_t i = 0; i < files; i++) {
		uint32_t id = (i % 5 << 24 | i << 16 | i << 8) + 77;

		*(struct le32 *)(void *)value = le32_put(first + i);
		memcpy(di, slot_of(img, first + i), 256);
		di->uid_lo = low(id);
		di->uid_hi = high(id);
		di->gid_lo = low(id + 1);
		di->gid_hi = high(id + 1);
		di->projid = le32_put(i * 1000);
		put_record(&w, FC_INODE, value, sizeof(value));
	}
	if (kind != INDIRECT) {
		struct disk_extent e = disk_extent_make(0, 1, false, img->size / w.block_size - 8);
		uint8_t range[4 + sizeof(e)];
		uint8_t name[9] = {0};
		inum_t ino = first + FILES + 40;

		*(struct le32 *)(void *)value = le32_put(ino);
		di->links_count = le16_put(1);
		di->generation = le32_put(99);
		di->file_acl_lo = le32_put(0);
		di->size_lo = le32_put(w.block_size);
		put_record(&w, FC_INODE, value, sizeof(value));
		*(struct le32 *)(void *)range = le32_put(ino);
		memcpy(range + 4, &e, sizeof(e));
		put_record(&w, FC_ADD_RANGE, range, sizeof(range));
		*(struct le32 *)(void *)name = le32_put(INODE_ROOT);
		*(struct le32 *)(void *)(name + 4) = le32_put(ino);
		name[8] = 'n';
		put_record(&w, FC_CREAT, name, sizeof(name));
	}
	end_records(&w, 2);
}

START_TEST(recover_run__fast_commit_for_new_owners__makes_entries)
{
	struct crash_stats stats;
	struct image dirty;
	struct image final;

	if (!have_tools() || _i == INDIRECT)
		return;
	make_volume(_i, &dirty);
	make_fast_commit(_i, FILES, &dirty);
	ck_assert_int_eq(crash_all(&dirty, 0, 10, 3u + (uint32_t)_i, &stats, &final), 0);
	ck_assert(stats.equal);
	ck_assert_uint_eq(stats.result.fast_commits, FILES + 3);
	check_clean(&final);
	ck_assert_int_eq(shell("debugfs -R 'lq user' v | grep -q ' 77 '"), 0);
	image_fini(&dirty);
	image_fini(&final);
}
END_TEST

START_TEST(recover_run__usage_file_cannot_grow__is_refused_before_the_first_write)
{
	struct e4_replay_result r;
	struct image dirty;
	struct image same;

	if (!have_tools())
		return;
	make_volume(INDIRECT, &dirty);
	make_fast_commit(INDIRECT, FILES, &dirty);
	ck_assert_int_eq(image_copy(&dirty, &same), 0);
	ck_assert_int_eq(image_recover(&dirty, &r), -EOPNOTSUPP);
	ck_assert_mem_eq(dirty.bytes, same.bytes, same.size);
	ck_assert_int_eq(image_recover_in_memory(&dirty, &r), 0);
	ck_assert_uint_eq(r.fast_commits, FILES);
	image_fini(&dirty);
	image_fini(&same);
}
END_TEST

/* Header's magic, version, count of blocks; a pointer of the root. */
START_TEST(recover_run__usage_file_damaged__is_refused_before_the_first_write)
{
	static const struct {
		uint32_t at, value;
	} damages[] = {{0, 1}, {4, 0}, {20, 1}, {20, 3}, {1024, 0}, {1024, 1}, {1024, 99}};
	struct e4_replay_result r;
	struct image dirty;
	struct image same;

	if (!have_tools())
		return;
	make_volume(1, &dirty);
	make_orphans(&dirty);
	for (uint64_t at = 0; at < dirty.size; at += 4096) {
		if (le32_at(dirty.bytes + at) == 0xD9C01F11)
			*(struct le32 *)(void *)(dirty.bytes + at + damages[_i].at) = le32_put(
				damages[_i].value);
	}
	ck_assert_int_eq(image_copy(&dirty, &same), 0);
	/* A tree that knows nobody has nothing to take from. */
	bool empty = damages[_i].at == 1024 && damages[_i].value == 0;

	ck_assert_int_eq(image_recover(&dirty, &r), empty ? 0 : -EUCLEAN);
	if (!empty)
		ck_assert_mem_eq(dirty.bytes, same.bytes, same.size);
	ck_assert_int_eq(image_recover_in_memory(&same, &r), 0);
	image_fini(&dirty);
	image_fini(&same);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usage");
	TCase *t = tcase_create("usage");

	if (!volumes_begin())
		return 1;
	tcase_set_timeout(t, 100);
	tcase_add_loop_test(t, recover_run__orphans_of_many_owners__usage_follows, 0, KINDS);
	tcase_add_loop_test(t, recover_run__fast_commit_for_new_owners__makes_entries, 0, KINDS);
	tcase_add_test(t, recover_run__usage_file_cannot_grow__is_refused_before_the_first_write);
	tcase_add_loop_test(
		t, recover_run__usage_file_damaged__is_refused_before_the_first_write, 0, 7);
	suite_add_tcase(suite, t);
	int status = unit_run(suite);

	volumes_end();
	return status;
}
