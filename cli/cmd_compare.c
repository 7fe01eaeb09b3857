/* SPDX-License-Identifier: MIT
 *
 * iosweep compare: two sweeps, hosts, labels or periods against each other, cell by cell.
 */
#include <math.h>
#include <string.h>

#include "cli/compare.h"

static const struct option_def options[] = {
	OPTIONS_SELECT,
	{ "hosts", 0, "A,B", "compare two hosts; the arguments are a filter for both" },
	{ "label", 0, "NAME=A,B", "compare two values of a label (of cells or of sweeps)" },
	{ "periods", 0, "P,Q", "compare two periods: 2026-01,2026-02 or 2026-01-05..2026-01-20,2026-02" },
	{ "fail-on-regression", 0, "PERCENT", "exit 4 if a metric got worse by more than this, and not by noise" },
	{ "flagged", 0, NULL, "let flagged results (cached, drift, disturbed ...) take part" },
	{ "limit", 'n', "N", "cells shown of each metric (default 30; 0: all); programs get all" },
	OPTIONS_TABLE,
	OPTIONS_END
};

/* "A,B" -> two texts of the arena. */
static int pair_split(const struct options *o, const char *option, const char *text, struct arena *a,
                      const char *ret[2], struct err *e)
{
	const char *comma = strchr(text, ',');

	if (comma == NULL || comma == text || comma[1] == '\0' || strchr(comma + 1, ',') != NULL)
		return err_set(e, ERR_USAGE, "%s: --%s takes two, separated by a comma, not '%s'", o->command->name,
		               option, text);
	ret[0] = arena_strndup(a, text, (size_t)(comma - text));
	ret[1] = arena_strdup(a, comma + 1);
	return 0;
}

/* "2026-01" or "2026-01-05..2026-01-20" -> "since=... until=...". */
static const char *period_filter(const char *period, struct arena *a)
{
	const char *dots = strstr(period, "..");

	if (dots == NULL)
		return arena_printf(a, "since=%s until=%s", period, period);
	return arena_printf(a, "since=%.*s until=%s", (int)(dots - period), period, dots + 2);
}

/* The word of the filter that makes each side, its name, and where the common arguments begin. */
struct sides {
	const char *words[2], *names[2];
	const char *ignored;
	int first;
};

/* 1: an option names the sides, 0: none does. */
static int sides_by_option(const struct options *o, struct arena *a, struct sides *ret, struct err *e)
{
	const char *hosts = options_text(o, "hosts"), *label = options_text(o, "label"),
		   *periods = options_text(o, "periods"), *values[2];

	if (hosts == NULL && label == NULL && periods == NULL)
		return 0;
	if ((hosts != NULL) + (label != NULL) + (periods != NULL) > 1)
		return err_set(e, ERR_USAGE, "compare: one of --hosts, --label and --periods at a time");
	if (label != NULL) {
		const char *equals = strchr(label, '=');

		if (equals == NULL)
			return err_set(e, ERR_USAGE, "compare: --label takes NAME=A,B, not '%s'", label);
		ret->ignored = arena_printf(a, "%s%.*s", text_starts(label, "label.") ? "" : "label.",
		                            (int)(equals - label), label);
		if (pair_split(o, "label", equals + 1, a, values, e) < 0)
			return -1;
	} else if (pair_split(o, hosts != NULL ? "hosts" : "periods", hosts != NULL ? hosts : periods, a, values, e) <
	           0) {
		return -1;
	}
	for (int i = 0; i < 2; i++) {
		ret->names[i] = values[i];
		if (hosts != NULL)
			ret->words[i] = arena_printf(a, "host=\"%s\"", values[i]);
		else if (label != NULL)
			ret->words[i] = arena_printf(a, "%s=\"%s\"", ret->ignored, values[i]);
		else
			ret->words[i] = period_filter(values[i], a);
	}
	return 1;
}

/* Two filters on one axis, as filesystem=ext3 against filesystem=xfs: that axis tells the sides apart and is not
 * matched. */
static const char *common_axis(const char *x, const char *y, struct arena *a)
{
	static const char *const keys[] = { "host", "plan", "sweep", "workload", "metric", "state", "flag", "since", "until" };
	size_t n = strcspn(x, "=<>!");
	bool is_key = false;

	if (n == 0 || n != strcspn(y, "=<>!") || memcmp(x, y, n) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		is_key = is_key || (strlen(keys[i]) == n && memcmp(keys[i], x, n) == 0);
	return is_key ? NULL : arena_strndup(a, x, n);
}

static int sides_find(const struct options *o, struct arena *a, struct sides *ret, struct err *e)
{
	int by_option;

	*ret = (struct sides){ 0 };
	by_option = sides_by_option(o, a, ret, e);
	if (by_option != 0)
		return by_option < 0 ? -1 : 0;
	if (o->n_arguments < 2) {
		err_set(e, ERR_USAGE, "compare: two sides are needed");
		return err_hint(e, "name two sweeps, two filters, --hosts A,B, --label NAME=A,B or --periods P,Q");
	}
	for (int i = 0; i < 2; i++) {
		bool is_plain = !choose_is_filter(o->arguments[i]);

		ret->words[i] = is_plain ? arena_printf(a, "sweep=%s", o->arguments[i]) : o->arguments[i];
		ret->names[i] = is_plain ? arena_printf(a, "sweep %s", o->arguments[i]) : o->arguments[i];
	}
	ret->ignored = common_axis(ret->words[0], ret->words[1], a);
	ret->first = 2;
	return 0;
}

/* The side's own word, the arguments that both share, --metric. */
static int side_load(const struct options *o, struct store *s, const struct sides *sides, int i, struct comparison *c,
                     struct err *e)
{
	AUTO_FREE const char **words = xcalloc((size_t)o->n_arguments + 3, sizeof(*words));
	struct side *side = &c->side[i];
	const char *metric = options_text(o, "metric");
	size_t n = 0;

	words[n++] = sides->words[i];
	for (int k = sides->first; k < o->n_arguments; k++)
		words[n++] = choose_is_filter(o->arguments[k]) ? o->arguments[k] :
		                                                 arena_printf(c->arena, "sweep=%s", o->arguments[k]);
	if (metric != NULL)
		words[n++] = arena_printf(c->arena, "metric=%s", metric);
	side->name = sides->names[i];
	if (choose_parse(o, words, n, c->arena, &side->filter, e) < 0)
		return -1;
	side->filter.no_details = true;
	return choose_dataset(o, s, &side->filter, &side->d, e);
}

static int limit_read(const struct options *o, double *ret, struct err *e)
{
	const char *text = options_text(o, "fail-on-regression");
	size_t n = text != NULL ? strlen(text) : 0;

	*ret = NAN;
	if (text == NULL)
		return 0;
	while (n > 0 && (text[n - 1] == '%' || text[n - 1] == ' '))
		n--;
	if (number_parse_n(text, n, ret) < 0 || *ret < 0)
		return err_set(e, ERR_USAGE, "compare: --fail-on-regression takes a percentage, as 5%%, not '%s'",
		               text);
	*ret /= 100;
	return 0;
}

static bool all_refused(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_metrics; i++)
		if (c->metrics[i].refused == NULL)
			return false;
	return c->n_metrics > 0;
}

static int comparison_print(const struct options *o, const struct comparison *c, enum table_format format,
                            int64_t limit, struct err *e)
{
	bool is_gate = !isnan(c->limit);
	AUTO_TEXT struct text left = { 0 };
	char count[COUNT_TEXT];

	if (c->n_metrics == 0) {
		err_set(e, ERR_NOT_FOUND, "no cell of %s has a counterpart in %s: equal settings, workload and metric",
		        c->side[0].name, c->side[1].name);
		choose_left_out_text(&c->left_out, &left);
		return err_hint(e, "%s on one side and %zu on the other were looked at%s%s%s",
		                count_format((int64_t)c->only[0], "result", count), c->only[1],
		                left.n > 0 ? "; left out: " : "", text_str(&left),
		                c->left_out.flagged > 0 ? " (--flagged takes those that are flagged)" : "");
	}
	if (format == TABLE_PEOPLE)
		comparison_people(c, limit, stdout);
	else if (format == TABLE_JSON && options_text(o, "columns") == NULL)
		comparison_json(c);
	else if (comparison_flat(c, format, o, e) < 0)
		return -1;
	if (all_refused(c)) {
		err_set(e, ERR_USAGE, "nothing was compared: %s", c->metrics[0].refused);
		return err_hint(e, "--across tool compares results of different tool versions, --across keep of different rules of aggregation");
	}
	return is_gate && comparison_regressed(c) ? EXIT_REGRESSION : EXIT_GOOD;
}

/* In one snapshot: both sides as they were at one moment, and the store's lock is taken once instead of for each
 * cell. */
static int sides_compare(const struct options *o, struct store *s, const struct sides *sides, bool tool, bool keep,
                         struct comparison *c, struct err *e)
{
	int rc;

	if (store_begin(s, e) < 0)
		return -1;
	rc = side_load(o, s, sides, 0, c, e);
	if (rc == 0)
		rc = side_load(o, s, sides, 1, c, e);
	if (rc == 0)
		rc = comparison_make(s, c, tool, keep, e);
	return store_finish(s, rc, e);
}

static int compare_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;
	struct comparison c = { .arena = arena_new(), .with_flagged = options_has(o, "flagged") };
	enum table_format format;
	struct sides sides;
	int64_t limit = 30;
	bool tool, keep;
	int rc = -1;

	if (table_format_of(o, &format, e) == 0 && options_integer(o, "limit", 0, INT64_MAX, &limit, e) == 0 &&
	    limit_read(o, &c.limit, e) == 0 && choose_across(o, &tool, &keep, e) == 0 &&
	    sides_find(o, c.arena, &sides, e) == 0 && open_store(&s, e) == 0) {
		c.ignored = sides.ignored;
		if (sides_compare(o, s, &sides, tool, keep, &c, e) == 0)
			rc = comparison_print(o, &c, format, limit, e);
	}
	comparison_done(&c);
	return rc;
}

const struct command cmd_compare = {
	.name = "compare",
	.arguments = "[A B] [FILTER...]",
	.max_arguments = -1,
	.about = "compare two sweeps, hosts, labels or periods, cell by cell",
	.details = "A and B are sweeps or filters.  Cells are matched by their settings, results by workload and metric.  Changes are\n"
	           "of B against A.  Results of different tool versions or rules of aggregation are not compared, unless --across\n"
	           "says so; what differs between the environments is listed below.",
	.options = options,
	.run = compare_run,
};
