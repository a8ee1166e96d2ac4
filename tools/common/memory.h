#ifndef TOOLS_COMMON_MEMORY_H
#define TOOLS_COMMON_MEMORY_H

#include <stddef.h>

/*
 * Memory of a program that has nothing better to do without it than to say so and stop: these never
 * return NULL.
 */
void *memory_grow(void *old, size_t count, size_t size);
char *memory_copy(const void *bytes, size_t len); /* with a NUL behind it */

/* Room for one more element: doubles `capacity` when `count` has reached it. */
void *memory_room(void *array, size_t count, size_t *capacity, size_t size);

#endif
