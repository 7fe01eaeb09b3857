/* SPDX-License-Identifier: MIT
 *
 * One sweep for `show`: its cells with settings and results, or its trials with what they measured.  Settings and
 * results are read cell by cell as numbers, and the few texts behind them (spellings, metrics) are looked up once
 * each: a sweep of 1,000 cells takes some milliseconds, however large the store is.  Trials are in
 * store_show_trials.c.
 */
#include "schema/store_texts.h"

#include <string.h>

#include "schema/store_select.h"

/* ---- cells ---- */

struct cells {
	struct shown_cell *at; /* owned; by position */
	size_t n, cap;
};

static int cells_read(struct store *s, int64_t sweep_id, const struct selection *q, struct arena *a, struct cells *ret,
                      struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE char *sql = xasprintf("SELECT c.id, c.position, g.digest, c.state, c.reason FROM cell c JOIN config g ON g.id = c.config_id "
	                                "JOIN sweep w ON w.id = c.sweep_id WHERE c.sweep_id = ? AND %s ORDER BY c.position, c.id",
	                                text_str(&q->cells));
	int rc;

	if (statement_open(s, &st, e, sql, "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		struct shown_cell *c;

		ARRAY_GROW(ret->at, ret->n, ret->cap);
		c = &ret->at[ret->n++];
		*c = (struct shown_cell){
			.id = column_int(st, 0),
			.position = column_int(st, 1),
			.state = store_cell_state(column_borrow(st, 3)),
			.reason = column_text(st, 4, a),
		};
		column_copy(st, 2, c->config, sizeof(c->config));
	}
	return rc;
}

static int value_compare(const void *a, const void *b)
{
	const struct shown_value *x = a, *y = b;

	return strcmp(x->axis, y->axis);
}

/* The settings of one cell, sorted by axis. */
static int values_read(struct texts *t, struct shown_cell *c, struct err *e)
{
	static const char *const verdicts[] = { "", "confirmed", "implied", "unconfirmed", "contradicted" };
	AUTO_STATEMENT struct statement *st = NULL;
	struct shown_value at[2 * CELL_SETTINGS_MAX]; /* those of the plan, and those found to matter */
	size_t n = 0;
	int rc;

	if (statement_open(t->s, &st, e,
	                   "SELECT x.name, s.requested, s.value, s.effective, s.verdict FROM cell_setting s "
	                   "JOIN axis x ON x.id = s.axis_id WHERE s.cell_id = ?", "i", c->id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0 && n < ARRAY_SIZE(at)) {
		struct shown_value *v = &at[n++];
		size_t verdict = (size_t)column_int(st, 4);

		*v = (struct shown_value){ .axis = column_text(st, 0, t->a), .verdict = verdicts[verdict % ARRAY_SIZE(verdicts)] };
		if (texts_spelling(t, column_int(st, 1), &v->requested, e) < 0 ||
		    texts_spelling(t, column_int(st, 2), &v->value, e) < 0 ||
		    texts_spelling(t, column_int(st, 3), &v->effective, e) < 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	qsort(at, n, sizeof(*at), value_compare);
	c->values = rows_keep(t->a, at, n, sizeof(*at));
	c->n_values = n;
	return 0;
}

/* A result with the place of its metric. */
struct placed {
	struct shown_result result;
	int64_t order;
};

static int placed_compare(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

/* results_sql: one parameter, the cell. */
static int placed_read(struct texts *t, const char *results_sql, int64_t cell_id, struct placed **at, size_t *n,
                       size_t *cap, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(t->s, &st, e, results_sql, "i", cell_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		const struct shown_metric *m = texts_metric(t, column_int(st, 0));

		if (m == NULL) /* not of a workload of this sweep */
			continue;
		ARRAY_GROW(*at, *n, *cap);
		(*at)[(*n)++] = (struct placed){
			.order = m->order,
			.result = {
				.key = m->key,
				.value = column_real(st, 1),
				.min = column_real(st, 2),
				.max = column_real(st, 3),
				.n = column_int(st, 4),
				.left_out = column_int(st, 5),
				.trial_id = column_int(st, 6),
				.unit = m->unit,
				.flags = column_text(st, 7, t->a),
				.better = m->better,
				.is_detail = m->is_detail,
			},
		};
	}
	return rc;
}

/* Settings and results of all cells; the array of results is used again for each. */
static int cells_fill(struct texts *t, const struct selection *q, struct cells *cells, struct err *e)
{
	AUTO_FREE char *results_sql = xasprintf("SELECT r.metric_id, r.value, r.min, r.max, r.n, r.left_out, r.trial_id, r.flags FROM result r "
	                                        "%sWHERE r.cell_id = ? AND %s",
	                                        strcmp(text_str(&q->results), "1") == 0 ? "" : "JOIN metric m ON m.id = r.metric_id ",
	                                        text_str(&q->results));
	AUTO_FREE struct placed *at = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < cells->n; i++) {
		struct shown_cell *c = &cells->at[i];
		size_t n = 0;

		if (values_read(t, c, e) < 0 || placed_read(t, results_sql, c->id, &at, &n, &cap, e) < 0)
			return -1;
		if (n > 1)
			qsort(at, n, sizeof(*at), placed_compare);
		c->results = arena_array(t->a, n, sizeof(*c->results));
		c->n_results = n;
		for (size_t k = 0; k < n; k++)
			c->results[k] = at[k].result;
	}
	return 0;
}

static int sweep_cells_read(struct texts *t, int64_t sweep_id, const struct filter *f, struct cells *cells,
                            struct err *e)
{
	AUTO_SELECTION struct selection q = { 0 };

	if (store_select(t->s, f, &q, e) < 0 || cells_read(t->s, sweep_id, &q, t->a, cells, e) < 0 ||
	    texts_metrics_read(t, sweep_id, e) < 0)
		return -1;
	return cells_fill(t, &q, cells, e);
}

int store_show_selected(struct store *s, int64_t sweep_id, const struct filter *f, struct arena *a,
                        struct shown_cell **ret, size_t *ret_n, struct err *e)
{
	struct texts t = { .s = s, .a = a };
	struct cells cells = { 0 };
	int rc;

	if (store_begin(s, e) < 0) /* one snapshot for all queries */
		return -1;
	rc = store_finish(s, sweep_cells_read(&t, sweep_id, f, &cells, e), e);
	if (rc == 0) {
		*ret = rows_keep(a, cells.at, cells.n, sizeof(*cells.at));
		*ret_n = cells.n;
	}
	free(cells.at);
	texts_done(&t);
	return rc;
}

int store_show_cells(struct store *s, int64_t sweep_id, struct arena *a, struct shown_cell **ret, size_t *ret_n,
                     struct err *e)
{
	const struct filter all = { 0 };

	return store_show_selected(s, sweep_id, &all, a, ret, ret_n, e);
}
