/*
 * inoset.c - inodes met on a walk: directories, so that a loop ends; hard links, so that they are kept.
 *
 * Always:  open addressing; at most three quarters of the slots are taken, so that a search ends.
 */
#include "common/inoset.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

/* The slot of ino, or the free one where it belongs. capacity is a power of two. */
static struct inoset_slot *slot_of(const struct inoset *s, uint32_t ino)
{
	uint32_t hash = ino * 2654435761u;
	size_t at = hash & (s->capacity - 1);

	while (s->slots[at].ino != 0 && s->slots[at].ino != ino) {
		at = (at + 1) & (s->capacity - 1);
	}
	return &s->slots[at];
}

static void grow(struct inoset *s)
{
	struct inoset bigger = {.count = s->count};

	bigger.capacity = s->capacity == 0 ? 64 : s->capacity * 2;
	bigger.slots = memory_grow(NULL, bigger.capacity, sizeof(*bigger.slots));
	memset(bigger.slots, 0, bigger.capacity * sizeof(*bigger.slots));
	for (size_t i = 0; i < s->capacity; i++) {
		if (s->slots[i].ino != 0) {
			*slot_of(&bigger, s->slots[i].ino) = s->slots[i];
		}
	}
	free(s->slots);
	*s = bigger;
}

bool inoset_add(struct inoset *s, uint32_t ino, const char *text)
{
	struct inoset_slot *slot;

	if (s->count * 4 >= s->capacity * 3) {
		grow(s);
	}
	slot = slot_of(s, ino);
	if (slot->ino != 0) {
		return false;
	}
	slot->ino = ino;
	slot->text = text != NULL ? memory_copy(text, strlen(text)) : NULL;
	s->count++;
	return true;
}

const char *inoset_text(const struct inoset *s, uint32_t ino)
{
	return s->capacity > 0 ? slot_of(s, ino)->text : NULL;
}

void inoset_free(struct inoset *s)
{
	for (size_t i = 0; i < s->capacity; i++) {
		free(s->slots[i].text);
	}
	free(s->slots);
	*s = (struct inoset){0};
}
