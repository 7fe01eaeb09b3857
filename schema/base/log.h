/* SPDX-License-Identifier: MIT
 *
 * The daemon's log: one line an event on stderr, with the priority prefix that journald reads (sd-daemon(3)).
 * Only main, request handlers, the supervisor and the worker's top level log; everything below returns errors.
 */
#ifndef IOSWEEP_LOG_H
#define IOSWEEP_LOG_H

#include "schema/base/err.h"

enum log_level { LOG_LEVEL_ERROR = 3, LOG_LEVEL_WARNING = 4, LOG_LEVEL_NOTICE = 5, LOG_LEVEL_INFO = 6, LOG_LEVEL_DEBUG = 7 };

/* who: put in front of each line, e.g. "iosweepd" or "worker[12]"; borrowed.  Lines above max are dropped.
 * On a terminal the prefix is left out. */
void log_init(const char *who, enum log_level max);

void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...)   log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_notice(...)  log_line(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...)    log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)   log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* "what: text (hint)" in one line. */
void log_err(enum log_level level, const struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
