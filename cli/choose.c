/* SPDX-License-Identifier: MIT
 *
 * What the reporting commands share; see choose.h.
 */
#include "cli/choose.h"

#include <math.h>
#include <string.h>

bool choose_is_filter(const char *word)
{
	static const char *const last[] = { "last" };

	if (strpbrk(word, "=<>! ") != NULL)
		return true;
	if (text_starts(word, last[0]) || text_nearest(word, last, ARRAY_SIZE(last)) != NULL)
		return false;
	return word[strspn(word, "0123456789abcdefABCDEF-,")] != '\0';
}

static bool is_argument(const struct options *o, const char *text)
{
	for (int i = 0; i < o->n_arguments; i++)
		if (strcmp(o->arguments[i], text) == 0)
			return true;
	return false;
}

int choose_parse(const struct options *o, const char *const *words, size_t n, struct arena *a, struct filter *ret,
                 struct err *e)
{
	if (filter_parse(words, n, a, ret, e) < 0)
		return -1;
	for (size_t i = 0; i < ret->n; i++)
		if (!is_argument(o, ret->at[i].text))
			ret->at[i].text = NULL;
	return 0;
}

int choose_filter(const struct options *o, int first, const char *fallback, struct arena *a, struct filter *ret,
                  struct err *e)
{
	AUTO_FREE const char **words = xcalloc((size_t)o->n_arguments + 2, sizeof(*words));
	AUTO_TEXT struct text sweeps = { 0 };
	const char *metric = options_text(o, "metric");
	size_t n = 0;

	for (int i = first; i < o->n_arguments; i++) {
		if (choose_is_filter(o->arguments[i]))
			words[n++] = o->arguments[i];
		else
			text_printf(&sweeps, "%s%s", sweeps.n > 0 ? "," : "sweep=", o->arguments[i]);
	}
	if (first >= o->n_arguments && fallback != NULL)
		text_printf(&sweeps, "sweep=%s", fallback);
	if (sweeps.n > 0)
		words[n++] = sweeps.s;
	if (metric != NULL)
		words[n++] = arena_printf(a, "metric=%s", metric);
	return choose_parse(o, words, n, a, ret, e);
}

int choose_across(const struct options *o, bool *ret_tool, bool *ret_keep, struct err *e)
{
	const char *value;

	*ret_tool = *ret_keep = false;
	for (size_t i = 0; (value = options_text_at(o, "across", i)) != NULL; i++) {
		if (strcmp(value, "tool") == 0 || strcmp(value, "tool,keep") == 0)
			*ret_tool = true;
		if (strcmp(value, "keep") == 0 || strcmp(value, "tool,keep") == 0)
			*ret_keep = true;
		if (strcmp(value, "tool") != 0 && strcmp(value, "keep") != 0 && strcmp(value, "tool,keep") != 0)
			return err_set(e, ERR_USAGE, "%s: --across takes tool or keep, not '%s'", o->command->name,
			               value);
	}
	return 0;
}

int choose_dataset(const struct options *o, struct store *s, const struct filter *f, struct dataset **ret,
                   struct err *e)
{
	struct dataset_options d = { .all = options_has(o, "all") };

	if (choose_across(o, &d.across_tool, &d.across_keep, e) < 0)
		return -1;
	return store_dataset(s, f, &d, ret, e);
}

#define FACTS_TOLD 3 /* of a host; JSON has all */

void choose_environments_note(const struct dataset *d)
{
	for (size_t i = 0; i < d->n_mixed;) {
		AUTO_TEXT struct text facts = { 0 };
		size_t n = 0, first = i;

		for (; i < d->n_mixed && strcmp(d->mixed[i].host, d->mixed[first].host) == 0; i++, n++)
			if (n < FACTS_TOLD)
				text_printf(&facts, "%s%s (%s)", n > 0 ? ", " : "", d->mixed[i].key,
				            d->mixed[i].values);
		if (n > FACTS_TOLD)
			text_printf(&facts, " and %zu more", n - FACTS_TOLD);
		fprintf(stderr,
		        PROGRAM
		        ": on %s the results differ in more than their settings: %s; sweep=, since= or %s= chooses\n",
		        d->mixed[first].host, facts.s, d->mixed[first].key);
	}
}

struct json_object *choose_environments_json(const struct dataset *d)
{
	struct json_object *j = json_object_new_array();

	for (size_t i = 0; i < d->n_mixed; i++) {
		struct json_object *fact = json_object_new_object();

		json_object_object_add(fact, "host", json_object_new_string(d->mixed[i].host));
		json_object_object_add(fact, "fact", json_object_new_string(d->mixed[i].key));
		json_object_object_add(fact, "values", json_object_new_string(d->mixed[i].values));
		json_object_array_add(j, fact);
	}
	return j;
}

void choose_details_note(const struct dataset *d)
{
	if (d->has_left_details)
		fprintf(stderr, PROGRAM
		        ": metrics that are details are left out (--metric NAME takes one, --metric '*' all)\n");
}

void choose_figure(struct text *t, double v, const char *unit)
{
	char buf[2 * SIZE_TEXT];

	text_add(t, unit_text(v, unit, buf));
}

struct json_object *choose_cell_json(const struct dataset *d, size_t cell)
{
	struct json_object *axes = json_object_new_object();

	for (size_t k = 0; k < d->n_axes; k++) {
		const char *value = d->axes[k].values[dataset_level(d, cell, k)];

		if (value[0] != '\0')
			json_object_object_add(axes, d->axes[k].name, json_object_new_string(value));
	}
	return axes;
}

bool choose_may_follow(const char *axis, const char *other)
{
	if (strcmp(axis, "filesystem") == 0 && (strcmp(other, "mkfs") == 0 || strcmp(other, "mount") == 0))
		return true;
	return text_starts(other, "label.");
}

void choose_varying(const struct dataset *d, bool *ret)
{
	for (size_t k = 0; k < d->n_axes; k++) {
		int first = -1;

		ret[k] = false;
		for (size_t i = 0; i < d->n_cells && !ret[k]; i++) {
			if (d->cells[i].n_results == 0)
				continue;
			if (first < 0)
				first = dataset_level(d, i, k);
			ret[k] = dataset_level(d, i, k) != first;
		}
	}
}

/* Adds the flags that kept a result out, as far as there is room for their names. */
static void left_out_flags_add(struct left_out *l, const char *flags)
{
	char flag[FLAG_TEXT];

	while (flag_next(&flags, flag)) {
		size_t n = strlen(l->flags);

		if (flags_are_bad(flag) && strstr(l->flags, flag) == NULL && n + strlen(flag) + 3 < sizeof(l->flags))
			snprintf(l->flags + n, sizeof(l->flags) - n, "%s%s", n > 0 ? ", " : "", flag);
	}
}

bool choose_is_ranked(const struct dataset *d, const struct dataset_result *r, bool with_flagged,
                      struct left_out *count)
{
	const struct dataset_cell *c = &d->cells[r->cell];
	enum ranked ranked = result_ranked(with_flagged ? "" : r->flags, strcmp(c->state, "ok") == 0, r->n,
	                                   d->sweeps[c->sweep].repetitions);

	if (ranked == RANKED_NOT_FLAGGED) {
		count->flagged++;
		left_out_flags_add(count, r->flags);
	}
	count->incomplete += ranked == RANKED_NOT_INCOMPLETE;
	return ranked == RANKED;
}

bool choose_is_compared(const struct dataset *d, const struct dataset_result *r, bool with_flagged,
                        struct left_out *count)
{
	if (!choose_is_ranked(d, r, with_flagged, count))
		return false;
	count->not_positive += !(r->value > 0);
	return r->value > 0;
}

void choose_cells_left_out(const struct dataset *d, struct left_out *count)
{
	for (size_t i = 0; i < d->n_cells; i++) {
		count->infeasible += strcmp(d->cells[i].state, "infeasible") == 0;
		count->failed += strcmp(d->cells[i].state, "failed") == 0;
		count->not_measured += d->cells[i].n_results == 0 && strcmp(d->cells[i].state, "infeasible") != 0 &&
		                       strcmp(d->cells[i].state, "failed") != 0;
	}
}

void choose_left_out_text(const struct left_out *l, struct text *ret)
{
	const struct {
		size_t n;
		const char *what;
	} parts[] = { { l->flagged, "flagged" }, { l->incomplete, "incomplete" }, { l->infeasible, "infeasible" },
		      { l->failed, "failed" }, { l->not_measured, "not measured" },
		      { l->not_positive, "of 0 or below, which have no ratio to others" } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].n > 0)
			text_printf(ret, "%s%zu %s%s%s%s", ret->n > 0 ? ", " : "", parts[i].n, parts[i].what,
			            i == 0 && l->flags[0] != '\0' ? " (" : "", i == 0 ? l->flags : "",
			            i == 0 && l->flags[0] != '\0' ? ")" : "");
}

struct json_object *choose_left_out_json(const struct left_out *l)
{
	struct json_object *j = json_object_new_object();

	json_object_object_add(j, "flagged", json_object_new_int64((int64_t)l->flagged));
	json_object_object_add(j, "flags", json_object_new_string(l->flags));
	json_object_object_add(j, "incomplete", json_object_new_int64((int64_t)l->incomplete));
	json_object_object_add(j, "infeasible", json_object_new_int64((int64_t)l->infeasible));
	json_object_object_add(j, "failed", json_object_new_int64((int64_t)l->failed));
	json_object_object_add(j, "not_positive", json_object_new_int64((int64_t)l->not_positive));
	json_object_object_add(j, "not_measured", json_object_new_int64((int64_t)l->not_measured));
	return j;
}
