/* SPDX-License-Identifier: MIT
 *
 * Cells and trials as the worker records them.  Two transactions a trial: one before it runs, one when it ended.
 * What the trials of a cell give together is in store_result.c.
 */
#include "schema/store_internal.h"

#include <string.h>

static const char *const cell_states[] = {
	[CELL_RUNNING] = "running",
	[CELL_OK] = "ok",
	[CELL_INFEASIBLE] = "infeasible",
	[CELL_FAILED] = "failed",
	[CELL_PARTIAL] = "partial",
};

const char *cell_state_name(enum cell_state state)
{
	return cell_states[state];
}

enum cell_state store_cell_state(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cell_states); i++)
		if (strcmp(cell_states[i], name) == 0)
			return (enum cell_state)i;
	return CELL_RUNNING;
}

static bool cell_is_ended(enum cell_state state)
{
	return state == CELL_OK || state == CELL_INFEASIBLE || state == CELL_FAILED;
}

/* ---- configs ---- */

int store_axis_id(struct store *s, const char *name, int64_t *ret_id, struct err *e)
{
	int found = statement_int(s, ret_id, e, "SELECT id FROM axis WHERE name = ?", "t", name);

	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(s, ret_id, e, "INSERT INTO axis (name) VALUES (?)", "t", name);
}

static int axis_value_id(struct store *s, const char *axis, const char *value, int64_t *ret_id, struct err *e)
{
	int64_t axis_id;
	double number;
	int found;

	if (store_axis_id(s, axis, &axis_id, e) < 0)
		return -1;
	found = statement_int(s, ret_id, e, "SELECT id FROM axis_value WHERE axis_id = ? AND value = ?", "it", axis_id,
	                      value);
	if (found != 0)
		return found < 0 ? -1 : 0;
	if (number_parse(value, &number) < 0)
		return statement_insert(s, ret_id, e, "INSERT INTO axis_value (axis_id, value) VALUES (?, ?)", "it",
		                        axis_id, value);
	return statement_insert(s, ret_id, e, "INSERT INTO axis_value (axis_id, value, number) VALUES (?, ?, ?)", "itr",
	                        axis_id, value, number);
}

static int config_write(struct store *s, const struct cell *c, int64_t *ret_id, struct err *e)
{
	AUTO_TEXT struct text canonical = { 0 };
	uint8_t digest[DIGEST_SIZE];
	int found;

	cell_config(c, &canonical, digest);
	found = statement_int(s, ret_id, e, "SELECT id FROM config WHERE digest = ?", "d", digest);
	if (found != 0)
		return found < 0 ? -1 : 0;
	if (statement_insert(s, ret_id, e, "INSERT INTO config (digest) VALUES (?)", "d", digest) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++) {
		int64_t value_id;

		if (strcmp(c->at[i].value, KERNEL_DEFAULT) == 0)
			continue;
		if (axis_value_id(s, c->at[i].axis, c->at[i].value, &value_id, e) < 0 ||
		    statement_run(s, e, "INSERT INTO config_value (axis_value_id, config_id) VALUES (?, ?)", "ii",
		                  value_id, *ret_id) < 0)
			return -1;
	}
	return 0;
}

/* ---- cells ---- */

static int spelling_id(struct store *s, const char *text, int64_t *ret_id, struct err *e)
{
	int found = statement_int(s, ret_id, e, "SELECT id FROM spelling WHERE text = ?", "t", text);

	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(s, ret_id, e, "INSERT INTO spelling (text) VALUES (?)", "t", text);
}

static int setting_insert(struct store *s, int64_t cell_id, const struct setting *at, struct err *e)
{
	int64_t axis_id, requested, value;

	if (store_axis_id(s, at->axis, &axis_id, e) < 0 || spelling_id(s, at->value, &value, e) < 0 ||
	    spelling_id(s, at->requested != NULL ? at->requested : at->value, &requested, e) < 0)
		return -1;
	return statement_run(s, e, "INSERT INTO cell_setting (cell_id, axis_id, requested, value) VALUES (?, ?, ?, ?)",
	                     "iiii", cell_id, axis_id, requested, value);
}

static int cell_insert(struct store *s, int64_t sweep_id, int64_t config_id, const struct cell *c, int64_t *ret_id,
                       struct err *e)
{
	if (statement_insert(s, ret_id, e,
	                     "INSERT INTO cell (sweep_id, config_id, position, state, started_ms) VALUES (?, ?, ?, 'running', ?)",
	                     "iiii", sweep_id, config_id, (int64_t)c->position, now_ms()) < 0)
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (setting_insert(s, *ret_id, &c->at[i], e) < 0)
			return -1;
	return 0;
}

static int ended_count(struct store *s, int64_t cell_id, int change, struct err *e)
{
	return statement_run(s, e,
	                     "UPDATE sweep SET cells_ended = cells_ended + ? WHERE id = (SELECT sweep_id FROM cell WHERE id = ?)",
	                     "ii", (int64_t)change, cell_id);
}

/* Looks a cell up: 1 found, 0 not, -1 failed. */
static int cell_lookup(struct store *s, int64_t sweep_id, int64_t config_id, int64_t *ret_id,
                       enum cell_state *ret_state, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT id, state FROM cell WHERE sweep_id = ? AND config_id = ?", "ii", sweep_id,
	                   config_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	*ret_id = column_int(st, 0);
	*ret_state = store_cell_state(column_borrow(st, 1));
	return 1;
}

static int cell_start(struct store *s, int64_t sweep_id, const struct cell *c, int64_t *ret_id,
                      enum cell_state *ret_before, struct err *e)
{
	int64_t config_id;
	int found;

	if (config_write(s, c, &config_id, e) < 0)
		return -1;
	*ret_before = CELL_RUNNING;
	found = cell_lookup(s, sweep_id, config_id, ret_id, ret_before, e);
	if (found < 0)
		return -1;
	if (found == 0)
		return cell_insert(s, sweep_id, config_id, c, ret_id, e);
	if (cell_is_ended(*ret_before) && ended_count(s, *ret_id, -1, e) < 0)
		return -1;
	return statement_run(s, e, "UPDATE cell SET state = 'running', reason = '', ended_ms = NULL WHERE id = ?", "i",
	                     *ret_id);
}

int store_cell_begin(struct store *s, int64_t sweep_id, const struct cell *c, int64_t *ret_id,
                     enum cell_state *ret_before, struct err *e)
{
	enum cell_state before = CELL_RUNNING;
	int64_t id = 0;

	if (store_begin(s, e) < 0 || store_finish(s, cell_start(s, sweep_id, c, &id, &before, e), e) < 0)
		return err_in(e, "begin cell %llu", (unsigned long long)c->position);
	*ret_id = id;
	*ret_before = before;
	return 0;
}

static int verdict_number(const char *verdict, int64_t *ret, struct err *e)
{
	static const char *const names[] = { "", "confirmed", "implied", "unconfirmed", "contradicted" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(verdict != NULL ? verdict : "", names[i]) == 0) {
			*ret = (int64_t)i;
			return 0;
		}
	}
	return err_set(e, ERR_STORE, "'%s' is no verdict on a setting", verdict);
}

/* An axis that the cell does not name is one that was found to matter: left as found, and recorded. */
static int effective_write(struct store *s, int64_t cell_id, const char *axis, const char *effective,
                           const char *verdict, struct err *e)
{
	int64_t axis_id, left, effective_id = 0, number;

	if (verdict_number(verdict, &number, e) < 0 || store_axis_id(s, axis, &axis_id, e) < 0 ||
	    spelling_id(s, KERNEL_DEFAULT, &left, e) < 0 ||
	    (effective != NULL && spelling_id(s, effective, &effective_id, e) < 0))
		return -1;
	return statement_run(s, e,
	                     "INSERT INTO cell_setting (cell_id, axis_id, requested, value, effective, verdict) "
	                     "VALUES (?1, ?2, ?3, ?3, ?4, ?5) ON CONFLICT (cell_id, axis_id) "
	                     "DO UPDATE SET effective = excluded.effective, verdict = excluded.verdict",
	                     "iiiIi", cell_id, axis_id, left, effective_id, number);
}

int store_cell_effective(struct store *s, int64_t cell_id, const char *axis, const char *effective, const char *verdict,
                         struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	return store_finish(s, effective_write(s, cell_id, axis, effective, verdict, e), e);
}

static int step_output_write(struct store *s, int64_t cell_id, int64_t n, const char *text, struct err *e)
{
	struct packed out;
	int rc;

	text_pack(text, strlen(text), &out);
	rc = statement_run(s, e, "INSERT INTO step_output (cell_id, n, bytes, kept, data) VALUES (?, ?, ?, ?, ?)",
	                   "iiiib", cell_id, n, (int64_t)strlen(text), (int64_t)out.kept, out.data, out.n);
	free(out.data);
	return rc;
}

/* An undo goes into the row of its run, if that is in this cell. */
static int undo_time_write(struct store *s, int64_t cell_id, const struct step_time *t, int64_t *ret_n, struct err *e)
{
	int found = statement_int(s, ret_n, e,
	                          "SELECT max(n) FROM step_time WHERE cell_id = ? AND step = ? AND undo_ns IS NULL",
	                          "it", cell_id, t->step);

	if (found <= 0)
		return found;
	if (statement_run(s, e, "UPDATE step_time SET undo_ns = ? WHERE cell_id = ? AND n = ?", "iii", t->elapsed_ns,
	                  cell_id, *ret_n) < 0)
		return -1;
	return 1;
}

static int step_write(struct store *s, int64_t cell_id, const struct step_time *t, struct err *e)
{
	bool is_undo = strcmp(t->state, "undone") == 0;
	int64_t n = 0;
	int done = is_undo ? undo_time_write(s, cell_id, t, &n, e) : 0;

	if (done == 0) {
		if (statement_int(s, &n, e, "SELECT coalesce(max(n), 0) + 1 FROM step_time WHERE cell_id = ?", "i",
		                  cell_id) < 0)
			return -1;
		done = statement_run(s, e, "INSERT INTO step_time (cell_id, n, step, run_ns, undo_ns, failed) VALUES (?, ?, ?, ?, ?, ?)",
		                     is_undo ? "iit-ii" : "iiti-i", cell_id, n, t->step, t->elapsed_ns,
		                     (int64_t)(strcmp(t->state, "failed") == 0));
	}
	if (done < 0 || t->detail == NULL || t->detail[0] == '\0' || is_undo)
		return done < 0 ? -1 : 0;
	return step_output_write(s, cell_id, n, t->detail, e);
}

/* A cell that ends leaves no trial behind as running, so that only running cells have any. */
static int trials_end(struct store *s, int64_t cell_id, const char *reason, struct err *e)
{
	return statement_run(s, e, "UPDATE trial SET state = 'interrupted', reason = ? WHERE cell_id = ? AND state = 'running'", "si",
	                     reason, cell_id);
}

static int cell_finish(struct store *s, int64_t cell_id, enum cell_state state, const char *reason,
                       const struct step_time *steps, size_t n, struct err *e)
{
	if (statement_run(s, e, "UPDATE cell SET state = ?, reason = ?, ended_ms = ? WHERE id = ?", "tsii",
	                  cell_states[state], reason, now_ms(), cell_id) < 0)
		return -1;
	if ((cell_is_ended(state) && ended_count(s, cell_id, 1, e) < 0) || trials_end(s, cell_id, reason, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (step_write(s, cell_id, &steps[i], e) < 0)
			return -1;
	return store_result_rows(s, cell_id, e);
}

int store_cell_end(struct store *s, int64_t cell_id, enum cell_state state, const char *reason,
                   const struct step_time *steps, size_t n, struct err *e)
{
	if (store_begin(s, e) < 0 || store_finish(s, cell_finish(s, cell_id, state, reason, steps, n, e), e) < 0)
		return err_in(e, "end of a cell");
	return 0;
}

int store_cell_find(struct store *s, int64_t sweep_id, const uint8_t digest[32], bool *ret_exists, int64_t *ret_id,
                    enum cell_state *ret_state, struct err *e)
{
	int64_t config_id;
	int found = statement_int(s, &config_id, e, "SELECT id FROM config WHERE digest = ?", "d", digest);

	if (found > 0)
		found = cell_lookup(s, sweep_id, config_id, ret_id, ret_state, e);
	if (found < 0)
		return -1;
	*ret_exists = found > 0;
	return 0;
}

/* ---- trials ---- */

int store_trial_begin(struct store *s, int64_t cell_id, int64_t workload_id, int repetition, int64_t *ret_id,
                      struct err *e)
{
	/* A clock that was set back must not give two attempts one start: the second gets the next free millisecond. */
	if (statement_insert(s, ret_id, e,
	                     "INSERT INTO trial (cell_id, workload_id, repetition, state, started_ms) VALUES (?1, ?2, ?3, 'running', "
	                     "max(?4, coalesce((SELECT max(started_ms) + 1 FROM trial "
	                     "WHERE cell_id = ?1 AND workload_id = ?2 AND repetition = ?3), 0)))", "iiii", cell_id, workload_id,
	                     (int64_t)repetition, now_ms()) < 0)
		return err_in(e, "begin trial %d", repetition);
	return 0;
}

int store_metric_id(struct store *s, int64_t workload_id, const struct measured *m, int64_t *ret_id, struct err *e)
{
	const char *label = m->label != NULL ? m->label : "";
	int found = statement_int(s, ret_id, e,
	                          "SELECT id FROM metric WHERE workload_id = ? AND name = ? AND label = ?", "itt",
	                          workload_id, m->name, label);

	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(s, ret_id, e, "INSERT INTO metric (workload_id, name, label, unit, better, is_detail) VALUES (?, ?, ?, ?, ?, ?)",
	                        "itttti", workload_id, m->name, label, m->unit, better_name(m->better), (int64_t)m->is_detail);
}

static int measurements_write(struct store *s, int64_t trial_id, int64_t cell_id, int64_t workload_id,
                              const struct trial_end *t, struct err *e)
{
	for (size_t i = 0; i < t->n_measured; i++) {
		int64_t metric_id;

		if (store_metric_id(s, workload_id, &t->measured[i], &metric_id, e) < 0 ||
		    statement_run(s, e,
		                  "INSERT INTO measurement (cell_id, metric_id, trial_id, value) VALUES (?, ?, ?, ?)",
		                  "iiir", cell_id, metric_id, trial_id, t->measured[i].value) < 0)
			return err_in(e, "metric '%s'", t->measured[i].name);
	}
	return 0;
}

static int output_write(struct store *s, int64_t trial_id, const struct capture *c, struct err *e)
{
	struct packed out;
	int rc;

	if (c->n == 0)
		return 0;
	text_pack(c->data, c->n, &out);
	rc = statement_run(s, e,
	                   "INSERT INTO output (trial_id, step, stream, bytes, kept, data) VALUES (?, ?, ?, ?, ?, ?)",
	                   "ittiib", trial_id, c->step, c->stream, (int64_t)(c->n_printed > c->n ? c->n_printed : c->n),
	                   (int64_t)out.kept, out.data, out.n);
	free(out.data);
	return rc;
}

int store_trial_flag(struct store *s, int64_t trial_id, const char *flag, const char *reason, struct err *e)
{
	return statement_run(s, e,
	                     "INSERT INTO trial_flag (trial_id, flag, reason) VALUES (?, ?, ?) "
	                     "ON CONFLICT (trial_id, flag) DO UPDATE SET reason = excluded.reason", "its", trial_id, flag, reason);
}

static int trial_extras_write(struct store *s, int64_t trial_id, const struct trial_end *t, struct err *e)
{
	for (size_t i = 0; i < t->n_flags; i++)
		if (store_trial_flag(s, trial_id, t->flags[i].flag, t->flags[i].reason, e) < 0)
			return -1;
	for (size_t i = 0; i < t->n_facts; i++)
		if (statement_run(s, e, "INSERT OR REPLACE INTO trial_fact (trial_id, key, value) VALUES (?, ?, ?)",
		                  "itr", trial_id, t->facts[i].name, t->facts[i].value) < 0)
			return -1;
	for (size_t i = 0; i < t->n_captures; i++)
		if (output_write(s, trial_id, &t->captures[i], e) < 0)
			return err_in(e, "output of '%s'", t->captures[i].step);
	return 0;
}

static int trial_update(struct store *s, int64_t trial_id, const struct trial_end *t, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(s, &st, e,
	                   "UPDATE trial SET state = ?, reason = ?, environment_id = ?, elapsed_ns = ?, user_ns = ?, system_ns = ?, "
	                   "read_bytes = nullif(?, -1), written_bytes = nullif(?, -1), exit_status = nullif(?, -1), exit_signal = ? WHERE id = ?",
	                   "tsIiiiiiiIi", t->state, t->reason, t->environment_id, t->elapsed_ns, t->user_ns, t->system_ns,
	                   t->read_bytes, t->written_bytes, (int64_t)t->exit_status, (int64_t)t->exit_signal, trial_id) < 0)
		return -1;
	return statement_next(st, e);
}

static int trial_finish(struct store *s, int64_t trial_id, const struct trial_end *t, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t cell_id, workload_id;
	int rc;

	if (statement_open(s, &st, e, "SELECT cell_id, workload_id FROM trial WHERE id = ? AND state = 'running'", "i",
	                   trial_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_STORE, "trial %lld is not running", (long long)trial_id);
	cell_id = column_int(st, 0);
	workload_id = column_int(st, 1);
	statement_done(TAKE(st));
	if (trial_update(s, trial_id, t, e) < 0 || trial_extras_write(s, trial_id, t, e) < 0)
		return -1;
	if (strcmp(t->state, "ok") != 0)
		return 0;
	if (measurements_write(s, trial_id, cell_id, workload_id, t, e) < 0)
		return -1;
	return statement_run(s, e,
	                     "UPDATE sweep SET trials_ok = trials_ok + 1 WHERE id = (SELECT sweep_id FROM cell WHERE id = ?)", "i",
	                     cell_id);
}

int store_trial_end(struct store *s, int64_t trial_id, const struct trial_end *t, struct err *e)
{
	if (store_begin(s, e) < 0 || store_finish(s, trial_finish(s, trial_id, t, e), e) < 0)
		return err_in(e, "record a trial");
	return 0;
}

int store_trials_done(struct store *s, int64_t cell_id, int64_t workload_id, int n, bool *ret_done, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e,
	                   "SELECT repetition FROM trial WHERE cell_id = ? AND workload_id = ? AND state = 'ok'", "ii", cell_id,
	                   workload_id) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		ret_done[i] = false;
	while ((rc = statement_next(st, e)) > 0) {
		int64_t repetition = column_int(st, 0);

		if (repetition >= 1 && repetition <= n)
			ret_done[repetition - 1] = true;
	}
	return rc;
}

static int trials_stop(struct store *s, int64_t sweep_id, const char *reason, struct err *e)
{
	if (statement_run(s, e,
	                  "UPDATE trial SET state = 'interrupted', reason = ? WHERE state = 'running' "
	                  "AND cell_id IN (SELECT id FROM cell WHERE sweep_id = ? AND state = 'running')", "si", reason, sweep_id) < 0)
		return -1;
	return statement_run(s, e,
	                     "UPDATE cell SET state = 'partial', reason = ? WHERE sweep_id = ? AND state = 'running'",
	                     "si", reason, sweep_id);
}

int store_trials_interrupt(struct store *s, int64_t sweep_id, const char *reason, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	return store_finish(s, trials_stop(s, sweep_id, reason, e), e);
}
