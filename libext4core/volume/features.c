/*
 * features.c - what this library reads, what it only reads, what it refuses, each by name.
 *
 * Owns:    the two masks below and vol->read_only_reason. FORMAT.md mirrors them.
 * Locks:   none; runs while the volume is loaded.
 * Always:  an incompat bit outside READ_INCOMPAT refuses the volume; a ro_compat bit outside READ_WRITE_RO_COMPAT forbids writing.
 */
#include "volume/volume_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define READ_INCOMPAT                                                                               \
	(FEATURE_INCOMPAT_FILETYPE | FEATURE_INCOMPAT_RECOVER | FEATURE_INCOMPAT_META_BG |          \
		FEATURE_INCOMPAT_EXTENTS | FEATURE_INCOMPAT_64BIT | FEATURE_INCOMPAT_MMP |          \
		FEATURE_INCOMPAT_FLEX_BG | FEATURE_INCOMPAT_EA_INODE | FEATURE_INCOMPAT_CSUM_SEED | \
		FEATURE_INCOMPAT_LARGEDIR | FEATURE_INCOMPAT_INLINE_DATA |                          \
		FEATURE_INCOMPAT_ENCRYPT | FEATURE_INCOMPAT_CASEFOLD)

/* ro_compat bits whose meaning is known well enough to recover such a volume for good. */
#define KNOWN_RO_COMPAT                                                                            \
	(FEATURE_RO_COMPAT_SPARSE_SUPER | FEATURE_RO_COMPAT_LARGE_FILE |                           \
		FEATURE_RO_COMPAT_BTREE_DIR | FEATURE_RO_COMPAT_HUGE_FILE |                        \
		FEATURE_RO_COMPAT_GDT_CSUM | FEATURE_RO_COMPAT_DIR_NLINK |                         \
		FEATURE_RO_COMPAT_EXTRA_ISIZE | FEATURE_RO_COMPAT_QUOTA |                          \
		FEATURE_RO_COMPAT_BIGALLOC | FEATURE_RO_COMPAT_METADATA_CSUM |                     \
		FEATURE_RO_COMPAT_PROJECT | FEATURE_RO_COMPAT_VERITY |                             \
		FEATURE_RO_COMPAT_ORPHAN_PRESENT)

struct feature_row {
	uint32_t set; /* 0 compat, 1 incompat, 2 ro_compat */
	uint32_t bit;
	const char *label;
};

enum { SET_COMPAT = 0, SET_INCOMPAT = 1, SET_RO_COMPAT = 2 };

static const struct feature_row rows[] = {
#define ROW(set, name, bit, label) {SET_##set, (bit), (label)},
	FEATURES(ROW)
#undef ROW
};

const char *volume_feature_name(uint32_t set, uint32_t bit)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].set == set && rows[i].bit == bit)
			return rows[i].label;
	}
	return NULL;
}

/* "dirdata, incompat bit 0x40000": every bit of `bits`, as far as it fits. */
static void name_bits(uint32_t set, uint32_t bits, char *out, size_t size)
{
	static const char *const sets[] = {"compat", "incompat", "ro_compat"};
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t bit = 1; bit != 0 && n < size; bit <<= 1) {
		if ((bits & bit) == 0)
			continue;
		const char *label = volume_feature_name(set, bit);
		const char *sep = n == 0 ? "" : ", ";
		int w = label != NULL
				? snprintf(out + n, size - n, "%s%s", sep, label)
				: snprintf(out + n, size - n, "%s%s bit 0x%x", sep, sets[set], bit);

		n += w > 0 ? (size_t)w : 0;
	}
}

/* Why this volume could not be mounted for writing; "" when it could. */
static void find_read_only_reason(struct volume *vol)
{
	uint32_t unknown = vol->feature_ro_compat & ~(uint32_t)KNOWN_RO_COMPAT;
	char *out = vol->read_only_reason;
	size_t size = sizeof(vol->read_only_reason);

	if (unknown != 0) {
		name_bits(SET_RO_COMPAT, unknown, out, size);
	} else if (le32_get(vol->super.rev_level) > 1) {
		snprintf(out, size, "revision level %u", le32_get(vol->super.rev_level));
	} else if (vol->block_size < vol->dev->geo.logical_block) {
		snprintf(out, size, "blocks of %u bytes are smaller than the device's sectors of %u",
			vol->block_size, vol->dev->geo.logical_block);
	} else {
		snprintf(out, size, "writing is not part of this version");
	}
}

int features_check(struct volume *vol)
{
	uint32_t unknown = vol->feature_incompat & ~(uint32_t)READ_INCOMPAT;
	char names[160];

	if (vol->feature_incompat & FEATURE_INCOMPAT_JOURNAL_DEV)
		return fail(vol->env, E4_WHY_SUPER_JOURNAL_DEV, .found = 0);
	if (unknown != 0) {
		name_bits(SET_INCOMPAT, unknown, names, sizeof(names));
		return fail(vol->env, E4_WHY_SUPER_INCOMPAT, .name = names);
	}
	find_read_only_reason(vol);
	return 0;
}

bool volume_may_recover_for_good(const struct volume *vol)
{
	return (vol->feature_ro_compat & ~(uint32_t)KNOWN_RO_COMPAT) == 0 &&
	       le32_get(vol->super.rev_level) <= 1;
}
