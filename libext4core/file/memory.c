/*
 * memory.c - walking along a caller's list of memory pieces.
 *
 * Locks:   none.
 * Always:  the list and the bytes it names are the caller's; nothing is written beyond what is advanced over.
 */
#include "file/memory.h"

#include "base/assert.h"
#include "base/math.h"

#include <string.h>

void *memory_next(const struct memory *m, uint64_t len, uint64_t *ret_len)
{
	uint64_t offset = m->offset;
	uint32_t i = 0;

	while (i < m->count && m->iov[i].len == offset) {
		offset = 0;
		i++;
	}
	E4_ASSERT(i < m->count && len > 0);
	*ret_len = min_u64(m->iov[i].len - offset, len);
	return (char *)m->iov[i].base + offset;
}

uint64_t memory_slice(const struct memory *m, uint64_t len, struct e4_iovec out[MEMORY_SLICES],
	uint32_t *ret_count)
{
	struct memory at = *m;
	uint64_t done = 0;
	uint32_t count = 0;

	while (done < len && count < MEMORY_SLICES) {
		uint64_t n;

		out[count].base = memory_next(&at, len - done, &n);
		out[count++].len = n;
		memory_advance(&at, n);
		done += n;
	}
	*ret_count = count;
	return done;
}

void memory_advance(struct memory *m, uint64_t len)
{
	while (len > 0) {
		E4_ASSERT(m->count > 0);
		uint64_t n = min_u64(m->iov->len - m->offset, len);

		m->offset += n;
		len -= n;
		if (m->offset == m->iov->len) {
			m->iov++;
			m->count--;
			m->offset = 0;
		}
	}
}

void memory_zero(struct memory *m, uint64_t len)
{
	while (len > 0) {
		uint64_t n;
		void *at = memory_next(m, len, &n);

		memset(at, 0, (size_t)n);
		memory_advance(m, n);
		len -= n;
	}
}
