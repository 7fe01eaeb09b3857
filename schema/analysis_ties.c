/* SPDX-License-Identifier: MIT
 *
 * Which cells may be the best: tie sets for one metric, the Pareto set for several; see analysis.h.
 *
 * The usual "within two standard errors" forgets that the leader is the largest of many noisy numbers: among 44
 * equals it is wrong more often than once in ten.  So the distance allowed grows with the number of contenders that
 * noise could have put in front.  Contenders: a thousand at most in practice, each examined a few times.
 */
#include <math.h>

#include "schema/analysis.h"
#include "schema/base/mem.h"

static double normal_cdf(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/* P(all of k others are at most d standard errors of a difference above one given contender), all equal. */
static double coverage(double d, size_t k)
{
	const double end = 6, step = 0.05;
	const int n = (int)lround(2 * end / step);
	double sum = 0;

	for (int i = 0; i <= n; i++) {
		double x = -end + i * step;

		sum += exp(-0.5 * x * x) * pow(normal_cdf(x + d * M_SQRT2), (double)k);
	}
	return sum * step / sqrt(2 * M_PI);
}

double ties_critical(size_t k)
{
	double low = 1, high = 8;

	while (high - low > 1e-6) {
		double middle = (low + high) / 2;

		if (coverage(middle, k) < 0.95)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Standard errors of the difference by which c lies behind the leader; 0 for the leader and its equals. */
static double behind(const struct contender *leader, const struct contender *c, enum better better, double sigma)
{
	double a = noise_se(leader->keep, leader->n), b = noise_se(c->keep, c->n);
	double gap = better == BETTER_LOWER ? log(c->value / leader->value) : log(leader->value / c->value);

	if (gap <= 0)
		return 0;
	return sigma > 0 ? gap / (sigma * sqrt(a * a + b * b)) : INFINITY;
}

int ties_find(const struct contender *c, size_t n, enum better better, const struct noise *noise, bool *ret_tied)
{
	int best = -1;
	size_t near = 0;
	double limit;

	for (size_t i = 0; i < n; i++)
		if (best < 0 || (better == BETTER_LOWER ? c[i].value < c[best].value : c[i].value > c[best].value))
			best = (int)i;
	if (best < 0)
		return -1;
	/* Those further behind than this have no part in who leads, so they do not widen the set. */
	for (size_t i = 0; i < n; i++)
		near += behind(&c[best], &c[i], better, noise->sigma) < 4.5;
	limit = ties_critical(near > 1 ? near - 1 : 1);
	if (limit < 2)
		limit = 2;
	for (size_t i = 0; i < n; i++)
		ret_tied[i] = behind(&c[best], &c[i], better, noise->sigma) <= limit;
	return best;
}

struct noise ties_judge(const struct spread *results, size_t n, enum keep keep, enum better better, bool *ret_tied)
{
	AUTO_FREE struct contender *c = xcalloc(n + 1, sizeof(*c));
	struct noise noise = noise_pool(results, n, true);

	bool has_zero = false;
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		c[i] = (struct contender){ results[i].value, results[i].n, keep };
		has_zero = has_zero || !(results[i].value > 0);
		if (better == BETTER_LOWER ? results[i].value < results[best].value :
		                             results[i].value > results[best].value)
			best = i;
	}
	if (!has_zero)
		ties_find(c, n, better, &noise, ret_tied);
	for (size_t i = 0; i < n && has_zero; i++)
		ret_tied[i] = results[i].value == results[best].value;
	return noise;
}

/* Whether row a is at least as good as b everywhere and better somewhere. */
static bool dominates(const double *a, const double *b, size_t n, const enum better *better)
{
	bool is_better = false;

	for (size_t i = 0; i < n; i++) {
		double gain = better[i] == BETTER_LOWER ? b[i] - a[i] : a[i] - b[i];

		if (gain < 0)
			return false;
		is_better = is_better || gain > 0;
	}
	return is_better;
}

void pareto_find(const double *values, size_t n, size_t n_metrics, const enum better *better, bool *ret_best)
{
	for (size_t i = 0; i < n; i++) {
		const double *row = values + i * n_metrics;

		ret_best[i] = true;
		for (size_t k = 0; k < n_metrics; k++)
			ret_best[i] = ret_best[i] && !isnan(row[k]);
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n && ret_best[i]; j++)
			if (j != i && ret_best[j] &&
			    dominates(values + j * n_metrics, values + i * n_metrics, n_metrics, better))
				ret_best[i] = false;
	}
}
