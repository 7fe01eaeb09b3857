/* SPDX-License-Identifier: MIT
 *
 * Looks at a sweep while it runs; see store_watch.h.
 */
#include "schema/store_watch.h"

#include <string.h>

#include "schema/stats.h"
#include "schema/store_internal.h"

#define MEDIAN_MAX 1024 /* good trials of one cell that are looked at */

static int cell_watch(struct store *s, int64_t sweep_id, struct watched *w, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT id, position FROM cell WHERE sweep_id = ? AND state = 'running' ORDER BY started_ms DESC LIMIT 1",
	                   "i", sweep_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc > 0) {
		w->cell_id = column_int(st, 0);
		w->position = column_int(st, 1);
	}
	return rc < 0 ? -1 : 0;
}

static int values_watch(struct store *s, struct arena *a, struct watched *w, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t n = 0;
	int rc;

	if (statement_int(s, &n, e, "SELECT count(*) FROM cell_value WHERE cell_id = ?", "i", w->cell_id) < 0 ||
	    statement_open(s, &st, e,
	                   "SELECT x.name, v.requested, v.value FROM cell_value v JOIN axis x ON x.id = v.axis_id"
	                   " WHERE v.cell_id = ? ORDER BY x.name", "i", w->cell_id) < 0)
		return -1;
	w->values = arena_array(a, (size_t)n + 1, sizeof(*w->values));
	while ((rc = statement_next(st, e)) > 0 && w->n_values < (size_t)n)
		w->values[w->n_values++] = (struct shown_value){
			.axis = column_text(st, 0, a),
			.requested = column_text(st, 1, a),
			.value = column_text(st, 2, a),
			.verdict = "",
		};
	return rc < 0 ? -1 : 0;
}

static int trial_watch(struct store *s, struct arena *a, struct watched *w, int64_t *ret_workload_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT t.id, t.repetition, t.state = 'running', t.started_ms, t.workload_id, w.name"
	                   " FROM trial t JOIN cell c ON c.id = t.cell_id"
	                   " JOIN sweep_workload w ON w.sweep_id = c.sweep_id AND w.workload_id = t.workload_id"
	                   " WHERE t.cell_id = ? ORDER BY t.id DESC LIMIT 1", "i", w->cell_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	w->trial_id = column_int(st, 0);
	w->repetition = (int)column_int(st, 1);
	w->is_running = column_int(st, 2) != 0;
	w->trial_started_ms = column_int(st, 3);
	*ret_workload_id = column_int(st, 4);
	w->workload = column_text(st, 5, a);
	return 0;
}

static int median_watch(struct store *s, int64_t workload_id, struct arena *a, struct watched *w, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	double values[MEDIAN_MAX];
	int64_t metric = 0;
	size_t n = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT me.metric_id, m.name, m.label, m.unit, me.value FROM measurement me"
	                   " JOIN metric m ON m.id = me.metric_id"
	                   " WHERE me.cell_id = ? AND m.workload_id = ? AND m.better <> 'neither' AND NOT m.is_detail ORDER BY me.metric_id", "ii",
	                   w->cell_id, workload_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0 && n < MEDIAN_MAX) {
		if (n == 0) {
			const char *label = column_borrow(st, 2);

			metric = column_int(st, 0);
			w->metric = arena_printf(a, label[0] != '\0' ? "%s{%s}" : "%s%s", column_borrow(st, 1), label);
			w->unit = column_text(st, 3, a);
		}
		if (column_int(st, 0) != metric)
			break;
		values[n++] = column_real(st, 4);
	}
	if (n > 0)
		w->median = stats_median(values, n);
	w->n_good = (int64_t)n;
	return rc < 0 ? -1 : 0;
}

int store_watch(struct store *s, int64_t sweep_id, struct arena *a, struct watched *ret, struct err *e)
{
	struct watched w = { 0 };
	int64_t workload_id = 0;

	if (cell_watch(s, sweep_id, &w, e) < 0)
		return -1;
	if (w.cell_id != 0 && (values_watch(s, a, &w, e) < 0 || trial_watch(s, a, &w, &workload_id, e) < 0))
		return -1;
	if (w.workload != NULL && median_watch(s, workload_id, a, &w, e) < 0)
		return -1;
	*ret = w;
	return 0;
}

int store_trial_times(struct store *s, int64_t sweep_id, int64_t after_id, struct arena *a, struct trial_time **ret,
                      size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct trial_time *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	/* CROSS JOIN keeps the order of the tables: the sweep's cells, not all trials of the store */
	if (statement_open(s, &st, e,
	                   "SELECT t.id, t.started_ms, t.elapsed_ns FROM cell c CROSS JOIN trial t ON t.cell_id = c.id"
	                   " WHERE c.sweep_id = ? AND t.id > ? ORDER BY t.id", "ii", sweep_id, after_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		at[n++] = (struct trial_time){ column_int(st, 0), column_int(st, 1), column_int(st, 2) };
	}
	if (rc < 0)
		return -1;
	*ret = arena_array(a, n + 1, sizeof(**ret));
	if (n > 0)
		memcpy(*ret, at, n * sizeof(*at));
	*ret_n = n;
	return 0;
}

int store_events(struct store *s, int64_t sweep_id, int64_t after_id, struct arena *a, struct shown_event **ret,
                 size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct shown_event *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT id, at_ms, kind, text FROM event WHERE sweep_id = ? AND id > ? ORDER BY id", "ii",
	                   sweep_id, after_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		at[n++] = (struct shown_event){ column_int(st, 0), column_int(st, 1), column_text(st, 2, a), column_text(st, 3, a) };
	}
	if (rc < 0)
		return -1;
	*ret = arena_array(a, n + 1, sizeof(**ret));
	if (n > 0)
		memcpy(*ret, at, n * sizeof(*at));
	*ret_n = n;
	return 0;
}
