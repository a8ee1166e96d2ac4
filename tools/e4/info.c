/*
 * info.c - e4 info: what a volume is.
 *
 * Always:  asks the mount, which has looked at more; a volume that cannot be mounted is shown from its
 *          superblock, with the reason.
 */
#include "common/report.h"
#include "common/text.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <inttypes.h>
#include <string.h>

/* A volume's summary and why it cannot be mounted, if so. */
struct summary {
	struct e4_fs_info info;
	int mount_err;
	char mount_reason[sizeof(((struct e4_error *)0)->text)];
};

enum { NAME_MAX_LEN = 32 };

static const char *state_words(const struct e4_fs_info *i)
{
	if (i->state & 1) {
		return i->state & 2 ? "clean with errors" : "clean";
	}
	return i->state & 2 ? "not clean with errors" : "not clean";
}

static const char *errors_words(const struct e4_fs_info *i)
{
	switch (i->errors) {
	case 1:
		return "continue";
	case 2:
		return "remount read-only";
	case 3:
		return "panic";
	default:
		return "unknown";
	}
}

static const char *hash_name(uint32_t version)
{
	static const char *const names[] = {"legacy", "half_md4", "tea", "legacy_unsigned",
		"half_md4_unsigned", "tea_unsigned", "siphash"};

	return version < sizeof(names) / sizeof(names[0]) ? names[version] : "unknown";
}

/* Bits without a name read as in e2fsprogs: FEATURE_I31. */
static void feature_text(uint32_t set, uint32_t bit, char ret[NAME_MAX_LEN])
{
	const char *name = e4_feature_name(set, 1u << bit);

	if (name != NULL) {
		snprintf(ret, NAME_MAX_LEN, "%s", name);
	} else {
		snprintf(ret, NAME_MAX_LEN, "FEATURE_%c%" PRIu32, "CIR"[set], bit);
	}
}

static void json_features(struct json *j, const char *key, uint32_t set, uint32_t bits)
{
	char name[NAME_MAX_LEN];

	json_list_begin(j, key);
	for (uint32_t bit = 0; bit < 32; bit++) {
		if (bits & 1u << bit) {
			feature_text(set, bit, name);
			json_text(j, NULL, name);
		}
	}
	json_list_end(j);
}

static void json_seconds(struct json *j, const char *key, int64_t seconds)
{
	char text[TEXT_TIME_MAX];

	if (seconds == 0) {
		json_null(j, key);
		return;
	}
	text_time(&(struct e4_timespec){.sec = seconds}, text);
	json_text(j, key, text);
}

static const char *const journal_compat[32] = {"checksum"};
static const char *const journal_incompat[32] = {
	"revoke", "64bit", "async_commit", "checksum_v2", "checksum_v3", "fast_commit"};

static void json_journal_features(
	struct json *j, const char *key, uint32_t bits, const char *const names[32], char letter)
{
	char name[NAME_MAX_LEN];

	json_list_begin(j, key);
	for (uint32_t bit = 0; bit < 32; bit++) {
		if ((bits & 1u << bit) == 0) {
			continue;
		}
		snprintf(name, sizeof(name), "FEATURE_%c%" PRIu32, letter, bit);
		json_text(j, NULL, names[bit] != NULL ? names[bit] : name);
	}
	json_list_end(j);
}

static void json_journal(struct json *j, const struct e4_fs_info *i)
{
	char uuid[TEXT_UUID_MAX];

	if (!i->has_journal) {
		json_null(j, "journal");
		return;
	}
	json_object_begin(j, "journal");
	json_bool(j, "external", i->journal_external != 0);
	json_number(j, "inode", i->journal_ino);
	text_uuid(i->journal_uuid, uuid);
	json_text(j, "uuid", uuid);
	json_number(j, "blocks", i->journal_blocks);
	json_object_begin(j, "features");
	json_journal_features(j, "compat", i->journal_features_compat, journal_compat, 'C');
	json_journal_features(j, "incompat", i->journal_features_incompat, journal_incompat, 'I');
	json_object_end(j);
	json_number(j, "sequence", i->journal_sequence);
	json_number(j, "start", i->journal_start);
	json_signed(j, "errno", i->journal_errno);
	json_number(j, "fast_commit_blocks", i->journal_fc_blocks);
	json_object_end(j);
}

static void print_json(const struct summary *s)
{
	const struct e4_fs_info *i = &s->info;
	struct json j = {.out = stdout};
	char uuid[TEXT_UUID_MAX];

	json_object_begin(&j, NULL);
	text_uuid(i->uuid, uuid);
	json_text(&j, "uuid", uuid);
	json_text(&j, "label", i->label);
	json_number(&j, "block_size", i->block_size);
	json_number(&j, "cluster_size", i->cluster_size);
	json_number(&j, "blocks", i->blocks);
	json_number(&j, "free_blocks", i->free_blocks);
	json_number(&j, "reserved_blocks", i->reserved_blocks);
	json_number(&j, "inodes", i->inodes);
	json_number(&j, "free_inodes", i->free_inodes);
	json_number(&j, "inode_size", i->inode_size);
	json_number(&j, "first_inode", i->first_ino);
	json_number(&j, "descriptor_size", i->desc_size);
	json_number(&j, "groups", i->groups);
	json_number(&j, "blocks_per_group", i->blocks_per_group);
	json_number(&j, "inodes_per_group", i->inodes_per_group);
	json_number(&j, "first_data_block", i->first_data_block);
	json_object_begin(&j, "features");
	json_features(&j, "compat", 0, i->feature_compat);
	json_features(&j, "incompat", 1, i->feature_incompat);
	json_features(&j, "ro_compat", 2, i->feature_ro_compat);
	json_object_end(&j);
	json_text(&j, "hash", hash_name(i->hash_version));
	json_text(&j, "state", state_words(i));
	json_text(&j, "errors_behaviour", errors_words(i));
	json_bool(&j, "needs_recovery", i->needs_recovery != 0);
	json_journal(&j, i);
	json_text(&j, "read_only_reason", i->read_only_reason);
	if (s->mount_err < 0) {
		json_object_begin(&j, "mount_error");
		json_text(&j, "errno", e4_errno_name(s->mount_err));
		json_text(&j, "reason", s->mount_reason);
		json_object_end(&j);
	} else {
		json_null(&j, "mount_error");
	}
	json_text(&j, "last_mounted", i->last_mounted);
	json_seconds(&j, "created", i->created);
	json_seconds(&j, "checked", i->checked);
	json_seconds(&j, "mounted", i->mounted);
	json_seconds(&j, "written", i->written);
	json_number(&j, "written_kbytes", i->kbytes_written);
	json_number(&j, "mount_count", i->mount_count);
	json_signed(&j, "max_mount_count", i->max_mount_count);
	json_number(&j, "error_count", i->error_count);
	json_object_end(&j);
	json_end(&j);
}

static void title(const char *text)
{
	printf("%-18s", text);
}

static void print_features(const struct e4_fs_info *i)
{
	const uint32_t sets[3] = {i->feature_compat, i->feature_incompat, i->feature_ro_compat};
	char name[NAME_MAX_LEN];
	size_t column = 0;

	title("Features");
	for (uint32_t set = 0; set < 3; set++) {
		for (uint32_t bit = 0; bit < 32; bit++) {
			if ((sets[set] & 1u << bit) == 0) {
				continue;
			}
			feature_text(set, bit, name);
			if (column > 0 && column + strlen(name) > 60) {
				printf("\n%-18s", "");
				column = 0;
			}
			printf("%s ", name);
			column += strlen(name) + 1;
		}
	}
	putchar('\n');
}

static void print_seconds(const char *what, int64_t seconds, const char *never)
{
	char date[TEXT_TIME_MAX];

	title(what);
	if (seconds == 0) {
		puts(never);
		return;
	}
	text_date(&(struct e4_timespec){.sec = seconds}, 0, date);
	puts(date);
}

static void print_journal(const struct e4_fs_info *i)
{
	char uuid[TEXT_UUID_MAX];
	char size[TEXT_SIZE_MAX];

	title("Journal");
	if (!i->has_journal) {
		puts("none");
		return;
	}
	if (i->journal_external) {
		text_uuid(i->journal_uuid, uuid);
		printf("on another device, %s", uuid);
	} else {
		printf("inode %" PRIu32, i->journal_ino);
	}
	text_size((uint64_t)i->journal_blocks * i->block_size, size);
	printf(", %s, sequence %" PRIu32 ", %s", size, i->journal_sequence,
		i->journal_start == 0 ? "empty" : "holds transactions");
	if (i->journal_fc_blocks > 0) {
		printf(", %" PRIu32 " blocks for fast commits", i->journal_fc_blocks);
	}
	if (i->journal_errno != 0) {
		printf(", error %" PRId32, i->journal_errno);
	}
	putchar('\n');
}

static void print_sizes(const struct e4_fs_info *i)
{
	char size[TEXT_SIZE_MAX];

	title("Size");
	text_size(i->blocks * i->block_size, size);
	printf("%s: %" PRIu64 " blocks of %" PRIu32 " bytes", size, i->blocks, i->block_size);
	if (i->cluster_size != i->block_size) {
		printf(", clusters of %" PRIu32, i->cluster_size);
	}
	text_size(i->free_blocks * i->block_size, size);
	printf("\n%-18s%s: %" PRIu64 " blocks, %" PRIu64 " of them kept for root\n", "Free", size,
		i->free_blocks, i->reserved_blocks);
	title("Inodes");
	printf("%" PRIu32 " of %" PRIu32 " bytes, %" PRIu32 " free\n", i->inodes, i->inode_size,
		i->free_inodes);
	title("Groups");
	printf("%" PRIu32 " of %" PRIu32 " blocks and %" PRIu32 " inodes\n", i->groups,
		i->blocks_per_group, i->inodes_per_group);
}

static void print_person(const char *dev, const struct summary *s)
{
	const struct e4_fs_info *i = &s->info;
	char uuid[TEXT_UUID_MAX];
	int terminal = 1; /* a label's bytes are anyone's */

	title("Device");
	text_name(stdout, dev, terminal);
	putchar('\n');
	title("Label");
	text_name(stdout, i->label[0] != '\0' ? i->label : "-", terminal);
	text_uuid(i->uuid, uuid);
	printf("\n%-18s%s\n", "UUID", uuid);
	print_sizes(i);
	print_features(i);
	print_journal(i);
	title("State");
	printf("%s%s\n", state_words(i), i->needs_recovery ? ", needs recovery" : "");
	title("Errors");
	printf("%" PRIu32 " recorded; on an error: %s\n", i->error_count, errors_words(i));
	title("Last mounted on");
	text_name(stdout, i->last_mounted[0] != '\0' ? i->last_mounted : "-", terminal);
	putchar('\n');
	print_seconds("Created", i->created, "-");
	print_seconds("Mounted", i->mounted, "never");
	print_seconds("Written", i->written, "never");
	print_seconds("Checked", i->checked, "never");
	title("Can be read");
	if (s->mount_err < 0) {
		printf("no: %s (%s)\n", s->mount_reason, e4_errno_name(s->mount_err));
	} else {
		puts("yes");
	}
	title("Can be written");
	if (i->read_only_reason[0] != '\0') {
		printf("no: %s\n", i->read_only_reason);
	} else {
		puts(s->mount_err < 0 ? "no" : "yes, by a version that writes");
	}
}

/* s_feature_incompat: the device is the journal of a volume elsewhere. */
enum { JOURNAL_DEVICE = 0x8 };

/* Fills the summary; a negative errno and v->error when not even the superblock is of use. */
static int summary_read(struct volume *v, struct summary *ret)
{
	struct e4_error error;
	int r;

	*ret = (struct summary){.info.struct_size = sizeof(ret->info)};
	r = volume_mount(v);
	if (r == 0) {
		return e4_fs_info(v->fs, &ret->info);
	}
	ret->mount_err = r;
	error = v->error;
	if (v->error.err == r && v->error.text[0] != '\0') {
		memcpy(ret->mount_reason, v->error.text, sizeof(ret->mount_reason));
	} else {
		snprintf(ret->mount_reason, sizeof(ret->mount_reason), "it cannot be mounted");
	}
	v->error = (struct e4_error){.struct_size = sizeof(v->error)};
	r = e4_probe(v->dev, &v->options, &ret->info);
	if (r == 0 && (ret->info.feature_incompat & JOURNAL_DEVICE) != 0) {
		v->error = error;
		r = ret->mount_err;
	}
	return r;
}

int e4_info(const struct command *command, int argc, char **argv)
{
	struct summary summary;
	struct volume v;
	struct args args;
	int r;
	int status = args_parse(&args, command, NULL, 0, argc, argv, 1, 1);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open_devices(&v, &args, E4_BLOCKDEV_RDONLY) < 0) {
		return STATUS_FAILED;
	}
	r = summary_read(&v, &summary);
	if (r < 0) {
		report_error("info", args.operands[0], r, &v.error);
	} else if (args.json) {
		print_json(&summary);
	} else {
		print_person(args.operands[0], &summary);
	}
	volume_close(&v);
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}
