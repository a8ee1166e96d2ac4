/*
 * fc_read.c - the fast-commit area: which records count (journal.md "Fast commit").
 *
 * Owns:    nothing that lasts.
 * Locks:   none.
 * Always:  a record lies inside its block and has a length its tag allows before anybody looks at its value.
 * Uses:    log.c.
 */
#include "base/crc32c.h"
#include "base/log.h"
#include "base/mem.h"
#include "format/features.h"
#include "format/inode.h"
#include "journal/journal_impl.h"

#include <errno.h>
#include <string.h>

#define TL_BYTES ((uint32_t)sizeof(struct disk_fc_tl))

struct fc_scan {
	struct journal *j;
	tid_t expected;
	uint32_t crc;
	bool head_seen;
	uint8_t *out; /* records, without HEAD, PAD and TAIL */
	uint32_t out_size, out_len, good_len;
	uint32_t commits; /* good ones */
};

enum fc_step {
	FC_GO_ON,
	FC_NEXT_BLOCK,
	FC_END,
};

/* Whether a value of this length is possible; `left` is what the block still holds. */
static bool len_ok(uint32_t tag, uint32_t len, uint32_t left)
{
	if (len > left)
		return false;
	switch ((enum fc_tag)tag) {
	case FC_ADD_RANGE:
		return len == 16;
	case FC_DEL_RANGE:
		return len == 12;
	case FC_CREAT:
	case FC_LINK:
	case FC_UNLINK:
		return len > 8 && len <= 8 + 255;
	case FC_INODE:
		return len >= 4 + INODE_CLASSIC_SIZE && len <= 4 + 65536u;
	case FC_PAD:
		return true;
	case FC_TAIL:
	case FC_HEAD:
		return len >= 8;
	}
	return false;
}

static void keep(struct fc_scan *s, const uint8_t *record, uint32_t len)
{
	memcpy(s->out + s->out_len, record, len);
	s->out_len += len;
}

static int scan_tail(struct fc_scan *s, const uint8_t *record, enum fc_step *ret)
{
	uint32_t crc = crc32c(s->crc, record, TL_BYTES + 4);
	tid_t tid = le32_at(record + TL_BYTES);

	s->crc = 0;
	*ret = FC_END;
	if (tid != s->expected)
		return 0;
	if (crc != le32_at(record + TL_BYTES + 4)) {
		/* Behind a good commit it is one that was being written; the first must be good, as Linux has it. */
		if (s->commits > 0)
			return 0;
		return fail(s->j->env, E4_WHY_FC_CSUM, .found = le32_at(record + TL_BYTES + 4),
			.expected = crc);
	}
	s->good_len = s->out_len;
	s->commits++;
	*ret = FC_NEXT_BLOCK;
	return 0;
}

/* One record at `record`, complete within its block. */
static int scan_record(struct fc_scan *s, const uint8_t *record, enum fc_step *ret)
{
	uint32_t tag = le16_at(record);
	uint32_t len = le16_at(record + 2);

	*ret = FC_GO_ON;
	if (!s->head_seen && (tag != FC_HEAD || le32_at(record + TL_BYTES + 4) != s->expected)) {
		*ret = FC_END;
		return 0;
	}
	if (tag == FC_TAIL)
		return scan_tail(s, record, ret);
	if (tag == FC_HEAD) {
		if (s->head_seen || le32_at(record + TL_BYTES + 4) != s->expected) {
			*ret = FC_END;
			return 0;
		}
		if (le32_at(record + TL_BYTES) != 0)
			return fail(
				s->j->env, E4_WHY_FC_FEATURE, .found = le32_at(record + TL_BYTES));
		s->head_seen = true;
	} else if (tag != FC_PAD) {
		keep(s, record, TL_BYTES + len);
	}
	s->crc = crc32c(s->crc, record, TL_BYTES + len);
	return 0;
}

/* FC_END when the area ends in this block. */
static int scan_block(struct fc_scan *s, const uint8_t *block, enum fc_step *ret)
{
	uint32_t size = s->j->block_size;
	uint32_t at = 0;

	*ret = FC_NEXT_BLOCK;
	while (at + TL_BYTES <= size) {
		uint32_t tag = le16_at(block + at);
		uint32_t len = le16_at(block + at + 2);

		/* What cannot be a record is what an unfinished commit left: it was never acknowledged. */
		if (!len_ok(tag, len, size - at - TL_BYTES)) {
			*ret = FC_END;
			return 0;
		}
		int err = scan_record(s, block + at, ret);

		if (err != 0 || *ret != FC_GO_ON)
			return err;
		at += TL_BYTES + len;
		*ret = FC_NEXT_BLOCK;
	}
	return 0;
}

static int scan_area(struct fc_scan *s)
{
	for (uint32_t lblk = s->j->last + 1; lblk < s->j->maxlen; lblk++) {
		const uint8_t *block;
		enum fc_step step;
		int err = journal_log_block(s->j, lblk, &block);

		if (err == 0)
			err = scan_block(s, block, &step);
		if (err != 0)
			return err;
		if (step == FC_END)
			break;
	}
	if (s->head_seen && s->good_len == 0 && s->commits == 0)
		log_line(s->j->env, E4_LOG_WARN,
			"journal: a fast commit of transaction %u was not finished", s->expected);
	return 0;
}

/*
 * The records of all complete fast commits of tid `expected`; *ret_len 0 (and *ret_records NULL) when there are none. The caller
 * frees *ret_records with mem_free(env, records, len).
 */
int journal_fc_read(struct journal *j, tid_t expected, uint8_t **ret_records, uint32_t *ret_len)
{
	struct fc_scan s = {.j = j, .expected = expected};

	*ret_records = NULL;
	*ret_len = 0;
	if ((j->incompat & JBD2_INCOMPAT_FAST_COMMIT) == 0 || j->last + 1 >= j->maxlen)
		return 0;
	uint64_t size = (uint64_t)(j->maxlen - j->last - 1) * j->block_size;

	if (size > INT32_MAX)
		return fail(j->env, E4_WHY_FC_SIZE, .found = size, .expected = INT32_MAX);
	s.out_size = (uint32_t)size;
	s.out = mem_zalloc(j->env, s.out_size);
	if (s.out == NULL)
		return -ENOMEM;
	int err = scan_area(&s);

	if (err == 0 && s.good_len > 0) {
		*ret_records = mem_zalloc(j->env, s.good_len);
		if (*ret_records == NULL) {
			err = -ENOMEM;
		} else {
			memcpy(*ret_records, s.out, s.good_len);
			*ret_len = s.good_len;
		}
	}
	mem_free(j->env, s.out, s.out_size);
	return err;
}
