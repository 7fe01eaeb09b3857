/* SPDX-License-Identifier: MIT
 *
 * Statistics of a few trials: medians, spread, drift, and the exact Mann-Whitney test; see stats.h.
 * Arrays are small (3 to 30 values), so sorting a copy is the simplest way.
 */
#include "schema/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schema/base/mem.h"

const char *keep_name(enum keep keep)
{
	static const char *const names[] = { [KEEP_MEDIAN] = "median", [KEEP_MEAN] = "mean", [KEEP_SINGLE] = "single" };

	return names[keep];
}

const char *better_name(enum better better)
{
	static const char *const names[] = {
		[BETTER_HIGHER] = "higher", [BETTER_LOWER] = "lower", [BETTER_NEITHER] = "neither"
	};

	return names[better];
}

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted_copy(const double *v, size_t n)
{
	double *copy = xreallocarray(NULL, n, sizeof(*copy));

	memcpy(copy, v, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), double_compare);
	return copy;
}

double stats_median(const double *v, size_t n)
{
	AUTO_FREE double *sorted = sorted_copy(v, n);

	if (n % 2 == 1)
		return sorted[n / 2];
	/* Halved before the sum, which could overflow. */
	return sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}

double stats_mean(const double *v, size_t n)
{
	double mean = 0;

	for (size_t i = 0; i < n; i++)
		mean += (v[i] - mean) / (double)(i + 1);
	return mean;
}

int stats_middle(const double *v, size_t n)
{
	double median;

	if (n % 2 == 0)
		return -1;
	median = stats_median(v, n);
	for (size_t i = 0; i < n; i++)
		if (v[i] == median)
			return (int)i;
	return -1;
}

double stats_spread(double min, double max, double median)
{
	return median == 0 ? 0 : (max - min) / fabs(median);
}

int stats_drift(const double *v, size_t n, double limit)
{
	int direction = n < 3 ? 0 : (v[1] > v[0]) - (v[1] < v[0]);

	for (size_t i = 1; i < n && direction != 0; i++)
		if ((v[i] > v[i - 1]) - (v[i] < v[i - 1]) != direction)
			direction = 0;
	if (direction != 0 && fabs(v[n - 1] - v[0]) <= limit * fabs(v[0]))
		return 0;
	return direction;
}

/* ---- Mann-Whitney ---- */

/* Twice the rank of v among the pooled values; twice, so that the midranks of ties are whole numbers. */
static size_t doubled_rank(const double *pooled, size_t total, double v)
{
	size_t below = 0, equal = 0;

	for (size_t i = 0; i < total; i++) {
		below += pooled[i] < v;
		equal += pooled[i] == v;
	}
	return 2 * below + equal + 1;
}

/* Counts the ways to choose k of the ranks with a given sum: ways[k][sum], built up rank by rank. */
static double *rank_sums_count(const size_t *ranks, size_t total, size_t n, size_t n_sums)
{
	double *ways = xcalloc((n + 1) * n_sums, sizeof(*ways));

	ways[0] = 1;
	for (size_t i = 0; i < total; i++)
		for (size_t k = n; k >= 1; k--)
			for (size_t sum = n_sums - 1; sum >= ranks[i]; sum--)
				ways[k * n_sums + sum] += ways[(k - 1) * n_sums + sum - ranks[i]];
	return ways;
}

double stats_mann_whitney(const double *a, size_t n, const double *b, size_t m)
{
	size_t total = n + m, seen = 0, centre = n * (total + 1), n_sums = 2 * n * total + 1;
	AUTO_FREE double *pooled = xcalloc(total, sizeof(*pooled));
	AUTO_FREE size_t *ranks = xcalloc(total, sizeof(*ranks));
	AUTO_FREE double *ways = NULL;
	double extreme = 0, all = 0;

	memcpy(pooled, a, n * sizeof(*a));
	memcpy(pooled + n, b, m * sizeof(*b));
	for (size_t i = 0; i < total; i++)
		ranks[i] = doubled_rank(pooled, total, pooled[i]);
	for (size_t i = 0; i < n; i++)
		seen += ranks[i];
	ways = rank_sums_count(ranks, total, n, n_sums);
	for (size_t sum = 0; sum < n_sums; sum++) {
		double count = ways[n * n_sums + sum];

		all += count;
		if (llabs((long long)sum - (long long)centre) >= llabs((long long)seen - (long long)centre))
			extreme += count;
	}
	return extreme / all;
}

double stats_mann_whitney_floor(size_t n, size_t m)
{
	double choices = 1;

	for (size_t i = 1; i <= n; i++)
		choices = choices * (double)(m + i) / (double)i;
	return fmin(1, 2 / choices);
}
