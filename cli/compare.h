/* SPDX-License-Identifier: MIT
 *
 * Two sides of results, matched cell by cell.
 */
#ifndef IOSWEEP_CLI_COMPARE_H
#define IOSWEEP_CLI_COMPARE_H

#include "cli/choose.h"
#include "schema/analysis.h"

struct side {
	const char *name;        /* "sweep 12", "host=db1" */
	struct filter filter;
	struct dataset *d;       /* owned */
	struct cell_trials *trials; /* owned; of each cell, read when first needed */
	bool *has_trials;        /* owned */
};

struct matched { /* one cell and metric on both sides */
	const struct dataset_result *a, *b;
	struct pair pair;
	struct pair_test test;
	bool is_regression;
};
struct compared { /* one metric */
	size_t series;           /* of side a */
	struct matched *at;      /* owned */
	size_t n, cap;
	struct noise noise;
	struct pooled_test pooled;
	size_t n_regressions;
	bool is_regression;      /* the pooled ratio itself */
	const char *refused;     /* why it was not compared: "bonnie++ 1.02 against bonnie++ 1.03e"; NULL: it was */
};
struct comparison {
	struct arena *arena;
	struct side side[2];
	struct compared *metrics; /* owned */
	size_t n_metrics, cap_metrics;
	size_t only[2];           /* results of one side without a counterpart */
	size_t n_several;         /* results of a side that gave way to a newer one with the same settings, of another host */
	bool is_by_host;          /* each cell is matched with one of the same host, and there are several */
	struct difference *differences; /* arena */
	size_t n_differences;
	double limit;             /* --fail-on-regression as a fraction; NAN: not asked */
	bool with_flagged;
	struct left_out left_out; /* results of both sides that took no part */
	const char *ignored;      /* axis that tells the sides apart and is not matched, or NULL */
	const char *following[16]; /* axes that are not matched either, since they follow from it */
	size_t n_following;
};

/* Both sides are loaded: matches, tests, looks for regressions and differing facts. */
int comparison_make(struct store *s, struct comparison *c, bool across_tool, bool across_keep, struct err *e);
void comparison_done(struct comparison *c);
bool comparison_regressed(const struct comparison *c);

void comparison_people(const struct comparison *c, int64_t limit, FILE *out);
void comparison_json(const struct comparison *c);
int comparison_flat(const struct comparison *c, enum table_format format, const struct options *o, struct err *e);

#endif
