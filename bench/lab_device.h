#ifndef BENCH_LAB_DEVICE_H
#define BENCH_LAB_DEVICE_H

#include "lab.h"

/* Makes a zram device of that size (lz4) and puts its path into ret. */
int lab_zram(struct lab *lab, uint64_t size, char ret[LAB_PATH_MAX]);
/* Makes a tmpfs file of that size. */
int lab_file(struct lab *lab, const char *name, uint64_t size, char ret[LAB_PATH_MAX]);
/* Attaches a loop device with direct I/O to a file. */
int lab_loop(struct lab *lab, const char *file, char ret[LAB_PATH_MAX]);

#endif
