/* SPDX-License-Identifier: MIT
 *
 * The filter language: terms, canonical values, dates, and faults with their column marked.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "schema/base/text.h"
#include "schema/filter.h"
#include "schema/model.h"

static struct arena *a;
static struct filter f;
static struct err e;

static int parse(const char *word)
{
	e = (struct err){ 0 };
	return filter_parse((const char *[]){ word }, 1, a, &f, &e);
}

static void fails(const char *word, const char *text)
{
	assert_int_equal(parse(word), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.text, text);
}

static bool holds(const char *word, const char *value)
{
	if (parse(word) < 0)
		fail_msg("%s", e.text);
	return filter_matches(&f.at[0], value);
}

static int setup(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static void one_argument_may_hold_several_terms(void **state)
{
	(void)state;
	assert_int_equal(parse("filesystem=xfs readahead>=2MiB  host=db* label.total_raid!=0"), 0);
	assert_int_equal(f.n, 4);
	assert_string_equal(f.at[1].key, "readahead");
	assert_int_equal(f.at[1].op, FILTER_GE);
	assert_int_equal(f.at[1].number, 2 << 20);
	assert_int_equal(f.at[2].kind, FILTER_HOST);
	assert_int_equal(f.at[3].op, FILTER_NE);
}

static void sizes_and_schedulers_become_canonical_as_in_a_plan(void **state)
{
	(void)state;
	assert_int_equal(parse("readahead=256sectors,2MiB"), 0);
	assert_string_equal(f.at[0].values[0], "131072");
	assert_string_equal(f.at[0].values[1], "2097152");
	assert_true(holds("scheduler=noop", "none"));
	assert_true(holds("scheduler=cfq", "cfq"));
	assert_true(holds("readahead=default", KERNEL_DEFAULT));
}

static void lists_match_any_and_unequal_none_of_them(void **state)
{
	(void)state;
	assert_true(holds("filesystem=xfs,ext*", "ext3"));
	assert_false(holds("filesystem=xfs,ext*", "btrfs"));
	assert_true(holds("filesystem!=xfs,ext*", "btrfs"));
	assert_false(holds("filesystem!=xfs,ext*", "ext4"));
}

static void numbers_compare_as_numbers_and_texts_do_not_compare(void **state)
{
	(void)state;
	assert_true(holds("label.total_raid>=10", "100"));
	assert_false(holds("label.total_raid>10", "10"));
	assert_true(holds("readahead<2MiB", "131072"));
	assert_false(holds("readahead<2MiB", KERNEL_DEFAULT));
	assert_true(holds("queue.nr_requests=64", "64.0"));
}

static void quotes_keep_blanks_and_commas_and_a_label_keeps_its_blanks_without(void **state)
{
	(void)state;
	assert_true(holds("label.hw=\"24disk raid10\" filesystem=xfs", "24disk raid10"));
	assert_int_equal(f.n, 2);
	assert_true(holds("label.hw=24disk raid10 filesystem=xfs", "24disk raid10"));
	assert_int_equal(f.n, 2);
	assert_true(holds("label.hw='a,b'", "a,b"));
}

static void dates_are_utc_and_until_takes_the_whole_day(void **state)
{
	int64_t from, to;

	(void)state;
	assert_int_equal(parse("since=2026-01-01 until=2026-01-31"), 0);
	assert_int_equal(f.at[0].at_ms, INT64_C(1767225600000));
	assert_int_equal(f.at[1].at_ms, INT64_C(1769904000000));
	assert_int_equal(filter_date("2026-02", &from, &to), 0);
	assert_int_equal(to - from, 28 * INT64_C(86400000));
	assert_int_equal(filter_date("2026-01-01T10:30", &from, &to), 0);
	assert_int_equal(to - from, 60000);
	assert_int_equal(filter_date("yesterday", &from, &to), -1);
}

static void faults_mark_the_column(void **state)
{
	(void)state;
	fails("filesystem=xfs readahead 2MiB",
	      "filter, column 25: an operator is missing after 'readahead': one of = != < <= > >=\n"
	      "    filesystem=xfs readahead 2MiB\n                            ^");
	fails("filesystem=", "filter, column 12: a value is missing here\n    filesystem=\n               ^");
	fails("a=1,,2", "filter, column 5: a value is missing here\n    a=1,,2\n        ^");
	fails("=xfs", "filter, column 1: a key is missing: write KEY=VALUE\n    =xfs\n    ^");
	fails("label.hw='a", "filter, column 10: the quote is not closed\n    label.hw='a\n             ^");
	fails("filesystem==xfs",
	      "filter, column 11: '==' after 'filesystem' is no operator: write one of = != < <= > >=\n    filesystem==xfs\n              ^");
	fails("filesystem~xfs",
	      "filter, column 11: '~' after 'filesystem' is no operator: write one of = != < <= > >=\n    filesystem~xfs\n              ^");
	fails("host=~db*", "filter, column 5: '=~' after 'host' is no operator: write one of = != < <= > >=\n    host=~db*\n        ^");
	fails("filesystem=x=fs", "filter, column 13: a value cannot hold '=' outside quotes\n    filesystem=x=fs\n                ^");
	fails("host>db", "filter, column 1: 'host' is compared by = or != only\n    host>db\n    ^");
	fails("readahead>1MiB,2MiB",
	      "filter, column 1: a list goes with = and != only\n    readahead>1MiB,2MiB\n    ^");
	fails("since=tomorrow",
	      "filter, column 1: 'tomorrow' is not a date: write 2026-01-31, 2026-01-31T21:00 or 30d\n"
	      "    since=tomorrow\n    ^");
}

static void a_bare_readahead_names_both_readings(void **state)
{
	(void)state;
	assert_int_equal(parse("readahead=256"), -1);
	assert_non_null(strstr(e.text, "256 sectors of 512 bytes"));
	assert_string_equal(e.hint, "write 256sectors or 256KiB");
}

static void globs_match_whole_texts(void **state)
{
	(void)state;
	assert_true(filter_glob("db*", "db12"));
	assert_true(filter_glob("*.through?ut", "dd.throughput"));
	assert_false(filter_glob("db", "db12"));
	assert_true(filter_glob("**a*", "bca"));
	assert_false(filter_glob("?", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_argument_may_hold_several_terms, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes_and_schedulers_become_canonical_as_in_a_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_match_any_and_unequal_none_of_them, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_compare_as_numbers_and_texts_do_not_compare, setup, teardown),
		cmocka_unit_test_setup_teardown(quotes_keep_blanks_and_commas_and_a_label_keeps_its_blanks_without, setup, teardown),
		cmocka_unit_test_setup_teardown(dates_are_utc_and_until_takes_the_whole_day, setup, teardown),
		cmocka_unit_test_setup_teardown(faults_mark_the_column, setup, teardown),
		cmocka_unit_test_setup_teardown(a_bare_readahead_names_both_readings, setup, teardown),
		cmocka_unit_test_setup_teardown(globs_match_whole_texts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
