#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/* The commands. argv[0] is the command; each answers the exit status. */
int bench_run(int argc, char **argv);
int bench_compare(int argc, char **argv);

#endif
