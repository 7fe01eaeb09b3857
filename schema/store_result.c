/* SPDX-License-Identifier: MIT
 *
 * What the trials of a cell, and of all cells of a sweep, give together: rows of result and result_flag.
 * A cell has a few hundred measurements at most; they are read in one pass, metric by metric in order of repetition.
 */
#include "schema/store_internal.h"

#include <math.h>
#include <string.h>

#include "schema/stats.h"

#define SPREAD_LIMIT 0.10
#define DRIFT_LIMIT  0.25

/* The good values of one metric in one cell. */
struct series {
	int64_t metric_id, workload_id;
	char name[128], unit[32];
	size_t n, cap;
	double *values;    /* owned; in order of repetition */
	int64_t *trial_ids;/* owned */
};

/* The cell a result is for. */
struct subject {
	int64_t cell_id, config_id, host_id;
	enum keep keep;
	int64_t workload_id;   /* of which `differs` tells; 0: of none yet */
	struct text differs;   /* what was not the same in all its trials; "" */
};

static void series_add(struct series *v, double value, int64_t trial_id)
{
	if (v->n == v->cap) {
		v->cap = v->cap > 0 ? 2 * v->cap : 8;
		v->values = xreallocarray(v->values, v->cap, sizeof(*v->values));
		v->trial_ids = xreallocarray(v->trial_ids, v->cap, sizeof(*v->trial_ids));
	}
	v->values[v->n] = value;
	v->trial_ids[v->n++] = trial_id;
}

static void series_done(struct series *v)
{
	free(v->values);
	free(v->trial_ids);
}

/* ---- flags ---- */

/* Flags of the good trials of a workload in a cell, and those of the metric itself: "cached drift". */
static int flags_join(struct store *s, const struct subject *c, const struct series *v, struct text *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT flag FROM trial_flag WHERE trial_id IN "
	                   "(SELECT id FROM trial WHERE cell_id = ? AND workload_id = ? AND state = 'ok') "
	                   "UNION SELECT flag FROM result_flag WHERE cell_id = ? AND metric_id = ? ORDER BY 1",
	                   "iiii", c->cell_id, v->workload_id, c->cell_id, v->metric_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		text_printf(ret, "%s%s", ret->n > 0 ? " " : "", column_borrow(st, 0));
	return rc;
}

static int flag_write(struct store *s, int64_t cell_id, int64_t metric_id, const char *flag, const char *origin,
                      const char *reason, struct err *e)
{
	return statement_run(s, e,
	                     "INSERT OR REPLACE INTO result_flag (cell_id, metric_id, flag, origin, reason) VALUES (?, ?, ?, ?, ?)",
	                     "iittt", cell_id, metric_id, flag, origin, reason);
}

static int spread_judge(struct store *s, int64_t cell_id, const struct series *v, double min, double max, struct err *e)
{
	double spread = stats_spread(min, max, stats_median(v->values, v->n));
	AUTO_FREE char *reason = NULL;
	char low[SIZE_TEXT], high[SIZE_TEXT];

	if (spread <= SPREAD_LIMIT)
		return 0;
	reason = xasprintf("%s from %s to %s %s: %.1f %% of the median", v->name, number_format(min, low),
	                   number_format(max, high), v->unit, 100 * spread);
	return flag_write(s, cell_id, v->metric_id, "spread", "cell", reason, e);
}

static int drift_judge(struct store *s, int64_t cell_id, const struct series *v, struct err *e)
{
	int direction = stats_drift(v->values, v->n, DRIFT_LIMIT);
	AUTO_FREE char *reason = NULL;
	char first[SIZE_TEXT], last[SIZE_TEXT];

	if (direction == 0)
		return 0;
	reason = xasprintf("%s %s from trial to trial, from %s to %s %s", v->name, direction > 0 ? "rises" : "falls",
	                   number_format(v->values[0], first), number_format(v->values[v->n - 1], last), v->unit);
	return flag_write(s, cell_id, v->metric_id, "drift", "cell", reason, e);
}

/* Whether the good trials of a workload ran under one environment, and if not, in what it differed.  A state that
 * changed between two trials (a controller that fell back to write-through) is not to be averaged over. */
static int environments_compare(struct store *s, struct subject *c, int64_t workload_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t n = 0;
	int rc;

	c->workload_id = workload_id;
	text_clear(&c->differs);
	if (statement_int(s, &n, e,
	                  "SELECT count(DISTINCT environment_id) FROM trial WHERE cell_id = ? AND workload_id = ? AND state = 'ok'",
	                  "ii", c->cell_id, workload_id) < 0)
		return -1;
	if (n < 2)
		return 0;
	if (statement_open(s, &st, e,
	                   "WITH v AS (SELECT f.key AS key, f.value AS value, min(t.repetition) AS first, "
	                   "count(DISTINCT t.environment_id) AS n "
	                   "FROM trial t JOIN environment_fact f ON f.environment_id = t.environment_id WHERE t.cell_id = ? "
	                   "AND t.workload_id = ? AND t.state = 'ok' AND f.class <> 'volatile' GROUP BY 1, 2 ORDER BY 1, 3) "
	                   "SELECT key, group_concat('''' || value || '''', ', then ') FROM v GROUP BY key "
	                   "HAVING count(*) > 1 OR sum(n) < ? ORDER BY key LIMIT 8", "iii", c->cell_id, workload_id, n) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		text_printf(&c->differs, "%s%s was %s", c->differs.n > 0 ? "; " : "", column_borrow(st, 0),
		            column_borrow(st, 1));
	return rc;
}

static int environment_judge(struct store *s, struct subject *c, const struct series *v, struct err *e)
{
	if (v->workload_id != c->workload_id && environments_compare(s, c, v->workload_id, e) < 0)
		return -1;
	return c->differs.n == 0 ? 0 : flag_write(s, c->cell_id, v->metric_id, "inconsistent", "cell", c->differs.s, e);
}

/* ---- results ---- */

static int left_out_count(struct store *s, const struct subject *c, int64_t workload_id, int64_t *ret, struct err *e)
{
	return statement_int(s, ret, e,
	                     "SELECT count(*) FROM trial WHERE cell_id = ? AND workload_id = ? AND state NOT IN ('ok', 'running')",
	                     "ii", c->cell_id, workload_id);
}

static int result_insert(struct store *s, const struct subject *c, const struct series *v, double min, double max,
                         struct err *e)
{
	int middle = c->keep == KEEP_MEAN ? -1 : stats_middle(v->values, v->n);
	double value = c->keep == KEEP_MEAN ? stats_mean(v->values, v->n) : stats_median(v->values, v->n);
	AUTO_TEXT struct text flags = { 0 };
	int64_t left_out = 0;

	if (flags_join(s, c, v, &flags, e) < 0 || left_out_count(s, c, v->workload_id, &left_out, e) < 0)
		return -1;
	return statement_run(
		s, e,
		"INSERT INTO result (cell_id, metric_id, host_id, config_id, value, min, max, n, left_out, trial_id, flags) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iiiirrriiIs", c->cell_id, v->metric_id, c->host_id, c->config_id, value,
		min, max, (int64_t)v->n, left_out, middle < 0 ? INT64_C(0) : v->trial_ids[middle], flags.s);
}

static int series_record(struct store *s, struct subject *c, const struct series *v, struct err *e)
{
	double min = v->values[0], max = v->values[0];

	for (size_t i = 1; i < v->n; i++) {
		min = fmin(min, v->values[i]);
		max = fmax(max, v->values[i]);
	}
	if (spread_judge(s, c->cell_id, v, min, max, e) < 0 || drift_judge(s, c->cell_id, v, e) < 0 ||
	    environment_judge(s, c, v, e) < 0)
		return -1;
	return result_insert(s, c, v, min, max, e);
}

/* Calls series_record for every run of rows with one metric. */
static int series_each(struct store *s, struct subject *c, struct statement *st, struct series *v, struct err *e)
{
	int rc;

	while ((rc = statement_next(st, e)) > 0) {
		if (v->n > 0 && column_int(st, 0) != v->metric_id) {
			if (series_record(s, c, v, e) < 0)
				return -1;
			v->n = 0;
		}
		if (v->n == 0) {
			v->metric_id = column_int(st, 0);
			v->workload_id = column_int(st, 1);
			snprintf(v->name, sizeof(v->name), "%s", column_borrow(st, 2));
			snprintf(v->unit, sizeof(v->unit), "%s", column_borrow(st, 3));
		}
		series_add(v, column_real(st, 4), column_int(st, 5));
	}
	return rc < 0 || v->n == 0 ? rc : series_record(s, c, v, e);
}

static int subject_read(struct store *s, int64_t cell_id, struct subject *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT c.config_id, w.host_id, w.keep FROM cell c JOIN sweep w ON w.id = c.sweep_id WHERE c.id = ?", "i",
	                   cell_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "there is no cell %lld", (long long)cell_id);
	*ret = (struct subject){
		.cell_id = cell_id,
		.config_id = column_int(st, 0),
		.host_id = column_int(st, 1),
		.keep = store_keep(column_borrow(st, 2)),
	};
	return 0;
}

int store_result_rows(struct store *s, int64_t cell_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct series v = { 0 };
	struct subject c;
	int rc;

	if (subject_read(s, cell_id, &c, e) < 0 ||
	    statement_run(s, e, "DELETE FROM result WHERE cell_id = ?", "i", cell_id) < 0 ||
	    statement_run(s, e, "DELETE FROM result_flag WHERE cell_id = ? AND origin = 'cell'", "i", cell_id) < 0)
		return -1;
	if (statement_open(s, &st, e,
	                   "SELECT m.metric_id, t.workload_id, x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END, "
	                   "x.unit, m.value, t.id FROM measurement m JOIN trial t ON t.id = m.trial_id "
	                   "JOIN metric x ON x.id = m.metric_id WHERE m.cell_id = ? AND t.state = 'ok' "
	                   "ORDER BY m.metric_id, t.repetition", "i", cell_id) < 0)
		return -1;
	rc = series_each(s, &c, st, &v, e);
	series_done(&v);
	text_done(&c.differs);
	return rc;
}

int store_result_update(struct store *s, int64_t cell_id, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	return store_finish(s, store_result_rows(s, cell_id, e), e);
}

/* ---- drift of a whole sweep ---- */

/* One cell in which a metric has three good trials. */
struct moved {
	int64_t cell_id;
	int direction;
};

/* One metric over the cells of a sweep. */
struct metric_moves {
	int64_t metric_id;
	char name[128];
	struct moved *at; /* owned */
	size_t n, cap;
};

static int move_flag(struct store *s, const struct metric_moves *m, int direction, size_t same, struct err *e)
{
	AUTO_FREE char *reason = xasprintf("%s %s from trial to trial in %zu of %zu cells of the sweep", m->name,
	                                   direction > 0 ? "rises" : "falls", same, m->n);

	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].direction == direction &&
		    flag_write(s, m->at[i].cell_id, m->metric_id, "drift", "sweep", reason, e) < 0)
			return -1;
	return 0;
}

/* Judges one metric when all its cells were seen. */
static int moves_judge(struct store *s, const struct metric_moves *m, struct err *e)
{
	size_t up = 0, down = 0;

	for (size_t i = 0; i < m->n; i++) {
		up += m->at[i].direction > 0;
		down += m->at[i].direction < 0;
	}
	if (m->n < SWEEP_DRIFT_CELLS || 3 * (up > down ? up : down) < 2 * m->n)
		return 0;
	return up > down ? move_flag(s, m, 1, up, e) : move_flag(s, m, -1, down, e);
}

static void move_add(struct metric_moves *m, int64_t cell_id, struct series *v)
{
	if (v->n >= 3) {
		ARRAY_GROW(m->at, m->n, m->cap);
		m->at[m->n++] = (struct moved){ .cell_id = cell_id, .direction = stats_drift(v->values, v->n, 0) };
	}
	v->n = 0;
}

static int moves_each(struct store *s, struct statement *st, struct metric_moves *m, struct series *v, struct err *e)
{
	int64_t cell_id = 0;
	int rc;

	while ((rc = statement_next(st, e)) > 0) {
		bool other_metric = column_int(st, 0) != m->metric_id;

		if (other_metric || column_int(st, 1) != cell_id)
			move_add(m, cell_id, v);
		if (other_metric) {
			if (moves_judge(s, m, e) < 0)
				return -1;
			m->n = 0;
			m->metric_id = column_int(st, 0);
			snprintf(m->name, sizeof(m->name), "%s", column_borrow(st, 2));
		}
		cell_id = column_int(st, 1);
		series_add(v, column_real(st, 3), column_int(st, 4));
	}
	if (rc < 0)
		return -1;
	move_add(m, cell_id, v);
	return moves_judge(s, m, e);
}

static int sweep_flags_find(struct store *s, int64_t sweep_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct metric_moves m = { 0 };
	struct series v = { 0 };
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT m.metric_id, m.cell_id, x.name || CASE x.label WHEN '' THEN '' ELSE '{' || x.label || '}' END, "
	                   "m.value, t.id FROM cell c JOIN measurement m ON m.cell_id = c.id JOIN trial t ON t.id = m.trial_id "
	                   "JOIN metric x ON x.id = m.metric_id WHERE c.sweep_id = ? AND t.state = 'ok' "
	                   "ORDER BY m.metric_id, m.cell_id, t.repetition", "i", sweep_id) < 0)
		return -1;
	rc = moves_each(s, st, &m, &v, e);
	series_done(&v);
	free(m.at);
	return rc;
}

/* Writes result.flags of those cells anew that have a flag of the sweep, now or before. */
static int sweep_flags_join(struct store *s, const int64_t *cell_ids, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (store_result_rows(s, cell_ids[i], e) < 0)
			return -1;
	return 0;
}

static int sweep_flagged_cells(struct store *s, int64_t sweep_id, int64_t **ret_ids, size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t cap = *ret_n;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT DISTINCT f.cell_id FROM cell c JOIN result_flag f ON f.cell_id = c.id "
	                   "WHERE c.sweep_id = ? AND f.origin = 'sweep'", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(*ret_ids, *ret_n, cap);
		(*ret_ids)[(*ret_n)++] = column_int(st, 0);
	}
	return rc;
}

static int sweep_drift_write(struct store *s, int64_t sweep_id, struct err *e)
{
	AUTO_FREE int64_t *before = NULL, *after = NULL;
	size_t n_before = 0, n_after = 0;

	if (sweep_flagged_cells(s, sweep_id, &before, &n_before, e) < 0 ||
	    statement_run(s, e,
	                  "DELETE FROM result_flag WHERE origin = 'sweep' AND cell_id IN (SELECT id FROM cell WHERE sweep_id = ?)",
	                  "i", sweep_id) < 0 ||
	    sweep_flags_find(s, sweep_id, e) < 0 || sweep_flags_join(s, before, n_before, e) < 0 ||
	    sweep_flagged_cells(s, sweep_id, &after, &n_after, e) < 0)
		return -1;
	return sweep_flags_join(s, after, n_after, e);
}

int store_sweep_drift(struct store *s, int64_t sweep_id, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	return store_finish(s, sweep_drift_write(s, sweep_id, e), e);
}
