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
	struct step_time steps[] = { { "format", 5000, "done", "meta-data=/dev/loop0" }, { "mount", 70, "done", NULL } };
	enum cell_state before;

	OK(store_cell_end(f->s, id, CELL_FAILED, "mkfs: no", steps, 2, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT cells_ended FROM sweep"), "1");
	OK(store_cell_begin(f->s, f->sweep, &c, &again, &before, &f->e));
	assert_int_equal(again, id);
	assert_int_equal(before, CELL_FAILED);
	assert_string_equal(fixture_sql(f, "SELECT state || reason FROM cell"), "running");
	assert_string_equal(fixture_sql(f, "SELECT cells_ended FROM sweep"), "0");
	assert_string_equal(fixture_sql(f, "SELECT group_concat(step || elapsed_ns || state) FROM step_run"),
	                    "format5000done,mount70done");
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

/* A trial under an environment of its own. */
static void trial_under(struct fixture *f, int64_t cell, int repetition, const char *cache, const char *load)
{
	const struct environment_fact facts[] = { { "perc.cache", cache, FACT_CONTEXT }, { "host.load", load, FACT_VOLATILE },
		                                  { "perc.seen", "once", FACT_CONTEXT } };
	struct measured m = { .name = "throughput", .label = "", .unit = "B/s", .better = BETTER_HIGHER, .value = 100 };
	struct trial_end t = { .state = "ok", .reason = "", .measured = &m, .n_measured = 1 };
	int64_t id;

	OK(store_environment(f->s, facts, repetition == 1 ? 3 : 2, &t.environment_id, &f->e));
	OK(store_trial_begin(f->s, cell, fixture_workload(f, 0), repetition, &id, &f->e));
	OK(store_trial_end(f->s, id, &t, &f->e));
}

static void trials_in_different_states_of_the_machine_are_inconsistent(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072");

	trial_under(f, cell, 2, "WriteThrough", "0.1");
	trial_under(f, cell, 3, "WriteThrough", "0.7"); /* a load is no state */
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT flags FROM result"), "");
	trial_under(f, cell, 1, "WriteBack", "0.1");
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT flags FROM result"), "inconsistent");
	assert_string_equal(fixture_sql(f, "SELECT reason FROM result_flag"),
	                    "perc.cache was 'WriteBack', then 'WriteThrough'; perc.seen was 'once'");
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

static void trials_done_names_the_repetitions_that_are_good(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), id;
	bool done[3];

	fixture_trial(f, cell, w, 3, 100);
	OK(store_trial_begin(f->s, cell, w, 1, &id, &f->e));
	OK(store_trials_done(f->s, cell, w, 3, done, &f->e));
	assert_false(done[0]);
	assert_false(done[1]);
	assert_true(done[2]);
}

static void what_a_dead_worker_left_running_is_interrupted(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), id;
	struct trial_end t = { .state = "ok", .reason = "" };

	OK(store_trial_begin(f->s, cell, w, 1, &id, &f->e));
	OK(store_trials_interrupt(f->s, f->sweep, "the worker was killed", &f->e));
	assert_string_equal(fixture_sql(f, "SELECT state || ': ' || reason FROM trial"),
	                    "interrupted: the worker was killed");
	assert_string_equal(fixture_sql(f, "SELECT state FROM cell"), "partial");
	FAILS(store_trial_end(f->s, id, &t, &f->e), ERR_STORE, arena_printf(f->a, "record a trial: trial %lld is not running", (long long)id));
}

static void two_attempts_never_share_a_start(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), id;

	for (int i = 0; i < 50; i++)
		OK(store_trial_begin(f->s, cell, w, 1, &id, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT count(DISTINCT started_ms) FROM trial"), "50");
}

static void an_even_count_has_no_middle_trial(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0);

	fixture_trial(f, cell, w, 1, 100);
	fixture_trial(f, cell, w, 2, 104);
	OK(store_cell_end(f->s, cell, CELL_PARTIAL, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT value || ' ' || coalesce(trial_id, 'none') FROM result"),
	                    "102.0 none");
}

static void keep_mean_takes_the_mean(void **state)
{
	struct fixture *f = *state;
	int64_t cell, w;

	f->plan.keep = KEEP_MEAN;
	f->sweep = fixture_submit(f, 0);
	cell = cell_begin(f, 0, "xfs", "131072");
	w = fixture_workload(f, 0);
	fixture_trial(f, cell, w, 1, 1);
	fixture_trial(f, cell, w, 2, 2);
	fixture_trial(f, cell, w, 3, 6);
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT value || ' ' || coalesce(trial_id, 'none') FROM result"),
	                    "3.0 none");
}

static void spread_and_drift_are_flags_of_the_metric_with_reasons(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0);

	fixture_trial(f, cell, w, 1, 121);
	fixture_trial(f, cell, w, 2, 132);
	fixture_trial(f, cell, w, 3, 229);
	OK(store_trial_flag(f->s, 1, "cached", "read 1 MiB for 1 GiB", &f->e));
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT flags FROM result"), "cached drift spread");
	assert_string_equal(fixture_sql(f, "SELECT reason FROM result_flag WHERE flag = 'spread'"),
	                    "throughput from 121 to 229 B/s: 81.8 % of the median");
	assert_string_equal(fixture_sql(f, "SELECT reason FROM result_flag WHERE flag = 'drift'"),
	                    "throughput rises from trial to trial, from 121 to 229 B/s");
	OK(store_result_update(f->s, cell, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM result_flag"), "2");
}

static void a_spread_of_just_a_tenth_is_none(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0);

	fixture_trial(f, cell, w, 1, 95);
	fixture_trial(f, cell, w, 2, 105);
	fixture_trial(f, cell, w, 3, 100);
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT flags FROM result"), "");
}

/* n cells of three trials; the first n_up rise by 1 % a trial, the others go up and down. */
static void cells_drift(struct fixture *f, int n, int n_up)
{
	int64_t w = fixture_workload(f, 0);

	for (int i = 0; i < n; i++) {
		int64_t cell = cell_begin(f, (uint64_t)i, "xfs", arena_printf(f->a, "%d", 4096 * (i + 1)));

		fixture_trial(f, cell, w, 1, 100);
		fixture_trial(f, cell, w, 2, 101);
		fixture_trial(f, cell, w, 3, i < n_up ? 102 : 100.5);
		OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	}
	OK(store_sweep_drift(f->s, f->sweep, &f->e));
}

static void a_small_rise_in_most_cells_of_a_sweep_is_drift(void **state)
{
	struct fixture *f = *state;

	cells_drift(f, 9, 6);
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM result WHERE flags = 'drift'"), "6");
	assert_string_equal(fixture_sql(f, "SELECT DISTINCT reason FROM result_flag"),
	                    "throughput rises from trial to trial in 6 of 9 cells of the sweep");
	OK(store_sweep_drift(f->s, f->sweep, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM result_flag"), "6");
}

static void a_rise_in_fewer_than_two_thirds_is_chance(void **state)
{
	cells_drift(*state, 9, 5);
	assert_string_equal(fixture_sql(*state, "SELECT count(*) FROM result_flag"), "0");
}

static void five_cells_are_too_few_to_tell(void **state)
{
	cells_drift(*state, 5, 5);
	assert_string_equal(fixture_sql(*state, "SELECT count(*) FROM result_flag"), "0");
}

static void settings_keep_what_was_asked_and_what_took_effect(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072");

	OK(store_cell_effective(f->s, cell, "readahead", "131072", "confirmed", &f->e));
	OK(store_cell_effective(f->s, cell, "scheduler", "mq-deadline", "", &f->e));
	OK(store_cell_effective(f->s, cell, "queue.nr_requests", "64", "", &f->e));
	FAILS(store_cell_effective(f->s, cell, "readahead", "1", "maybe", &f->e), ERR_STORE, "'maybe' is no verdict on a setting");
	assert_string_equal(fixture_sql(f, "SELECT group_concat(axis || ':' || requested || ':' || value || ':' || coalesce(effective, '-') || "
	                                   "':' || verdict, ' ') FROM (SELECT * FROM settings ORDER BY axis)"),
	                    "filesystem:xfs:xfs:-: queue.nr_requests:kernel-default:kernel-default:64: readahead:131072:131072:131072:confirmed "
	                    "scheduler:kernel-default:kernel-default:mq-deadline:");
	assert_string_equal(fixture_sql(f, "SELECT settings FROM cells"), "filesystem=xfs readahead=131072");
}

static void an_undo_joins_the_row_of_its_run(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072");
	struct step_time first[] = { { "format", 10, "done", NULL }, { "mount", 20, "failed", "mount: no" } };
	struct step_time second[] = { { "mount", 3, "undone", NULL }, { "queue", 4, "undone", NULL } };

	OK(store_cell_end(f->s, cell, CELL_FAILED, "no", first, 2, &f->e));
	OK(store_cell_end(f->s, cell, CELL_FAILED, "no", second, 2, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT group_concat(n || step || elapsed_ns || state, ' ') FROM "
	                                   "(SELECT * FROM step_run ORDER BY n, state DESC)"),
	                    "1format10done 2mount3undone 2mount20failed 3queue4undone");
	assert_string_equal(fixture_sql(f, "SELECT bytes || ' ' || kept FROM step_output"), "9 9");
}

static void outputs_come_back_as_they_were_printed(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), id;
	AUTO_FREE char *flood = xcalloc(1, STORE_OUTPUT_MAX + 5);
	struct capture captures[] = { { "run", "stdout", "a\0b\n", 4, false },
		                      { "run", "stderr", "", 0, false },
		                      { "run.2", "stdout", flood, STORE_OUTPUT_MAX + 5, false },
		                      { "run.3", "stdout", "ab", 2, true, 50000000 } };
	struct trial_end t = { .state = "failed", .reason = "x", .captures = captures, .n_captures = 4 };
	struct capture *got;
	size_t n;

	OK(store_trial_begin(f->s, cell, w, 1, &id, &f->e));
	OK(store_trial_end(f->s, id, &t, &f->e));
	OK(store_output_get(f->s, id, f->a, &got, &n, &f->e));
	assert_int_equal(n, 3); /* nothing is kept of an empty stream */
	assert_string_equal(got[0].step, "run");
	assert_int_equal(got[0].n, 4);
	assert_memory_equal(got[0].data, "a\0b\n", 4);
	assert_false(got[0].is_cut);
	assert_int_equal(got[1].n, STORE_OUTPUT_MAX);
	assert_true(got[1].is_cut);
	assert_true(got[2].is_cut);
	assert_string_equal(fixture_sql(f, "SELECT bytes || ' ' || kept FROM output WHERE step = 'run.3'"),
	                    "50000000 2");
}

static void show_has_cells_by_position_with_settings_and_results(void **state)
{
	struct fixture *f = *state;
	int64_t second = cell_begin(f, 1, "xfs", "131072"), first = cell_begin(f, 0, "ext4", "131072");
	int64_t write = fixture_workload(f, 0), read = fixture_workload(f, 1);
	struct shown_cell *cells;
	size_t n;

	fixture_trial(f, first, read, 1, 7);
	fixture_trial(f, first, write, 1, 5);
	OK(store_cell_end(f->s, first, CELL_OK, "", NULL, 0, &f->e));
	OK(store_cell_end(f->s, second, CELL_INFEASIBLE, "mkfs.xfs: not this size", NULL, 0, &f->e));
	OK(store_show_cells(f->s, f->sweep, f->a, &cells, &n, &f->e));
	assert_int_equal(n, 2);
	assert_int_equal(cells[0].id, first);
	assert_int_equal(cells[0].n_values, 3);
	assert_string_equal(cells[0].values[0].axis, "filesystem");
	assert_string_equal(cells[0].values[0].requested, "ext4");
	assert_string_equal(cells[0].values[2].axis, "scheduler");
	assert_null(cells[0].values[2].effective);
	assert_int_equal(cells[0].n_results, 2);
	assert_string_equal(cells[0].results[0].key, "dd-write.throughput");
	assert_string_equal(cells[0].results[1].key, "dd-read.throughput");
	assert_true(cells[0].results[1].value == 7);
	assert_int_equal(cells[0].results[1].better, BETTER_HIGHER);
	assert_int_equal(cells[1].state, CELL_INFEASIBLE);
	assert_string_equal(cells[1].reason, "mkfs.xfs: not this size");
	assert_int_equal(cells[1].n_results, 0);
}

static void show_trials_has_attempts_flags_and_measurements(void **state)
{
	struct fixture *f = *state;
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), failed;
	struct trial_end bad = { .state = "failed", .reason = "dd: killed", .exit_status = -1, .exit_signal = 9 };
	struct shown_trial *trials;
	size_t n;

	OK(store_trial_begin(f->s, cell, w, 1, &failed, &f->e));
	OK(store_trial_end(f->s, failed, &bad, &f->e));
	OK(store_trial_flag(f->s, fixture_trial(f, cell, w, 1, 121), "cached", "x", &f->e));
	fixture_trial(f, cell, w, 2, 132);
	fixture_trial(f, cell, w, 3, 229);
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	OK(store_show_trials(f->s, f->sweep, f->a, &trials, &n, &f->e));
	assert_int_equal(n, 4);
	assert_string_equal(trials[0].state, "failed");
	assert_string_equal(trials[0].flags, "");
	assert_int_equal(trials[0].exit_status, -1);
	assert_int_equal(trials[0].exit_signal, 9);
	assert_int_equal(trials[0].read_bytes, 0);
	assert_int_equal(trials[0].n_measured, 0);
	assert_string_equal(trials[1].flags, "cached drift spread");
	assert_string_equal(trials[2].flags, "drift spread");
	assert_string_equal(trials[3].workload, "dd-write");
	assert_int_equal(trials[3].n_measured, 1);
	assert_string_equal(trials[3].measured[0].key, "dd-write.throughput");
	assert_true(trials[3].measured[0].value == 229);
}

/* A device that could not be asked, and a published figure of which no more is known than its value. */
static void what_is_not_known_of_a_trial_is_null_and_never_a_number(void **state)
{
	struct fixture *f = *state;
	struct trial_end blind = { .state = "failed", .reason = "x", .read_bytes = -1, .written_bytes = -1, .exit_status = -1 };
	int64_t cell = cell_begin(f, 0, "xfs", "131072"), w = fixture_workload(f, 0), id;
	struct shown_trial *trials;
	size_t n;

	OK(store_trial_begin(f->s, cell, w, 1, &id, &f->e));
	OK(store_trial_end(f->s, id, &blind, &f->e));
	assert_string_equal(fixture_sql(f, "SELECT (read_bytes IS NULL) || (written_bytes IS NULL) FROM trial"), "11");
	/* as stores of before have it */
	fixture_sql(f, "UPDATE trial SET read_bytes = -1, written_bytes = -1");
	assert_string_equal(fixture_sql(f, "SELECT (read_bytes IS NULL) || (written_bytes IS NULL) FROM trials"), "11");
	fixture_sql(f, "UPDATE trial SET elapsed_ns = NULL, user_ns = NULL, system_ns = NULL, read_bytes = NULL, written_bytes = NULL");
	OK(store_show_trials(f->s, f->sweep, f->a, &trials, &n, &f->e));
	assert_int_equal(n, 1);
	assert_int_equal(trials[0].elapsed_ns, -1);
	assert_int_equal(trials[0].user_ns, -1);
	assert_int_equal(trials[0].system_ns, -1);
	assert_int_equal(trials[0].read_bytes, -1);
	assert_int_equal(trials[0].written_bytes, -1);
}

static void equal_environments_are_one_row(void **state)
{
	struct fixture *f = *state;
	struct environment_fact a[] = { { "kernel.release", "6.18", FACT_IDENTITY }, { "mem.free", "1", FACT_VOLATILE } };
	struct environment_fact b[] = { { "mem.free", "2", FACT_VOLATILE }, { "kernel.release", "6.18", FACT_IDENTITY } };
	struct environment_fact c[] = { { "kernel.release", "6.19", FACT_IDENTITY } };
	int64_t ids[3] = { 0 };

	OK(store_environment(f->s, a, 2, &ids[0], &f->e));
	OK(store_environment(f->s, b, 2, &ids[1], &f->e));
	OK(store_environment(f->s, c, 1, &ids[2], &f->e));
	assert_int_equal(ids[0], ids[1]);
	assert_int_not_equal(ids[0], ids[2]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cell_is_found_again_with_its_state),
		TEST(the_result_is_the_median_with_what_was_left_out),
		TEST(trials_in_different_states_of_the_machine_are_inconsistent),
		TEST(a_second_good_trial_of_a_repetition_is_refused),
		TEST(trials_done_names_the_repetitions_that_are_good),
		TEST(what_a_dead_worker_left_running_is_interrupted),
		TEST(two_attempts_never_share_a_start),
		TEST(an_even_count_has_no_middle_trial),
		TEST(keep_mean_takes_the_mean),
		TEST(spread_and_drift_are_flags_of_the_metric_with_reasons),
		TEST(a_spread_of_just_a_tenth_is_none),
		TEST(a_small_rise_in_most_cells_of_a_sweep_is_drift),
		TEST(a_rise_in_fewer_than_two_thirds_is_chance),
		TEST(five_cells_are_too_few_to_tell),
		TEST(settings_keep_what_was_asked_and_what_took_effect),
		TEST(an_undo_joins_the_row_of_its_run),
		TEST(outputs_come_back_as_they_were_printed),
		TEST(show_has_cells_by_position_with_settings_and_results),
		TEST(show_trials_has_attempts_flags_and_measurements),
		TEST(what_is_not_known_of_a_trial_is_null_and_never_a_number),
		TEST(equal_environments_are_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
