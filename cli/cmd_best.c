/* SPDX-License-Identifier: MIT
 *
 * iosweep best: per metric what won, and everything that cannot be told from it; for several metrics the Pareto set.
 * A ranking is made among the cells of one host and one series (equal workload, tool versions, rule of aggregation).
 */
#include "cli/best.h"
#include "cli/choose.h"

static const struct option_def options[] = {
	OPTIONS_SELECT,
	{ "weights", 'w', "LIST", "rank by a weighted mean: METRIC=WEIGHT,... (geometric, each relative to its best)" },
	{ "pareto", 'p', NULL, "also the cells that no other beats in every metric (implied by several in --metric)" },
	{ "flagged", 0, NULL, "let flagged results (cached, drift, disturbed ...) take part" },
	{ "limit", 'n', "N", "rows shown of each ranking (default 10; 0: all); programs get all" },
	OPTIONS_TABLE,
	OPTIONS_END
};

/* Of a large store, only the results that can be among the best; else all. */
static int best_load(const struct options *o, struct store *s, const struct filter *f, struct best_options *b,
                     struct dataset **ret, struct err *e)
{
	struct dataset_options d = { .all = true, .no_environments = true };
	struct best_walk walk = { 0 };
	int rc;

	if (options_has(o, "all") || b->with_pareto)
		return choose_dataset(o, s, f, ret, e);
	if (choose_across(o, &d.across_tool, &d.across_keep, e) < 0 || store_best_walk(s, f, &walk, e) < 0)
		return -1;
	if (!walk.is_done)
		return choose_dataset(o, s, f, ret, e);
	d.only = walk.at != NULL ? walk.at : &(struct cell_metric){ 0 };
	d.n_only = walk.n;
	rc = store_dataset(s, f, &d, ret, e);
	b->is_walk = true;
	b->is_cut = walk.is_cut;
	free(walk.at);
	return rc;
}

/* What is walked and what is read of it are one state of the store, while a sweep records. */
static int best_read(const struct options *o, struct store *s, const struct filter *f, struct best_options *b,
                     struct dataset **ret, struct err *e)
{
	return store_begin(s, e) < 0 ? -1 : store_finish(s, best_load(o, s, f, b, ret, e), e);
}

static int best_run(const struct options *o, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_STORE struct store *s = NULL;
	AUTO_DATASET struct dataset *d = NULL;
	struct best_options b = { .limit = 10, .with_flagged = options_has(o, "flagged"), .weights = options_text(o, "weights") };
	const char *metric = options_text(o, "metric");
	struct filter f;

	if (table_format_of(o, &b.format, e) < 0 || options_integer(o, "limit", 0, INT64_MAX, &b.limit, e) < 0 ||
	    choose_filter(o, 0, NULL, a, &f, e) < 0 || open_store(&s, e) < 0)
		return -1;
	f.no_details = true;
	b.with_pareto = options_has(o, "pareto") || b.weights != NULL ||
	                (metric != NULL && strchr(metric, ',') != NULL);
	if (best_read(o, s, &f, &b, &d, e) < 0)
		return -1;
	return best_print(d, &b, o, e);
}

const struct command cmd_best = {
	.name = "best",
	.arguments = "[ID...] [FILTER...]",
	.max_arguments = -1,
	.about = "show what won, and what cannot be told from it",
	.details = "Ranks every cell that the filter selects, per host and metric; without one, all of the store.  Marked '='\n"
	           "are the cells with the best value, marked '~' those that noise may have kept from being the best.  The\n"
	           "noise is estimated from all trials of the ranking; single figures tell nothing of it, so 5 % is assumed.",
	.options = options,
	.run = best_run,
};
