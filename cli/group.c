/* SPDX-License-Identifier: MIT
 *
 * Groups of results; see group.h.  A group never holds results of different metrics, tools or rules of aggregation,
 * unless --across says so.  It says nothing of causes: `effects` does that.
 */
#include "cli/group.h"

#include <string.h>

#include "schema/stats.h"

static const char *const aggregates[] = { "count", "median", "mean", "min", "max" };
#define KEYS_MAX 16

struct grouping {
	const struct dataset *d;
	const char *keys[KEYS_MAX];
	int axes[KEYS_MAX];          /* index of the axis, or -1: host, plan, sweep */
	size_t n_keys;
	bool wanted[ARRAY_SIZE(aggregates)];
};

static int key_read(struct grouping *g, const char *key, struct err *e)
{
	AUTO_FREE const char **names = xcalloc(g->d->n_axes + 4, sizeof(*names));
	int axis = dataset_axis(g->d, key);

	if (g->n_keys == KEYS_MAX)
		return err_set(e, ERR_USAGE, "query: more than %d keys in --group-by", KEYS_MAX);
	g->keys[g->n_keys] = key;
	g->axes[g->n_keys++] = axis;
	if (axis >= 0 || strcmp(key, "host") == 0 || strcmp(key, "plan") == 0 || strcmp(key, "sweep") == 0 ||
	    strcmp(key, "metric") == 0)
		return 0;
	for (size_t k = 0; k < g->d->n_axes; k++)
		names[k] = g->d->axes[k].name;
	names[g->d->n_axes] = "host";
	names[g->d->n_axes + 1] = "plan";
	names[g->d->n_axes + 2] = "sweep";
	err_set(e, ERR_USAGE, "query: --group-by: no axis '%s' in the selection", key);
	return text_nearest(key, names, g->d->n_axes + 3) != NULL
	               ? err_hint(e, "did you mean '%s'?", text_nearest(key, names, g->d->n_axes + 3))
	               : err_hint(e, "known are the axes, host, plan and sweep");
}

static int grouping_read(struct grouping *g, const char *keys, const char *agg, struct arena *a, struct err *e)
{
	for (const char *p = keys; *p != '\0'; p += strcspn(p, ","), p += *p == ',')
		if (key_read(g, arena_strndup(a, p, strcspn(p, ",")), e) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(aggregates); i++)
		g->wanted[i] = agg == NULL;
	for (const char *p = agg; p != NULL && *p != '\0'; p += strcspn(p, ","), p += *p == ',') {
		const char *word = arena_strndup(a, p, strcspn(p, ","));
		size_t i = 0;

		while (i < ARRAY_SIZE(aggregates) && strcmp(aggregates[i], word) != 0)
			i++;
		if (i == ARRAY_SIZE(aggregates))
			return err_set(e, ERR_USAGE,
			               "query: --agg: '%s' is not one of count, median, mean, min and max", word);
		g->wanted[i] = true;
	}
	return 0;
}

/* Text of a key for a result; numbers as numbers, so that groups sort well. */
static const char *key_text(const struct grouping *g, size_t k, const struct dataset_result *r, bool for_people,
                            char *buf)
{
	const struct dataset_sweep *w = &g->d->sweeps[g->d->cells[r->cell].sweep];

	if (g->axes[k] >= 0) {
		const struct dataset_axis *x = &g->d->axes[g->axes[k]];
		int level = dataset_level(g->d, r->cell, (size_t)g->axes[k]);

		return for_people ? x->shown[level] : x->values[level];
	}
	if (strcmp(g->keys[k], "host") == 0)
		return w->host;
	if (strcmp(g->keys[k], "plan") == 0)
		return w->plan;
	if (strcmp(g->keys[k], "metric") == 0)
		return g->d->series[r->series].name;
	snprintf(buf, SIZE_TEXT, "%lld", (long long)w->id);
	return buf;
}

static int result_compare(const void *a, const void *b, void *grouping)
{
	const struct grouping *g = grouping;
	const struct dataset_result *x = *(const struct dataset_result *const *)a,
	                            *y = *(const struct dataset_result *const *)b;
	char p[SIZE_TEXT], q[SIZE_TEXT];

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	for (size_t k = 0; k < g->n_keys; k++) {
		int order;

		if (g->axes[k] >= 0)
			order = dataset_level(g->d, x->cell, (size_t)g->axes[k]) -
			        dataset_level(g->d, y->cell, (size_t)g->axes[k]);
		else
			order = strcmp(key_text(g, k, x, false, p), key_text(g, k, y, false, q));
		if (order != 0)
			return order;
	}
	return 0;
}

static void group_row(const struct grouping *g, const struct dataset_result *const *r, size_t n, struct table *t)
{
	AUTO_FREE double *v = xcalloc(n, sizeof(*v));
	const struct dataset_series *s = &g->d->series[r[0]->series];
	double made[ARRAY_SIZE(aggregates)], min = r[0]->value, max = min;
	char buf[2 * SIZE_TEXT];
	size_t column = 2 + g->n_keys;

	for (size_t i = 0; i < n; i++) {
		v[i] = r[i]->value;
		min = v[i] < min ? v[i] : min;
		max = v[i] > max ? v[i] : max;
	}
	made[1] = stats_median(v, n);
	made[2] = stats_mean(v, n);
	made[3] = min;
	made[4] = max;
	table_row(t);
	table_text(t, 0, s->name);
	table_text(t, 1, s->unit);
	for (size_t k = 0; k < g->n_keys; k++) {
		table_text(t, 2 + k, key_text(g, k, r[0], false, buf));
		table_show(t, 2 + k, key_text(g, k, r[0], true, buf));
	}
	for (size_t i = 0; i < ARRAY_SIZE(aggregates); i++) {
		if (!g->wanted[i])
			continue;
		if (i == 0)
			table_integer(t, column++, (int64_t)n);
		else
			table_number(t, column++, made[i], unit_text(made[i], s->unit, buf));
	}
}

static void groups_fill(const struct grouping *g, struct table *t)
{
	AUTO_FREE const struct dataset_result **r = xcalloc(g->d->n_results + 1, sizeof(*r));
	size_t n = 0;

	for (size_t i = 0; i < g->d->n_results; i++)
		r[n++] = &g->d->results[i];
	if (n > 0)
		qsort_r(r, n, sizeof(*r), result_compare, (void *)g);
	table_column(t, "metric", "METRIC", TABLE_KEY);
	table_column(t, "unit", "UNIT", TABLE_EXTRA);
	for (size_t k = 0; k < g->n_keys; k++)
		table_column(t, g->keys[k], g->keys[k], TABLE_KEY);
	for (size_t i = 0; i < ARRAY_SIZE(aggregates); i++)
		if (g->wanted[i])
			table_column(t, aggregates[i], aggregates[i], TABLE_RIGHT);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && result_compare(&r[from], &r[to], (void *)g) == 0; to++)
			;
		group_row(g, r + from, to - from, t);
	}
}

int group_print(const struct options *o, struct store *s, const struct filter *f, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_DATASET struct dataset *d = NULL;
	AUTO_TABLE struct table *t = table_new("groups");
	struct grouping g = { 0 };

	if (choose_dataset(o, s, f, &d, e) < 0)
		return -1;
	g.d = d;
	if (grouping_read(&g, options_text(o, "group-by"), options_text(o, "agg"), a, e) < 0)
		return -1;
	groups_fill(&g, t);
	if (table_rows(t) == 0)
		fprintf(stderr, PROGRAM ": no result meets the filter\n");
	return table_print(t, o, stdout, e) < 0 ? -1 : EXIT_GOOD;
}
