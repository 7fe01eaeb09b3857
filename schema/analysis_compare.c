/* SPDX-License-Identifier: MIT
 *
 * Two sides, cell by cell and pooled; see analysis.h.
 *
 * The pooled p is that of a permutation test within cells: under "no difference" the trials of a cell could as well
 * have been dealt to the sides in any other way.  Up to ENUMERATE_MAX ways they are all gone through; beyond that the
 * sum of so many cells is normal, with a mean of 0 and a variance that the permutation itself gives, so no random
 * numbers are needed.
 */
#include <math.h>
#include <string.h>

#include "schema/analysis.h"
#include "schema/base/mem.h"
#include "schema/stats.h"

#define ENUMERATE_MAX 500000.0
#define TRIALS_MAX 64 /* of one cell on both sides that are permuted one by one */

/* Both sides' trials of a cell as logs, a's first. */
struct stratum {
	double v[TRIALS_MAX];
	int n, n_a;
	double ways;
};

static double choose(int n, int k)
{
	double r = 1;

	for (int i = 1; i <= k; i++)
		r = r * (n - k + i) / i;
	return r;
}

static bool has_trials(const struct pair *p)
{
	if (p->a_trials == NULL || p->b_trials == NULL || p->n_a < 1 || p->n_b < 1 || p->n_a + p->n_b > TRIALS_MAX)
		return false;
	for (int i = 0; i < p->n_a; i++)
		if (!(p->a_trials[i] > 0))
			return false;
	for (int i = 0; i < p->n_b; i++)
		if (!(p->b_trials[i] > 0))
			return false;
	return true;
}

static double pair_se(const struct pair *p, const struct noise *noise)
{
	double a = noise_se(p->keep, p->n_a), b = noise_se(p->keep, p->n_b);

	return noise->sigma * sqrt(a * a + b * b);
}

void compare_pair(const struct pair *p, const struct noise *noise, struct pair_test *ret)
{
	double d = log(p->b / p->a),
	       margin = pair_se(p, noise) * (noise->is_assumed ? INFINITY : student_t95(noise->dof));

	*ret = (struct pair_test){ .ratio = p->b / p->a, .low = 0, .high = INFINITY, .p = NAN, .p_floor = NAN };
	if (!noise->is_assumed) {
		ret->low = exp(d - margin);
		ret->high = exp(d + margin);
		ret->is_decided = fabs(d) > margin;
	}
	if (has_trials(p) && p->n_a + p->n_b >= 3 && p->n_a + p->n_b <= 20) {
		ret->p = stats_mann_whitney(p->a_trials, (size_t)p->n_a, p->b_trials, (size_t)p->n_b);
		ret->p_floor = stats_mann_whitney_floor((size_t)p->n_a, (size_t)p->n_b);
	}
}

static bool stratum_make(const struct pair *p, struct stratum *ret)
{
	if (!has_trials(p) || p->n_a + p->n_b < 3)
		return false;
	*ret = (struct stratum){ .n = p->n_a + p->n_b, .n_a = p->n_a, .ways = choose(p->n_a + p->n_b, p->n_a) };
	for (int i = 0; i < p->n_a; i++)
		ret->v[i] = log(p->a_trials[i]);
	for (int i = 0; i < p->n_b; i++)
		ret->v[p->n_a + i] = log(p->b_trials[i]);
	return true;
}

static double stratum_statistic(const struct stratum *s)
{
	double a = 0, b = 0;

	for (int i = 0; i < s->n; i++)
		*(i < s->n_a ? &a : &b) += s->v[i];
	return b / (s->n - s->n_a) - a / s->n_a;
}

/* Variance of the statistic over all ways to deal the trials: S^2 (1/a + 1/b), S^2 with n - 1 (sampling without
 * replacement). */
static double stratum_variance(const struct stratum *s)
{
	double mean = 0, squares = 0;

	for (int i = 0; i < s->n; i++)
		mean += s->v[i] / s->n;
	for (int i = 0; i < s->n; i++)
		squares += (s->v[i] - mean) * (s->v[i] - mean);
	return squares / (s->n - 1) * (1.0 / s->n_a + 1.0 / (s->n - s->n_a));
}

/* All values the statistic can take: ret has room for s->ways. */
static void stratum_enumerate(const struct stratum *s, double *ret)
{
	double total = 0;
	int chosen[TRIALS_MAX] = { 0 };
	size_t n = 0;

	for (int i = 0; i < s->n; i++)
		total += s->v[i];
	for (int i = 0; i < s->n_a; i++)
		chosen[i] = i;
	for (;;) {
		double a = 0;
		int i = s->n_a - 1;

		for (int k = 0; k < s->n_a; k++)
			a += s->v[chosen[k]];
		ret[n++] = (total - a) / (s->n - s->n_a) - a / s->n_a;
		while (i >= 0 && chosen[i] == s->n - s->n_a + i)
			i--;
		if (i < 0)
			return;
		chosen[i]++;
		for (int k = i + 1; k < s->n_a; k++)
			chosen[k] = chosen[k - 1] + 1;
	}
}

/* A list of the statistic's values per cell; a cell without trials has two, its difference with either sign. */
struct deal {
	double *at; /* owned */
	size_t n;
};

static void deals_count(const struct deal *deals, size_t n, double sum, double limit, double *hits)
{
	if (n == 0) {
		*hits += fabs(sum) >= limit - 1e-9;
		return;
	}
	for (size_t i = 0; i < deals->n; i++)
		deals_count(deals + 1, n - 1, sum + deals->at[i], limit, hits);
}

static double deals_p(const struct pair *p, size_t n, double observed, double ways)
{
	struct deal *deals = xcalloc(n, sizeof(*deals));
	double hits = 0;

	for (size_t i = 0; i < n; i++) {
		struct stratum s;

		if (stratum_make(&p[i], &s)) {
			deals[i].n = (size_t)(s.ways + 0.5);
			deals[i].at = xcalloc(deals[i].n, sizeof(double));
			stratum_enumerate(&s, deals[i].at);
		} else {
			deals[i].n = 2;
			deals[i].at = xcalloc(2, sizeof(double));
			deals[i].at[0] = log(p[i].b / p[i].a);
			deals[i].at[1] = -deals[i].at[0];
		}
	}
	deals_count(deals, n, 0, fabs(observed), &hits);
	for (size_t i = 0; i < n; i++)
		free(deals[i].at);
	free(deals);
	return hits / ways;
}

static void pooled_p(const struct pair *p, size_t n, struct pooled_test *ret)
{
	double observed = 0, variance = 0, ways = 1;
	bool is_symmetric = true; /* every way has a mirror image as far out: the smallest p is 2 / ways */

	for (size_t i = 0; i < n; i++) {
		struct stratum s;

		if (stratum_make(&p[i], &s)) {
			observed += stratum_statistic(&s);
			variance += stratum_variance(&s);
			ways *= s.ways;
			is_symmetric = is_symmetric && s.n == 2 * s.n_a;
		} else {
			double d = log(p[i].b / p[i].a);

			observed += d;
			variance += d * d;
			ways *= 2;
		}
	}
	ret->is_exact = ways <= ENUMERATE_MAX;
	if (ret->is_exact) {
		ret->p = deals_p(p, n, observed, ways);
		ret->p_floor = (is_symmetric ? 2 : 1) / ways;
	} else {
		ret->p = variance > 0 ? erfc(fabs(observed) / sqrt(2 * variance)) : 1;
	}
}

void compare_pooled(const struct pair *p, size_t n, const struct noise *noise, struct pooled_test *ret)
{
	double sum = 0, squares = 0, own = 0, mean, margin;

	*ret = (struct pooled_test){ .n = n, .ratio = 1, .low = 0, .high = INFINITY, .p = 1 };
	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		double d = log(p[i].b / p[i].a);

		sum += d;
		squares += d * d;
		own += pow(pair_se(&p[i], noise), 2);
	}
	mean = sum / (double)n;
	ret->ratio = exp(mean);
	/* The cells' own scatter, and at least what the trials' noise explains. */
	margin = noise->is_assumed ? 0 : student_t95(noise->dof) * sqrt(own) / (double)n;
	if (n > 1)
		margin = fmax(margin, student_t95((double)(n - 1)) *
		                              sqrt(fmax(0, (squares - sum * mean) / (double)(n - 1)) / (double)n));
	if (n > 1 || !noise->is_assumed) {
		ret->low = exp(mean - margin);
		ret->high = exp(mean + margin);
		ret->is_decided = fabs(mean) > margin;
	}
	pooled_p(p, n, ret);
}
