/* replay.c - e4 replay: the one command of this version that writes. */
#include "common/report.h"
#include "common/volume.h"
#include "e4/e4.h"

#include <inttypes.h>

static void print_json(const struct e4_replay_result *r)
{
	struct json j = {.out = stdout};

	json_object_begin(&j, NULL);
	json_bool(&j, "was_needed", r->was_needed != 0);
	json_number(&j, "transactions", r->transactions);
	json_number(&j, "blocks", r->blocks);
	json_number(&j, "revoked", r->revoked);
	json_number(&j, "fast_commits", r->fast_commits);
	json_number(&j, "orphans_deleted", r->orphans_deleted);
	json_number(&j, "orphans_truncated", r->orphans_truncated);
	json_object_end(&j);
	json_end(&j);
}

static void print_person(const char *dev, const struct e4_replay_result *r)
{
	if (!r->was_needed) {
		printf("%s: clean, nothing to recover\n", dev);
		return;
	}
	printf("%s: recovered: %" PRIu64 " transactions, %" PRIu64 " blocks written home", dev,
		r->transactions, r->blocks);
	if (r->revoked > 0) {
		printf(", %" PRIu64 " revoked", r->revoked);
	}
	if (r->fast_commits > 0) {
		printf(", %" PRIu64 " fast-commit records", r->fast_commits);
	}
	printf("; %" PRIu64 " orphans deleted, %" PRIu64 " truncated\n", r->orphans_deleted,
		r->orphans_truncated);
}

int e4_recover(const struct command *command, int argc, char **argv)
{
	struct e4_replay_result result = {.struct_size = sizeof(result)};
	struct volume v;
	struct args args;
	int r;
	int status = args_parse(&args, command, NULL, 0, argc, argv, 1, 1);

	if (status != ARGS_GO_ON) {
		return status;
	}
	if (volume_open_devices(&v, &args, E4_BLOCKDEV_RDWR) < 0) {
		return STATUS_FAILED;
	}
	v.options.flags &= ~(uint32_t)(E4_MOUNT_RDONLY | E4_MOUNT_NORECOVERY);
	r = e4_replay(v.dev, &v.options, &result);
	if (r < 0) {
		report_error("replay", args.operands[0], r, &v.error);
	} else if (args.json) {
		print_json(&result);
	} else {
		print_person(args.operands[0], &result);
	}
	volume_close(&v);
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}
