/* SPDX-License-Identifier: MIT
 *
 * A sweep as `show` sees it: its cells, which axes vary, which metrics there are, what was best.  Built once from the
 * store, then laid out by show_table.c, show_pivot.c, show_trials.c and show_json.c.  Everything lives in one arena.
 */
#ifndef IOSWEEP_CLI_REPORT_H
#define IOSWEEP_CLI_REPORT_H

#include "cli/scale.h"
#include "schema/store_select.h"

struct report_axis {
	const char *name;
	bool varies;       /* over the cells visited */
	bool is_implied;   /* mkfs, mount: given by the cell's filesystem, and told above the table instead of in a column */
};

/* How a result stands among those of its metric, by the rule of `best`: flagged and incomplete results take no part. */
enum standing { STANDING_NONE, STANDING_BEST, STANDING_TIE /* cannot be told from the best */ };

/* Why a metric is not shown to people unless they name it. */
enum aside {
	ASIDE_NO,
	ASIDE_DETAIL,  /* its definition calls it one */
	ASIDE_NEITHER, /* neither higher nor lower is better */
	ASIDE_LABELS   /* one of too many labels of its metric */
};

struct report_metric {
	const char *key;      /* "dd-read.throughput{4KiB}" */
	const char *title;    /* "dd-read\nthroughput\n4KiB\nMB/s" */
	const char *base;     /* unit as stored */
	enum better better;
	struct scale unit;     /* chosen for its column */
	const struct shown_result **at; /* per cell; NULL where there is none */
	enum standing *standing;        /* per cell */
	bool is_detail;
	enum aside aside;
	int64_t n_max;        /* most good trials behind any result */
	int width, marks_width, spread_width; /* of the parts of a figure */
};

struct report {
	struct arena *arena; /* borrowed */
	struct sweep sweep;
	struct shown_cell *cells;
	size_t n_cells;
	bool stands_by_column;    /* standings are those within a column, not within the metric */
	bool is_filtered;         /* cells of the sweep that do not meet the filter are not here */
	bool has_some_metrics;    /* only those that were asked for, by name or by filter */
	struct report_axis *axes; /* filesystem, mkfs, mount, then by name */
	size_t n_axes;
	struct report_metric *metrics; /* as the store gives them: workloads in the plan's order */
	size_t n_metrics;
	const char *common_flags; /* " summary ": those of every result, told once instead of beside each; "" for none */
};

/* f: which cells and results; NULL: all. */
int report_load(struct store *s, int64_t sweep_id, const struct filter *f, enum scale_style style, struct arena *a,
                struct report *ret, struct err *e);
/* Keeps only the metrics that a comma-separated list of keys (or of workloads, or of metric names) names; NULL: all. */
int report_choose(struct report *r, const char *list, struct err *e);
/* Whether a trial belongs to the report: where metrics were asked for, those of its workload are among them. */
bool report_has_trial(const struct report *r, const struct shown_trial *t);
/* The metric of that key, or NULL: not in the report. */
const struct report_metric *report_metric(const struct report *r, const char *key);
/* Standings anew, within each of n groups of cells: the columns of a pivot.  group: of each cell. */
void report_stand(struct report *r, const size_t *group, size_t n);
/* Index of an axis by name; ERR_USAGE with the nearest one. */
int report_axis(const struct report *r, const char *name, size_t *ret, struct err *e);

/* The cell's value of an axis, or NULL. */
const struct shown_value *report_value(const struct shown_cell *c, const char *axis);
/* As people read it: "2MiB", "default (128KiB)", "xfs-wide", "-" for none (arena). */
const char *report_value_text(const struct report *r, const struct shown_cell *c, const char *axis);
/* "117.3*c  4.2%", each part padded so that the figures of a metric stand below each other; "" for none (arena). */
const char *report_figure(const struct report *r, const struct report_metric *m, size_t cell);

/* Flags: one letter each, and what they mean. */
char flag_letter(const char *flag);
const char *flag_about(const char *flag);
/* Whether a flag is one of the report's common_flags. */
bool report_flag_is_common(const struct report *r, const char *flag);
/* Standing and flags of a result as marks, but for the common ones; plus "incomplete" where trials are missing. */
void report_marks(const struct report *r, const struct report_metric *m, size_t cell, struct text *ret);

#endif
