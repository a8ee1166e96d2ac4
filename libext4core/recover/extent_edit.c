/*
 * extent_edit.c - changes an extent map by rewriting it: the map as a list, the change on the list, a fresh tree.
 *
 * Slower than editing the tree in place and right by construction; recovery changes few inodes.
 *
 * Owns:    struct map_list of an rinode.
 * Locks:   none.
 * Always:  pieces are sorted and do not overlap. Blocks that leave the list are freed, blocks that enter are marked used, and with
 *          bigalloc a cluster stays used as long as a piece maps any block of it.
 * Uses:    extent, bitmap.c, tx.c.
 */
#include "base/math.h"
#include "base/mem.h"
#include "extent/extent.h"
#include "recover/recover_impl.h"

#include <errno.h>
#include <string.h>

struct loader {
	struct env *env;
	struct map_list *m;
};

void map_fini(struct env *env, struct map_list *m)
{
	mem_free(env, m->pieces, m->capacity * sizeof(*m->pieces));
	mem_free(env, m->meta, m->meta_capacity * sizeof(*m->meta));
	*m = (struct map_list){.count = 0};
}

/* Room for `extra` more elements in an array. */
static int reserve(struct env *env, void **array, size_t size, uint32_t count, uint32_t extra,
	uint32_t *capacity)
{
	if (count + extra <= *capacity)
		return 0;
	uint32_t want = max_u32(*capacity * 2, max_u32(count + extra, 16));
	void *bigger = mem_zalloc_array(env, want, size);

	if (bigger == NULL)
		return -ENOMEM;
	if (count > 0)
		memcpy(bigger, *array, count * size);
	mem_free(env, *array, *capacity * size);
	*array = bigger;
	*capacity = want;
	return 0;
}

static int reserve_pieces(struct env *env, struct map_list *m, uint32_t extra)
{
	void *array = m->pieces;
	int err = reserve(env, &array, sizeof(*m->pieces), m->count, extra, &m->capacity);

	m->pieces = array;
	return err;
}

static int add_meta(void *arg, pblk_t pblk)
{
	struct loader *l = arg;
	void *array = l->m->meta;
	int err = reserve(
		l->env, &array, sizeof(*l->m->meta), l->m->meta_count, 1, &l->m->meta_capacity);

	l->m->meta = array;
	if (err == 0)
		l->m->meta[l->m->meta_count++] = pblk;
	return err;
}

static int add_piece(void *arg, lblk_t lblk, uint32_t len, pblk_t pblk, bool unwritten)
{
	struct loader *l = arg;
	int err = reserve_pieces(l->env, l->m, 1);

	if (err == 0)
		l->m->pieces[l->m->count++] = (struct map_piece){lblk, len, pblk, unwritten};
	return err;
}

int map_load(struct recovery *r, struct rinode *ri)
{
	struct loader l = {.env = r->env, .m = &ri->map};

	if (ri->map_loaded)
		return 0;
	int err = extent_visit_all(
		&ri->ip, &(struct extent_visit){.meta = add_meta, .run = add_piece, .arg = &l});

	if (err != 0)
		map_fini(r->env, &ri->map);
	ri->map_loaded = err == 0;
	return err;
}

/* Index of the first piece that ends behind lblk. */
static uint32_t find_index(const struct map_list *m, uint64_t lblk)
{
	uint32_t lo = 0;
	uint32_t hi = m->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if ((uint64_t)m->pieces[mid].lblk + m->pieces[mid].len <= lblk)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The piece that maps lblk, or NULL. The map is loaded. */
const struct map_piece *map_find(const struct rinode *ri, lblk_t lblk)
{
	uint32_t i = find_index(&ri->map, lblk);

	return i < ri->map.count && ri->map.pieces[i].lblk <= lblk ? &ri->map.pieces[i] : NULL;
}

/* Splits the piece that covers lblk so that one begins there. Room for one more is reserved. */
static void split_at(struct map_list *m, uint64_t lblk)
{
	uint32_t i = find_index(m, lblk);

	if (i == m->count || m->pieces[i].lblk >= lblk)
		return;
	struct map_piece *p = &m->pieces[i];
	uint32_t left = (uint32_t)(lblk - p->lblk);

	memmove(p + 2, p + 1, (m->count - i - 1) * sizeof(*p));
	p[1] = (struct map_piece){(lblk_t)lblk, p->len - left, p->pblk + left, p->unwritten};
	p->len = left;
	m->count++;
}

/* A shared cluster that was freed with one piece is still used by the neighbour. */
static int reuse_cluster_at(struct recovery *r, struct rinode *ri, uint64_t lblk)
{
	uint64_t first = round_down_u64(lblk, r->vol->cluster_ratio);
	uint64_t end = first + r->vol->cluster_ratio;

	for (uint32_t i = find_index(&ri->map, first);
		i < ri->map.count && ri->map.pieces[i].lblk < end; i++) {
		const struct map_piece *p = &ri->map.pieces[i];
		uint64_t from = max_u64(p->lblk, first);
		int err = bitmap_use_blocks(r, p->pblk + (from - p->lblk), 1);

		if (err != 0)
			return err;
	}
	return 0;
}

int map_remove(struct recovery *r, struct rinode *ri, uint64_t lblk, uint64_t end)
{
	struct map_list *m = &ri->map;
	int err = map_load(r, ri);

	if (err == 0)
		err = reserve_pieces(r->env, m, 2);
	if (err != 0)
		return err;
	split_at(m, lblk);
	split_at(m, end);
	uint32_t from = find_index(m, lblk);
	uint32_t to = from;

	for (; to < m->count && m->pieces[to].lblk < end; to++) {
		err = bitmap_free_blocks(r, m->pieces[to].pblk, m->pieces[to].len);
		if (err != 0)
			return err;
	}
	if (to == from)
		return 0;
	uint64_t last = (uint64_t)m->pieces[to - 1].lblk + m->pieces[to - 1].len - 1;
	uint64_t begin = m->pieces[from].lblk;

	memmove(&m->pieces[from], &m->pieces[to], (m->count - to) * sizeof(*m->pieces));
	m->count -= to - from;
	ri->map_changed = true;
	if (r->vol->cluster_ratio == 1)
		return 0;
	err = reuse_cluster_at(r, ri, begin);
	return err != 0 ? err : reuse_cluster_at(r, ri, last);
}

int map_set(struct recovery *r, struct rinode *ri, const struct map_piece *piece)
{
	struct map_list *m = &ri->map;
	int err = map_load(r, ri);

	if (err != 0)
		return err;
	const struct map_piece *now = map_find(ri, piece->lblk);

	if (now != NULL && now->lblk + now->len >= piece->lblk + piece->len &&
		now->pblk + (piece->lblk - now->lblk) == piece->pblk &&
		now->unwritten == piece->unwritten)
		return bitmap_use_blocks(r, piece->pblk, piece->len);
	err = map_remove(r, ri, piece->lblk, (uint64_t)piece->lblk + piece->len);
	if (err == 0)
		err = reserve_pieces(r->env, m, 1);
	if (err == 0)
		err = bitmap_use_blocks(r, piece->pblk, piece->len);
	if (err != 0)
		return err;
	uint32_t i = find_index(m, piece->lblk);

	memmove(&m->pieces[i + 1], &m->pieces[i], (m->count - i) * sizeof(*m->pieces));
	m->pieces[i] = *piece;
	m->count++;
	ri->map_changed = true;
	return 0;
}

/* --- the tree ---------------------------------------------------------------------------------------------------------- */

/* Joins neighbours that one entry can hold, and splits what is too long for one. */
static int normalise(struct env *env, struct map_list *m)
{
	struct map_list out = {.meta_count = 0};
	struct loader l = {.env = env, .m = &out};

	for (uint32_t i = 0; i < m->count; i++) {
		struct map_piece p = m->pieces[i];
		uint32_t max = p.unwritten ? EXTENT_UNWRITTEN_MAX : EXTENT_LEN_MAX;

		while (p.len > 0) {
			struct map_piece *prev = out.count > 0 ? &out.pieces[out.count - 1] : NULL;
			bool joins = prev != NULL && prev->unwritten == p.unwritten &&
				     prev->lblk + prev->len == p.lblk &&
				     prev->pblk + prev->len == p.pblk && prev->len < max;
			uint32_t n = min_u32(p.len, joins ? max - prev->len : max);

			if (joins) {
				prev->len += n;
			} else {
				int err = add_piece(&l, p.lblk, n, p.pblk, p.unwritten);

				if (err != 0) {
					map_fini(env, &out);
					return err;
				}
			}
			p.lblk += n;
			p.pblk += n;
			p.len -= n;
		}
	}
	mem_free(env, m->pieces, m->capacity * sizeof(*m->pieces));
	m->pieces = out.pieces;
	m->count = out.count;
	m->capacity = out.capacity;
	return 0;
}

/* Nodes needed below a root of four entries, level by level, leaves first. */
static uint32_t plan_levels(uint32_t entries, uint32_t capacity, uint32_t nodes[EXTENT_DEPTH_MAX])
{
	uint32_t depth = 0;

	while (entries > EXTENT_ROOT_ENTRIES && depth < EXTENT_DEPTH_MAX) {
		entries = (uint32_t)div_up_u64(entries, capacity);
		nodes[depth++] = entries;
	}
	return depth;
}

/* Exactly `want` tree blocks: those there are, fewer freed, more allocated. */
static int fit_meta(struct recovery *r, struct rinode *ri, uint32_t want)
{
	struct map_list *m = &ri->map;
	struct loader l = {.env = r->env, .m = m};
	int err = 0;

	while (m->meta_count > want && err == 0)
		err = bitmap_free_blocks(r, m->meta[--m->meta_count], 1);
	while (m->meta_count < want && err == 0) {
		pblk_t goal = m->count > 0 ? m->pieces[0].pblk : r->vol->first_data_block;
		pblk_t pblk;

		err = bitmap_alloc_block(r, goal, &pblk);
		if (err == 0)
			err = add_meta(&l, pblk);
	}
	return err;
}

static void put_header(void *node, uint32_t entries, uint32_t max, uint32_t depth)
{
	struct disk_extent_header *h = node;

	h->magic = le16_put(EXTENT_MAGIC);
	h->entries = le16_put((uint16_t)entries);
	h->max = le16_put((uint16_t)max);
	h->depth = le16_put((uint16_t)depth);
}

/* What an index entry above needs to know of a node. */
struct child {
	lblk_t lblk;
	pblk_t pblk;
};

/* Entries [first, first + n) of a level into `node`: extents at depth 0, else the children below. */
static void fill_node(void *node, const struct map_list *m, const struct child *below,
	uint32_t depth, uint32_t first, uint32_t n, uint32_t max)
{
	struct disk_extent_header *h = node;

	put_header(node, n, max, depth);
	for (uint32_t i = 0; i < n; i++) {
		if (depth == 0) {
			struct disk_extent *e = (struct disk_extent *)(void *)(h + 1) + i;
			const struct map_piece *p = &m->pieces[first + i];

			*e = disk_extent_make(p->lblk, p->len, p->unwritten, p->pblk);
		} else {
			struct disk_extent_idx *x = (struct disk_extent_idx *)(void *)(h + 1) + i;

			*x = disk_extent_idx_make(below[first + i].lblk, below[first + i].pblk);
		}
	}
}

/* One level of blocks over `count` entries; `below` becomes the list of these blocks. */
static int write_level(struct recovery *r, struct rinode *ri, uint32_t depth, uint32_t count,
	uint32_t nodes, struct child *below, uint32_t *meta)
{
	uint32_t capacity = extent_block_capacity(r->vol->block_size);

	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t first = i * capacity;
		pblk_t pblk = ri->map.meta[(*meta)++];
		lblk_t lblk = depth == 0 ? ri->map.pieces[first].lblk : below[first].lblk;
		struct buf *b;
		int err = tx_get_zeroed(r, pblk, &buf_kind_extent, ri->ip.ino, ri->ip.csum_seed, &b);

		if (err != 0)
			return err;
		fill_node(b->data, &ri->map, below, depth, first, min_u32(capacity, count - first),
			capacity);
		buf_seal(b);
		below[i] = (struct child){lblk, pblk}; /* i <= first: what is overwritten was used */
	}
	return 0;
}

static int write_tree(struct recovery *r, struct rinode *ri)
{
	uint32_t nodes[EXTENT_DEPTH_MAX];
	uint32_t depth = plan_levels(ri->map.count, extent_block_capacity(r->vol->block_size), nodes);
	uint32_t total = 0;
	uint32_t meta = 0;
	uint32_t count = ri->map.count;

	for (uint32_t i = 0; i < depth; i++)
		total += nodes[i];
	int err = fit_meta(r, ri, total);

	if (err != 0)
		return err;
	size_t below_count = depth > 0 ? nodes[0] : 1;
	struct child *below = mem_zalloc_array(r->env, below_count, sizeof(*below));

	if (below == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < depth && err == 0; i++) {
		err = write_level(r, ri, i, count, nodes[i], below, &meta);
		count = nodes[i];
	}
	if (err == 0) {
		memset(ri->ip.block, 0, sizeof(ri->ip.block));
		fill_node(ri->ip.block, &ri->map, below, depth, 0, count, EXTENT_ROOT_ENTRIES);
	}
	mem_free(r->env, below, below_count * sizeof(*below));
	return err;
}

/* --- in place ---------------------------------------------------------------------------------------------------------- */

/* A node on the path to a cut. */
struct cut_node {
	struct disk_extent_header *header;
	struct buf *buf; /* NULL: the root */
	uint32_t keep;   /* entries that begin before the cut */
};

/* Extents and index entries have the same size and begin with their first block. */
static lblk_t entry_lblk(const struct disk_extent_header *h, uint32_t i)
{
	return le32_get(((const struct disk_extent *)(const void *)(h + 1))[i].block);
}

static uint32_t count_before(const struct disk_extent_header *h, uint64_t first)
{
	uint32_t n = le16_get(h->entries);

	while (n > 0 && entry_lblk(h, n - 1) >= first)
		n--;
	return n;
}

/* The nodes down to the last entry that stays; *ret_level is the last of them. The tree was walked before, so it is sound. */
static int find_cut(struct recovery *r, struct rinode *ri, uint64_t first,
	struct cut_node path[EXTENT_DEPTH_MAX + 1], uint32_t *ret_level)
{
	uint32_t at = 0;

	path[0] = (struct cut_node){.header = (void *)ri->ip.block};
	path[0].keep = count_before(path[0].header, first);
	while (le16_get(path[at].header->depth) > 0 && path[at].keep > 0 && at < EXTENT_DEPTH_MAX) {
		const struct disk_extent_idx *x = (const void *)(path[at].header + 1);
		struct cut_node *below = &path[at + 1];
		int err = tx_get(r, disk_extent_idx_pblk(&x[path[at].keep - 1]), &buf_kind_extent,
			ri->ip.ino, ri->ip.csum_seed, &below->buf);

		if (err != 0)
			return err;
		below->header = (void *)below->buf->data;
		below->keep = count_before(below->header, first);
		at++;
	}
	*ret_level = at;
	return 0;
}

static void cut_leaf(struct disk_extent_header *h, uint32_t keep, uint64_t first)
{
	struct disk_extent *e = (struct disk_extent *)(void *)(h + 1) + keep - 1;
	lblk_t lblk = le32_get(e->block);
	uint32_t len = (uint32_t)min_u64(disk_extent_len(e), first - lblk);

	*e = disk_extent_make(lblk, len, disk_extent_unwritten(e), disk_extent_pblk(e));
}

/* Entries behind the cut leave; a node without any is left out above, and stays as it is since its block is freed. */
static void cut_path(struct cut_node *path, uint32_t level, uint64_t first)
{
	for (uint32_t at = level + 1; at-- > 0;) {
		struct disk_extent_header *h = path[at].header;
		uint32_t keep = path[at].keep;

		if (at < level && path[at + 1].keep == 0)
			keep--;
		path[at].keep = keep;
		if (keep == 0 && path[at].buf != NULL)
			continue;
		if (le16_get(h->depth) == 0 && keep > 0)
			cut_leaf(h, keep, first);
		memset((struct disk_extent *)(void *)(h + 1) + keep, 0,
			(le16_get(h->entries) - keep) * sizeof(struct disk_extent));
		h->entries = le16_put((uint16_t)keep);
		if (keep == 0)
			h->depth = le16_put(0);
		if (path[at].buf != NULL)
			buf_seal(path[at].buf);
	}
}

/* Tree blocks that are no longer in the map are free. Both lists have the order of a walk. */
static int free_meta_but(
	struct recovery *r, const struct map_list *before, const struct map_list *now)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < before->meta_count; i++) {
		if (k < now->meta_count && now->meta[k] == before->meta[i]) {
			k++;
			continue;
		}
		int err = bitmap_free_blocks(r, before->meta[i], 1);

		if (err != 0)
			return err;
	}
	return 0;
}

int map_cut(struct recovery *r, struct rinode *ri, uint64_t first)
{
	struct cut_node path[EXTENT_DEPTH_MAX + 1];
	uint32_t level;
	int err = map_remove(r, ri, first, (uint64_t)1 << 32);

	if (err == 0)
		err = find_cut(r, ri, first, path, &level);
	if (err != 0)
		return err;
	cut_path(path, level, first);
	struct map_list before = ri->map;

	ri->map = (struct map_list){.count = 0};
	ri->map_loaded = ri->map_changed = false;
	extent_map_drop(&ri->ip);
	err = map_load(r, ri);
	if (err == 0)
		err = free_meta_but(r, &before, &ri->map);
	map_fini(r->env, &before);
	return err != 0 ? err : map_write(r, ri);
}

/* --- the face ---------------------------------------------------------------------------------------------------------- */

int map_write(struct recovery *r, struct rinode *ri)
{
	int err = 0;

	if (ri->map_changed && (ri->ip.flags & INODE_FL_EXTENTS) == 0)
		return fail(r->env, E4_WHY_RECOVER_INDIRECT, .ino = ri->ip.ino);
	if (ri->map_changed) {
		err = normalise(r->env, &ri->map);
		if (err == 0)
			err = write_tree(r, ri);
		if (err != 0)
			return err;
		ri->map_changed = false;
		extent_map_drop(&ri->ip);
	}
	err = rinode_count_blocks(r, ri);
	rinode_store(ri);
	return err;
}
