/* SPDX-License-Identifier: MIT
 *
 * How long a plan will take, from what this host did before.
 *
 *     sum over steps:     times it runs x (median of run + median of undo), by filesystem for those it matters to
 *   + sum over workloads: cells x trials x median elapsed time of good trials
 *   + trials x what a trial costs beside its run (prepare, settle, extraction): of earlier sweeps with one of the
 *     workloads, the median of (their time - their steps - their trials) / trials
 *
 * Only the newest sweeps count, since a host changes; so the queries stay short in a large store.
 */
#include "schema/store_internal.h"

#include <string.h>
#include <sys/utsname.h>

#include "schema/stats.h"

#define CELLS_MAX  1000 /* newest cells that step times are taken from */
#define TRIALS_MAX 300  /* newest good trials of a workload */
#define SWEEPS_MAX 5    /* newest sweeps that the overhead is taken from */

/* This host, by its node name; where the store knows one host only, that one.  0: none. */
static int host_find(struct store *s, int64_t *ret_id, struct err *e)
{
	struct utsname name;
	int found = 0;

	if (uname(&name) == 0)
		found = statement_int(s, ret_id, e, "SELECT id FROM host WHERE name = ? ORDER BY id DESC LIMIT 1", "t",
		                      name.nodename);
	if (found == 0)
		found = statement_int(s, ret_id, e, "SELECT CASE count(*) WHEN 1 THEN max(id) END FROM host", "");
	return found;
}

/* Median of the first column; *ret untouched and 0 returned without rows. */
static int rows_median(struct statement *st, double *ret, struct err *e)
{
	AUTO_FREE double *v = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(v, n, cap);
		v[n++] = column_real(st, 0);
	}
	if (rc < 0 || n == 0)
		return rc;
	*ret = stats_median(v, n);
	return 1;
}

/* Median time of one step; filesystem "": whatever it was. */
static int step_median(struct store *s, int64_t host_id, enum step_id step, const char *state, const char *filesystem,
                       double *ret_ns, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(s, &st, e,
	                   "SELECT r.elapsed_ns FROM (SELECT c.id FROM sweep s JOIN cell c ON c.sweep_id = s.id "
	                   "WHERE s.host_id = ? ORDER BY s.id DESC LIMIT ?) n JOIN step_run r ON r.cell_id = n.id "
	                   "WHERE r.step = ? AND r.state = ? AND (? = '' OR EXISTS (SELECT 1 FROM cell_value v "
	                   "JOIN axis x ON x.id = v.axis_id WHERE v.cell_id = n.id AND x.name = 'filesystem' AND v.value = ?))",
	                   "iitttt", host_id, (int64_t)CELLS_MAX, step_name(step), state, filesystem, filesystem) < 0)
		return -1;
	return rows_median(st, ret_ns, e);
}

/* Running and undoing a step once; 0 where nothing is known. */
static int step_cost(struct store *s, int64_t host_id, enum step_id step, const char *filesystem, double *ret_ns,
                     struct err *e)
{
	static const char *const states[] = { "done", "undone" };
	double total = 0;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		double ns = 0;
		int found = step_median(s, host_id, step, states[i], filesystem, &ns, e);

		if (found == 0 && filesystem[0] != '\0')
			found = step_median(s, host_id, step, states[i], "", &ns, e);
		if (found < 0)
			return -1;
		total += ns;
	}
	*ret_ns = total;
	return 0;
}

/* The mean over the filesystems that the plan names, each counted as often as it is named. */
static int step_cost_mean(struct store *s, int64_t host_id, enum step_id step, const struct plan *p, double *ret_ns,
                          struct err *e)
{
	double sum = 0;
	size_t n = 0;

	for (size_t b = 0; b < p->n_blocks; b++) {
		for (size_t i = 0; i < p->blocks[b].n; i++) {
			const struct plan_axis *axis = &p->blocks[b].axes[i];

			if (strcmp(axis->name, "filesystem") != 0)
				continue;
			for (size_t k = 0; k < axis->n; k++) {
				double ns;

				if (step_cost(s, host_id, step, axis->values[k].value, &ns, e) < 0)
					return -1;
				sum += ns;
				n++;
			}
		}
	}
	if (n == 0)
		return step_cost(s, host_id, step, "", ret_ns, e);
	*ret_ns = sum / (double)n;
	return 0;
}

static int trial_median(struct store *s, int64_t host_id, int64_t workload_id, double *ret_ns, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(s, &st, e,
	                   "SELECT t.elapsed_ns FROM sweep s JOIN sweep_workload w ON w.sweep_id = s.id AND w.workload_id = ? "
	                   "JOIN cell c ON c.sweep_id = s.id JOIN trial t ON t.cell_id = c.id AND t.workload_id = w.workload_id "
	                   "WHERE s.host_id = ? AND t.state = 'ok' AND t.elapsed_ns IS NOT NULL ORDER BY s.id DESC LIMIT ?", "iii",
	                   workload_id, host_id, (int64_t)TRIALS_MAX) < 0)
		return -1;
	return rows_median(st, ret_ns, e);
}

/* What a trial of this workload costs beside its own time; 0 where nothing is known.  Sweeps that were paused are no
 * measure: they waited. */
static int overhead_median(struct store *s, int64_t host_id, int64_t workload_id, double *ret_ns, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	double ns = 0;

	if (statement_open(
		    s, &st, e,
		    "SELECT max(0, (s.ended_ms - s.started_ms) * 1e6 "
		    "- (SELECT total(r.elapsed_ns) FROM cell c JOIN step_run r ON r.cell_id = c.id WHERE c.sweep_id = s.id) "
		    "- (SELECT total(t.elapsed_ns) FROM cell c JOIN trial t ON t.cell_id = c.id WHERE c.sweep_id = s.id)) / s.trials_ok "
		    "FROM sweep s JOIN sweep_workload w ON w.sweep_id = s.id AND w.workload_id = ? "
		    "WHERE s.host_id = ? AND s.state = 'done' AND s.trials_ok > 0 "
		    "AND NOT EXISTS (SELECT 1 FROM event v WHERE v.sweep_id = s.id AND v.kind = 'state' AND v.text LIKE 'paused%') "
		    "ORDER BY s.id DESC LIMIT ?", "iii", workload_id, host_id, (int64_t)SWEEPS_MAX) < 0)
		return -1;
	if (rows_median(st, &ns, e) < 0)
		return -1;
	*ret_ns = ns;
	return 0;
}

/* 1 and the time of one trial, 0 if this workload never ran here, -1. */
static int workload_cost(struct store *s, int64_t host_id, const struct plan *p, const struct plan_workload *w,
                         double *ret_ns, struct err *e)
{
	uint8_t digest[DIGEST_SIZE];
	int64_t workload_id;
	double ns, overhead;
	int found;

	plan_workload_digest(p, w, digest);
	found = statement_int(s, &workload_id, e, "SELECT id FROM workload WHERE digest = ?", "d", digest);
	if (found > 0)
		found = trial_median(s, host_id, workload_id, &ns, e);
	if (found <= 0)
		return found;
	if (overhead_median(s, host_id, workload_id, &overhead, e) < 0)
		return -1;
	*ret_ns = ns + overhead;
	return 1;
}

static int estimate(struct store *s, const struct plan *p, const struct step_counts *counts, double *ret_seconds,
                    struct err *e)
{
	double total_ns = 0, ns;
	int64_t host_id = 0;
	int found = host_find(s, &host_id, e);

	if (found < 0)
		return -1;
	*ret_seconds = -1;
	if (found == 0)
		return 0;
	for (size_t i = 0; i < p->n_workloads; i++) {
		found = workload_cost(s, host_id, p, &p->workloads[i], &ns, e);
		if (found <= 0)
			return found;
		total_ns += (double)counts->cells_of[i] * p->trials * ns;
	}
	for (enum step_id step = STEP_CLAIM; step < N_STEPS; step++) {
		if (step_cost_mean(s, host_id, step, p, &ns, e) < 0)
			return -1;
		total_ns += (double)counts->steps[step] * ns;
	}
	*ret_seconds = total_ns / 1e9;
	return 0;
}

int store_estimate(struct store *s, const struct plan *p, const struct step_counts *counts, double *ret_seconds,
                   struct err *e)
{
	double seconds = -1;

	if (store_begin(s, e) < 0 || store_finish(s, estimate(s, p, counts, &seconds, e), e) < 0)
		return -1;
	*ret_seconds = seconds;
	return 0;
}
