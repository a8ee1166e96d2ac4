/*
 * janitor.c - a process that takes devices, mounts and files away when the bench is gone, however it went.
 *
 * Owns:    the list of what was made, in the child.
 * Always:  each thing is noted before or right after it exists; undoing what is not there is no error. Signals from the
 *          terminal do not reach the child; the end of the pipe does, also after SIGKILL.
 */
#include "janitor.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TASKS_MAX = 64,
	OBJECT_MAX = 240,
	TRIES = 100,
	TRY_EVERY_US = 50000,
};

/* At most PIPE_BUF bytes, so that a write is whole. */
struct note {
	char task;
	char object[OBJECT_MAX];
};

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0) {
		return errno;
	}
	if (write(fd, text, strlen(text)) < 0) {
		r = errno;
	}
	close(fd);
	return r;
}

static int zram_remove(const char *number)
{
	char path[OBJECT_MAX + 32];
	int r;

	snprintf(path, sizeof(path), "/sys/block/zram%s/reset", number);
	r = write_text(path, "1");
	if (r == ENOENT) {
		return 0;
	}
	return r != 0 ? r : write_text("/sys/class/zram-control/hot_remove", number);
}

static int loop_detach(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = 0;

	if (fd < 0) {
		return errno;
	}
	if (ioctl(fd, LOOP_CLR_FD) < 0 && errno != ENXIO) {
		r = errno;
	}
	close(fd);
	return r;
}

/* An errno; EBUSY is tried again. */
static int undo(const struct note *note)
{
	switch (note->task) {
	case JANITOR_UNMOUNT:
		return umount2(note->object, 0) == 0 || errno == EINVAL ? 0 : errno;
	case JANITOR_DETACH:
		return loop_detach(note->object);
	case JANITOR_ZRAM:
		return zram_remove(note->object);
	case JANITOR_UNLINK:
		return unlink(note->object) == 0 ? 0 : errno;
	case JANITOR_RMDIR:
		return rmdir(note->object) == 0 ? 0 : errno;
	default:
		return 0;
	}
}

static bool undo_patiently(const struct note *note)
{
	int r = undo(note);

	for (unsigned i = 0; i < TRIES && r == EBUSY; i++) {
		usleep(TRY_EVERY_US);
		r = undo(note);
	}
	if (r != 0 && r != ENOENT) {
		report("lab", note->object, -r, "could not be removed");
		return false;
	}
	return true;
}

static void child(int fd)
{
	static struct note notes[TASKS_MAX];
	unsigned count = 0;
	bool done = true;

	while (count < TASKS_MAX &&
		read(fd, &notes[count], sizeof(notes[count])) == sizeof(notes[count])) {
		count++;
	}
	while (count > 0) {
		done = undo_patiently(&notes[--count]) && done;
	}
	_exit(done ? 0 : 1);
}

int janitor_start(struct janitor *ret)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0) {
		return -errno;
	}
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		setsid();
		child(ends[0]);
	}
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return -errno;
	}
	*ret = (struct janitor){.pid = pid, .pipe = ends[1]};
	return 0;
}

int janitor_note(struct janitor *j, enum janitor_task task, const char *object)
{
	struct note note = {.task = (char)task};

	if (strlen(object) >= sizeof(note.object)) {
		return -ENAMETOOLONG;
	}
	memcpy(note.object, object, strlen(object));
	return write(j->pipe, &note, sizeof(note)) == sizeof(note) ? 0 : -EPIPE;
}

int janitor_finish(struct janitor *j)
{
	int status = 0;

	close(j->pipe);
	while (waitpid(j->pid, &status, 0) < 0) {
		if (errno != EINTR) {
			return -errno;
		}
	}
	return status == 0 ? 0 : -EBUSY;
}
