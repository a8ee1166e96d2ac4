/*
 * memory.c - allocation for a command line program.
 *
 * Always:  a result is never NULL; where there is no memory, the process ends with status 1 and one line.
 */
#include "common/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *memory_grow(void *old, size_t count, size_t size)
{
	void *p = NULL;

	if (count <= SIZE_MAX / size) {
		p = realloc(old, count * size > 0 ? count * size : 1);
	}
	if (p == NULL) {
		fputs("e4: out of memory (ENOMEM)\n", stderr);
		_Exit(1);
	}
	return p;
}

char *memory_copy(const void *bytes, size_t len)
{
	char *copy = memory_grow(NULL, len + 1, 1);

	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

void *memory_room(void *array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity) {
		return array;
	}
	*capacity = *capacity == 0 ? 16 : *capacity * 2;
	return memory_grow(array, *capacity, size);
}
