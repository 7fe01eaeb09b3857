/* SPDX-License-Identifier: MIT
 *
 * What a field with a unit means as a number: "93.9m", "4.0 GB/s", "351ms", "0m0.328s".  The unit tables of
 * iosweep-workload(5).
 */
#include "schema/definition.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static size_t digits_length(const char *s, size_t n, const char *others)
{
	size_t i = 0;

	while (i < n && (isdigit((unsigned char)s[i]) || (s[i] != '\0' && strchr(others, s[i]) != NULL)))
		i++;
	return i;
}

static size_t sign_length(const char *s, size_t n)
{
	return n > 0 && (*s == '+' || *s == '-');
}

/* Length of the number at the front, by the strict grammar (a trailing "e" is no exponent). */
static size_t number_length(const char *s, size_t n)
{
	size_t i = sign_length(s, n), exponent;

	i += digits_length(s + i, n - i, ".,");
	if (i == n || (s[i] != 'e' && s[i] != 'E'))
		return i;
	exponent = i + 1 + sign_length(s + i + 1, n - i - 1);
	return digits_length(s + exponent, n - exponent, "") > 0 ?
	               exponent + digits_length(s + exponent, n - exponent, "") :
	               i;
}

static bool word_is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* What may stand behind the prefix: bytes, operations or nothing, by the second or not. */
static bool rest_is_plain(const char *s, size_t n)
{
	static const char *const things[] = { "", "B", "b", "byte", "bytes", "Byte", "Bytes", "o" };
	static const char *const per[] = { "", "/s", "/sec", "/second", "ps" };

	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		for (size_t k = 0; k < ARRAY_SIZE(per); k++) {
			size_t len = strlen(things[i]);

			if (n == len + strlen(per[k]) && strncasecmp(s, things[i], len) == 0 &&
			    strncasecmp(s + len, per[k], n - len) == 0)
				return true;
		}
	return false;
}

static int scale_factor(const char *s, size_t n, bool is_binary, double *ret)
{
	static const char prefixes[] = "kmgtp";
	double base = is_binary ? 1024 : 1000, factor = 1;
	const char *at = n > 0 ? strchr(prefixes, tolower((unsigned char)*s)) : NULL;

	if (rest_is_plain(s, n)) { /* "B/s", and "ps" is no prefix */
		*ret = 1;
		return 0;
	}
	if (at == NULL || *s == '\0')
		return -1;
	s++, n--;
	if (n > 0 && *s == 'i') {
		base = 1024;
		s++, n--;
	}
	if (!rest_is_plain(s, n))
		return -1;
	for (long i = at - prefixes; i >= 0; i--)
		factor *= base;
	*ret = factor;
	return 0;
}

static int time_factor(const char *s, size_t n, double *ret)
{
	static const struct unit_word words[] = {
		{ "ns", 1 },        { "nsec", 1 },       { "us", 1e3 },       { "usec", 1e3 },    { "\xc2\xb5s", 1e3 },
		{ "\xce\xbcs", 1e3 }, { "ms", 1e6 },     { "msec", 1e6 },     { "s", 1e9 },       { "sec", 1e9 },
		{ "secs", 1e9 },    { "second", 1e9 },   { "seconds", 1e9 },  { "m", 60e9 },      { "min", 60e9 },
		{ "h", 3600e9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (word_is(s, n, words[i].word)) {
			*ret = words[i].factor;
			return 0;
		}
	return -1;
}

static int table_factor(const struct unit *unit, const char *s, size_t n, double *ret)
{
	for (size_t i = 0; i < unit->n; i++)
		if (word_is(s, n, unit->words[i].word)) {
			*ret = unit->words[i].factor;
			return 0;
		}
	return -1;
}

/* "1:02:03.5", "0m0.328s", "1h02m3s", "2.5" -> seconds. */
static int clock_value(const char *s, size_t n, double *ret)
{
	double total = 0;

	for (size_t i = 0; i < n;) {
		size_t len = number_length(s + i, n - i);
		double v;
		char mark;

		if (len == 0 || number_parse_n(s + i, len, &v) < 0)
			return -1;
		i += len;
		mark = i < n ? s[i] : 's';
		i++;
		if (mark == ':' || mark == 'm')
			total = (total + v) * 60;
		else if (mark == 'h')
			total = (total + v) * 60;
		else if (mark == 's' && i >= n)
			total += v;
		else
			return -1;
		if (mark == 'm' && i >= n) /* "5m": minutes and no seconds */
			break;
	}
	*ret = total;
	return n > 0 ? 1 : 0;
}

static void blanks_strip(const char **s, size_t *n)
{
	while (*n > 0 && isspace((unsigned char)**s))
		++*s, --*n;
	while (*n > 0 && isspace((unsigned char)(*s)[*n - 1]))
		--*n;
}

/* "1e999", or "1.234,5": looks like a number and is none that can be had. */
static bool is_failed_number(const char *s, size_t n)
{
	double v;

	return number_length(s, n) == n && strcspn(s, "0123456789") < n && number_parse_n(s, n, &v) < 0;
}

bool field_is_nonsense(const char *s, size_t n)
{
	blanks_strip(&s, &n);
	if (n > 0 && is_failed_number(s, n))
		return true;
	if (n > 0 && (*s == '-' || *s == '+'))
		s++, n--;
	return (n >= 3 && strncasecmp(s, "nan", 3) == 0) || (n >= 3 && strncasecmp(s, "inf", 3) == 0);
}

static int unit_factor(const struct unit *unit, const char *s, size_t n, double *ret)
{
	switch (unit->kind) {
	case UNIT_DECIMAL:
	case UNIT_BINARY:
		return scale_factor(s, n, unit->kind == UNIT_BINARY, ret);
	case UNIT_TIME:
		return time_factor(s, n, ret);
	case UNIT_TABLE:
		return table_factor(unit, s, n, ret);
	case UNIT_CLOCK:
		break;
	}
	return -1;
}

int unit_value(const struct unit *unit, const char *s, size_t n, double *ret)
{
	double v = 1, factor;
	size_t len;

	blanks_strip(&s, &n);
	if (field_is_nonsense(s, n))
		return -1;
	if (n == 0 && (unit == NULL || unit->kind != UNIT_TABLE))
		return 0;
	if (unit == NULL)
		return number_parse_n(s, n, ret) < 0 ? -1 : 1;
	if (unit->kind == UNIT_CLOCK)
		return clock_value(s, n, ret);
	len = number_length(s, n);
	if (len > 0 && number_parse_n(s, len, &v) < 0)
		return -1;
	s += len, n -= len;
	blanks_strip(&s, &n);
	if (unit_factor(unit, s, n, &factor) < 0)
		return -1;
	*ret = v * factor;
	return 1;
}

const struct unit *unit_of(const struct source *s, const char *field)
{
	for (size_t i = 0; i < s->n_units; i++)
		if (strcmp(s->units[i].field, field) == 0)
			return &s->units[i];
	return NULL;
}
