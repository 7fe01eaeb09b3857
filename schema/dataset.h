/* SPDX-License-Identifier: MIT
 *
 * A selection of results in memory: what show, best, effects, compare and plot work on.  Loaded by store_dataset.c,
 * read by everybody else.  A metric here is a *series*: numbers that may stand beside each other, because workload,
 * metric, tool versions and rule of aggregation are the same.  What differs in one of them is another series.
 *
 * Size: about 60 bytes a result and a few a setting; of a config that a host measured several times, the newest counts
 * unless asked otherwise, so the history of years stays small.
 */
#ifndef IOSWEEP_DATASET_H
#define IOSWEEP_DATASET_H

#include "schema/axis.h"
#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/model.h"

struct dataset_axis {
	const char *name;
	const struct axis *def;   /* its row in the table of axes, or NULL */
	const char **values;      /* canonical; numbers ascending, then texts; "" for a cell whose plan knows no such axis */
	const char **shown;       /* as people read them: "128KiB", "kernel-default (2.5MiB)" */
	size_t n_values;
};
struct dataset_series {
	const char *key;          /* "dd-read.throughput", with {LABEL} */
	const char *name;         /* unique in this dataset: the key, with tools, rule or workload added where keys are equal */
	const char *unit;
	enum better better;
	enum keep keep;
	const char *tools;        /* "bonnie++ 1.02"; "" if nothing is known */
	int64_t metric_id, workload_id;
	size_t n;                 /* results */
};
struct dataset_sweep {
	int64_t id, started_ms;
	const char *plan, *host, *state;
	int64_t host_id;
	enum keep keep;
	int64_t repetitions;      /* good trials that a whole cell has; 0: not known */
};
struct dataset_cell {
	int64_t id, config_id, started_ms, position;
	size_t sweep;             /* index */
	const char *state, *reason;
	size_t n_results;
	int64_t environment_id;   /* of all its good trials; 0: none, or several */
};
struct dataset_result {
	size_t cell, series;      /* indices */
	double value, min, max;
	int n, left_out;
	int64_t trial_id;         /* the middle one; 0: none */
	const char *flags;        /* "" or "cached drift" */
};
/* A fact, other than of a tool, that has several values among the results of one host. */
struct mixed_fact {
	const char *host, *key;
	const char *values;       /* joined by " | " */
	int rank;                 /* as in struct difference */
};
struct dataset {
	struct arena *arena;
	struct dataset_axis *axes;
	size_t n_axes;
	struct dataset_series *series;
	size_t n_series;
	struct dataset_sweep *sweeps;
	size_t n_sweeps;
	struct dataset_cell *cells;   /* by sweep, then position */
	size_t n_cells;
	int *levels;                  /* n_cells * n_axes: index into the axis's values */
	struct dataset_result *results; /* by series, then cell */
	size_t n_results;
	int64_t n_superseded;         /* results of older visits of the same config on the same host, not here */
	struct dataset_environment { int64_t host_id, id; } *environments; /* behind the results, each once */
	size_t n_environments, cap_environments;
	struct mixed_fact *mixed;     /* in which they differ, host by host, what changes a number first */
	size_t n_mixed;
	bool has_left_details;        /* results of metrics that are details are not here (no_details of the filter) */
};

#define FLAG_TEXT 32
/* The next flag of a list ("cached drift"), from *rest on; false at its end. */
bool flag_next(const char **rest, char ret[FLAG_TEXT]);
/* Flags that say a number is not to be relied on: such results take no part in rankings and effects.  'spread' is
 * noise, and 'single' and 'summary' only say what was published. */
bool flags_are_bad(const char *flags);
/* Whether a result of n good trials takes part: not if it is flagged, nor if a cell that is not whole lacks trials. */
enum ranked { RANKED, RANKED_NOT_FLAGGED, RANKED_NOT_INCOMPLETE };
enum ranked result_ranked(const char *flags, bool cell_is_ok, int64_t n, int64_t repetitions);

const struct dataset_result *dataset_find(const struct dataset *d, size_t cell, size_t series); /* or NULL */
/* Index of an axis or a series, or -1. */
int dataset_axis(const struct dataset *d, const char *name);
static inline int dataset_level(const struct dataset *d, size_t cell, size_t axis)
{
	return d->levels[cell * d->n_axes + axis];
}
/* Value of an axis as people read it: sizes with a unit, the rest as it is.  Returns value or buf. */
const char *axis_value_text(const struct axis *def, const char *value, char *buf, size_t size);
/* "filesystem=xfs readahead=2MiB": the axes marked in `which` (NULL: those with more than one value). */
char *dataset_cell_text(const struct dataset *d, size_t cell, const bool *which, struct arena *a);
/* Names every series by its key, and beside others of that key by what tells it from them: tools, rule, workload. */
void dataset_name_series(struct dataset *d);
void dataset_free(struct dataset *d); /* NULL is fine */

#endif
