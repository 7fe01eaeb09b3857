/* SPDX-License-Identifier: MIT
 *
 * Terms -> SQL; see store_select.h.  Hosts, plans, axes, values and metrics are small tables: they are read and
 * matched here by the filter's own rules, so that SQL only ever sees lists of ids.
 */
#include "schema/store_select.h"

#include <string.h>

#include "schema/store_internal.h"
#include "schema/unit.h"

/* Ids that matched, as the inside of IN (...), and the names seen, for "did you mean". */
struct ids {
	struct text list;
	size_t n;
	const char **names; /* owned array of arena strings */
	size_t n_names, cap_names;
};

static void ids_add(struct ids *ids, int64_t id)
{
	text_printf(&ids->list, "%s%lld", ids->n++ > 0 ? "," : "", (long long)id);
}

static void ids_name(struct ids *ids, const char *name, struct arena *a)
{
	if (ids->n_names > 0 && strcmp(ids->names[ids->n_names - 1], name) == 0) /* they come sorted */
		return;
	ARRAY_GROW(ids->names, ids->n_names, ids->cap_names);
	ids->names[ids->n_names++] = arena_strdup(a, name);
}

static void ids_done(struct ids *ids)
{
	text_done(&ids->list);
	free(ids->names);
}
#define AUTO_IDS __attribute__((cleanup(ids_done)))

void selection_done(struct selection *q)
{
	text_done(&q->cells);
	text_done(&q->results);
	text_done(&q->metrics);
}

static void condition_add(struct text *t, const char *condition)
{
	text_printf(t, "%s%s", t->n > 0 ? " AND " : "", condition);
}

static void condition_in(struct text *t, const char *what, enum filter_op op, const struct ids *ids)
{
	AUTO_FREE char *condition = xasprintf("%s %s (%s)", what, op == FILTER_NE ? "NOT IN" : "IN",
	                                      text_str(&ids->list));

	condition_add(t, condition);
}

static int unknown(const struct filter_term *t, const char *what, const char *word, const struct ids *known,
                   struct err *e)
{
	const char *nearest = text_nearest(word, known->names, known->n_names);
	AUTO_TEXT struct text all = { 0 };

	filter_fault(t, e, "no %s '%s' in this store", what, word);
	for (size_t i = 0; i < known->n_names && i < 12; i++)
		text_printf(&all, "%s%s", i > 0 ? ", " : "", known->names[i]);
	if (nearest != NULL)
		return err_hint(e, "did you mean '%s'?", nearest);
	if (known->n_names == 0)
		return err_hint(e, "there is no %s at all yet", what);
	return err_hint(e, "there are: %s%s", text_str(&all), known->n_names > 12 ? ", ..." : "");
}

/* Whether one of the term's words matches the text as a pattern, whatever the operator. */
static bool any_matches(const struct filter_term *t, const char *text)
{
	for (size_t i = 0; i < t->n_values; i++)
		if (filter_glob(t->values[i], text))
			return true;
	return false;
}

static bool is_pattern(const char *word)
{
	return strpbrk(word, "*?") != NULL;
}

/* Rows of (id, name): the ids whose name one of the words matches.  A word that is no pattern and matches none is a
 * fault. */
static int ids_by_name(struct store *s, const struct filter_term *t, const char *what, const char *sql, struct arena *a,
                       struct ids *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, sql, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ids_name(ret, column_borrow(st, 1), a);
		if (any_matches(t, column_borrow(st, 1)))
			ids_add(ret, column_int(st, 0));
	}
	for (size_t i = 0; rc == 0 && i < t->n_values; i++) {
		bool found = is_pattern(t->values[i]);

		for (size_t k = 0; k < ret->n_names && !found; k++)
			found = strcmp(ret->names[k], t->values[i]) == 0;
		if (!found)
			return unknown(t, what, t->values[i], ret, e);
	}
	return rc;
}

static int term_named(struct store *s, const struct filter_term *t, const char *what, const char *sql,
                      const char *column, struct text *to, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_IDS struct ids ids = { 0 };

	if (ids_by_name(s, t, what, sql, a, &ids, e) < 0)
		return -1;
	condition_in(to, column, t->op, &ids);
	return 0;
}

static int term_sweep(struct store *s, const struct filter_term *t, struct text *to, struct err *e)
{
	AUTO_IDS struct ids ids = { 0 };

	for (size_t i = 0; i < t->n_values; i++) {
		struct err why = { 0 };
		int64_t id;

		if (store_sweep_find(s, t->values[i], &id, &why) < 0)
			return filter_fault(t, e, "%s", why.text), err_hint(e, "%s", why.hint);
		ids_add(&ids, id);
	}
	condition_in(to, "c.sweep_id", t->op, &ids);
	return 0;
}

static int term_state(const struct filter_term *t, struct text *to, struct err *e)
{
	static const char *const states[] = { "ok",     "partial", "failed", "infeasible", "running", /* of cells */
		                              "queued", "paused",  "done",   "cancelled",  "imported" };
	AUTO_TEXT struct text cells = { 0 }, sweeps = { 0 };
	AUTO_FREE char *condition = NULL;

	for (size_t i = 0; i < t->n_values; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(states) && strcmp(states[k], t->values[i]) != 0)
			k++;
		if (k == ARRAY_SIZE(states)) {
			const char *nearest = text_nearest(t->values[i], states, ARRAY_SIZE(states));

			filter_fault(t, e, "no state '%s'", t->values[i]);
			return err_hint(e, "%s%s%scells are ok, partial, failed, infeasible or running; sweeps queued, paused, done, "
			                   "cancelled or imported", nearest ? "did you mean '" : "", nearest ? nearest : "",
			                nearest ? "'? " : "");
		}
		text_printf(k < 5 ? &cells : &sweeps, "%s'%s'", (k < 5 ? &cells : &sweeps)->n > 0 ? "," : "",
		            states[k]);
	}
	condition = xasprintf("%s(c.state IN (%s) OR w.state IN (%s))", t->op == FILTER_NE ? "NOT " : "",
	                      text_str(&cells), text_str(&sweeps));
	condition_add(to, condition);
	return 0;
}

static int term_flag(const struct filter_term *t, struct text *to, struct err *e)
{
	AUTO_TEXT struct text any = { 0 };

	for (size_t i = 0; i < t->n_values; i++) {
		if (strspn(t->values[i], "abcdefghijklmnopqrstuvwxyz-") != strlen(t->values[i]))
			return filter_fault(t, e, "'%s' is not a flag", t->values[i]);
		text_printf(&any, "%s' ' || r.flags || ' ' LIKE '%% %s %%'",
		            i > 0              ? " OR " :
		            t->op == FILTER_NE ? "NOT (" :
		                                 "(",
		            t->values[i]);
	}
	text_add(&any, ")");
	condition_add(to, text_str(&any));
	return 0;
}

/* ---- metrics ---- */

#define METRIC_KEYS \
	"SELECT DISTINCT m.id, x.name || '.' || m.name || CASE m.label WHEN '' THEN '' ELSE '{' || m.label || '}' END, " \
	"m.name, x.name || '.' || m.name, m.unit FROM (SELECT DISTINCT workload_id, name FROM sweep_workload) x " \
	"JOIN metric m ON m.workload_id = x.workload_id ORDER BY 2"

static bool metric_matches(const char *pattern, struct statement *st)
{
	return filter_glob(pattern, column_borrow(st, 1)) || strcmp(pattern, column_borrow(st, 2)) == 0 ||
	       filter_glob(pattern, column_borrow(st, 3));
}

/* Metrics that the pattern names; *ret_unit: of one of them. */
static int metrics_by_key(struct store *s, const char *pattern, struct arena *a, struct ids *ret, const char **ret_unit,
                          size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	*ret_n = 0;
	if (statement_open(s, &st, e, METRIC_KEYS, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ids_name(ret, column_borrow(st, 1), a);
		if (!metric_matches(pattern, st))
			continue;
		ids_add(ret, column_int(st, 0));
		*ret_unit = column_text(st, 4, a);
		(*ret_n)++;
	}
	return rc;
}

static int term_metric(struct store *s, const struct filter_term *t, struct selection *q, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_IDS struct ids ids = { 0 };

	for (size_t i = 0; i < t->n_values; i++) {
		const char *unit;
		size_t n;

		if (metrics_by_key(s, t->values[i], a, &ids, &unit, &n, e) < 0)
			return -1;
		if (n == 0 && !is_pattern(t->values[i]))
			return unknown(t, "metric", t->values[i], &ids, e);
	}
	condition_in(&q->metrics, "m.id", t->op, &ids);
	return 0;
}

/* WORKLOAD.METRIC>=500MB/s: cells that have such a result.  1 done, 0 no such metric. */
static int term_value(struct store *s, const struct filter_term *t, struct ids *known, struct arena *a, struct text *to,
                      struct err *e)
{
	static const char *const operators[] = { "=", "!=", ">=", ">", "<=", "<" };
	AUTO_IDS struct ids ids = { 0 };
	AUTO_FREE char *condition = NULL;
	const char *unit = "";
	struct err why = { 0 };
	char number[SIZE_TEXT];
	double v;
	size_t n;

	if (metrics_by_key(s, t->key, a, &ids, &unit, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < ids.n_names; i++)
		ids_name(known, ids.names[i], a);
	if (n == 0 || strchr(t->key, '.') == NULL)
		return 0;
	if (t->n_values != 1 || unit_parse(t->values[0], unit, &v, &why) < 0)
		return filter_fault(t, e, "%s", t->n_values != 1 ? "one number is expected" : why.text), err_hint(e, "%s", why.hint);
	condition = xasprintf("EXISTS (SELECT 1 FROM result z WHERE z.cell_id = c.id AND z.metric_id IN (%s) AND z.value %s %s)",
	                      text_str(&ids.list), operators[t->op], number_format(v, number));
	condition_add(to, condition);
	return 1;
}

/* ---- axes ---- */

/* Values of an axis sorted by whether the term holds for them. */
static int values_match(struct store *s, const struct filter_term *t, int64_t axis_id, struct ids *ret_match,
                        struct ids *ret_all, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT id, value FROM axis_value WHERE axis_id = ?", "i", axis_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ids_add(ret_all, column_int(st, 0));
		if (filter_matches(t, column_borrow(st, 1)))
			ids_add(ret_match, column_int(st, 0));
	}
	return rc;
}

/* What cells found in effect where the axis was left alone: a quoted list of those for which the term holds.
 * 'kernel-default' itself counts as well: readahead=kernel-default and readahead=128KiB both find such a cell. */
static int effective_match(struct store *s, const struct filter_term *t, int64_t axis_id, const char *lacking,
                           struct text *ret, bool *ret_unread, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	bool by_name = filter_matches(t, KERNEL_DEFAULT);
	AUTO_FREE char *sql = xasprintf("SELECT DISTINCT v.effective FROM cell y JOIN cell_value v ON v.cell_id = y.id AND v.axis_id = ? "
	                                "WHERE y.config_id IN (%s)", lacking);
	int rc;

	*ret_unread = by_name;
	if (statement_open(s, &st, e, sql, "i", axis_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		bool holds = column_is_null(st, 0) ? by_name : filter_matches(t, column_borrow(st, 0));

		if (column_is_null(st, 0) || !(t->op == FILTER_NE ? holds && by_name : holds || by_name))
			continue;
		char *quoted = sqlite3_mprintf("%Q", column_borrow(st, 0));

		text_printf(ret, "%s%s", ret->n > 0 ? "," : "", quoted);
		sqlite3_free(quoted);
	}
	return rc;
}

static int axis_condition(struct store *s, const struct filter_term *t, int64_t axis_id, struct text *ret,
                          struct err *e)
{
	AUTO_IDS struct ids match = { 0 }, all = { 0 };
	AUTO_FREE char *lacking = NULL, *probe = NULL;
	AUTO_TEXT struct text effective = { 0 };
	bool unread = false;
	int64_t any = 0;
	int found;

	if (values_match(s, t, axis_id, &match, &all, e) < 0)
		return -1;
	text_printf(ret, "c.config_id IN (SELECT config_id FROM config_value WHERE axis_value_id IN (%s))", text_str(&match.list));
	lacking = xasprintf("SELECT id FROM config WHERE id NOT IN (SELECT config_id FROM config_value WHERE axis_value_id IN (%s))",
	                    text_str(&all.list));
	probe = xasprintf("%s LIMIT 1", lacking);
	found = statement_int(s, &any, e, probe, "");
	if (found <= 0)
		return found;
	if (effective_match(s, t, axis_id, lacking, &effective, &unread, e) < 0)
		return -1;
	if (effective.n > 0 || unread) {
		AUTO_FREE char *first = xstrdup(ret->s);

		text_clear(ret);
		text_printf(ret, "(%s OR (c.config_id IN (%s) AND %sEXISTS (SELECT 1 FROM cell_value v WHERE v.cell_id = c.id "
		                 "AND v.axis_id = %lld AND %s(v.effective IN (%s)%s))))",
		            first, lacking, t->op == FILTER_NE ? "NOT " : "", (long long)axis_id, t->op == FILTER_NE ? "NOT " : "",
		            text_str(&effective), unread ? " OR v.effective IS NULL" : "");
	}
	return 0;
}

/* Sweeps that carry the label X for which a term label.X holds; 1 if any sweep has such a label. */
static int label_condition(struct store *s, const struct filter_term *t, struct ids *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc, any = 0;

	if (!text_starts(t->key, "label."))
		return 0;
	if (statement_open(s, &st, e, "SELECT sweep_id, value FROM sweep_label WHERE name = ? AND value <> ''", "t",
	                   t->key + strlen("label.")) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		any = 1;
		if (filter_matches(t, column_borrow(st, 1)) == (t->op != FILTER_NE))
			ids_add(ret, column_int(st, 0));
	}
	return rc < 0 ? -1 : any;
}

/* 1 done, 0 no such axis or label. */
static int term_axis(struct store *s, const struct filter_term *t, struct text *to, struct err *e)
{
	AUTO_TEXT struct text axis = { 0 }, both = { 0 };
	AUTO_IDS struct ids sweeps = { 0 };
	int64_t axis_id = 0;
	int is_axis = statement_int(s, &axis_id, e, "SELECT id FROM axis WHERE name = ?", "t", t->key);
	int is_label = is_axis < 0 ? -1 : label_condition(s, t, &sweeps, e);

	if (is_axis < 0 || is_label < 0)
		return -1;
	if (is_axis == 0 && is_label == 0)
		return 0;
	if (is_axis > 0 && axis_condition(s, t, axis_id, &axis, e) < 0)
		return -1;
	if (is_label == 0)
		condition_add(to, text_str(&axis));
	else if (t->op == FILTER_NE)
		text_printf(&both, "(%s AND c.sweep_id NOT IN (%s))", axis.n > 0 ? axis.s : "1",
		            text_str(&sweeps.list));
	else
		text_printf(&both, "(%s OR c.sweep_id IN (%s))", axis.n > 0 ? axis.s : "0", text_str(&sweeps.list));
	if (both.n > 0)
		condition_add(to, both.s);
	return 1;
}

/* ---- environment facts ---- */

/* 1 done, 0 no such fact. */
static int term_fact(struct store *s, const struct filter_term *t, struct text *to, struct err *e)
{
	const char *key = text_starts(t->key, "env.") ? t->key + 4 : t->key;
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_IDS struct ids ids = { 0 };
	AUTO_FREE char *condition = NULL;
	size_t n = 0;
	int rc;

	if (statement_open(s, &st, e, "SELECT environment_id, value FROM environment_fact WHERE key = ?", "t", key) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		n++;
		if (filter_matches(t, column_borrow(st, 1)))
			ids_add(&ids, column_int(st, 0));
	}
	if (rc < 0 || n == 0)
		return rc;
	condition = xasprintf("(SELECT t.environment_id FROM trial t WHERE t.cell_id = r.cell_id AND t.workload_id = m.workload_id "
	                      "AND t.state = 'ok' LIMIT 1) IN (%s)", text_str(&ids.list));
	condition_add(to, condition);
	return 1;
}

static int names_read(struct store *s, const char *sql, struct arena *a, struct ids *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, sql, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		ids_name(ret, column_borrow(st, 0), a);
	return rc;
}

static int term_by_name(struct store *s, const struct filter_term *t, struct selection *q, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_IDS struct ids known = { 0 };
	int rc = term_axis(s, t, &q->cells, e);

	q->has_axis = q->has_axis || rc > 0;
	if (rc == 0)
		rc = term_fact(s, t, &q->results, e);
	if (rc == 0)
		rc = term_value(s, t, &known, a, &q->cells, e);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (names_read(s, "SELECT name FROM axis ORDER BY name", a, &known, e) < 0 ||
	    names_read(s, "SELECT DISTINCT key FROM environment_fact", a, &known, e) < 0)
		return -1;
	for (size_t i = 0; i < 9; i++) {
		static const char *const words[] = { "host", "plan", "sweep", "workload", "metric", "state", "flag", "since", "until" };

		ids_name(&known, words[i], a);
	}
	return unknown(t, "axis, metric or fact", t->key, &known, e);
}

static int term_select(struct store *s, const struct filter_term *t, struct selection *q, struct err *e)
{
	AUTO_FREE char *condition = NULL;

	switch (t->kind) {
	case FILTER_NAMED:
		return term_by_name(s, t, q, e);
	case FILTER_HOST:
		return term_named(s, t, "host",
		                  "SELECT id, name FROM host UNION SELECT h.id, " HOST_LABEL " FROM host h ORDER BY 2",
		                  "w.host_id", &q->cells, e);
	case FILTER_PLAN:
		return term_named(s, t, "plan", "SELECT id, name FROM plan ORDER BY name", "w.plan_id", &q->cells, e);
	case FILTER_SWEEP:
		q->has_sweep = true;
		return term_sweep(s, t, &q->cells, e);
	case FILTER_WORKLOAD:
		return term_named(s, t, "workload",
		                  "SELECT workload_id, name FROM sweep_workload UNION SELECT id, name FROM workload ORDER BY 2",
		                  "m.workload_id", &q->metrics, e);
	case FILTER_METRIC:
		return term_metric(s, t, q, e);
	case FILTER_STATE:
		return term_state(t, &q->cells, e);
	case FILTER_FLAG:
		return term_flag(t, &q->results, e);
	case FILTER_SINCE:
	case FILTER_UNTIL:
		condition = xasprintf("c.started_ms %s %lld", t->kind == FILTER_SINCE ? ">=" : "<",
		                      (long long)t->at_ms);
		condition_add(&q->cells, condition);
		return 0;
	}
	return 0;
}

int store_select(struct store *s, const struct filter *f, struct selection *ret, struct err *e)
{
	struct selection q = { .no_details = f->no_details };

	for (size_t i = 0; i < f->n; i++) {
		q.no_details = q.no_details && f->at[i].kind != FILTER_METRIC;
		if (term_select(s, &f->at[i], &q, e) < 0) {
			selection_done(&q);
			return -1;
		}
	}
	if (q.cells.n == 0)
		text_add(&q.cells, "1");
	if (q.metrics.n > 0)
		condition_add(&q.results, q.metrics.s);
	if (q.results.n == 0)
		text_add(&q.results, "1");
	if (q.metrics.n == 0)
		text_add(&q.metrics, "1");
	*ret = q;
	return 0;
}

/* A rehearsal's figures count only where the sweep itself is asked for. */
static int rehearsals_leave_out(struct store *s, struct text *to, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_IDS struct ids ids = { 0 };
	int rc;

	if (statement_open(s, &st, e, "SELECT id FROM sweep WHERE options <> '{}' AND options ->> '$.rehearse'", "") <
	    0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		ids_add(&ids, column_int(st, 0));
	if (rc < 0 || ids.n == 0)
		return rc;
	if (strcmp(text_str(to), "1") == 0)
		text_clear(to);
	condition_in(to, "c.sweep_id", FILTER_NE, &ids);
	return 0;
}

int store_select_compared(struct store *s, const struct filter *f, struct selection *ret, struct err *e)
{
	if (store_select(s, f, ret, e) < 0)
		return -1;
	if (ret->has_sweep || rehearsals_leave_out(s, &ret->cells, e) == 0)
		return 0;
	selection_done(ret);
	return -1;
}

int store_select_sweeps(struct store *s, const struct filter *f, struct arena *a, int64_t **ret, size_t *ret_n,
                        struct err *e)
{
	AUTO_SELECTION struct selection q = { 0 };
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE char *sql = NULL;
	int64_t n = 0;
	int rc;

	if (store_select(s, f, &q, e) < 0 || statement_int(s, &n, e, "SELECT count(*) FROM sweep", "") < 0)
		return -1;
	sql = xasprintf("SELECT w.id FROM sweep w WHERE EXISTS (SELECT 1 FROM cell c WHERE c.sweep_id = w.id AND %s) ORDER BY w.id",
	                text_str(&q.cells));
	if (statement_open(s, &st, e, sql, "") < 0)
		return -1;
	*ret = arena_array(a, (size_t)n + 1, sizeof(**ret));
	*ret_n = 0;
	while ((rc = statement_next(st, e)) > 0 && *ret_n < (size_t)n)
		(*ret)[(*ret_n)++] = column_int(st, 0);
	return rc < 0 ? -1 : 0;
}
