/* SPDX-License-Identifier: MIT
 *
 * Several metrics at once: the cells that no other beats in all of them, and a ranking by weights; see best.h.
 * A config measured by several sweeps (writes in one, transactions in another) is one candidate.
 */
#include <math.h>

#include "cli/best.h"

void pareto_done(struct pareto *p)
{
	free(p->series);
	free(p->cells);
	free(p->values);
	free(p->scores);
	free(p->best);
}

static void series_collect(const struct dataset *d, const char *host, struct pareto *p)
{
	p->series = xcalloc(d->n_series + 1, sizeof(*p->series));
	for (size_t v = 0; v < d->n_series; v++) {
		bool is_here = false;

		for (size_t i = 0; i < d->n_results && !is_here; i++)
			is_here = d->results[i].series == v &&
			          strcmp(d->sweeps[d->cells[d->results[i].cell].sweep].host, host) == 0;
		if (is_here && d->series[v].better != BETTER_NEITHER)
			p->series[p->n_series++] = v;
	}
}

static int config_compare(const void *a, const void *b, void *cells)
{
	int64_t x = ((const struct dataset_cell *)cells)[*(const size_t *)a].config_id,
	        y = ((const struct dataset_cell *)cells)[*(const size_t *)b].config_id;

	return (x > y) - (x < y);
}

/* One row a config: the values of the metrics, NAN where there is none that may be ranked. */
static void values_collect(const struct dataset *d, const char *host, bool with_flagged, struct pareto *p)
{
	AUTO_FREE size_t *cells = xcalloc(d->n_cells + 1, sizeof(*cells));
	struct left_out ignored = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < d->n_cells; i++)
		if (strcmp(d->sweeps[d->cells[i].sweep].host, host) == 0 && d->cells[i].n_results > 0)
			cells[n++] = i;
	if (n > 0)
		qsort_r(cells, n, sizeof(*cells), config_compare, d->cells);
	p->cells = xcalloc(n + 1, sizeof(*p->cells));
	p->values = xcalloc((n + 1) * (p->n_series + 1), sizeof(*p->values));
	for (size_t i = 0; i < n; i++) {
		double *row;

		if (i == 0 || d->cells[cells[i]].config_id != d->cells[cells[i - 1]].config_id) {
			p->cells[p->n++] = cells[i];
			for (size_t k = 0; k < p->n_series; k++)
				p->values[(p->n - 1) * p->n_series + k] = NAN;
		}
		row = p->values + (p->n - 1) * p->n_series;
		for (size_t k = 0; k < p->n_series; k++) {
			const struct dataset_result *r = dataset_find(d, cells[i], p->series[k]);

			if (r != NULL && r->value >= 0 && choose_is_ranked(d, r, with_flagged, &ignored))
				row[k] = r->value;
		}
	}
}

/* "a=2,b=1": the weight of each metric; those not named have none.  is_all: p has all metrics that there are. */
static int weights_read(const struct dataset *d, const struct pareto *p, const char *text, bool is_all, double *ret,
                        struct err *e)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *rest = copy, *part;

	while ((part = strsep(&rest, ",")) != NULL) {
		char *equals = strrchr(part, '=');
		bool is_known = false;
		double w;

		if (equals == NULL || number_parse(equals + 1, &w) < 0 || w < 0)
			return err_set(e, ERR_USAGE, "best: --weights takes METRIC=WEIGHT,..., not '%s'", part);
		*equals = '\0';
		for (size_t k = 0; k < p->n_series; k++) {
			const char *key = d->series[p->series[k]].key, *dot = strrchr(key, '.');

			if (!filter_glob(part, key) && strcmp(part, dot != NULL ? dot + 1 : key) != 0 &&
			    strcmp(part, d->series[p->series[k]].name) != 0)
				continue;
			ret[k] = w;
			is_known = true;
		}
		if (!is_known && is_all) {
			AUTO_FREE const char **names = xcalloc(p->n_series + 1, sizeof(*names));

			for (size_t k = 0; k < p->n_series; k++)
				names[k] = d->series[p->series[k]].key;
			err_set(e, ERR_USAGE, "best: --weights: no metric '%s' in the selection", part);
			return text_nearest(part, names, p->n_series) != NULL
			               ? err_hint(e, "did you mean '%s'?", text_nearest(part, names, p->n_series))
			               : -1;
		}
	}
	return 0;
}

static double best_of(const struct pareto *p, size_t k, enum better better)
{
	double best = NAN;

	for (size_t i = 0; i < p->n; i++) {
		double v = p->values[i * p->n_series + k];

		if (!isnan(v) && (isnan(best) || (better == BETTER_LOWER ? v < best : v > best)))
			best = v;
	}
	return best;
}

static void scores_make(const struct dataset *d, struct pareto *p, const double *weights)
{
	for (size_t i = 0; i < p->n; i++) {
		double sum = 0, total = 0;

		for (size_t k = 0; k < p->n_series; k++) {
			enum better better = d->series[p->series[k]].better;
			double best = best_of(p, k, better), v = p->values[i * p->n_series + k],
			       ratio = v == best ? 1 : v / best;

			if (weights[k] == 0)
				continue;
			sum += weights[k] * (better == BETTER_LOWER ? -log(ratio) : log(ratio));
			total += weights[k];
		}
		p->scores[i] = total > 0 ? exp(sum / total) : NAN;
	}
}

int weights_check(const struct dataset *d, const char *text, struct err *e)
{
	AUTO_FREE size_t *series = xcalloc(d->n_series + 1, sizeof(*series));
	AUTO_FREE double *weights = xcalloc(d->n_series + 1, sizeof(*weights));
	struct pareto all = { .series = series };

	for (size_t v = 0; v < d->n_series; v++)
		if (d->series[v].better != BETTER_NEITHER)
			series[all.n_series++] = v;
	return weights_read(d, &all, text, true, weights, e);
}

int pareto_make(const struct dataset *d, const char *host, const struct best_options *b, struct pareto *ret,
                struct err *e)
{
	struct pareto p = { .host = host };
	AUTO_FREE enum better *better = xcalloc(d->n_series + 1, sizeof(*better));
	AUTO_FREE double *weights = xcalloc(d->n_series + 1, sizeof(*weights));

	series_collect(d, host, &p);
	values_collect(d, host, b->with_flagged, &p);
	p.scores = xcalloc(p.n + 1, sizeof(*p.scores));
	p.best = xcalloc(p.n + 1, sizeof(*p.best));
	for (size_t k = 0; k < p.n_series; k++)
		better[k] = d->series[p.series[k]].better;
	pareto_find(p.values, p.n, p.n_series, better, p.best);
	for (size_t i = 0; i < p.n; i++)
		p.scores[i] = NAN;
	if (b->weights != NULL) {
		if (weights_read(d, &p, b->weights, false, weights, e) < 0) {
			pareto_done(&p);
			return -1;
		}
		scores_make(d, &p, weights);
	}
	*ret = p;
	return 0;
}

static int score_compare(const void *a, const void *b, void *scores)
{
	double x = ((double *)scores)[*(const size_t *)a], y = ((double *)scores)[*(const size_t *)b];

	if (isnan(x) != isnan(y))
		return isnan(x) ? 1 : -1;
	if (!isnan(x) && x != y)
		return x > y ? -1 : 1;
	return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

/* Columns: the score if there are weights, the metrics, where it was measured, the axes that vary. */
static struct table *rows_begin(const struct dataset *d, const struct pareto *p, bool has_score, const bool *which)
{
	struct table *t = table_new("cells");

	if (has_score)
		table_column(t, "score", "SCORE", TABLE_RIGHT | TABLE_KEY);
	for (size_t k = 0; k < p->n_series; k++)
		table_column(t, d->series[p->series[k]].name, d->series[p->series[k]].name, TABLE_RIGHT | TABLE_KEY);
	table_column(t, "sweep", "SWEEP", TABLE_RIGHT);
	table_column(t, "cell", "CELL", TABLE_RIGHT);
	for (size_t k = 0; k < d->n_axes; k++)
		if (which[k])
			table_column(t, d->axes[k].name, d->axes[k].name, 0);
	return t;
}

static void row_add(const struct dataset *d, const struct pareto *p, size_t i, bool has_score, const bool *which,
                    struct table *t)
{
	const struct dataset_cell *cell = &d->cells[p->cells[i]];
	char buf[2 * SIZE_TEXT];
	size_t column = 0;

	table_row(t);
	if (has_score) {
		snprintf(buf, sizeof(buf), "%.3f", p->scores[i]);
		table_number(t, column++, p->scores[i], isnan(p->scores[i]) ? "-" : buf);
	}
	for (size_t k = 0; k < p->n_series; k++) {
		double v = p->values[i * p->n_series + k];

		table_number(t, column++, v, isnan(v) ? "-" : unit_text(v, d->series[p->series[k]].unit, buf));
	}
	table_integer(t, column++, d->sweeps[cell->sweep].id);
	table_integer(t, column++, cell->position + 1);
	for (size_t k = 0; k < d->n_axes; k++)
		if (which[k])
			table_text(t, column++, d->axes[k].shown[dataset_level(d, p->cells[i], k)]);
}

/* Rows in the order given; the Pareto set, or all by score. */
static int rows_print(const struct dataset *d, const struct pareto *p, const struct best_options *b,
                      const size_t *order, bool is_set, FILE *out, struct err *e)
{
	AUTO_FREE bool *which = xcalloc(d->n_axes + 1, sizeof(*which));
	AUTO_TABLE struct table *t = NULL;
	bool has_score = b->weights != NULL;

	choose_varying(d, which);
	t = rows_begin(d, p, has_score, which);
	for (size_t i = 0; i < p->n; i++) {
		bool is_row = is_set ? p->best[order[i]] : !isnan(p->scores[order[i]]);

		if (is_row && (is_set || b->limit == 0 || table_rows(t) < (size_t)b->limit))
			row_add(d, p, order[i], has_score, which, t);
	}
	return table_rows(t) == 0 ? 0 : table_print_as(t, TABLE_PEOPLE, NULL, table_width(out), out, e);
}

int pareto_print(const struct dataset *d, const struct pareto *p, const struct best_options *b, FILE *out,
                 struct err *e)
{
	AUTO_FREE size_t *order = xcalloc(p->n + 1, sizeof(*order));
	size_t n_best = 0;

	for (size_t i = 0; i < p->n; i++) {
		order[i] = i;
		n_best += p->best[i];
	}
	if (p->n > 0) /* without weights all scores are equal, and the order stays */
		qsort_r(order, p->n, sizeof(*order), score_compare, p->scores);
	fprintf(out, "\nno other cell on %s is better in all of", p->host);
	for (size_t k = 0; k < p->n_series; k++)
		fprintf(out, "%s %s", k > 0 ? "," : "", d->series[p->series[k]].name);
	fprintf(out, " (the Pareto set): %zu of %zu\n", n_best, p->n);
	if (rows_print(d, p, b, order, true, out, e) < 0)
		return -1;
	if (b->weights == NULL || p->n == 0)
		return 0;
	fprintf(out, "\nby weights %s (1 is best in all)\n", b->weights);
	return rows_print(d, p, b, order, false, out, e);
}

static struct json_object *pareto_row_json(const struct dataset *d, const struct pareto *p, size_t i)
{
	struct json_object *j = json_object_new_object(), *values = json_object_new_object();

	for (size_t k = 0; k < p->n_series; k++) {
		double v = p->values[i * p->n_series + k];

		json_object_object_add(values, d->series[p->series[k]].name, number_json(v));
	}
	json_object_object_add(j, "values", values);
	json_object_object_add(j, "score", number_json(p->scores[i]));
	json_object_object_add(j, "pareto", json_object_new_boolean(p->best[i]));
	json_object_object_add(j, "sweep", json_object_new_int64(d->sweeps[d->cells[p->cells[i]].sweep].id));
	json_object_object_add(j, "cell", json_object_new_int64(d->cells[p->cells[i]].position + 1));
	json_object_object_add(j, "axes", choose_cell_json(d, p->cells[i]));
	return j;
}

struct json_object *pareto_json(const struct dataset *d, const struct pareto *p)
{
	AUTO_FREE size_t *order = xcalloc(p->n + 1, sizeof(*order));
	struct json_object *j = json_object_new_object(), *rows = json_object_new_array();

	for (size_t i = 0; i < p->n; i++)
		order[i] = i;
	if (p->n > 0)
		qsort_r(order, p->n, sizeof(*order), score_compare, p->scores);
	for (size_t i = 0; i < p->n; i++)
		if (p->best[order[i]] || !isnan(p->scores[order[i]]))
			json_object_array_add(rows, pareto_row_json(d, p, order[i]));
	json_object_object_add(j, "host", json_object_new_string(p->host));
	json_object_object_add(j, "cells", rows);
	return j;
}
