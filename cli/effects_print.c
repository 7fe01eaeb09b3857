/* SPDX-License-Identifier: MIT
 *
 * Effects for people and for programs; see effects.h.
 */
#include <math.h>
#include <string.h>

#include "cli/effects.h"

static bool list_has(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p != NULL && *p != '\0'; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == n && memcmp(p, name, n) == 0)
			return true;
	return list == NULL;
}

static bool is_wanted(const struct dataset *d, const struct series_effects *s, const struct effects_options *o,
                      size_t axis)
{
	return axis < s->n_axes && list_has(o->axes, d->axes[s->axes[axis]].name);
}

/* --from and --to name one change; the design has them in that order. */
static bool change_is_wanted(const struct dataset *d, const struct series_effects *s, const struct effects_options *o,
                             const struct effect *f)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *name = d->axes[s->axes[f->axis]].name;

	for (int side = 0; side < 2; side++) {
		const char *wanted = side == 0 ? o->from : o->to;
		int level = s->names[f->axis][side == 0 ? f->from : f->to];
		const char *words[1];
		struct filter t;

		if (wanted == NULL)
			continue;
		words[0] = arena_printf(a, "%s=\"%s\"", name, wanted);
		if (filter_parse(words, 1, a, &t, NULL) < 0 ||
		    (!filter_matches(&t.at[0], d->axes[s->axes[f->axis]].values[level]) &&
		     strcmp(d->axes[s->axes[f->axis]].shown[level], wanted) != 0))
			return false;
	}
	return true;
}

static void effect_row(const struct dataset *d, const struct series_effects *s, const struct effect *f, struct table *t)
{
	AUTO_TEXT struct text verdict = { 0 }, better = { 0 };
	const double ratios[] = { f->mean, f->median, f->min, f->max };
	char buf[SIZE_TEXT];

	effects_verdict(s, f, &verdict);
	table_row(t);
	table_text(t, 0, effects_value(d, s, f->axis, f->from));
	table_text(t, 1, effects_value(d, s, f->axis, f->to));
	table_integer(t, 2, (int64_t)f->n_pairs);
	for (size_t i = 0; i < ARRAY_SIZE(ratios); i++)
		table_number(t, 3 + i, 100 * (ratios[i] - 1), unit_change(ratios[i], buf));
	text_printf(&better, "%zu of %zu", f->n_better, f->n_pairs);
	table_text(t, 7, s->design.better == BETTER_NEITHER ? "" : better.s);
	table_text(t, 8, text_str(&verdict));
}

static void axis_table_print(const struct dataset *d, const struct series_effects *s, const struct effects_options *o,
                             size_t axis, FILE *out)
{
	AUTO_TABLE struct table *t = table_new("effects");

	table_column(t, "from", "FROM", TABLE_KEY);
	table_column(t, "to", "TO", TABLE_KEY);
	table_column(t, "pairs", "PAIRS", TABLE_RIGHT);
	table_column(t, "mean", "MEAN", TABLE_RIGHT);
	table_column(t, "median", "MEDIAN", TABLE_RIGHT);
	table_column(t, "min", "MIN", TABLE_RIGHT);
	table_column(t, "max", "MAX", TABLE_RIGHT);
	table_column(t, "better", "BETTER", TABLE_RIGHT);
	table_column(t, "verdict", "", 0);
	for (size_t i = 0; i < s->effects.n; i++)
		if (s->effects.at[i].axis == axis && change_is_wanted(d, s, o, &s->effects.at[i]))
			effect_row(d, s, &s->effects.at[i], t);
	if (table_rows(t) > 0)
		table_print_as(t, TABLE_PEOPLE, NULL, table_width(out), out, NULL);
}

static void axis_print(const struct dataset *d, const struct series_effects *s, const struct effects_options *o,
                       size_t axis, FILE *out)
{
	AUTO_TEXT struct text missing = { 0 }, along = { 0 };
	char buf[SIZE_TEXT];

	effects_missing(d, s, axis, &missing);
	effects_along(d, s, effects_axis_along(s, axis), &along);
	fprintf(out, "\n%s", d->axes[s->axes[axis]].name);
	if (s->effects.matters[axis] >= 0)
		fprintf(out, "  matters %s",
		        s->effects.matters[axis] > 0 ? unit_change(exp(s->effects.matters[axis]), buf) + 1 : "0 %");
	if (along.n > 0)
		fprintf(out, "  (changes with it: %s)", along.s);
	fprintf(out, "%s%s\n", missing.n > 0 ? ": " : "", text_str(&missing));
	axis_table_print(d, s, o, axis, out);
}

static void interaction_print(const struct dataset *d, const struct series_effects *s, const struct interaction *x,
                              FILE *out)
{
	const char *axis = d->axes[s->axes[x->axis]].name, *other = d->axes[s->axes[x->other]].name;
	char up[SIZE_TEXT], down[SIZE_TEXT];

	fprintf(out, "  %s %s -> %s: %s with %s=%s (%zu pair%s), but %s with %s=%s (%zu)\n", axis,
	        effects_value(d, s, x->axis, x->from), effects_value(d, s, x->axis, x->to), unit_change(x->up, up),
	        other, effects_value(d, s, x->other, x->at_up), x->n_up, x->n_up == 1 ? "" : "s",
	        unit_change(x->down, down), other, effects_value(d, s, x->other, x->at_down), x->n_down);
}

static bool interaction_is_wanted(const struct dataset *d, const struct series_effects *s,
                                  const struct effects_options *o, const struct interaction *x)
{
	return x->other < s->n_axes && is_wanted(d, s, o, x->axis);
}

void effects_people(const struct dataset *d, const struct series_effects *s, const struct effects_options *o, FILE *out)
{
	const struct dataset_series *v = &d->series[s->series];
	AUTO_TEXT struct text left = { 0 };
	char count[COUNT_TEXT];
	size_t shown = 0;

	fprintf(out, "%s (%s is better), %s", v->name, better_name(v->better),
	        count_format((int64_t)s->n, "cell", count));
	choose_left_out_text(&s->left_out, &left);
	if (left.n > 0)
		fprintf(out, "; left out: %s", left.s);
	if (s->noise.is_assumed)
		fprintf(out, "; single figures: the noise of a trial is not known\n");
	else
		fprintf(out, "; noise of a trial %.1f %%\n", 100 * s->noise.sigma);
	for (size_t i = 0; i < s->design.n_axes; i++)
		if (is_wanted(d, s, o, s->effects.order[i]))
			axis_print(d, s, o, s->effects.order[i], out);
	for (size_t i = 0; i < s->effects.n_interactions && shown < 20; i++) {
		if (!interaction_is_wanted(d, s, o, &s->effects.interactions[i]))
			continue;
		if (shown++ == 0)
			fputs("\nthe effect changes sign:\n", out);
		interaction_print(d, s, &s->effects.interactions[i], out);
	}
}

/* ---- for programs ---- */

static struct json_object *percent(double ratio)
{
	return number_json(100 * (ratio - 1));
}

static struct json_object *value_json(const struct dataset *d, const struct series_effects *s, size_t axis, int level)
{
	return json_object_new_string(d->axes[s->axes[axis]].values[s->names[axis][level]]);
}

static struct json_object *along_json(const struct dataset *d, const struct series_effects *s, uint64_t along)
{
	struct json_object *j = json_object_new_array();

	for (size_t b = 0; b < s->n_axes && b < 64; b++)
		if (along & (UINT64_C(1) << b))
			json_object_array_add(j, json_object_new_string(d->axes[s->axes[b]].name));
	return j;
}

static struct json_object *effect_json(const struct dataset *d, const struct series_effects *s, const struct effect *f)
{
	struct json_object *j = json_object_new_object();
	AUTO_TEXT struct text verdict = { 0 };

	effects_verdict(s, f, &verdict);
	json_object_object_add(j, "from", value_json(d, s, f->axis, f->from));
	json_object_object_add(j, "to", value_json(d, s, f->axis, f->to));
	json_object_object_add(j, "pairs", json_object_new_int64((int64_t)f->n_pairs));
	json_object_object_add(j, "mean_percent", percent(f->mean));
	json_object_object_add(j, "median_percent", percent(f->median));
	json_object_object_add(j, "min_percent", percent(f->min));
	json_object_object_add(j, "max_percent", percent(f->max));
	json_object_object_add(j, "geometric_percent", percent(f->geometric));
	json_object_object_add(j, "low_percent", f->low > 0 ? percent(f->low) : NULL);
	json_object_object_add(j, "high_percent", percent(f->high));
	json_object_object_add(j, "better", json_object_new_int64((int64_t)f->n_better));
	json_object_object_add(j, "worse", json_object_new_int64((int64_t)f->n_worse));
	json_object_object_add(j, "equal", json_object_new_int64((int64_t)f->n_equal));
	json_object_object_add(j, "decided", json_object_new_boolean(f->is_decided));
	json_object_object_add(j, "verdict", json_object_new_string(text_str(&verdict)));
	json_object_object_add(j, "along", along_json(d, s, f->along));
	json_object_object_add(j, "pairs_needed",
	                       f->pairs_needed > 0 ? json_object_new_int64((int64_t)f->pairs_needed) : NULL);
	json_object_object_add(j, "trials_needed",
	                       f->trials_needed > 0 ? json_object_new_int64((int64_t)f->trials_needed) : NULL);
	return j;
}

static struct json_object *axis_json(const struct dataset *d, const struct series_effects *s,
                                     const struct effects_options *o, size_t axis)
{
	struct json_object *j = json_object_new_object(), *list = json_object_new_array();
	AUTO_TEXT struct text missing = { 0 };

	effects_missing(d, s, axis, &missing);
	for (size_t i = 0; i < s->effects.n; i++)
		if (s->effects.at[i].axis == axis && change_is_wanted(d, s, o, &s->effects.at[i]))
			json_object_array_add(list, effect_json(d, s, &s->effects.at[i]));
	json_object_object_add(j, "axis", json_object_new_string(d->axes[s->axes[axis]].name));
	json_object_object_add(j, "matters_percent",
	                       s->effects.matters[axis] >= 0 ? percent(exp(s->effects.matters[axis])) : NULL);
	json_object_object_add(j, "along", along_json(d, s, effects_axis_along(s, axis)));
	json_object_object_add(j, "undecidable", missing.n > 0 ? json_object_new_string(missing.s) : NULL);
	json_object_object_add(j, "effects", list);
	return j;
}

static struct json_object *interaction_json(const struct dataset *d, const struct series_effects *s,
                                            const struct interaction *x)
{
	struct json_object *j = json_object_new_object();

	json_object_object_add(j, "axis", json_object_new_string(d->axes[s->axes[x->axis]].name));
	json_object_object_add(j, "from", value_json(d, s, x->axis, x->from));
	json_object_object_add(j, "to", value_json(d, s, x->axis, x->to));
	json_object_object_add(j, "other", json_object_new_string(d->axes[s->axes[x->other]].name));
	json_object_object_add(j, "up_at", value_json(d, s, x->other, x->at_up));
	json_object_object_add(j, "up_percent", percent(x->up));
	json_object_object_add(j, "up_pairs", json_object_new_int64((int64_t)x->n_up));
	json_object_object_add(j, "down_at", value_json(d, s, x->other, x->at_down));
	json_object_object_add(j, "down_percent", percent(x->down));
	json_object_object_add(j, "down_pairs", json_object_new_int64((int64_t)x->n_down));
	return j;
}

struct json_object *effects_json(const struct dataset *d, const struct series_effects *s,
                                 const struct effects_options *o)
{
	const struct dataset_series *v = &d->series[s->series];
	struct json_object *j = json_object_new_object(), *axes = json_object_new_array(),
	                   *inter = json_object_new_array();

	for (size_t i = 0; i < s->design.n_axes; i++)
		if (is_wanted(d, s, o, s->effects.order[i]))
			json_object_array_add(axes, axis_json(d, s, o, s->effects.order[i]));
	for (size_t i = 0; i < s->effects.n_interactions; i++)
		if (interaction_is_wanted(d, s, o, &s->effects.interactions[i]))
			json_object_array_add(inter, interaction_json(d, s, &s->effects.interactions[i]));
	json_object_object_add(j, "metric", json_object_new_string(v->key));
	json_object_object_add(j, "series", json_object_new_string(v->name));
	json_object_object_add(j, "unit", json_object_new_string(v->unit));
	json_object_object_add(j, "better", json_object_new_string(better_name(v->better)));
	json_object_object_add(j, "keep", json_object_new_string(keep_name(v->keep)));
	json_object_object_add(j, "tools", json_object_new_string(v->tools));
	json_object_object_add(j, "cells", json_object_new_int64((int64_t)s->n));
	json_object_object_add(j, "trials", json_object_new_int(s->trials));
	json_object_object_add(j, "noise_percent", number_json(100 * s->noise.sigma));
	json_object_object_add(j, "noise_assumed", json_object_new_boolean(s->noise.is_assumed));
	json_object_object_add(j, "axes", axes);
	json_object_object_add(j, "interactions", inter);
	json_object_object_add(j, "left_out", choose_left_out_json(&s->left_out));
	return j;
}

void effects_flat_columns(struct table *t)
{
	static const struct {
		const char *name, *title;
		unsigned flags;
	} columns[] = {
		{ "metric", "METRIC", 0 },          { "axis", "AXIS", 0 },
		{ "from", "FROM", 0 },              { "to", "TO", 0 },
		{ "pairs", "PAIRS", TABLE_RIGHT },  { "mean_percent", "MEAN %", TABLE_RIGHT },
		{ "median_percent", "MEDIAN %", TABLE_RIGHT }, { "min_percent", "MIN %", TABLE_RIGHT },
		{ "max_percent", "MAX %", TABLE_RIGHT },       { "better", "BETTER", TABLE_RIGHT },
		{ "worse", "WORSE", TABLE_RIGHT },  { "decided", "DECIDED", 0 },
		{ "verdict", "VERDICT", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		table_column(t, columns[i].name, columns[i].title, columns[i].flags);
}

void effects_flat(const struct dataset *d, const struct series_effects *s, struct table *t)
{
	for (size_t i = 0; i < s->effects.n; i++) {
		const struct effect *f = &s->effects.at[i];
		const double ratios[] = { f->mean, f->median, f->min, f->max };
		AUTO_TEXT struct text verdict = { 0 };

		if (f->axis >= s->n_axes)
			continue;
		effects_verdict(s, f, &verdict);
		table_row(t);
		table_text(t, 0, d->series[s->series].name);
		table_text(t, 1, d->axes[s->axes[f->axis]].name);
		table_text(t, 2, effects_value(d, s, f->axis, f->from));
		table_text(t, 3, effects_value(d, s, f->axis, f->to));
		table_integer(t, 4, (int64_t)f->n_pairs);
		for (size_t k = 0; k < ARRAY_SIZE(ratios); k++)
			table_number(t, 5 + k, 100 * (ratios[k] - 1), NULL);
		table_integer(t, 9, (int64_t)f->n_better);
		table_integer(t, 10, (int64_t)f->n_worse);
		table_bool(t, 11, f->is_decided);
		table_text(t, 12, text_str(&verdict));
	}
}
