/* SPDX-License-Identifier: MIT
 *
 * Strings, numbers, sizes, durations, words; see text.h.  Not for tables or JSON.
 */
#include "schema/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void text_room(struct text *t, size_t more)
{
	size_t need = t->n + more + 1;

	if (need <= t->cap)
		return;
	t->cap = need > 2 * t->cap ? need : 2 * t->cap;
	if (t->cap < 64)
		t->cap = 64;
	t->s = xreallocarray(t->s, t->cap, 1);
}

void text_add_n(struct text *t, const char *s, size_t n)
{
	text_room(t, n);
	if (n > 0) /* s may be NULL then, which memcpy does not allow */
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_add_n(t, s, strlen(s));
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	AUTO_FREE char *s = NULL;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	text_add(t, s);
}

void text_clear(struct text *t)
{
	t->n = 0;
	if (t->s != NULL)
		t->s[0] = '\0';
}

void text_done(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

const char *text_str(const struct text *t)
{
	return t->s != NULL ? t->s : "";
}

/* A cursor over the characters of a number, and the copy that strtod(3) will read. */
struct number_scan {
	const char *s;
	size_t n, len;
	char buf[128];
};

static void number_take(struct number_scan *scan, char as)
{
	scan->buf[scan->len++] = as;
	scan->s++;
	scan->n--;
}

static void number_sign(struct number_scan *scan)
{
	if (scan->n > 0 && (*scan->s == '+' || *scan->s == '-'))
		number_take(scan, *scan->s);
}

static size_t number_digits(struct number_scan *scan)
{
	size_t digits = 0;

	for (; scan->n > 0 && isdigit((unsigned char)*scan->s); digits++)
		number_take(scan, *scan->s);
	return digits;
}

static void number_trim(struct number_scan *scan)
{
	while (scan->n > 0 && isspace((unsigned char)*scan->s))
		scan->s++, scan->n--;
	while (scan->n > 0 && isspace((unsigned char)scan->s[scan->n - 1]))
		scan->n--;
}

int number_parse_n(const char *s, size_t n, double *ret)
{
	struct number_scan scan = { .s = s, .n = n };
	size_t digits;
	double v;

	number_trim(&scan);
	if (scan.n >= sizeof(scan.buf))
		return -1;
	number_sign(&scan);
	digits = number_digits(&scan);
	if (scan.n > 0 && (*scan.s == '.' || *scan.s == ',')) {
		number_take(&scan, '.');
		digits += number_digits(&scan);
	}
	if (digits == 0)
		return -1;
	if (scan.n > 0 && (*scan.s == 'e' || *scan.s == 'E')) {
		number_take(&scan, 'e');
		number_sign(&scan);
		if (number_digits(&scan) == 0)
			return -1;
	}
	v = strtod(scan.buf, NULL); /* the programs run in the C locale: the point is a point */
	if (scan.n > 0 || !isfinite(v))
		return -1;
	*ret = v;
	return 0;
}

int number_parse(const char *s, double *ret)
{
	return number_parse_n(s, strlen(s), ret);
}

int integer_parse(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	const char *p = s + (*s == '-');
	long long v;
	char *end;

	if (!isdigit((unsigned char)*p))
		return -1;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (*end != '\0' || errno != 0 || v < min || v > max)
		return -1;
	*ret = v;
	return 0;
}

/* Reads the digits and at most one point at the front of s.  The decimal comma is for tools, not for people's sizes. */
static const char *decimal_scan(const char *s, double *ret)
{
	const char *p = s;
	char buf[64];

	while (isdigit((unsigned char)*p) || *p == '.')
		p++;
	if (p == s || (size_t)(p - s) >= sizeof(buf))
		return NULL;
	memcpy(buf, s, (size_t)(p - s));
	buf[p - s] = '\0';
	return number_parse(buf, ret) < 0 ? NULL : p;
}

static const struct {
	const char *unit;
	int shift; /* 1 << shift bytes */
	unsigned needs;
} size_units[] = {
	{ "B", 0, 0 },          { "byte", 0, 0 },       { "bytes", 0, 0 },
	{ "k", 10, 0 },         { "K", 10, 0 },         { "KiB", 10, 0 },        { "kiB", 10, 0 },
	{ "m", 20, 0 },         { "M", 20, 0 },         { "MiB", 20, 0 },
	{ "g", 30, 0 },         { "G", 30, 0 },         { "GiB", 30, 0 },
	{ "t", 40, 0 },         { "T", 40, 0 },         { "TiB", 40, 0 },
	{ "s", 9, SIZE_SECTORS }, { "sector", 9, SIZE_SECTORS }, { "sectors", 9, SIZE_SECTORS },
};

static int size_bare(const char *s, double v, unsigned flags, struct err *e)
{
	if (!(flags & SIZE_SECTORS)) {
		err_set(e, ERR_USAGE, "'%s' has no unit", s);
		return err_hint(e, "write %sB, %sKiB, %sMiB or %sGiB", s, s, s, s);
	}
	err_set(e, ERR_USAGE,
	        "'%s' has no unit: it could be %s sectors of 512 bytes (as blockdev --setra takes, = %gKiB) or %sKiB", s, s,
	        v / 2, s);
	return err_hint(e, "write %ssectors or %sKiB", s, s);
}

static int size_unknown_unit(const char *s, const char *unit, unsigned flags, struct err *e)
{
	err_set(e, ERR_USAGE, "'%s' has the unknown unit '%s'", s, unit);
	if (strcasecmp(unit, "kb") == 0 || strcasecmp(unit, "mb") == 0 || strcasecmp(unit, "gb") == 0)
		return err_hint(e, "decimal units are ambiguous: write %ciB (binary)", toupper((unsigned char)*unit));
	if (!(flags & SIZE_SECTORS) && (strcmp(unit, "s") == 0 || text_starts(unit, "sector")))
		return err_hint(e, "sectors are for readahead only: write KiB, MiB or GiB");
	return err_hint(e, "known units are B KiB MiB GiB TiB (k m g t)%s", flags & SIZE_SECTORS ? " and sectors" : "");
}

static int size_unit_shift(const char *unit, unsigned flags)
{
	for (size_t i = 0; i < ARRAY_SIZE(size_units); i++)
		if (strcmp(unit, size_units[i].unit) == 0 && (size_units[i].needs & ~flags) == 0)
			return size_units[i].shift;
	return -1;
}

int size_parse(const char *s, unsigned flags, int64_t *ret_bytes, struct err *e)
{
	const char *unit;
	double v, bytes;
	int shift;

	if (*s == '-')
		return err_set(e, ERR_USAGE, "'%s' is negative; a size is 0 or more", s);
	unit = decimal_scan(s, &v);
	if (unit == NULL) {
		err_set(e, ERR_USAGE, "'%s' is not a size", s);
		return err_hint(e, "write a number and a unit, as in 64KiB, 2MiB, 4GiB");
	}
	while (*unit == ' ')
		unit++;
	if (*unit == '\0' && !(flags & SIZE_BARE))
		return size_bare(s, v, flags, e);
	shift = size_unit_shift(*unit != '\0' ? unit : "B", flags);
	if (shift < 0)
		return size_unknown_unit(s, unit, flags, e);
	bytes = ldexp(v, shift);
	if (bytes > 0x1p60)
		return err_set(e, ERR_USAGE, "'%s' is more than 1024PiB", s);
	if (bytes != floor(bytes))
		return err_set(e, ERR_USAGE, "'%s' is not a whole number of bytes", s);
	*ret_bytes = (int64_t)bytes;
	return 0;
}

static const struct {
	const char *unit;
	int64_t ns;
} duration_units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ "sec", 1000000000 },
	{ "min", 60 * INT64_C(1000000000) },
	{ "h", 3600 * INT64_C(1000000000) },
	{ "d", 86400 * INT64_C(1000000000) },
};

static int64_t duration_unit(const char *unit, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(duration_units); i++)
		if (strlen(duration_units[i].unit) == n && memcmp(duration_units[i].unit, unit, n) == 0)
			return duration_units[i].ns;
	return 0;
}

int duration_parse(const char *s, int64_t *ret_ns, struct err *e)
{
	const char *p = s;
	double total = 0;

	if (strcmp(s, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	do {
		const char *unit;
		size_t n;
		double v;

		while (*p == ' ')
			p++;
		unit = decimal_scan(p, &v);
		n = unit != NULL ? strspn(unit, "abcdefghijklmnopqrstuvwxyz") : 0;
		if (unit == NULL || duration_unit(unit, n) == 0) {
			err_set(e, ERR_USAGE, "'%s' is not a duration", s);
			return err_hint(e, "write a number and a unit, as in 500ms, 30s, 5min, 2h");
		}
		total += v * (double)duration_unit(unit, n);
		p = unit + n;
	} while (*p != '\0');
	if (total > 366.0 * 86400e9)
		return err_set(e, ERR_USAGE, "'%s' is more than a year", s);
	*ret_ns = (int64_t)total;
	return 0;
}

char *count_format(int64_t n, const char *noun, char buf[COUNT_TEXT])
{
	snprintf(buf, COUNT_TEXT, "%lld %.40s%s", (long long)n, noun, n == 1 ? "" : "s");
	return buf;
}

char *size_format(int64_t bytes, char buf[SIZE_TEXT])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(units) && bytes != 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	snprintf(buf, SIZE_TEXT, "%lld%s", (long long)bytes, units[i]);
	return buf;
}

char *duration_format(int64_t ns, char buf[SIZE_TEXT])
{
	long long s = (ns + 500000000) / 1000000000;

	if (ns < 1000)
		snprintf(buf, SIZE_TEXT, "%lldns", (long long)ns);
	else if (ns < 1000000)
		snprintf(buf, SIZE_TEXT, "%lldus", (long long)ns / 1000);
	else if (ns < 1000000000)
		snprintf(buf, SIZE_TEXT, "%lldms", (long long)ns / 1000000);
	else if (s < 60)
		snprintf(buf, SIZE_TEXT, "%.1fs", (double)ns / 1e9);
	else if (s < 3600)
		snprintf(buf, SIZE_TEXT, "%lldmin %llds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, SIZE_TEXT, "%lldh %lldmin", s / 3600, s % 3600 / 60);
	else
		snprintf(buf, SIZE_TEXT, "%lldd %lldh", s / 86400, s % 86400 / 3600);
	return buf;
}

char *time_format_utc(int64_t ms, char buf[SIZE_TEXT])
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };

	gmtime_r(&s, &tm);
	strftime(buf, SIZE_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return buf;
}

char *time_format_local(int64_t ms, char buf[SIZE_TEXT])
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };

	localtime_r(&s, &tm);
	strftime(buf, SIZE_TEXT, "%Y-%m-%d %H:%M:%S", &tm);
	return buf;
}

/* Copies one word to out, which has room for all of s, and returns what follows it; NULL on an open quote. */
static const char *word_scan(const char *s, char *out)
{
	char quote = '\0';

	for (; *s != '\0'; s++) {
		if (quote == '\0' && isspace((unsigned char)*s))
			break;
		if (quote == '\0' && (*s == '\'' || *s == '"'))
			quote = *s;
		else if (quote != '\0' && *s == quote)
			quote = '\0';
		else if (*s == '\\' && quote != '\'' && s[1] != '\0')
			*out++ = *++s;
		else
			*out++ = *s;
	}
	*out = '\0';
	return quote == '\0' ? s : NULL;
}

int words_split(struct arena *a, const char *s, char ***ret_words, size_t *ret_n, struct err *e)
{
	size_t n = 0, cap = 0;
	AUTO_FREE char **words = NULL;
	AUTO_FREE char *word = xmalloc(strlen(s) + 1);
	char **copy;

	for (;;) {
		while (isspace((unsigned char)*s))
			s++;
		if (*s == '\0')
			break;
		s = word_scan(s, word);
		if (s == NULL)
			return err_set(e, ERR_USAGE, "a quote is not closed");
		ARRAY_GROW(words, n, cap);
		words[n++] = arena_strdup(a, word);
	}
	copy = arena_array(a, n + 1, sizeof(*copy));
	if (n > 0)
		memcpy(copy, words, n * sizeof(*copy));
	*ret_words = copy;
	*ret_n = n;
	return 0;
}

bool text_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

#define NEAREST_MAX 64 /* longer words have no near neighbour */

static size_t edit_distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[NEAREST_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t n)
{
	size_t limit = strlen(word) / 3 + 2, best = limit;
	const char *nearest = NULL;

	if (strlen(word) > NEAREST_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t d;

		if (strlen(candidates[i]) > NEAREST_MAX)
			continue;
		d = edit_distance(word, candidates[i]);
		if (d < best) {
			best = d;
			nearest = candidates[i];
		}
	}
	return nearest;
}

int file_read(int dirfd, const char *path, size_t max, struct text *ret, struct err *e)
{
	AUTO_CLOSE int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	char buf[8192];
	ssize_t n;

	if (fd < 0)
		return err_sys(e, errno, "open '%s'", path);
	text_clear(ret);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, errno, "read '%s'", path);
		if (ret->n + (size_t)n > max)
			return err_set(e, ERR_USAGE, "'%s' is larger than %zu bytes", path, max);
		text_add_n(ret, buf, (size_t)n);
	}
	text_add_n(ret, "", 0);
	return 0;
}

int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
