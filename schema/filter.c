/* SPDX-License-Identifier: MIT
 *
 * Text -> terms, and terms against values; see filter.h.  Filters have some ten terms; nothing here is fast or needs
 * to be.
 */
#include "schema/filter.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "schema/axis.h"
#include "schema/base/text.h"

static const struct {
	const char *text;
	enum filter_op op;
} operators[] = { /* the longer first */
	{ "!=", FILTER_NE }, { ">=", FILTER_GE }, { "<=", FILTER_LE }, { "=", FILTER_EQ }, { ">", FILTER_GT }, { "<", FILTER_LT },
};

static const struct {
	const char *key;
	enum filter_kind kind;
} keys[] = {
	{ "host", FILTER_HOST },     { "plan", FILTER_PLAN },   { "sweep", FILTER_SWEEP }, { "workload", FILTER_WORKLOAD },
	{ "metric", FILTER_METRIC }, { "state", FILTER_STATE }, { "flag", FILTER_FLAG },   { "since", FILTER_SINCE },
	{ "until", FILTER_UNTIL },
};

/* Where the parser is; text is the whole argument. */
struct reader {
	const char *text, *at;
	struct arena *a;
	struct filter *filter;
	size_t cap;
};

static int filter_vfault(const char *text, int column, struct err *e, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));
static int filter_vfault(const char *text, int column, struct err *e, const char *fmt, va_list ap)
{
	AUTO_FREE char *what = xvasprintf(fmt, ap);

	if (text == NULL)
		return err_set(e, ERR_USAGE, "%s", what);
	return err_set(e, ERR_USAGE, "filter, column %d: %s\n    %.300s\n    %*s^", column, what, text, column - 1, "");
}

int filter_fault(const struct filter_term *t, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	filter_vfault(t->text, t->column, e, fmt, ap);
	va_end(ap);
	return -1;
}

static int reader_fault(const struct reader *r, const char *at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int reader_fault(const struct reader *r, const char *at, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	filter_vfault(r->text, (int)(at - r->text) + 1, e, fmt, ap);
	va_end(ap);
	return -1;
}

static bool key_char(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("._-+{}", c) != NULL); /* strchr finds the end, too */
}

/* The operator at s, or -1.  ret_n: its length. */
static int operator_at(const char *s, size_t *ret_n)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (text_starts(s, operators[i].text)) {
			*ret_n = strlen(operators[i].text);
			return (int)operators[i].op;
		}
	}
	return -1;
}

/* Whether the word at s is the beginning of another term: a key and an operator. */
static bool term_begins(const char *s)
{
	size_t n;
	const char *p = s;

	while (*p != '\0' && key_char(*p))
		p++;
	return p > s && operator_at(p, &n) >= 0;
}

/* A label or an environment fact is free text and often has blanks, and the shell has taken the quotes off: blanks
 * belong to the value until another term begins. */
static bool key_is_free_text(const char *key)
{
	return text_starts(key, "label.") || text_starts(key, "env.") || strcmp(key, "mkfs") == 0 ||
	       strcmp(key, "mount") == 0 || strcmp(key, "plan") == 0;
}

static bool value_ends(const char *p, bool is_free)
{
	if (*p == '\0' || *p == ',')
		return true;
	if (!isblank((unsigned char)*p))
		return false;
	while (isblank((unsigned char)*p))
		p++;
	return !is_free || *p == '\0' || term_begins(p);
}

/* One alternative, quotes taken off. */
static int value_read(struct reader *r, bool is_free, const char **ret, struct err *e)
{
	AUTO_TEXT struct text value = { 0 };
	const char *begin = r->at;

	while (!value_ends(r->at, is_free)) {
		char c = *r->at;

		if (c == '"' || c == '\'') {
			const char *close = strchr(r->at + 1, c);

			if (close == NULL)
				return reader_fault(r, r->at, e, "the quote is not closed");
			text_add_n(&value, r->at + 1, (size_t)(close - r->at - 1));
			r->at = close + 1;
		} else if (c == '<' || c == '>' || c == '=' || c == '!') {
			if (!is_free)
				return reader_fault(r, r->at, e, "a value cannot hold '%c' outside quotes", c);
			text_add_n(&value, r->at++, 1);
		} else {
			text_add_n(&value, r->at++, 1);
		}
	}
	if (r->at == begin)
		return reader_fault(r, begin, e, "a value is missing here");
	*ret = arena_strdup(r->a, text_str(&value));
	return 0;
}

static int values_read(struct reader *r, struct filter_term *t, struct err *e)
{
	size_t n = 0, cap = 0;
	AUTO_FREE const char **values = NULL;

	for (;;) {
		const char *value = NULL;

		if (value_read(r, key_is_free_text(t->key), &value, e) < 0)
			return -1;
		ARRAY_GROW(values, n, cap);
		values[n++] = value;
		if (*r->at != ',')
			break;
		r->at++;
	}
	t->values = arena_array(r->a, n, sizeof(*values));
	memcpy(t->values, values, n * sizeof(*values));
	t->n_values = n;
	return 0;
}

int filter_date(const char *s, int64_t *ret_from_ms, int64_t *ret_to_ms)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		                               "%Y-%m-%d",          "%Y-%m",             "%Y" };

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct tm tm = { .tm_mday = 1 }, after;
		const char *end = strptime(s, formats[i], &tm);

		if (end == NULL || (strcmp(end, "") != 0 && strcmp(end, "Z") != 0) || tm.tm_year < 70)
			continue;
		after = tm;
		if (i <= 1)
			after.tm_sec++;
		else if (i <= 3)
			after.tm_min++;
		else if (i == 4)
			after.tm_mday++;
		else if (i == 5)
			after.tm_mon++;
		else
			after.tm_year++;
		*ret_from_ms = (int64_t)timegm(&tm) * 1000;
		*ret_to_ms = (int64_t)timegm(&after) * 1000;
		return 0;
	}
	return -1;
}

static int term_date(struct filter_term *t, struct err *e)
{
	int64_t from_ms, to_ms, ago_ns;

	if (t->op != FILTER_EQ || t->n_values != 1)
		return filter_fault(t, e, "'%s' takes '=' and one date", t->key);
	if (filter_date(t->values[0], &from_ms, &to_ms) < 0) {
		if (duration_parse(t->values[0], &ago_ns, NULL) < 0)
			return filter_fault(t, e, "'%s' is not a date: write 2026-01-31, 2026-01-31T21:00 or 30d",
			                    t->values[0]);
		from_ms = to_ms = now_ms() - ago_ns / 1000000;
	}
	t->at_ms = t->kind == FILTER_SINCE ? from_ms : to_ms;
	return 0;
}

/* The value of a known axis becomes canonical, as in a plan; a pattern stays what it is. */
static int term_canonical(const struct reader *r, struct filter_term *t, struct err *e)
{
	const struct axis *axis = axis_find(t->key);

	for (size_t i = 0; i < t->n_values; i++) {
		struct err why = { 0 };
		const char *value;

		if (axis == NULL || axis->kind == AXIS_FILESYSTEM || axis->kind == AXIS_WORDS ||
		    axis->kind == AXIS_TEXT || strpbrk(t->values[i], "*?") != NULL)
			continue;
		if (axis->kind == AXIS_SIZE) { /* ranges and granules are the plan's business */
			int64_t bytes;

			if (strcmp(t->values[i], KERNEL_DEFAULT) == 0 || strcmp(t->values[i], "default") == 0) {
				t->values[i] = KERNEL_DEFAULT;
				continue;
			}
			if (size_parse(t->values[i], strcmp(t->key, "readahead") == 0 ? SIZE_SECTORS : 0, &bytes,
			               &why) < 0)
				return filter_fault(t, e, "%s", why.text), err_hint(e, "%s", why.hint);
			t->values[i] = arena_printf(r->a, "%lld", (long long)bytes);
		} else if (axis_canonical(axis, t->values[i], r->a, &value, &why) == 0) {
			t->values[i] = value;
		}
	}
	return 0;
}

static int term_check(const struct reader *r, struct filter_term *t, struct err *e)
{
	if (t->kind == FILTER_SINCE || t->kind == FILTER_UNTIL)
		return term_date(t, e);
	if (t->kind != FILTER_NAMED) {
		if (t->op != FILTER_EQ && t->op != FILTER_NE)
			return filter_fault(t, e, "'%s' is compared by = or != only", t->key);
		return 0;
	}
	if (term_canonical(r, t, e) < 0)
		return -1;
	t->has_number = filter_number(t->values[0], &t->number) == 0;
	if (t->op == FILTER_EQ || t->op == FILTER_NE)
		return 0;
	if (t->n_values != 1)
		return filter_fault(t, e, "a list goes with = and != only");
	return 0;
}

/* Not one of the operators at r->at, but what other languages have for one, or nothing. */
static int operator_fault(const struct reader *r, const char *key, struct err *e)
{
	int n = (int)strspn(r->at, "=<>!~:");

	if (n > 0)
		reader_fault(r, r->at, e, "'%.*s' after '%s' is no operator: write one of = != < <= > >=", n, r->at,
		             key);
	else
		reader_fault(r, r->at, e, "an operator is missing after '%s': one of = != < <= > >=", key);
	return err_hint(e, "a filter is such as filesystem=xfs; a sweep is named by its number, last, or the front of its UUID");
}

static int term_read(struct reader *r, struct err *e)
{
	struct filter_term t = { .text = arena_strdup(r->a, r->text), .column = (int)(r->at - r->text) + 1 };
	const char *begin = r->at;
	size_t n;
	int op;

	while (key_char(*r->at))
		r->at++;
	if (r->at == begin)
		return reader_fault(r, begin, e, "a key is missing: write KEY=VALUE");
	t.key = arena_strndup(r->a, begin, (size_t)(r->at - begin));
	op = operator_at(r->at, &n);
	if (op < 0 || (strspn(r->at, "=<>!~") > n && !key_is_free_text(t.key)))
		return operator_fault(r, t.key, e);
	t.op = (enum filter_op)op;
	r->at += n;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(keys[i].key, t.key) == 0)
			t.kind = keys[i].kind;
	if (values_read(r, &t, e) < 0 || term_check(r, &t, e) < 0)
		return -1;
	ARRAY_GROW(r->filter->at, r->filter->n, r->cap);
	r->filter->at[r->filter->n++] = t;
	return 0;
}

static int word_read(struct reader *r, struct err *e)
{
	for (;;) {
		while (isspace((unsigned char)*r->at))
			r->at++;
		if (*r->at == '\0')
			return 0;
		if (term_read(r, e) < 0)
			return -1;
		if (*r->at != '\0' && !isspace((unsigned char)*r->at))
			return reader_fault(r, r->at, e, "a blank is missing here");
	}
}

int filter_parse(const char *const *words, size_t n, struct arena *a, struct filter *ret, struct err *e)
{
	struct filter f = { 0 };
	struct reader r = { .a = a, .filter = &f };
	struct filter_term *terms;

	for (size_t i = 0; i < n; i++) {
		r.text = r.at = words[i];
		if (word_read(&r, e) < 0) {
			free(f.at);
			return -1;
		}
	}
	terms = arena_array(a, f.n + 1, sizeof(*terms));
	if (f.n > 0)
		memcpy(terms, f.at, f.n * sizeof(*terms));
	free(f.at);
	*ret = (struct filter){ terms, f.n };
	return 0;
}

bool filter_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *back = NULL;

	while (*text != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			back = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star != NULL) {
			pattern = star + 1;
			text = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

int filter_number(const char *value, double *ret)
{
	int64_t bytes;

	if (number_parse(value, ret) == 0)
		return 0;
	if (!isdigit((unsigned char)value[0]) || size_parse(value, SIZE_SECTORS | SIZE_BARE, &bytes, NULL) < 0)
		return -1;
	*ret = (double)bytes;
	return 0;
}

static bool value_equals(const char *wanted, const char *value)
{
	double a, b;

	if (filter_glob(wanted, value))
		return true;
	return filter_number(wanted, &a) == 0 && filter_number(value, &b) == 0 && a == b;
}

bool filter_matches(const struct filter_term *t, const char *value)
{
	double v;

	if (t->op == FILTER_EQ || t->op == FILTER_NE) {
		bool any = false;

		for (size_t i = 0; i < t->n_values && !any; i++)
			any = value_equals(t->values[i], value);
		return any == (t->op == FILTER_EQ);
	}
	if (!t->has_number || filter_number(value, &v) < 0)
		return false;
	if (t->op == FILTER_GE)
		return v >= t->number;
	if (t->op == FILTER_GT)
		return v > t->number;
	return t->op == FILTER_LE ? v <= t->number : v < t->number;
}
