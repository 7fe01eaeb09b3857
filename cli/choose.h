/* SPDX-License-Identifier: MIT
 *
 * What the commands that report on results share: their arguments as a filter, figures with units, JSON of cells.
 */
#ifndef IOSWEEP_CLI_CHOOSE_H
#define IOSWEEP_CLI_CHOOSE_H

#include <json-c/json.h>

#include "cli/command.h"
#include "cli/open.h"
#include "cli/table.h"
#include "schema/dataset.h"
#include "schema/filter.h"
#include "schema/store_select.h"
#include "schema/unit.h"

/* Options that choose what a report is about. */
#define OPTIONS_SELECT \
	{ "metric", 'm', "LIST", "these metrics only: WORKLOAD.METRIC or METRIC, comma-separated, * and ? allowed" }, \
	{ "across", 0, "WHAT", "let results of different tool versions ('tool') or rules of aggregation ('keep') stand together" }, \
	{ "all", 'a', NULL, "every visit of a config, not only the newest on each host" }

static inline void auto_dataset(struct dataset **d)
{
	dataset_free(*d);
}
#define AUTO_DATASET __attribute__((cleanup(auto_dataset)))

/* The arguments from number `first` on: a word with an operator is a filter, any other names a sweep; --metric is
 * added.  Without any argument and with fallback not NULL, the sweep `fallback` is meant. */
int choose_filter(const struct options *o, int first, const char *fallback, struct arena *a, struct filter *ret,
                  struct err *e);
/* filter_parse; a word that is none of the arguments was made out of an id or an option, and errors about it do not
 * show it as a filter that somebody wrote. */
int choose_parse(const struct options *o, const char *const *words, size_t n, struct arena *a, struct filter *ret,
                 struct err *e);
/* Whether an argument is a filter, or meant as one: it has an operator, or what no name of a sweep has. */
bool choose_is_filter(const char *word);
/* Reads OPTIONS_SELECT and loads the dataset. */
int choose_dataset(const struct options *o, struct store *s, const struct filter *f, struct dataset **ret,
                   struct err *e);
/* A line on stderr if filter.no_details left anything out. */
void choose_environments_note(const struct dataset *d); /* that the results of one host were measured under several environments */
struct json_object *choose_environments_json(const struct dataset *d);
void choose_details_note(const struct dataset *d);
/* ERR_USAGE unless each of --across is known. */
int choose_across(const struct options *o, bool *ret_tool, bool *ret_keep, struct err *e);

/* "836 MB/s", or just "836" where unit_shown names the column's. */
void choose_figure(struct text *t, double v, const char *unit);
/* Axis values of a cell as JSON: {"filesystem": "xfs", "readahead": "2097152"}. */
struct json_object *choose_cell_json(const struct dataset *d, size_t cell);
/* Whether an axis may be left to follow from another one: labels describe, and option words belong to a filesystem's
 * type.  Any other setting that always changes along may be the true cause. */
bool choose_may_follow(const char *axis, const char *other);
/* Which axes have several values among the cells that have results. */
void choose_varying(const struct dataset *d, bool *ret);

/* How many cells of the dataset are not ranked, and why; series < 0: of any. */
struct left_out {
	size_t flagged, incomplete, infeasible, failed, not_measured;
	size_t not_positive; /* 0 or below: no ratio to another result */
	char flags[4 * FLAG_TEXT]; /* of those flagged: "drift, cached" */
};
/* Whether a result may be ranked; counts it if not.  with_flagged: flags are no obstacle. */
bool choose_is_ranked(const struct dataset *d, const struct dataset_result *r, bool with_flagged,
                      struct left_out *count);
/* The same where ratios are taken. */
bool choose_is_compared(const struct dataset *d, const struct dataset_result *r, bool with_flagged,
                        struct left_out *count);
void choose_cells_left_out(const struct dataset *d, struct left_out *count);
/* "3 flagged (drift), 1 incomplete" or "". */
void choose_left_out_text(const struct left_out *l, struct text *ret);
struct json_object *choose_left_out_json(const struct left_out *l);

#endif
