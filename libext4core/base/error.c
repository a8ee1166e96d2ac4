/*
 * error.c - the ring of failures of one volume.
 *
 * Owns:    env->errors.
 * Locks:   env->errors.lock guards the ring; the log callback runs after it is dropped.
 * Always:  slot (n - 1) % ERROR_RING_SIZE holds failure number n until it is overwritten.
 */
#include "base/error.h"

#include "base/env.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct why_row {
	const char *name;
	const char *text;
	int err;
};

static const struct why_row rows[] = {
	[E4_WHY_NONE] = {"", "no error", 0},
#define WHY(id, e, t) [E4_WHY_##id] = {#id, t, e},
#include "base/why.def"
#undef WHY
};

#define WHY(id, e, t) static_assert((e) < 0, #id);
#include "base/why.def"
#undef WHY

const char *why_name(enum why why)
{
	return rows[why].name;
}

/* Whose fault it is, for the log. */
static const char *culprit(int err)
{
	switch (-err) {
	case EUCLEAN:
	case EBADMSG:
		return "image";
	case EIO:
	case ENODATA:
	case ENXIO:
		return "device";
	case ENOMEM:
		return "host";
	default:
		return "caller";
	}
}

/* Appends to a text of `size` bytes, as much as fits. */
static E4_PRINTF(3, 4) void add(char *text, size_t size, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, size - n, fmt, ap);
	va_end(ap);
}

/* "text: name (inode 12, block 345, found 9, expected 5)", leaving out what is not known. */
static void describe(struct e4_error *e, const struct why_row *row, const struct fail_info *info)
{
	const char *sep = " (";
	size_t size = sizeof(e->text);

	add(e->text, size, "%s", row->text);
	if (info->name != NULL)
		add(e->text, size, ": %s", info->name);
	if (info->ino != 0) {
		add(e->text, size, "%sinode %u", sep, info->ino);
		sep = ", ";
	}
	if (info->block != 0) {
		add(e->text, size, "%sblock %" PRIu64, sep, info->block);
		sep = ", ";
	}
	if (info->found != 0 || info->expected != 0) {
		add(e->text, size, "%sfound %" PRIu64 ", expected %" PRIu64, sep, info->found,
			info->expected);
		sep = ", ";
	}
	if (*sep == ',')
		add(e->text, size, ")");
}

static uint64_t thread_id(void)
{
	static _Thread_local uint64_t id;

	if (id == 0)
		id = (uint64_t)syscall(SYS_gettid);
	return id;
}

int fail_at(struct env *env, enum why why, const struct fail_info *info, const char *file,
	uint32_t line)
{
	const struct why_row *row = &rows[why];
	struct error_ring *ring = &env->errors;
	struct e4_error e = {
		.struct_size = sizeof(e),
		.err = info->err != 0 ? info->err : row->err,
		.why = row->name,
		.block = info->block,
		.ino = info->ino,
		.found = info->found,
		.expected = info->expected,
		.thread = thread_id(),
		.file = file,
		.line = line,
	};

	describe(&e, row, info);
	mutex_lock(&ring->lock);
	e.sequence = ++ring->count;
	ring->slots[(e.sequence - 1) % ERROR_RING_SIZE] = e;
	mutex_unlock(&ring->lock);
	log_line(env, E4_LOG_WARN, "%s: %s: %s", culprit(e.err), e.why, e.text);
	return e.err;
}

/* Copies as much as the caller's struct holds. */
static void copy_out(struct e4_error *ret, const struct e4_error *e)
{
	uint32_t size = ret->struct_size < sizeof(*e) ? ret->struct_size : (uint32_t)sizeof(*e);

	memcpy(ret, e, size);
	ret->struct_size = size;
}

bool error_last(struct env *env, struct e4_error *ret)
{
	struct error_ring *ring = &env->errors;
	struct e4_error found = {.why = "", .file = ""};
	uint64_t me = thread_id();

	mutex_lock(&ring->lock);
	uint64_t oldest = ring->count > ERROR_RING_SIZE ? ring->count - ERROR_RING_SIZE : 0;
	for (uint64_t n = ring->count; n > oldest; n--) {
		const struct e4_error *e = &ring->slots[(n - 1) % ERROR_RING_SIZE];

		if (e->thread == me) {
			found = *e;
			break;
		}
	}
	mutex_unlock(&ring->lock);
	copy_out(ret, &found);
	return found.sequence != 0;
}

uint64_t error_count(struct env *env)
{
	mutex_lock(&env->errors.lock);
	uint64_t n = env->errors.count;
	mutex_unlock(&env->errors.lock);
	return n;
}
