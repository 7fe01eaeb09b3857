/* SPDX-License-Identifier: MIT
 *
 * iosweep show: the results of a sweep; the layouts are in show_*.c.
 */
#include "cli/choose.h"
#include "cli/show.h"
#include "cli/table.h"

static const struct option_def options[] = {
	{ "by", 'b', "AXES", "make the values of these axes columns (comma-separated)" },
	{ "cols", 0, "AXES", "the same as --by" },
	{ "rows", 0, "AXES", "make rows of these axes first; the others that vary follow" },
	{ "metric", 'm', "LIST", "these metrics only: WORKLOAD.METRIC, WORKLOAD or METRIC (comma-separated, * and ? allowed)" },
	{ "trials", 't', NULL, "one row a trial, attempts that failed included" },
	{ "units", 0, "STYLE", "decimal (MB/s, the default), binary (MiB/s) or base (B/s)" },
	OPTIONS_TABLE,
	OPTIONS_END
};

/* The words of the filter, and the sweep: as named, else the newest that has a cell which meets the filter. */
static int sweep_choose(const struct options *o, struct store *s, struct arena *a, struct filter *ret_filter,
                        int64_t *ret_id, struct err *e)
{
	AUTO_FREE const char **words = xcalloc((size_t)o->n_arguments + 1, sizeof(*words));
	const char *name = NULL;
	int64_t *sweeps;
	size_t n_words = 0, n = 0;

	for (int i = 0; i < o->n_arguments; i++) {
		if (choose_is_filter(o->arguments[i]))
			words[n_words++] = o->arguments[i];
		else if (name != NULL)
			return err_set(e, ERR_USAGE, "show: one sweep at a time, not '%s' and '%s'", name,
			               o->arguments[i]);
		else
			name = o->arguments[i];
	}
	if (filter_parse(words, n_words, a, ret_filter, e) < 0)
		return -1;
	if (name != NULL || n_words == 0)
		return open_sweep(s, name, ret_id, e);
	if (store_select_sweeps(s, ret_filter, a, &sweeps, &n, e) < 0)
		return -1;
	if (n == 0)
		return err_set(e, ERR_NOT_FOUND, "no cell of any sweep meets the filter");
	*ret_id = sweeps[n - 1];
	return 0;
}

static int report_open(const struct options *o, struct store *s, struct arena *a, struct report *ret, struct err *e)
{
	enum scale_style style;
	struct filter f;
	int64_t id;

	if (scale_style_parse(options_text(o, "units"), &style, e) < 0 || sweep_choose(o, s, a, &f, &id, e) < 0 ||
	    report_load(s, id, &f, style, a, ret, e) < 0)
		return -1;
	return report_choose(ret, options_text(o, "metric"), e);
}

static int show_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	const char *by = options_has(o, "by") ? options_text(o, "by") : options_text(o, "cols"),
		   *rows = options_text(o, "rows");
	bool is_pivot = by != NULL || rows != NULL, trials = options_has(o, "trials");
	enum table_format format;
	struct report r;

	if (trials && is_pivot)
		return err_set(e, ERR_USAGE,
		               "show: --trials has one row a trial: --by, --cols and --rows do not go with it");
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
	.arguments = "[ID] [FILTER...]",
	.max_arguments = -1,
	.about = "show the results of a sweep (the newest one if no ID is given)",
	.details = "One row a cell, with the axes that vary; each figure is the median (or mean) of its trials, followed by\n"
	           "its marks and the spread of the trials.  What is the same in every cell stands above the table, what the\n"
	           "marks mean and why cells have no figures below it.",
	.options = options,
	.run = show_run,
};
