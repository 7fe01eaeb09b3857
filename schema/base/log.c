/* SPDX-License-Identifier: MIT
 *
 * Log lines on stderr; see log.h.  Each line is one write(2), so lines of daemon and workers do not mix.
 */
#include "schema/base/log.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static const char *log_who = "iosweep";
static enum log_level log_max = LOG_LEVEL_INFO;

void log_init(const char *who, enum log_level max)
{
	log_who = who;
	log_max = max;
}

__attribute__((format(printf, 2, 0))) static void log_write(enum log_level level, const char *fmt, va_list ap, const struct err *e)
{
	char line[2048];
	size_t n = 0;

	if (level > log_max)
		return;
	if (!isatty(STDERR_FILENO))
		n = (size_t)snprintf(line, sizeof(line), "<%d>", (int)level);
	n += (size_t)snprintf(line + n, sizeof(line) - n, "%s: ", log_who);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	n = strlen(line);
	if (e != NULL) {
		snprintf(line + n, sizeof(line) - n - 1, ": %s%s%s%s", e->text, e->hint[0] ? " (" : "", e->hint,
		         e->hint[0] ? ")" : "");
		n = strlen(line);
	}
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ')
			line[i] = ' ';
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return; /* nowhere left to say so */
}

void log_line(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_write(level, fmt, ap, NULL);
	va_end(ap);
}

void log_err(enum log_level level, const struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_write(level, fmt, ap, e);
	va_end(ap);
}
