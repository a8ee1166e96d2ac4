/*
 * iov.c - arithmetic on lists of memory pieces.
 *
 * Owns:    nothing; pure but for the copies.
 * Locks:   none.
 * Always:  no piece is touched beyond its length.
 */
#include "base/math.h"
#include "blockdev/blockdev_impl.h"

#include <string.h>

bool iov_len(const struct e4_iovec *iov, uint32_t count, uint64_t *ret)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!add_u64(sum, iov[i].len, &sum))
			return false;
	}
	*ret = sum;
	return true;
}

void *iov_take(struct iov_cursor *it, uint64_t max, uint64_t *ret_len)
{
	while (it->count > 0 && it->done == it->iov->len) {
		it->iov++;
		it->count--;
		it->done = 0;
	}
	if (it->count == 0 || max == 0) {
		*ret_len = 0;
		return NULL;
	}
	uint8_t *p = (uint8_t *)it->iov->base + it->done;
	uint64_t n = min_u64(max, it->iov->len - it->done);
	it->done += n;
	*ret_len = n;
	return p;
}

/* A cursor `skip` bytes into the pieces. */
static struct iov_cursor cursor_at(const struct e4_iovec *iov, uint64_t skip)
{
	while (skip > 0 && skip >= iov->len) {
		skip -= iov->len;
		iov++;
	}
	return (struct iov_cursor){.iov = iov, .count = UINT32_MAX, .done = skip};
}

void iov_copy_out(const struct e4_iovec *iov, uint64_t skip, const void *from, uint64_t len)
{
	struct iov_cursor it = cursor_at(iov, skip);
	const uint8_t *src = from;

	while (len > 0) {
		uint64_t n;
		void *p = iov_take(&it, len, &n);

		memcpy(p, src, (size_t)n);
		src += n;
		len -= n;
	}
}

void iov_copy_in(void *to, const struct e4_iovec *iov, uint64_t skip, uint64_t len)
{
	struct iov_cursor it = cursor_at(iov, skip);
	uint8_t *dst = to;

	while (len > 0) {
		uint64_t n;
		const void *p = iov_take(&it, len, &n);

		memcpy(dst, p, (size_t)n);
		dst += n;
		len -= n;
	}
}
