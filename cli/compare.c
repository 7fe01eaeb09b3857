/* SPDX-License-Identifier: MIT
 *
 * Matching and testing two sides; see compare.h.  Cells match if their settings are equal (as by the config's
 * digest), and their hosts where a host is on both sides; results if workload and metric are (by the workload's
 * digest).  Tool versions and rules of aggregation must be equal, too, unless the datasets were loaded across them.
 */
#include "cli/compare.h"

#include <math.h>
#include <string.h>

/* A result with what it is matched by. */
struct keyed {
	const struct dataset_result *r;
	int64_t metric_id;
	size_t config; /* number of its settings, the same on both sides */
	int64_t started_ms;
};

/* skip: of each axis. */
static const char *config_text(const struct dataset *d, size_t cell, bool by_host, const bool *skip, struct arena *a)
{
	AUTO_TEXT struct text t = { 0 };

	if (by_host)
		text_printf(&t, "%lld\n", (long long)d->sweeps[d->cells[cell].sweep].host_id);

	for (size_t k = 0; k < d->n_axes; k++) {
		const char *value = d->axes[k].values[dataset_level(d, cell, k)];

		if (value[0] == '\0' || strcmp(value, KERNEL_DEFAULT) == 0 || skip[k])
			continue;
		text_printf(&t, "%s=%s\n", d->axes[k].name, value);
	}
	return arena_strdup(a, text_str(&t));
}

static int axis_order(const void *a, const void *b, void *dataset)
{
	const struct dataset *d = dataset;

	return strcmp(d->axes[*(const size_t *)a].name, d->axes[*(const size_t *)b].name);
}

/* Axes come in the order in which a dataset met them: brought into one order, so that texts of two datasets can be
 * compared. */
static void axes_sort(struct dataset *d)
{
	AUTO_FREE size_t *order = xcalloc(d->n_axes + 1, sizeof(*order));
	AUTO_FREE struct dataset_axis *axes = xcalloc(d->n_axes + 1, sizeof(*axes));
	AUTO_FREE int *row = xcalloc(d->n_axes + 1, sizeof(*row));

	for (size_t k = 0; k < d->n_axes; k++)
		order[k] = k;
	if (d->n_axes > 1)
		qsort_r(order, d->n_axes, sizeof(*order), axis_order, d);
	for (size_t k = 0; k < d->n_axes; k++)
		axes[k] = d->axes[order[k]];
	for (size_t i = 0; i < d->n_cells; i++) {
		for (size_t k = 0; k < d->n_axes; k++)
			row[k] = dataset_level(d, i, order[k]);
		if (d->n_axes > 0)
			memcpy(d->levels + i * d->n_axes, row, d->n_axes * sizeof(*row));
	}
	if (d->n_axes > 0)
		memcpy(d->axes, axes, d->n_axes * sizeof(*axes));
}

static int keyed_compare(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (x->metric_id != y->metric_id)
		return x->metric_id < y->metric_id ? -1 : 1;
	if (x->config != y->config)
		return x->config < y->config ? -1 : 1;
	return x->started_ms > y->started_ms ? -1 : x->started_ms < y->started_ms; /* the newest first */
}

/* The one value that an axis has on a side, "" if it has no such axis; NULL if it has several. */
static const char *value_of_side(const struct dataset *d, const char *axis)
{
	int k = dataset_axis(d, axis);

	if (k < 0 || d->n_cells == 0)
		return "";
	for (size_t i = 1; i < d->n_cells; i++)
		if (dataset_level(d, i, (size_t)k) != dataset_level(d, 0, (size_t)k))
			return NULL;
	return d->axes[k].values[dataset_level(d, 0, (size_t)k)];
}

/* Axes of a side that are not matched: the one that tells the sides apart, and what has another value over there
 * because of it. */
static void skipped_find(struct comparison *c, const struct dataset *d, bool *ret)
{
	for (size_t k = 0; k < d->n_axes && c->ignored != NULL; k++) {
		const char *name = d->axes[k].name, *a = value_of_side(c->side[0].d, name),
			   *b = value_of_side(c->side[1].d, name);

		ret[k] = strcmp(c->ignored, name) == 0;
		if (ret[k] || !choose_may_follow(c->ignored, name) || a == NULL || b == NULL || strcmp(a, b) == 0)
			continue;
		ret[k] = true;
		if (c->n_following < ARRAY_SIZE(c->following) && d == c->side[0].d)
			c->following[c->n_following++] = name;
	}
}

/* The settings of a cell, in the place of all cells of both sides in the order of their settings. */
struct placed {
	const char *settings;
	size_t *number; /* the cell's */
};

static int placed_compare(const void *a, const void *b)
{
	return strcmp(((const struct placed *)a)->settings, ((const struct placed *)b)->settings);
}

static bool has_host(const struct dataset *d, int64_t host_id)
{
	for (size_t i = 0; i < d->n_cells; i++)
		if (d->cells[i].n_results > 0 && d->sweeps[d->cells[i].sweep].host_id == host_id)
			return true;
	return false;
}

/* Whether a host is on both sides: it is not what tells them apart then, and what one host measured is held against
 * what the same host did.  *ret_several: and there is another one. */
static bool hosts_meet(const struct dataset *a, const struct dataset *b, bool *ret_several)
{
	int64_t first = 0;
	bool meet = false;

	*ret_several = false;
	for (size_t i = 0; i < a->n_cells; i++) {
		int64_t host_id = a->sweeps[a->cells[i].sweep].host_id;

		if (a->cells[i].n_results == 0 || host_id == first)
			continue;
		*ret_several = *ret_several || first != 0;
		first = host_id;
		meet = meet || has_host(b, host_id);
	}
	return meet;
}

/* Numbers the settings of all cells; equal ones get the same number.  ret[side][cell]; of the arena. */
static void configs_number(struct comparison *c, struct arena *a, size_t *ret[2])
{
	size_t n = c->side[0].d->n_cells + c->side[1].d->n_cells, at = 0;
	struct placed *all = arena_array(a, n + 1, sizeof(*all));
	bool several, by_host = hosts_meet(c->side[0].d, c->side[1].d, &several);

	c->is_by_host = by_host && several;

	for (int side = 0; side < 2; side++) {
		struct dataset *d = c->side[side].d;
		bool *skip = arena_array(a, d->n_axes + 1, sizeof(*skip));

		axes_sort(d);
		skipped_find(c, d, skip);
		ret[side] = arena_array(a, d->n_cells + 1, sizeof(**ret));
		for (size_t i = 0; i < d->n_cells; i++)
			all[at++] = (struct placed){ config_text(d, i, by_host, skip, a), &ret[side][i] };
	}
	if (n > 0)
		qsort(all, n, sizeof(*all), placed_compare);
	for (size_t i = 1; i < n; i++)
		*all[i].number = *all[i - 1].number + (strcmp(all[i].settings, all[i - 1].settings) != 0);
}

static int64_t host_of(const struct dataset *d, const struct dataset_result *r)
{
	return d->sweeps[d->cells[r->cell].sweep].host_id;
}

/* The results of a side that take part, sorted; of equal keys (several hosts on one side, none of them on both) only
 * the newest stays. */
static struct keyed *side_keys(struct comparison *c, struct side *side, const size_t *configs, size_t *ret_n)
{
	struct dataset *d = side->d;
	struct keyed *k = xcalloc(d->n_results + 1, sizeof(*k));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < d->n_results; i++) {
		const struct dataset_result *r = &d->results[i];

		if (!choose_is_compared(d, r, c->with_flagged, &c->left_out))
			continue;
		k[n++] = (struct keyed){ r, d->series[r->series].metric_id, configs[r->cell], d->cells[r->cell].started_ms };
	}
	if (n > 0)
		qsort(k, n, sizeof(*k), keyed_compare);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || k[kept - 1].metric_id != k[i].metric_id || k[kept - 1].config != k[i].config ||
		    k[kept - 1].r->series != k[i].r->series)
			k[kept++] = k[i];
		c->n_several += host_of(d, k[kept - 1].r) != host_of(d, k[i].r);
	}
	*ret_n = kept;
	return k;
}

static struct compared *metric_of(struct comparison *c, size_t series_a, const char *refused)
{
	for (size_t i = 0; i < c->n_metrics; i++)
		if (c->metrics[i].series == series_a && (c->metrics[i].refused == NULL) == (refused == NULL))
			return &c->metrics[i];
	ARRAY_GROW(c->metrics, c->n_metrics, c->cap_metrics);
	c->metrics[c->n_metrics] = (struct compared){ .series = series_a, .refused = refused };
	return &c->metrics[c->n_metrics++];
}

/* NULL if the two may be compared. */
static const char *refusal(struct comparison *c, const struct dataset_series *a, const struct dataset_series *b)
{
	if (strcmp(a->tools, b->tools) != 0 && strstr(a->tools, b->tools) == NULL && strstr(b->tools, a->tools) == NULL)
		return arena_printf(c->arena, "%s against %s", a->tools[0] ? a->tools : "unknown tools",
		                    b->tools[0] ? b->tools : "unknown tools");
	if (a->keep != b->keep)
		return arena_printf(c->arena, "%s against %s", keep_name(a->keep), keep_name(b->keep));
	return NULL;
}

static void match_add(struct comparison *c, const struct keyed *x, const struct keyed *y, bool across_tool,
                      bool across_keep)
{
	const struct dataset_series *a = &c->side[0].d->series[x->r->series], *b = &c->side[1].d->series[y->r->series];
	bool tools_differ = strcmp(a->tools, b->tools) != 0 && !across_tool,
	     keep_differs = a->keep != b->keep && !across_keep;
	struct compared *m = metric_of(c, x->r->series, tools_differ || keep_differs ? refusal(c, a, b) : NULL);

	ARRAY_GROW(m->at, m->n, m->cap);
	m->at[m->n++] = (struct matched){ .a = x->r, .b = y->r };
}

static int side_trials(struct store *s, struct side *side, size_t cell, int64_t metric_id, const double **ret,
                       int *ret_n, struct err *e)
{
	const struct cell_trials *t;
	size_t from = 0, to;

	if (!side->has_trials[cell]) {
		if (store_cell_trials(s, side->d->cells[cell].id, &side->trials[cell], e) < 0)
			return -1;
		side->has_trials[cell] = true;
	}
	t = &side->trials[cell];
	while (from < t->n && t->metric_ids[from] != metric_id)
		from++;
	for (to = from; to < t->n && t->metric_ids[to] == metric_id; to++)
		;
	*ret = t->values + from;
	*ret_n = (int)(to - from);
	return 0;
}

static bool is_worse(double ratio, enum better better, double limit)
{
	if (better == BETTER_NEITHER || isnan(limit))
		return false;
	return better == BETTER_LOWER ? ratio > 1 + limit : ratio < 1 - limit;
}

static void metric_test(struct comparison *c, struct compared *m)
{
	enum better better = c->side[0].d->series[m->series].better;
	double wider;
	AUTO_FREE struct spread *spread = xcalloc(2 * m->n + 1, sizeof(*spread));
	AUTO_FREE struct pair *pairs = xcalloc(m->n + 1, sizeof(*pairs));

	for (size_t i = 0; i < m->n; i++) {
		const struct dataset_result *a = m->at[i].a, *b = m->at[i].b;

		spread[2 * i] = (struct spread){ a->value, a->min, a->max, a->n };
		spread[2 * i + 1] = (struct spread){ b->value, b->min, b->max, b->n };
		pairs[i] = m->at[i].pair;
	}
	m->noise = noise_pool(spread, 2 * m->n, false);
	wider = m->n > 1 && !isnan(c->limit) ? fmax(1, ties_critical(m->n) / 1.96) : 1;
	for (size_t i = 0; i < m->n; i++) {
		struct pair_test *t = &m->at[i].test;

		compare_pair(&m->at[i].pair, &m->noise, t);
		/* Single figures tell nothing of noise: then the figures decide.  Of a thousand cells fifty are
		 * outside their intervals by chance: an alarm needs as much more as their number makes likely. */
		m->at[i].is_regression = is_worse(t->ratio, better, c->limit) &&
		                         (m->noise.is_assumed || fabs(log(t->ratio)) > wider * log(t->ratio / t->low));
		m->n_regressions += m->at[i].is_regression;
	}
	compare_pooled(pairs, m->n, &m->noise, &m->pooled);
	m->is_regression = is_worse(m->pooled.ratio, better, c->limit) && (m->pooled.is_decided || m->noise.is_assumed);
}

static int metrics_test(struct store *s, struct comparison *c, struct err *e)
{
	for (size_t i = 0; i < c->n_metrics; i++) {
		struct compared *m = &c->metrics[i];
		int64_t metric_id = c->side[0].d->series[m->series].metric_id;

		for (size_t k = 0; k < m->n && m->refused == NULL; k++) {
			struct matched *x = &m->at[k];
			const double *at[2];
			int n[2];

			if (side_trials(s, &c->side[0], x->a->cell, metric_id, &at[0], &n[0], e) < 0 ||
			    side_trials(s, &c->side[1], x->b->cell, metric_id, &at[1], &n[1], e) < 0)
				return -1;
			x->pair = (struct pair){ x->a->value, x->b->value, at[0], at[1], n[0], n[1], c->side[0].d->series[m->series].keep };
		}
		if (m->refused == NULL)
			metric_test(c, m);
	}
	return 0;
}

/* ---- differences ---- */

static int cells_differences(struct store *s, struct comparison *c, struct err *e)
{
	struct side_cell *cells[2];
	size_t n[2] = { 0, 0 };
	int rc;

	for (int side = 0; side < 2; side++) {
		const struct dataset *d = c->side[side].d;
		AUTO_FREE bool *is_matched = xcalloc(d->n_cells + 1, sizeof(*is_matched));

		for (size_t i = 0; i < c->n_metrics; i++)
			for (size_t k = 0; k < c->metrics[i].n; k++)
				is_matched[(side == 0 ? c->metrics[i].at[k].a : c->metrics[i].at[k].b)->cell] = true;
		cells[side] = xcalloc(d->n_cells + 1, sizeof(*cells[side]));
		for (size_t i = 0; i < d->n_cells; i++)
			if (is_matched[i])
				cells[side][n[side]++] = (struct side_cell){ d->cells[i].id, d->cells[i].environment_id };
	}
	rc = store_differences(s, cells[0], n[0], cells[1], n[1], c->arena, &c->differences, &c->n_differences, e);
	free(cells[0]);
	free(cells[1]);
	return rc;
}

static const char *level_shown(const struct dataset *d, size_t cell, const char *axis)
{
	int k = dataset_axis(d, axis);

	return k < 0 ? "" : d->axes[k].shown[dataset_level(d, cell, (size_t)k)];
}

static bool difference_is_known(const struct comparison *c, const char *key, const char *a, const char *b)
{
	for (size_t i = 0; i < c->n_differences; i++)
		if (strcmp(c->differences[i].key, key) == 0 && strcmp(c->differences[i].a, a) == 0 &&
		    strcmp(c->differences[i].b, b) == 0)
			return true;
	return false;
}

/* The default of an axis in one matched cell, if it is another one on the other side. */
static void default_compare(struct comparison *c, const struct matched *m, const char *axis, size_t room)
{
	const char *a = level_shown(c->side[0].d, m->a->cell, axis), *b = level_shown(c->side[1].d, m->b->cell, axis),
		   *key;

	if (!text_starts(a, KERNEL_DEFAULT) || !text_starts(b, KERNEL_DEFAULT) || strcmp(a, b) == 0 ||
	    c->n_differences == room)
		return;
	key = arena_printf(c->arena, "default %s", axis);
	if (!difference_is_known(c, key, a, b))
		c->differences[c->n_differences++] = (struct difference){ key, a, b, fact_rank(key) };
}

static bool axis_has_default(const struct dataset_axis *x)
{
	for (size_t i = 0; i < x->n_values; i++)
		if (text_starts(x->values[i], KERNEL_DEFAULT))
			return true;
	return false;
}

/* What was left at the kernel's default and is another value on the other side: equal configs that are not the same. */
static void defaults_differences(struct comparison *c)
{
	const struct dataset *d = c->side[0].d;
	size_t room = c->n_differences + 64;
	struct difference *all = arena_array(c->arena, room, sizeof(*all));

	if (c->n_differences > 0)
		memcpy(all, c->differences, c->n_differences * sizeof(*all));
	c->differences = all;
	for (size_t x = 0; x < d->n_axes; x++)
		for (size_t i = 0; i < c->n_metrics && axis_has_default(&d->axes[x]); i++)
			for (size_t k = 0; k < c->metrics[i].n; k++)
				default_compare(c, &c->metrics[i].at[k], d->axes[x].name, room);
}

static int difference_compare(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	return x->rank != y->rank ? x->rank - y->rank : strcmp(x->key, y->key);
}

static void sides_match(struct comparison *c, bool across_tool, bool across_keep)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE struct keyed *x = NULL, *y = NULL;
	size_t n[2], i = 0, j = 0, *configs[2];

	configs_number(c, a, configs);
	x = side_keys(c, &c->side[0], configs[0], &n[0]);
	y = side_keys(c, &c->side[1], configs[1], &n[1]);
	while (i < n[0] && j < n[1]) {
		int order = x[i].metric_id != y[j].metric_id ?
		                    (x[i].metric_id < y[j].metric_id ? -1 : 1) :
		                    (x[i].config > y[j].config) - (x[i].config < y[j].config);

		if (order == 0)
			match_add(c, &x[i++], &y[j++], across_tool, across_keep);
		else
			c->only[order > 0]++, *(order < 0 ? &i : &j) += 1;
	}
	c->only[0] += n[0] - i;
	c->only[1] += n[1] - j;
}

int comparison_make(struct store *s, struct comparison *c, bool across_tool, bool across_keep, struct err *e)
{
	for (int side = 0; side < 2; side++) {
		c->side[side].trials = xcalloc(c->side[side].d->n_cells + 1, sizeof(struct cell_trials));
		c->side[side].has_trials = xcalloc(c->side[side].d->n_cells + 1, sizeof(bool));
	}
	sides_match(c, across_tool, across_keep);
	if (metrics_test(s, c, e) < 0 || cells_differences(s, c, e) < 0)
		return -1;
	defaults_differences(c);
	if (c->n_differences > 1)
		qsort(c->differences, c->n_differences, sizeof(*c->differences), difference_compare);
	return 0;
}

bool comparison_regressed(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_metrics; i++)
		if (c->metrics[i].n_regressions > 0 || c->metrics[i].is_regression)
			return true;
	return false;
}

void comparison_done(struct comparison *c)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; c->side[side].trials != NULL && i < c->side[side].d->n_cells; i++)
			cell_trials_done(&c->side[side].trials[i]);
		free(c->side[side].trials);
		free(c->side[side].has_trials);
		dataset_free(c->side[side].d);
	}
	for (size_t i = 0; i < c->n_metrics; i++)
		free(c->metrics[i].at);
	free(c->metrics);
	arena_free(c->arena);
}
