/* SPDX-License-Identifier: MIT
 *
 * A comparison for people and for programs; see compare.h.
 */
#include <math.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/json_write.h"
#include "cli/stream.h"

static void interval_text(double low, double high, char *buf, size_t size)
{
	char a[SIZE_TEXT], b[SIZE_TEXT];

	if (low <= 0 || !isfinite(high))
		snprintf(buf, size, "unknown");
	else
		snprintf(buf, size, "%s to %s", unit_change(low, a), unit_change(high, b));
}

/* low: of the interval; 0: none could be given. */
static const char *verdict(const struct comparison *c, const struct compared *m, double ratio, double low,
                           bool is_decided, bool is_regression)
{
	enum better better = c->side[0].d->series[m->series].better;

	if (is_regression)
		return "regression";
	if (!is_decided)
		return ratio == 1 ? "equal" : low > 0 ? "not told from noise" : "noise not known";
	if (better == BETTER_NEITHER)
		return "changed";
	return (ratio > 1) == (better == BETTER_HIGHER) ? "better" : "worse";
}

static void p_text(double p, char buf[SIZE_TEXT])
{
	if (isnan(p))
		buf[0] = '\0';
	else if (p < 0.0001)
		snprintf(buf, SIZE_TEXT, "<0.0001");
	else
		snprintf(buf, SIZE_TEXT, p < 0.01 ? "%.4f" : "%.2f", p);
}

static void metric_head(const struct comparison *c, const struct compared *m, FILE *out)
{
	const struct dataset_series *v = &c->side[0].d->series[m->series];
	char change[SIZE_TEXT], interval[3 * SIZE_TEXT], p[SIZE_TEXT], floor_p[SIZE_TEXT];

	if (m->refused != NULL) {
		fprintf(out, "%s: %zu cell%s not compared: %s\n", v->key, m->n, m->n == 1 ? "" : "s", m->refused);
		return;
	}
	interval_text(m->pooled.low, m->pooled.high, interval, sizeof(interval));
	p_text(m->pooled.p, p);
	fprintf(out, "%s (%s is better): %s over %zu matched cell%s, 95 %% interval %s: %s\n", v->key,
	        better_name(v->better), unit_change(m->pooled.ratio, change), m->n, m->n == 1 ? "" : "s", interval,
	        verdict(c, m, m->pooled.ratio, m->pooled.low, m->pooled.is_decided, m->is_regression));
	p_text(m->pooled.p_floor, floor_p);
	fprintf(out, "p %s, %s", p,
	        m->pooled.is_exact ? "exact permutation within the cells" : "permutation within the cells");
	if (m->pooled.is_exact && m->pooled.p_floor >= 0.05)
		fprintf(out, "; so few trials cannot give less than %s", floor_p);
	if (m->noise.is_assumed)
		fprintf(out, "; no cell has two trials, so the noise of a cell is not known");
	else
		fprintf(out, "; noise of a trial %.1f %%", 100 * m->noise.sigma);
	fputc('\n', out);
}

static void cell_row(const struct comparison *c, const struct compared *m, const struct matched *x, const bool *which,
                     struct table *t, struct arena *a)
{
	const struct dataset *d = c->side[0].d;
	const struct dataset_series *v = &d->series[m->series];
	const char *cell = dataset_cell_text(d, x->a->cell, which, a);
	char buf[3 * SIZE_TEXT];

	table_row(t);
	table_text(t, 0,
	           c->is_by_host ? arena_printf(a, "host=%s %s", d->sweeps[d->cells[x->a->cell].sweep].host, cell) :
	                           cell);
	table_number(t, 1, x->a->value, unit_text(x->a->value, v->unit, buf));
	table_number(t, 2, x->b->value, unit_text(x->b->value, v->unit, buf));
	table_number(t, 3, x->test.ratio, unit_change(x->test.ratio, buf));
	interval_text(x->test.low, x->test.high, buf, sizeof(buf));
	table_text(t, 4, buf);
	p_text(x->test.p, buf);
	table_text(t, 5, buf);
	table_text(t, 6, verdict(c, m, x->test.ratio, x->test.low, x->test.is_decided, x->is_regression));
}

static void cells_print(const struct comparison *c, const struct compared *m, int64_t limit, FILE *out)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TABLE struct table *t = table_new("cells");
	AUTO_FREE bool *which = xcalloc(c->side[0].d->n_axes + 1, sizeof(*which));
	bool has_floor = false;
	char count[COUNT_TEXT];

	choose_varying(c->side[0].d, which);
	table_column(t, "cell", "CELL", TABLE_KEY);
	table_column(t, "a", c->side[0].name, TABLE_RIGHT);
	table_column(t, "b", c->side[1].name, TABLE_RIGHT);
	table_column(t, "change", "CHANGE", TABLE_RIGHT);
	table_column(t, "interval", "95 %", 0);
	table_column(t, "p", "P", TABLE_RIGHT);
	table_column(t, "verdict", "", 0);
	for (size_t i = 0; i < m->n && (limit == 0 || (int64_t)i < limit); i++)
		cell_row(c, m, &m->at[i], which, t, a);
	table_print_as(t, TABLE_PEOPLE, NULL, table_width(out), out, NULL);
	if (limit > 0 && m->n > (size_t)limit)
		fprintf(out, "... and %s (--limit 0 shows all)\n",
		        count_format((int64_t)m->n - limit, "more cell", count));
	for (size_t i = 0; i < m->n && !has_floor; i++) {
		const struct matched *x = &m->at[i];

		has_floor = x->test.p_floor >= 0.05;
		if (has_floor)
			fprintf(out, "with %d against %d trials the smallest two-sided p of a cell is %.2f: go by the intervals\n", x->pair.n_a,
			        x->pair.n_b, x->test.p_floor);
	}
}

static void differences_print(const struct comparison *c, FILE *out)
{
	AUTO_TABLE struct table *t = table_new("differences");

	if (c->n_differences == 0) {
		fprintf(out, "\nno recorded fact of the environments differs\n");
		return;
	}
	fprintf(out, "\ndiffers between the sides, what changes a number first:\n");
	table_column(t, "fact", "FACT", TABLE_KEY);
	table_column(t, "a", c->side[0].name, TABLE_WRAP);
	table_column(t, "b", c->side[1].name, TABLE_WRAP);
	for (size_t i = 0; i < c->n_differences; i++) {
		table_row(t);
		table_text(t, 0, c->differences[i].key);
		table_text(t, 1, c->differences[i].a[0] ? c->differences[i].a : "(not recorded)");
		table_text(t, 2, c->differences[i].b[0] ? c->differences[i].b : "(not recorded)");
	}
	table_print_as(t, TABLE_PEOPLE, NULL, table_width(out), out, NULL);
}

void comparison_people(const struct comparison *c, int64_t limit, FILE *out)
{
	AUTO_TEXT struct text left = { 0 };
	char count[COUNT_TEXT];

	for (size_t i = 0; i < c->n_metrics; i++) {
		if (i > 0)
			fputc('\n', out);
		metric_head(c, &c->metrics[i], out);
		if (c->metrics[i].refused == NULL)
			cells_print(c, &c->metrics[i], limit, out);
	}
	for (size_t i = 0; i < c->n_following; i++)
		fprintf(out, "%s%s%s", i == 0 ? "\nchanges along and was not matched: " : ", ", c->following[i],
		        i + 1 == c->n_following ? "\n" : "");
	differences_print(c, out);
	choose_left_out_text(&c->left_out, &left);
	if (c->only[0] + c->only[1] > 0)
		fprintf(out, "\nwithout a counterpart: %s of %s, %zu of %s\n",
		        count_format((int64_t)c->only[0], "result", count), c->side[0].name, c->only[1],
		        c->side[1].name);
	if (c->n_several > 0)
		fprintf(out, "%s left out: other hosts of the same side measured the same settings later, and only their figures were taken (host= chooses)\n",
		        count_format((int64_t)c->n_several, "result", count));
	if (left.n > 0)
		fprintf(out, "results left out: %s\n", left.s);
	choose_details_note(c->side[0].d->has_left_details ? c->side[0].d : c->side[1].d);
}

/* ---- for programs ---- */

static struct json_object *result_json(const struct dataset *d, const struct dataset_result *r)
{
	struct json_object *j = json_object_new_object();

	json_object_object_add(j, "value", number_json(r->value));
	json_object_object_add(j, "min", number_json(r->min));
	json_object_object_add(j, "max", number_json(r->max));
	json_object_object_add(j, "n", json_object_new_int(r->n));
	json_object_object_add(j, "sweep", json_object_new_int64(d->sweeps[d->cells[r->cell].sweep].id));
	json_object_object_add(j, "host", json_object_new_string(d->sweeps[d->cells[r->cell].sweep].host));
	json_object_object_add(j, "cell", json_object_new_int64(d->cells[r->cell].position + 1));
	json_object_object_add(j, "flags", json_object_new_string(r->flags));
	return j;
}

static struct json_object *matched_json(const struct comparison *c, const struct compared *m, const struct matched *x)
{
	struct json_object *j = json_object_new_object();

	json_object_object_add(j, "axes", choose_cell_json(c->side[0].d, x->a->cell));
	json_object_object_add(j, "a", result_json(c->side[0].d, x->a));
	json_object_object_add(j, "b", result_json(c->side[1].d, x->b));
	json_object_object_add(j, "ratio", number_json(x->test.ratio));
	json_object_object_add(j, "low", x->test.low > 0 ? number_json(x->test.low) : NULL);
	json_object_object_add(j, "high", number_json(x->test.high));
	json_object_object_add(j, "p", number_json(x->test.p));
	json_object_object_add(j, "p_floor", number_json(x->test.p_floor));
	json_object_object_add(j, "verdict",
	                       json_object_new_string(verdict(c, m, x->test.ratio, x->test.low, x->test.is_decided,
	                                                      x->is_regression)));
	return j;
}

static struct json_object *pooled_json(const struct comparison *c, const struct compared *m)
{
	struct json_object *pooled = json_object_new_object();

	json_object_object_add(pooled, "cells", json_object_new_int64((int64_t)m->pooled.n));
	json_object_object_add(pooled, "ratio", number_json(m->pooled.ratio));
	json_object_object_add(pooled, "low", m->pooled.low > 0 ? number_json(m->pooled.low) : NULL);
	json_object_object_add(pooled, "high", number_json(m->pooled.high));
	json_object_object_add(pooled, "p", number_json(m->pooled.p));
	json_object_object_add(pooled, "p_floor", m->pooled.is_exact ? number_json(m->pooled.p_floor) : NULL);
	json_object_object_add(pooled, "exact", json_object_new_boolean(m->pooled.is_exact));
	json_object_object_add(pooled, "verdict",
	                       json_object_new_string(verdict(c, m, m->pooled.ratio, m->pooled.low,
	                                                      m->pooled.is_decided, m->is_regression)));
	return pooled;
}

static void compared_write(struct json_writer *w, const struct comparison *c, const struct compared *m)
{
	const struct dataset_series *v = &c->side[0].d->series[m->series];

	json_begin(w, NULL, '{');
	json_put(w, "metric", json_object_new_string(v->key));
	json_put(w, "unit", json_object_new_string(v->unit));
	json_put(w, "better", json_object_new_string(better_name(v->better)));
	json_put(w, "refused", m->refused != NULL ? json_object_new_string(m->refused) : NULL);
	json_put(w, "matched", json_object_new_int64((int64_t)m->n));
	if (m->refused == NULL) {
		json_put(w, "noise_percent", number_json(100 * m->noise.sigma));
		json_put(w, "noise_assumed", json_object_new_boolean(m->noise.is_assumed));
		json_put(w, "pooled", pooled_json(c, m));
		json_begin(w, "cells", '[');
		for (size_t i = 0; i < m->n; i++)
			json_put(w, NULL, matched_json(c, m, &m->at[i]));
		json_end(w);
		json_put(w, "regressions", json_object_new_int64((int64_t)m->n_regressions));
	}
	json_end(w);
}

static struct json_object *differences_json(const struct comparison *c)
{
	struct json_object *facts = json_object_new_array();

	for (size_t i = 0; i < c->n_differences; i++) {
		struct json_object *f = json_object_new_object();

		json_object_object_add(f, "fact", json_object_new_string(c->differences[i].key));
		json_object_object_add(f, "a", json_object_new_string(c->differences[i].a));
		json_object_object_add(f, "b", json_object_new_string(c->differences[i].b));
		json_object_array_add(facts, f);
	}
	return facts;
}

static struct json_object *following_json(const struct comparison *c)
{
	struct json_object *names = json_object_new_array();

	if (c->ignored != NULL)
		json_object_array_add(names, json_object_new_string(c->ignored));
	for (size_t i = 0; i < c->n_following; i++)
		json_object_array_add(names, json_object_new_string(c->following[i]));
	return names;
}

void comparison_json(const struct comparison *c)
{
	struct json_writer w = { .out = stdout };

	json_begin(&w, NULL, '{');
	json_put(&w, "a", json_object_new_string(c->side[0].name));
	json_put(&w, "b", json_object_new_string(c->side[1].name));
	json_begin(&w, "metrics", '[');
	for (size_t i = 0; i < c->n_metrics; i++)
		compared_write(&w, c, &c->metrics[i]);
	json_end(&w);
	json_put(&w, "only_a", json_object_new_int64((int64_t)c->only[0]));
	json_put(&w, "only_b", json_object_new_int64((int64_t)c->only[1]));
	json_put(&w, "superseded", json_object_new_int64((int64_t)c->n_several));
	json_put(&w, "matched_by_host", json_object_new_boolean(c->is_by_host));
	json_put(&w, "not_matched", following_json(c));
	json_put(&w, "differences", differences_json(c));
	json_put(&w, "left_out", choose_left_out_json(&c->left_out));
	json_put(&w, "regression", isnan(c->limit) ? NULL : json_object_new_boolean(comparison_regressed(c)));
	json_end(&w);
}

/* Columns of a row, axes after them. */
static const char *const flat_names[] = { "metric", "unit", "a", "b", "ratio", "low", "high", "p", "p_floor", "verdict" };
#define N_FLAT ARRAY_SIZE(flat_names)

static void flat_row(const struct comparison *c, const struct compared *m, const struct matched *x,
                     struct stream_value *v)
{
	const struct dataset *d = c->side[0].d;
	const double numbers[] = { x->a->value, x->b->value, x->test.ratio, x->test.low > 0 ? x->test.low : NAN, x->test.high, x->test.p,
		                   x->test.p_floor };

	v[0] = (struct stream_value){ .kind = STREAM_TEXT, .text = d->series[m->series].key };
	v[1] = (struct stream_value){ .kind = STREAM_TEXT, .text = d->series[m->series].unit };
	for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
		v[2 + k] = (struct stream_value){ .kind = isfinite(numbers[k]) ? STREAM_NUMBER : STREAM_EMPTY, .number = numbers[k] };
	v[9] = (struct stream_value){ .kind = STREAM_TEXT,
		                      .text = verdict(c, m, x->test.ratio, x->test.low, x->test.is_decided,
		                                      x->is_regression) };
	for (size_t k = 0; k < d->n_axes; k++)
		v[N_FLAT + k] =
			(struct stream_value){ .kind = STREAM_TEXT, .text = d->axes[k].values[dataset_level(d, x->a->cell, k)] };
}

/* Calls for each compared cell: into the stream, or into a table. */
static int flat_rows(const struct comparison *c, struct stream *s, struct table *t, struct stream_value *values,
                     size_t n, const struct options *o, struct err *e)
{
	for (size_t i = 0; i < c->n_metrics; i++) {
		const struct compared *m = &c->metrics[i];

		for (size_t r = 0; r < m->n && m->refused == NULL; r++) {
			flat_row(c, m, &m->at[r], values);
			if (t == NULL) {
				stream_row(s, values);
				continue;
			}
			stream_to_table(t, values, n);
			if (table_flush(t, o, stdout, e) < 0)
				return -1;
		}
	}
	return 0;
}

int comparison_flat(const struct comparison *c, enum table_format format, const struct options *o, struct err *e)
{
	size_t n = N_FLAT + c->side[0].d->n_axes;
	AUTO_FREE const char **names = xcalloc(n + 1, sizeof(*names));
	AUTO_FREE struct stream_value *values = xcalloc(n + 1, sizeof(*values));
	AUTO_TABLE struct table *t = table_new("cells");
	struct stream s;

	memcpy(names, flat_names, sizeof(flat_names));
	for (size_t k = 0; k < c->side[0].d->n_axes; k++)
		names[N_FLAT + k] = c->side[0].d->axes[k].name;
	if (format == TABLE_MARKDOWN || format == TABLE_HTML) {
		for (size_t i = 0; i < n; i++)
			table_column(t, names[i], names[i], i >= 2 && i <= 8 ? TABLE_RIGHT : 0);
		return flat_rows(c, NULL, t, values, n, o, e) < 0 ? -1 : table_print(t, o, stdout, e);
	}
	if (stream_begin(&s, "cells", format, names, n, options_text(o, "columns"), stdout, e) < 0)
		return -1;
	flat_rows(c, &s, NULL, values, n, o, e);
	stream_end(&s);
	return 0;
}
