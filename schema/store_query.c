/* SPDX-License-Identifier: MIT
 *
 * Results one after the other; see store_select.h.  Used for listings of all history: 16,000 cells are found in some
 * tens of milliseconds, and then each cell's results are read by their primary key.
 */
#include <string.h>

#include "schema/store_internal.h"
#include "schema/store_select.h"

/* A sweep, as far as its rows show it. */
struct query_sweep {
	int64_t id;
	const char *plan, *host, *state, *keep;
};

struct query {
	struct store *s;
	struct arena *a;          /* owned: what stays until the end */
	struct arena *row;        /* owned: texts of the cell at hand */
	char *results_sql;        /* owned */
	bool all_results;         /* the filter says nothing of results: cells without any are listed, too */
	int64_t *cells;           /* owned, sorted */
	size_t n_cells, at;
	struct query_sweep *sweeps;
	size_t n_sweeps;
	const char **axes;
	int64_t *axis_ids;
	size_t n_axes;
	struct tools {
		int64_t environment_id, workload_id;
		const char *text;
	} *tools; /* owned */
	size_t n_tools, cap_tools;
	struct statement *results; /* of the cell at hand, or NULL */
	struct query_row r;
	uint8_t config[32];
	size_t n_given;           /* results of the cell at hand so far */
};

/* ---- what is fixed for all rows ---- */

static int sweeps_read(struct query *q, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	size_t cap = 0;
	int64_t n = 0;
	int rc;

	if (statement_int(q->s, &n, e, "SELECT count(*) FROM sweep", "") < 0)
		return -1;
	cap = (size_t)n;
	q->sweeps = arena_array(q->a, cap + 1, sizeof(*q->sweeps));
	if (statement_open(q->s, &st, e,
	                   "SELECT w.id, p.name, " HOST_LABEL ", w.state, w.keep FROM sweep w JOIN plan p ON p.id = w.plan_id "
	                   "JOIN host h ON h.id = w.host_id ORDER BY w.id", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0 && q->n_sweeps < cap)
		q->sweeps[q->n_sweeps++] =
			(struct query_sweep){ column_int(st, 0), column_text(st, 1, q->a), column_text(st, 2, q->a),
				              column_text(st, 3, q->a), column_text(st, 4, q->a) };
	return rc < 0 ? -1 : 0;
}

static int sweep_compare(const void *a, const void *b)
{
	const struct query_sweep *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static const struct query_sweep *sweep_find(const struct query *q, int64_t id)
{
	static const struct query_sweep none = { 0, "", "", "", "" };
	struct query_sweep key = { .id = id };
	const struct query_sweep *found = bsearch(&key, q->sweeps, q->n_sweeps, sizeof(key), sweep_compare);

	return found != NULL ? found : &none;
}

static int id_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int cells_find(struct query *q, const struct selection *sel, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	const char *cells = text_str(&sel->cells);
	/* without a word about sweeps the index on configs answers alone */
	const char *join = strstr(cells, "w.") == NULL ? "" :
	                   sel->has_axis               ? "CROSS JOIN sweep w ON w.id = c.sweep_id " :
	                                                 "JOIN sweep w ON w.id = c.sweep_id ";
	AUTO_FREE char *sql = xasprintf("SELECT c.id FROM cell c %sWHERE %s", join, cells);
	size_t cap = 0;
	int rc;

	if (statement_open(q->s, &st, e, sql, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(q->cells, q->n_cells, cap);
		q->cells[q->n_cells++] = column_int(st, 0);
	}
	if (q->n_cells > 0)
		qsort(q->cells, q->n_cells, sizeof(*q->cells), id_compare);
	return rc;
}

static int cell_axes_add(struct query *q, int64_t cell_id, size_t *cap, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(q->s, &st, e, "SELECT s.axis_id, a.name FROM cell_setting s JOIN axis a ON a.id = s.axis_id WHERE s.cell_id = ?", "i",
	                   cell_id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		size_t k = 0;

		while (k < q->n_axes && q->axis_ids[k] != column_int(st, 0))
			k++;
		if (k < q->n_axes)
			continue;
		if (q->n_axes == *cap) {
			*cap = *cap > 0 ? 2 * *cap : 16;
			q->axes = xreallocarray(q->axes, *cap, sizeof(*q->axes));
			q->axis_ids = xreallocarray(q->axis_ids, *cap, sizeof(*q->axis_ids));
		}
		q->axes[q->n_axes] = column_text(st, 1, q->a);
		q->axis_ids[q->n_axes++] = column_int(st, 0);
	}
	return rc;
}

#define CELLS_ALL_ASKED 4096 /* in a selection of more, only some cells of large sweeps are asked */
#define CELLS_STEP 64

/* Cells of small sweeps, which lie between those that are asked. */
static int small_sweeps_ask(struct query *q, size_t *cap, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(q->s, &st, e,
	                   "SELECT c.id FROM sweep w CROSS JOIN cell c ON c.sweep_id = w.id WHERE w.cells < ?", "i",
	                   (int64_t)2 * CELLS_STEP) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		int64_t id = column_int(st, 0);

		if (bsearch(&id, q->cells, q->n_cells, sizeof(id), id_compare) != NULL &&
		    cell_axes_add(q, id, cap, e) < 0)
			return -1;
	}
	return rc;
}

/* Axes of the cells.  Those of a large sweep lie beside each other and know the same axes, so that in a large
 * selection one in 64 tells what the others would. */
static int axes_find(struct query *q, struct err *e)
{
	size_t cap = 0, step = q->n_cells > CELLS_ALL_ASKED ? CELLS_STEP : 1;

	for (size_t i = 0; i < q->n_cells; i += step)
		if (cell_axes_add(q, q->cells[i], &cap, e) < 0)
			return -1;
	if (step > 1 && small_sweeps_ask(q, &cap, e) < 0)
		return -1;
	q->r.axes = xcalloc(q->n_axes + 1, sizeof(*q->r.axes));
	q->r.effective = xcalloc(q->n_axes + 1, sizeof(*q->r.effective));
	return 0;
}

static int tools_find(struct query *q, int64_t environment_id, int64_t workload_id, const char **ret, struct err *e)
{
	for (size_t i = q->n_tools; i-- > 0;) {
		if (q->tools[i].environment_id == environment_id && q->tools[i].workload_id == workload_id) {
			*ret = q->tools[i].text;
			return 0;
		}
	}
	if (store_tools_text(q->s, environment_id, workload_id, q->a, ret, e) < 0)
		return -1;
	ARRAY_GROW(q->tools, q->n_tools, q->cap_tools);
	q->tools[q->n_tools++] = (struct tools){ environment_id, workload_id, *ret };
	return 0;
}

/* ---- rows ---- */

#define RESULT_SQL \
	"SELECT r.value, r.min, r.max, r.n, r.left_out, r.flags, m.workload_id, x.name || '.' || m.name || " \
	"CASE m.label WHEN '' THEN '' ELSE '{' || m.label || '}' END, m.unit, m.better, " \
	"coalesce((SELECT environment_id FROM trial t WHERE t.id = r.trial_id), (SELECT environment_id FROM trial t " \
	"WHERE t.cell_id = r.cell_id AND t.workload_id = m.workload_id AND t.state = 'ok' LIMIT 1), 0) " \
	"FROM result r JOIN metric m ON m.id = r.metric_id JOIN sweep_workload x ON x.sweep_id = ? AND x.workload_id = m.workload_id " \
	"WHERE r.cell_id = ? AND "

static int cell_begin(struct query *q, int64_t cell_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL, *settings = NULL;
	const struct query_sweep *w;
	int rc;

	arena_free(q->row);
	q->row = arena_new();
	if (statement_open(q->s, &st, e,
	                   "SELECT c.sweep_id, c.position, c.started_ms, c.state, c.reason, k.digest FROM cell c "
	                   "JOIN config k ON k.id = c.config_id WHERE c.id = ?", "i", cell_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc == 0)
		return store_damaged(q->s, e, "the config of cell %lld is missing", (long long)cell_id);
	if (rc < 0)
		return -1;
	w = sweep_find(q, column_int(st, 0));
	q->r.sweep_id = column_int(st, 0);
	q->r.position = column_int(st, 1);
	q->r.started_ms = column_int(st, 2);
	q->r.state = column_text(st, 3, q->row);
	q->r.reason = column_text(st, 4, q->row);
	column_copy(st, 5, q->config, sizeof(q->config));
	q->r.config = q->config;
	q->r.plan = w->plan;
	q->r.host = w->host;
	q->r.keep = w->keep;
	q->r.sweep_state = w->state;
	for (size_t k = 0; k < q->n_axes; k++) {
		q->r.axes[k] = "";
		q->r.effective[k] = NULL;
	}
	if (statement_open(q->s, &settings, e, "SELECT axis_id, value, effective FROM cell_value WHERE cell_id = ?",
	                   "i", cell_id) < 0)
		return -1;
	while ((rc = statement_next(settings, e)) > 0) {
		for (size_t k = 0; k < q->n_axes; k++) {
			if (q->axis_ids[k] != column_int(settings, 0))
				continue;
			q->r.axes[k] = column_text(settings, 1, q->row);
			if (strcmp(q->r.axes[k], KERNEL_DEFAULT) == 0 && !column_is_null(settings, 2))
				q->r.effective[k] = column_text(settings, 2, q->row);
		}
	}
	q->n_given = 0;
	return rc < 0 ? -1 : statement_open(q->s, &q->results, e, q->results_sql, "ii", q->r.sweep_id, cell_id);
}

static int result_take(struct query *q, struct err *e)
{
	struct statement *st = q->results;
	const char *better = column_borrow(st, 9);

	q->r.value = column_real(st, 0);
	q->r.min = column_real(st, 1);
	q->r.max = column_real(st, 2);
	q->r.n = column_int(st, 3);
	q->r.left_out = column_int(st, 4);
	q->r.flags = column_text(st, 5, q->row);
	q->r.key = column_text(st, 7, q->row);
	q->r.unit = column_text(st, 8, q->row);
	q->r.better = strcmp(better, "lower") == 0  ? BETTER_LOWER :
	              strcmp(better, "higher") == 0 ? BETTER_HIGHER :
	                                              BETTER_NEITHER;
	q->n_given++;
	return tools_find(q, column_int(st, 10), column_int(st, 6), &q->r.tools, e);
}

static void results_end(struct query *q)
{
	statement_done(q->results);
	q->results = NULL;
}

int store_query_next(struct query *q, struct query_row *ret, struct err *e)
{
	for (;;) {
		int rc;

		if (q->results == NULL) {
			if (q->at == q->n_cells)
				return 0;
			if (cell_begin(q, q->cells[q->at++], e) < 0)
				return -1;
		}
		rc = statement_next(q->results, e);
		if (rc < 0)
			return -1;
		if (rc > 0 && result_take(q, e) < 0)
			return -1;
		if (rc == 0)
			results_end(q);
		if (rc == 0 && (q->n_given > 0 || !q->all_results))
			continue;
		if (rc == 0)
			q->r.key = NULL;
		*ret = q->r;
		return 1;
	}
}

/* ---- mixtures ---- */

struct kind {
	const char *key, *tools, *keep;
	size_t n;
};

static int kinds_count(struct query *q, const struct query_options *o, struct kind **ret, size_t *ret_n, struct err *e)
{
	struct query_row r;
	size_t cap = 0;
	int rc;

	while ((rc = store_query_next(q, &r, e)) > 0) {
		size_t i = 0;

		if (r.key == NULL)
			continue;
		while (i < *ret_n &&
		       (strcmp((*ret)[i].key, r.key) != 0 ||
		        (!o->across_tool && (*ret)[i].tools != r.tools && strcmp((*ret)[i].tools, r.tools) != 0) ||
		        (!o->across_keep && strcmp((*ret)[i].keep, r.keep) != 0)))
			i++;
		if (i == *ret_n) {
			ARRAY_GROW(*ret, *ret_n, cap);
			(*ret)[(*ret_n)++] = (struct kind){ arena_strdup(q->a, r.key), r.tools, r.keep, 0 };
		}
		(*ret)[i].n++;
	}
	q->at = 0;
	return rc;
}

static void kinds_text(const struct kind *k, size_t n, struct text *ret)
{
	for (size_t i = 0; i < n; i++) {
		bool is_first = true, others = false;

		for (size_t j = 0; j < n; j++) {
			others = others || (j != i && strcmp(k[j].key, k[i].key) == 0);
			is_first = is_first && !(j < i && strcmp(k[j].key, k[i].key) == 0);
		}
		if (!others || !is_first || ret->n > 500)
			continue;
		text_printf(ret, "%s%s:", ret->n > 0 ? "; " : "", k[i].key);
		for (size_t j = i; j < n; j++)
			if (strcmp(k[j].key, k[i].key) == 0)
				text_printf(ret, "%s %zu of %s (%s)", j > i ? "," : "", k[j].n,
				            k[j].tools[0] ? k[j].tools : "unknown tools", k[j].keep);
	}
}

int store_has_mixture(struct store *s, struct err *e)
{
	int64_t one;
	int rc = statement_int(s, &one, e,
	                       "SELECT 1 FROM environment_fact WHERE key >= 'tool.' AND key < 'tool/' GROUP BY key "
	                       "HAVING count(DISTINCT value) > 1 LIMIT 1",
	                       "");

	return rc != 0 ? rc :
	                 statement_int(s, &one, e, "SELECT 1 WHERE (SELECT count(DISTINCT keep) FROM sweep) > 1", "");
}

static int mixture_find(struct query *q, const struct query_options *o, struct arena *a, const char **ret,
                        struct err *e)
{
	AUTO_TEXT struct text mixed = { 0 };
	struct kind *kinds = NULL;
	size_t n = 0;
	int rc = store_has_mixture(q->s, e);

	*ret = "";
	if (rc <= 0)
		return rc;
	rc = kinds_count(q, o, &kinds, &n, e);
	if (rc == 0)
		kinds_text(kinds, n, &mixed);
	free(kinds);
	*ret = arena_strdup(a, text_str(&mixed));
	return rc;
}

int store_query_open(struct store *s, const struct filter *f, const struct query_options *o, struct arena *a,
                     struct query **ret, const char **ret_mixed, struct err *e)
{
	struct query *q = xcalloc(1, sizeof(*q));
	AUTO_SELECTION struct selection sel = { 0 };
	int rc;

	q->s = s;
	q->a = arena_new();
	rc = store_begin(s, e);
	if (rc < 0) {
		arena_free(q->a);
		free(q);
		return -1;
	}
	rc = store_select_compared(s, f, &sel, e);
	if (rc == 0) {
		q->results_sql = xasprintf(RESULT_SQL "%s ORDER BY x.position, m.id", text_str(&sel.results));
		q->all_results = strcmp(sel.results.s, "1") == 0;
	}
	if (rc < 0 || sweeps_read(q, e) < 0 || cells_find(q, &sel, e) < 0 || axes_find(q, e) < 0 ||
	    mixture_find(q, o, a, ret_mixed, e) < 0) {
		store_query_close(q);
		return -1;
	}
	if (o->is_strict && (*ret_mixed)[0] != '\0') {
		store_query_close(q);
		err_set(e, ERR_USAGE, "results that differ in tool or rule of aggregation do not stand together: %s",
		        *ret_mixed);
		return err_hint(e, "choose by tool.NAME=VERSION or plan=NAME, or say --across tool (or keep)");
	}
	*ret = q;
	return 0;
}

const char *const *store_query_axes(const struct query *q, size_t *ret_n)
{
	*ret_n = q->n_axes;
	return q->axes;
}

size_t store_query_cells(const struct query *q)
{
	return q->n_cells;
}

void store_query_close(struct query *q)
{
	if (q == NULL)
		return;
	if (q->results != NULL)
		statement_done(q->results);
	store_rollback(q->s);
	free(q->results_sql);
	free(q->cells);
	free(q->axes);
	free(q->axis_ids);
	free(q->tools);
	free(q->r.axes);
	free(q->r.effective);
	arena_free(q->row);
	arena_free(q->a);
	free(q);
}
