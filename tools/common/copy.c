/* copy.c - a file's content, out of the volume. */
#include "common/copy.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

static const struct copy_result copied = {0, false};

static struct copy_result reading_failed(int64_t err)
{
	return (struct copy_result){(int)err, true};
}

static struct copy_result writing_failed(int err)
{
	return (struct copy_result){err, false};
}

static int write_stream(int fd, const char *bytes, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, bytes, len);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

static int write_at(int fd, const char *bytes, size_t len, uint64_t offset)
{
	ssize_t n;

	while (len > 0) {
		n = pwrite(fd, bytes, len, (off_t)offset);
		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		if (n > 0) {
			bytes += n;
			offset += (uint64_t)n;
			len -= (size_t)n;
		}
	}
	return 0;
}

struct copy_result copy_stream(struct e4_file *file, int fd, void *buf, struct progress *progress)
{
	uint64_t pos = 0;
	int64_t n;
	int r;

	while ((n = e4_pread(file, buf, COPY_PIECE, pos)) > 0) {
		r = write_stream(fd, buf, (size_t)n);
		if (r < 0) {
			return writing_failed(r);
		}
		pos += (uint64_t)n;
		progress_add(progress, 0, (uint64_t)n);
	}
	return n < 0 ? reading_failed(n) : copied;
}

/* One run of data. A file that ends inside it was said to be longer: that is no short success. */
static struct copy_result copy_run(struct e4_file *file, int fd, void *buf, uint64_t pos,
	uint64_t end, struct progress *progress)
{
	uint64_t want;
	int64_t n;
	int r;

	while (pos < end) {
		want = end - pos < COPY_PIECE ? end - pos : COPY_PIECE;
		n = e4_pread(file, buf, want, pos);
		if (n <= 0) {
			return reading_failed(n < 0 ? n : -EIO);
		}
		r = write_at(fd, buf, (size_t)n, pos);
		if (r < 0) {
			return writing_failed(r);
		}
		pos += (uint64_t)n;
		progress_add(progress, 0, (uint64_t)n);
	}
	return copied;
}

struct copy_result copy_sparse(struct e4_file *file, int fd, void *buf, struct progress *progress)
{
	struct e4_stat st = {.struct_size = sizeof(st)};
	struct copy_result result;
	int64_t data;
	int64_t hole = 0;
	int r = e4_fstat(file, &st);

	if (r < 0) {
		return reading_failed(r);
	}
	while ((uint64_t)hole < st.size) {
		data = e4_seek_data(file, (uint64_t)hole);
		if (data == -ENXIO) {
			break;
		}
		hole = data < 0 ? data : e4_seek_hole(file, (uint64_t)data);
		if (hole < 0) {
			return reading_failed(hole);
		}
		result = copy_run(file, fd, buf, (uint64_t)data, (uint64_t)hole, progress);
		if (result.err < 0) {
			return result;
		}
	}
	if (ftruncate(fd, (off_t)st.size) < 0) {
		return writing_failed(-errno);
	}
	return copied;
}
