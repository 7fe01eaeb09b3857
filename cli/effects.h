/* SPDX-License-Identifier: MIT
 *
 * Effects out of a dataset, per series; how they are printed.
 */
#ifndef IOSWEEP_CLI_EFFECTS_H
#define IOSWEEP_CLI_EFFECTS_H

#include "cli/choose.h"
#include "schema/analysis.h"

struct effects_options {
	enum table_format format;
	bool with_flagged;
	const char *axes;      /* only these, comma-separated; NULL: all */
	const char *from, *to; /* one change of value; NULL: all */
	const char *free_axes; /* need not be equal in a pair; NULL: none but labels that follow from the axis */
};

/* One series analysed. */
struct series_effects {
	size_t series;
	struct design design;   /* arrays owned */
	size_t n_axes;          /* of design, without the host's column */
	size_t *axes;           /* owned: index in the dataset of each */
	int **names;            /* owned: of each axis, level of design -> level of dataset */
	enum match_rule *rules; /* owned: n * n */
	struct effects effects;
	struct noise noise;
	struct left_out left_out;
	size_t n;               /* results that take part */
	int trials;             /* fewest behind any of them */
};

int effects_of_series(const struct dataset *d, size_t series, const struct effects_options *o,
                      struct series_effects *ret, struct err *e);
void series_effects_done(struct series_effects *s);
const char *effects_value(const struct dataset *d, const struct series_effects *s, size_t axis, int level);
/* Why an axis has no effect to show, and what would decide it; "" if it has pairs. */
void effects_missing(const struct dataset *d, const struct series_effects *s, size_t axis, struct text *ret);
/* "label.hw_raid, label.total_raid": the axes (bits of an effect's `along`) that change along. */
void effects_along(const struct dataset *d, const struct series_effects *s, uint64_t along, struct text *ret);
/* Those of all effects of an axis. */
uint64_t effects_axis_along(const struct series_effects *s, size_t axis);
/* Verdict of one effect: "", or "not decidable with 2 pairs of 1 trial; about 9 pairs would". */
void effects_verdict(const struct series_effects *s, const struct effect *f, struct text *ret);

void effects_people(const struct dataset *d, const struct series_effects *s, const struct effects_options *o,
                    FILE *out);
struct json_object *effects_json(const struct dataset *d, const struct series_effects *s,
                                 const struct effects_options *o);
void effects_flat(const struct dataset *d, const struct series_effects *s, struct table *t);
void effects_flat_columns(struct table *t);

#endif
