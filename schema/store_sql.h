/* SPDX-License-Identifier: MIT
 *
 * SQL that people write, for `iosweep sql`: one statement that reads, and what the views are for.
 *
 * Beside SQLite's own functions there are
 *     median(X)    aggregate: the middle value; the mean of the middle two for an even count; NULLs left out
 *     unpack(DATA) the text of output.data and step_output.data; NULL if it is damaged
 */
#ifndef IOSWEEP_STORE_SQL_H
#define IOSWEEP_STORE_SQL_H

#include "schema/store.h"

struct sql;

/* Prepares one SELECT, WITH, VALUES, EXPLAIN or reading PRAGMA.  ERR_USAGE with SQLite's words and the column of the
 * fault where it has one; also for a statement that would write, attach a file, or is followed by another. */
int store_sql_open(struct store *s, const char *text, struct sql **ret, struct err *e);
void store_sql_close(struct sql *q); /* NULL is fine */
static inline void auto_sql(struct sql **q)
{
	store_sql_close(*q);
}
#define AUTO_SQL __attribute__((cleanup(auto_sql)))

size_t store_sql_columns(const struct sql *q);
const char *store_sql_column(const struct sql *q, size_t i); /* its name, until the query is closed */

enum sql_kind { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT };
struct sql_value {
	enum sql_kind kind;
	int64_t integer;
	double real;
	const char *text; /* SQL_TEXT: until the next row.  A blob is its hexadecimal digits. */
};
/* 1: a row; 0: no more; -1. */
int store_sql_next(struct sql *q, struct err *e);
struct sql_value store_sql_value(struct sql *q, size_t i);

/* The views, as their comments in views.sql describe them. */
struct view_column {
	const char *name, *about;
};
struct view {
	const char *name, *about;
	struct view_column *columns;
	size_t n_columns;
};
int store_sql_views(struct store *s, struct arena *a, struct view **ret, size_t *ret_n, struct err *e);
/* The SQL that made a table, index or view, comments included; all of them for name NULL, tables first. */
int store_sql_schema(struct store *s, const char *name, struct text *ret, struct err *e);

#endif
