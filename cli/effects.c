/* SPDX-License-Identifier: MIT
 *
 * Dataset -> design -> effects of one series; see effects.h.
 */
#include "cli/effects.h"

#include <math.h>
#include <string.h>

#define NEEDED_MAX 1000 /* pairs or trials worth naming */

/* Whether a comma-separated list names the axis. */
static bool list_has(const char *list, const char *name)
{
	for (size_t n = strlen(name); list != NULL && *list != '\0';) {
		size_t length = strcspn(list, ",");

		if (length == n && memcmp(list, name, n) == 0)
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

static int axis_unknown(const struct dataset *d, const char *list, struct err *e)
{
	AUTO_FREE const char **names = xcalloc(d->n_axes + 1, sizeof(*names));

	for (size_t k = 0; k < d->n_axes; k++)
		names[k] = d->axes[k].name;
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ",");
		AUTO_FREE char *name = xstrndup(list, length);

		if (dataset_axis(d, name) < 0) {
			err_set(e, ERR_USAGE, "effects: no axis '%s' in the selection", name);
			return text_nearest(name, names, d->n_axes) != NULL
			               ? err_hint(e, "did you mean '%s'?", text_nearest(name, names, d->n_axes))
			               : -1;
		}
		list += length + (list[length] == ',');
	}
	return 0;
}

/* The results that take part: rows of the design. */
static size_t rows_choose(const struct dataset *d, size_t series, bool with_flagged, struct left_out *count,
                          const struct dataset_result **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_results; i++)
		if (d->results[i].series == series && choose_is_compared(d, &d->results[i], with_flagged, count))
			ret[n++] = &d->results[i];
	return n;
}

static bool axis_varies(const struct dataset *d, const struct dataset_result *const *rows, size_t n, size_t axis)
{
	for (size_t i = 1; i < n; i++)
		if (dataset_level(d, rows[i]->cell, axis) != dataset_level(d, rows[0]->cell, axis))
			return true;
	return false;
}

/* Level of the dataset that a --from or --to means, or -1. */
static int level_named(const struct dataset_axis *x, const char *text, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_FREE char *word = xasprintf("%s=\"%s\"", x->name, text);
	const char *words[] = { word };
	struct filter f;

	if (filter_parse(words, 1, a, &f, e) < 0)
		return -1;
	for (size_t v = 0; v < x->n_values; v++)
		if (filter_matches(&f.at[0], x->values[v]) || strcmp(x->shown[v], text) == 0)
			return (int)v;
	err_set(e, ERR_USAGE, "effects: axis '%s' has no value '%s' in the selection", x->name, text);
	return text_nearest(text, x->shown, x->n_values) != NULL
	               ? err_hint(e, "did you mean '%s'?", text_nearest(text, x->shown, x->n_values))
	               : -1;
}

/* names[k]: levels in the order of the dataset, but --from before --to, so that pairs go that way. */
static int levels_order(const struct dataset *d, struct series_effects *s, const struct effects_options *o,
                        struct err *e)
{
	for (size_t k = 0; k < s->n_axes; k++) {
		const struct dataset_axis *x = &d->axes[s->axes[k]];
		int from, to, swap;

		s->names[k] = xcalloc(x->n_values + 1, sizeof(int));
		for (size_t v = 0; v < x->n_values; v++)
			s->names[k][v] = (int)v;
		if ((o->from == NULL && o->to == NULL) || !list_has(o->axes, x->name))
			continue;
		if ((from = level_named(x, o->from != NULL ? o->from : o->to, e)) < 0 ||
		    (to = level_named(x, o->to != NULL ? o->to : o->from, e)) < 0)
			return -1;
		if (o->from != NULL && o->to != NULL && from == to)
			return err_set(e, ERR_USAGE, "effects: from '%s' to '%s' nothing changes", o->from, o->to);
		if (from <= to)
			continue;
		swap = s->names[k][from];
		s->names[k][from] = s->names[k][to];
		s->names[k][to] = swap;
	}
	return 0;
}

static void design_fill(const struct dataset *d, struct series_effects *s, const struct dataset_result *const *rows)
{
	size_t n_columns = s->n_axes + 1; /* the last one is the host: never changed, always equal */
	int *levels = xcalloc(s->n * n_columns + 1, sizeof(*levels)), *trials = xcalloc(s->n + 1, sizeof(*trials));
	double *values = xcalloc(s->n + 1, sizeof(*values));
	enum keep *keep = xcalloc(s->n + 1, sizeof(*keep));
	AUTO_FREE struct spread *spread = xcalloc(s->n + 1, sizeof(*spread));

	for (size_t i = 0; i < s->n; i++) {
		const struct dataset_result *r = rows[i];

		for (size_t k = 0; k < s->n_axes; k++) {
			int level = dataset_level(d, r->cell, s->axes[k]), place = 0;

			while (s->names[k][place] != level)
				place++;
			levels[i * n_columns + k] = place;
		}
		levels[i * n_columns + s->n_axes] = (int)d->sweeps[d->cells[r->cell].sweep].host_id;
		values[i] = r->value;
		trials[i] = r->n;
		keep[i] = d->series[s->series].keep;
		spread[i] = (struct spread){ r->value, r->min, r->max, r->n };
		s->trials = i == 0 || r->n < s->trials ? r->n : s->trials;
	}
	s->noise = noise_pool(spread, s->n, true);
	s->design = (struct design){ .n = s->n, .n_axes = n_columns, .levels = levels, .values = values, .trials = trials, .keep = keep,
		                     .better = d->series[s->series].better, .sigma = s->noise.sigma,
		                     .is_sigma_assumed = s->noise.is_assumed };
}

/* The host's column is always equal; labels may follow from the axis; --free says the rest. */
static void rules_make(const struct dataset *d, struct series_effects *s, const struct effects_options *o)
{
	size_t n = s->design.n_axes;

	s->rules = xcalloc(n * n + 1, sizeof(*s->rules));
	for (size_t a = 0; a < s->n_axes; a++) {
		for (size_t b = 0; b < s->n_axes; b++) {
			const char *name = d->axes[s->axes[b]].name;

			if (list_has(o->free_axes, name))
				s->rules[a * n + b] = MATCH_FREE;
			else if (choose_may_follow(d->axes[s->axes[a]].name, name))
				s->rules[a * n + b] = MATCH_FOLLOWING;
		}
	}
}

int effects_of_series(const struct dataset *d, size_t series, const struct effects_options *o,
                      struct series_effects *ret, struct err *e)
{
	AUTO_FREE const struct dataset_result **rows = xcalloc(d->n_results + 1, sizeof(*rows));
	struct series_effects s = { .series = series };

	if (axis_unknown(d, o->axes, e) < 0 || axis_unknown(d, o->free_axes, e) < 0)
		return -1;
	s.axes = xcalloc(d->n_axes + 1, sizeof(*s.axes));
	s.names = xcalloc(d->n_axes + 1, sizeof(*s.names));
	s.n = rows_choose(d, series, o->with_flagged, &s.left_out, rows);
	for (size_t k = 0; k < d->n_axes; k++)
		if (axis_varies(d, rows, s.n, k))
			s.axes[s.n_axes++] = k;
	if (levels_order(d, &s, o, e) < 0) {
		series_effects_done(&s);
		return -1;
	}
	design_fill(d, &s, rows);
	rules_make(d, &s, o);
	effects_find(&s.design, s.rules, &s.effects);
	*ret = s;
	return 0;
}

void series_effects_done(struct series_effects *s)
{
	for (size_t k = 0; s->names != NULL && k < s->n_axes; k++)
		free(s->names[k]);
	free(s->names);
	free(s->axes);
	free(s->rules);
	free((void *)s->design.levels);
	free((void *)s->design.values);
	free((void *)s->design.trials);
	free((void *)s->design.keep);
	effects_done(&s->effects);
}

const char *effects_value(const struct dataset *d, const struct series_effects *s, size_t axis, int level)
{
	const char *shown = d->axes[s->axes[axis]].shown[s->names[axis][level]];

	return shown[0] != '\0' ? shown : "(none)";
}

uint64_t effects_axis_along(const struct series_effects *s, size_t axis)
{
	uint64_t along = 0;

	for (size_t i = 0; i < s->effects.n; i++)
		if (s->effects.at[i].axis == axis)
			along |= s->effects.at[i].along;
	return along;
}

void effects_along(const struct dataset *d, const struct series_effects *s, uint64_t along, struct text *ret)
{
	for (size_t b = 0; b < s->n_axes && b < 64; b++)
		if (along & (UINT64_C(1) << b))
			text_printf(ret, "%s%s", ret->n > 0 ? ", " : "", d->axes[s->axes[b]].name);
}

void effects_missing(const struct dataset *d, const struct series_effects *s, size_t axis, struct text *ret)
{
	size_t n = s->design.n_axes, pairs;
	AUTO_FREE bool *along = xcalloc(n + 1, sizeof(*along));
	AUTO_TEXT struct text names = { 0 };
	char count[COUNT_TEXT];

	if (s->effects.matters[axis] >= 0)
		return;
	pairs = design_along(s->design.levels, s->n, n, axis, along);
	for (size_t b = 0; b < s->n_axes; b++)
		if (along[b])
			text_printf(&names, "%s%s", names.n > 0 ? "," : "", d->axes[s->axes[b]].name);
	text_printf(ret, "not decidable: it never changes alone");
	if (names.n > 0)
		text_printf(ret,
		            ", %s change%s along; cells that differ in it alone would decide it, or --free %s (%s)",
		            names.s, strchr(names.s, ',') != NULL ? "" : "s", names.s,
		            count_format((int64_t)pairs, "pair", count));
	else if (along[s->n_axes])
		text_printf(ret, " on one host; compare --hosts sets hosts against each other");
}

/* What would decide it. */
static void needed_text(const struct series_effects *s, const struct effect *f, struct text *ret)
{
	bool has_trials = f->trials_needed > (size_t)s->trials && f->trials_needed <= NEEDED_MAX;

	if (f->n_pairs == 1 && s->noise.is_assumed)
		text_add(ret, "; a second pair or three trials a cell would tell more");
	else if (f->pairs_needed > f->n_pairs && f->pairs_needed <= NEEDED_MAX && (f->n_pairs > 1 || !has_trials))
		text_printf(ret, "; about %zu pairs would decide it", f->pairs_needed);
	else if (has_trials)
		text_printf(ret, "; about %zu trials a cell would decide it", f->trials_needed);
	else
		text_add(ret, "; if there is an effect, no sweep of a sensible size would show it");
}

void effects_verdict(const struct series_effects *s, const struct effect *f, struct text *ret)
{
	char low[SIZE_TEXT], high[SIZE_TEXT];

	if (f->is_decided)
		return;
	if (f->min == 1 && f->max == 1) {
		text_add(ret, "no change");
		return;
	}
	text_printf(ret, "not decidable with %zu pair%s of %d trial%s", f->n_pairs, f->n_pairs == 1 ? "" : "s",
	            s->trials, s->trials == 1 ? "" : "s");
	if (f->low > 0 && isfinite(f->high))
		text_printf(ret, " (%s to %s)", unit_change(f->low, low), unit_change(f->high, high));
	needed_text(s, f, ret);
}
