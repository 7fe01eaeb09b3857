/* SPDX-License-Identifier: MIT
 *
 * The walk over the cells; see sweep.h.
 *
 *   nested, random   one pass: all trials of a cell, workload by workload
 *   rounds           as many passes as trials: one trial of each workload per visit
 */
#include "daemon/worker/sweep.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "daemon/worker/hang.h"
#include "daemon/worker/record.h"
#include "daemon/worker/trial.h"

#define WANTED_CHECK_NS INT64_C(200000000)
#define ALL_REPETITIONS 0

/* One visit of a cell. */
struct visit {
	struct worker *w;
	struct runner *r;
	int only;                  /* repetition, or ALL_REPETITIONS */
	int64_t environment_id;
	enum cell_state state;     /* so far: CELL_OK, CELL_INFEASIBLE or CELL_FAILED */
	const char *reason;
};

static int wanted_read(struct worker *w, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep now;

	if (store_sweep_get(w->store, w->sweep_id, a, &now, e) < 0)
		return -1;
	w->sweep.wanted = now.wanted;
	return 0;
}

int sweep_check_wanted(struct worker *w, struct err *e)
{
	static int64_t checked_ns;
	struct pollfd p = { .fd = w->cancel_fd, .events = POLLIN };
	bool is_told = poll(&p, 1, 0) > 0;

	if (hang_check(e) < 0)
		return -1;
	if (!is_told && clock_ns() - checked_ns < WANTED_CHECK_NS)
		return 0;
	if (wanted_read(w, e) < 0)
		return -1;
	checked_ns = clock_ns();
	if (is_told || w->sweep.wanted != WANT_NOTHING)
		return err_set(e, ERR_CANCELLED, "asked to stop");
	return 0;
}

/* A failure that no other cell would be spared. */
static bool is_end_of_sweep(const struct err *e)
{
	switch (e->kind) {
	case ERR_CANCELLED:
	case ERR_DEVICE_LOST:
	case ERR_STORE:
	case ERR_NO_SPACE:
		return true;
	case ERR_NONE:
	case ERR_USAGE:
	case ERR_SYSTEM:
	case ERR_TOOL:
	case ERR_TIMEOUT:
	case ERR_INFEASIBLE:
	case ERR_MISMATCH:
	case ERR_REFUSED:
	case ERR_BUSY:
	case ERR_PROTOCOL:
	case ERR_NOT_FOUND:
	case ERR_UNREACHABLE:
	case ERR_N_KINDS:
		break;
	}
	return false;
}

/* who: the workload, or NULL for the cell as a whole. */
static void visit_worse(struct visit *v, enum cell_state state, const char *who, const char *reason)
{
	if (v->state == CELL_FAILED || (v->state == CELL_INFEASIBLE && state == CELL_INFEASIBLE))
		return;
	v->state = state;
	v->reason = arena_printf(v->w->cell_arena, "%s%s%s", who != NULL ? who : "", who != NULL ? ": " : "", reason);
}

static void visit_trial(struct visit *v, const struct bench *b, int repetition, const struct trial_report *report)
{
	struct worker *w = v->w;

	record_hint(w, "trial", "cell %llu, %s %d: %s%s", (unsigned long long)w->cell->position + 1, b->def->name,
	            repetition,
	            report->verdict == TRIAL_OK         ? "ok" :
	            report->verdict == TRIAL_INFEASIBLE ? "infeasible: " :
	                                                  "failed: ",
	            report->reason);
	switch (report->verdict) {
	case TRIAL_OK:
		break;
	case TRIAL_INFEASIBLE:
		visit_worse(v, CELL_INFEASIBLE, b->def->name, report->reason);
		break;
	case TRIAL_FAILED:
		visit_worse(v, CELL_FAILED, b->def->name, report->reason);
		break;
	}
}

/* Before each trial.  Nothing is held open meanwhile: a program of the host may take its time. */
static int environment_update(struct visit *v, struct err *e)
{
	AUTO_ARENA struct arena *a = NULL;
	struct environment_fact *facts;
	struct worker *w = v->w;
	size_t n;

	/* A directory's surroundings do not change with the cell; a controller may all the same. */
	if (w->environment_id != 0 && w->claimed.kind == TARGET_DIRECTORY && w->config->n_facts == 0) {
		v->environment_id = w->environment_id;
		return 0;
	}
	if (w->config->n_facts > 0 && record_commit(w, e) < 0)
		return -1;
	a = arena_new();
	if (environment_collect(w, a, &facts, &n, e) < 0 ||
	    store_environment(w->store, facts, n, &w->environment_id, e) < 0)
		return -1;
	v->environment_id = w->environment_id;
	return 0;
}

/* `prepare` failed, or the work directory could not be made: the first missing repetition carries the reason. */
static int bench_failed(struct visit *v, struct bench *b, int repetition, const struct phase_end *phase,
                        struct err *why, struct err *e)
{
	struct trial_report report;
	int rc = trial_record_failure(b, repetition, v->environment_id, phase, why, &report, e);

	if (rc == 0)
		visit_trial(v, b, repetition, &report);
	return rc;
}

static int bench_begin(struct visit *v, struct bench *b, int repetition, bool *ret_is_open, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct phase_end phase = { 0 };
	struct err why = { 0 };

	*ret_is_open = false;
	*ret_is_open = workload_installed(b->def->definition, &why) == 0 && bench_open(b, a, &phase, &why) == 0;
	if (*ret_is_open)
		return 0;
	return bench_failed(v, b, repetition, &phase, &why, e);
}

static int bench_end(struct visit *v, struct bench *b, struct err *e)
{
	struct err why = { 0 };

	if (bench_close(b, false, &why) == 0)
		return 0;
	if (is_end_of_sweep(&why)) {
		*e = why;
		return -1;
	}
	visit_worse(v, CELL_FAILED, b->def->name, why.text);
	return 0;
}

/* `fresh: trial`: everything from mkfs up is done again, `prepare` included. */
static int bench_refresh(struct visit *v, struct bench *b, int repetition, bool *ret_is_open, struct err *e)
{
	if (bench_end(v, b, e) < 0 || runner_refresh(v->r, e) < 0 || settings_verify(v->w, "after a fresh mkfs", e) < 0)
		return -1;
	return bench_begin(v, b, repetition, ret_is_open, e);
}

/* The next repetition after `repetition` that this visit is to run, or 0. */
static int repetition_next(const struct visit *v, const bool *done, int repetition)
{
	while (++repetition <= v->w->plan->trials)
		if (!done[repetition - 1] && (v->only == ALL_REPETITIONS || repetition == v->only))
			return repetition;
	return 0;
}

static int trials_run(struct visit *v, struct bench *b, const bool *done, struct err *e)
{
	bool is_open = false, is_first = true;

	for (int repetition = repetition_next(v, done, 0), next; repetition > 0; repetition = next) {
		struct trial_report report;

		next = repetition_next(v, done, repetition);
		if (sweep_check_wanted(v->w, e) < 0)
			return -1;
		if (is_first && (environment_update(v, e) < 0 || bench_begin(v, b, repetition, &is_open, e) < 0))
			return -1;
		if (!is_first && v->r->fresh == FRESH_TRIAL && bench_refresh(v, b, repetition, &is_open, e) < 0)
			return -1;
		if (!is_open)
			return 0;
		if (!is_first && environment_update(v, e) < 0)
			return -1;
		is_first = false;
		if (trial_run(b, repetition, next > 0 && v->r->fresh != FRESH_TRIAL, v->environment_id, &report, e) < 0)
			return -1;
		visit_trial(v, b, repetition, &report);
		if (report.verdict == TRIAL_INFEASIBLE)
			return 0;
	}
	return 0;
}

static int workload_run(struct visit *v, size_t workload, struct err *e)
{
	struct worker *w = v->w;
	bool *done = arena_array(w->cell_arena, (size_t)w->plan->trials, sizeof(*done));
	struct bench b;
	int rc;

	if (store_trials_done(w->store, w->cell_id, w->workloads[workload].workload_id, w->plan->trials, done, e) < 0)
		return -1;
	bench_init(&b, w, workload, w->cell_arena);
	rc = trials_run(v, &b, done, e);
	if (record_commit(w, rc == 0 ? e : NULL) < 0)
		rc = -1;
	if (rc < 0) {
		struct err ignored;

		bench_close(&b, true, &ignored); /* the first failure is the one to tell; what is left goes with the filesystem */
		return -1;
	}
	return bench_end(v, &b, e);
}

static int cell_work(struct visit *v, struct err *e)
{
	if (settings_verify(v->w, "after setting", e) < 0)
		return -1;
	for (size_t i = 0; i < v->w->n_workloads; i++)
		if (cell_has_workload(v->w->plan, v->w->cell, i) && workload_run(v, i, e) < 0)
			return -1;
	return 0;
}

static int cell_end(struct visit *v, enum cell_state state, const char *reason, struct err *e)
{
	struct worker *w = v->w;
	int rc = record_batch(w, true, e); /* shared with the beginning of the next cell */

	if (rc == 0)
		rc = store_cell_end(w->store, w->cell_id, state, reason, v->r->times, v->r->n_times, e);
	runner_times_clear(v->r);
	record_hint(w, "cell", "cell %llu: %s%s%s", (unsigned long long)w->cell->position + 1, cell_state_name(state),
	           reason[0] != '\0' ? ": " : "", reason);
	return rc;
}

/* The target itself cannot be had: no other cell would fare better. */
static bool is_refused_claim(const struct visit *v, const struct err *e)
{
	return !v->r->is_begun[STEP_CLAIM] && e->kind != ERR_INFEASIBLE;
}

static int cell_failed(struct visit *v, const struct err *why, struct err *e)
{
	v->w->is_target_refused |= is_refused_claim(v, why);
	if (!is_end_of_sweep(why) && !v->r->has_undo_failed && !v->w->is_target_refused) {
		visit_worse(v, why->kind == ERR_INFEASIBLE ? CELL_INFEASIBLE : CELL_FAILED, NULL, why->text);
		return cell_end(v, v->state, v->reason, e);
	}
	cell_end(v, CELL_PARTIAL, why->kind == ERR_CANCELLED ? "" : why->text, NULL); /* visited again when the sweep goes on */
	*e = *why;
	return -1;
}

/* After the last of several rounds: what failed in an earlier one still lacks a good trial. */
static int visit_judge(struct visit *v, struct err *e)
{
	struct worker *w = v->w;
	int n = w->plan->trials;
	bool *done = arena_array(w->cell_arena, (size_t)n, sizeof(*done));

	for (size_t i = 0; i < w->n_workloads && v->only != ALL_REPETITIONS && v->state == CELL_OK; i++) {
		if (!cell_has_workload(w->plan, w->cell, i))
			continue;
		if (store_trials_done(w->store, w->cell_id, w->workloads[i].workload_id, n, done, e) < 0)
			return -1;
		for (int k = 0; k < n; k++)
			if (!done[k])
				visit_worse(v, CELL_FAILED, w->workloads[i].name, "a trial of an earlier round failed");
	}
	return 0;
}

static int cell_visit(struct visit *v, const struct cell *c, struct err *e)
{
	struct worker *w = v->w;
	enum cell_state before;
	struct err why = { 0 };
	bool is_last = v->only == ALL_REPETITIONS || v->only == w->plan->trials;

	arena_free(w->cell_arena);
	w->cell_arena = arena_new();
	v->state = CELL_OK;
	v->reason = "";
	w->cell = c;
	if (store_cell_begin(w->store, w->sweep_id, c, &w->cell_id, &before, e) < 0 || record_commit(w, e) < 0)
		return -1;
	runner_times_clear(v->r);
	if (runner_change(v->r, c, &why) < 0 || cell_work(v, &why) < 0 || (is_last && visit_judge(v, &why) < 0))
		return cell_failed(v, &why, e);
	return cell_end(v, is_last ? v->state : CELL_PARTIAL, v->reason, e);
}

static void tally_add(struct sweep_tally *t, enum cell_state state, const char *reason)
{
	switch (state) {
	case CELL_OK:
		t->n_ok++;
		break;
	case CELL_INFEASIBLE:
		t->n_infeasible++;
		break;
	case CELL_FAILED:
		if (t->n_failed++ == 0)
			snprintf(t->first_failure, sizeof(t->first_failure), "%s", reason);
		break;
	case CELL_RUNNING:
	case CELL_PARTIAL:
		break;
	}
}

static int pass_run(struct visit *v, bool is_last, struct sweep_tally *tally, struct err *e)
{
	struct matrix_walk *walk = matrix_walk_new(v->w->matrix);
	struct worker *w = v->w;
	struct cell c;
	int rc = 0;

	while (rc == 0 && matrix_walk_next(walk, &c)) {
		enum cell_state state = CELL_RUNNING;
		AUTO_TEXT struct text canonical = { 0 };
		uint8_t digest[32];
		bool exists;
		int64_t id;

		cell_config(&c, &canonical, digest);
		rc = store_cell_find(w->store, w->sweep_id, digest, &exists, &id, &state, e);
		if (rc == 0 && exists && (state == CELL_OK || state == CELL_INFEASIBLE || state == CELL_FAILED)) {
			if (is_last)
				tally_add(tally, state, "");
			continue;
		}
		if (rc == 0)
			rc = cell_visit(v, &c, e);
		if (rc == 0 && is_last)
			tally_add(tally, v->state, v->reason);
		if (rc == 0 && v->state == CELL_FAILED && w->plan->stop_on_failure)
			rc = err_set(e, ERR_TOOL, "a cell failed, and the plan says on-failure: stop: %s", v->reason);
	}
	matrix_walk_free(walk);
	return rc;
}

int sweep_run(struct worker *w, struct runner *r, struct sweep_tally *ret, struct err *e)
{
	struct visit v = { .w = w, .r = r };
	int passes = w->plan->order == ORDER_ROUNDS ? w->plan->trials : 1;

	*ret = (struct sweep_tally){ 0 };
	for (int pass = 1; pass <= passes; pass++) {
		v.only = passes == 1 ? ALL_REPETITIONS : pass;
		if (pass_run(&v, pass == passes, ret, e) < 0)
			return -1;
	}
	return record_commit(w, e);
}
