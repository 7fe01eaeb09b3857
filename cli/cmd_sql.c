/* SPDX-License-Identifier: MIT
 *
 * iosweep sql: one statement that reads, over the views that iosweep-schema(7) describes.  Rows are
 * written as they come, so that a million of them take no memory.
 */
#include <fcntl.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/table.h"
#include "schema/store_sql.h"

#define QUERY_BYTES_MAX ((size_t)1 << 20)

static const struct option_def options[] = {
	{ "schema", 's', NULL, "print the SQL that made the tables and views, or the one named" },
	OPTIONS_TABLE,
	OPTIONS_END
};

static void views_add(struct table *t, const struct view *v, size_t view, size_t column, size_t about)
{
	table_row(t);
	table_text(t, view, v->name);
	table_text(t, column, "");
	table_text(t, about, v->about);
	for (size_t i = 0; i < v->n_columns; i++) {
		table_row(t);
		table_text(t, view, v->name);
		table_show(t, view, "");
		table_text(t, column, v->columns[i].name);
		table_text(t, about, v->columns[i].about);
	}
}

static int views_print(struct store *s, const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TABLE struct table *t = table_new("views");
	size_t view = table_column(t, "view", "VIEW", TABLE_KEY),
	       column = table_column(t, "column", "COLUMN", TABLE_KEY);
	size_t about = table_column(t, "about", "WHAT IT IS", TABLE_WRAP), n;
	struct view *views;

	if (store_sql_views(s, a, &views, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		views_add(t, &views[i], view, column, about);
	return table_print(t, o, stdout, e);
}

static int schema_print(struct store *s, const char *name, struct err *e)
{
	AUTO_TEXT struct text sql = { 0 };

	if (store_sql_schema(s, name, &sql, e) < 0)
		return -1;
	fputs(text_str(&sql), stdout);
	return 0;
}

/* Columns are added when the first row is known: numbers are aligned to the right. */
static void columns_add(struct table *t, struct sql *q, bool has_row)
{
	for (size_t i = 0; i < store_sql_columns(q); i++) {
		enum sql_kind kind = has_row ? store_sql_value(q, i).kind : SQL_NULL;

		table_column(t, store_sql_column(q, i), store_sql_column(q, i),
		             kind == SQL_INTEGER || kind == SQL_REAL ? TABLE_RIGHT : 0);
	}
}

static void row_add(struct table *t, struct sql *q)
{
	table_row(t);
	for (size_t i = 0; i < store_sql_columns(q); i++) {
		struct sql_value v = store_sql_value(q, i);

		switch (v.kind) {
		case SQL_NULL:
			break;
		case SQL_INTEGER:
			table_integer(t, i, v.integer);
			break;
		case SQL_REAL:
			table_number(t, i, v.real, NULL);
			break;
		case SQL_TEXT:
			table_text(t, i, v.text);
			break;
		}
	}
}

static int query_print(struct store *s, const char *text, const struct options *o, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("rows");
	AUTO_SQL struct sql *q = NULL;
	enum table_format format;
	int rc;

	if (table_format_of(o, &format, e) < 0 || store_sql_open(s, text, &q, e) < 0) /* no row before a wrong option is told */
		return -1;
	rc = store_sql_next(q, e);
	columns_add(t, q, rc > 0);
	for (; rc > 0; rc = store_sql_next(q, e)) {
		row_add(t, q);
		if (table_flush(t, o, stdout, e) < 0)
			return -1;
	}
	return rc < 0 ? -1 : table_print(t, o, stdout, e);
}

/* "-": the statement is on standard input. */
static int query_read(const char *argument, struct text *ret, struct err *e)
{
	if (strcmp(argument, "-") == 0)
		return file_read(AT_FDCWD, "/dev/stdin", QUERY_BYTES_MAX, ret, e);
	text_add(ret, argument);
	return 0;
}

/* What people type in the sqlite3 shell: ".tables", ".help", ".schema [NAME]".  Returns 1 if it was one of them, 0,
 * or -1. */
static int shell_word_run(struct store *s, const char *argument, const struct options *o, struct err *e)
{
	const char *name = argument + strlen(".schema");

	if (strcmp(argument, ".tables") == 0 || strcmp(argument, ".help") == 0)
		return views_print(s, o, e) < 0 ? -1 : 1;
	if (!text_starts(argument, ".schema") || (*name != '\0' && *name != ' '))
		return 0;
	name += strspn(name, " ");
	return schema_print(s, *name != '\0' ? name : NULL, e) < 0 ? -1 : 1;
}

static int sql_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;
	AUTO_TEXT struct text query = { 0 };
	const char *argument = o->n_arguments > 0 ? o->arguments[0] : NULL;
	int rc;

	if (open_store(&s, e) < 0)
		return -1;
	if (options_has(o, "schema"))
		rc = schema_print(s, argument, e);
	else if (argument == NULL)
		rc = views_print(s, o, e);
	else if ((rc = shell_word_run(s, argument, o, e)) == 0)
		rc = query_read(argument, &query, e) < 0 ? -1 : query_print(s, query.s, o, e);
	return rc < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_sql = {
	.name = "sql",
	.arguments = "[QUERY]",
	.max_arguments = 1,
	.about = "ask the store in SQL; without a query, list its views",
	.details = "QUERY is one statement that reads; '-' takes it from standard input.  The views and\n"
	           "their columns are listed without a QUERY, and explained in iosweep-schema(7); .tables and\n"
	           ".schema NAME are understood as in sqlite3.\n"
	           "\n"
	           "  iosweep sql \"SELECT host, metric, max(value) FROM results GROUP BY host, metric\"\n",
	.options = options,
	.run = sql_run,
};
