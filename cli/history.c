/* SPDX-License-Identifier: MIT
 *
 * Visits in the order of time, and what changed between them; see history.h.
 */
#include "cli/history.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct dataset_cell *visit_cell(const struct dataset *d, const struct visit *v)
{
	return &d->cells[v->r->cell];
}

static int visit_compare(const void *a, const void *b, void *dataset)
{
	const struct dataset *d = dataset;
	const struct visit *x = a, *y = b;
	const struct dataset_cell *p = visit_cell(d, x), *q = visit_cell(d, y);

	if (p->config_id != q->config_id)
		return p->config_id < q->config_id ? -1 : 1;
	if (x->r->series != y->r->series)
		return x->r->series < y->r->series ? -1 : 1;
	if (p->started_ms != q->started_ms)
		return p->started_ms < q->started_ms ? -1 : 1;
	return (p->id > q->id) - (p->id < q->id);
}

/* What was left at the kernel's default and has another value now. */
static void defaults_changed(const struct dataset *d, size_t before, size_t now, struct text *ret)
{
	for (size_t k = 0; k < d->n_axes; k++) {
		int x = dataset_level(d, before, k), y = dataset_level(d, now, k);

		if (x != y && text_starts(d->axes[k].values[x], KERNEL_DEFAULT) &&
		    text_starts(d->axes[k].values[y], KERNEL_DEFAULT))
			text_printf(ret, "%sdefault %s %s -> %s", ret->n > 0 ? ", " : "", d->axes[k].name,
			            d->axes[k].shown[x] + strlen(KERNEL_DEFAULT),
			            d->axes[k].shown[y] + strlen(KERNEL_DEFAULT));
	}
}

static int changes_find(struct store *s, const struct dataset *d, const struct visit *before, struct visit *now,
                        struct arena *a, struct err *e)
{
	struct side_cell x = { visit_cell(d, before)->id, visit_cell(d, before)->environment_id },
	                 y = { visit_cell(d, now)->id, visit_cell(d, now)->environment_id };
	AUTO_TEXT struct text t = { 0 };
	struct difference *differences;
	size_t n;

	if (store_differences(s, &x, 1, &y, 1, a, &differences, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		text_printf(&t, "%s%s %s -> %s", t.n > 0 ? ", " : "", differences[i].key,
		            differences[i].a[0] ? differences[i].a : "?", differences[i].b[0] ? differences[i].b : "?");
	defaults_changed(d, before->r->cell, now->r->cell, &t);
	now->changes = arena_strdup(a, text_str(&t));
	return 0;
}

static int visits_link(struct store *s, struct history *h, struct arena *a, struct err *e)
{
	for (size_t i = 0; i < h->n; i++) {
		struct visit *v = &h->at[i];
		const struct dataset_sweep *w = &h->d->sweeps[visit_cell(h->d, v)->sweep];
		size_t k = i;

		v->group = h->n_groups;
		v->change = NAN;
		v->changes = "";
		if (i > 0 && visit_cell(h->d, &h->at[i - 1])->config_id == visit_cell(h->d, v)->config_id &&
		    h->at[i - 1].r->series == v->r->series)
			v->group = h->at[i - 1].group;
		else
			h->n_groups++;
		if (h->limit > 0 && v->group >= (size_t)h->limit)
			continue; /* not shown: no need to look for changes */
		while (k-- > 0 && h->at[k].group == v->group) {
			if (h->d->sweeps[visit_cell(h->d, &h->at[k])->sweep].host_id != w->host_id)
				continue;
			v->change = v->r->value / h->at[k].r->value;
			if (changes_find(s, h->d, &h->at[k], v, a, e) < 0)
				return -1;
			break;
		}
	}
	return 0;
}

int history_make(struct store *s, const struct dataset *d, const char *digest, struct arena *a, struct history *ret,
                 struct err *e)
{
	struct visit *at = xcalloc(d->n_results + 1, sizeof(*at));
	int64_t config_id = 0;
	size_t groups = 0;

	ret->d = d;
	ret->at = at;
	if (digest != NULL && store_config_find(s, digest, &config_id, e) < 0)
		return -1;
	for (size_t i = 0; i < d->n_results; i++)
		if (digest == NULL || d->cells[d->results[i].cell].config_id == config_id)
			at[ret->n++] = (struct visit){ .r = &d->results[i] };
	if (ret->n > 0)
		qsort_r(at, ret->n, sizeof(*at), visit_compare, (void *)d);
	if (visits_link(s, ret, a, e) < 0)
		return -1;
	groups = ret->n_groups;
	if (ret->limit > 0 && groups > (size_t)ret->limit) {
		ret->n_hidden = groups - (size_t)ret->limit;
		while (ret->n > 0 && at[ret->n - 1].group >= (size_t)ret->limit)
			ret->n--;
	}
	return 0;
}

void history_done(struct history *h)
{
	free(h->at);
}

static struct table *table_make(bool for_people)
{
	struct table *t = table_new("history");

	table_column(t, "metric", "METRIC", for_people ? TABLE_EXTRA : 0);
	table_column(t, "cell", "SETTINGS", for_people ? TABLE_EXTRA : 0);
	table_column(t, "started", "STARTED", TABLE_KEY);
	table_column(t, "host", "HOST", 0);
	table_column(t, "sweep", "SWEEP", TABLE_RIGHT);
	table_column(t, "value", "VALUE", TABLE_RIGHT);
	table_column(t, "unit", "UNIT", for_people ? TABLE_EXTRA : 0);
	table_column(t, "min", "MIN", TABLE_RIGHT | (for_people ? TABLE_EXTRA : 0));
	table_column(t, "max", "MAX", TABLE_RIGHT | (for_people ? TABLE_EXTRA : 0));
	table_column(t, "n", "N", TABLE_RIGHT);
	table_column(t, "change", "CHANGE", TABLE_RIGHT);
	table_column(t, "flags", "FLAGS", 0);
	table_column(t, "changes", "CHANGED BEFORE IT", TABLE_WRAP);
	return t;
}

static void visit_row(const struct history *h, const struct visit *v, const bool *which, struct arena *a,
                      struct table *t)
{
	const struct dataset_series *s = &h->d->series[v->r->series];
	const struct dataset_cell *c = visit_cell(h->d, v);
	char buf[2 * SIZE_TEXT];

	table_row(t);
	table_text(t, 0, s->name);
	table_text(t, 1, dataset_cell_text(h->d, v->r->cell, which, a));
	table_text(t, 2, time_format_utc(c->started_ms, buf));
	table_show(t, 2, time_format_local(c->started_ms, buf));
	table_text(t, 3, h->d->sweeps[c->sweep].host);
	table_integer(t, 4, h->d->sweeps[c->sweep].id);
	table_number(t, 5, v->r->value, unit_text(v->r->value, s->unit, buf));
	table_text(t, 6, s->unit);
	table_number(t, 7, v->r->min, NULL);
	table_number(t, 8, v->r->max, NULL);
	table_integer(t, 9, v->r->n);
	if (!isnan(v->change))
		table_number(t, 10, v->change, unit_change(v->change, buf));
	table_text(t, 11, v->r->flags);
	table_text(t, 12, v->changes);
}

static int groups_print(const struct history *h, const bool *which, const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();

	for (size_t from = 0, to; from < h->n; from = to) {
		AUTO_TABLE struct table *t = table_make(true);

		for (to = from; to < h->n && h->at[to].group == h->at[from].group; to++)
			visit_row(h, &h->at[to], which, a, t);
		printf("%s%s, %s\n", from > 0 ? "\n" : "", h->d->series[h->at[from].r->series].name,
		       dataset_cell_text(h->d, h->at[from].r->cell, which, a));
		if (table_print(t, o, stdout, e) < 0)
			return -1;
	}
	if (h->n_hidden > 0)
		fprintf(stderr, PROGRAM ": %zu more configs and metrics; narrow the filter, or --limit 0 shows all\n",
		        h->n_hidden);
	if (h->n == 0)
		fprintf(stderr, PROGRAM ": no result meets the filter\n");
	return 0;
}

int history_print(const struct history *h, enum table_format format, const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE bool *which = xcalloc(h->d->n_axes + 1, sizeof(*which));
	AUTO_TABLE struct table *t = table_make(false);

	choose_varying(h->d, which);
	if (format == TABLE_PEOPLE)
		return groups_print(h, which, o, e);
	for (size_t i = 0; i < h->n; i++)
		visit_row(h, &h->at[i], which, a, t);
	return table_print(t, o, stdout, e);
}
