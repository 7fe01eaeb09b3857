/* SPDX-License-Identifier: MIT
 *
 * iosweep query: results of all sweeps by the filter, as rows or grouped.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/group.h"
#include "cli/stream.h"
#include "schema/stats.h"

static const struct option_def options[] = {
	OPTIONS_SELECT,
	{ "group-by", 'g', "LIST", "one row for each combination of these: axes, host, plan, sweep (comma-separated)" },
	{ "agg", 0, "LIST", "what to make of a group: count, median, mean, min, max (default all)" },
	{ "limit", 'n', "N", "rows in a table for people (default 200; 0: all); programs get all" },
	OPTIONS_TABLE,
	OPTIONS_END
};

/* Columns before the axes, in order. */
static const char *const columns[] = { "sweep", "plan",  "host",  "started", "cell", "config", "state", "metric", "value",
	                               "unit",  "min",   "max",   "n",       "left_out", "keep", "tools", "flags", "reason" };
static const unsigned people_flags[] = { TABLE_RIGHT, 0, 0, 0, TABLE_RIGHT, TABLE_EXTRA, TABLE_EXTRA, 0, TABLE_RIGHT,
	                                 TABLE_EXTRA, TABLE_EXTRA | TABLE_RIGHT, TABLE_EXTRA | TABLE_RIGHT, TABLE_RIGHT,
	                                 TABLE_EXTRA, TABLE_EXTRA, 0, 0, TABLE_EXTRA };
#define N_COLUMNS ARRAY_SIZE(columns)

struct listing {
	const struct options *o;
	enum table_format format;
	int64_t limit;
	struct query *q;
	const char *const *axes;
	size_t n_axes, n;
	const char **names;         /* owned: all columns */
	struct stream_value *values; /* owned */
};

#define TEXT(s) ((struct stream_value){ .kind = STREAM_TEXT, .text = (s) })
#define INTEGER(v) ((struct stream_value){ .kind = STREAM_INTEGER, .integer = (v) })
#define NUMBER(v) ((struct stream_value){ .kind = STREAM_NUMBER, .number = (v) })

static void row_fill(struct listing *l, const struct query_row *r, char time[SIZE_TEXT], char digest[DIGEST_TEXT])
{
	struct stream_value *v = l->values;

	memset(v, 0, l->n * sizeof(*v));
	v[0] = INTEGER(r->sweep_id);
	v[1] = TEXT(r->plan);
	v[2] = TEXT(r->host);
	v[3] = TEXT(time_format_utc(r->started_ms, time));
	v[4] = INTEGER(r->position + 1);
	v[5] = TEXT(digest_format(r->config, digest));
	v[6] = TEXT(r->state);
	if (r->key != NULL) {
		v[7] = TEXT(r->key);
		v[8] = NUMBER(r->value);
		v[9] = TEXT(r->unit);
		v[10] = NUMBER(r->min);
		v[11] = NUMBER(r->max);
		v[12] = INTEGER(r->n);
		v[13] = INTEGER(r->left_out);
		v[14] = TEXT(r->keep);
		v[15] = TEXT(r->tools);
		v[16] = TEXT(r->flags);
	}
	v[17] = TEXT(r->reason);
	for (size_t k = 0; k < l->n_axes; k++) {
		v[N_COLUMNS + 2 * k] = TEXT(r->axes[k]);
		if (r->effective[k] != NULL)
			v[N_COLUMNS + 2 * k + 1] = TEXT(r->effective[k]);
	}
}

static void columns_make(struct listing *l, struct arena *a)
{
	l->n = N_COLUMNS + 2 * l->n_axes;
	l->names = xcalloc(l->n + 1, sizeof(*l->names));
	l->values = xcalloc(l->n + 1, sizeof(*l->values));
	memcpy(l->names, columns, sizeof(columns));
	for (size_t k = 0; k < l->n_axes; k++) {
		l->names[N_COLUMNS + 2 * k] = l->axes[k];
		l->names[N_COLUMNS + 2 * k + 1] = arena_printf(a, "%s:effective", l->axes[k]);
	}
}

static int stream_print(struct listing *l, struct err *e)
{
	char time[SIZE_TEXT], digest[DIGEST_TEXT];
	struct query_row r;
	struct stream s;
	int rc;

	if (stream_begin(&s, "results", l->format, l->names, l->n, options_text(l->o, "columns"), stdout, e) < 0)
		return -1;
	while ((rc = store_query_next(l->q, &r, e)) > 0) {
		row_fill(l, &r, time, digest);
		stream_row(&s, l->values);
	}
	stream_end(&s);
	return rc;
}

/* What people see instead of base units and canonical values. */
static void row_show(const struct listing *l, struct table *t, const struct query_row *r)
{
	char buf[2 * SIZE_TEXT], size[64], found[64];

	if (r->key != NULL)
		table_show(t, 8, unit_text(r->value, r->unit, buf));
	table_show(t, 3, time_format_local(r->started_ms, buf));
	for (size_t k = 0; k < l->n_axes; k++) {
		const struct axis *def = axis_find(l->axes[k]);
		const char *shown = axis_value_text(def, r->axes[k], size, sizeof(size));
		AUTO_FREE char *both = NULL;

		if (r->effective[k] != NULL)
			both = xasprintf("%s (%s)", shown, axis_value_text(def, r->effective[k], found, sizeof(found)));
		table_show(t, N_COLUMNS + 2 * k, both != NULL ? both : shown);
	}
}

static int people_print(struct listing *l, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("results");
	char time[SIZE_TEXT], digest[DIGEST_TEXT], results[COUNT_TEXT], cells[COUNT_TEXT];
	struct query_row r;
	int64_t n = 0;
	int rc;

	for (size_t i = 0; i < l->n; i++) {
		unsigned flags = i < N_COLUMNS ? people_flags[i] : (i - N_COLUMNS) % 2 == 0 ? 0 : TABLE_EXTRA;
		AUTO_FREE char *title = xstrdup(l->names[i]);

		for (char *c = title; *c != '\0'; c++)
			*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
		table_column(t, l->names[i], title, flags);
	}
	while ((rc = store_query_next(l->q, &r, e)) > 0 && (l->limit == 0 || n++ < l->limit)) {
		row_fill(l, &r, time, digest);
		stream_to_table(t, l->values, l->n);
		row_show(l, t, &r);
		if (table_flush(t, l->o, stdout, e) < 0)
			return -1;
	}
	if (rc < 0 || table_print(t, l->o, stdout, e) < 0)
		return -1;
	if (rc > 0)
		fprintf(stderr, PROGRAM ": the first %s of %s; --limit 0 shows all\n",
		        count_format(l->limit, "result", results),
		        count_format((int64_t)store_query_cells(l->q), "cell", cells));
	if (table_rows(t) == 0)
		fprintf(stderr, PROGRAM ": no result meets the filter\n");
	return 0;
}

static int listing_print(const struct options *o, struct listing *l, struct store *s, const struct filter *f,
                         struct arena *a, struct err *e)
{
	struct query_options q = { .is_strict = options_has(o, "metric") };
	const char *mixed;
	int rc;

	for (size_t i = 0; i < f->n; i++)
		q.is_strict = q.is_strict || f->at[i].kind == FILTER_METRIC;
	if (choose_across(o, &q.across_tool, &q.across_keep, e) < 0 ||
	    store_query_open(s, f, &q, a, &l->q, &mixed, e) < 0)
		return -1;
	l->axes = store_query_axes(l->q, &l->n_axes);
	columns_make(l, a);
	rc = l->format == TABLE_JSON || l->format == TABLE_CSV || l->format == TABLE_RAW ? stream_print(l, e) :
	                                                                                   people_print(l, e);
	if (mixed[0] != '\0')
		fprintf(stderr, PROGRAM ": not to be compared with each other: %s\n", mixed);
	store_query_close(l->q);
	free(l->names);
	free(l->values);
	return rc;
}

static int query_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	struct listing l = { .o = o, .limit = 200 };
	struct filter f;

	if (table_format_of(o, &l.format, e) < 0 || options_integer(o, "limit", 0, INT64_MAX, &l.limit, e) < 0 ||
	    choose_filter(o, 0, NULL, a, &f, e) < 0 || open_store(&s, e) < 0)
		return -1;
	if (options_has(o, "agg") && !options_has(o, "group-by"))
		return err_set(e, ERR_USAGE, "query: --agg goes with --group-by");
	if (options_has(o, "group-by"))
		return group_print(o, s, &f, e);
	return listing_print(o, &l, s, &f, a, e) < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_query = {
	.name = "query",
	.arguments = "[ID...] [FILTER...]",
	.max_arguments = -1,
	.about = "list results of all sweeps by a filter",
	.details = "A FILTER is terms that must all hold: KEY=VALUE, with = != < <= > >=.  Keys are axes, host, plan, sweep,\n"
	           "workload, metric, state, flag, since, until, facts such as tool.fio, and WORKLOAD.METRIC itself:\n"
	           "  filesystem=xfs,ext4 readahead>=2MiB host=db* since=2026-01-01 dd-read.throughput>=500MB/s",
	.options = options,
	.run = query_run,
};
