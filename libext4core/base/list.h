/* list.h - intrusive doubly linked list; a head is a node that points to itself when empty. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define list_for(it, head)              for (struct list *it = (head)->next; it != (head); it = it->next)
/* Safe against removal of the current node. */
#define list_for_safe(it, tmp, head)                                                               \
	for (struct list *it = (head)->next, *tmp = it->next; it != (head);                        \
		it = tmp, tmp = it->next)

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_add(struct list *head, struct list *n)
{
	n->next = head->next;
	n->prev = head;
	head->next->prev = n;
	head->next = n;
}

static inline void list_add_tail(struct list *head, struct list *n)
{
	list_add(head->prev, n);
}

/* Leaves n pointing to itself, so that removing twice is harmless. */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

#endif
