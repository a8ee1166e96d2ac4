/*
 * extent_test.c - lookups against a linear model, hostile nodes, faults, threads.
 */
#include "base/atomic.h"
#include "format/csum.h"
#include "maps.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  4096u
#define BLOCKS 131072u

static struct maps m;
static struct inode ip;

static void setup(void)
{
	maps_open(&m, BLOCK, BLOCKS);
	maps_inode_init(&m, &ip);
}

static void teardown(void)
{
	maps_inode_fini(&ip);
	maps_close(&m);
}

static void assert_piece(const struct extent_piece *got, const struct extent_piece *want)
{
	ck_assert_uint_eq(got->type, want->type);
	ck_assert_uint_eq(got->lblk, want->lblk);
	ck_assert_uint_eq(got->len, want->len);
	ck_assert_uint_eq(got->pblk, want->pblk);
}

/* The border blocks of every run, and random ones. Holes of an indirect map, or behind an empty leaf, may come in parts: `exact_holes` false. */
static void compare(const struct maps_run *runs, uint32_t count, bool exact_holes)
{
	uint64_t seed = count;
	uint64_t span = count > 0 ? (uint64_t)runs[count - 1].lblk + runs[count - 1].len + 10 : 10;

	for (uint32_t i = 0; i < 4 * count + 200; i++) {
		struct extent_piece got;
		lblk_t lblk = (lblk_t)(maps_random(&seed) % span);

		if (i < 4 * count)
			lblk = runs[i / 4].lblk +
			       (i % 4 == 0          ? 0
				       : i % 4 == 1 ? runs[i / 4].len - 1
						    : runs[i / 4].len) -
			       (i % 4 == 3 && runs[i / 4].lblk > 0 ? runs[i / 4].len + 1 : 0);
		else if (i % 50 == 0)
			lblk = UINT32_MAX - i / 50 % 3;
		ck_assert_int_eq(extent_lookup(&ip, lblk, &got), 0);
		struct extent_piece want = maps_find(runs, count, lblk);
		if (want.type == EXTENT_HOLE && !exact_holes) {
			ck_assert_uint_eq(got.type, EXTENT_HOLE);
			ck_assert(got.lblk >= want.lblk && got.lblk <= lblk);
			ck_assert(got.lblk + got.len <= want.lblk + want.len &&
				  got.lblk + got.len > lblk);
		} else {
			assert_piece(&got, &want);
		}
	}
}

/* --- lookups --- */

static const uint32_t counts[] = {
	0, 1, 2, 3, 4, 5, 16, 17, 31, 32, 33, 64, 340, 341, 512, 513, 1361, 10000};

START_TEST(extent_lookup__tree_of_any_size__answers_as_the_linear_model)
{
	uint32_t count = counts[_i];
	struct maps_run *runs = calloc(count + 1, sizeof(*runs));

	maps_random_runs(&m, runs, count, 12, count);
	maps_write_tree(&m, &ip, runs, count, 0);
	compare(runs, count, true);
	compare(runs, count, true);
	ck_assert_uint_eq(atomic_load(&ip.es.records), count);
	if (count <= 4)
		ck_assert_uint_eq(atomic_load(&ip.es.heap_bytes), 0);
	if (count >= 340)
		ck_assert_uint_le(atomic_load(&ip.es.heap_bytes), 16 * (uint64_t)count);
	free(runs);
}
END_TEST

START_TEST(extent_lookup__deepest_tree__finds_every_run)
{
	struct maps_run runs[600];

	maps_random_runs(&m, runs, 600, 3, 5);
	/* Four entries a node: 600 runs need five levels below the root. */
	maps_write_tree(&m, &ip, runs, 600, 3);
	ck_assert_uint_eq(le16_get(((struct disk_extent_header *)(void *)ip.block)->depth), 5);
	compare(runs, 600, true);
}
END_TEST

START_TEST(bug_08_extent_lookup__runs_up_to_the_last_block__do_not_wrap)
{
	pblk_t free_block = maps_first_free(&m);
	struct maps_run runs[] = {
		{.lblk = 0x7FFFFFFF, .len = 2, .pblk = free_block},
		{.lblk = 0xFFFF7000, .len = 32768 - 4096, .pblk = free_block + 10},
		{.lblk = 0xFFFFFFFE, .len = 1, .pblk = free_block + 5},
	};
	struct extent_piece p;

	maps_write_tree(&m, &ip, runs, 3, 0);
	compare(runs, 3, true);
	ck_assert_int_eq(extent_lookup(&ip, UINT32_MAX, &p), 0);
	ck_assert_uint_eq(p.type, EXTENT_HOLE);
	ck_assert_uint_eq(p.lblk, UINT32_MAX);
	ck_assert_uint_eq(p.len, 1);
}
END_TEST

START_TEST(bug_08_extent_lookup__run_past_the_last_block__is_refused)
{
	struct maps_run run = {.lblk = 0xFFFFFFFE, .len = 2, .pblk = maps_first_free(&m)};
	struct extent_piece p;

	maps_write_tree(&m, &ip, &run, 1, 0);
	ck_assert_int_eq(extent_lookup(&ip, 0, &p), -EUCLEAN);
	ck_assert_str_eq(maps_why(&m), "EXTENT_WRAP");
}
END_TEST

START_TEST(extent_lookup__longest_runs__keep_their_length_and_state)
{
	struct maps_run runs[] = {
		{.lblk = 0, .len = 32768 - 600, .pblk = 300},
		{.lblk = 40000, .len = 32767 - 600, .pblk = 32768 + 300, .unwritten = true},
	};

	maps_write_tree(&m, &ip, runs, 2, 0);
	compare(runs, 2, true);
}
END_TEST

START_TEST(extent_lookup__empty_leaf_block__is_a_hole_and_not_an_error)
{
	struct maps_run runs[12];
	uint8_t node[BLOCK] = {0};
	struct disk_extent_header h = maps_header(0, extent_block_capacity(BLOCK), 0);
	struct extent_piece p;

	maps_random_runs(&m, runs, 12, 3, 3);
	maps_write_tree(&m, &ip, runs, 12, 4);
	/* Three leaves: the middle one is emptied, as a removal leaves it for a moment. */
	memcpy(node, &h, sizeof(h));
	maps_write_node(&m, &ip, BLOCKS - 2, node);
	ck_assert_int_eq(extent_lookup(&ip, runs[4].lblk, &p), 0);
	ck_assert_uint_eq(p.type, EXTENT_HOLE);
	ck_assert_uint_eq(p.lblk, runs[4].lblk);
	ck_assert_uint_eq(p.lblk + p.len, runs[8].lblk);
	memmove(&runs[4], &runs[8], 4 * sizeof(runs[0]));
	compare(runs, 8, false);
}
END_TEST

START_TEST(bug_19_extent_lookup__any_pattern_of_reads__keeps_the_leaves_touched_and_no_more)
{
	struct maps_run one = {.lblk = 0, .len = 8192, .pblk = 1000};
	struct maps_run runs[1000];
	struct extent_piece p;
	uint64_t seed = 1;

	maps_write_tree(&m, &ip, &one, 1, 0);
	for (int i = 0; i < 10000; i++)
		ck_assert_int_eq(extent_lookup(&ip, (lblk_t)(maps_random(&seed) % 8192), &p), 0);
	ck_assert_uint_eq(atomic_load(&ip.es.records), 1);
	ck_assert_uint_eq(atomic_load(&ip.es.heap_bytes), 0);

	extent_map_drop(&ip);
	maps_random_runs(&m, runs, 1000, 3, 9);
	maps_write_tree(&m, &ip, runs, 1000, 0);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(extent_lookup(&ip, runs[340 + i % 340].lblk, &p), 0);
	ck_assert_uint_eq(atomic_load(&ip.es.records), 340);
}
END_TEST

START_TEST(extent_lookup__cached__does_no_read_modify_write)
{
	struct maps_run runs[400];
	struct extent_piece p;

	maps_random_runs(&m, runs, 400, 3, 2);
	maps_write_tree(&m, &ip, runs, _i == 0 ? 4 : 400, 0);
	for (uint32_t i = 0; i < 400; i++)
		ck_assert_int_eq(extent_lookup(&ip, runs[i].lblk, &p), 0);
	uint64_t before = base_rmw_count;
	uint64_t used = mem_used_bytes(m.env);
	for (uint32_t i = 0; i < 400; i++) {
		ck_assert_int_eq(extent_lookup(&ip, runs[i].lblk, &p), 0);
		ck_assert_int_eq(extent_lookup_cached(&ip, runs[i].lblk, &p), 1);
	}
	ck_assert_uint_eq(base_rmw_count, before);
	ck_assert_uint_eq(mem_used_bytes(m.env), used);
}
END_TEST

START_TEST(extent_lookup_cached__nothing_read_yet__says_so_and_reads_nothing)
{
	struct maps_run runs[10];
	struct extent_piece p;

	maps_random_runs(&m, runs, 10, 3, 2);
	maps_write_tree(&m, &ip, runs, 10, 0);
	maps_fail_read(&m, 0);
	ck_assert_int_eq(extent_lookup_cached(&ip, 0, &p), 0);
	ck_assert_uint_eq(maps_reads(&m), 0);
	ck_assert_int_eq(extent_lookup(&ip, 0, &p), 0);
	ck_assert_int_eq(extent_lookup_cached(&ip, 0, &p), 1);
}
END_TEST

START_TEST(extent_map_drop__then_another_map__shows_the_new_one)
{
	struct maps_run runs[400];
	struct extent_piece p;
	uint64_t cookie = atomic_load(&ip.es.cookie);

	maps_random_runs(&m, runs, 400, 3, 2);
	maps_write_tree(&m, &ip, runs, 400, 0);
	compare(runs, 400, true);
	extent_map_drop(&ip);
	ck_assert_uint_ne(atomic_load(&ip.es.cookie), cookie);
	ck_assert_uint_eq(atomic_load(&ip.es.records), 0);
	ck_assert_uint_eq(atomic_load(&ip.es.heap_bytes), 0);
	maps_write_tree(&m, &ip, runs + 7, 3, 0);
	ck_assert_int_eq(extent_lookup(&ip, 0, &p), 0);
	compare(runs + 7, 3, true);
}
END_TEST

START_TEST(extent_lookup__inode_without_blocks__is_the_callers_mistake)
{
	static const struct {
		uint16_t mode;
		uint32_t flags;
	} kinds[] = {{INODE_REG, INODE_FL_INLINE_DATA}, {INODE_CHR, 0},
		{INODE_BLK, INODE_FL_EXTENTS}, {INODE_FIFO, 0}, {INODE_SOCK, 0}, {INODE_LNK, 0}};
	struct extent_piece p;
	struct extent_visit v = {0};

	ip.mode = kinds[_i].mode;
	ip.flags = kinds[_i].flags;
	ck_assert_int_eq(extent_lookup(&ip, 0, &p), -EINVAL);
	ck_assert_str_eq(maps_why(&m), "EXTENT_NO_MAP");
	ck_assert_int_eq(extent_lookup_cached(&ip, 0, &p), 0);
	ck_assert_int_eq(extent_visit_all(&ip, &v), 0);
}
END_TEST

/* --- hostile nodes --- */

/* A file of three leaves of four runs. What each case breaks is in the root, or in the leaf in the middle. */
struct hostile {
	const char *why;
	int err;
	void (*root)(struct disk_extent_header *h);
	void (*leaf)(struct disk_extent_header *h);
};

static struct disk_extent *entry(struct disk_extent_header *h, uint32_t i)
{
	return (struct disk_extent *)(void *)(h + 1) + i;
}

static struct disk_extent_idx *child(struct disk_extent_header *h, uint32_t i)
{
	return (struct disk_extent_idx *)(void *)(h + 1) + i;
}

static void no_magic(struct disk_extent_header *h)
{
	h->magic = le16_put(0xF30B);
}

static void depth_six(struct disk_extent_header *h)
{
	h->depth = le16_put(6);
}

static void max_zero(struct disk_extent_header *h)
{
	h->max = le16_put(0);
}

static void max_beyond(struct disk_extent_header *h)
{
	h->max = le16_put(le16_get(h->max) + 1);
}

static void max_huge(struct disk_extent_header *h)
{
	h->max = le16_put(0xFFFF);
}

static void entries_beyond(struct disk_extent_header *h)
{
	h->entries = le16_put(le16_get(h->max) + 1);
}

static void no_entries(struct disk_extent_header *h)
{
	h->entries = le16_put(0);
}

static void depth_more(struct disk_extent_header *h)
{
	h->depth = le16_put(le16_get(h->depth) + 1);
}

static void depth_less(struct disk_extent_header *h)
{
	h->depth = le16_put(le16_get(h->depth) - 1);
}

static void len_zero(struct disk_extent_header *h)
{
	entry(h, 1)->len = le16_put(0);
}

static void len_overlaps(struct disk_extent_header *h)
{
	entry(h, 1)->len = le16_put(1000);
}

static void len_wraps(struct disk_extent_header *h)
{
	entry(h, 3)->block = le32_put(0xFFFFFFF0);
	entry(h, 3)->len = le16_put(100);
}

static void reaches_next(struct disk_extent_header *h)
{
	entry(h, 3)->len = le16_put(5000);
	entry(h, 3)->start_lo = le32_put(2000);
}

static void first_key_other(struct disk_extent_header *h)
{
	entry(h, 0)->block = le32_put(le32_get(entry(h, 0)->block) + 1);
	entry(h, 0)->len = le16_put(1);
	entry(h, 1)->block = le32_put(le32_get(entry(h, 1)->block) + 1);
	entry(h, 1)->len = le16_put(1);
}

static void same_block_twice(struct disk_extent_header *h)
{
	child(h, 1)->block = child(h, 0)->block;
}

static void index_falls(struct disk_extent_header *h)
{
	child(h, 2)->block = le32_put(0);
}

static void data_outside(struct disk_extent_header *h)
{
	entry(h, 2)->start_lo = le32_put(BLOCKS - 1);
	entry(h, 2)->len = le16_put(2);
}

static void data_at_48_bits(struct disk_extent_header *h)
{
	entry(h, 2)->start_hi = le16_put(0xFFFF);
}

static void data_in_metadata(struct disk_extent_header *h)
{
	entry(h, 2)->start_lo = le32_put(1);
}

static void data_in_another_group(struct disk_extent_header *h)
{
	entry(h, 2)->start_lo = le32_put(32768);
}

static void data_zero(struct disk_extent_header *h)
{
	entry(h, 2)->start_lo = le32_put(0);
}

static void child_outside(struct disk_extent_header *h)
{
	child(h, 1)->leaf_lo = le32_put(BLOCKS);
}

static void child_in_metadata(struct disk_extent_header *h)
{
	child(h, 1)->leaf_lo = le32_put(2);
}

static void child_zero(struct disk_extent_header *h)
{
	child(h, 1)->leaf_lo = le32_put(0);
}

static void child_of_other(struct disk_extent_header *h)
{
	child(h, 1)->leaf_lo = child(h, 0)->leaf_lo;
}

static const struct hostile hostiles[] = {
	{"EXTENT_MAGIC", -EUCLEAN, no_magic, NULL},
	{"EXTENT_MAGIC", -EUCLEAN, NULL, no_magic},
	{"EXTENT_DEPTH", -EUCLEAN, depth_six, NULL},
	{"EXTENT_DEPTH", -EUCLEAN, NULL, depth_six},
	{"EXTENT_MAX", -EUCLEAN, max_zero, NULL},
	{"EXTENT_MAX", -EUCLEAN, max_beyond, NULL},
	{"EXTENT_MAX", -EUCLEAN, NULL, max_beyond},
	{"EXTENT_MAX", -EUCLEAN, NULL, max_huge},
	{"EXTENT_ENTRIES", -EUCLEAN, entries_beyond, NULL},
	{"EXTENT_ENTRIES", -EUCLEAN, NULL, entries_beyond},
	{"EXTENT_EMPTY_INDEX", -EUCLEAN, no_entries, NULL},
	{"EXTENT_DEPTH_STEP", -EUCLEAN, depth_more, NULL},
	{"EXTENT_DEPTH_STEP", -EUCLEAN, NULL, depth_more},
	{"EXTENT_ORDER", -EUCLEAN, depth_less, NULL},
	{"EXTENT_LEN", -EUCLEAN, NULL, len_zero},
	{"EXTENT_ORDER", -EUCLEAN, NULL, len_overlaps},
	{"EXTENT_WRAP", -EUCLEAN, NULL, len_wraps},
	{"EXTENT_BEYOND_NEXT", -EUCLEAN, NULL, reaches_next},
	{"EXTENT_FIRST_KEY", -EUCLEAN, NULL, first_key_other},
	{"EXTENT_FIRST_KEY", -EUCLEAN, child_of_other, NULL},
	{"EXTENT_INDEX_ORDER", -EUCLEAN, same_block_twice, NULL},
	{"EXTENT_INDEX_ORDER", -EUCLEAN, index_falls, NULL},
	{"MAPPING_OUTSIDE", -EUCLEAN, NULL, data_outside},
	{"MAPPING_OUTSIDE", -EUCLEAN, NULL, data_at_48_bits},
	{"MAPPING_OUTSIDE", -EUCLEAN, NULL, data_zero},
	{"MAPPING_METADATA", -EUCLEAN, NULL, data_in_metadata},
	{"MAPPING_METADATA", -EUCLEAN, NULL, data_in_another_group},
	{"MAPPING_OUTSIDE", -EUCLEAN, child_outside, NULL},
	{"MAPPING_OUTSIDE", -EUCLEAN, child_zero, NULL},
	{"MAPPING_METADATA", -EUCLEAN, child_in_metadata, NULL},
};
#define HOSTILES (int)(sizeof(hostiles) / sizeof(hostiles[0]))

/* Evenly spaced, so that a case can count on gaps. */
static void hostile_runs(struct maps_run *runs)
{
	for (uint32_t i = 0; i < 12; i++)
		runs[i] = (struct maps_run){
			.lblk = 100 * i, .len = 3, .pblk = maps_first_free(&m) + 10 * i};
}

START_TEST(bug_06_extent_lookup__hostile_node__is_refused_by_the_rule_it_breaks)
{
	const struct hostile *c = &hostiles[_i];
	struct maps_run runs[12];
	uint8_t node[BLOCK];
	struct extent_piece p;
	struct extent_visit v = {0};

	hostile_runs(runs);
	maps_write_tree(&m, &ip, runs, 12, 4);
	if (c->root != NULL)
		c->root((struct disk_extent_header *)(void *)ip.block);
	if (c->leaf != NULL) {
		maps_read_block(&m, BLOCKS - 2, node);
		c->leaf((struct disk_extent_header *)(void *)node);
		maps_write_node(&m, &ip, BLOCKS - 2, node);
	}
	for (int again = 0; again < 2; again++) {
		ck_assert_int_eq(extent_lookup(&ip, 500, &p), c->err);
		ck_assert_str_eq(maps_why(&m), c->why);
		ck_assert_int_eq(extent_visit_all(&ip, &v), c->err);
	}
	/* What is not under the bad node stays readable. */
	if (c->leaf != NULL)
		ck_assert_int_eq(extent_lookup(&ip, 0, &p), 0);
}
END_TEST

START_TEST(bug_06_extent_lookup__block_changed_under_the_cache__is_checked_again)
{
	struct maps_run runs[12];
	uint8_t node[BLOCK];
	struct extent_piece p;

	hostile_runs(runs);
	maps_write_tree(&m, &ip, runs, 12, 4);
	compare(runs, 12, true);
	maps_read_block(&m, BLOCKS - 2, node);
	entries_beyond((struct disk_extent_header *)(void *)node);
	maps_write_node(&m, &ip, BLOCKS - 2, node);
	extent_map_drop(&ip);
	maps_forget(&m);
	ck_assert_int_eq(extent_lookup(&ip, 500, &p), -EUCLEAN);
}
END_TEST

START_TEST(extent_lookup__wrong_checksum__is_ebadmsg)
{
	struct maps_run runs[12];
	uint8_t node[BLOCK];
	struct extent_piece p;

	hostile_runs(runs);
	maps_write_tree(&m, &ip, runs, 12, 4);
	maps_read_block(&m, BLOCKS - 2, node);
	node[sizeof(struct disk_extent_header) + 5] ^= 1;
	maps_write_block(&m, BLOCKS - 2, node);
	ck_assert_int_eq(extent_lookup(&ip, 500, &p), -EBADMSG);
}
END_TEST

START_TEST(extent_lookup__node_of_another_inode__has_the_wrong_checksum)
{
	struct maps_run runs[12];
	struct extent_piece p;

	hostile_runs(runs);
	maps_write_tree(&m, &ip, runs, 12, 4);
	ck_assert_int_eq(extent_lookup(&ip, 500, &p), 0);
	extent_map_drop(&ip);
	ip.csum_seed ^= 1;
	ck_assert_int_eq(extent_lookup(&ip, 500, &p), -EBADMSG);
}
END_TEST

START_TEST(extent_lookup__node_that_names_itself__ends_by_depth)
{
	struct maps_run runs[12];
	uint8_t node[BLOCK] = {0};
	struct extent_piece p;
	struct extent_visit v = {0};

	hostile_runs(runs);
	maps_write_tree(&m, &ip, runs, 12, 4);
	struct disk_extent_header h = maps_header(1, extent_block_capacity(BLOCK), 4);
	struct disk_extent_idx x = disk_extent_idx_make(0, BLOCKS - 1);
	memcpy(node, &h, sizeof(h));
	memcpy(node + sizeof(h), &x, sizeof(x));
	maps_write_node(&m, &ip, BLOCKS - 1, node);
	depth_more((struct disk_extent_header *)(void *)ip.block);
	depth_more((struct disk_extent_header *)(void *)ip.block);
	depth_more((struct disk_extent_header *)(void *)ip.block);
	depth_more((struct disk_extent_header *)(void *)ip.block);
	ck_assert_int_eq(extent_lookup(&ip, 0, &p), -EUCLEAN);
	ck_assert_str_eq(maps_why(&m), "EXTENT_DEPTH_STEP");
	ck_assert_int_eq(extent_visit_all(&ip, &v), -EUCLEAN);
}
END_TEST

START_TEST(extent_lookup__random_damage__never_leaves_the_rules)
{
	struct maps_run runs[12];
	uint8_t clean[BLOCK], node[BLOCK];
	uint64_t seed = 77;
	struct extent_piece p;

	hostile_runs(runs);
	maps_write_tree(&m, &ip, runs, 12, 4);
	maps_read_block(&m, BLOCKS - 2, clean);
	for (int i = 0; i < 3000; i++) {
		memcpy(node, clean, BLOCK);
		for (int k = 0; k < 3; k++)
			node[maps_random(&seed) % 64] = (uint8_t)maps_random(&seed);
		maps_write_node(&m, &ip, BLOCKS - 2, node);
		extent_map_drop(&ip);
		maps_forget(&m);
		for (lblk_t lblk = 395; lblk < 810; lblk += 5) {
			int r = extent_lookup(&ip, lblk, &p);

			ck_assert(r == 0 || r == -EUCLEAN || r == -EBADMSG);
			if (r == 0) {
				ck_assert(p.lblk <= lblk && p.len > 0 && p.lblk + p.len > lblk);
				ck_assert(p.type == EXTENT_HOLE || p.pblk + p.len <= BLOCKS);
			}
		}
	}
}
END_TEST

/* --- faults --- */

START_TEST(bug_05_extent_lookup__nth_read_fails__is_an_error_and_then_right)
{
	struct maps_run runs[200];
	struct extent_piece p;
	bool failed = true;

	maps_random_runs(&m, runs, 200, 3, 8);
	maps_write_tree(&m, &ip, runs, 200, 3);
	for (uint64_t nth = 1; failed; nth++) {
		maps_forget(&m);
		extent_map_drop(&ip);
		maps_fail_read(&m, nth);
		int r = extent_lookup(&ip, runs[150].lblk, &p);
		failed = maps_reads(&m) >= nth;
		if (failed)
			ck_assert_int_eq(r, -EIO);
		else
			ck_assert_int_eq(r, 0);
		maps_fail_read(&m, 0);
		ck_assert_int_eq(extent_lookup(&ip, runs[150].lblk, &p), 0);
		ck_assert_uint_eq(p.pblk, runs[150].pblk);
		ck_assert_uint_lt(nth, 50);
	}
}
END_TEST

/* Memory that runs out after so many allocations. */
struct short_memory {
	uint64_t left;
};

static void *short_alloc(void *ctx, size_t size, size_t align)
{
	struct short_memory *s = ctx;

	if (s->left == 0)
		return NULL;
	s->left--;
	return aligned_alloc(align < sizeof(void *) ? sizeof(void *) : align,
		(size + align - 1) / align * align);
}

START_TEST(extent_lookup__nth_allocation_fails__is_enomem_and_leaks_nothing)
{
	struct maps_run runs[200];
	struct short_memory s = {0};
	struct extent_piece p;
	int r = -ENOMEM;

	maps_random_runs(&m, runs, 200, 3, 8);
	maps_write_tree(&m, &ip, runs, 200, 3);
	void *(*alloc)(void *, size_t, size_t) = m.env->mem.alloc;
	void *alloc_ctx = m.env->mem.ctx;
	ck_assert_int_eq(extent_lookup(&ip, 0, &p), 0); /* the context */
	for (uint64_t n = 0; r != 0; n++) {
		maps_forget(&m);
		extent_map_drop(&ip);
		s.left = n;
		m.env->mem.alloc = short_alloc;
		m.env->mem.ctx = &s;
		r = extent_lookup(&ip, runs[150].lblk, &p);
		m.env->mem.alloc = alloc;
		m.env->mem.ctx = alloc_ctx;
		ck_assert(r == 0 || r == -ENOMEM);
		ck_assert_uint_lt(n, 100);
	}
	ck_assert_uint_eq(p.pblk, runs[150].pblk);
}
END_TEST

/* --- indirect maps --- */

static const uint32_t block_sizes[] = {1024, 2048, 4096, 65536};

/* With one inode of its own block size. */
static void reopen(uint32_t block_size, uint32_t blocks)
{
	teardown();
	maps_open(&m, block_size, blocks);
	maps_inode_init(&m, &ip);
}

START_TEST(extent_lookup__indirect_map__answers_as_the_linear_model)
{
	uint32_t block_size = block_sizes[_i];
	uint32_t apb = block_size / 4;
	uint32_t dind = 12 + apb;
	uint64_t tind = dind + (uint64_t)apb * apb;

	reopen(block_size, 20000);
	pblk_t at = maps_first_free(&m);
	struct maps_run runs[] = {
		{.lblk = 0, .len = 2, .pblk = at},
		{.lblk = 3, .len = 9, .pblk = at + 10},
		{.lblk = 13, .len = 20, .pblk = at + 30},
		{.lblk = dind - 1, .len = 1, .pblk = at + 60},
		{.lblk = dind, .len = 1, .pblk = at + 70},
		{.lblk = dind + apb, .len = 5, .pblk = at + 80},
		{.lblk = dind + 7 * apb + 3, .len = 10, .pblk = at + 100},
		{.lblk = (lblk_t)tind - 1, .len = 1, .pblk = at + 120},
		{.lblk = (lblk_t)tind, .len = 3, .pblk = at + 130},
		{.lblk = (lblk_t)tind + 5 * apb * apb + 3 * apb, .len = 4, .pblk = at + 140},
	};
	for (uint32_t count = 1; count <= 10; count++) {
		maps_write_indirect(&m, &ip, runs, count);
		extent_map_drop(&ip);
		maps_forget(&m);
		compare(runs, count, false);
		compare(runs, count, false);
		if (count <= 2)
			ck_assert_uint_eq(atomic_load(&ip.es.heap_bytes), 0);
		ck_assert_uint_eq(atomic_load(&ip.es.records), count);
	}
}
END_TEST

START_TEST(extent_lookup__direct_pointers_scattered__need_no_block)
{
	struct maps_run runs[6];
	pblk_t at = maps_first_free(&m);

	for (uint32_t i = 0; i < 6; i++)
		runs[i] = (struct maps_run){.lblk = 2 * i, .len = 1, .pblk = at + 2 * i};
	maps_write_indirect(&m, &ip, runs, 6);
	maps_fail_read(&m, 0);
	compare(runs, 6, false);
	ck_assert_uint_le(maps_reads(&m), 1); /* descriptors, to know what is metadata */
}
END_TEST

START_TEST(bug_09_extent_lookup__holes_of_an_indirect_map__have_a_length_and_end)
{
	uint32_t block_size = block_sizes[_i];

	reopen(block_size, 20000);
	uint32_t apb = block_size / 4;
	uint64_t tind = 12 + apb + (uint64_t)apb * apb;
	uint64_t far = tind + (uint64_t)apb * apb; /* under the second pointer of the triple block */
	struct maps_run runs[] = {
		{.lblk = 0, .len = 1, .pblk = maps_first_free(&m)},
		{.lblk = (lblk_t)far, .len = 1, .pblk = maps_first_free(&m) + 5},
	};
	maps_write_indirect(&m, &ip, runs, 2);
	uint64_t lblk = 1;
	int steps = 0;
	while (lblk < UINT64_C(0x100000000)) {
		struct extent_piece p;

		ck_assert_int_eq(extent_lookup(&ip, (lblk_t)lblk, &p), 0);
		ck_assert_uint_ge(p.len, 1);
		ck_assert(p.type == EXTENT_HOLE || lblk == far);
		ck_assert_uint_le(p.lblk, lblk);
		ck_assert_uint_gt(p.lblk + p.len, lblk);
		lblk = p.lblk + p.len;
		ck_assert_int_lt(++steps, 20);
	}
	ck_assert_uint_eq(lblk, UINT64_C(0x100000000));
}
END_TEST

START_TEST(extent_lookup__indirect_pointer_to_metadata_or_outside__is_refused)
{
	static const uint32_t bad[] = {1, 2, 32768, BLOCKS, UINT32_MAX};
	struct maps_run run = {.lblk = 12, .len = 3, .pblk = maps_first_free(&m)};
	struct le32 node[BLOCK / 4];
	struct extent_piece p;

	maps_write_indirect(&m, &ip, &run, 1);
	/* In the block. */
	maps_read_block(&m, BLOCKS - 1, node);
	node[2] = le32_put(bad[_i]);
	maps_write_block(&m, BLOCKS - 1, node);
	ck_assert_int_eq(extent_lookup(&ip, 12, &p), -EUCLEAN);
	/* To the block, and among the direct ones. */
	struct le32 *root = (struct le32 *)(void *)ip.block;
	for (uint32_t slot = 0; slot < 15; slot += 7) {
		maps_write_indirect(&m, &ip, &run, 1);
		root[slot] = le32_put(bad[_i]);
		extent_map_drop(&ip);
		ck_assert_int_eq(extent_lookup(&ip, 0, &p), -EUCLEAN);
	}
}
END_TEST

START_TEST(extent_lookup__indirect_block_that_names_itself__ends)
{
	struct le32 node[BLOCK / 4];
	struct extent_piece p;

	memset(ip.block, 0, sizeof(ip.block));
	ip.flags = 0;
	((struct le32 *)(void *)ip.block)[14] = le32_put(BLOCKS - 1);
	for (uint32_t i = 0; i < BLOCK / 4; i++)
		node[i] = le32_put(BLOCKS - 1);
	maps_write_block(&m, BLOCKS - 1, node);
	for (uint64_t lblk = 0; lblk < UINT32_MAX; lblk = p.lblk + p.len + 99999999) {
		ck_assert_int_eq(extent_lookup(&ip, (lblk_t)lblk, &p), 0);
		ck_assert_uint_ge(p.len, 1);
	}
}
END_TEST

/* --- visiting all --- */

struct visited {
	uint32_t meta, runs, mismatch, stop_at;
	const struct maps_run *want;
};

static int on_meta(void *arg, pblk_t pblk)
{
	struct visited *v = arg;

	ck_assert_uint_gt(pblk, m.next_node);
	v->meta++;
	return 0;
}

static int on_run(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	struct visited *v = arg;
	const struct maps_run *w = &v->want[v->runs++];

	v->mismatch += w->lblk != lblk || w->len != len || w->pblk != pblk ||
		       w->unwritten != unwritten;
	return v->runs == v->stop_at ? 42 : 0;
}

START_TEST(extent_visit_all__tree__names_every_node_and_every_run_in_order)
{
	struct maps_run *runs = calloc(10000, sizeof(*runs));
	struct visited v = {.want = runs};
	struct extent_visit visit = {.meta = on_meta, .run = on_run, .arg = &v};

	maps_random_runs(&m, runs, 10000, 3, 4);
	uint32_t nodes = maps_write_tree(&m, &ip, runs, 10000, 0);
	ck_assert_int_eq(extent_visit_all(&ip, &visit), 0);
	ck_assert_uint_eq(v.runs, 10000);
	ck_assert_uint_eq(v.meta, nodes);
	ck_assert_uint_eq(v.mismatch, 0);
	ck_assert_uint_eq(atomic_load(&ip.es.records), 0);
	v = (struct visited){.want = runs, .stop_at = 500};
	ck_assert_int_eq(extent_visit_all(&ip, &visit), 42);
	ck_assert_uint_eq(v.runs, 500);
	free(runs);
}
END_TEST

START_TEST(extent_visit_all__indirect_map__names_every_block)
{
	pblk_t at = maps_first_free(&m);
	struct maps_run runs[] = {
		{.lblk = 1, .len = 3, .pblk = at},
		{.lblk = 20, .len = 3, .pblk = at + 10},
		{.lblk = 2000, .len = 7, .pblk = at + 20},
		{.lblk = 12 + 1024 + 1024 * 1024 + 9, .len = 2, .pblk = at + 40},
	};
	struct visited v = {.want = runs};
	struct extent_visit visit = {.meta = on_meta, .run = on_run, .arg = &v};

	uint32_t nodes = maps_write_indirect(&m, &ip, runs, 4);
	ck_assert_uint_eq(nodes, 1 + 2 + 3);
	ck_assert_int_eq(extent_visit_all(&ip, &visit), 0);
	ck_assert_uint_eq(v.meta, nodes);
	ck_assert_uint_eq(v.runs, 4);
	ck_assert_uint_eq(v.mismatch, 0);
}
END_TEST

/* --- threads --- */

#define THREADS 8

struct worker {
	pthread_t thread;
	const struct maps_run *runs;
	uint32_t count;
	uint64_t seed;
	uint32_t wrong;
	bool may_drop;
};

static void *look_around(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < 3000; i++) {
		const struct maps_run *run = &w->runs[maps_random(&w->seed) % w->count];
		struct extent_piece p;

		w->wrong += extent_lookup(&ip, run->lblk + run->len - 1, &p) != 0 ||
			    p.pblk != run->pblk || p.lblk != run->lblk || p.len != run->len;
		if (w->may_drop && i % 100 == 0)
			extent_map_drop(&ip);
	}
	return NULL;
}

/* One after the other from a cold map; in the second turn one thread keeps dropping it, in the third the map has no heap. */
START_TEST(bug_16_18_extent_lookup__threads_on_one_cold_map__all_find_the_same)
{
	struct maps_run runs[2000];
	struct worker w[THREADS] = {0};
	uint32_t count = _i == 2 ? 4 : 2000;

	/* A map may be dropped under readers only where they say that they read. */
	m.vol->opts.read_only = _i == 0;
	maps_random_runs(&m, runs, 2000, 3, 6);
	maps_write_tree(&m, &ip, runs, count, _i == 2 ? 0 : 100);
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.runs = runs,
			.count = count,
			.seed = (uint64_t)i,
			.may_drop = _i > 0 && i == 0};
		ck_assert_int_eq(pthread_create(&w[i].thread, NULL, look_around, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		ck_assert_uint_eq(w[i].wrong, 0);
	}
	if (_i == 0) {
		compare(runs, count, true);
		ck_assert_uint_eq(atomic_load(&ip.es.records), count);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("extent");
	TCase *tc = tcase_create("extent");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, extent_lookup__tree_of_any_size__answers_as_the_linear_model, 0,
		(int)(sizeof(counts) / sizeof(counts[0])));
	tcase_add_test(tc, extent_lookup__deepest_tree__finds_every_run);
	tcase_add_test(tc, bug_08_extent_lookup__runs_up_to_the_last_block__do_not_wrap);
	tcase_add_test(tc, bug_08_extent_lookup__run_past_the_last_block__is_refused);
	tcase_add_test(tc, extent_lookup__longest_runs__keep_their_length_and_state);
	tcase_add_test(tc, extent_lookup__empty_leaf_block__is_a_hole_and_not_an_error);
	tcase_add_test(tc,
		bug_19_extent_lookup__any_pattern_of_reads__keeps_the_leaves_touched_and_no_more);
	tcase_add_loop_test(tc, extent_lookup__cached__does_no_read_modify_write, 0, 2);
	tcase_add_test(tc, extent_lookup_cached__nothing_read_yet__says_so_and_reads_nothing);
	tcase_add_test(tc, extent_map_drop__then_another_map__shows_the_new_one);
	tcase_add_loop_test(tc, extent_lookup__inode_without_blocks__is_the_callers_mistake, 0, 6);
	tcase_add_loop_test(tc,
		bug_06_extent_lookup__hostile_node__is_refused_by_the_rule_it_breaks, 0, HOSTILES);
	tcase_add_test(tc, bug_06_extent_lookup__block_changed_under_the_cache__is_checked_again);
	tcase_add_test(tc, extent_lookup__wrong_checksum__is_ebadmsg);
	tcase_add_test(tc, extent_lookup__node_of_another_inode__has_the_wrong_checksum);
	tcase_add_test(tc, extent_lookup__node_that_names_itself__ends_by_depth);
	tcase_add_test(tc, extent_lookup__random_damage__never_leaves_the_rules);
	tcase_add_test(tc, bug_05_extent_lookup__nth_read_fails__is_an_error_and_then_right);
	tcase_add_test(tc, extent_lookup__nth_allocation_fails__is_enomem_and_leaks_nothing);
	tcase_add_loop_test(tc, extent_lookup__indirect_map__answers_as_the_linear_model, 0, 4);
	tcase_add_test(tc, extent_lookup__direct_pointers_scattered__need_no_block);
	tcase_add_loop_test(
		tc, bug_09_extent_lookup__holes_of_an_indirect_map__have_a_length_and_end, 0, 4);
	tcase_add_loop_test(
		tc, extent_lookup__indirect_pointer_to_metadata_or_outside__is_refused, 0, 5);
	tcase_add_test(tc, extent_lookup__indirect_block_that_names_itself__ends);
	tcase_add_test(tc, extent_visit_all__tree__names_every_node_and_every_run_in_order);
	tcase_add_test(tc, extent_visit_all__indirect_map__names_every_block);
	tcase_add_loop_test(
		tc, bug_16_18_extent_lookup__threads_on_one_cold_map__all_find_the_same, 0, 3);
	suite_add_tcase(s, tc);
	return unit_run(s);
}
