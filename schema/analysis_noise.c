/* SPDX-License-Identifier: MIT
 *
 * How much trials scatter; see analysis.h.  The results table holds minimum, maximum and count, not the trials, so
 * the standard deviation is estimated from the range; with three trials that loses 1 % of efficiency.
 */
#include <math.h>

#include "schema/analysis.h"
#include "schema/base/mem.h"

#define PRIOR_COV 0.05
#define PRIOR_DOF 4.0

/* sqrt(E(range^2)) of n standard normal values, so that squares of ranges pool without bias (Duncan's d2* for one
 * group; the mean of the range itself, 1.693 for three, would put the noise 13 % too high). */
static const double range_rms[] = { 0, 0, 1.414, 1.912, 2.239, 2.481, 2.673, 2.830, 2.963, 3.078, 3.179 };
/* Degrees of freedom of the estimate range / d2* (same table). */
static const double range_dof[] = { 0, 0, 1.0, 2.0, 2.9, 3.8, 4.7, 5.5, 6.3, 7.0, 7.7 };
/* sd of the median of n standard normal values; for an even n the mean of the middle two. */
static const double median_sd[] = { 0, 1, 0.7071, 0.6698, 0.5463, 0.5356, 0.4634, 0.4587, 0.4095, 0.4075, 0.3709 };

struct noise noise_pool(const struct spread *cells, size_t n, bool with_prior)
{
	struct noise noise = { .is_assumed = true };
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		int k = cells[i].n < (int)ARRAY_SIZE(range_rms) ? cells[i].n : (int)ARRAY_SIZE(range_rms) - 1;
		double sd;

		if (k < 2 || cells[i].min <= 0)
			continue;
		sd = log(cells[i].max / cells[i].min) / range_rms[k];
		sum += range_dof[k] * sd * sd;
		noise.dof += range_dof[k];
		noise.is_assumed = false;
	}
	if (with_prior || noise.dof < PRIOR_DOF)
		noise.sigma = sqrt((PRIOR_DOF * PRIOR_COV * PRIOR_COV + sum) / (PRIOR_DOF + noise.dof));
	else
		noise.sigma = sqrt(sum / noise.dof);
	return noise;
}

double noise_se(enum keep keep, int n)
{
	if (n < 1)
		n = 1;
	if (keep != KEEP_MEDIAN)
		return 1 / sqrt(n);
	if (n < (int)ARRAY_SIZE(median_sd))
		return median_sd[n];
	return sqrt(1.5708 / n); /* asymptotic: pi / 2 */
}

/* Cornish-Fisher about the normal quantile, exact for 1 and 2 degrees of freedom; within 1 % from 3 on. */
double student_t95(double dof)
{
	const double z = 1.959964;
	double z3 = z * z * z, z5 = z3 * z * z;

	if (dof < 1)
		return INFINITY;
	if (dof < 1.5)
		return 12.7062;
	if (dof < 2.5)
		return 4.3027;
	return z + (z3 + z) / (4 * dof) + (5 * z5 + 16 * z3 + 3 * z) / (96 * dof * dof) +
	       (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * dof * dof * dof);
}
