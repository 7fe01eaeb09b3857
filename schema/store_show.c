/* SPDX-License-Identifier: MIT
 *
 * One sweep for `show`: its cells with settings and results, or its trials with what they measured.  Each list is two
 * or three queries over the sweep's cells, merged by cell; a sweep of 1,000 cells takes some milliseconds, however
 * large the store is.
 */
#include "schema/store_internal.h"

#include <string.h>

/* The metric as it is shown, "dd-read.throughput{4KiB}": x is metric, w sweep_workload. */
#define METRIC_KEY "w.name || '.' || x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END"

static enum better better_of(const char *name)
{
	for (enum better b = BETTER_HIGHER; b < BETTER_NEITHER; b++)
		if (strcmp(better_name(b), name) == 0)
			return b;
	return BETTER_NEITHER;
}

/* ---- cells ---- */

struct cells {
	struct shown_cell *at; /* owned; by position */
	size_t n, cap;
};

static int cells_read(struct store *s, int64_t sweep_id, struct arena *a, struct cells *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT c.id, c.position, g.digest, c.state, c.reason FROM cell c JOIN config g ON g.id = c.config_id "
	                   "WHERE c.sweep_id = ? ORDER BY c.position, c.id", "i", sweep_id) < 0)
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

/* The next cell, from *i on, that a row of the same order belongs to. */
static struct shown_cell *cell_seek(struct cells *cells, size_t *i, int64_t id)
{
	while (*i < cells->n && cells->at[*i].id != id)
		++*i;
	return *i < cells->n ? &cells->at[*i] : NULL;
}

/* One value for each axis of the cells; the rows of a cell follow each other, as room is made for all of them. */
static int values_read(struct store *s, int64_t sweep_id, struct arena *a, struct cells *cells, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t i = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT c.id, x.name, v.requested, v.value, v.effective, v.verdict, "
	                   "(SELECT count(*) FROM cell_setting n WHERE n.cell_id = c.id) "
	                   "FROM cell c JOIN cell_value v ON v.cell_id = c.id JOIN axis x ON x.id = v.axis_id "
	                   "WHERE c.sweep_id = ? ORDER BY c.position, c.id, x.name", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		struct shown_cell *c = cell_seek(cells, &i, column_int(st, 0));

		if (c == NULL)
			break;
		if (c->values == NULL)
			c->values = arena_array(a, (size_t)column_int(st, 6), sizeof(*c->values));
		c->values[c->n_values++] = (struct shown_value){
			.axis = column_text(st, 1, a),
			.requested = column_text(st, 2, a),
			.value = column_text(st, 3, a),
			.effective = column_is_null(st, 4) ? NULL : column_text(st, 4, a),
			.verdict = column_text(st, 5, a),
		};
	}
	return rc < 0 ? -1 : 0;
}

static int results_read(struct store *s, int64_t sweep_id, struct arena *a, struct cells *cells, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t i = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT c.id, " METRIC_KEY ", r.value, r.min, r.max, r.n, r.left_out, r.trial_id, x.unit, r.flags, "
	                   "x.better, (SELECT count(*) FROM result n WHERE n.cell_id = c.id) "
	                   "FROM cell c JOIN result r ON r.cell_id = c.id JOIN metric x ON x.id = r.metric_id "
	                   "JOIN sweep_workload w ON w.sweep_id = c.sweep_id AND w.workload_id = x.workload_id "
	                   "WHERE c.sweep_id = ? ORDER BY c.position, c.id, w.position, x.id", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		struct shown_cell *c = cell_seek(cells, &i, column_int(st, 0));

		if (c == NULL)
			break;
		if (c->results == NULL)
			c->results = arena_array(a, (size_t)column_int(st, 11), sizeof(*c->results));
		c->results[c->n_results++] = (struct shown_result){
			.key = column_text(st, 1, a),
			.value = column_real(st, 2),
			.min = column_real(st, 3),
			.max = column_real(st, 4),
			.n = column_int(st, 5),
			.left_out = column_int(st, 6),
			.trial_id = column_int(st, 7),
			.unit = column_text(st, 8, a),
			.flags = column_text(st, 9, a),
			.better = better_of(column_borrow(st, 10)),
		};
	}
	return rc < 0 ? -1 : 0;
}

static int sweep_cells_read(struct store *s, int64_t sweep_id, struct arena *a, struct cells *cells, struct err *e)
{
	if (cells_read(s, sweep_id, a, cells, e) < 0 || values_read(s, sweep_id, a, cells, e) < 0)
		return -1;
	return results_read(s, sweep_id, a, cells, e);
}

int store_show_cells(struct store *s, int64_t sweep_id, struct arena *a, struct shown_cell **ret, size_t *ret_n,
                     struct err *e)
{
	struct cells cells = { 0 };
	int rc;

	if (store_begin(s, e) < 0) /* one snapshot for the three queries */
		return -1;
	rc = store_finish(s, sweep_cells_read(s, sweep_id, a, &cells, e), e);
	if (rc == 0) {
		*ret = rows_keep(a, cells.at, cells.n, sizeof(*cells.at));
		*ret_n = cells.n;
	}
	free(cells.at);
	return rc;
}

/* ---- trials ---- */

struct trials {
	struct shown_trial *at; /* owned; by id */
	size_t n, cap;
};

/* Flags of the trial itself, and, if it is good, those that the cell's results have: blank-separated, sorted. */
#define TRIAL_FLAGS \
	"(SELECT group_concat(flag, ' ') FROM (SELECT flag FROM trial_flag WHERE trial_id = t.id " \
	"UNION SELECT f.flag FROM result_flag f JOIN metric x ON x.id = f.metric_id " \
	"WHERE f.cell_id = t.cell_id AND x.workload_id = t.workload_id AND t.state = 'ok' ORDER BY 1))"

static int trials_read(struct store *s, int64_t sweep_id, struct arena *a, struct trials *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT t.id, t.cell_id, w.name, t.state, t.reason, " TRIAL_FLAGS ", t.repetition, "
	                   "coalesce(t.exit_status, -1), t.exit_signal, t.started_ms, t.elapsed_ns, t.user_ns, t.system_ns, "
	                   "t.read_bytes, t.written_bytes FROM cell c JOIN trial t ON t.cell_id = c.id "
	                   "JOIN sweep_workload w ON w.sweep_id = c.sweep_id AND w.workload_id = t.workload_id "
	                   "WHERE c.sweep_id = ? ORDER BY t.id", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(ret->at, ret->n, ret->cap);
		ret->at[ret->n++] = (struct shown_trial){
			.id = column_int(st, 0),
			.cell_id = column_int(st, 1),
			.workload = column_text(st, 2, a),
			.state = column_text(st, 3, a),
			.reason = column_text(st, 4, a),
			.flags = column_text(st, 5, a),
			.repetition = (int)column_int(st, 6),
			.exit_status = (int)column_int(st, 7),
			.exit_signal = (int)column_int(st, 8),
			.started_ms = column_int(st, 9),
			.elapsed_ns = column_int(st, 10),
			.user_ns = column_int(st, 11),
			.system_ns = column_int(st, 12),
			.read_bytes = column_int(st, 13),
			.written_bytes = column_int(st, 14),
		};
	}
	return rc;
}

/* Measurements lie by cell; they are sorted by trial here, so that each is found going forward. */
static int measurements_read(struct store *s, int64_t sweep_id, struct arena *a, struct trials *trials, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t i = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT m.trial_id, " METRIC_KEY ", x.unit, m.value, count(*) OVER (PARTITION BY m.trial_id) "
	                   "FROM cell c JOIN measurement m ON m.cell_id = c.id JOIN metric x ON x.id = m.metric_id "
	                   "JOIN sweep_workload w ON w.sweep_id = c.sweep_id AND w.workload_id = x.workload_id "
	                   "WHERE c.sweep_id = ? ORDER BY m.trial_id, x.id", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		struct shown_trial *t;

		while (i < trials->n && trials->at[i].id != column_int(st, 0))
			i++;
		if (i == trials->n)
			break;
		t = &trials->at[i];
		if (t->measured == NULL)
			t->measured = arena_array(a, (size_t)column_int(st, 4), sizeof(*t->measured));
		t->measured[t->n_measured++] = (struct shown_measurement){
			.key = column_text(st, 1, a),
			.unit = column_text(st, 2, a),
			.value = column_real(st, 3),
		};
	}
	return rc < 0 ? -1 : 0;
}

int store_show_trials(struct store *s, int64_t sweep_id, struct arena *a, struct shown_trial **ret, size_t *ret_n,
                      struct err *e)
{
	struct trials trials = { 0 };
	int rc;

	if (store_begin(s, e) < 0)
		return -1;
	rc = trials_read(s, sweep_id, a, &trials, e);
	if (rc == 0)
		rc = measurements_read(s, sweep_id, a, &trials, e);
	rc = store_finish(s, rc, e);
	if (rc == 0) {
		*ret = rows_keep(a, trials.at, trials.n, sizeof(*trials.at));
		*ret_n = trials.n;
	}
	free(trials.at);
	return rc;
}
