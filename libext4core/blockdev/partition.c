/*
 * partition.c - finds partition N in an MBR (logical ones included) or GPT table and opens a window on it.
 *
 * Owns:    nothing; tables are read into memory that lives as long as the call.
 * Locks:   none.
 * Always:  a GPT is believed only when the CRCs of its header and of its entries are right; the copy at the end of the disk is
 *          taken when the first is damaged. Every chain and count is bounded before it is followed.
 * Source:  UEFI specification, chapter 5 (GPT, protective MBR); the MBR and extended boot records by long custom.
 */
#include "base/le.h"
#include "base/math.h"
#include "blockdev/blockdev_impl.h"
#include "blockdev/crc32.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MBR_SIZE        512
#define MBR_TABLE       446
#define MBR_PRIMARIES   4
#define LOGICALS_MAX    256 /* more than any tool makes; bounds a chain that runs in circles */
#define GPT_ENTRY_MIN   128
#define GPT_ENTRY_MAX   4096
#define GPT_ENTRIES_MAX 1024

struct disk_mbr_entry {
	uint8_t status, first_chs[3], type, last_chs[3];
	struct le32 first_lba, count_lbas;
};

struct disk_gpt_header {
	uint8_t signature[8];
	struct le32 revision, header_size, header_crc, reserved;
	struct le64 my_lba, alternate_lba, first_usable_lba, last_usable_lba;
	uint8_t disk_guid[16];
	struct le64 entries_lba;
	struct le32 entry_count, entry_size, entries_crc;
};

struct disk_gpt_entry {
	uint8_t type_guid[16], guid[16];
	struct le64 first_lba, last_lba, attributes;
};

_Static_assert(sizeof(struct disk_mbr_entry) == 16, "MBR entry");
_Static_assert(sizeof(struct disk_gpt_header) == 92, "GPT header");
_Static_assert(sizeof(struct disk_gpt_entry) == 56, "GPT entry");

/* A found partition, in bytes. */
struct extent {
	uint64_t start, size;
};

static struct disk_mbr_entry mbr_entry(const uint8_t *sector, unsigned index)
{
	struct disk_mbr_entry e;

	memcpy(&e, sector + MBR_TABLE + index * sizeof(e), sizeof(e));
	return e;
}

static bool is_boot_record(const uint8_t *sector)
{
	return sector[510] == 0x55 && sector[511] == 0xAA;
}

static bool is_extended(uint8_t type)
{
	return type == 0x05 || type == 0x0F || type == 0x85;
}

static bool is_protective(const uint8_t *sector)
{
	for (unsigned i = 0; i < MBR_PRIMARIES; i++) {
		if (mbr_entry(sector, i).type == 0xEE)
			return true;
	}
	return false;
}

/* Sectors of MBR tables are those of the device; images made elsewhere, on devices without a sector, have 512. */
static uint64_t lba_size_of(const struct e4_blockdev *dev)
{
	return max_u64(dev->geo.logical_block, 512);
}

static struct extent extent_of(uint64_t lba_size, uint64_t first, uint64_t count)
{
	struct extent e = {0};

	/* A product that overflows is beyond every device: the window refuses it. */
	if (!mul_u64(first, lba_size, &e.start))
		e.start = UINT64_MAX;
	if (!mul_u64(count, lba_size, &e.size))
		e.size = UINT64_MAX;
	return e;
}

/* Follows the chain of extended boot records; each holds one partition and the place of the next. `sector` is scratch. */
static int find_logical(struct e4_blockdev *dev, uint64_t base_lba, uint32_t number,
	uint8_t *sector, struct extent *ret)
{
	uint64_t lba_size = lba_size_of(dev);
	uint64_t at = base_lba;
	uint64_t mark = base_lba;

	for (uint32_t n = MBR_PRIMARIES + 1; n <= MBR_PRIMARIES + LOGICALS_MAX; n++) {
		int r = blockdev_read(dev, at * lba_size, sector, MBR_SIZE);

		if (r < 0)
			return r;
		struct disk_mbr_entry here = mbr_entry(sector, 0);
		struct disk_mbr_entry next = mbr_entry(sector, 1);
		if (!is_boot_record(sector))
			return fail(dev->env, E4_WHY_PART_CHAIN, .block = at);
		if (n == number) {
			*ret = extent_of(
				lba_size, at + le32_get(here.first_lba), le32_get(here.count_lbas));
			return ret->size != 0 ? 0 : -ENOENT;
		}
		if (!is_extended(next.type) || le32_get(next.count_lbas) == 0)
			return -ENOENT;
		at = base_lba + le32_get(next.first_lba);
		if (at == mark)
			return fail(dev->env, E4_WHY_PART_CIRCLE, .block = at);
		/* A mark at each power of two steps meets every circle that is not longer than the way to it. */
		if (is_pow2_u64(n - MBR_PRIMARIES))
			mark = at;
	}
	return -ENOENT;
}

static int find_mbr(struct e4_blockdev *dev, uint8_t *sector, uint32_t number, struct extent *ret)
{
	if (number <= MBR_PRIMARIES) {
		struct disk_mbr_entry e = mbr_entry(sector, number - 1);

		if (e.type == 0 || le32_get(e.count_lbas) == 0 || is_extended(e.type))
			return -ENOENT;
		*ret = extent_of(lba_size_of(dev), le32_get(e.first_lba), le32_get(e.count_lbas));
		return 0;
	}
	for (unsigned i = 0; i < MBR_PRIMARIES; i++) {
		struct disk_mbr_entry e = mbr_entry(sector, i);

		if (is_extended(e.type))
			return find_logical(dev, le32_get(e.first_lba), number, sector, ret);
	}
	return -ENOENT;
}

/* Whether a header can be believed as far as itself goes. */
static bool header_right(const uint8_t *sector, uint64_t lba, struct disk_gpt_header *ret)
{
	static const uint8_t zeros[sizeof(ret->header_crc)];
	size_t before = offsetof(struct disk_gpt_header, header_crc);
	size_t after = before + sizeof(zeros);

	memcpy(ret, sector, sizeof(*ret));
	uint32_t size = le32_get(ret->header_size);
	if (memcmp(ret->signature, "EFI PART", 8) != 0 || size < sizeof(*ret) || size > MBR_SIZE)
		return false;
	/* The field that holds the CRC counts as zeros. */
	uint32_t crc = crc32_ieee(crc32_ieee(0, sector, before), zeros, sizeof(zeros));
	crc = crc32_ieee(crc, sector + after, size - after);
	return crc == le32_get(ret->header_crc) && le64_get(ret->my_lba) == lba;
}

static bool entries_bounded(const struct disk_gpt_header *h)
{
	uint32_t count = le32_get(h->entry_count);
	uint32_t size = le32_get(h->entry_size);

	return size >= GPT_ENTRY_MIN && size <= GPT_ENTRY_MAX && size % 8 == 0 && count > 0 &&
	       count <= GPT_ENTRIES_MAX;
}

/* Reads the table, checks its CRC, takes out entry `index`. */
static int read_entry(struct e4_blockdev *dev, const struct disk_gpt_header *h, uint64_t lba_size,
	uint32_t index, struct disk_gpt_entry *ret)
{
	size_t size = (size_t)le32_get(h->entry_count) * le32_get(h->entry_size);
	uint8_t *table = mem_zalloc(dev->env, size);
	uint64_t at;
	int r;

	if (table == NULL)
		return fail(dev->env, E4_WHY_PART_MEMORY, .found = size);
	r = mul_u64(le64_get(h->entries_lba), lba_size, &at) ? blockdev_read(dev, at, table, size)
							     : -EUCLEAN;
	if (r == 0 && crc32_ieee(0, table, size) != le32_get(h->entries_crc))
		r = fail(dev->env, E4_WHY_PART_GPT_ENTRIES, .block = le64_get(h->entries_lba));
	if (r == 0)
		memcpy(ret, table + (size_t)index * le32_get(h->entry_size), sizeof(*ret));
	mem_free(dev->env, table, size);
	return r;
}

static int find_in_copy(struct e4_blockdev *dev, uint64_t lba_size, uint64_t lba, uint32_t number,
	uint8_t *sector, struct extent *ret)
{
	static const uint8_t unused[16];
	struct disk_gpt_header h;
	struct disk_gpt_entry e;
	int r = blockdev_read(dev, lba * lba_size, sector, MBR_SIZE);

	if (r < 0)
		return r;
	if (!header_right(sector, lba, &h) || !entries_bounded(&h))
		return fail(dev->env, E4_WHY_PART_GPT_HEADER, .block = lba);
	if (number > le32_get(h.entry_count))
		return -ENOENT;
	r = read_entry(dev, &h, lba_size, number - 1, &e);
	if (r < 0)
		return r;
	uint64_t first = le64_get(e.first_lba);
	uint64_t last = le64_get(e.last_lba);
	if (memcmp(e.type_guid, unused, sizeof(unused)) == 0)
		return -ENOENT;
	if (last < first || last == UINT64_MAX)
		return fail(dev->env, E4_WHY_PART_GPT_RANGE, .block = lba, .found = last,
			.expected = first);
	*ret = extent_of(lba_size, first, last - first + 1);
	return 0;
}

/* Images of disks with 4096-byte sectors are read on devices of 512, so the place of the header tells the sector. */
static uint64_t gpt_lba_size(struct e4_blockdev *dev)
{
	uint64_t lba_size = lba_size_of(dev);
	char magic[8];

	if (lba_size == 512 && dev->geo.size >= 8192 &&
		blockdev_read(dev, 4096, magic, sizeof(magic)) == 0 &&
		memcmp(magic, "EFI PART", 8) == 0)
		return blockdev_read(dev, 512, magic, sizeof(magic)) == 0 &&
				       memcmp(magic, "EFI PART", 8) == 0
			       ? 512
			       : 4096;
	return lba_size;
}

static int find_gpt(struct e4_blockdev *dev, uint8_t *sector, uint32_t number, struct extent *ret)
{
	uint64_t lba_size = gpt_lba_size(dev);
	uint64_t count = dev->geo.size / lba_size;

	if (count < 3)
		return fail(dev->env, E4_WHY_PART_GPT_SMALL, .found = dev->geo.size);
	int r = find_in_copy(dev, lba_size, 1, number, sector, ret);
	if (r < 0 && r != -ENOENT && r != -ENOMEM &&
		find_in_copy(dev, lba_size, count - 1, number, sector, ret) == 0)
		return 0;
	return r;
}

int blockdev_partition_new(struct e4_blockdev *lower, uint32_t number, struct e4_blockdev **ret)
{
	uint8_t sector[MBR_SIZE];
	struct extent e = {0};
	char name[32];

	(void)snprintf(name, sizeof(name), "partition %u", number);
	if (number == 0 || lower->geo.size < sizeof(sector))
		return fail(lower->env, E4_WHY_PART_NUMBER, .name = name);
	int r = blockdev_read(lower, 0, sector, sizeof(sector));
	if (r < 0)
		return r;
	if (!is_boot_record(sector))
		return fail(lower->env, E4_WHY_PART_NO_TABLE, .name = name);
	r = is_protective(sector) ? find_gpt(lower, sector, number, &e)
				  : find_mbr(lower, sector, number, &e);
	if (r == -ENOENT)
		return fail(lower->env, E4_WHY_PART_ABSENT, .name = name);
	if (r < 0)
		return r;
	r = blockdev_window_new(lower, e.start, e.size, ret);
	if (r == 0)
		(*ret)->kind = "partition";
	return r;
}
