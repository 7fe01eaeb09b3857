/* SPDX-License-Identifier: MIT
 *
 * Command lines: every spelling, every fault, and the help made of the same table.
 */
// LINK: cli/options.c
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct option_def submit_options[] = {
	{ "wait", 'w', NULL, "wait until the sweep has ended" },
	{ "priority", 'p', "N", "higher runs first" },
	{ "set", 0, "NAME=VALUE", "may be given several times" },
	OPTIONS_END
};

static int submit_run(const struct options *o, struct err *e)
{
	(void)o, (void)e;
	return 0;
}

static const struct command command = {
	.name = "submit",
	.arguments = "PLAN",
	.min_arguments = 1,
	.max_arguments = 1,
	.about = "hand a plan to the daemon",
	.details = "More of it.",
	.options = submit_options,
	.run = submit_run,
};

#define PARSE(o, e, ...) \
	({ \
		static const char *words[] = { __VA_ARGS__, NULL }; \
		options_parse(&command, (int)ARRAY_SIZE(words) - 1, words, (o), (e)); \
	})

static void assert_usage(const struct err *e, const char *text, const char *hint)
{
	assert_int_equal(e->kind, ERR_USAGE);
	assert_string_equal(e->text, text);
	assert_string_equal(e->hint, hint);
}

static void options_and_arguments_come_in_any_order(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "--priority", "5", "plan.yaml", "-w"), 0);
	assert_int_equal(o.n_arguments, 1);
	assert_string_equal(o.arguments[0], "plan.yaml");
	assert_null(o.arguments[1]);
	assert_true(options_has(&o, "wait"));
	assert_string_equal(options_text(&o, "priority"), "5");
	assert_false(o.wants_help);
}

static void a_value_may_be_joined_by_equals_or_follow_its_letter(void **state)
{
	struct options o;
	struct err e = { 0 };
	int64_t n = 7;

	(void)state;
	assert_int_equal(PARSE(&o, &e, "p", "--priority=-3"), 0);
	assert_int_equal(options_integer(&o, "priority", -100, 100, &n, &e), 0);
	assert_int_equal(n, -3);
	assert_int_equal(PARSE(&o, &e, "p", "-p12"), 0);
	assert_string_equal(options_text(&o, "priority"), "12");
	assert_int_equal(PARSE(&o, &e, "p", "-p", "-4"), 0);
	assert_string_equal(options_text(&o, "priority"), "-4");
}

static void the_last_of_several_counts_and_all_can_be_read(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "--set=a=1", "p", "--set", "b=2"), 0);
	assert_string_equal(options_text(&o, "set"), "b=2");
	assert_string_equal(options_text_at(&o, "set", 0), "a=1");
	assert_null(options_text_at(&o, "set", 2));
	assert_null(options_text(&o, "priority"));
}

static void after_two_dashes_everything_is_an_argument(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "--", "--wait"), 0);
	assert_string_equal(o.arguments[0], "--wait");
	assert_false(options_has(&o, "wait"));
	assert_int_equal(PARSE(&o, &e, "-"), 0);
	assert_string_equal(o.arguments[0], "-");
}

static void help_asks_for_nothing_else(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "--help"), 0);
	assert_true(o.wants_help);
	assert_int_equal(PARSE(&o, &e, "-h"), 0);
	assert_true(o.wants_help);
}

static void an_unknown_option_names_the_nearest(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "p", "--priorty=3"), -1);
	assert_usage(&e, "submit: unknown option '--priorty'",
	             "did you mean '--priority'? 'iosweep submit --help' lists all");
	assert_int_equal(PARSE(&o, &e, "p", "-x"), -1);
	assert_usage(&e, "submit: unknown option '-x'", "'iosweep submit --help' lists all");
	assert_int_equal(PARSE(&o, &e, "p", "--wai"), -1);
	assert_usage(&e, "submit: unknown option '--wai'", "did you mean '--wait'? 'iosweep submit --help' lists all");
}

static void a_value_too_many_or_too_few_is_named(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "p", "--wait=yes"), -1);
	assert_usage(&e, "submit: option '--wait' takes no value: '--wait=yes'", "");
	assert_int_equal(PARSE(&o, &e, "p", "-wx"), -1);
	assert_usage(&e, "submit: option '--wait' takes no value: '-wx'", "");
	assert_int_equal(PARSE(&o, &e, "p", "--priority"), -1);
	assert_usage(&e, "submit: option '--priority' needs a value: --priority N", "");
}

static void a_number_out_of_range_is_refused(void **state)
{
	struct options o;
	struct err e = { 0 };
	int64_t n = 7;

	(void)state;
	assert_int_equal(PARSE(&o, &e, "p", "-p101"), 0);
	assert_int_equal(options_integer(&o, "priority", -100, 100, &n, &e), -1);
	assert_usage(&e, "submit: option '--priority': '101' is not a whole number from -100 to 100", "");
	assert_int_equal(n, 7);
}

static void missing_and_surplus_arguments_show_the_usage(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(PARSE(&o, &e, "-w"), -1);
	assert_usage(&e, "submit: an argument is missing", "usage: iosweep submit PLAN [OPTION...]");
	assert_int_equal(PARSE(&o, &e, "a", "b"), -1);
	assert_usage(&e, "submit: unexpected argument 'b'", "usage: iosweep submit PLAN [OPTION...]");
}

static void the_help_has_every_option_of_the_table(void **state)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	options_help(&command, out);
	fclose(out);
	assert_string_equal(text, "usage: iosweep submit PLAN [OPTION...]\n"
	                          "\n"
	                          "Hand a plan to the daemon.\n"
	                          "\n"
	                          "More of it.\n"
	                          "\n"
	                          "options:\n"
	                          "  -w, --wait                  wait until the sweep has ended\n"
	                          "  -p, --priority N            higher runs first\n"
	                          "      --set NAME=VALUE        may be given several times\n"
	                          "  -h, --help                  show this help\n");
	free(text);
}

static void the_list_for_completion_has_a_line_an_option(void **state)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	options_list(&command, out);
	fclose(out);
	assert_string_equal(text, "--wait\t-w\t-\twait until the sweep has ended\n"
	                          "--priority\t-p\tN\thigher runs first\n"
	                          "--set\t-\tNAME=VALUE\tmay be given several times\n"
	                          "--help\t-h\t-\tshow this help\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_arguments_come_in_any_order),
		cmocka_unit_test(a_value_may_be_joined_by_equals_or_follow_its_letter),
		cmocka_unit_test(the_last_of_several_counts_and_all_can_be_read),
		cmocka_unit_test(after_two_dashes_everything_is_an_argument),
		cmocka_unit_test(help_asks_for_nothing_else),
		cmocka_unit_test(an_unknown_option_names_the_nearest),
		cmocka_unit_test(a_value_too_many_or_too_few_is_named),
		cmocka_unit_test(a_number_out_of_range_is_refused),
		cmocka_unit_test(missing_and_surplus_arguments_show_the_usage),
		cmocka_unit_test(the_help_has_every_option_of_the_table),
		cmocka_unit_test(the_list_for_completion_has_a_line_an_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
