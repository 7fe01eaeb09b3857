/* SPDX-License-Identifier: MIT
 *
 * See kept.h.  Four queries a trial: a sweep of 3,000 trials takes well below a second.
 */
#include "schema/kept.h"

#include <string.h>

#include "schema/store_internal.h"

static void param_set(struct kept_trial *t, const char *name, const char *value)
{
	for (size_t i = 0; i < t->n_params; i++)
		if (strcmp(t->params[i].name, name) == 0) {
			t->params[i].value = value;
			return;
		}
	t->params[t->n_params++] = (struct workload_param){ name, value };
}

/* The cell's own values of parameters: axes WORKLOAD.PARAM. */
static int settings_apply(struct store *s, struct kept_trial *t, struct arena *a, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct workload_param *params = arena_array(a, t->n_params + CELL_SETTINGS_MAX, sizeof(*params));
	size_t n = strlen(t->workload);
	int rc;

	if (t->n_params > 0)
		memcpy(params, t->params, t->n_params * sizeof(*params));
	t->params = params;
	if (statement_open(s, &st, e,
	                   "SELECT x.name, p.text FROM cell_setting c JOIN axis x ON x.id = c.axis_id "
	                   "JOIN spelling p ON p.id = c.value WHERE c.cell_id = ?", "i", t->cell_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		const char *name = column_borrow(st, 0);

		if (strncmp(name, t->workload, n) != 0 || name[n] != '.' ||
		    strcmp(column_borrow(st, 1), KERNEL_DEFAULT) == 0)
			continue;
		param_set(t, arena_strdup(a, name + n + 1), column_text(st, 1, a));
	}
	return rc;
}

static int facts_read(struct store *s, struct kept_trial *t, struct statement *row, struct arena *a, struct err *e)
{
	static const struct {
		const char *name;
		int column;
		double unit;
	} columns[] = { { "elapsed", 7, 1e9 }, { "user", 8, 1e9 }, { "system", 9, 1e9 }, { "read_bytes", 10, 1 }, { "written_bytes", 11, 1 } };
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct fact *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (column_is_null(row, columns[i].column))
			continue;
		ARRAY_GROW(at, n, cap);
		at[n++] = (struct fact){ columns[i].name, (double)column_int(row, columns[i].column) / columns[i].unit };
	}
	if (statement_open(s, &st, e, "SELECT key, value FROM trial_fact WHERE trial_id = ?", "i", t->id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		at[n++] = (struct fact){ column_text(st, 0, a), column_real(st, 1) };
	}
	ARRAY_GROW(at, n, cap);
	at[n++] = (struct fact){ "repetition", t->repetition };
	ARRAY_GROW(at, n, cap);
	at[n++] = (struct fact){ "exit_status", t->exit_status };
	t->facts = rows_keep(a, at, n, sizeof(*at));
	t->n_facts = n;
	return rc;
}

static int measured_read(struct store *s, struct kept_trial *t, struct arena *a, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct measured *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT m.name, m.label, m.unit, v.value FROM measurement v JOIN metric m ON m.id = v.metric_id "
	                   "WHERE v.cell_id = ? AND v.trial_id = ? ORDER BY m.id", "ii", t->cell_id, t->id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		at[n++] = (struct measured){ .name = column_text(st, 0, a),
			                     .label = column_text(st, 1, a),
			                     .unit = column_text(st, 2, a),
			                     .value = column_real(st, 3),
			                     .found_by = "" };
	}
	t->measured = rows_keep(a, at, n, sizeof(*at));
	t->n_measured = n;
	return rc;
}

static int trial_read(struct store *s, struct statement *row, struct arena *a, struct kept_trial *t, struct err *e)
{
	*t = (struct kept_trial){
		.id = column_int(row, 0), .cell_id = column_int(row, 1), .workload_id = column_int(row, 2),
		.workload = column_text(row, 3, a), .repetition = (int)column_int(row, 4), .state = column_text(row, 5, a),
		.exit_status = column_int(row, 12) != 0 ? 128 + (int)column_int(row, 12) : (int)column_int(row, 6),
		.definition = column_text(row, 13, a),
		.source = column_text(row, 14, a),
	};
	if (workload_params_from_json(column_borrow(row, 15), a, &t->params, &t->n_params, e) < 0 ||
	    settings_apply(s, t, a, e) < 0 || facts_read(s, t, row, a, e) < 0)
		return -1;
	return measured_read(s, t, a, e);
}

int store_kept_trials(struct store *s, int64_t sweep_id, struct arena *a, struct kept_trial **ret, size_t *ret_n,
                      struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct kept_trial *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT t.id, t.cell_id, t.workload_id, sw.name, t.repetition, t.state, t.exit_status, t.elapsed_ns, "
	                   "t.user_ns, t.system_ns, nullif(t.read_bytes, -1), nullif(t.written_bytes, -1), t.exit_signal, w.name, w.definition, "
	                   "w.parameters FROM trial t JOIN cell c ON c.id = t.cell_id JOIN workload w ON w.id = t.workload_id "
	                   "JOIN sweep_workload sw ON sw.sweep_id = c.sweep_id AND sw.workload_id = t.workload_id "
	                   "WHERE c.sweep_id = ? AND t.state IN ('ok', 'failed') "
	                   "AND EXISTS (SELECT 1 FROM output o WHERE o.trial_id = t.id) "
	                   "ORDER BY c.position, sw.position, t.repetition, t.id", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		if (trial_read(s, st, a, &at[n++], e) < 0)
			return -1;
	}
	if (rc < 0)
		return -1;
	*ret = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}

static int measured_add(struct store *s, const struct kept_trial *t, const struct measured *m, struct err *e)
{
	int64_t metric_id;

	if (store_metric_id(s, t->workload_id, m, &metric_id, e) < 0)
		return -1;
	return statement_run(s, e, "INSERT OR IGNORE INTO measurement (cell_id, metric_id, trial_id, value) VALUES (?, ?, ?, ?)",
	                     "iiir", t->cell_id, metric_id, t->id, m->value);
}

int store_kept_add(struct store *s, const struct kept_trial *t, const struct measured *measured, size_t n,
                   struct err *e)
{
	int rc = 0;

	if (store_begin(s, e) < 0)
		return -1;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = measured_add(s, t, &measured[i], e);
	if (rc == 0)
		rc = store_result_rows(s, t->cell_id, e);
	return store_finish(s, rc, e);
}
