/* SPDX-License-Identifier: MIT
 *
 * The texts of a store that somebody else made, before any of it is merged.  What this program writes is clean; a file from another
 * host may hold anything, and would stay in the store for good.
 */
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

static int column_check(struct store *s, const char *path, const char *table, const char *column, struct err *e)
{
	AUTO_FREE char *sql = xasprintf("SELECT %s FROM %s WHERE NOT is_fit(%s, ?) LIMIT 1", column, table, column), *shown = NULL;
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, sql, "i", (int64_t)is_name(table, column)) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	shown = text_printable(column_borrow(st, 0));
	err_set(e, ERR_USAGE, "'%s' cannot be imported: %s.%s holds what is no text: '%.80s'", path, table, column, shown);
	return err_hint(e, "nothing was imported");
}

int store_texts_check(struct store *s, const char *path, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (sqlite3_create_function_v2(s->db, "is_fit", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, text_is_fit, NULL, NULL,
	                               NULL) != SQLITE_OK)
		return store_failed(s, e);
	/* the journal is not merged, and its paths are what they are; tables that are not ours have names that need quotes */
	if (statement_open(s, &st, e,
	                   "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND "
	                   "c.type = 'TEXT' AND m.name <> 'undo' AND m.name || c.name NOT GLOB '*[^a-z_]*'", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		if (column_check(s, path, column_borrow(st, 0), column_borrow(st, 1), e) < 0)
			return -1;
	return rc;
}
