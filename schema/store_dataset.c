/* SPDX-License-Identifier: MIT
 *
 * Filter -> dataset; see dataset.h.  Cells first, newest visits first, then the results and settings of those that
 * stay: a thousand cells with five metrics are read in some milliseconds, each by its primary key.
 */
#include "schema/store_select.h"

#include <string.h>

#include "schema/keys.h"
#include "schema/store_internal.h"

struct loader {
	struct store *s;
	const struct dataset_options *o;
	struct dataset *d;
	size_t cap_cells, cap_results, cap_series;
	uint64_t *signatures;          /* owned; of each sweep: its workloads */
	struct keys seen_cells, seen_results;
	struct { int64_t environment_id, workload_id; const char *tools; } *tools; /* owned */
	size_t n_tools, cap_tools;
	struct { int64_t id, workload_id, environment_id; } *trials; /* owned: of the cell at hand */
	size_t n_trials, cap_trials;
	int64_t environment_id;        /* of the result at hand */
	struct loaded_metric {
		int64_t id, workload_id;
		const char *name, *label, *unit;
		enum better better;
		bool is_detail;
	} *metrics; /* owned: all, by id */
	size_t n_metrics, cap_metrics;
	bool no_details;
	struct { int64_t workload_id; size_t sweep; const char *name; } *names;   /* owned: workloads as the sweeps call them */
	size_t n_names, cap_names;
};

/* ---- sweeps ---- */

static int sweep_workloads_read(struct loader *l, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t at = 0;
	int rc;

	if (statement_open(l->s, &st, e,
	                   "SELECT sweep_id, workload_id, name FROM sweep_workload ORDER BY sweep_id, workload_id",
	                   "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		while (at < l->d->n_sweeps && l->d->sweeps[at].id != column_int(st, 0))
			at++;
		if (at == l->d->n_sweeps)
			break;
		l->signatures[at] = keys_mix(l->signatures[at], (uint64_t)column_int(st, 1));
		ARRAY_GROW(l->names, l->n_names, l->cap_names);
		l->names[l->n_names].workload_id = column_int(st, 1);
		l->names[l->n_names].sweep = at;
		l->names[l->n_names++].name = column_text(st, 2, l->d->arena);
		l->d->sweeps[at].repetitions++; /* workloads, until sweeps_read divides */
	}
	return rc < 0 ? -1 : 0;
}

static int sweeps_read(struct loader *l, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE int64_t *trials = NULL;
	struct dataset *d = l->d;
	size_t cap = 0;
	int64_t n = 0;
	int rc;

	if (statement_int(l->s, &n, e, "SELECT count(*) FROM sweep", "") < 0 ||
	    statement_open(l->s, &st, e,
	                   "SELECT w.id, coalesce(w.started_ms, w.submitted_ms), p.name, " HOST_LABEL ", w.state, w.host_id, w.keep, "
	                   "w.trials_per_cell FROM sweep w JOIN plan p ON p.id = w.plan_id JOIN host h ON h.id = w.host_id "
	                   "ORDER BY w.id", "") < 0)
		return -1;
	d->sweeps = arena_array(d->arena, (size_t)n + 1, sizeof(*d->sweeps));
	trials = xcalloc((size_t)n + 1, sizeof(*trials));
	l->signatures = xcalloc((size_t)n + 1, sizeof(*l->signatures));
	cap = (size_t)n;
	while ((rc = statement_next(st, e)) > 0 && d->n_sweeps < cap) {
		trials[d->n_sweeps] = column_int(st, 7);
		d->sweeps[d->n_sweeps++] = (struct dataset_sweep){
			.id = column_int(st, 0), .started_ms = column_int(st, 1), .plan = column_text(st, 2, d->arena),
			.host = column_text(st, 3, d->arena), .state = column_text(st, 4, d->arena), .host_id = column_int(st, 5),
			.keep = store_keep(column_borrow(st, 6)),
		};
	}
	if (rc < 0 || sweep_workloads_read(l, e) < 0)
		return -1;
	for (size_t i = 0; i < d->n_sweeps; i++)
		d->sweeps[i].repetitions = d->sweeps[i].repetitions > 0 ? trials[i] / d->sweeps[i].repetitions : 0;
	return 0;
}

static int sweep_compare(const void *a, const void *b)
{
	const struct dataset_sweep *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static size_t sweep_index(const struct dataset *d, int64_t id)
{
	struct dataset_sweep key = { .id = id };
	const struct dataset_sweep *found = bsearch(&key, d->sweeps, d->n_sweeps, sizeof(key), sweep_compare);

	return found != NULL ? (size_t)(found - d->sweeps) : 0;
}

/* ---- cells ---- */

static const char *state_intern(const char *name)
{
	for (enum cell_state state = CELL_RUNNING; state < CELL_PARTIAL; state++)
		if (strcmp(cell_state_name(state), name) == 0)
			return cell_state_name(state);
	return cell_state_name(CELL_PARTIAL);
}

#define CELLS_MAX ((size_t)200000) /* about 12 MiB */

static int selection_too_large(size_t max, const char *what, struct err *e)
{
	err_set(e, ERR_USAGE, "the selection has more than %zu %s", max, what);
	return err_hint(e, "narrow it by a filter: plan=, host=, metric=, since=");
}

#define CELL_SQL "SELECT c.id, c.sweep_id, c.config_id, c.started_ms, c.position, c.state, c.reason FROM cell c "

static int cells_take(struct loader *l, struct statement *st, struct err *e)
{
	struct dataset *d = l->d;
	int rc;

	while ((rc = statement_next(st, e)) > 0) {
		const char *reason = column_borrow(st, 6);

		if (l->o->all && d->n_cells == CELLS_MAX) /* more of them are pruned, unless every visit was asked for */
			return selection_too_large(CELLS_MAX, "cells", e);
		ARRAY_GROW(d->cells, d->n_cells, l->cap_cells);
		d->cells[d->n_cells++] = (struct dataset_cell){
			.id = column_int(st, 0),
			.sweep = sweep_index(d, column_int(st, 1)),
			.config_id = column_int(st, 2),
			.started_ms = column_int(st, 3),
			.position = column_int(st, 4),
			.state = state_intern(column_borrow(st, 5)),
			.reason = reason[0] != '\0' ? arena_strdup(d->arena, reason) : "",
		};
	}
	return rc;
}

/* The cells of o->only, each once. */
static int cells_read_only(struct loader *l, struct err *e)
{
	for (size_t i = 0; i < l->o->n_only; i++) {
		AUTO_STATEMENT struct statement *st = NULL;

		if (i > 0 && l->o->only[i].cell_id == l->o->only[i - 1].cell_id)
			continue;
		if (statement_open(l->s, &st, e, CELL_SQL "WHERE c.id = ?", "i", l->o->only[i].cell_id) < 0 ||
		    cells_take(l, st, e) < 0)
			return -1;
	}
	return 0;
}

static int cells_read(struct loader *l, const struct selection *q, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE char *sql = xasprintf(CELL_SQL "%sJOIN sweep w ON w.id = c.sweep_id WHERE %s",
	                                q->has_axis ? "CROSS " : "", text_str(&q->cells));

	if (l->o->only != NULL)
		return cells_read_only(l, e);
	return statement_open(l->s, &st, e, sql, "") < 0 ? -1 : cells_take(l, st, e);
}

static int newest_first(const void *a, const void *b)
{
	const struct dataset_cell *x = a, *y = b;

	if (x->started_ms != y->started_ms)
		return x->started_ms > y->started_ms ? -1 : 1;
	return x->id > y->id ? -1 : x->id < y->id;
}

static bool cell_has_results(const struct dataset_cell *c)
{
	return strcmp(c->state, "failed") != 0 && strcmp(c->state, "infeasible") != 0;
}

/* Leaves the newest visit of each config on each host, among sweeps of the same workloads.  A failed visit hides no
 * good one. */
static void cells_prune(struct loader *l)
{
	struct dataset *d = l->d;
	size_t n = 0;

	if (d->n_cells > 0)
		qsort(d->cells, d->n_cells, sizeof(*d->cells), newest_first);
	for (size_t i = 0; i < d->n_cells && !l->o->all; i++) {
		const struct dataset_cell *c = &d->cells[i];
		uint64_t key = keys_mix(keys_mix((uint64_t)d->sweeps[c->sweep].host_id, (uint64_t)c->config_id),
		                        l->signatures[c->sweep]);

		if (keys_has(&l->seen_cells, key)) {
			d->n_superseded++;
			continue;
		}
		if (cell_has_results(c))
			keys_add(&l->seen_cells, key);
		d->cells[n++] = *c;
	}
	if (!l->o->all)
		d->n_cells = n;
	d->cells = xreallocarray(d->cells, d->n_cells, sizeof(*d->cells));
	l->cap_cells = d->n_cells;
}

/* ---- results ---- */

static int tools_find(struct loader *l, int64_t environment_id, int64_t workload_id, const char **ret, struct err *e)
{
	for (size_t i = l->n_tools; i-- > 0;) {
		if (l->tools[i].environment_id == environment_id && l->tools[i].workload_id == workload_id) {
			*ret = l->tools[i].tools;
			return 0;
		}
	}
	ARRAY_GROW(l->tools, l->n_tools, l->cap_tools);
	l->tools[l->n_tools].environment_id = environment_id;
	l->tools[l->n_tools].workload_id = workload_id;
	if (store_tools_text(l->s, environment_id, workload_id, l->d->arena, ret, e) < 0)
		return -1;
	l->tools[l->n_tools++].tools = *ret;
	return 0;
}

static const char *workload_name(const struct loader *l, size_t sweep, int64_t workload_id)
{
	for (size_t i = 0; i < l->n_names; i++)
		if (l->names[i].workload_id == workload_id && l->names[i].sweep == sweep)
			return l->names[i].name;
	return "?";
}

/* The good trials of a cell; *ret: the environment of all of them, 0 if there are several. */
static int trials_read(struct loader *l, int64_t cell_id, int64_t *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(l->s, &st, e,
	                   "SELECT id, workload_id, environment_id FROM trial WHERE cell_id = ? AND state = 'ok'", "i",
	                   cell_id) < 0)
		return -1;
	l->n_trials = 0;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(l->trials, l->n_trials, l->cap_trials);
		l->trials[l->n_trials].id = column_int(st, 0);
		l->trials[l->n_trials].workload_id = column_int(st, 1);
		l->trials[l->n_trials].environment_id = column_int(st, 2);
		*ret = l->n_trials == 0 || *ret == column_int(st, 2) ? column_int(st, 2) : 0;
		l->n_trials++;
	}
	return rc;
}

/* The environment that a result stands for: that of its middle trial, else of any of the workload's. */
static int64_t environment_of(const struct loader *l, int64_t trial_id, int64_t workload_id)
{
	int64_t any = 0;

	for (size_t i = 0; i < l->n_trials; i++) {
		if (l->trials[i].id == trial_id)
			return l->trials[i].environment_id;
		if (any == 0 && l->trials[i].workload_id == workload_id)
			any = l->trials[i].environment_id;
	}
	return any;
}

/* The same for one result, where the cell's trials are not asked for. */
static int environment_find(struct loader *l, int64_t cell_id, int64_t trial_id, int64_t workload_id, int64_t *ret,
                            struct err *e)
{
	*ret = l->o->no_environments ? 0 : environment_of(l, trial_id, workload_id);
	if (!l->o->no_environments)
		return 0;
	if (trial_id != 0)
		return statement_int(l->s, ret, e, "SELECT environment_id FROM trial WHERE id = ?", "i", trial_id);
	return statement_int(l->s, ret, e, "SELECT environment_id FROM trial WHERE cell_id = ? AND workload_id = ? AND state = 'ok' AND "
	                     "environment_id IS NOT NULL LIMIT 1", "ii", cell_id, workload_id);
}

static int metrics_read(struct loader *l, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(l->s, &st, e,
	                   "SELECT id, workload_id, name, label, unit, better, is_detail FROM metric ORDER BY id",
	                   "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		const char *better = column_borrow(st, 5);

		ARRAY_GROW(l->metrics, l->n_metrics, l->cap_metrics);
		l->metrics[l->n_metrics++] = (struct loaded_metric){
			.id = column_int(st, 0), .workload_id = column_int(st, 1), .name = column_text(st, 2, l->d->arena),
			.label = column_text(st, 3, l->d->arena), .unit = column_text(st, 4, l->d->arena),
			.better = strcmp(better, "lower") == 0 ? BETTER_LOWER : strcmp(better, "higher") == 0 ? BETTER_HIGHER : BETTER_NEITHER,
			.is_detail = column_int(st, 6) != 0,
		};
	}
	return rc;
}

static int metric_compare(const void *a, const void *b)
{
	const struct loaded_metric *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void series_add(struct loader *l, const struct loaded_metric *m, size_t sweep, const char *tools, enum keep keep)
{
	struct dataset *d = l->d;

	ARRAY_GROW(d->series, d->n_series, l->cap_series);
	d->series[d->n_series++] = (struct dataset_series){
		.key = arena_printf(d->arena, "%s.%s%s%s%s", workload_name(l, sweep, m->workload_id), m->name, m->label[0] ? "{" : "",
		                    m->label, m->label[0] ? "}" : ""),
		.unit = m->unit, .tools = tools, .keep = keep, .metric_id = m->id, .workload_id = m->workload_id, .better = m->better,
	};
}

static int metric_find(struct loader *l, int64_t id, const struct loaded_metric **ret, struct err *e)
{
	const struct loaded_metric key = { .id = id };

	*ret = l->n_metrics > 0 ? bsearch(&key, l->metrics, l->n_metrics, sizeof(key), metric_compare) : NULL;
	if (*ret == NULL)
		return store_damaged(l->s, e, "metric %lld is missing", (long long)id);
	return 0;
}

/* The series of the row's metric under the tools of its trials. */
static int series_find(struct loader *l, const struct loaded_metric *m, struct statement *st, size_t cell, size_t *ret,
                       struct err *e)
{
	struct dataset *d = l->d;
	enum keep keep = d->sweeps[d->cells[cell].sweep].keep;
	const char *tools;

	if (environment_find(l, d->cells[cell].id, column_int(st, 6), m->workload_id, &l->environment_id, e) < 0 ||
	    tools_find(l, l->environment_id, m->workload_id, &tools, e) < 0)
		return -1;
	for (size_t i = 0; i < d->n_series; i++) {
		struct dataset_series *v = &d->series[i];

		if (v->metric_id != m->id || (!l->o->across_keep && v->keep != keep) ||
		    (!l->o->across_tool && strcmp(v->tools, tools) != 0))
			continue;
		if (strcmp(v->tools, tools) != 0 && strstr(v->tools, tools) == NULL)
			v->tools = arena_printf(d->arena, "%s, %s", v->tools, tools);
		*ret = i;
		return 0;
	}
	series_add(l, m, d->cells[cell].sweep, tools, keep);
	*ret = d->n_series - 1;
	return 0;
}

static const char *flags_intern(struct dataset *d, const char *flags)
{
	if (flags[0] == '\0')
		return "";
	for (size_t i = d->n_results; i-- > 0 && i + 50 > d->n_results;)
		if (strcmp(d->results[i].flags, flags) == 0)
			return d->results[i].flags;
	return arena_strdup(d->arena, flags);
}

static int result_add(struct loader *l, struct statement *st, size_t cell, struct err *e)
{
	struct dataset *d = l->d;
	size_t sweep = d->cells[cell].sweep, series, max = l->o->max_results > 0 ? l->o->max_results : DATASET_MAX;
	const struct loaded_metric *metric;
	uint64_t key;

	if (metric_find(l, column_int(st, 0), &metric, e) < 0)
		return -1;
	if (l->no_details && metric->is_detail) {
		d->has_left_details = true;
		return 0;
	}
	if (series_find(l, metric, st, cell, &series, e) < 0)
		return -1;
	key = keys_mix(keys_mix((uint64_t)d->sweeps[sweep].host_id, (uint64_t)d->cells[cell].config_id), series + 1);
	if (!l->o->all && keys_has(&l->seen_results, key)) {
		d->n_superseded++;
		return 0;
	}
	if (!l->o->all)
		keys_add(&l->seen_results, key);
	if (d->n_results == max)
		return selection_too_large(max, "results", e);
	ARRAY_GROW(d->results, d->n_results, l->cap_results);
	d->results[d->n_results] = (struct dataset_result){
		.cell = cell, .series = series, .value = column_real(st, 1), .min = column_real(st, 2), .max = column_real(st, 3),
		.n = (int)column_int(st, 4), .left_out = (int)column_int(st, 5), .trial_id = column_int(st, 6),
		.flags = flags_intern(d, column_borrow(st, 7)),
	};
	d->n_results++;
	dataset_environment_add(d, d->sweeps[sweep].host_id, l->environment_id);
	d->series[series].n++;
	d->cells[cell].n_results++;
	return 0;
}

#define RESULT_SQL "SELECT r.metric_id, r.value, r.min, r.max, r.n, r.left_out, r.trial_id, r.flags FROM result r "

static int results_take(struct loader *l, struct statement *st, size_t cell, struct err *e)
{
	int rc;

	while ((rc = statement_next(st, e)) > 0)
		if (result_add(l, st, cell, e) < 0)
			return -1;
	return rc;
}

/* The first of o->only that is of a cell. */
static size_t only_first(const struct dataset_options *o, int64_t cell_id)
{
	size_t low = 0, high = o->n_only;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (o->only[middle].cell_id < cell_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Those of o->only: the filter was asked before. */
static int results_read_only(struct loader *l, struct err *e)
{
	for (size_t i = 0; i < l->d->n_cells; i++) {
		int64_t cell_id = l->d->cells[i].id;

		for (size_t k = only_first(l->o, cell_id); k < l->o->n_only && l->o->only[k].cell_id == cell_id; k++) {
			AUTO_STATEMENT struct statement *st = NULL;

			if (statement_open(l->s, &st, e, RESULT_SQL "WHERE r.cell_id = ? AND r.metric_id = ?", "ii",
			                   cell_id, l->o->only[k].metric_id) < 0 ||
			    results_take(l, st, i, e) < 0)
				return -1;
		}
	}
	return 0;
}

static int results_read(struct loader *l, const struct selection *q, struct err *e)
{
	const char *results = text_str(&q->results);
	/* a join of its own for each result only where the filter speaks of metrics */
	AUTO_FREE char *sql = xasprintf(RESULT_SQL "%sWHERE r.cell_id = ? AND %s ORDER BY r.metric_id",
	                                strstr(results, "m.") == NULL ? "" : "JOIN metric m ON m.id = r.metric_id ",
	                                results);

	if (metrics_read(l, e) < 0)
		return -1;
	if (l->o->only != NULL)
		return results_read_only(l, e);
	l->no_details = q->no_details;
	for (size_t i = 0; i < l->d->n_cells; i++) {
		AUTO_STATEMENT struct statement *st = NULL;

		if (!cell_has_results(&l->d->cells[i]))
			continue;
		if ((!l->o->no_environments &&
		     trials_read(l, l->d->cells[i].id, &l->d->cells[i].environment_id, e) < 0) ||
		    statement_open(l->s, &st, e, sql, "i", l->d->cells[i].id) < 0 || results_take(l, st, i, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- order ---- */

static int cell_order(const void *a, const void *b, void *cells)
{
	const struct dataset_cell *x = &((struct dataset_cell *)cells)[*(const size_t *)a],
	                          *y = &((struct dataset_cell *)cells)[*(const size_t *)b];

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	return x->position != y->position ? (x->position < y->position ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

static int result_order(const void *a, const void *b)
{
	const struct dataset_result *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

/* Puts cells back into the order of the sweeps; those whose results were all superseded go. */
static void cells_sort(struct loader *l)
{
	struct dataset *d = l->d;
	AUTO_FREE size_t *order = xcalloc(d->n_cells, sizeof(*order)), *place = xcalloc(d->n_cells, sizeof(*place));
	struct dataset_cell *sorted = xcalloc(d->n_cells, sizeof(*sorted));
	size_t n = 0;

	for (size_t i = 0; i < d->n_cells; i++)
		if (d->cells[i].n_results > 0 || strcmp(d->cells[i].state, "ok") != 0)
			order[n++] = i;
	if (n > 0)
		qsort_r(order, n, sizeof(*order), cell_order, d->cells);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = d->cells[order[i]];
		place[order[i]] = i;
	}
	for (size_t i = 0; i < d->n_results; i++)
		d->results[i].cell = place[d->results[i].cell];
	if (d->n_results > 0)
		qsort(d->results, d->n_results, sizeof(*d->results), result_order);
	free(d->cells);
	d->cells = sorted;
	d->n_cells = n;
}

static int dataset_load(struct loader *l, const struct filter *f, struct err *e)
{
	AUTO_SELECTION struct selection q = { 0 };
	struct dataset_series *series;

	if (l->o->only == NULL && store_select_compared(l->s, f, &q, e) < 0)
		return -1;
	if (sweeps_read(l, e) < 0 || cells_read(l, &q, e) < 0)
		return -1;
	cells_prune(l);
	if (results_read(l, &q, e) < 0 || store_mixed_facts(l->s, l->d, e) < 0)
		return -1;
	cells_sort(l);
	dataset_name_series(l->d);
	series = arena_array(l->d->arena, l->d->n_series + 1, sizeof(*series));
	if (l->d->n_series > 0)
		memcpy(series, l->d->series, l->d->n_series * sizeof(*series));
	free(l->d->series);
	l->d->series = series;
	return store_dataset_levels(l->s, l->d, e);
}

int store_dataset(struct store *s, const struct filter *f, const struct dataset_options *o, struct dataset **ret,
                  struct err *e)
{
	struct dataset *d = xcalloc(1, sizeof(*d));
	struct loader l = { .s = s, .o = o, .d = d };
	int rc;

	d->arena = arena_new();
	rc = store_begin(s, e); /* one snapshot, also while a sweep is recorded */
	if (rc == 0)
		rc = store_finish(s, dataset_load(&l, f, e), e);
	free(l.signatures);
	free(l.seen_cells.at);
	free(l.seen_results.at);
	free(l.tools);
	free(l.trials);
	free(l.metrics);
	free(l.names);
	if (rc < 0)
		dataset_free(d);
	else
		*ret = d;
	return rc;
}
