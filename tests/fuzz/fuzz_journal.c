/*
 * fuzz_journal.c - a log from the fuzzer: its superblock, descriptors, revokes, commits and fast commits, replayed into a volume in
 * memory. Work is bounded by the log's length; home blocks stay inside the volume; recovering twice gives the same.
 */
#include "journal/journal.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK      1024u
#define LOG_BLOCKS 1100u
#define HOME       2048u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(
	struct env *env, struct e4_blockdev *log, struct e4_blockdev *home, bool ignore_csum)
{
	const struct journal_run_map run = {.lblk = 0, .len = LOG_BLOCKS, .pblk = 0};
	const struct journal_config config = {.env = env,
		.log_dev = log,
		.home_dev = home,
		.block_size = BLOCK,
		.home_blocks = HOME,
		.runs = &run,
		.run_count = 1,
		.ignore_csum = ignore_csum};
	struct journal_recovery rec;
	struct journal *j;
	uint8_t *records;
	uint32_t len;

	if (journal_open(&config, &j) < 0)
		return;
	if (journal_scan(j, &rec) == 0 && journal_replay(j, &rec) == 0 &&
		journal_fc_read(j, rec.next_tid, &records, &len) == 0)
		mem_free(env, records, len);
	journal_close(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct e4_blockdev *log;
	struct e4_blockdev *home;
	struct env *env;

	if (size > LOG_BLOCKS * BLOCK)
		return 0;
	if (env_new(NULL, 0, &env) < 0 || blockdev_mem_new(env, LOG_BLOCKS * BLOCK, &log) < 0 ||
		blockdev_mem_new(env, HOME * BLOCK, &home) < 0)
		abort();
	if (blockdev_write(log, 0, data, size, 0) < 0)
		abort();
	replay(env, log, home, false);
	replay(env, log, home, true);
	blockdev_free(home);
	blockdev_free(log);
	env_put(env);
	return 0;
}
