/* SPDX-License-Identifier: MIT
 *
 * Analyses against known answers and against generated data whose truth is known.  Random numbers are seeded: a run is
 * the same every time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schema/analysis.h"
#include "schema/base/mem.h"
#include "schema/csv.h"
#include "schema/stats.h"

#define NEAR(a, b, tolerance) assert_true(fabs((a) - (b)) < (tolerance))

static uint64_t random_state;

static double random_uniform(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_uniform() + 1e-300)) * cos(2 * M_PI * random_uniform());
}

/* ---- noise and ties ---- */

static void noise_is_pooled_over_cells_and_weakly_held_to_five_percent(void **state)
{
	struct spread none = { 100, 100, 100, 1 }, cells[200];
	struct noise n = noise_pool(&none, 1, true);

	(void)state;
	assert_true(n.is_assumed);
	NEAR(n.sigma, 0.05, 1e-12);
	random_state = 88172645463325252;
	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		double v[3];

		for (int k = 0; k < 3; k++)
			v[k] = 100 * exp(0.02 * random_normal());
		cells[i] = (struct spread){ stats_median(v, 3), fmin(v[0], fmin(v[1], v[2])), fmax(v[0], fmax(v[1], v[2])), 3 };
	}
	n = noise_pool(cells, ARRAY_SIZE(cells), true);
	assert_false(n.is_assumed);
	NEAR(n.sigma, 0.02, 0.002);
}

static void critical_distance_grows_with_the_number_of_contenders(void **state)
{
	(void)state;
	NEAR(ties_critical(1), 1.645, 0.01);  /* one-sided normal */
	NEAR(ties_critical(2), 1.92, 0.02);   /* Dunnett's one-sided table, infinite degrees of freedom */
	NEAR(ties_critical(5), 2.23, 0.02);
	assert_true(ties_critical(43) > 2.7 && ties_critical(43) < 3.1);
}

static void student_quantiles_are_those_of_the_table(void **state)
{
	(void)state;
	NEAR(student_t95(1), 12.706, 0.001);
	NEAR(student_t95(2), 4.303, 0.001);
	NEAR(student_t95(3), 3.182, 0.04);
	NEAR(student_t95(8), 2.306, 0.005);
	NEAR(student_t95(1e6), 1.960, 0.001);
	assert_true(isinf(student_t95(0)));
}

static void equal_values_tie_and_the_direction_counts(void **state)
{
	const struct contender c[] = { { 566, 1, KEEP_SINGLE }, { 300, 1, KEEP_SINGLE }, { 566, 1, KEEP_SINGLE } };
	const struct noise noise = { .sigma = 0.02 };
	bool tied[3];

	(void)state;
	assert_int_equal(ties_find(c, 3, BETTER_HIGHER, &noise, tied), 0);
	assert_true(tied[0] && !tied[1] && tied[2]);
	assert_int_equal(ties_find(c, 3, BETTER_LOWER, &noise, tied), 1);
	assert_true(!tied[0] && tied[1] && !tied[2]);
	assert_int_equal(ties_find(c, 0, BETTER_HIGHER, &noise, tied), -1);
}

static void where_a_value_is_zero_only_equals_tie(void **state)
{
	const struct spread errors[] = { { 0, 0, 0, 3 }, { 1, 0, 2, 3 }, { 0, 0, 1, 3 }, { 5, 4, 6, 3 } };
	const struct spread times[] = { { 100, 95, 105, 3 }, { 101, 96, 106, 3 }, { 300, 290, 310, 3 } };
	bool tied[4];

	(void)state;
	ties_judge(errors, 4, KEEP_MEDIAN, BETTER_LOWER, tied);
	assert_true(tied[0] && !tied[1] && tied[2] && !tied[3]);
	ties_judge(errors, 4, KEEP_MEDIAN, BETTER_HIGHER, tied);
	assert_true(!tied[0] && !tied[1] && !tied[2] && tied[3]);
	ties_judge(times, 3, KEEP_MEDIAN, BETTER_LOWER, tied);
	assert_true(tied[0] && tied[1] && !tied[2]);
}

/* The 44 configurations of the first study as truth: leads of 4 %, 1 % and 0.2 %. */
static size_t truth_read(const char *column, double ret[64])
{
	struct diags d;
	struct csv csv;
	FILE *in = fopen("sweeps/history/md1120_tests.csv", "re");
	size_t n = 0;

	assert_non_null(in);
	diags_init(&d, "study");
	assert_int_equal(csv_begin(&csv, in, &d), 0);
	while (csv_next(&csv) > 0)
		ret[n++] = strtod(csv.fields[csv_column(&csv, column)].text, NULL);
	csv_end(&csv);
	diags_done(&d);
	fclose(in);
	return n;
}

/* Share of simulated studies whose tie set holds the true winner; disturbed: share of trials that are 10 to 40 %
 * slow. */
static double coverage(const char *column, double cov, double disturbed, double *ret_size)
{
	double truth[64];
	size_t n = truth_read(column, truth), winner = 0, hits = 0, rounds = 600;

	for (size_t i = 0; i < n; i++)
		winner = truth[i] > truth[winner] ? i : winner;
	*ret_size = 0;
	for (size_t round = 0; round < rounds; round++) {
		struct contender c[64];
		struct spread s[64];
		struct noise noise;
		bool tied[64];

		for (size_t i = 0; i < n; i++) {
			double v[3];

			for (int k = 0; k < 3; k++) {
				v[k] = truth[i] * (1 + cov * random_normal());
				if (random_uniform() < disturbed)
					v[k] *= 1 - (0.1 + 0.3 * random_uniform());
			}
			c[i] = (struct contender){ stats_median(v, 3), 3, KEEP_MEDIAN };
			s[i] = (struct spread){ c[i].value, fmin(v[0], fmin(v[1], v[2])), fmax(v[0], fmax(v[1], v[2])), 3 };
		}
		noise = noise_pool(s, n, true);
		ties_find(c, n, BETTER_HIGHER, &noise, tied);
		hits += tied[winner];
		for (size_t i = 0; i < n; i++)
			*ret_size += (double)tied[i] / (double)rounds;
	}
	return (double)hits / (double)rounds;
}

static void the_tie_set_holds_the_true_winner_in_95_of_100_generated_studies(void **state)
{
	static const char *const columns[] = { "dd_write_mb_s", "dd_read_mb_s", "bonnie_seeks_per_s" };

	(void)state;
	random_state = 20081120;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		for (int k = 0; k < 3; k++) {
			double size, share = coverage(columns[i], k == 1 ? 0.05 : 0.02, k == 2 ? 0.05 : 0, &size);

			if (share < 0.95)
				fail_msg("%s, case %d: %.3f with sets of %.1f", columns[i], k, share, size);
			/* a lead of 36 % above the third is not lost in the set */
			if (i == 0 && k == 0)
				assert_true(size < 2.5);
		}
	}
}

static void the_pareto_set_is_what_nothing_beats_in_everything(void **state)
{
	const double values[] = { 10, 5, 8, 4, 3, 9, 10, 9, NAN, 1 };
	const enum better better[] = { BETTER_HIGHER, BETTER_LOWER };
	bool best[5];

	(void)state;
	pareto_find(values, 5, 2, better, best);
	assert_true(best[0]);  /* 10, 5 */
	assert_true(best[1]);  /* 8, 4 */
	assert_false(best[2]); /* 3, 9 */
	assert_false(best[3]); /* 10, 9: worse than the first */
	assert_false(best[4]); /* not measured */
}

/* ---- effects ---- */

/* A factorial with planted effects: ratio of each level of each axis to level 0. */
#define AXES 4
static const int n_levels[AXES] = { 3, 2, 4, 5 };
static const double planted[AXES][5] = { { 1, 1.10, 0.80 }, { 1, 1.03 }, { 1, 1.5, 1.6, 1.7 }, { 1, 1, 1, 1, 1 } };

struct generated {
	struct design d;
	int levels[600 * AXES], trials[600];
	double values[600];
	enum keep keep[600];
	size_t n;
};

/* gaps: share of cells left out; with skewed true the cells of a high level of axis 2 are mostly those of level 0 of
 * axis 0, so that group means mislead. */
static void design_generate(struct generated *g, double cov, double gaps, bool skewed, double interaction)
{
	g->n = 0;
	for (int a0 = 0; a0 < n_levels[0]; a0++)
		for (int a1 = 0; a1 < n_levels[1]; a1++)
			for (int a2 = 0; a2 < n_levels[2]; a2++)
				for (int a3 = 0; a3 < n_levels[3]; a3++) {
					const int at[AXES] = { a0, a1, a2, a3 };
					double truth = 500, v[3];

					if (random_uniform() < gaps ||
					    (skewed && a2 >= 2 && a0 != 0 && random_uniform() < 0.8))
						continue;
					for (int k = 0; k < AXES; k++)
						truth *= planted[k][at[k]];
					if (a1 == 1 && a3 == 4)
						truth *= interaction;
					for (int k = 0; k < 3; k++)
						v[k] = truth * exp(cov * random_normal());
					memcpy(g->levels + g->n * AXES, at, sizeof(at));
					g->values[g->n] = stats_median(v, 3);
					g->trials[g->n] = 3;
					g->keep[g->n++] = KEEP_MEDIAN;
				}
	g->d = (struct design){ .n = g->n, .n_axes = AXES, .levels = g->levels, .values = g->values, .trials = g->trials, .keep = g->keep,
		                .better = BETTER_HIGHER, .sigma = cov };
}

static const struct effect *effect_of(const struct effects *f, size_t axis, int from, int to)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->at[i].axis == axis && f->at[i].from == from && f->at[i].to == to)
			return &f->at[i];
	return NULL;
}

static void planted_effects_come_back_from_noise_gaps_and_imbalance(void **state)
{
	size_t held = 0, all = 0;

	(void)state;
	random_state = 7722112009;
	for (int round = 0; round < 60; round++) {
		struct generated g;
		struct effects f;

		design_generate(&g, 0.02, 0.3, round % 2 == 1, 1);
		effects_find(&g.d, NULL, &f);
		for (size_t i = 0; i < f.n; i++) {
			double truth = planted[f.at[i].axis][f.at[i].to] / planted[f.at[i].axis][f.at[i].from];

			if (f.at[i].n_pairs < 5)
				continue;
			NEAR(f.at[i].geometric / truth, 1, 0.06);
			NEAR(f.at[i].mean / truth, 1, 0.06);
			held += truth >= f.at[i].low && truth <= f.at[i].high;
			all++;
		}
		/* the axes in the order in which they were planted to matter */
		assert_int_equal(f.order[0], 2);
		assert_int_equal(f.order[1], 0);
		assert_int_equal(f.order[2], 1);
		assert_int_equal(f.order[3], 3);
		effects_done(&f);
	}
	assert_true((double)held / (double)all > 0.93);
}

/* n pairs of cells that differ in axis 0, by `ratio` on the geometric mean; the pairs' own effects scatter by
 * `scatter`. */
static void pairs_generate(struct generated *g, int n, double ratio, double scatter, double cov)
{
	g->n = 0;
	for (int i = 0; i < n; i++) {
		double block = 500 * exp(random_normal()), own = scatter * random_normal();

		for (int side = 0; side < 2; side++) {
			const int at[2] = { side, i };
			double truth = side == 1 ? block * ratio * exp(own) : block, v[3];

			for (int k = 0; k < 3; k++)
				v[k] = truth * exp(cov * random_normal());
			memcpy(g->levels + g->n * 2, at, sizeof(at));
			g->values[g->n] = stats_median(v, 3);
			g->trials[g->n] = 3;
			g->keep[g->n++] = KEEP_MEDIAN;
		}
	}
	g->d = (struct design){ .n = g->n, .n_axes = 2, .levels = g->levels, .values = g->values, .trials = g->trials, .keep = g->keep,
		                .better = BETTER_HIGHER, .sigma = cov };
}

/* Share of `rounds` studies whose interval holds the ratio; none may be narrower than the trials' noise allows. */
static double interval_coverage(int n, double scatter, double cov, int rounds)
{
	double noise = 1.96 * cov * noise_se(KEEP_MEDIAN, 3) * sqrt(2.0 / n);
	int held = 0;

	for (int i = 0; i < rounds; i++) {
		const struct effect *at;
		struct generated g;
		struct effects f;

		pairs_generate(&g, n, 1.25, scatter, cov);
		effects_find(&g.d, NULL, &f);
		at = effect_of(&f, 0, 0, 1);
		assert_non_null(at);
		assert_int_equal(at->n_pairs, n);
		held += at->low <= 1.25 && at->high >= 1.25;
		if (log(at->high / at->low) / 2 < noise * (1 - 1e-9))
			fail_msg("%d pairs: narrower than their noise", n);
		/* decided is what keeps clear of 1, and nothing else */
		assert_true(at->is_decided == (at->low > 1 || at->high < 1));
		effects_done(&f);
	}
	return (double)held / rounds;
}

/* Of 10,000 studies 95 % hold the truth, or 94.4 with bad luck of three standard errors.  An interval that is five
 * percent too narrow holds it in less than 94; one from the normal distribution, with three pairs, in 82. */
static void intervals_hold_the_truth_in_95_of_100_studies(void **state)
{
	static const int pairs[] = { 2, 3, 5, 10 };

	(void)state;
	random_state = 1959;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		double share = interval_coverage(pairs[i], 0.10, 0.005, 10000);

		if (share < 0.944 || share > 0.958)
			fail_msg("%d pairs that scatter: %.4f", pairs[i], share);
		share = interval_coverage(pairs[i], 0, 0.02, 10000);
		if (share < 0.944 || share > 0.995)
			fail_msg("%d pairs of noise: %.4f", pairs[i], share);
	}
	/* the noise of three trials' median is all that one pair has */
	NEAR(interval_coverage(1, 0, 0.02, 10000), 0.95, 0.01);
}

static void an_effect_that_changes_sign_is_named(void **state)
{
	struct generated g;
	struct effects f;

	(void)state;
	random_state = 55555111777;
	design_generate(&g, 0.01, 0.1, false, 0.80); /* axis 1 helps by 3 %, but costs 18 % at level 4 of axis 3 */
	effects_find(&g.d, NULL, &f);
	assert_true(f.n_interactions > 0);
	assert_true(f.interactions[0].axis == 1 && f.interactions[0].other == 3 && f.interactions[0].at_down == 4);
	NEAR(f.interactions[0].down, 0.824, 0.02);
	effects_done(&f);
	design_generate(&g, 0.01, 0.1, false, 1);
	effects_find(&g.d, NULL, &f);
	assert_int_equal(f.n_interactions, 0);
	effects_done(&f);
}

static void one_pair_of_single_figures_decides_nothing(void **state)
{
	const int levels[] = { 0, 1 }, trials[] = { 1, 1 };
	const double values[] = { 100, 150 };
	const enum keep keep[] = { KEEP_SINGLE, KEEP_SINGLE };
	const struct design d = { .n = 2, .n_axes = 1, .levels = levels, .values = values, .trials = trials, .keep = keep,
		                  .better = BETTER_HIGHER, .sigma = 0.05, .is_sigma_assumed = true };
	struct effects f;

	(void)state;
	effects_find(&d, NULL, &f);
	assert_int_equal(f.n, 1);
	assert_false(f.at[0].is_decided);
	NEAR(f.at[0].mean, 1.5, 1e-12);
	assert_true(isinf(f.at[0].high));
	effects_done(&f);
}

static void small_differences_say_how_many_pairs_would_decide_them(void **state)
{
	const int levels[] = { 0, 0, 1, 0, 0, 1, 1, 1, 0, 2, 1, 2 }, trials[] = { 3, 3, 3, 3, 3, 3 };
	const double values[] = { 100, 101, 200, 196, 300, 309 };
	const enum keep keep[6] = { KEEP_MEDIAN };
	const struct design d = { .n = 6, .n_axes = 2, .levels = levels, .values = values, .trials = trials, .keep = keep,
		                  .better = BETTER_HIGHER, .sigma = 0.02 };
	const struct effect *x;
	struct effects f;

	(void)state;
	effects_find(&d, NULL, &f);
	x = effect_of(&f, 0, 0, 1);
	assert_non_null(x);
	assert_int_equal(x->n_pairs, 3);
	assert_false(x->is_decided);
	assert_true(x->pairs_needed > 3);
	effects_done(&f);
}

static void labels_that_follow_from_the_axis_need_not_be_equal(void **state)
{
	/* axis 0: layout; axis 1: its level, which follows; axis 2: readahead */
	const int levels[] = { 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 2, 0, 0 }, trials[] = { 1, 1, 1, 1, 1 };
	const double values[] = { 100, 110, 200, 220, 50 };
	const enum keep keep[5] = { KEEP_SINGLE };
	const struct design d = { .n = 5, .n_axes = 3, .levels = levels, .values = values, .trials = trials, .keep = keep,
		                  .better = BETTER_HIGHER, .sigma = 0.05, .is_sigma_assumed = true };
	enum match_rule rules[9] = { MATCH_EQUAL };
	bool along[3];
	struct effects f;

	(void)state;
	effects_find(&d, rules, &f);
	assert_null(effect_of(&f, 0, 0, 1));
	assert_int_equal(design_along(levels, 5, 3, 1, along), 3);
	assert_true(along[0] && !along[1] && !along[2]);
	effects_done(&f);
	rules[0 * 3 + 1] = MATCH_FOLLOWING;
	effects_find(&d, rules, &f);
	assert_non_null(effect_of(&f, 0, 0, 1));
	assert_int_equal(effect_of(&f, 0, 0, 1)->n_pairs, 2);
	assert_int_equal(effect_of(&f, 0, 0, 1)->along, 1 << 1);
	NEAR(effect_of(&f, 0, 0, 1)->mean, 1.1, 1e-12);
	effects_done(&f);
}

/* ---- comparison ---- */

static void three_against_three_cannot_give_less_than_a_tenth(void **state)
{
	const double a[] = { 100, 101, 102 }, b[] = { 110, 111, 112 };
	const struct pair p = { 101, 111, a, b, 3, 3, KEEP_MEDIAN };
	const struct noise noise = { .sigma = 0.01, .dof = 4 };
	struct pair_test t;
	struct pooled_test pooled;

	(void)state;
	compare_pair(&p, &noise, &t);
	NEAR(t.p, 0.1, 1e-9);
	NEAR(t.p_floor, 0.1, 1e-9);
	assert_true(t.is_decided);
	NEAR(t.ratio, 111.0 / 101, 1e-12);
	compare_pooled((const struct pair[]){ p, p, p }, 3, &noise, &pooled);
	assert_true(pooled.is_exact);
	NEAR(pooled.p, 2.0 / 8000, 1e-9); /* 20 ways in each of three cells */
	NEAR(pooled.p_floor, 2.0 / 8000, 1e-9);
}

static void many_cells_are_tested_by_the_permutation_s_own_variance(void **state)
{
	double trials[40][6];
	struct pair p[40];
	const struct noise noise = { .sigma = 0.02, .dof = 80 };
	struct pooled_test same, slower;
	size_t false_alarms = 0;

	(void)state;
	random_state = 99112233445;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
			for (int k = 0; k < 6; k++)
				trials[i][k] = 500 * exp(0.02 * random_normal());
			p[i] = (struct pair){ stats_median(trials[i], 3), stats_median(trials[i] + 3, 3), trials[i], trials[i] + 3, 3, 3, KEEP_MEDIAN };
		}
		compare_pooled(p, ARRAY_SIZE(p), &noise, &same);
		assert_false(same.is_exact);
		false_alarms += same.p < 0.05;
	}
	assert_in_range(false_alarms, 3, 20);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		for (int k = 3; k < 6; k++)
			trials[i][k] *= 0.98;
		p[i].b *= 0.98;
	}
	compare_pooled(p, ARRAY_SIZE(p), &noise, &slower);
	assert_true(slower.p < 0.001 && slower.is_decided);
	NEAR(slower.ratio / same.ratio, 0.98, 1e-9);
}

static void single_figures_are_compared_over_cells_by_their_signs(void **state)
{
	struct pair p[4] = { { 100, 110, NULL, NULL, 1, 1, KEEP_SINGLE }, { 200, 230, NULL, NULL, 1, 1, KEEP_SINGLE },
		             { 300, 340, NULL, NULL, 1, 1, KEEP_SINGLE }, { 400, 430, NULL, NULL, 1, 1, KEEP_SINGLE } };
	const struct noise noise = noise_pool(NULL, 0, false);
	struct pooled_test t;
	struct pair_test one;

	(void)state;
	compare_pooled(p, 4, &noise, &t);
	assert_true(t.is_exact && t.is_decided);
	NEAR(t.p, 2.0 / 16, 1e-9);
	compare_pair(&p[0], &noise, &one);
	assert_false(one.is_decided);
	assert_true(isnan(one.p) && isinf(one.high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_pooled_over_cells_and_weakly_held_to_five_percent),
		cmocka_unit_test(critical_distance_grows_with_the_number_of_contenders),
		cmocka_unit_test(student_quantiles_are_those_of_the_table),
		cmocka_unit_test(equal_values_tie_and_the_direction_counts),
		cmocka_unit_test(where_a_value_is_zero_only_equals_tie),
		cmocka_unit_test(the_tie_set_holds_the_true_winner_in_95_of_100_generated_studies),
		cmocka_unit_test(the_pareto_set_is_what_nothing_beats_in_everything),
		cmocka_unit_test(planted_effects_come_back_from_noise_gaps_and_imbalance),
		cmocka_unit_test(intervals_hold_the_truth_in_95_of_100_studies),
		cmocka_unit_test(an_effect_that_changes_sign_is_named),
		cmocka_unit_test(one_pair_of_single_figures_decides_nothing),
		cmocka_unit_test(small_differences_say_how_many_pairs_would_decide_them),
		cmocka_unit_test(labels_that_follow_from_the_axis_need_not_be_equal),
		cmocka_unit_test(three_against_three_cannot_give_less_than_a_tenth),
		cmocka_unit_test(many_cells_are_tested_by_the_permutation_s_own_variance),
		cmocka_unit_test(single_figures_are_compared_over_cells_by_their_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
