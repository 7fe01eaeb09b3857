/* SPDX-License-Identifier: MIT
 *
 * iosweep history: one config's metric over time and hosts, with the changes of environment between.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/choose.h"
#include "cli/history.h"

static const struct option_def options[] = {
	{ "metric", 'm', "LIST", "these metrics only: WORKLOAD.METRIC or METRIC, comma-separated, * and ? allowed" },
	{ "across", 0, "WHAT", "let results of different tool versions ('tool') or rules of aggregation ('keep') stand together" },
	{ "config", 0, "DIGEST", "the config with this digest, or the start of it" },
	{ "limit", 'n', "N", "configs shown at most (default 10; 0: all)" },
	OPTIONS_TABLE,
	OPTIONS_END
};

static int history_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	struct dataset *d = NULL;
	struct dataset_options load = { .all = true };
	struct history h = { .limit = 10 };
	enum table_format format;
	struct filter f;
	int rc;

	if (table_format_of(o, &format, e) < 0 || options_integer(o, "limit", 0, INT64_MAX, &h.limit, e) < 0 ||
	    choose_filter(o, 0, NULL, a, &f, e) < 0 || choose_across(o, &load.across_tool, &load.across_keep, e) < 0 ||
	    open_store(&s, e) < 0)
		return -1;
	f.no_details = true;
	if (store_dataset(s, &f, &load, &d, e) < 0)
		return -1;
	rc = history_make(s, d, options_text(o, "config"), a, &h, e);
	if (rc == 0)
		rc = history_print(&h, format, o, e);
	if (rc == 0 && format == TABLE_PEOPLE)
		choose_details_note(d);
	history_done(&h);
	dataset_free(d);
	return rc < 0 ? -1 : EXIT_GOOD;
}

const struct command cmd_history = {
	.name = "history",
	.arguments = "[ID...] [FILTER...]",
	.max_arguments = -1,
	.about = "show a config's results over time and hosts",
	.details = "Every visit of each config that the filter selects, oldest first; the changes of kernel, tools, device or\n"
	           "defaults since the visit before it on the same host stand beside it.",
	.options = options,
	.run = history_run,
};
