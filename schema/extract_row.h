/* SPDX-License-Identifier: MIT
 *
 * From the rows of one source to labelled values: where, value, label, growing, same, once, combine.  Private to
 * extract*.c.
 */
#ifndef IOSWEEP_EXTRACT_ROW_H
#define IOSWEEP_EXTRACT_ROW_H

#include "schema/extract.h"
#include "schema/extract_cache.h"

/* One extraction, from beginning to end. */
struct extraction {
	const struct workload *w;
	const struct capture *captures;
	struct output_cache *caches; /* one a capture */
	size_t n_captures;
	const struct fact *facts;
	size_t n_facts;
	const struct workload_param *params;
	size_t n_params;
	struct evaluator *evaluator;
	struct arena *arena;
	struct measured *done; /* metrics found so far: may be used by those that follow */
	size_t n_done, done_cap;
};

struct found {
	const char *label;
	double value, weight;
	size_t capture, match, number;
};

enum collect_state { COLLECT_NOTHING, COLLECT_ABSENT, COLLECT_UNPARSABLE, COLLECT_AMBIGUOUS, COLLECT_VALUES };

/* What one source gave. */
struct collected {
	enum collect_state state;
	const char *why;   /* ambiguous, unparsable; "" */
	struct found *at;  /* arena; rows with a value */
	size_t n, cap;
	size_t n_rows;     /* rows, with or without a value */
	bool has_several_labels;
	const char *first_label;
};

int source_collect(struct extraction *x, const struct source *s, struct collected *ret, struct err *e);

/* Is there a row (in outputs of this step; NULL: any) for which `value` is true?  ret_reason: the rule's, expanded. */
int rule_holds(struct extraction *x, const struct rule *rule, const char *step, bool *ret, const char **ret_reason,
               struct err *e);

/* Does the source look into this output? */
bool source_fits(const struct source *s, const struct capture *c);

/* "run stdout, match 2": for found_by. */
const char *found_where(struct extraction *x, const struct source *s, const struct found *f);

#endif
