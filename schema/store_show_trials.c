/* SPDX-License-Identifier: MIT
 *
 * The trials of one sweep for `show --trials`: attempts included, with flags and measurements.  A thousand cells have
 * some thousand trials; flags are looked up trial by trial, since few have any.
 */
#include "schema/store_texts.h"

#include <string.h>

struct trials {
	struct shown_trial *at; /* owned; by id */
	int64_t *workload_ids;  /* owned; beside at */
	size_t n, cap, cap_ids;
};

static int trials_read(struct store *s, int64_t sweep_id, struct arena *a, struct trials *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT t.id, t.cell_id, w.name, t.state, t.reason, t.workload_id, t.repetition, "
	                   "coalesce(t.exit_status, -1), t.exit_signal, t.started_ms, coalesce(t.elapsed_ns, -1), coalesce(t.user_ns, -1), "
	                   "coalesce(t.system_ns, -1), coalesce(t.read_bytes, -1), coalesce(t.written_bytes, -1) FROM cell c JOIN trial t ON t.cell_id = c.id "
	                   "JOIN sweep_workload w ON w.sweep_id = c.sweep_id AND w.workload_id = t.workload_id "
	                   "WHERE c.sweep_id = ? ORDER BY t.id", "i", sweep_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		size_t n = ret->n;

		ARRAY_GROW(ret->workload_ids, n, ret->cap_ids);
		ARRAY_GROW(ret->at, n, ret->cap);
		ret->workload_ids[n] = column_int(st, 5);
		ret->at[n] = (struct shown_trial){
			.id = column_int(st, 0),
			.cell_id = column_int(st, 1),
			.workload = column_text(st, 2, a),
			.state = column_text(st, 3, a),
			.reason = column_text(st, 4, a),
			.flags = "",
			.flag_reasons = "",
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
		ret->n++;
	}
	return rc;
}

/* A flag stands once, also if it has several reasons. */
static void flag_take(const char *flag, const char *reason, struct text *flags, struct text *reasons)
{
	const char *last = strrchr(text_str(flags), ' ');

	last = last != NULL ? last + 1 : text_str(flags);
	if (strcmp(last, flag) != 0)
		text_printf(flags, "%s%s", flags->n > 0 ? " " : "", flag);
	if (reason[0] != '\0')
		text_printf(reasons, "%s%s: %s", reasons->n > 0 ? "; " : "", flag, reason);
}

/* Flags of the trial itself, and, if it is good, those that its metrics have in the cell.  What one metric's numbers
 * show, such as their spread, is told by these; what else is behind a flag is told in words. */
static int flags_read(struct store *s, struct arena *a, struct shown_trial *t, int64_t workload_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_TEXT struct text flags = { 0 }, reasons = { 0 };
	int rc;

	if (strcmp(t->state, "ok") == 0)
		rc = statement_open(s, &st, e,
		                    "SELECT flag, reason FROM trial_flag WHERE trial_id = ? UNION "
		                    "SELECT f.flag, CASE f.flag WHEN 'inconsistent' THEN f.reason ELSE '' END FROM result_flag f "
		                    "JOIN metric x ON x.id = f.metric_id WHERE f.cell_id = ? AND x.workload_id = ? ORDER BY 1", "iii",
		                    t->id, t->cell_id, workload_id);
	else
		rc = statement_open(s, &st, e, "SELECT flag, reason FROM trial_flag WHERE trial_id = ? ORDER BY flag",
		                    "i", t->id);
	if (rc < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		flag_take(column_borrow(st, 0), column_borrow(st, 1), &flags, &reasons);
	if (rc == 0 && flags.n > 0)
		t->flags = arena_strdup(a, flags.s);
	if (rc == 0 && reasons.n > 0)
		t->flag_reasons = arena_strdup(a, reasons.s);
	return rc;
}

/* The measurements of one trial. */
static int measured_read(struct texts *t, struct shown_trial *trial, int64_t workload_id, struct shown_measurement **at,
                         size_t *cap, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t n = 0;
	int rc;

	if (strcmp(trial->state, "ok") != 0)
		return 0;
	if (statement_open(t->s, &st, e,
	                   "SELECT x.id, m.value FROM metric x JOIN measurement m ON m.cell_id = ? AND m.metric_id = x.id "
	                   "AND m.trial_id = ? WHERE x.workload_id = ? ORDER BY x.id", "iii", trial->cell_id, trial->id,
	                   workload_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		const struct shown_metric *m = texts_metric(t, column_int(st, 0));

		if (m == NULL)
			continue;
		ARRAY_GROW(*at, n, *cap);
		(*at)[n++] = (struct shown_measurement){ .key = m->key, .unit = m->unit, .value = column_real(st, 1) };
	}
	if (rc < 0)
		return -1;
	trial->measured = rows_keep(t->a, *at, n, sizeof(**at));
	trial->n_measured = n;
	return 0;
}

static int trials_fill(struct texts *t, struct trials *trials, struct err *e)
{
	AUTO_FREE struct shown_measurement *at = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < trials->n; i++)
		if (flags_read(t->s, t->a, &trials->at[i], trials->workload_ids[i], e) < 0 ||
		    measured_read(t, &trials->at[i], trials->workload_ids[i], &at, &cap, e) < 0)
			return -1;
	return 0;
}

int store_show_trials(struct store *s, int64_t sweep_id, struct arena *a, struct shown_trial **ret, size_t *ret_n,
                      struct err *e)
{
	struct texts t = { .s = s, .a = a };
	struct trials trials = { 0 };
	int rc;

	if (store_begin(s, e) < 0)
		return -1;
	rc = trials_read(s, sweep_id, a, &trials, e);
	if (rc == 0)
		rc = texts_metrics_read(&t, sweep_id, e);
	if (rc == 0)
		rc = trials_fill(&t, &trials, e);
	rc = store_finish(s, rc, e);
	if (rc == 0) {
		*ret = rows_keep(a, trials.at, trials.n, sizeof(*trials.at));
		*ret_n = trials.n;
	}
	free(trials.at);
	free(trials.workload_ids);
	texts_done(&t);
	return rc;
}
