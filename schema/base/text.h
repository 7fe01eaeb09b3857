/* SPDX-License-Identifier: MIT
 *
 * Text in and out: a growable string, the numbers, sizes and durations that people write, words with quotes.
 * The one place that knows how a quantity is spelt.
 */
#ifndef IOSWEEP_TEXT_H
#define IOSWEEP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/base/digest.h"
#include "schema/base/err.h"
#include "schema/base/mem.h"

/* A growable string.  Zero-initialise it; s is NULL until something was added, then always terminated. */
struct text {
	char *s; /* owned */
	size_t n, cap;
};
void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n); /* s may hold NULs */
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *t); /* keeps the memory */
void text_done(struct text *t);
const char *text_str(const struct text *t); /* "" when empty */
static inline void auto_text(struct text *t)
{
	text_done(t);
}
#define AUTO_TEXT __attribute__((cleanup(auto_text)))

/* The strict number of tool outputs: blanks around, a sign, digits, one point or decimal comma, an exponent.
 * No hex, no inf, no nan, no thousands separator.  Returns 0 and a finite value, or -1. */
int number_parse(const char *s, double *ret);
/* The same for a run of characters that need not be terminated. */
int number_parse_n(const char *s, size_t n, double *ret);

/* Whole decimal number within [min, max]; no sign but '-', no blanks. */
int integer_parse(const char *s, int64_t min, int64_t max, int64_t *ret);

/* A size with its unit: "4KiB" "2MiB" "8k" "1g" "512B" "1.5GiB" -> bytes.
 * k m g t and KiB MiB GiB TiB are binary, KB MB GB are refused with the binary spelling as advice; "s", "sectors" and
 * "sector" (512 bytes, blockdev(8) --setra) only with SIZE_SECTORS.  A bare number is refused (ERR_USAGE): the
 * message names both readings if SIZE_SECTORS; with SIZE_BARE it is bytes.  Fractions of a byte, negative sizes
 * and more than 2^60 bytes are refused. */
enum { SIZE_SECTORS = 1, SIZE_BARE = 2 };
int size_parse(const char *s, unsigned flags, int64_t *ret_bytes, struct err *e);

/* A duration with its unit: "500ms" "30s" "5min" "2h" "1d", also "1h30min" -> nanoseconds.  A bare 0 is fine. */
int duration_parse(const char *s, int64_t *ret_ns, struct err *e);

/* For people; the buffer is returned.  SIZE_TEXT is enough for each. */
#define SIZE_TEXT 32
#define COUNT_TEXT 64
char *count_format(int64_t n, const char *noun, char buf[COUNT_TEXT]); /* "1 cell" "3 cells"; noun: of at most 40 bytes */
char *size_format(int64_t bytes, char buf[SIZE_TEXT]);    /* exact: "64KiB" "2MiB" "100B" "1536KiB" */
char *duration_format(int64_t ns, char buf[SIZE_TEXT]);   /* "1.2s" "3min 20s" "2h 5min" "740us" */
char *number_format(double v, char buf[SIZE_TEXT]);       /* shortest text that reads back as the same double */
char *time_format_utc(int64_t ms, char buf[SIZE_TEXT]);   /* "2026-11-30T21:04:05Z" */
char *time_format_local(int64_t ms, char buf[SIZE_TEXT]); /* "2026-11-30 22:04:05" */

/* Splits on blanks; '...' and "..." keep blanks, a backslash outside '...' quotes one character; nothing else is
 * expanded.  ret_words: NULL-terminated array in the arena.  Fails with ERR_USAGE on an open quote. */
int words_split(struct arena *a, const char *s, char ***ret_words, size_t *ret_n, struct err *e);

bool text_starts(const char *s, const char *prefix);
bool text_ends(const char *s, const char *suffix);
bool utf8_is_valid(const char *s, size_t n);
/* What tools, other hosts and other users say, made fit for a terminal, a log and JSON: control characters, line ends,
 * marks that turn the order of characters around, and bytes that are not UTF-8 become \xNN; a tab becomes a blank.
 * text_printable: as a string of its own, for free(3). */
void text_add_printable(struct text *t, const char *s, size_t n);
char *text_printable(const char *s);
/* Whether text_add_printable would leave it as it is (a tab it would not). */
bool text_is_printable(const char *s);
/* The same for text of several lines: tabs, line ends and marks of order may stay.  What a store gives is clean. */
void text_add_clean(struct text *t, const char *s, size_t n);
bool text_is_clean(const char *s, size_t n); /* false for a NUL, too */
/* The line that says why a program failed: the last that complains ("error:", "FATAL:", "panic:"), since hints and
 * details follow it, else the last with something on it.  Points into s; ret_n is 0 where there is none. */
const char *text_last_words(const char *s, size_t n, size_t *ret_n);
/* The candidate nearest to word by edit distance, or NULL if none is near (for "did you mean"). */
const char *text_nearest(const char *word, const char *const *candidates, size_t n);

/* A small file as a terminated string, at most max bytes.  For sysfs and procfs as well (read until EOF).
 * Fails with ERR_USAGE if the file is larger than max. */
int file_read(int dirfd, const char *path, size_t max, struct text *ret, struct err *e);

/* Clocks.  now_ms: UTC; clock_ns: CLOCK_MONOTONIC, for elapsed times and deadlines. */
int64_t now_ms(void);
int64_t clock_ns(void);

#endif
