/* SPDX-License-Identifier: MIT
 *
 * iosweep plot: a picture of a selection, or a chart in characters.
 */
#include <string.h>

#include "cli/choose.h"
#include "cli/plot.h"

static const struct option_def options[] = {
	OPTIONS_SELECT,
	{ "kind", 'k', "KIND", "line (over an axis), bars (with minimum and maximum), heat (two axes) or history" },
	{ "x", 'x', "AXIS", "the axis along the bottom" },
	{ "by", 'b', "AXIS", "the axis whose values are lines (or rows of a heat map); default: all others that vary" },
	{ "units", 0, "STYLE", "decimal (MB/s, the default) or binary (MiB/s)" },
	{ "output", 'o', "FILE", "draw there: .svg or .png; without it, a chart in characters" },
	OPTIONS_END
};

static int kind_read(const struct options *o, enum chart_kind *ret, struct err *e)
{
	static const char *const kinds[] = { "line", "bars", "heat", "history" };
	const char *text = options_text(o, "kind"), *nearest;

	*ret = CHART_LINE;
	if (text == NULL)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(text, kinds[i]) == 0) {
			*ret = (enum chart_kind)i;
			return 0;
		}
	}
	nearest = text_nearest(text, kinds, ARRAY_SIZE(kinds));
	err_set(e, ERR_USAGE, "plot: no kind of chart '%s'", text);
	return err_hint(e, "%s%s%sknown are line, bars, heat and history", nearest ? "did you mean '" : "",
	                nearest ? nearest : "", nearest ? "'? " : "");
}

/* The one series to draw. */
static int series_choose(const struct dataset *d, struct err *e)
{
	AUTO_TEXT struct text names = { 0 };

	if (d->n_series == 0)
		return err_set(e, ERR_NOT_FOUND, "no result meets the filter");
	if (d->n_series == 1)
		return 0;
	for (size_t i = 0; i < d->n_series && i < 12; i++)
		text_printf(&names, "%s%s", i > 0 ? ", " : "", d->series[i].name);
	err_set(e, ERR_USAGE, "plot: one metric at a time, the selection has %zu", d->n_series);
	return err_hint(e, "choose by --metric (or tool.NAME=, plan=): %s", names.s);
}

static int options_read(const struct options *o, struct chart_options *x, struct dataset_options *load, struct err *e)
{
	const char *units = options_text(o, "units");

	*x = (struct chart_options){ .x = options_text(o, "x"), .by = options_text(o, "by") };
	if (units != NULL && strcmp(units, "decimal") != 0 && strcmp(units, "binary") != 0)
		return err_set(e, ERR_USAGE, "plot: --units takes decimal or binary, not '%s'", units);
	x->is_binary = units != NULL && strcmp(units, "binary") == 0;
	if (kind_read(o, &x->kind, e) < 0 || choose_across(o, &load->across_tool, &load->across_keep, e) < 0)
		return -1;
	load->all = options_has(o, "all") || x->kind == CHART_HISTORY;
	return 0;
}

static int plot_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	AUTO_DATASET struct dataset *d = NULL;
	struct dataset_options load = { 0 };
	const char *path = options_text(o, "output");
	struct chart_options x;
	struct filter f;
	struct chart c;

	if (options_read(o, &x, &load, e) < 0 || choose_filter(o, 0, "last", a, &f, e) < 0 || open_store(&s, e) < 0 ||
	    store_dataset(s, &f, &load, &d, e) < 0 || series_choose(d, e) < 0 || chart_make(d, 0, &x, a, &c, e) < 0)
		return -1;
	if (c.n_merged > 0)
		fprintf(stderr, PROGRAM ": %zu results share points; their medians are shown\n", c.n_merged);
	if (path == NULL)
		chart_text(&c, table_width(stdout), stdout);
	else if (chart_draw(&c, path, e) < 0)
		return -1;
	return EXIT_GOOD;
}

const struct command cmd_plot = {
	.name = "plot",
	.arguments = "[ID...] [FILTER...]",
	.max_arguments = -1,
	.about = "draw a metric over an axis, as bars, a heat map or over time",
	.details = "Draws one metric of the selection; without arguments, of the newest sweep.  Pictures are made by gnuplot and can\n"
	           "be told apart in grey; title, unit, host, date and number of trials stand in them.",
	.options = options,
	.run = plot_run,
};
