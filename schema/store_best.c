/* SPDX-License-Identifier: MIT
 *
 * The best of a large store without looking at most of it; see store_select.h.
 *
 * The index result_best has the results of a host and metric in the order of their values.  The walk begins at the
 * best end and stops where the distance to the leader is beyond what noise can do, the noise being that of the
 * results walked over.  Of a config that was visited several times the newest visit counts, as everywhere, so each
 * config is asked once which one that is.
 */
#include <math.h>
#include <string.h>

#include "schema/analysis.h"
#include "schema/store_internal.h"
#include "schema/store_select.h"

#define WALK_MIN 100   /* results taken at least: they also tell the noise */
#define WALK_MAX 250   /* and at most: where more cannot be told apart, a longer list tells nobody anything */
#define WALK_ROWS 2500 /* rows looked at for them */
#define VISIT_SWEEPS 200 /* sweeps that one statement looks through for a config: as many as anybody has of a host and workload */
#define WALK_SES 8.0   /* standard errors of a difference behind the leader: well beyond any tie */

/* The newest visit of a config on a host that has results of a workload. */
struct newest {
	int64_t config_id, host_id, workload_id, cell_id;
};

/* One metric to walk. */
struct walked {
	int64_t id, workload_id;
	bool is_lower;
};

struct walker {
	struct store *s;
	const struct selection *sel;
	struct best_walk *ret;
	size_t cap;
	char *detail_sql, *hosts_sql, *metrics_sql; /* owned */
	char **visit_sql;              /* owned; each finds a config in VISIT_SWEEPS sweeps of the host and workload at hand, newest first */
	size_t n_visits, cap_visits;
	struct spread *spreads;        /* owned; of the metric at hand */
	size_t n, cap_spreads;
	struct newest *newest;         /* owned; open addressing, config_id 0: free */
	size_t n_newest, cap_newest;
};

static int metrics_list(struct walker *w, struct arena *a, struct walked **ret, size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t n = 0;
	int rc;

	if (statement_int(w->s, &n, e, "SELECT count(*) FROM metric", "") < 0 ||
	    statement_open(w->s, &st, e, w->metrics_sql, "") < 0)
		return -1;
	*ret = arena_array(a, (size_t)n + 1, sizeof(**ret));
	*ret_n = 0;
	while ((rc = statement_next(st, e)) > 0 && *ret_n < (size_t)n)
		(*ret)[(*ret_n)++] = (struct walked){ column_int(st, 0), column_int(st, 2), strcmp(column_borrow(st, 1), "lower") == 0 };
	return rc < 0 ? -1 : 0;
}

static bool is_far(const struct walker *w, double value)
{
	struct noise noise;

	if (w->n < WALK_MIN)
		return false;
	noise = noise_pool(w->spreads, w->n, true);
	return fabs(log(value / w->spreads[0].value)) >
	       WALK_SES * noise.sigma * noise_se(KEEP_MEDIAN, w->spreads[0].n) * M_SQRT2;
}

static struct newest *newest_slot(struct newest *at, size_t cap, const struct newest *key)
{
	size_t i = (size_t)(key->config_id * 31 + key->host_id * 7 + key->workload_id) & (cap - 1);

	while (at[i].config_id != 0 && (at[i].config_id != key->config_id || at[i].host_id != key->host_id ||
	                                at[i].workload_id != key->workload_id))
		i = (i + 1) & (cap - 1);
	return &at[i];
}

static void newest_grow(struct walker *w)
{
	size_t cap = w->cap_newest > 0 ? 2 * w->cap_newest : 1024;
	struct newest *at = xcalloc(cap, sizeof(*at));

	for (size_t i = 0; i < w->cap_newest; i++)
		if (w->newest[i].config_id != 0)
			*newest_slot(at, cap, &w->newest[i]) = w->newest[i];
	free(w->newest);
	w->newest = at;
	w->cap_newest = cap;
}

/* The cell that counts for a config on a host, of which cell_id is one that has the metric.  The same for all metrics
 * of a workload, since they are measured together. */
static int newest_find(struct walker *w, const struct walked *m, int64_t host_id, int64_t config_id, int64_t cell_id,
                       int64_t *ret, struct err *e)
{
	struct newest key = { config_id, host_id, m->workload_id, 0 }, *slot;

	if (2 * (w->n_newest + 1) > w->cap_newest)
		newest_grow(w);
	slot = newest_slot(w->newest, w->cap_newest, &key);
	for (size_t i = 0; slot->config_id == 0 && key.cell_id == 0 && i < w->n_visits; i++)
		if (statement_int(w->s, &key.cell_id, e, w->visit_sql[i], "iii", config_id, cell_id, m->id) < 0)
			return -1;
	if (slot->config_id == 0) {
		*slot = key;
		w->n_newest++;
	}
	*ret = slot->cell_id;
	return 0;
}

static void visits_free(struct walker *w)
{
	while (w->n_visits > 0)
		free(w->visit_sql[--w->n_visits]);
}

/* The sweeps are in the statement's text, newest first, so that SQLite goes through them in one call for each config.
 * */
static void visit_add(struct walker *w, const char *sweeps)
{
	ARRAY_GROW(w->visit_sql, w->n_visits, w->cap_visits);
	w->visit_sql[w->n_visits++] = xasprintf(
		"WITH visit(sweep_id) AS (VALUES %s) SELECT c.id FROM visit v CROSS JOIN cell c ON c.sweep_id = v.sweep_id AND c.config_id = ? "
		"CROSS JOIN sweep w ON w.id = c.sweep_id WHERE %s AND (c.id = ? OR EXISTS (SELECT 1 FROM result r WHERE r.cell_id = c.id AND "
		"r.metric_id = ?)) LIMIT 1", sweeps, text_str(&w->sel->cells));
}

static int visits_list(struct walker *w, int64_t host_id, int64_t workload_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_TEXT struct text sweeps = { 0 };
	size_t n = 0;
	int rc;

	visits_free(w);
	if (statement_open(w->s, &st, e, "SELECT w.id FROM sweep w JOIN sweep_workload x ON x.sweep_id = w.id WHERE w.host_id = ? AND "
	                   "x.workload_id = ? ORDER BY coalesce(w.started_ms, w.submitted_ms) DESC, w.id DESC", "ii", host_id, workload_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		text_printf(&sweeps, "%s(%lld)", sweeps.n > 0 ? "," : "", (long long)column_int(st, 0));
		if (++n % VISIT_SWEEPS == 0) {
			visit_add(w, sweeps.s);
			text_clear(&sweeps);
		}
	}
	if (rc == 0 && sweeps.n > 0)
		visit_add(w, sweeps.s);
	return rc;
}

/* Takes the result unless the filter says no. */
static int result_take(struct walker *w, int64_t cell_id, int64_t metric_id, double value, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(w->s, &st, e, w->detail_sql, "ii", cell_id, metric_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	ARRAY_GROW(w->ret->at, w->ret->n, w->cap);
	w->ret->at[w->ret->n++] = (struct cell_metric){ cell_id, metric_id };
	ARRAY_GROW(w->spreads, w->n, w->cap_spreads);
	w->spreads[w->n++] = (struct spread){ value, column_real(st, 0), column_real(st, 1), (int)column_int(st, 2) };
	return 0;
}

/* The index alone answers: value, config and cell are in it. */
#define WALK_SQL "SELECT cell_id, value, config_id FROM result WHERE host_id = ? AND metric_id = ? ORDER BY value "

static int metric_walk(struct walker *w, int64_t host_id, const struct walked *m, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int64_t rows = 0;
	int rc;

	w->n = 0;
	if (visits_list(w, host_id, m->workload_id, e) < 0 ||
	    statement_open(w->s, &st, e, m->is_lower ? WALK_SQL "ASC" : WALK_SQL "DESC", "ii", host_id, m->id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		int64_t cell_id = column_int(st, 0), newest;
		double value = column_real(st, 1);

		if (value < 0)
			continue;
		if (rows++ == WALK_ROWS || w->n == WALK_MAX) {
			w->ret->is_cut = true;
			return 0;
		}
		if (w->n % 50 == 0 && is_far(w, value))
			return 0;
		if (newest_find(w, m, host_id, column_int(st, 2), cell_id, &newest, e) < 0)
			return -1;
		w->ret->n_old += newest != cell_id;
		if (newest == cell_id && result_take(w, cell_id, m->id, value, e) < 0)
			return -1;
	}
	return rc;
}

static int hosts_walk(struct walker *w, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STATEMENT struct statement *st = NULL;
	struct walked *metrics;
	size_t n;
	int rc;

	if (metrics_list(w, a, &metrics, &n, e) < 0 || statement_open(w->s, &st, e, w->hosts_sql, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		for (size_t i = 0; i < n; i++)
			if (metric_walk(w, column_int(st, 0), &metrics[i], e) < 0)
				return -1;
	return rc;
}

static int pair_compare(const void *a, const void *b)
{
	const struct cell_metric *x = a, *y = b;

	if (x->cell_id != y->cell_id)
		return x->cell_id < y->cell_id ? -1 : 1;
	return (x->metric_id > y->metric_id) - (x->metric_id < y->metric_id);
}

static int walk_run(struct walker *w, struct err *e)
{
	const char *cells = text_str(&w->sel->cells), *results = text_str(&w->sel->results);
	int rc;

	w->detail_sql = xasprintf("SELECT r.min, r.max, r.n FROM result r JOIN metric m ON m.id = r.metric_id WHERE r.cell_id = ? AND "
	                          "r.metric_id = ? AND %s", results);
	/* hosts and metrics that the filter leaves: the walk over another one would find nothing, row by row */
	w->hosts_sql = xasprintf("SELECT h.id FROM host h WHERE EXISTS (SELECT 1 FROM sweep w JOIN cell c ON c.sweep_id = w.id "
	                         "WHERE w.host_id = h.id AND %s)", cells);
	w->metrics_sql = xasprintf("SELECT m.id, m.better, m.workload_id FROM metric m WHERE m.better <> 'neither'%s AND %s",
	                           w->sel->no_details ? " AND NOT m.is_detail" : "", text_str(&w->sel->metrics));
	rc = hosts_walk(w, e);
	free(w->hosts_sql);
	free(w->metrics_sql);
	if (w->ret->n > 0)
		qsort(w->ret->at, w->ret->n, sizeof(*w->ret->at), pair_compare);
	visits_free(w);
	free(w->visit_sql);
	free(w->detail_sql);
	free(w->spreads);
	free(w->newest);
	return rc;
}

int store_best_walk(struct store *s, const struct filter *f, struct best_walk *ret, struct err *e)
{
	AUTO_SELECTION struct selection sel = { 0 };
	struct walker w = { .s = s, .sel = &sel, .ret = ret };
	int64_t cells = 0;
	int mixture;

	*ret = (struct best_walk){ 0 };
	if (store_select_compared(s, f, &sel, e) < 0 || statement_int(s, &cells, e, "SELECT max(id) FROM cell", "") < 0)
		return -1;
	mixture = store_has_mixture(s, e);
	if (mixture < 0)
		return -1;
	if (mixture > 0 || sel.has_axis || sel.has_sweep || cells < BEST_WALK_CELLS)
		return 0;
	ret->is_done = true;
	return walk_run(&w, e);
}
