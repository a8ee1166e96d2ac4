/* log.h - messages for the embedder. The library never prints. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/types.h"

#include <ext4core/hooks.h>

struct env;

/* One line of at most 400 bytes, dropped when nobody listens at this level. */
void log_line(struct env *env, enum e4_log_level level, const char *fmt, ...) E4_PRINTF(3, 4);

#endif
