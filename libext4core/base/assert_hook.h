/* assert_hook.h - hands the embedder's assertion handler to assert.c; used by env.c only. */
#ifndef BASE_ASSERT_HOOK_H
#define BASE_ASSERT_HOOK_H

#include <ext4core/hooks.h>

/* hooks must stay valid until cleared. The newest set wins. */
void assert_hook_set(const struct e4_hooks *hooks);
/* Only if it is still the one set. */
void assert_hook_clear(const struct e4_hooks *hooks);

#endif
