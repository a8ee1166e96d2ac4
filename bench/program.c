/*
 * program.c - other programs: mke2fs to make volumes, find and debugfs as rivals.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The strings are only read, whatever posix_spawn() declares. */
static int start(const char *path, const char *const argv[], pid_t *ret)
{
	union {
		const char *const *ours;
		char *const *theirs;
	} words = {.ours = argv};
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0) {
		return -r;
	}
	r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (r == 0) {
		r = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	}
	if (r == 0) {
		r = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	}
	if (r == 0) {
		r = posix_spawnp(ret, path, &actions, NULL, words.theirs, environ);
	}
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Users' PATH often leaves out the folders of mke2fs and debugfs. */
static int find_and_start(const char *const argv[], pid_t *ret)
{
	static const char *const folders[] = {"", "/usr/sbin/", "/sbin/"};
	char path[256];
	int r = -ENOENT;

	for (unsigned i = 0; i < 3 && r == -ENOENT; i++) {
		snprintf(path, sizeof(path), "%s%s", folders[i], argv[0]);
		r = start(path, argv, ret);
	}
	return r;
}

int program_run(const char *const argv[])
{
	int status;
	pid_t pid = -1;
	int r = find_and_start(argv, &pid);

	if (r < 0) {
		return r;
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR) {
			return -errno;
		}
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}
