/* SPDX-License-Identifier: MIT
 *
 * iosweep import: sweeps of other hosts from the files that `iosweep export` writes, and published tables by a map.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/open.h"
#include "schema/config.h"
#include "schema/import.h"
#include "schema/store_merge.h"

static const struct option_def options[] = {
	{ "csv", 0, "FILE", "a published table; becomes a sweep in state 'imported'" },
	{ "map", 0, "MAP", "which of its columns are axes, metrics and facts (YAML)" },
	OPTIONS_END
};

static int csv_import(const struct options *o, struct store *s, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *csv = options_text(o, "csv"), *map = options_text(o, "map");
	struct diags map_faults, csv_faults;
	struct import_report report;
	char count[COUNT_TEXT];
	int rc;

	diags_init(&map_faults, map);
	diags_init(&csv_faults, csv);
	rc = import_table(s, csv, map, a, &map_faults, &csv_faults, &report, e);
	diags_print(stderr, &map_faults);
	diags_print(stderr, &csv_faults);
	diags_done(&map_faults);
	diags_done(&csv_faults);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < report.n_sweeps; i++) {
		const struct import_sweep *w = &report.sweeps[i];

		if (w->is_known)
			printf("sweep %lld: host %s, was imported before\n", (long long)w->id, w->host);
		else
			printf("sweep %lld: host %s, %s\n", (long long)w->id, w->host,
			       count_format((int64_t)w->n_figures, "figure", count));
	}
	if (report.n_skipped > 0)
		fprintf(stderr, PROGRAM ": %zu of %zu rows hold no figure that the map asks for\n", report.n_skipped,
		        report.n_rows);
	return EXIT_GOOD;
}

static int file_import(struct store *s, const char *path, struct err *e)
{
	struct merge_report r = { 0 };
	char sweeps[COUNT_TEXT], cells[COUNT_TEXT], trials[COUNT_TEXT];

	if (store_import_file(s, path, &r, e) < 0)
		return -1;
	printf("%s: %s, %" PRId64 " further along, %" PRId64 " known; %s and %s added\n", path,
	       count_format(r.sweeps_new, "new sweep", sweeps), r.sweeps_updated, r.sweeps_known,
	       count_format(r.cells, "cell", cells), count_format(r.trials, "trial", trials));
	return 0;
}

static int import_run(const struct options *o, struct err *e)
{
	AUTO_STORE struct store *s = NULL;

	if (options_has(o, "csv") != options_has(o, "map"))
		return err_set(e, ERR_USAGE, "import: --csv and --map go together");
	if (!options_has(o, "csv") && o->n_arguments == 0) {
		err_set(e, ERR_USAGE, "import: nothing to import");
		return err_hint(e, "name files that 'iosweep export' wrote, or --csv FILE --map MAP");
	}
	if (store_open(config_default_db(), STORE_WRITE, &s, e) < 0)
		return -1;
	for (int i = 0; i < o->n_arguments; i++)
		if (file_import(s, o->arguments[i], e) < 0)
			return -1;
	return options_has(o, "csv") ? csv_import(o, s, e) : EXIT_GOOD;
}

const struct command cmd_import = {
	.name = "import",
	.arguments = "[FILE...]",
	.max_arguments = -1,
	.about = "take in sweeps of other hosts, or a published table",
	.details = "A FILE is what 'iosweep export' wrote, JSON lines too; what is in the store already is left alone,\n"
	           "so files can be imported in any order and any number of times.\n"
	           "A file or table with a fault is refused as a whole, with line and column.",
	.options = options,
	.run = import_run,
};
