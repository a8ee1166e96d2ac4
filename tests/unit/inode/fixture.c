/*
 * fixture.c - see fixture.h.
 */
#include "fixture.h"

#include "format/csum.h"

#include <check.h>
#include <string.h>

struct fixture fx;

static void write_at(uint64_t offset, const void *data, size_t len)
{
	ck_assert_int_eq(blockdev_write(fx.dev, offset, data, len, 0), 0);
}

void fx_setup(void)
{
	struct disk_super *s = &fx.super;

	memset(&fx, 0, sizeof(fx));
	ck_assert_int_eq(env_new(NULL, 0, &fx.env), 0);
	ck_assert_int_eq(blockdev_mem_new(fx.env, (uint64_t)FX_BLOCK * FX_BLOCKS, &fx.dev), 0);
	s->inodes_count = le32_put(FX_INODES);
	s->blocks_count_lo = le32_put(FX_BLOCKS);
	s->first_data_block = le32_put(1);
	s->blocks_per_group = le32_put(8192);
	s->clusters_per_group = le32_put(8192);
	s->inodes_per_group = le32_put(FX_INODES);
	s->magic = le16_put(SUPER_MAGIC);
	s->rev_level = le32_put(1);
	s->first_ino = le32_put(11);
	s->inode_size = le16_put(FX_INODE_SIZE);
	s->checksum_type = SUPER_CSUM_CRC32C;
	s->feature_compat = le32_put(FEATURE_COMPAT_EXT_ATTR | FEATURE_COMPAT_DIR_INDEX);
	s->feature_incompat = le32_put(FEATURE_INCOMPAT_FILETYPE | FEATURE_INCOMPAT_EXTENTS);
	s->feature_ro_compat = le32_put(FEATURE_RO_COMPAT_METADATA_CSUM |
					FEATURE_RO_COMPAT_HUGE_FILE | FEATURE_RO_COMPAT_EXTRA_ISIZE);
	memset(s->uuid, 0x42, sizeof(s->uuid));
	fx.opts.cache_limit_bytes = 1 << 20;
}

void fx_teardown(void)
{
	volume_free(fx.vol);
	blockdev_free(fx.dev);
	env_put(fx.env);
}

static void write_desc(void)
{
	struct disk_group_desc d = {0};

	d.block_bitmap_lo = le32_put(3);
	d.inode_bitmap_lo = le32_put(4);
	d.inode_table_lo = le32_put(FX_TABLE);
	d.itable_unused_lo = le16_put((uint16_t)fx.itable_unused);
	d.flags = le16_put(fx.group_flags);
	if (disk_super_has_ro_compat(&fx.super, FEATURE_RO_COMPAT_METADATA_CSUM))
		d.checksum = le16_put(
			csum_group_desc_crc32c(csum_seed(&fx.super), 0, &d, GROUP_DESC_SIZE_MIN));
	write_at(2 * FX_BLOCK, &d, GROUP_DESC_SIZE_MIN);
}

void fx_load(void)
{
	volume_free(fx.vol);
	fx.vol = NULL;
	write_desc();
	fx.super.checksum = le32_put(csum_super(&fx.super));
	write_at(SUPER_OFFSET, &fx.super, sizeof(fx.super));
	ck_assert_int_eq(volume_load(fx.env, fx.dev, &fx.opts, &fx.vol), 0);
}

void fx_load_without_csum(void)
{
	uint32_t ro = le32_get(fx.super.feature_ro_compat);

	fx.super.feature_ro_compat = le32_put(ro & ~(uint32_t)FEATURE_RO_COMPAT_METADATA_CSUM);
	fx_load();
}

struct fx_inode fx_inode_new(uint16_t mode)
{
	struct fx_inode i;

	memset(&i, 0, sizeof(i));
	i.d.mode = le16_put(mode);
	i.d.links_count = le16_put(1);
	if (fx.vol->inode_size > INODE_CLASSIC_SIZE)
		i.d.extra_isize = le16_put(32);
	return i;
}

void fx_put_unsealed(inum_t ino, const struct fx_inode *i)
{
	uint32_t size = fx.vol->inode_size;

	write_at((uint64_t)FX_TABLE * FX_BLOCK + (uint64_t)(ino - 1) * size, i->raw, size);
	buf_cache_drop(fx.vol->bufs);
}

void fx_put(inum_t ino, struct fx_inode *i)
{
	inode_seal(fx.vol, ino, i->raw);
	fx_put_unsealed(ino, i);
}

void fx_put_block(pblk_t pblk, const void *data)
{
	write_at(pblk * FX_BLOCK, data, FX_BLOCK);
	buf_cache_drop(fx.vol->bufs);
}

const char *fx_why(void)
{
	struct e4_error e = {.struct_size = sizeof(e)};

	return error_last(fx.env, &e) ? e.why : "";
}

int fx_decode(struct fx_inode *i, struct inode *ip)
{
	inode_seal(fx.vol, FX_FILE, i->raw);
	int r = inode_decode(fx.vol, FX_FILE, i->raw, INODE_FOR_USE, ip);

	if (r == 0)
		inode_unload(ip); /* the lock only */
	return r;
}

void fx_xattr_fill(
	uint8_t *base, uint8_t *first, uint8_t *end, const struct fx_xattr *x, uint32_t count)
{
	uint8_t *at = first;
	uint8_t *value = end;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t len = (uint32_t)strlen(x[i].name);
		struct disk_xattr_entry e = {
			.name_len = (uint8_t)len,
			.name_index = x[i].index,
			.value_inum = le32_put(x[i].value_ino),
			.value_size = le32_put(x[i].size),
			.hash = le32_put(x[i].hash),
		};

		if (x[i].value_ino == 0 && x[i].size > 0) {
			value -= (x[i].size + 3) & ~3u;
			memcpy(value, x[i].value, x[i].size);
			e.value_offs = le16_put((uint16_t)(value - base));
		}
		memcpy(at, &e, sizeof(e));
		memcpy(at + sizeof(e), x[i].name, len);
		at += sizeof(e) + ((len + 3) & ~3u);
	}
	ck_assert(at + 4 <= value);
}

void fx_xattr_in_inode(struct fx_inode *i, const struct fx_xattr *x, uint32_t count)
{
	uint8_t *area = i->raw + INODE_CLASSIC_SIZE + le16_get(i->d.extra_isize);
	struct le32 magic = le32_put(XATTR_MAGIC);

	memcpy(area, &magic, sizeof(magic));
	fx_xattr_fill(area + 4, area + 4, i->raw + fx.vol->inode_size, x, count);
}

void fx_xattr_in_block(pblk_t pblk, const struct fx_xattr *x, uint32_t count)
{
	uint8_t block[FX_BLOCK] = {0};
	struct disk_xattr_block_header *h = (void *)block;

	h->magic = le32_put(XATTR_MAGIC);
	h->refcount = le32_put(1);
	h->blocks = le32_put(1);
	fx_xattr_fill(block, block + sizeof(*h), block + sizeof(block), x, count);
	fx_put_xattr_block(pblk, block);
}

void fx_put_xattr_block(pblk_t pblk, void *block)
{
	struct disk_xattr_block_header *h = block;

	h->checksum = le32_put(csum_xattr_block(fx.vol->csum_seed, pblk, block, FX_BLOCK));
	fx_put_block(pblk, block);
}
