/* SPDX-License-Identifier: MIT
 *
 * The texts and numbers of a store that somebody else made, before any of it is merged.  What this program writes is
 * clean and within bounds; a file from another host may hold anything, and would stay in the store for good.
 */
#include <stdio.h>
#include <string.h>

#include "schema/store_internal.h"

/* Names: of one line. */
static bool is_name(const char *table, const char *column)
{
	static const char *const names[][2] = {
		{ "host", "name" },           { "plan", "name" },   { "axis", "name" },         { "workload", "name" },
		{ "sweep_workload", "name" }, { "metric", "name" }, { "sweep_label", "name" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i][0], table) == 0 && strcmp(names[i][1], column) == 0)
			return true;
	return false;
}

/* is_fit(TEXT, IS_NAME) for SQL. */
static void text_is_fit(sqlite3_context *to, int n, sqlite3_value **at)
{
	const char *s = (const char *)sqlite3_value_text(at[0]);
	bool fits = s == NULL || text_is_clean(s, (size_t)sqlite3_value_bytes(at[0]));

	(void)n;
	sqlite3_result_int(to, fits && (s == NULL || sqlite3_value_int(at[1]) == 0 || text_is_printable(s)));
}

/* Times are within 1938 and 2199, so that nanoseconds between two of them fit in 64 bits; other numbers may be added
 * up in pairs. */
#define TIME_RANGE "-1000000000000 AND 7258118400000"
#define COUNT_RANGE "-2305843009213693952 AND 2305843009213693952"

/* How SQL finds what does not fit: SQLite reads 9e999 as infinite. */
static char *condition_make(const char *table, const char *column, char type)
{
	if (type == 'T')
		return xasprintf("NOT is_fit(%s, %d)", column, (int)is_name(table, column));
	if (type == 'R')
		return xasprintf("abs(%s) = 9e999", column);
	return xasprintf("%s NOT BETWEEN %s", column, text_ends(column, "_ms") ? TIME_RANGE : COUNT_RANGE);
}

/* All columns of a table in one statement, since a large table is read for it: what the first that does not fit is
 * called, and says. */
struct table_check {
	char name[64];
	struct text where, which, what;
};

static void column_add(struct table_check *t, const char *column, char type)
{
	AUTO_FREE char *condition = condition_make(t->name, column, type);

	text_printf(&t->where, "%s%s", t->where.n > 0 ? " OR " : "", condition);
	text_printf(&t->which, " WHEN %s THEN '%s'", condition, column);
	text_printf(&t->what, " WHEN %s THEN %s", condition, column);
}

static int table_check(struct store *s, const char *path, const struct table_check *t, struct err *e)
{
	AUTO_FREE char *sql = xasprintf("SELECT CASE%s END, CASE%s END FROM %s WHERE %s LIMIT 1", text_str(&t->which),
	                                text_str(&t->what), t->name, text_str(&t->where)),
		       *shown = NULL;
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (t->where.n == 0)
		return 0;
	if (statement_open(s, &st, e, sql, "") < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	shown = text_printable(column_borrow(st, 1));
	err_set(e, ERR_USAGE, "'%s' cannot be imported: %s.%s holds what no store has: '%.80s'", path, t->name,
	        column_borrow(st, 0), shown);
	return err_hint(e, "nothing was imported");
}

static int columns_check(struct store *s, const char *path, struct table_check *t, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	/* the journal is not merged, and its paths are what they are; tables that are not ours have names that need
	 * quotes; ids are made anew */
	if (statement_open(s, &st, e,
	                   "SELECT m.name, c.name, c.type FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND "
	                   "c.type IN ('TEXT', 'REAL', 'INTEGER') AND m.name <> 'undo' AND m.name || c.name NOT GLOB '*[^a-z_]*' AND "
	                   "c.name <> 'id' AND c.name NOT GLOB '*_id' ORDER BY 1", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		if (strcmp(t->name, column_borrow(st, 0)) != 0) {
			if (table_check(s, path, t, e) < 0)
				return -1;
			text_clear(&t->where);
			text_clear(&t->which);
			text_clear(&t->what);
			snprintf(t->name, sizeof(t->name), "%s", column_borrow(st, 0));
		}
		column_add(t, column_borrow(st, 1), column_borrow(st, 2)[0]);
	}
	return rc < 0 ? -1 : table_check(s, path, t, e);
}

int store_values_check(struct store *s, const char *path, struct err *e)
{
	struct table_check t = { .name = "" };
	int rc;

	if (sqlite3_create_function_v2(s->db, "is_fit", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
	                               text_is_fit, NULL, NULL, NULL) != SQLITE_OK)
		return store_failed(s, e);
	rc = columns_check(s, path, &t, e);
	text_done(&t.where);
	text_done(&t.which);
	text_done(&t.what);
	return rc;
}
