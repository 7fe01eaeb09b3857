/* SPDX-License-Identifier: MIT
 *
 * A filter against this store: which axes, hosts, metrics it names, as SQL; and the reports that begin with a filter.
 */
#ifndef IOSWEEP_STORE_SELECT_H
#define IOSWEEP_STORE_SELECT_H

#include "schema/dataset.h"
#include "schema/filter.h"
#include "schema/store.h"

/* Conditions over the aliases c (cell), w (sweep), m (metric) and r (result), all integers resolved: no text of the
 * user's is in it.  Two parts, so that a query about cells alone needs no result. */
struct selection {
	struct text cells;   /* "c.config_id IN (...) AND w.host_id IN (...)"; "1" if there is none */
	struct text results; /* "m.id IN (...)"; "1" likewise */
	struct text metrics; /* those of results that are about m alone */
	bool no_details;     /* metrics that are details are left out: is_detail, not in the texts, since it would cost a join */
	bool has_axis;       /* a term on an axis: the plan begins at config_value */
	bool has_sweep;      /* a term on sweeps: the plan begins at cell */
};
void selection_done(struct selection *q);
static inline void auto_selection(struct selection *q)
{
	selection_done(q);
}
#define AUTO_SELECTION __attribute__((cleanup(auto_selection)))

/* Unknown axis, metric, host, plan, workload, sweep: ERR_USAGE with the column marked and the nearest known names as
 * hint.  A value that no cell has is no fault; it selects nothing. */
int store_select(struct store *s, const struct filter *f, struct selection *ret, struct err *e);
/* The same for figures that are to be held against each other: without those of rehearsals, unless the filter names
 * sweeps. */
int store_select_compared(struct store *s, const struct filter *f, struct selection *ret, struct err *e);

/* The config whose digest begins with these hexadecimal digits.  ERR_USAGE if none or several do. */
int store_config_find(struct store *s, const char *digits, int64_t *ret_id, struct err *e);

/* Sweeps with a cell that meets the filter, ascending (arena). */
int store_select_sweeps(struct store *s, const struct filter *f, struct arena *a, int64_t **ret, size_t *ret_n,
                        struct err *e);

/* As store_show_cells, but only what meets the filter: cells, and of them results. */
int store_show_selected(struct store *s, int64_t sweep_id, const struct filter *f, struct arena *a,
                        struct shown_cell **ret, size_t *ret_n, struct err *e);

/* The relevant tool versions of a workload under an environment: "dd 9.1"; arena. */
int store_tools_text(struct store *s, int64_t environment_id, int64_t workload_id, struct arena *a, const char **ret,
                     struct err *e);

/* Whether anything in this store differs that must not be mixed, tool versions or rules of aggregation: 1, 0, or -1.
 * Most stores have one version of each tool, and nothing more is to be looked at. */
int store_has_mixture(struct store *s, struct err *e);

/* A cell and a metric of it. */
struct cell_metric {
	int64_t cell_id, metric_id;
};

struct dataset_options {
	bool all;           /* every visit of a config, not only the newest on each host */
	bool across_tool;   /* tool versions do not make a series of their own */
	bool across_keep;   /* nor rules of aggregation */
	size_t max_results; /* 0: DATASET_MAX */
	const struct cell_metric *only; /* these results and no others, sorted; NULL: all that meet the filter */
	size_t n_only;
	bool no_environments; /* the cells' environment_id is not asked for: their trials are not read one by one */
};
#define DATASET_MAX ((size_t)400000) /* about 32 MiB */
/* Loads the results that meet the filter, with their cells (also those without results: failed, infeasible).  Free with
 * dataset_free. */
int store_dataset(struct store *s, const struct filter *f, const struct dataset_options *o, struct dataset **ret,
                  struct err *e);

/* For store_dataset alone (store_compare.c): notes that a result stands for this environment; finds what differs in
 * all of them. */
void dataset_environment_add(struct dataset *d, int64_t host_id, int64_t environment_id);
int store_mixed_facts(struct store *s, struct dataset *d, struct err *e);
/* For store_dataset alone: fills axes and levels of a dataset whose cells are there (store_levels.c). */
int store_dataset_levels(struct store *s, struct dataset *d, struct err *e);

/* ---- the best of many (store_best.c) ---- */

/* In a large store, and for a filter that names no axis and no sweep: the results that can be among the best of their
 * host and metric, found by walking the index on values from its best end until noise cannot matter any more.
 * *ret_is_done false: nothing was done, all results are to be loaded.  n_old: older visits of a config that were
 * passed by. */
struct best_walk {
	struct cell_metric *at; /* owned; sorted */
	size_t n;
	int64_t n_old;
	bool is_done;
	bool is_cut;              /* of a metric, more than are here may be among the best */
};
#define BEST_WALK_CELLS 20000 /* fewer cells are loaded as a whole */
int store_best_walk(struct store *s, const struct filter *f, struct best_walk *ret, struct err *e);

/* ---- two sides (store_compare.c) ---- */

/* The good trials of one cell: values sorted by metric, then by repetition. */
struct cell_trials {
	int64_t *metric_ids; /* owned */
	double *values;      /* owned */
	size_t n;
};
int store_cell_trials(struct store *s, int64_t cell_id, struct cell_trials *ret, struct err *e);
void cell_trials_done(struct cell_trials *t);

/* An environment fact that the two sides do not share; what changes a number first comes first. */
struct difference {
	const char *key;      /* "tool.fio", "kernel.release" ... (arena) */
	const char *a, *b;    /* the values of each side, joined by " | "; "" if unknown there */
	int rank;             /* 0 tools, 1 kernel, 2 filesystem tools, 3 device, 4 firmware, 5 memory, 6 write cache, 7 defaults, 8 the rest */
};
int fact_rank(const char *key);
/* A cell of a side; environment_id as in the dataset: 0 is looked up. */
struct side_cell {
	int64_t id, environment_id;
};
int store_differences(struct store *s, const struct side_cell *a_cells, size_t n_a, const struct side_cell *b_cells,
                      size_t n_b, struct arena *a, struct difference **ret, size_t *ret_n, struct err *e);

/* ---- one result after the other (store_query.c) ---- */

struct query_options {
	bool across_tool, across_keep; /* let what differs in them stand in one column */
	bool is_strict;                /* refuse a mixture before the first row; else *ret_mixed tells of it */
};
struct query_row { /* valid until the next one */
	int64_t sweep_id, position, started_ms;
	const char *plan, *host, *sweep_state, *state, *reason;
	const uint8_t *config;      /* 32 bytes */
	const char *key;            /* NULL: the cell has no result */
	const char *unit, *keep, *tools, *flags;
	enum better better;
	double value, min, max;
	int64_t n, left_out;
	const char **axes;          /* canonical value of each axis of store_query_axes; "" if the cell has none */
	const char **effective;     /* what was found where it was left alone; NULL otherwise */
};
struct query;
/* Cells are found at once, their results one by one: the first row comes early and memory grows with the cells only
 * (8 bytes each). ERR_USAGE if results of different tools or rules of aggregation would mix (is_strict).  ret_mixed:
 * arena text, "" if none do. */
int store_query_open(struct store *s, const struct filter *f, const struct query_options *o, struct arena *a,
                     struct query **ret, const char **ret_mixed, struct err *e);
const char *const *store_query_axes(const struct query *q, size_t *ret_n);
size_t store_query_cells(const struct query *q);
int store_query_next(struct query *q, struct query_row *ret, struct err *e); /* 1, 0, -1 */
void store_query_close(struct query *q); /* NULL is fine */

#endif
