/* SPDX-License-Identifier: MIT
 *
 * Expressions: arithmetic, absence, and everything that must not get through.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "schema/base/mem.h"
#include "schema/evaluate.h"

static struct evaluator *ev;

static int setup(void **state)
{
	(void)state;
	return evaluator_new(&ev, NULL);
}

static int teardown(void **state)
{
	(void)state;
	evaluator_free(ev);
	return 0;
}

/* a = 6, b = 4, zero = 0, big = 1e308; everything else is absent. */
static int lookup(void *arg, const char *name, double *ret)
{
	(void)arg;
	if (strcmp(name, "a") == 0)
		*ret = 6;
	else if (strcmp(name, "b") == 0)
		*ret = 4;
	else if (strcmp(name, "zero") == 0)
		*ret = 0;
	else if (strcmp(name, "big") == 0)
		*ret = 1e308;
	else if (strcmp(name, "nan") == 0)
		*ret = NAN;
	else
		return -1;
	return 0;
}

static void gives(const char *text, double want)
{
	struct expression *x;
	struct err e;
	double got;

	if (expression_compile(ev, text, &x, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	assert_int_equal(expression_value(x, lookup, NULL, &got, &e), 1);
	assert_true(fabs(got - want) <= 1e-12 * fabs(want));
}

static void is_absent(const char *text)
{
	struct expression *x;
	double got = 77;

	assert_int_equal(expression_compile(ev, text, &x, NULL), 0);
	assert_int_equal(expression_value(x, lookup, NULL, &got, NULL), 0);
	assert_true(got == 77);
}

static void numbers_are_real(void **state)
{
	(void)state;
	gives("1 / 2", 0.5);
	gives("7 / 2 * 2", 7);
	gives(":a / :b", 1.5);
	gives("100 * (:a + :b) / 2", 500);
	gives("1.5e3 + .5", 1500.5);
	gives("-:a", -6);
	gives("max(:a, :b) - min(:a, :b)", 2);
	gives("coalesce(:nothing, :b)", 4);
	gives("case when :a > :b then 1 else 2 end", 1);
	gives("round(:a / :b, 0)", 2);
	gives(":a > 1 and :b is not null", 1);
	gives("9007199254740993 - 9007199254740992", 0); /* as doubles they are equal */
}

static void what_is_not_finite_is_absent(void **state)
{
	(void)state;
	is_absent(":a / :zero");
	is_absent(":a / 0");
	is_absent(":big * 10");
	is_absent(":nothing + 1");
	is_absent(":nan");
	is_absent("nullif(:zero, 0)");
	is_absent("null");
}

static void is_refused(const char *text, const char *why)
{
	struct expression *x;
	struct err e = { 0 };

	if (expression_compile(ev, text, &x, &e) == 0)
		fail_msg("'%s' was accepted", text);
	assert_int_equal(e.kind, ERR_USAGE);
	if (strstr(e.text, why) == NULL)
		fail_msg("'%s': %s", text, e.text);
}

static void everything_else_is_refused(void **state)
{
	AUTO_FREE char *deep = xcalloc(1, 4002);

	(void)state;
	is_refused("(SELECT 1)", "'SELECT' is no function and no :variable");
	is_refused("1) FROM sqlite_schema", "'FROM' is no function");
	is_refused("name", "'name' is no function and no :variable");
	is_refused("1; 2", "';' does not belong");
	is_refused("'text'", "does not belong");
	is_refused("\"x\"", "does not belong");
	is_refused("`x`", "does not belong");
	is_refused("[x]", "does not belong");
	is_refused("1 -- 2", "'-' does not belong");
	is_refused("1 /* 2 */", "'/' does not belong");
	is_refused("load_extension(1)", "'load_extension' is no function");
	is_refused("randomblob(1000000000)", "'randomblob' is no function");
	is_refused("printf(1)", "'printf' is no function");
	is_refused("1, 2", "is not");
	is_refused("1 2", "is not");
	is_refused("", "is not");
	is_refused("0x10", "is not a number");
	is_refused("?", "does not belong");
	is_refused(":", "does not belong");
	is_refused("@a", "does not belong");
	is_refused("1 union select 2", "'union' is no function");
	is_refused("a.b", "is no function");
	memset(deep, '(', 4001);
	is_refused(deep, "more than 4000 characters");
	memset(deep, '(', 300);
	deep[300] = '\0';
	is_refused(deep, "is not an expression");
}

static void the_same_text_is_compiled_once(void **state)
{
	struct expression *x, *y;

	(void)state;
	assert_int_equal(expression_compile(ev, ":a + :b + :a", &x, NULL), 0);
	assert_int_equal(expression_compile(ev, ":a + :b + :a", &y, NULL), 0);
	assert_ptr_equal(x, y);
	assert_int_equal(expression_variables(x), 2);
	assert_string_equal(expression_variable(x, 0), "a");
	assert_string_equal(expression_variable(x, 1), "b");
}

static void a_million_steps_are_no_limit_for_many_evaluations(void **state)
{
	struct expression *x;
	struct err e;
	double got;

	(void)state;
	assert_int_equal(expression_compile(ev, ":a + :b", &x, NULL), 0);
	for (int i = 0; i < 100000; i++)
		if (expression_value(x, lookup, NULL, &got, &e) != 1)
			fail_msg("evaluation %d: %s", i, e.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_real),
		cmocka_unit_test(what_is_not_finite_is_absent),
		cmocka_unit_test(everything_else_is_refused),
		cmocka_unit_test(the_same_text_is_compiled_once),
		cmocka_unit_test(a_million_steps_are_no_limit_for_many_evaluations),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
