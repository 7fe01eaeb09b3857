/* SPDX-License-Identifier: MIT
 *
 * Sweeps: submission, names, the queue, workloads, the undo journal, estimates.
 */
#include "tests/unit/store_fixture.h"

static void a_submitted_sweep_is_read_back_whole(void **state)
{
	struct fixture *f = *state;
	struct sweep s;
	const char *source;

	OK(store_sweep_get(f->s, f->sweep, f->a, &s, &f->e));
	assert_string_equal(s.plan_name, "demo");
	assert_string_equal(s.about, "what the fixture submits");
	assert_string_equal(s.host, "db1");
	assert_int_equal(s.state, SWEEP_QUEUED);
	assert_int_equal(s.target_kind, TARGET_IMAGE);
	assert_string_equal(s.target, "4GiB");
	assert_int_equal(s.submitter_uid, 1000);
	assert_int_equal(s.submitter_gid, 1001);
	assert_string_equal(s.submitter, "ann");
	assert_int_equal(s.cells, 6);
	assert_int_equal(s.trials_per_cell, 6);
	assert_int_equal(s.keep, KEEP_MEDIAN);
	assert_string_equal(s.options, "{}");
	assert_true(s.submitted_ms > 0);
	assert_int_equal(s.started_ms, 0);
	OK(store_sweep_plan(f->s, f->sweep, f->a, &source, &f->e));
	assert_string_equal(source, "plan: demo\n");
}

static void equal_plans_and_workloads_are_stored_once(void **state)
{
	struct fixture *f = *state;

	fixture_submit(f, 0);
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM plan"), "1");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM workload"), "2");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM sweep_workload"), "4");
}

static void two_names_for_one_workload_are_refused_and_nothing_is_stored(void **state)
{
	struct fixture *f = *state;
	struct sweep_new n = { .plan_source = "p", .plan = &f->plan, .host_id = f->host, .target = "x", .submitter = "ann" };
	int64_t id;

	f->plan_workloads[1] = f->plan_workloads[0];
	f->plan_workloads[1].name = "again";
	FAILS(store_sweep_submit(f->s, &n, &id, &f->e), ERR_USAGE,
	      "workloads 'dd-write' and 'again' are the same, with the same parameters");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM sweep"), "1");
}

static void the_queue_goes_by_priority_then_by_age(void **state)
{
	struct fixture *f = *state;
	int64_t low = fixture_submit(f, -1), high = fixture_submit(f, 5), id;

	fixture_submit(f, 5);
	OK(store_sweep_next(f->s, &id, &f->e));
	assert_int_equal(id, high);
	for (int64_t i = 1; i <= 4; i++)
		if (i != low)
			OK(store_sweep_set_state(f->s, i, SWEEP_PAUSED, "", &f->e));
	OK(store_sweep_next(f->s, &id, &f->e));
	assert_int_equal(id, low);
	OK(store_sweep_set_state(f->s, low, SWEEP_RUNNING, "", &f->e));
	OK(store_sweep_next(f->s, &id, &f->e));
	assert_int_equal(id, 0);
}

static void states_set_times_and_leave_events(void **state)
{
	struct fixture *f = *state;
	struct sweep s;

	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_RUNNING, "", &f->e));
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_PAUSED, "device lost", &f->e));
	OK(store_sweep_get(f->s, f->sweep, f->a, &s, &f->e));
	assert_string_equal(s.reason, "device lost");
	assert_true(s.started_ms > 0);
	assert_int_equal(s.ended_ms, 0);
	OK(store_sweep_set_wanted(f->s, f->sweep, WANT_CANCEL, &f->e));
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_DONE, NULL, &f->e));
	OK(store_sweep_get(f->s, f->sweep, f->a, &s, &f->e));
	assert_int_equal(s.wanted, WANT_CANCEL);
	assert_string_equal(s.reason, "");
	assert_true(s.ended_ms >= s.started_ms);
	assert_string_equal(fixture_sql(f, "SELECT group_concat(text, '; ') FROM (SELECT text FROM event ORDER BY id)"),
	                    "by ann; running; paused: device lost; done");
	FAILS(store_sweep_set_state(f->s, 99, SWEEP_DONE, "", &f->e), ERR_NOT_FOUND, "there is no sweep 99");
	FAILS(store_sweep_set_wanted(f->s, 99, WANT_STOP, &f->e), ERR_NOT_FOUND, "there is no sweep 99");
}

static void a_sweep_has_several_names(void **state)
{
	struct fixture *f = *state;
	int64_t second = fixture_submit(f, 0), id;
	char uuid[UUID_TEXT];
	struct sweep s;

	OK(store_sweep_find(f->s, "1", &id, &f->e));
	assert_int_equal(id, f->sweep);
	OK(store_sweep_find(f->s, "last", &id, &f->e));
	assert_int_equal(id, second);
	OK(store_sweep_find(f->s, "last~1", &id, &f->e));
	assert_int_equal(id, f->sweep);
	OK(store_sweep_get(f->s, second, f->a, &s, &f->e));
	OK(store_sweep_find(f->s, uuid_format(s.uuid, uuid), &id, &f->e));
	assert_int_equal(id, second);
	uuid[35] = '\0'; /* the last digit off */
	OK(store_sweep_find(f->s, uuid, &id, &f->e));
	assert_int_equal(id, second);
}

static void what_names_no_sweep_is_said(void **state)
{
	struct fixture *f = *state;
	int64_t id;

	fixture_submit(f, 0);
	FAILS(store_sweep_find(f->s, "99", &id, &f->e), ERR_NOT_FOUND, "there is no sweep 99");
	FAILS(store_sweep_find(f->s, "last~2", &id, &f->e), ERR_NOT_FOUND, "there is no 'last~2': fewer sweeps were submitted");
	FAILS(store_sweep_find(f->s, "last~x", &id, &f->e), ERR_USAGE, "'last~x' is no sweep: write last, last~1, last~2 ...");
	FAILS(store_sweep_find(f->s, "abc", &id, &f->e), ERR_USAGE, "'abc' is too short for the front of a UUID: 4 digits at least");
	FAILS(store_sweep_find(f->s, "nightly", &id, &f->e), ERR_USAGE,
	      "'nightly' is no sweep: write its number, last, or the front of its UUID");
	FAILS(store_sweep_find(f->s, "ffff0000", &id, &f->e), ERR_NOT_FOUND, "there is no sweep 'ffff0000'");
	/* Both UUIDs begin with the time of submission. */
	FAILS(store_sweep_find(f->s, fixture_sql(f, "SELECT 'x' || 1"), &id, &f->e), ERR_USAGE,
	      "'x1' is no sweep: write its number, last, or the front of its UUID");
	assert_int_equal(store_sweep_find(f->s, fixture_sql(f, "SELECT substr(lower(hex(uuid)), 1, 6) FROM sweep"), &id,
	                                  &f->e),
	                 -1);
}

static void the_list_is_newest_last_and_limited(void **state)
{
	struct fixture *f = *state;
	struct sweep *list;
	size_t n;

	fixture_submit(f, 0);
	fixture_submit(f, 0);
	OK(store_sweep_list(f->s, 0, f->a, &list, &n, &f->e));
	assert_int_equal(n, 3);
	OK(store_sweep_list(f->s, 2, f->a, &list, &n, &f->e));
	assert_int_equal(n, 2);
	assert_int_equal(list[0].id, 2);
	assert_int_equal(list[1].id, 3);
}

static void workloads_come_back_as_submitted(void **state)
{
	struct fixture *f = *state;
	struct workload_param params[] = { { "bs", "8KiB" }, { "size", "2x ram" } };
	struct sweep_workload *w;
	int64_t id;
	size_t n;

	f->plan_workloads[1].params = params;
	f->plan_workloads[1].n_params = 2;
	f->plan_workloads[1].name = "again";
	id = fixture_submit(f, 0);
	OK(store_sweep_workloads(f->s, id, f->a, &w, &n, &f->e));
	assert_int_equal(n, 2);
	assert_string_equal(w[0].name, "dd-write");
	assert_string_equal(w[1].name, "again");
	assert_string_equal(w[1].definition->name, "dd-read");
	assert_int_equal(w[1].n_params, 2);
	assert_string_equal(w[1].params[1].value, "2x ram");
	store_sweep_workloads_done(w, n);
}

static void a_stored_definition_that_is_damaged_is_named(void **state)
{
	struct fixture *f = *state;
	struct sweep_workload *w;
	size_t n;

	fixture_sql(f, "UPDATE workload SET definition = 'workload: [' WHERE name = 'dd-read'");
	assert_int_equal(store_sweep_workloads(f->s, f->sweep, f->a, &w, &n, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_STORE);
	assert_true(text_starts(f->e.text, "the stored definition of workload 'dd-read' cannot be read: line "));
}

/* ---- the undo journal ---- */

static int64_t undo_add(struct fixture *f, const char *object, const char *original)
{
	struct undo_entry u = { .boot_id = "b", .step = "queue", .kind = "sysfs", .object = object, .identity = "diskseq=9",
		                .original = original };
	int64_t id = 0;

	OK(store_undo_add(f->s, f->sweep, &u, &id, &f->e));
	return id;
}

static void the_first_original_counts_until_it_was_put_back(void **state)
{
	struct fixture *f = *state;
	int64_t first = undo_add(f, "/sys/block/sdb/queue/scheduler", "bfq");
	struct undo_entry *pending;
	size_t n;

	assert_int_equal(undo_add(f, "/sys/block/sdb/queue/scheduler", "none"), first);
	undo_add(f, "/sys/block/sdb/queue/nr_requests", "64");
	OK(store_undo_pending(f->s, f->sweep, f->a, &pending, &n, &f->e));
	assert_int_equal(n, 2);
	assert_string_equal(pending[0].object, "/sys/block/sdb/queue/nr_requests"); /* newest first */
	assert_string_equal(pending[1].original, "bfq");
	assert_string_equal(pending[1].identity, "diskseq=9");
	OK(store_undo_finish(f->s, first, "done", NULL, &f->e));
	assert_int_not_equal(undo_add(f, "/sys/block/sdb/queue/scheduler", "none"), first);
}

static void sweeps_left_running_or_with_something_to_undo_are_orphans(void **state)
{
	struct fixture *f = *state;
	int64_t running = fixture_submit(f, 0), *ids, undo;
	size_t n;

	fixture_submit(f, 0);
	OK(store_sweep_orphans(f->s, f->a, &ids, &n, &f->e));
	assert_int_equal(n, 0);
	undo = undo_add(f, "/sys/x", "1");
	OK(store_sweep_set_state(f->s, running, SWEEP_RUNNING, "", &f->e));
	OK(store_sweep_orphans(f->s, f->a, &ids, &n, &f->e));
	assert_int_equal(n, 2);
	assert_int_equal(ids[0], f->sweep);
	assert_int_equal(ids[1], running);
	OK(store_undo_finish(f->s, undo, "dropped", "another boot", &f->e));
	OK(store_sweep_orphans(f->s, f->a, &ids, &n, &f->e));
	assert_int_equal(n, 1);
}

/* ---- estimates ---- */

static void nothing_is_expected_of_a_workload_that_never_ran(void **state)
{
	struct fixture *f = *state;
	struct step_counts counts = { .cells = 6, .trials = 36, .cells_of = (const uint64_t[]){ 6, 6 } };
	double seconds = 0;

	OK(store_estimate(f->s, &f->plan, &counts, &seconds, &f->e));
	assert_true(seconds == -1);
}

static void an_estimate_adds_steps_and_trials(void **state)
{
	struct fixture *f = *state;
	struct step_time steps[] = { { "format", 3000000000, "done", NULL }, { "format", 1000000000, "undone", NULL },
		                     { "mount", 500000000, "done", NULL } };
	struct step_counts counts = { .cells = 6, .trials = 36, .cells_of = (const uint64_t[]){ 6, 6 },
		                      .steps = { [STEP_FORMAT] = 6, [STEP_MOUNT] = 2 } };
	struct cell c = fixture_cell(0, "xfs", "131072");
	enum cell_state before;
	double seconds = 0;
	int64_t cell;

	OK(store_cell_begin(f->s, f->sweep, &c, &cell, &before, &f->e));
	for (int r = 1; r <= 3; r++) {
		fixture_trial(f, cell, fixture_workload(f, 0), r, 100);
		fixture_trial(f, cell, fixture_workload(f, 1), r, 100);
	}
	OK(store_cell_end(f->s, cell, CELL_OK, "", steps, 3, &f->e));
	OK(store_estimate(f->s, &f->plan, &counts, &seconds, &f->e));
	/* 6 x (3 + 1) s of format, 2 x 0.5 s of mount, 6 cells x 3 trials x 2 workloads x 2 s */
	assert_true(seconds > 96.99 && seconds < 97.01);
}

static void an_estimate_goes_by_filesystem_where_it_is_known(void **state)
{
	struct fixture *f = *state;
	struct step_time fast[] = { { "format", 1000000000, "done", NULL } }, slow[] = { { "format", 9000000000, "done", NULL } };
	struct axis_value xfs = { .requested = "xfs", .value = "xfs" };
	struct plan_axis axis = { .name = "filesystem", .values = &xfs, .n = 1 };
	struct plan_block block = { .axes = &axis, .n = 1 };
	struct step_counts counts = { .cells = 0, .cells_of = (const uint64_t[]){ 0, 0 }, .steps = { [STEP_FORMAT] = 10 } };
	struct cell c[] = { fixture_cell(0, "xfs", "131072"), fixture_cell(1, "ext4", "131072") };
	enum cell_state before;
	double seconds = 0;
	int64_t cell;

	for (int i = 0; i < 2; i++) {
		OK(store_cell_begin(f->s, f->sweep, &c[i], &cell, &before, &f->e));
		fixture_trial(f, cell, fixture_workload(f, 0), 1, 100);
		fixture_trial(f, cell, fixture_workload(f, 1), 1, 100);
		OK(store_cell_end(f->s, cell, CELL_OK, "", i == 0 ? fast : slow, 1, &f->e));
	}
	f->plan.blocks = &block;
	f->plan.n_blocks = 1;
	OK(store_estimate(f->s, &f->plan, &counts, &seconds, &f->e));
	assert_true(seconds > 9.99 && seconds < 10.01);
	xfs.value = "btrfs"; /* never made here: whatever was */
	OK(store_estimate(f->s, &f->plan, &counts, &seconds, &f->e));
	assert_true(seconds > 49.99 && seconds < 50.01);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_submitted_sweep_is_read_back_whole),
		TEST(equal_plans_and_workloads_are_stored_once),
		TEST(two_names_for_one_workload_are_refused_and_nothing_is_stored),
		TEST(the_queue_goes_by_priority_then_by_age),
		TEST(states_set_times_and_leave_events),
		TEST(a_sweep_has_several_names),
		TEST(what_names_no_sweep_is_said),
		TEST(the_list_is_newest_last_and_limited),
		TEST(workloads_come_back_as_submitted),
		TEST(a_stored_definition_that_is_damaged_is_named),
		TEST(the_first_original_counts_until_it_was_put_back),
		TEST(sweeps_left_running_or_with_something_to_undo_are_orphans),
		TEST(nothing_is_expected_of_a_workload_that_never_ran),
		TEST(an_estimate_adds_steps_and_trials),
		TEST(an_estimate_goes_by_filesystem_where_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
