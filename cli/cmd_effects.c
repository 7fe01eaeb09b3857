/* SPDX-License-Identifier: MIT
 *
 * iosweep effects: what each axis did, from pairs of cells that are equal in everything else.
 */
#include <string.h>

#include "cli/effects.h"

static const struct option_def options[] = {
	OPTIONS_SELECT,
	{ "axis", 'x', "LIST", "show these axes only (comma-separated)" },
	{ "from", 0, "VALUE", "show the change from this value of the axis" },
	{ "to", 0, "VALUE", "show the change to this value of the axis" },
	{ "free", 0, "LIST", "axes that need not be equal in a pair (comma-separated)" },
	{ "flagged", 0, NULL, "let flagged results (cached, drift, disturbed ...) take part" },
	OPTIONS_TABLE,
	OPTIONS_END
};

static int people_print(const struct dataset *d, const struct effects_options *x, struct err *e)
{
	for (size_t v = 0; v < d->n_series; v++) {
		struct series_effects s;

		if (effects_of_series(d, v, x, &s, e) < 0)
			return -1;
		if (v > 0)
			fputc('\n', stdout);
		effects_people(d, &s, x, stdout);
		series_effects_done(&s);
	}
	choose_environments_note(d);
	choose_details_note(d);
	return 0;
}

static int json_all(const struct dataset *d, const struct effects_options *x, struct err *e)
{
	struct json_object *root = json_object_new_object(), *metrics = json_object_new_array();
	struct left_out cells = { 0 };

	for (size_t v = 0; v < d->n_series; v++) {
		struct series_effects s;

		if (effects_of_series(d, v, x, &s, e) < 0) {
			json_object_put(metrics);
			json_object_put(root);
			return -1;
		}
		json_object_array_add(metrics, effects_json(d, &s, x));
		series_effects_done(&s);
	}
	choose_cells_left_out(d, &cells);
	json_object_object_add(root, "metrics", metrics);
	json_object_object_add(root, "left_out", choose_left_out_json(&cells));
	json_object_object_add(root, "environments", choose_environments_json(d));
	json_print(root, stdout);
	return 0;
}

static int flat_print(const struct dataset *d, const struct effects_options *x, const struct options *o, struct err *e)
{
	AUTO_TABLE struct table *t = table_new("effects");

	effects_flat_columns(t);
	for (size_t v = 0; v < d->n_series; v++) {
		struct series_effects s;

		if (effects_of_series(d, v, x, &s, e) < 0)
			return -1;
		effects_flat(d, &s, t);
		series_effects_done(&s);
	}
	return table_print(t, o, stdout, e);
}

static int effects_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	AUTO_DATASET struct dataset *d = NULL;
	struct effects_options x = { .with_flagged = options_has(o, "flagged"),
		                     .axes = options_text(o, "axis"),
		                     .from = options_text(o, "from"),
		                     .to = options_text(o, "to"),
		                     .free_axes = options_text(o, "free") };
	struct filter f;
	int rc;

	if ((x.from != NULL || x.to != NULL) && (x.axes == NULL || strchr(x.axes, ',') != NULL))
		return err_set(e, ERR_USAGE, "effects: --from and --to need one axis in --axis");
	if (table_format_of(o, &x.format, e) < 0 || choose_filter(o, 0, "last", a, &f, e) < 0 || open_store(&s, e) < 0)
		return -1;
	f.no_details = true;
	if (choose_dataset(o, s, &f, &d, e) < 0)
		return -1;
	if (d->n_results == 0 && x.format == TABLE_PEOPLE)
		fprintf(stderr, PROGRAM ": no result meets the filter\n");
	if (x.format == TABLE_PEOPLE)
		rc = people_print(d, &x, e);
	else if (x.format == TABLE_JSON && options_text(o, "columns") == NULL)
		rc = json_all(d, &x, e);
	else
		rc = flat_print(d, &x, o, e);
	return rc < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_effects = {
	.name = "effects",
	.arguments = "[ID...] [FILTER...]",
	.max_arguments = -1,
	.about = "show what each axis did, from matched cells",
	.details = "For each axis and change of value: the change of the metric in all pairs of cells that are equal in every\n"
	           "other axis (and on the same host), as mean, median, minimum and maximum of the pairs.  Axes come in the order\n"
	           "of how much they matter.  A label that follows from the axis (the RAID level from the layout) need not be\n"
	           "equal.  Without arguments the newest sweep is meant.",
	.options = options,
	.run = effects_run,
};
