/* SPDX-License-Identifier: MIT
 *
 * Known answers for the statistics of a few trials.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "schema/base/mem.h"
#include "schema/stats.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void median_of_an_odd_count_is_the_middle_value(void **state)
{
	(void)state;
	NEAR(stats_median((double[]){ 166, 61, 120 }, 3), 120);
	NEAR(stats_median((double[]){ 7 }, 1), 7);
}

static void median_of_an_even_count_is_the_mean_of_the_middle_two(void **state)
{
	(void)state;
	NEAR(stats_median((double[]){ 4, 1, 3, 2 }, 4), 2.5);
	assert_true(isfinite(stats_median((double[]){ 1.7e308, 1.7e308 }, 2)));
}

static void mean_does_not_overflow(void **state)
{
	(void)state;
	NEAR(stats_mean((double[]){ 1, 2, 6 }, 3), 3);
	assert_true(isfinite(stats_mean((double[]){ 1.7e308, 1.7e308, 1.7e308 }, 3)));
}

static void middle_names_the_first_of_equals_and_nothing_for_an_even_count(void **state)
{
	(void)state;
	assert_int_equal(stats_middle((double[]){ 5, 9, 1 }, 3), 0);
	assert_int_equal(stats_middle((double[]){ 9, 5, 5 }, 3), 1);
	assert_int_equal(stats_middle((double[]){ 5, 9 }, 2), -1);
}

static void spread_is_relative_to_the_median(void **state)
{
	(void)state;
	NEAR(stats_spread(121, 229, 132), 108.0 / 132);
	NEAR(stats_spread(-3, -1, -2), 1);
	NEAR(stats_spread(0, 5, 0), 0);
}

static void drift_needs_three_strict_moves_in_one_direction(void **state)
{
	(void)state;
	assert_int_equal(stats_drift((double[]){ 121, 132, 229 }, 3, 0.25), 1);
	assert_int_equal(stats_drift((double[]){ 229, 132, 121 }, 3, 0.25), -1);
	assert_int_equal(stats_drift((double[]){ 121, 132, 132 }, 3, 0.25), 0);
	assert_int_equal(stats_drift((double[]){ 121, 229, 132 }, 3, 0.25), 0);
	assert_int_equal(stats_drift((double[]){ 100, 200 }, 2, 0.25), 0);
}

static void drift_of_exactly_the_limit_is_none(void **state)
{
	(void)state;
	assert_int_equal(stats_drift((double[]){ 100, 110, 125 }, 3, 0.25), 0);
	assert_int_equal(stats_drift((double[]){ 100, 110, 126 }, 3, 0.25), 1);
	assert_int_equal(stats_drift((double[]){ 100, 101, 102 }, 3, 0), 1);
}

static void three_against_three_cannot_go_below_one_tenth(void **state)
{
	(void)state;
	NEAR(stats_mann_whitney_floor(3, 3), 0.10);
	NEAR(stats_mann_whitney((double[]){ 1, 2, 3 }, 3, (double[]){ 4, 5, 6 }, 3), 0.10);
	NEAR(stats_mann_whitney((double[]){ 4, 5, 6 }, 3, (double[]){ 1, 2, 3 }, 3), 0.10);
}

/* Published table values: U = 2 for 5 against 5 has the two-sided p 8/252; U = 0 for 4 against 6 has 2/210. */
static void mann_whitney_agrees_with_the_tables(void **state)
{
	double a[] = { 1, 2, 3, 5, 6 }, b[] = { 4, 7, 8, 9, 10 };

	(void)state;
	NEAR(stats_mann_whitney(a, 5, b, 5), 8.0 / 252);
	NEAR(stats_mann_whitney((double[]){ 1, 2, 3, 4 }, 4, (double[]){ 5, 6, 7, 8, 9, 10 }, 6), 2.0 / 210);
	NEAR(stats_mann_whitney_floor(4, 6), 2.0 / 210);
}

/* Every choice counted by hand for 2 against 2 with one tie: ranks 1, 2.5, 2.5, 4; the sums of two are
 * 3.5 3.5 5 5 6.5 6.5 around the mean 5, so {1, 2.5} has p = 4/6. */
static void mann_whitney_gives_ties_their_midranks(void **state)
{
	(void)state;
	NEAR(stats_mann_whitney((double[]){ 1, 2 }, 2, (double[]){ 2, 3 }, 2), 4.0 / 6);
	NEAR(stats_mann_whitney((double[]){ 5, 5, 5 }, 3, (double[]){ 5, 5, 5 }, 3), 1);
}

static void mann_whitney_counts_ten_against_ten(void **state)
{
	double a[10], b[10];

	(void)state;
	for (int i = 0; i < 10; i++) {
		a[i] = i;
		b[i] = 10 + i;
	}
	NEAR(stats_mann_whitney(a, 10, b, 10), 2.0 / 184756);
	NEAR(stats_mann_whitney_floor(10, 10), 2.0 / 184756);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_an_odd_count_is_the_middle_value),
		cmocka_unit_test(median_of_an_even_count_is_the_mean_of_the_middle_two),
		cmocka_unit_test(mean_does_not_overflow),
		cmocka_unit_test(middle_names_the_first_of_equals_and_nothing_for_an_even_count),
		cmocka_unit_test(spread_is_relative_to_the_median),
		cmocka_unit_test(drift_needs_three_strict_moves_in_one_direction),
		cmocka_unit_test(drift_of_exactly_the_limit_is_none),
		cmocka_unit_test(three_against_three_cannot_go_below_one_tenth),
		cmocka_unit_test(mann_whitney_agrees_with_the_tables),
		cmocka_unit_test(mann_whitney_gives_ties_their_midranks),
		cmocka_unit_test(mann_whitney_counts_ten_against_ten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
