/* SPDX-License-Identifier: MIT
 *
 * Rankings per series and host; see best.h.
 */
#include "cli/best.h"

#include <inttypes.h>
#include <math.h>

struct direction {
	const struct dataset *d;
	enum better better;
};

static int result_compare(const void *a, const void *b, void *order)
{
	const struct dataset_result *x = *(const struct dataset_result *const *)a,
	                            *y = *(const struct dataset_result *const *)b;
	int sign = ((struct direction *)order)->better == BETTER_LOWER ? 1 : -1;

	if (x->value != y->value)
		return x->value < y->value ? -sign : sign;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

static void ranking_judge(const struct dataset *d, struct ranking *r)
{
	AUTO_FREE struct spread *spread = xcalloc(r->n, sizeof(*spread));
	const struct dataset_series *v = &d->series[r->series];
	struct direction order = { d, v->better };

	if (r->n > 0)
		qsort_r(r->at, r->n, sizeof(*r->at), result_compare, &order);
	for (size_t i = 0; i < r->n; i++) {
		spread[i] = (struct spread){ r->at[i]->value, r->at[i]->min, r->at[i]->max, r->at[i]->n };
		r->n_best += r->at[i]->value == r->at[0]->value;
	}
	r->tied = xcalloc(r->n, sizeof(*r->tied));
	r->noise = ties_judge(spread, r->n, v->keep, v->better, r->tied);
	for (size_t i = 0; i < r->n; i++)
		r->n_tied += r->tied[i];
}

/* Number of a result's host in d's order of sweeps, for grouping. */
static const char *result_host(const struct dataset *d, const struct dataset_result *r)
{
	return d->sweeps[d->cells[r->cell].sweep].host;
}

static struct ranking *ranking_of(struct ranking **all, size_t *n, size_t *cap, size_t series, const char *host)
{
	for (size_t i = *n; i-- > 0 && (*all)[i].series == series;)
		if (strcmp((*all)[i].host, host) == 0)
			return &(*all)[i];
	ARRAY_GROW(*all, *n, *cap);
	(*all)[*n] = (struct ranking){ .series = series, .host = host };
	return &(*all)[(*n)++];
}

void best_rank(const struct dataset *d, bool with_flagged, struct ranking **ret, size_t *ret_n)
{
	size_t n = 0, cap = 0;

	*ret = NULL;
	for (size_t i = 0; i < d->n_results; i++) {
		const struct dataset_result *r = &d->results[i];
		struct ranking *k;

		if (d->series[r->series].better == BETTER_NEITHER)
			continue;
		k = ranking_of(ret, &n, &cap, r->series, result_host(d, r));
		if (k->at == NULL)
			k->at = xcalloc(d->series[r->series].n, sizeof(*k->at));
		if (r->value < 0)
			k->left_out.not_positive++;
		else if (choose_is_ranked(d, r, with_flagged, &k->left_out))
			k->at[k->n++] = r;
	}
	for (size_t i = 0; i < n; i++)
		ranking_judge(d, &(*ret)[i]);
	*ret_n = n;
}

void ranking_done(struct ranking *r)
{
	free(r->at);
	free(r->tied);
}

/* ---- for people ---- */

struct columns {
	size_t metric, host, mark, value, unit, behind, spread, n, min, max, flags, plan, sweep, cell, config;
	size_t *axes; /* owned; SIZE_MAX: not shown */
};

static void columns_add(struct table *t, const struct dataset *d, const bool *which, bool for_people, struct columns *c)
{
	unsigned extra = for_people ? TABLE_EXTRA : 0;

	c->metric = table_column(t, "metric", "METRIC", extra);
	c->host = table_column(t, "host", "HOST", extra);
	c->mark = table_column(t, "standing", "", TABLE_KEY);
	c->value = table_column(t, "value", "VALUE", TABLE_RIGHT);
	c->unit = table_column(t, "unit", "UNIT", extra);
	c->behind = table_column(t, "behind", "BEHIND", TABLE_RIGHT);
	c->spread = table_column(t, "spread", "SPREAD", TABLE_RIGHT);
	c->n = table_column(t, "n", "N", TABLE_RIGHT);
	c->min = table_column(t, "min", "MIN", TABLE_RIGHT | extra);
	c->max = table_column(t, "max", "MAX", TABLE_RIGHT | extra);
	c->plan = table_column(t, "plan", "PLAN", extra);
	c->sweep = table_column(t, "sweep", "SWEEP", TABLE_RIGHT);
	c->cell = table_column(t, "cell", "CELL", TABLE_RIGHT);
	c->axes = xcalloc(d->n_axes + 1, sizeof(*c->axes));
	for (size_t k = 0; k < d->n_axes; k++)
		c->axes[k] = which[k] ? table_column(t, d->axes[k].name, d->axes[k].name, 0) : SIZE_MAX;
	c->flags = table_column(t, "flags", "FLAGS", 0);
}

static void row_add(struct table *t, const struct columns *c, const struct dataset *d, const struct ranking *r,
                    size_t i)
{
	const struct dataset_result *x = r->at[i], *best = r->at[0];
	const struct dataset_series *v = &d->series[r->series];
	const struct dataset_cell *cell = &d->cells[x->cell];
	double behind = x->value == best->value   ? 0 :
	                v->better == BETTER_LOWER ? x->value / best->value - 1 :
	                                            1 - x->value / best->value;
	char buf[2 * SIZE_TEXT];

	table_row(t);
	table_text(t, c->metric, v->name);
	table_text(t, c->host, r->host);
	table_text(t, c->mark, i < r->n_best ? "best" : r->tied[i] ? "tie" : "");
	table_show(t, c->mark, i < r->n_best ? "=" : r->tied[i] ? "~" : "");
	table_number(t, c->value, x->value, unit_text(x->value, v->unit, buf));
	table_text(t, c->unit, v->unit);
	snprintf(buf, sizeof(buf), "%.1f %%", 100 * behind);
	if (isfinite(behind)) /* there is no ratio to 0 */
		table_number(t, c->behind, behind, behind == 0 ? "" : buf);
	if (x->n > 1 && x->value > 0) {
		snprintf(buf, sizeof(buf), "%.1f %%", 100 * (x->max - x->min) / x->value);
		table_number(t, c->spread, (x->max - x->min) / x->value, buf);
	}
	table_integer(t, c->n, x->n);
	table_number(t, c->min, x->min, NULL);
	table_number(t, c->max, x->max, NULL);
	table_text(t, c->plan, d->sweeps[cell->sweep].plan);
	table_integer(t, c->sweep, d->sweeps[cell->sweep].id);
	table_integer(t, c->cell, cell->position + 1);
	for (size_t k = 0; k < d->n_axes; k++) {
		int level = dataset_level(d, x->cell, k);

		if (c->axes[k] == SIZE_MAX)
			continue;
		table_text(t, c->axes[k], d->axes[k].values[level]);
		table_show(t, c->axes[k], d->axes[k].shown[level]);
	}
	table_text(t, c->flags, x->flags);
}

static void noise_text(const struct ranking *r, struct text *t)
{
	const struct noise *n = &r->noise;

	if (r->at[0]->value == 0 || r->at[r->n - 1]->value == 0)
		text_add(t, "beside a 0 noise cannot be judged: only equals tie");
	else if (n->is_assumed)
		text_printf(t, "no cell has two trials: noise of %.0f %% is assumed", 100 * n->sigma);
	else
		text_printf(t, "noise of a trial %.1f %%", 100 * n->sigma);
}

static void ranking_head(const struct dataset *d, const struct ranking *r, FILE *out)
{
	const struct dataset_series *v = &d->series[r->series];
	AUTO_TEXT struct text t = { 0 }, left = { 0 };
	AUTO_FREE char *host = text_printable(r->host);
	char count[COUNT_TEXT];

	text_printf(&t, "%s on %s, %s is better: ", v->name, host, better_name(v->better));
	if (r->n == 0) {
		text_add(&t, "nothing to rank");
	} else {
		choose_figure(&t, r->at[0]->value, v->unit);
		if (r->n_best > 1)
			text_printf(&t, ", a tie of %zu cells", r->n_best);
		if (r->n_tied > r->n_best)
			text_printf(&t, "; %zu of %s cannot be told from the best", r->n_tied,
			            count_format((int64_t)r->n, "cell", count));
		else
			text_printf(&t, "; %s", count_format((int64_t)r->n, "cell", count));
		text_add(&t, " (");
		noise_text(r, &t);
		text_add(&t, ")");
	}
	choose_left_out_text(&r->left_out, &left);
	if (left.n > 0)
		text_printf(&t, "\nleft out: %s", left.s);
	fprintf(out, "%s\n", t.s);
}

static int rankings_people(const struct dataset *d, const struct ranking *r, size_t n, const struct best_options *b,
                           const struct options *o, struct err *e)
{
	AUTO_FREE bool *which = xcalloc(d->n_axes + 1, sizeof(*which));

	choose_varying(d, which);
	for (size_t i = 0; i < n; i++) {
		AUTO_TABLE struct table *t = table_new("best");
		struct columns c;
		size_t rows = b->limit > 0 && r[i].n > (size_t)b->limit ? (size_t)b->limit : r[i].n;
		int rc;

		if (i > 0)
			fputc('\n', stdout);
		ranking_head(d, &r[i], stdout);
		columns_add(t, d, which, true, &c);
		for (size_t k = 0; k < rows; k++)
			row_add(t, &c, d, &r[i], k);
		rc = rows > 0 ? table_print(t, o, stdout, e) : 0;
		free(c.axes);
		if (rc < 0)
			return -1;
		if (rows < r[i].n_tied)
			printf("... and %zu more that cannot be told from the best (--limit 0 shows all)\n",
			       r[i].n_tied - rows);
	}
	return 0;
}

/* ---- for programs ---- */

static struct json_object *candidate_json(const struct dataset *d, const struct ranking *r, size_t i)
{
	const struct dataset_result *x = r->at[i];
	const struct dataset_cell *cell = &d->cells[x->cell];
	struct json_object *j = json_object_new_object();

	json_object_object_add(j, "value", number_json(x->value));
	json_object_object_add(j, "min", number_json(x->min));
	json_object_object_add(j, "max", number_json(x->max));
	json_object_object_add(j, "n", json_object_new_int(x->n));
	json_object_object_add(j, "flags", json_object_new_string(x->flags));
	json_object_object_add(j, "plan", json_object_new_string(d->sweeps[cell->sweep].plan));
	json_object_object_add(j, "sweep", json_object_new_int64(d->sweeps[cell->sweep].id));
	json_object_object_add(j, "cell", json_object_new_int64(cell->position + 1));
	json_object_object_add(j, "axes", choose_cell_json(d, x->cell));
	return j;
}

static struct json_object *ranking_json(const struct dataset *d, const struct ranking *r)
{
	const struct dataset_series *v = &d->series[r->series];
	struct json_object *j = json_object_new_object(), *best = json_object_new_array(),
	                   *ties = json_object_new_array(), *noise = json_object_new_object();

	json_object_object_add(j, "metric", json_object_new_string(v->key));
	json_object_object_add(j, "series", json_object_new_string(v->name));
	json_object_object_add(j, "host", json_object_new_string(r->host));
	json_object_object_add(j, "unit", json_object_new_string(v->unit));
	json_object_object_add(j, "better", json_object_new_string(better_name(v->better)));
	json_object_object_add(j, "keep", json_object_new_string(keep_name(v->keep)));
	json_object_object_add(j, "tools", json_object_new_string(v->tools));
	json_object_object_add(noise, "cov", number_json(r->noise.sigma));
	json_object_object_add(noise, "degrees_of_freedom", number_json(r->noise.dof));
	json_object_object_add(noise, "assumed", json_object_new_boolean(r->noise.is_assumed));
	json_object_object_add(j, "noise", noise);
	json_object_object_add(j, "value", r->n > 0 ? number_json(r->at[0]->value) : NULL);
	for (size_t i = 0; i < r->n; i++)
		if (i < r->n_best || r->tied[i])
			json_object_array_add(i < r->n_best ? best : ties, candidate_json(d, r, i));
	json_object_object_add(j, "best", best);
	json_object_object_add(j, "ties", ties);
	json_object_object_add(j, "candidates", json_object_new_int64((int64_t)r->n));
	json_object_object_add(j, "left_out", choose_left_out_json(&r->left_out));
	return j;
}

static int rankings_flat(const struct dataset *d, const struct ranking *r, size_t n, const struct options *o,
                         struct err *e)
{
	AUTO_FREE bool *which = xcalloc(d->n_axes + 1, sizeof(*which));
	AUTO_TABLE struct table *t = table_new("best");
	struct columns c;
	int rc;

	choose_varying(d, which);
	columns_add(t, d, which, false, &c);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < r[i].n; k++)
			row_add(t, &c, d, &r[i], k);
	rc = table_print(t, o, stdout, e);
	free(c.axes);
	return rc;
}

/* ---- all of it ---- */

/* Calls for each host once: host i of the rankings, or NULL after the last. */
static const char *host_at(const struct ranking *r, size_t n, size_t i)
{
	for (size_t k = 0; k < n; k++) {
		bool seen = false;

		for (size_t m = 0; m < k && !seen; m++)
			seen = strcmp(r[m].host, r[k].host) == 0;
		if (!seen && i-- == 0)
			return r[k].host;
	}
	return NULL;
}

static int paretos_print(const struct dataset *d, const struct ranking *r, size_t n, const struct best_options *b,
                         struct json_object *json, struct err *e)
{
	const char *host;

	for (size_t i = 0; (host = host_at(r, n, i)) != NULL; i++) {
		struct pareto p;
		int rc = 0;

		if (pareto_make(d, host, b, &p, e) < 0)
			return -1;
		if (json != NULL)
			json_object_array_add(json, pareto_json(d, &p));
		else
			rc = pareto_print(d, &p, b, stdout, e);
		pareto_done(&p);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int best_json(const struct dataset *d, const struct ranking *r, size_t n, const struct best_options *b,
                     const struct left_out *cells, struct err *e)
{
	struct json_object *root = json_object_new_object(), *metrics = json_object_new_array(),
	                   *paretos = json_object_new_array();

	for (size_t i = 0; i < n; i++)
		json_object_array_add(metrics, ranking_json(d, &r[i]));
	json_object_object_add(root, "metrics", metrics);
	if (b->with_pareto && paretos_print(d, r, n, b, paretos, e) < 0) {
		json_object_put(paretos);
		json_object_put(root);
		return -1;
	}
	json_object_object_add(root, "pareto", paretos);
	json_object_object_add(root, "left_out", choose_left_out_json(cells));
	json_object_object_add(root, "superseded", json_object_new_int64(d->n_superseded));
	json_object_object_add(root, "environments", choose_environments_json(d));
	json_print(root, stdout);
	return 0;
}

static int best_formats(const struct dataset *d, const struct ranking *r, size_t n, const struct best_options *b,
                        const struct options *o, struct err *e)
{
	struct left_out cells = { 0 };
	AUTO_TEXT struct text left = { 0 };

	choose_cells_left_out(d, &cells);
	if (b->format == TABLE_JSON && options_text(o, "columns") == NULL)
		return best_json(d, r, n, b, &cells, e);
	if (b->format != TABLE_PEOPLE)
		return rankings_flat(d, r, n, o, e);
	if (rankings_people(d, r, n, b, o, e) < 0 || (b->with_pareto && paretos_print(d, r, n, b, NULL, e) < 0))
		return -1;
	choose_left_out_text(&cells, &left);
	if (left.n > 0)
		fprintf(stderr, PROGRAM ": cells left out: %s\n", left.s);
	if (b->is_walk)
		fprintf(stderr, PROGRAM ": the %zu foremost results were looked at; %s\n", d->n_results,
		        b->is_cut ? "of some metrics more than that cannot be told from the best" :
		                    "the others cannot be among the best");
	if (d->n_superseded > 0)
		fprintf(stderr, PROGRAM ": %" PRId64 " older results of the same configs on the same hosts are left out (--all takes them)\n",
		        d->n_superseded);
	choose_environments_note(d);
	choose_details_note(d);
	return 0;
}

int best_print(const struct dataset *d, const struct best_options *b, const struct options *o, struct err *e)
{
	struct ranking *r;
	size_t n;
	int rc;

	if (b->weights != NULL && weights_check(d, b->weights, e) < 0)
		return -1;
	best_rank(d, b->with_flagged, &r, &n);
	if (n == 0 && b->format == TABLE_PEOPLE)
		fprintf(stderr, PROGRAM ": no result meets the filter\n");
	rc = best_formats(d, r, n, b, o, e);
	for (size_t i = 0; i < n; i++)
		ranking_done(&r[i]);
	free(r);
	return rc < 0 ? -1 : EXIT_GOOD;
}
