/* SPDX-License-Identifier: MIT
 *
 * What can and cannot be concluded from results.  Pure: plain arrays in, structs out; no store, no printing.
 *
 * Everything is done on logarithms of values, so that effects are ratios and noise is a coefficient of variation
 * (CoV, sd / mean of single trials).  Values are > 0; what is not (a tool that counted 0 errors) is left out by the
 * caller and counted.
 */
#ifndef IOSWEEP_ANALYSIS_H
#define IOSWEEP_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/model.h"

/* ---- noise (analysis_noise.c) ---- */

/* Spread of one cell's trials, enough to estimate a CoV. */
struct spread {
	double value, min, max;
	int n;
};
/* Noise of a single trial, pooled over cells, as sd of log values. */
struct noise {
	double sigma;
	double dof;        /* degrees of freedom that came from trials; 0: assumed only */
	bool is_assumed;   /* no cell has two trials: sigma is the prior's 5 % */
};
/* A weak prior (CoV 5 %, 4 degrees of freedom) keeps a handful of lucky cells from claiming no noise at all;
 * with_prior false leaves it out once the trials alone give 4 degrees of freedom. */
struct noise noise_pool(const struct spread *cells, size_t n, bool with_prior);
/* Standard error, in sigmas, of a result made of n trials: 1 / sqrt(n) for a mean, more for a median. */
double noise_se(enum keep keep, int n);
/* Two-sided quantile of Student's t for 95 %: 12.7 for 1 degree, 1.96 for many. */
double student_t95(double dof);

/* ---- ties (analysis_ties.c) ---- */

/* d such that, of k + 1 equal contenders with equal known noise, the leader is at most d standard errors of a
 * difference above any given one with 95 % probability (one-sided, Dunnett's constant; comparison with the best after
 * Hsu).  k >= 1; k = 1: 1.64. */
double ties_critical(size_t k);

struct contender {
	double value;
	int n;          /* trials */
	enum keep keep;
};
/* Marks everything that cannot be told from the best: ret_tied[i].  better decides what best is.  The true winner is
 * among them with at least 95 % probability.  Returns the index of the best value (the first of equals), or -1 if n
 * is 0. */
int ties_find(const struct contender *c, size_t n, enum better better, const struct noise *noise, bool *ret_tied);

/* The same for results of one series, noise pooled from their own spread (with the prior): the rule of best and show.
 * Values are >= 0; where one is 0, such as a count of errors, nothing is known of ratios and only what equals the
 * best is tied. */
struct noise ties_judge(const struct spread *results, size_t n, enum keep keep, enum better better, bool *ret_tied);

/* Marks what no other row is at least as good as in every metric and better in one.  values: n rows of n_metrics;
 * NAN: not measured, such a row is out.  ret_best[i]. */
void pareto_find(const double *values, size_t n, size_t n_metrics, const enum better *better, bool *ret_best);

/* ---- effects (analysis_effects.c) ---- */

/* Cells of a design: n rows, n_axes value numbers each (>= 0); two rows match on an axis if the numbers are equal. */
struct design {
	size_t n, n_axes;
	const int *levels;        /* n * n_axes */
	const double *values;     /* n; NAN: not measured */
	const int *trials;        /* n: behind each value */
	const enum keep *keep;    /* n */
	enum better better;
	double sigma;             /* noise of a single trial */
	bool is_sigma_assumed;
};

/* One change of value of one axis, over all pairs of cells that are equal in everything else. */
struct effect {
	size_t axis;
	int from, to;
	size_t n_pairs;
	double mean, median, min, max; /* ratios to / from; mean is the arithmetic mean of the pairs' ratios */
	double geometric;              /* geometric mean: the centre of the interval */
	double low, high;              /* 95 % interval of the geometric mean; equal to 0 and INFINITY if it cannot be given */
	size_t n_better, n_worse, n_equal;
	bool is_decided;               /* the interval excludes 1 */
	size_t pairs_needed;           /* not decided: about as many matched pairs would; 0: no estimate */
	size_t trials_needed;          /* or as many trials a cell; 0: no estimate */
	double matters;                /* size of the change, whatever its sign, less noise: log ratio */
	uint64_t along;                /* axes (bits) that were freed and change along in some pair */
};

/* Where the effect of a change of one axis has opposite signs at two values of another. */
struct interaction {
	size_t axis, other;
	int from, to;
	int at_up, at_down;      /* values of `other` */
	double up, down;         /* geometric mean ratio there: > 1 and < 1 */
	size_t n_up, n_down;     /* pairs */
};

struct effects {
	struct effect *at;       /* owned; grouped by axis, axes by how much they matter, then by values */
	size_t n;
	struct interaction *interactions; /* owned; largest contrast first */
	size_t n_interactions;
	size_t *order;           /* owned: axes, most important first */
	double *matters;         /* owned: of each axis, log ratio; 0: nothing seen; -1: no pairs */
};
/* Whether b must be equal when a is changed: rule[a * n_axes + b] (NULL: all must). */
enum match_rule {
	MATCH_EQUAL,
	MATCH_FREE,     /* need not be equal */
	MATCH_FOLLOWING /* need not be equal where it follows from the two values of a: the RAID level of a layout's name */
};
/* A pair of values with no matched pairs gives no effect.  At most 64 axes.  To be freed by effects_done. */
void effects_find(const struct design *d, const enum match_rule *rules, struct effects *ret);
void effects_done(struct effects *f);

/* Of an axis without matched pairs: the axes that change along in the pairs of cells that differ least;
 * ret_along[n_axes]. Returns the number of such pairs, 0 if the axis has one value only. */
size_t design_along(const int *levels, size_t n, size_t n_axes, size_t axis, bool *ret_along);

/* ---- comparison (analysis_compare.c) ---- */

struct pair { /* one cell on both sides; trials borrowed, NULL where only the results are known */
	double a, b;                /* results */
	const double *a_trials, *b_trials;
	int n_a, n_b;
	enum keep keep;
};
struct pair_test {
	double ratio, low, high; /* b / a with its 95 % interval; low 0 and high INFINITY if noise is unknown */
	double p;                /* exact two-sided Mann-Whitney; NAN without trials on both sides */
	double p_floor;          /* the smallest p that so many trials can give; NAN likewise */
	bool is_decided;         /* the interval excludes 1 */
};
struct pooled_test {
	size_t n;                /* cells */
	double ratio, low, high; /* geometric mean of the ratios; 95 % interval over the cells */
	double p;                /* two-sided: trials permuted within each cell; cells' signs flipped where there is one trial */
	bool is_exact;           /* by full enumeration; else by the permutation's own mean and variance */
	double p_floor;          /* smallest p possible, if is_exact */
	bool is_decided;
};
void compare_pair(const struct pair *p, const struct noise *noise, struct pair_test *ret);
void compare_pooled(const struct pair *p, size_t n, const struct noise *noise, struct pooled_test *ret);

#endif
