/* SPDX-License-Identifier: MIT
 *
 * Cells, trials and results as the worker records them.
 */
#include "tests/unit/store_fixture.h"

static int64_t cell_begin(struct fixture *f, uint64_t position, const char *filesystem, const char *readahead)
{
	struct cell c = fixture_cell(position, filesystem, readahead);
	enum cell_state before;
	int64_t id = 0;

	OK(store_cell_begin(f->s, f->sweep, &c, &id, &before, &f->e));
	assert_int_equal(before, CELL_RUNNING);
	return id;
}

static void a_cell_is_found_again_with_its_state(void **state)
{
	struct fixture *f = *state;
	struct cell c = fixture_cell(0, "xfs", "131072");
	int64_t id = cell_begin(f, 0, "xfs", "131072"), again = 0;
	struct step_time steps[] = { { STEP_FORMAT, 5000, "done", "meta-data=/dev/loop0" }, { STEP_MOUNT, 70, "done", NULL } };
	enum cell_state before;

	OK(store_cell_end(f->s, id, CELL_FAILED, "mkfs: no", steps, 2, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT cells_ended FROM sweep"), "1");
	OK(store_cell_begin(f->s, f->sweep, &c, &again, &before, &f->e));
	assert_int_equal(again, id);
	assert_int_equal(before, CELL_FAILED);
	assert_string_equal(fixture_sql(f, "SELECT state || reason FROM cell"), "running");
	assert_string_equal(fixture_sql(f, "SELECT cells_ended FROM sweep"), "0");
	assert_string_equal(fixture_sql(f, "SELECT group_concat(step || elapsed_ns || state) FROM step_run"), "format5000done,mount70done");
}

static void the_result_is_the_median_with_what_was_left_out(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), failed, middle;
	struct trial_end bad = { .state = "failed", .reason = "dd: no space", .exit_status = 1 };

	fixture_trial(f, cell, w, 1, 100);
	OK(store_trial_begin(f->s, cell, w, 2, &failed, &f->e));
	OK(store_trial_end(f->s, failed, &bad, &f->e));
	middle = fixture_trial(f, cell, w, 2, 104);
	fixture_trial(f, cell, w, 3, 108);
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT value || ' ' || min || ' ' || max || ' ' || n || ' ' || left_out || flags FROM result"),
	                    "104.0 100.0 108.0 3 1");
	assert_int_equal(atoll(fixture_sql(f, "SELECT trial_id FROM result")), middle);
	assert_string_equal(fixture_sql(f, "SELECT trials_ok FROM sweep"), "3");
}

static void a_second_good_trial_of_a_repetition_is_refused(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), id;
	struct trial_end good = { .state = "ok", .reason = "" };

	fixture_trial(f, cell, w, 1, 100);
	OK(store_trial_begin(f->s, cell, w, 1, &id, &f->e));
	assert_int_equal(store_trial_end(f->s, id, &good, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_STORE);
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM trial WHERE state = 'ok'"), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cell_is_found_again_with_its_state, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_result_is_the_median_with_what_was_left_out, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_second_good_trial_of_a_repetition_is_refused, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
