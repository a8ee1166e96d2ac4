/*
 * assert.c - what happens when the library finds a bug of its own.
 *
 * Owns:    the process-wide handler. The one mutable global besides the context registry: an assertion has no volume to ask.
 * Locks:   an atomic pointer.
 * Always:  base_assert_failed() does not return.
 */
#include "base/assert.h"

#include "base/assert_hook.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic(const struct e4_hooks *) handler;

void assert_hook_set(const struct e4_hooks *hooks)
{
	atomic_store(&handler, hooks);
}

void assert_hook_clear(const struct e4_hooks *hooks)
{
	const struct e4_hooks *expected = hooks;

	atomic_compare_exchange_strong(&handler, &expected, NULL);
}

void base_assert_failed(const char *expr, const char *file, uint32_t line)
{
	const struct e4_hooks *h = atomic_load(&handler);

	if (h != NULL && h->assert_failed != NULL)
		h->assert_failed(h->ctx, expr, file, line);
	fprintf(stderr, "ext4core: assertion failed: %s (%s:%u)\n", expr, file, line);
	abort();
}
