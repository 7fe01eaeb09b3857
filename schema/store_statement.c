/* SPDX-License-Identifier: MIT
 *
 * Prepared statements of one connection, found again by their text; see store_internal.h.  A worker uses about forty,
 * a command a handful; the least recently used one goes when there are more than STATEMENTS_MAX.
 */
#include "schema/store_internal.h"

#include <assert.h>
#include <string.h>

#define STATEMENTS_MAX 96

struct statement {
	struct store *store;
	sqlite3_stmt *stmt;
	const char *sql; /* stmt's own copy */
	bool in_use;
	char **cleaned; /* owned; texts of the row at hand that were not clean */
	size_t n_cleaned, cap_cleaned;
	struct statement *next;
};

static void cleaned_free(struct statement *st)
{
	while (st->n_cleaned > 0)
		free(st->cleaned[--st->n_cleaned]);
}

static void statement_free(struct statement *st)
{
	sqlite3_finalize(st->stmt);
	cleaned_free(st);
	free(st->cleaned);
	free(st);
}

void statements_free(struct store *s)
{
	while (s->cache != NULL) {
		struct statement *st = s->cache;

		s->cache = st->next;
		statement_free(st);
	}
	s->n_cached = 0;
}

/* Takes the idle statement with this text out of the list, or NULL. */
static struct statement *statement_take(struct store *s, const char *sql)
{
	for (struct statement **p = &s->cache; *p != NULL; p = &(*p)->next) {
		struct statement *st = *p;

		if (st->in_use || strcmp(st->sql, sql) != 0)
			continue;
		*p = st->next;
		return st;
	}
	return NULL;
}

static void statement_evict(struct store *s)
{
	struct statement **last = NULL;

	for (struct statement **p = &s->cache; *p != NULL; p = &(*p)->next)
		if (!(*p)->in_use)
			last = p;
	if (last != NULL) {
		struct statement *st = *last;

		*last = st->next;
		statement_free(st);
		s->n_cached--;
	}
}

static struct statement *statement_prepare(struct store *s, const char *sql, struct err *e)
{
	struct statement *st = statement_take(s, sql);

	if (st == NULL) {
		sqlite3_stmt *stmt;

		if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK) {
			store_failed(s, e);
			return NULL;
		}
		if (s->n_cached >= STATEMENTS_MAX)
			statement_evict(s);
		st = xcalloc(1, sizeof(*st));
		*st = (struct statement){ .store = s, .stmt = stmt, .sql = sqlite3_sql(stmt) };
		s->n_cached++;
	}
	st->next = s->cache;
	s->cache = st;
	st->in_use = true;
	return st;
}

static char *text_cleaned(const char *s, size_t n)
{
	struct text t = { 0 };

	text_add_clean(&t, s, n);
	return t.s;
}

/* Whatever is said in the store is UTF-8 without control characters: a reason that quotes a tool, or was cut at a
 * byte, would otherwise make JSON that no reader takes, and speak to the reader's terminal. */
static int text_bind(sqlite3_stmt *stmt, int i, const char *s)
{
	if (s == NULL)
		return sqlite3_bind_null(stmt, i);
	if (text_is_clean(s, strlen(s)))
		return sqlite3_bind_text(stmt, i, s, -1, SQLITE_STATIC);
	return sqlite3_bind_text(stmt, i, text_cleaned(s, strlen(s)), -1, free);
}

static int id_bind(sqlite3_stmt *stmt, int i, int64_t id)
{
	return id == 0 ? sqlite3_bind_null(stmt, i) : sqlite3_bind_int64(stmt, i, id);
}

/* Binds the parameter at type from ap, which is passed by pointer so that all of them read the same list. */
static int parameter_bind(sqlite3_stmt *stmt, int i, char type, va_list *ap)
{
	const void *data;
	const char *s;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(stmt, i, va_arg(*ap, int64_t));
	case 'I':
		return id_bind(stmt, i, va_arg(*ap, int64_t));
	case 'r':
		return sqlite3_bind_double(stmt, i, va_arg(*ap, double));
	case 't':
		return text_bind(stmt, i, va_arg(*ap, const char *));
	case 's':
		s = va_arg(*ap, const char *);
		return text_bind(stmt, i, s != NULL ? s : "");
	case 'x':
		s = va_arg(*ap, const char *);
		return sqlite3_bind_text(stmt, i, s != NULL ? s : "", -1, SQLITE_STATIC);
	case 'u':
		return sqlite3_bind_blob(stmt, i, va_arg(*ap, const uint8_t *), 16, SQLITE_STATIC);
	case 'd':
		return sqlite3_bind_blob(stmt, i, va_arg(*ap, const uint8_t *), DIGEST_SIZE, SQLITE_STATIC);
	case 'b':
		data = va_arg(*ap, const void *);
		return sqlite3_bind_blob64(stmt, i, data != NULL ? data : "", va_arg(*ap, size_t), SQLITE_STATIC);
	case '-':
		return sqlite3_bind_null(stmt, i);
	}
	assert(!"a letter of store_internal.h");
	return SQLITE_MISUSE;
}

int statement_open_v(struct store *s, struct statement **ret, struct err *e, const char *sql, const char *types,
                     va_list ap)
{
	struct statement *st = statement_prepare(s, sql, e);
	va_list args;
	int rc = 0;

	if (st == NULL)
		return -1;
	assert(sqlite3_bind_parameter_count(st->stmt) == (int)strlen(types));
	va_copy(args, ap);
	for (int i = 1; types[i - 1] != '\0' && rc == 0; i++)
		if (parameter_bind(st->stmt, i, types[i - 1], &args) != SQLITE_OK)
			rc = store_failed(s, e);
	va_end(args);
	if (rc < 0) {
		statement_done(st);
		return -1;
	}
	*ret = st;
	return 0;
}

int statement_open(struct store *s, struct statement **ret, struct err *e, const char *sql, const char *types, ...)
{
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = statement_open_v(s, ret, e, sql, types, ap);
	va_end(ap);
	return rc;
}

int statement_next(struct statement *st, struct err *e)
{
	int rc;

	cleaned_free(st);
	rc = sqlite3_step(st->stmt);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return store_failed(st->store, e);
}

void statement_done(struct statement *st)
{
	if (st == NULL)
		return;
	sqlite3_reset(st->stmt);
	sqlite3_clear_bindings(st->stmt);
	cleaned_free(st);
	st->in_use = false;
}

static int statement_once(struct store *s, struct statement **ret, struct err *e, const char *sql, const char *types,
                          va_list ap)
{
	return statement_open_v(s, ret, e, sql, types, ap) < 0 ? -1 : statement_next(*ret, e);
}

int statement_run(struct store *s, struct err *e, const char *sql, const char *types, ...)
{
	AUTO_STATEMENT struct statement *st = NULL;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = statement_once(s, &st, e, sql, types, ap);
	va_end(ap);
	return rc < 0 ? -1 : 0;
}

int statement_insert(struct store *s, int64_t *ret_id, struct err *e, const char *sql, const char *types, ...)
{
	AUTO_STATEMENT struct statement *st = NULL;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = statement_once(s, &st, e, sql, types, ap);
	va_end(ap);
	if (rc < 0)
		return -1;
	*ret_id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int statement_int(struct store *s, int64_t *ret, struct err *e, const char *sql, const char *types, ...)
{
	AUTO_STATEMENT struct statement *st = NULL;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = statement_once(s, &st, e, sql, types, ap);
	va_end(ap);
	if (rc <= 0)
		return rc;
	if (column_is_null(st, 0))
		return 0;
	*ret = column_int(st, 0);
	return 1;
}

int64_t column_int(struct statement *st, int i)
{
	return sqlite3_column_int64(st->stmt, i);
}

double column_real(struct statement *st, int i)
{
	return sqlite3_column_double(st->stmt, i);
}

bool column_is_null(struct statement *st, int i)
{
	return sqlite3_column_type(st->stmt, i) == SQLITE_NULL;
}

const char *column_borrow(struct statement *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st->stmt, i);
	size_t n;

	if (s == NULL || s[0] == '\0') /* most reasons and flags */
		return "";
	n = (size_t)sqlite3_column_bytes(st->stmt, i);
	if (text_is_clean(s, n))
		return s;
	ARRAY_GROW(st->cleaned, st->n_cleaned, st->cap_cleaned);
	st->cleaned[st->n_cleaned] = text_cleaned(s, n);
	return st->cleaned[st->n_cleaned++];
}

char *column_exact(struct statement *st, int i, struct arena *a)
{
	const char *s = (const char *)sqlite3_column_text(st->stmt, i);

	return arena_strdup(a, s != NULL ? s : "");
}

char *column_text(struct statement *st, int i, struct arena *a)
{
	return arena_strdup(a, column_borrow(st, i));
}

size_t column_bytes(struct statement *st, int i, const void **ret)
{
	*ret = sqlite3_column_blob(st->stmt, i);
	return (size_t)sqlite3_column_bytes(st->stmt, i);
}

void column_copy(struct statement *st, int i, void *ret, size_t n)
{
	const void *data;

	if (column_bytes(st, i, &data) == n && data != NULL)
		memcpy(ret, data, n);
	else
		memset(ret, 0, n);
}

void *rows_keep(struct arena *a, const void *rows, size_t n, size_t size)
{
	void *copy = arena_array(a, n, size);

	if (n > 0)
		memcpy(copy, rows, n * size);
	return copy;
}
