/* SPDX-License-Identifier: MIT
 *
 * Dataset -> chart; see plot.h.
 */
#include "cli/plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "schema/stats.h"

#define LINES_MAX 12
#define BARS_MAX 60

struct builder {
	const struct dataset *d;
	const struct dataset_result **r; /* owned */
	size_t n;
	bool *varies; /* owned */
	int x, by;    /* axes; -1: none */
	struct arena *a;
	struct chart *c;
	size_t *column, *row; /* owned; of each result */
	const struct unit *unit;
	struct unit own;
};

static int axis_named(const struct builder *b, const char *name, int *ret, struct err *e)
{
	AUTO_FREE const char **names = xcalloc(b->d->n_axes + 1, sizeof(*names));

	if (name == NULL)
		return 0;
	*ret = dataset_axis(b->d, name);
	if (*ret >= 0)
		return 0;
	for (size_t k = 0; k < b->d->n_axes; k++)
		names[k] = b->d->axes[k].name;
	err_set(e, ERR_USAGE, "plot: no axis '%s' in the selection", name);
	return text_nearest(name, names, b->d->n_axes) != NULL ?
	               err_hint(e, "did you mean '%s'?", text_nearest(name, names, b->d->n_axes)) :
	               -1;
}

static void varying_find(struct builder *b)
{
	for (size_t k = 0; k < b->d->n_axes; k++)
		for (size_t i = 1; i < b->n && !b->varies[k]; i++)
			b->varies[k] = dataset_level(b->d, b->r[i]->cell, k) != dataset_level(b->d, b->r[0]->cell, k);
}

/* Whether results with the same value of axis a have the same value of axis b. */
static bool axis_follows(const struct builder *b, size_t axis, size_t of)
{
	AUTO_FREE int *seen = xcalloc(b->d->axes[of].n_values + 1, sizeof(*seen));

	for (size_t i = 0; i < b->n; i++) {
		int *level = &seen[dataset_level(b->d, b->r[i]->cell, of)],
		    own = dataset_level(b->d, b->r[i]->cell, axis) + 1;

		if (*level != 0 && *level != own)
			return false;
		*level = own;
	}
	return true;
}

/* A label that follows from another one (the RAID level from the layout's name) tells nothing more in a picture. */
static void labels_drop(struct builder *b)
{
	for (size_t k = b->d->n_axes; k-- > 0;) {
		bool follows = false;

		for (size_t of = 0; of < b->d->n_axes && !follows; of++)
			follows = of != k && b->varies[of] && text_starts(b->d->axes[of].name, "label.") &&
			          axis_follows(b, k, of);
		if (follows && text_starts(b->d->axes[k].name, "label.") && (int)k != b->x && (int)k != b->by)
			b->varies[k] = false;
	}
}

/* Without --x: the axis with the most values that are numbers, else the first that varies. */
static void axes_choose(struct builder *b)
{
	size_t most = 1;

	for (size_t k = 0; k < b->d->n_axes && b->x < 0; k++) {
		const struct dataset_axis *x = &b->d->axes[k];
		double v;

		if (b->varies[k] && x->n_values > most && number_parse(x->values[0], &v) == 0) {
			most = x->n_values;
			b->x = (int)k;
		}
	}
	for (size_t k = 0; k < b->d->n_axes && b->x < 0; k++)
		if (b->varies[k])
			b->x = (int)k;
	for (size_t k = 0; k < b->d->n_axes && b->c->kind == CHART_HEAT && b->by < 0; k++)
		if (b->varies[k] && (int)k != b->x)
			b->by = (int)k;
}

static bool has_hosts(const struct builder *b)
{
	const char *first = b->d->sweeps[b->d->cells[b->r[0]->cell].sweep].host;

	for (size_t i = 1; i < b->n; i++)
		if (strcmp(b->d->sweeps[b->d->cells[b->r[i]->cell].sweep].host, first) != 0)
			return true;
	return false;
}

/* What tells lines apart: --by, or every other axis that varies; and the host where there are several.  Bars: all
 * that varies. */
static const char *line_name(const struct builder *b, const struct dataset_result *r)
{
	AUTO_TEXT struct text t = { 0 };
	bool is_bar = b->c->kind == CHART_BARS;

	for (size_t k = 0; k < b->d->n_axes; k++) {
		if (b->by >= 0 && !is_bar ? (int)k != b->by :
		                            !b->varies[k] || ((int)k == b->x && !is_bar && b->c->kind != CHART_HISTORY))
			continue;
		text_printf(&t, "%s%s", t.n > 0 ? ", " : "", b->d->axes[k].shown[dataset_level(b->d, r->cell, k)]);
	}
	if (b->c->kind != CHART_HEAT && has_hosts(b))
		text_printf(&t, "%s%s", t.n > 0 ? ", " : "", b->d->sweeps[b->d->cells[r->cell].sweep].host);
	return arena_strdup(b->a, t.n > 0 ? t.s : is_bar ? "the cell" : "all");
}

static const char *key_label(const struct builder *b)
{
	AUTO_TEXT struct text t = { 0 };

	for (size_t k = 0; k < b->d->n_axes; k++)
		if (b->by >= 0 ? (int)k == b->by : b->varies[k] && ((int)k != b->x || b->c->kind == CHART_HISTORY))
			text_printf(&t, "%s%s", t.n > 0 ? ", " : "", b->d->axes[k].name);
	if (b->c->kind != CHART_HEAT && has_hosts(b))
		text_printf(&t, "%shost", t.n > 0 ? ", " : "");
	return arena_strdup(b->a, text_str(&t));
}

static size_t name_slot(const char **names, size_t *n, const char *name)
{
	size_t i = 0;

	while (i < *n && strcmp(names[i], name) != 0)
		i++;
	if (i == *n)
		names[(*n)++] = name;
	return i;
}

static int time_compare(const void *a, const void *b, void *dataset)
{
	const struct dataset *d = dataset;
	int64_t x = d->cells[(*(const struct dataset_result *const *)a)->cell].started_ms,
	        y = d->cells[(*(const struct dataset_result *const *)b)->cell].started_ms;

	return (x > y) - (x < y);
}

static void columns_place(struct builder *b)
{
	struct chart *c = b->c;

	if (c->kind == CHART_LINE || c->kind == CHART_HEAT) {
		const struct dataset_axis *x = &b->d->axes[b->x];
		AUTO_FREE bool *used = xcalloc(x->n_values + 1, sizeof(*used));
		AUTO_FREE size_t *place = xcalloc(x->n_values + 1, sizeof(*place));

		for (size_t i = 0; i < b->n; i++)
			used[dataset_level(b->d, b->r[i]->cell, (size_t)b->x)] = true;
		for (size_t v = 0; v < x->n_values; v++) {
			place[v] = c->n_x;
			if (used[v])
				c->x[c->n_x++] = x->shown[v][0] != '\0' ? x->shown[v] : "(none)";
		}
		for (size_t i = 0; i < b->n; i++)
			b->column[i] = place[dataset_level(b->d, b->r[i]->cell, (size_t)b->x)];
		return;
	}
	if (c->kind == CHART_HISTORY)
		c->x_seconds = arena_array(b->a, b->n + 1, sizeof(*c->x_seconds));
	if (c->kind == CHART_HISTORY && b->n > 0)
		qsort_r(b->r, b->n, sizeof(*b->r), time_compare, (void *)b->d);
	for (size_t i = 0; i < b->n; i++) {
		char time[SIZE_TEXT];

		int64_t started_ms = b->d->cells[b->r[i]->cell].started_ms;

		b->column[i] = name_slot(c->x, &c->n_x,
		                         c->kind == CHART_BARS ? line_name(b, b->r[i]) :
		                                                 arena_strdup(b->a, time_format_utc(started_ms, time)));
		if (c->kind == CHART_HISTORY)
			c->x_seconds[b->column[i]] = floor((double)started_ms / 1000);
	}
}

static int rows_place(struct builder *b, struct err *e)
{
	struct chart *c = b->c;

	for (size_t i = 0; i < b->n; i++)
		b->row[i] = c->kind == CHART_BARS ? name_slot(c->lines, &c->n_lines, "all") :
		                                    name_slot(c->lines, &c->n_lines, line_name(b, b->r[i]));
	if (c->kind != CHART_HEAT && c->n_lines > LINES_MAX) {
		err_set(e, ERR_USAGE, "plot: %zu lines cannot be told apart in one picture", c->n_lines);
		return err_hint(e, "narrow the filter, or choose one axis for the lines by --by");
	}
	if (c->kind == CHART_BARS && c->n_x > BARS_MAX) {
		err_set(e, ERR_USAGE, "plot: %zu bars are too many for one picture", c->n_x);
		return err_hint(e, "narrow the filter, or draw lines: --kind line");
	}
	return 0;
}

/* Results of one point -> their median, with the extremes of all trials. */
static void points_fill(struct builder *b)
{
	struct chart *c = b->c;
	AUTO_FREE double *v = xcalloc(b->n + 1, sizeof(*v));

	c->points = arena_array(b->a, c->n_lines * c->n_x + 1, sizeof(*c->points));
	for (size_t p = 0; p < c->n_lines * c->n_x; p++) {
		struct point *at = &c->points[p];
		size_t n = 0;

		*at = (struct point){ NAN, NAN, NAN, 0 };
		for (size_t i = 0; i < b->n; i++) {
			const struct dataset_result *r = b->r[i];

			if (b->row[i] * c->n_x + b->column[i] != p)
				continue;
			v[n++] = r->value / b->unit->factor;
			at->min = n == 1 ? r->min / b->unit->factor : fmin(at->min, r->min / b->unit->factor);
			at->max = n == 1 ? r->max / b->unit->factor : fmax(at->max, r->max / b->unit->factor);
			at->n += r->n;
		}
		if (n > 0)
			at->value = stats_median(v, n);
		c->n_merged += n > 1 ? n : 0;
	}
}

/* What a selection is about: plans, hosts, first and last day, trials behind a result. */
struct extent {
	const char *plans[64], *hosts[64];
	size_t n_plans, n_hosts;
	int64_t from_ms, to_ms;
	int least, most;
};

static void extent_find(const struct builder *b, struct extent *x)
{
	*x = (struct extent){ .from_ms = INT64_MAX, .least = INT32_MAX };
	for (size_t i = 0; i < b->n; i++) {
		const struct dataset_cell *c = &b->d->cells[b->r[i]->cell];

		if (x->n_plans < 63)
			name_slot(x->plans, &x->n_plans, b->d->sweeps[c->sweep].plan);
		if (x->n_hosts < 63)
			name_slot(x->hosts, &x->n_hosts, b->d->sweeps[c->sweep].host);
		x->from_ms = c->started_ms < x->from_ms ? c->started_ms : x->from_ms;
		x->to_ms = c->started_ms > x->to_ms ? c->started_ms : x->to_ms;
		x->least = b->r[i]->n < x->least ? b->r[i]->n : x->least;
		x->most = b->r[i]->n > x->most ? b->r[i]->n : x->most;
	}
}

static void titles_make(struct builder *b, const struct dataset_series *s)
{
	AUTO_TEXT struct text t = { 0 };
	char from[SIZE_TEXT], to[SIZE_TEXT];
	struct extent x;

	extent_find(b, &x);
	for (size_t i = 0; i < x.n_plans; i++)
		text_printf(&t, "%s%s", i > 0 ? ", " : "", x.plans[i]);
	for (size_t i = 0; i < x.n_hosts; i++)
		text_printf(&t, "%s%s", i > 0 ? ", " : " on ", x.hosts[i]);
	text_printf(&t, "; %.10s", time_format_utc(x.from_ms, from));
	if (strncmp(from, time_format_utc(x.to_ms, to), 10) != 0)
		text_printf(&t, " to %.10s", to);
	if (x.least == x.most)
		text_printf(&t, "; %s of %d trial%s", keep_name(s->keep), x.most, x.most == 1 ? "" : "s");
	else
		text_printf(&t, "; %s of %d to %d trials", keep_name(s->keep), x.least, x.most);
	b->c->subtitle = arena_strdup(b->a, t.s);
	b->c->title = s->name;
	b->c->unit = b->unit->name;
	b->c->y_label = arena_printf(b->a, "%s (%s)", s->key, b->unit->name);
	b->c->x_label = b->c->kind == CHART_HISTORY ? "time (UTC)" :
	                b->c->kind == CHART_BARS    ? key_label(b) :
	                                              b->d->axes[b->x].name;
	b->c->key_label = key_label(b);
}

static int chart_build(struct builder *b, const struct dataset_series *s, const struct chart_options *o, struct err *e)
{
	double largest = 0;

	varying_find(b);
	if (axis_named(b, o->x, &b->x, e) < 0 || axis_named(b, o->by, &b->by, e) < 0)
		return -1;
	labels_drop(b);
	if (b->c->kind == CHART_LINE || b->c->kind == CHART_HEAT)
		axes_choose(b);
	if ((b->c->kind == CHART_LINE && b->x < 0) || (b->c->kind == CHART_HEAT && (b->x < 0 || b->by < 0))) {
		err_set(e, ERR_USAGE, "plot: %s varies in the selection", b->x < 0 ? "no axis" : "only one axis");
		return err_hint(e, "--kind bars and --kind history need none");
	}
	if (o->kind == CHART_HEAT && has_hosts(b)) {
		err_set(e, ERR_USAGE, "plot: a heat map shows one host, the selection has several");
		return err_hint(e, "choose one by host=NAME");
	}
	for (size_t i = 0; i < b->n; i++)
		largest = fmax(largest, fabs(b->r[i]->value));
	b->unit = unit_choose(s->unit, largest, o->is_binary, &b->own);
	columns_place(b);
	if (rows_place(b, e) < 0)
		return -1;
	points_fill(b);
	titles_make(b, s);
	return 0;
}

int chart_make(const struct dataset *d, size_t series, const struct chart_options *o, struct arena *a,
               struct chart *ret, struct err *e)
{
	struct builder b = { .d = d, .x = -1, .by = -1, .a = a, .c = ret };
	int rc;

	*ret = (struct chart){ .kind = o->kind };
	b.r = xcalloc(d->n_results + 1, sizeof(*b.r));
	b.varies = xcalloc(d->n_axes + 1, sizeof(*b.varies));
	for (size_t i = 0; i < d->n_results; i++)
		if (d->results[i].series == series)
			b.r[b.n++] = &d->results[i];
	b.column = xcalloc(b.n + 1, sizeof(*b.column));
	b.row = xcalloc(b.n + 1, sizeof(*b.row));
	ret->x = arena_array(a, d->n_results + 1, sizeof(*ret->x));
	ret->lines = arena_array(a, d->n_results + 1, sizeof(*ret->lines));
	rc = chart_build(&b, &d->series[series], o, e);
	free(b.r);
	free(b.varies);
	free(b.column);
	free(b.row);
	return rc;
}
