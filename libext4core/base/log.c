/*
 * log.c - formats a line and hands it to the embedder.
 *
 * Owns:    nothing.
 * Locks:   none; the callback is never called under a lock of the library.
 * Always:  a line ends within its buffer.
 */
#include "base/log.h"

#include "base/env.h"

#include <stdarg.h>
#include <stdio.h>

void log_line(struct env *env, enum e4_log_level level, const char *fmt, ...)
{
	char line[400];
	va_list ap;

	if (env->hooks.log == NULL || level > env->hooks.log_level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	env->hooks.log(env->hooks.ctx, level, line);
}
