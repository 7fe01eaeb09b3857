/* SPDX-License-Identifier: MIT
 *
 * Statistics of a few trials.  Arrays are borrowed and not changed; n >= 1 unless said otherwise.
 */
#ifndef IOSWEEP_STATS_H
#define IOSWEEP_STATS_H

#include <stddef.h>

#include "schema/model.h"

/* Middle value; the mean of the middle two for an even n. */
double stats_median(const double *v, size_t n);
double stats_mean(const double *v, size_t n);
/* Index of the element that is the median, or -1 for an even n (first of equals). */
int stats_middle(const double *v, size_t n);
/* (max - min) / median: 0.10 is the limit of the 'spread' flag.  0 if the median is 0. */
double stats_spread(double min, double max, double median);
/* +1 if each value is above the one before and the whole rise exceeds limit (0.25) of the first; -1 falling; else 0.
 * n < 3 gives 0. */
int stats_drift(const double *v, size_t n, double limit);
/* Two-sided p of the Mann-Whitney U test, exact by counting the rank sums, with ties as midranks.  Time grows as
 * n * n * (n + m)^2: meant for tens of trials. */
double stats_mann_whitney(const double *a, size_t n, const double *b, size_t m);
/* Smallest two-sided p that n against m trials can give: 2 / C(n + m, n). */
double stats_mann_whitney_floor(size_t n, size_t m);

#endif
