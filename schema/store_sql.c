/* SPDX-License-Identifier: MIT
 *
 * SQL that people write; see store_sql.h.  The connection is read-only already; the authorizer also keeps a statement
 * from making files elsewhere (ATTACH, VACUUM INTO) and from changing how the connection works.
 */
#include "schema/store_sql.h"

#include <ctype.h>
#include <string.h>

#include "schema/stats.h"
#include "schema/store_internal.h"

struct sql {
	struct store *store;
	sqlite3_stmt *stmt;
	struct text hex; /* of the blob looked at last */
};

/* ---- functions ---- */

struct gathered {
	double *v; /* owned */
	size_t n, cap;
};

static void median_step(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	struct gathered *g = sqlite3_aggregate_context(ctx, sizeof(*g));

	(void)n;
	if (g == NULL || sqlite3_value_numeric_type(args[0]) == SQLITE_NULL)
		return;
	ARRAY_GROW(g->v, g->n, g->cap);
	g->v[g->n++] = sqlite3_value_double(args[0]);
}

static void median_final(sqlite3_context *ctx)
{
	struct gathered *g = sqlite3_aggregate_context(ctx, 0);

	if (g == NULL || g->n == 0)
		return;
	sqlite3_result_double(ctx, stats_median(g->v, g->n));
	free(g->v);
}

static void unpack_call(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	AUTO_TEXT struct text text = { 0 };

	(void)n;
	if (sqlite3_value_type(args[0]) == SQLITE_BLOB &&
	    text_unpack_any(sqlite3_value_blob(args[0]), (size_t)sqlite3_value_bytes(args[0]), &text) == 0)
		sqlite3_result_text64(ctx, text_str(&text), text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int functions_add(struct store *s, struct err *e)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

	if (sqlite3_create_function(s->db, "median", 1, flags, NULL, NULL, median_step, median_final) != SQLITE_OK ||
	    sqlite3_create_function(s->db, "unpack", 1, flags, NULL, unpack_call, NULL, NULL) != SQLITE_OK)
		return store_failed(s, e);
	return 0;
}

/* ---- statements ---- */

static int action_allow(void *data, int action, const char *a, const char *b, const char *database, const char *trigger)
{
	static const char *const pragmas[] = { "table_info", "table_xinfo", "table_list", "index_list",     "index_info",
		                               "index_xinfo", "foreign_key_list", "user_version", "application_id",
		                               "integrity_check", "quick_check", "foreign_key_check", "journal_mode", "page_count",
		                               "page_size", "freelist_count", "function_list", "database_list", "compile_options" };

	(void)data, (void)database, (void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return strcasecmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		for (size_t i = 0; i < ARRAY_SIZE(pragmas); i++)
			if (strcasecmp(a, pragmas[i]) == 0 && (b == NULL || strcmp(pragmas[i], "journal_mode") != 0))
				return SQLITE_OK;
		return SQLITE_DENY;
	}
	return SQLITE_DENY;
}

/* Only blanks, comments and semicolons may follow. */
static bool tail_is_empty(const char *tail)
{
	for (;;) {
		while (isspace((unsigned char)*tail) || *tail == ';')
			tail++;
		if (text_starts(tail, "--")) {
			tail += strcspn(tail, "\n");
		} else if (text_starts(tail, "/*")) {
			const char *end = strstr(tail + 2, "*/");

			if (end == NULL)
				return true; /* SQLite takes an open comment as one to the end */
			tail = end + 2;
		} else {
			return *tail == '\0';
		}
	}
}

/* "no such table: resuts" -> the view or table that was meant. */
static int table_nearest(struct store *s, const char *message, struct err *e)
{
	static const char front[] = "no such table: ";
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE char *name = xstrdup(text_starts(message, front) ? message + strlen(front) : "");
	AUTO_FREE const char **names = NULL;
	const char *nearest = NULL;
	size_t n = 0, cap = 0;

	if (name[0] != '\0' &&
	    statement_open(s, &st, NULL,
	                   "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') ORDER BY type DESC, name",
	                   "") == 0) {
		while (statement_next(st, NULL) > 0) {
			ARRAY_GROW(names, n, cap);
			names[n++] = column_text(st, 0, a);
		}
		nearest = text_nearest(name, names, n);
	}
	if (nearest != NULL)
		return err_hint(e, "did you mean '%s'? the views and their columns: iosweep sql", nearest);
	return err_hint(e, "the views and their columns: iosweep sql");
}

static int text_refuse(struct store *s, const char *text, int rc, struct err *e)
{
	int offset = sqlite3_error_offset(s->db);

	if (rc == SQLITE_AUTH)
		return err_set(e, ERR_USAGE, "only statements that read are allowed here");
	if ((rc & 0xff) != SQLITE_ERROR && (rc & 0xff) != SQLITE_TOOBIG)
		return store_failed(s, e);
	else if (offset >= 0 && (size_t)offset <= strlen(text))
		err_set(e, ERR_USAGE, "SQL, column %d: %s", offset + 1, sqlite3_errmsg(s->db));
	else
		err_set(e, ERR_USAGE, "SQL: %s", sqlite3_errmsg(s->db));
	return table_nearest(s, sqlite3_errmsg(s->db), e);
}

static int statement_prepare(struct store *s, const char *text, sqlite3_stmt **ret, struct err *e)
{
	const char *tail;
	int rc;

	sqlite3_set_authorizer(s->db, action_allow, NULL);
	rc = sqlite3_prepare_v2(s->db, text, -1, ret, &tail);
	sqlite3_set_authorizer(s->db, NULL, NULL);
	if (rc != SQLITE_OK)
		return text_refuse(s, text, rc, e);
	if (*ret == NULL)
		return err_set(e, ERR_USAGE, "SQL: the statement is empty");
	if (!tail_is_empty(tail)) {
		err_set(e, ERR_USAGE, "SQL, column %d: a second statement", (int)(tail - text) + 1);
		return err_hint(e, "one statement at a time");
	}
	if (sqlite3_column_count(*ret) == 0 || !sqlite3_stmt_readonly(*ret))
		return err_set(e, ERR_USAGE, "only statements that read are allowed here");
	return 0;
}

int store_sql_open(struct store *s, const char *text, struct sql **ret, struct err *e)
{
	sqlite3_stmt *stmt = NULL;

	if (functions_add(s, e) < 0)
		return -1;
	if (statement_prepare(s, text, &stmt, e) < 0) {
		sqlite3_finalize(stmt);
		return -1;
	}
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->store = s;
	(*ret)->stmt = stmt;
	return 0;
}

void store_sql_close(struct sql *q)
{
	if (q == NULL)
		return;
	sqlite3_finalize(q->stmt);
	text_done(&q->hex);
	free(q);
}

size_t store_sql_columns(const struct sql *q)
{
	return (size_t)sqlite3_column_count(q->stmt);
}

const char *store_sql_column(const struct sql *q, size_t i)
{
	const char *name = sqlite3_column_name(q->stmt, (int)i);

	return name != NULL ? name : "";
}

int store_sql_next(struct sql *q, struct err *e)
{
	int rc = sqlite3_step(q->stmt);

	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return rc == SQLITE_ROW;
	if ((rc & 0xff) == SQLITE_ERROR) /* the statement's own fault, e.g. a JSON function's argument */
		return err_set(e, ERR_USAGE, "SQL: %s", sqlite3_errmsg(q->store->db));
	return store_failed(q->store, e);
}

static const char *blob_hex(struct sql *q, int i)
{
	const uint8_t *data = sqlite3_column_blob(q->stmt, i);
	size_t n = (size_t)sqlite3_column_bytes(q->stmt, i);

	text_clear(&q->hex);
	for (size_t k = 0; k < n; k++) {
		const char digits[] = "0123456789abcdef";

		text_add_n(&q->hex, (char[]){ digits[data[k] >> 4], digits[data[k] & 15] }, 2);
	}
	return text_str(&q->hex);
}

/* A store that others made is read, too, and what a tool has printed. */
static const char *text_clean(struct sql *q, int i)
{
	const char *s = (const char *)sqlite3_column_text(q->stmt, i);
	size_t n = (size_t)sqlite3_column_bytes(q->stmt, i);

	if (s == NULL || text_is_clean(s, n))
		return s;
	text_clear(&q->hex);
	text_add_clean(&q->hex, s, n);
	return text_str(&q->hex);
}

struct sql_value store_sql_value(struct sql *q, size_t i)
{
	int column = (int)i;

	switch (sqlite3_column_type(q->stmt, column)) {
	case SQLITE_INTEGER:
		return (struct sql_value){ .kind = SQL_INTEGER, .integer = sqlite3_column_int64(q->stmt, column) };
	case SQLITE_FLOAT:
		return (struct sql_value){ .kind = SQL_REAL, .real = sqlite3_column_double(q->stmt, column) };
	case SQLITE_TEXT:
		return (struct sql_value){ .kind = SQL_TEXT, .text = text_clean(q, column) };
	case SQLITE_BLOB:
		return (struct sql_value){ .kind = SQL_TEXT, .text = blob_hex(q, column) };
	}
	return (struct sql_value){ .kind = SQL_NULL };
}

/* ---- what the views are for ---- */

/* The text behind the "-- " of the line that begins at s; "" without one.  *next: the following line, or NULL. */
static char *line_comment(const char *s, const char **next, struct arena *a)
{
	size_t n = strcspn(s, "\n");
	const char *comment = memmem(s, n, "-- ", 3);

	*next = s[n] == '\n' ? s + n + 1 : NULL;
	return comment != NULL ? arena_strndup(a, comment + 3, n - (size_t)(comment + 3 - s)) : arena_strdup(a, "");
}

/* The columns are the result columns of the view; their comments are those of its lines, in order. */
static int view_columns_read(struct store *s, struct view *v, const char *lines, struct arena *a, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct view_column *at = NULL;
	size_t cap = 0;
	int rc;

	if (statement_open(s, &st, e, "SELECT name FROM pragma_table_info(?) ORDER BY cid", "t", v->name) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		const char *about = "";

		while (lines != NULL && about[0] == '\0')
			about = line_comment(lines, &lines, a);
		ARRAY_GROW(at, v->n_columns, cap);
		at[v->n_columns++] = (struct view_column){ .name = column_text(st, 0, a), .about = about };
	}
	if (rc == 0)
		v->columns = rows_keep(a, at, v->n_columns, sizeof(*at));
	return rc;
}

int store_sql_views(struct store *s, struct arena *a, struct view **ret, size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct view *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e, "SELECT name, sql FROM sqlite_schema WHERE type = 'view' ORDER BY rowid", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		const char *lines = column_borrow(st, 1);

		ARRAY_GROW(at, n, cap);
		at[n] = (struct view){ .name = column_text(st, 0, a), .about = line_comment(lines, &lines, a) };
		if (view_columns_read(s, &at[n++], lines, a, e) < 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	*ret = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}

int store_sql_schema(struct store *s, const char *name, struct text *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t n = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 IS NULL OR name = ?1 OR tbl_name = ?1) "
	                   "ORDER BY type = 'view', rowid", "t", name) < 0)
		return -1;
	for (; (rc = statement_next(st, e)) > 0; n++)
		text_printf(ret, "%s;\n\n", column_borrow(st, 0));
	if (rc == 0 && n == 0)
		return err_set(e, ERR_NOT_FOUND, "there is no table or view '%s'", name);
	return rc;
}
