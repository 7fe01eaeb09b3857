/* SPDX-License-Identifier: MIT
 *
 * Rankings out of a dataset, and how they are printed.
 */
#ifndef IOSWEEP_CLI_BEST_H
#define IOSWEEP_CLI_BEST_H

#include <string.h>

#include "cli/choose.h"
#include "schema/analysis.h"

struct best_options {
	enum table_format format;
	int64_t limit;
	bool with_flagged, with_pareto;
	bool is_cut;         /* of a metric, more than are here may be among the best */
	bool is_walk;        /* only the foremost results were looked at */
	const char *weights; /* "METRIC=WEIGHT,..." or NULL */
};

/* One ranking: a series on a host. */
struct ranking {
	size_t series;
	const char *host;
	const struct dataset_result **at; /* owned; best first */
	bool *tied;                       /* owned; not to be told from the best */
	size_t n, n_best, n_tied;         /* ranked; equal to the best value; in the tie set, the best included */
	struct noise noise;
	struct left_out left_out;
};

/* All rankings of a dataset that have a direction; free each with ranking_done. */
void best_rank(const struct dataset *d, bool with_flagged, struct ranking **ret, size_t *ret_n);
void ranking_done(struct ranking *r);
/* Prints everything: rankings, then Pareto set and weighted ranking where asked for.  Exit status, or -1. */
int best_print(const struct dataset *d, const struct best_options *b, const struct options *o, struct err *e);

/* Several metrics at once (best_pareto.c). */
struct pareto {
	const char *host;
	size_t *series;    /* owned: the metrics, indices */
	size_t n_series;
	size_t *cells;     /* owned: first cell of each config that has them all */
	double *values;    /* owned: n * n_series */
	double *scores;    /* owned: weighted, 1 = best in all; NAN without weights */
	bool *best;        /* owned: in the Pareto set */
	size_t n;
};
/* Before anything is printed: ERR_USAGE for a weight that is none, or of a metric that no host of the selection has. */
int weights_check(const struct dataset *d, const char *text, struct err *e);
int pareto_make(const struct dataset *d, const char *host, const struct best_options *b, struct pareto *ret,
                struct err *e);
void pareto_done(struct pareto *p);
int pareto_print(const struct dataset *d, const struct pareto *p, const struct best_options *b, FILE *out,
                 struct err *e);
struct json_object *pareto_json(const struct dataset *d, const struct pareto *p);

#endif
