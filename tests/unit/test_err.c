/* SPDX-License-Identifier: MIT
 *
 * Errors: kinds and their names, context, hints, exit statuses; diagnostics sorted and bounded.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/base/err.h"

static void an_error_is_minus_one_and_says_what(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, ERR_USAGE, "'%s' is %d", "x", 5), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.text, "'x' is 5");
	assert_string_equal(e.hint, "");
	assert_int_equal(err_hint(&e, "write %d", 6), -1);
	assert_string_equal(e.hint, "write 6");
	assert_int_equal(err_set(&e, ERR_TOOL, "new"), -1);
	assert_string_equal(e.hint, ""); /* a hint belongs to its error */
	assert_int_equal(err_set(NULL, ERR_USAGE, "nobody asked"), -1);
}

static void context_is_put_in_front(void **state)
{
	struct err e = { 0 };

	(void)state;
	err_set_(&e, ERR_BUSY, "inner");
	err_hint_(&e, "wait");
	assert_int_equal(err_in(&e, "cell %d", 3), -1);
	assert_int_equal(err_in(&e, "sweep"), -1);
	assert_string_equal(e.text, "sweep: cell 3: inner");
	assert_string_equal(e.hint, "wait");
	assert_int_equal(e.kind, ERR_BUSY);
}

static void system_errors_have_a_kind_of_their_own(void **state)
{
	static const struct { int errnum; enum err_kind kind; } cases[] = {
		{ ENOSPC, ERR_NO_SPACE }, { EDQUOT, ERR_NO_SPACE }, { EBUSY, ERR_BUSY }, { ENODEV, ERR_DEVICE_LOST },
		{ ENXIO, ERR_DEVICE_LOST }, { ETIMEDOUT, ERR_TIMEOUT }, { EINVAL, ERR_SYSTEM }, { EIO, ERR_SYSTEM },
	};
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(err_kind_of_errno(cases[i].errnum), cases[i].kind);
	assert_int_equal(err_sys(&e, EINVAL, "write '%s'", "bfq"), -1);
	assert_string_equal(e.text, "write 'bfq': Invalid argument");
}

static void kinds_have_names_and_exit_statuses(void **state)
{
	(void)state;
	for (int i = 0; i < ERR_N_KINDS; i++) {
		assert_non_null(err_kind_name((enum err_kind)i));
		assert_int_equal(err_kind_by_name(err_kind_name((enum err_kind)i)), i);
	}
	assert_int_equal(err_kind_by_name("nonsense"), ERR_SYSTEM);
	assert_int_equal(err_exit_status(ERR_USAGE), 2);
	assert_int_equal(err_exit_status(ERR_UNREACHABLE), 3);
	assert_int_equal(err_exit_status(ERR_TOOL), 1);
}

static void a_text_too_long_is_cut_and_not_lost(void **state)
{
	char longest[4000];
	struct err e = { 0 };

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	err_set_(&e, ERR_TOOL, "%s", longest);
	err_in_(&e, "front");
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_memory_equal(e.text, "front: xxx", 10);
	err_hint_(&e, "%s", longest);
	assert_int_equal(strlen(e.hint), sizeof(e.hint) - 1);
}

static void errors_are_printed_with_their_hint_below(void **state)
{
	struct err e = { 0 };
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	(void)state;
	err_set_(&e, ERR_USAGE, "no");
	err_print(f, "iosweep", &e);
	err_hint_(&e, "yes");
	err_print(f, "iosweep", &e);
	fclose(f);
	assert_string_equal(out, "iosweep: no\niosweep: no\niosweep: yes\n");
	free(out);
}

static void diagnostics_are_sorted_bounded_and_printed(void **state)
{
	struct diags d;
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	(void)state;
	diags_init(&d, "p.yaml");
	diags_add(&d, 3, 1, "third");
	diags_add(&d, 1, 9, "second");
	diags_add(&d, 1, 2, "first %s", "of all");
	diags_add(&d, 0, 0, "the file");
	diags_sort(&d);
	diags_print(f, &d);
	for (int i = 0; i < DIAGS_MAX; i++)
		diags_add(&d, 9, 9, "more");
	assert_int_equal(d.n, DIAGS_MAX);
	assert_int_equal(d.n_lost, 4);
	fclose(f);
	assert_string_equal(out, "p.yaml: the file\np.yaml:1:2: first of all\np.yaml:1:9: second\np.yaml:3:1: third\n");
	free(out);
	diags_done(&d);
	diags_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_is_minus_one_and_says_what),
		cmocka_unit_test(context_is_put_in_front),
		cmocka_unit_test(system_errors_have_a_kind_of_their_own),
		cmocka_unit_test(kinds_have_names_and_exit_statuses),
		cmocka_unit_test(a_text_too_long_is_cut_and_not_lost),
		cmocka_unit_test(errors_are_printed_with_their_hint_below),
		cmocka_unit_test(diagnostics_are_sorted_bounded_and_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
