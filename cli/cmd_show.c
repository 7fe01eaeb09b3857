/* SPDX-License-Identifier: MIT
 *
 * iosweep show: the results of a sweep; the layouts are in show_*.c.
 */
#include "cli/command.h"
#include "cli/open.h"
#include "cli/show.h"
#include "cli/table.h"

static const struct option_def options[] = {
	{ "by", 'b', "AXES", "make the values of these axes columns (comma-separated)" },
	{ "cols", 0, "AXES", "the same as --by" },
	{ "rows", 0, "AXES", "make rows of these axes first; the others that vary follow" },
	{ "metric", 'm', "LIST", "these metrics only: WORKLOAD.METRIC, WORKLOAD or METRIC (comma-separated)" },
	{ "trials", 't', NULL, "one row a trial, attempts that failed included" },
	{ "units", 0, "STYLE", "decimal (MB/s, the default), binary (MiB/s) or base (B/s)" },
	OPTIONS_TABLE,
	OPTIONS_END
};

static int report_open(const struct options *o, struct store *s, struct arena *a, struct report *ret, struct err *e)
{
	enum scale_style style;
	int64_t id;

	if (scale_style_parse(options_text(o, "units"), &style, e) < 0 || open_sweep(s, o->arguments[0], &id, e) < 0 ||
	    report_load(s, id, style, a, ret, e) < 0)
		return -1;
	return report_choose(ret, options_text(o, "metric"), e);
}

static int show_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	const char *by = options_has(o, "by") ? options_text(o, "by") : options_text(o, "cols"), *rows = options_text(o, "rows");
	bool is_pivot = by != NULL || rows != NULL, trials = options_has(o, "trials");
	enum table_format format;
	struct report r;

	if (trials && is_pivot)
		return err_set(e, ERR_USAGE, "show: --trials has one row a trial: --by, --cols and --rows do not go with it");
	if (table_format_of(o, &format, e) < 0 || open_store(&s, e) < 0 || report_open(o, s, a, &r, e) < 0)
		return -1;
	if (is_pivot)
		return show_pivot(&r, by, rows, o, e);
	if (format == TABLE_JSON && options_text(o, "columns") == NULL)
		return show_json(&r, s, trials, e);
	return trials ? show_trials(&r, s, o, e) : show_cells(&r, o, e);
}

const struct command cmd_show = {
	.name = "show",
	.arguments = "[ID]",
	.max_arguments = 1,
	.about = "show the results of a sweep (the newest one if no ID is given)",
	.details = "One row a cell, with the axes that vary; each figure is the median (or mean) of its trials, followed by\n"
	           "its marks and the spread of the trials.  What is the same in every cell stands above the table, what the\n"
	           "marks mean and why cells have no figures below it.",
	.options = options,
	.run = show_run,
};
