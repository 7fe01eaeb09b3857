/* SPDX-License-Identifier: MIT
 *
 * A chart as plain numbers, made of a dataset, and its two renderings: gnuplot(1) and text.
 */
#ifndef IOSWEEP_CLI_PLOT_H
#define IOSWEEP_CLI_PLOT_H

#include "cli/choose.h"

enum chart_kind { CHART_LINE, CHART_BARS, CHART_HEAT, CHART_HISTORY };

struct point {
	double value, min, max; /* in the chart's unit; value NAN: none */
	int n;                  /* trials behind it */
};
struct chart { /* texts in the arena */
	enum chart_kind kind;
	const char *title, *subtitle; /* metric; plan, host, dates, trials */
	const char *x_label, *y_label, *key_label;
	const char *unit;             /* shown: "MB/s" */
	const char **x;               /* categories, in order */
	double *x_seconds;            /* of a history: when, as Unix time; else NULL */
	const char **lines;           /* names of lines; rows of a heat map; one for bars */
	size_t n_x, n_lines;
	struct point *points;         /* n_lines * n_x */
	size_t n_merged;              /* results that share a point with another: their median is shown */
};

struct chart_options {
	enum chart_kind kind;
	const char *x, *by; /* axes, or NULL: chosen */
	bool is_binary;     /* MiB/s */
};
/* Makes the chart of one series.  ERR_USAGE for an unknown axis, or more lines than can be told apart. */
int chart_make(const struct dataset *d, size_t series, const struct chart_options *o, struct arena *a,
               struct chart *ret, struct err *e);
/* SVG or PNG by the ending of path; through gnuplot, whose script is written to its standard input. */
int chart_draw(const struct chart *c, const char *path, struct err *e);
/* For a terminal, width columns. */
void chart_text(const struct chart *c, size_t width, FILE *out);

#endif
