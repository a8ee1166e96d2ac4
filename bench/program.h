#ifndef BENCH_PROGRAM_H
#define BENCH_PROGRAM_H

/* Runs a program, found by PATH and in the sbin folders, with its output thrown away. 0, -ENOENT when there is none of that name, or -EIO when its status is not 0. */
int program_run(const char *const argv[]);

#endif
