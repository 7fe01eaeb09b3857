/* SPDX-License-Identifier: MIT
 *
 * Expressions through SQLite; see evaluate.h.  Three fences: the text is scanned before SQLite sees it (which also
 * turns whole numbers into REAL ones), the authorizer refuses whatever the scan let through, and a progress handler
 * ends what runs too long.  Sizes: some thirty expressions a workload, a few thousand evaluations a trial (iozone's
 * grid).
 */
#include "schema/evaluate.h"

#include <ctype.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "schema/base/mem.h"
#include "schema/base/text.h"

#define EXPRESSION_MAX 4000
#define VARIABLES_MAX 64
#define STEPS_MAX 20000 /* of SQLite's machine; the longest shipped expression takes about 60 */

struct expression {
	struct evaluator *evaluator;
	struct expression *next;
	char *text; /* owned: as written */
	sqlite3_stmt *stmt;
};

struct evaluator {
	sqlite3 *db;
	struct expression *first;
	int n_selects; /* seen by the authorizer while one expression is compiled */
	int n_calls;   /* of the progress handler, in one evaluation */
};

static const char *const functions[] = { "abs", "coalesce", "ifnull", "iif", "max", "min", "nullif", "round" };

static bool function_is_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++)
		if (strcasecmp(functions[i], name) == 0)
			return true;
	return false;
}

static int action_authorize(void *arg, int action, const char *a, const char *b, const char *c, const char *d)
{
	struct evaluator *ev = arg;

	(void)a, (void)c, (void)d;
	if (action == SQLITE_SELECT)
		return ++ev->n_selects == 1 ? SQLITE_OK : SQLITE_DENY;
	if (action == SQLITE_FUNCTION)
		return function_is_known(b) ? SQLITE_OK : SQLITE_DENY;
	return SQLITE_DENY;
}

/* SQLite counts the steps of a statement through all its runs, so the first call in a run means little. */
static int steps_exhausted(void *arg)
{
	struct evaluator *ev = arg;

	return ++ev->n_calls > 1;
}

static void evaluator_limit(sqlite3 *db)
{
	static const struct {
		int id, value;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 100000 },      { SQLITE_LIMIT_SQL_LENGTH, 2 * EXPRESSION_MAX },
		{ SQLITE_LIMIT_COLUMN, 1 },           { SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 1 },  { SQLITE_LIMIT_VDBE_OP, 10000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 16 },    { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, VARIABLES_MAX }, { SQLITE_LIMIT_TRIGGER_DEPTH, 0 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(db, limits[i].id, limits[i].value);
}

int evaluator_new(struct evaluator **ret, struct err *e)
{
	struct evaluator *ev = xcalloc(1, sizeof(*ev));

	if (sqlite3_open_v2(":memory:", &ev->db,
	                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		err_set(e, ERR_SYSTEM, "open the evaluator: %s",
		        ev->db != NULL ? sqlite3_errmsg(ev->db) : "out of memory");
		evaluator_free(ev);
		return err_failed();
	}
	evaluator_limit(ev->db);
	sqlite3_db_config(ev->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_set_authorizer(ev->db, action_authorize, ev);
	sqlite3_progress_handler(ev->db, STEPS_MAX, steps_exhausted, ev);
	*ret = ev;
	return 0;
}

void evaluator_free(struct evaluator *ev)
{
	if (ev == NULL)
		return;
	while (ev->first != NULL) {
		struct expression *x = ev->first;

		ev->first = x->next;
		sqlite3_finalize(x->stmt);
		free(x->text);
		free(x);
	}
	sqlite3_close(ev->db);
	free(ev);
}

/* Copies one number, with ".0" if it is a whole one.  Returns what follows it. */
static const char *number_copy(const char *s, struct text *sql)
{
	const char *p = s;
	bool is_real = false;

	for (; isdigit((unsigned char)*p) || *p == '.'; p++)
		is_real |= *p == '.';
	if ((*p == 'e' || *p == 'E') &&
	    (isdigit((unsigned char)p[1]) || ((p[1] == '-' || p[1] == '+') && isdigit((unsigned char)p[2])))) {
		is_real = true;
		for (p += 2; isdigit((unsigned char)*p); p++)
			;
	}
	text_add_n(sql, s, (size_t)(p - s));
	if (!is_real)
		text_add(sql, ".0");
	return p;
}

static bool word_is_allowed(const char *s, size_t n)
{
	static const char *const words[] = { "and", "or", "not", "is", "null", "case", "when", "then", "else", "end", "between",
		                             "in" };
	char word[32];

	if (n >= sizeof(word))
		return false;
	memcpy(word, s, n);
	word[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i], word) == 0)
			return true;
	return function_is_known(word);
}

static bool character_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool operator_is_allowed(const char *s)
{
	bool is_comment = (s[0] == '-' && s[1] == '-') || (s[0] == '/' && s[1] == '*');

	return strchr(" \t\n+-*/%()<>=!,", *s) != NULL && !is_comment;
}

/* The next number, word or character as SQL.  Returns what follows it, or NULL and an error that names what does not
 * belong into arithmetic. */
static const char *token_scan(const char *s, const char *text, struct text *sql, struct err *e)
{
	bool is_variable = *s == ':';
	const char *p = s + is_variable;

	if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
		p = number_copy(s, sql);
		if (character_is_word(*p))
			return err_set(e, ERR_USAGE, "'%s' is not a number in '%s'", s, text), NULL;
		return p;
	}
	while (character_is_word(*p))
		p++;
	if (p == s + is_variable) {
		if (!operator_is_allowed(s))
			return err_set(e, ERR_USAGE, "'%c' does not belong into the expression '%s'", *s, text), NULL;
		p = s + 1;
	} else if (!is_variable && !word_is_allowed(s, (size_t)(p - s))) {
		return err_set(e, ERR_USAGE, "'%.*s' is no function and no :variable in '%s'", (int)(p - s), s, text),
		       NULL;
	}
	text_add_n(sql, s, (size_t)(p - s));
	return p;
}

static int expression_scan(const char *text, struct text *sql, struct err *e)
{
	if (strlen(text) > EXPRESSION_MAX)
		return err_set(e, ERR_USAGE, "expression of more than %d characters", EXPRESSION_MAX);
	for (const char *s = text; *s != '\0';) {
		s = token_scan(s, text, sql, e);
		if (s == NULL)
			return -1;
	}
	return 0;
}

static int expression_prepare(struct evaluator *ev, const char *text, sqlite3_stmt **ret, struct err *e)
{
	AUTO_TEXT struct text sql = { 0 };
	const char *tail = NULL;
	sqlite3_stmt *stmt = NULL;

	text_add(&sql, "SELECT (");
	if (expression_scan(text, &sql, e) < 0)
		return -1;
	text_add(&sql, ")");
	ev->n_selects = 0;
	if (sqlite3_prepare_v2(ev->db, sql.s, -1, &stmt, &tail) != SQLITE_OK)
		return err_set(e, ERR_USAGE, "'%s' is not an expression: %s", text, sqlite3_errmsg(ev->db));
	if (stmt == NULL || *tail != '\0' || sqlite3_column_count(stmt) != 1) {
		sqlite3_finalize(stmt);
		return err_set(e, ERR_USAGE, "'%s' is not one expression", text);
	}
	*ret = stmt;
	return 0;
}

int expression_compile(struct evaluator *ev, const char *text, struct expression **ret, struct err *e)
{
	sqlite3_stmt *stmt;
	struct expression *x;

	for (x = ev->first; x != NULL; x = x->next) {
		if (strcmp(x->text, text) == 0) {
			*ret = x;
			return 0;
		}
	}
	if (expression_prepare(ev, text, &stmt, e) < 0)
		return -1;
	x = xcalloc(1, sizeof(*x));
	*x = (struct expression){ .evaluator = ev, .next = ev->first, .text = xstrdup(text), .stmt = stmt };
	ev->first = x;
	*ret = x;
	return 0;
}

size_t expression_variables(const struct expression *x)
{
	return (size_t)sqlite3_bind_parameter_count(x->stmt);
}

const char *expression_variable(const struct expression *x, size_t i)
{
	return sqlite3_bind_parameter_name(x->stmt, (int)i + 1) + 1; /* the scan lets no nameless '?' through */
}

int expression_value(struct expression *x, expression_lookup_cb lookup, void *arg, double *ret, struct err *e)
{
	size_t n = expression_variables(x);
	int has_value = 0, rc;
	double v;

	for (size_t i = 0; i < n; i++) {
		if (lookup(arg, expression_variable(x, i), &v) < 0 || !isfinite(v))
			sqlite3_bind_null(x->stmt, (int)i + 1);
		else
			sqlite3_bind_double(x->stmt, (int)i + 1, v);
	}
	x->evaluator->n_calls = 0;
	rc = sqlite3_step(x->stmt);
	if (rc == SQLITE_ROW) {
		int type = sqlite3_column_type(x->stmt, 0);

		v = sqlite3_column_double(x->stmt, 0);
		has_value = (type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(v);
	}
	sqlite3_reset(x->stmt);
	if (rc != SQLITE_ROW)
		return err_set(e, ERR_TOOL, "expression '%s': %s", x->text, sqlite3_errmsg(x->evaluator->db));
	if (has_value)
		*ret = v;
	return has_value;
}
