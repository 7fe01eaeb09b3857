/* SPDX-License-Identifier: MIT
 *
 * The runner of the step table, on a table of its own whose steps only say that they were called.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/worker/runner.h"
#include "schema/axis.h"

static struct {
	struct text calls;
	const char *run_fails, *undo_fails, *other_undo_fails; /* names of steps */
	const char *left_out;                                  /* a step that does not apply */
	int cancel_fd_in_undo, cancel_fd_in_run;
	bool was_moving_on;
	int64_t described_ns; /* what format says its describing tool took */
	const struct cell *cell_in_run;
} seen;

static int said_run(struct worker *w, const char *name, struct err *e)
{
	text_printf(&seen.calls, "+%s ", name);
	seen.cancel_fd_in_run = w->tools.cancel_fd;
	seen.cell_in_run = w->cell;
	if (seen.run_fails != NULL && strcmp(seen.run_fails, name) == 0)
		return err_set(e, ERR_INFEASIBLE, "no such %s", name);
	if (strcmp(name, "format") == 0)
		w->step_detail = xstrdup("block size 4096");
	if (strcmp(name, "format") == 0)
		w->described_ns = seen.described_ns;
	return 0;
}

static int said_undo(struct worker *w, const char *name, struct err *e)
{
	text_printf(&seen.calls, "-%s ", name);
	seen.cancel_fd_in_undo = w->tools.cancel_fd;
	seen.was_moving_on = w->is_moving_on;
	if ((seen.undo_fails != NULL && strcmp(seen.undo_fails, name) == 0) ||
	    (seen.other_undo_fails != NULL && strcmp(seen.other_undo_fails, name) == 0))
		return err_set(e, ERR_BUSY, "%s is stuck", name);
	return 0;
}

#define STEP(name_) \
	static int fake_##name_##_run(struct worker *w, struct err *e) \
	{ \
		return said_run(w, #name_, e); \
	} \
	static int fake_##name_##_undo(struct worker *w, struct err *e) \
	{ \
		return said_undo(w, #name_, e); \
	} \
	static bool fake_##name_##_applies(const struct worker *w) \
	{ \
		(void)w; \
		return seen.left_out == NULL || strcmp(seen.left_out, #name_) != 0; \
	}
#define ROW(name_) { #name_, fake_##name_##_run, fake_##name_##_undo, fake_##name_##_applies }

STEP(claim)
STEP(layout)
STEP(queue)
STEP(format)
STEP(mount)
STEP(tune)
STEP(confine)

static const struct step table[N_STEPS] = { ROW(claim), ROW(layout), ROW(queue), ROW(format), ROW(mount), ROW(tune),
	                                    ROW(confine) };

struct fixture {
	struct worker w;
	struct runner r;
	struct err e;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	memset(&seen, 0, sizeof(seen));
	seen.left_out = "layout";
	f->w.tools.cancel_fd = 77;
	f->r = (struct runner){ .table = table, .w = &f->w, .fresh = FRESH_FILESYSTEM };
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	runner_times_clear(&f->r);
	free(f->w.step_detail);
	text_done(&seen.calls);
	free(f);
	return 0;
}

static struct cell cell_of(const char *filesystem, const char *readahead, const char *scheduler, const char *label)
{
	struct cell c = { .n = 4 };

	c.at[0] = (struct setting){ "filesystem", axis_find("filesystem"), filesystem, filesystem };
	c.at[1] = (struct setting){ "label.hw", axis_find("label.hw"), label, label };
	c.at[2] = (struct setting){ "readahead", axis_find("readahead"), readahead, readahead };
	c.at[3] = (struct setting){ "scheduler", axis_find("scheduler"), scheduler, scheduler };
	return c;
}

static int change(struct fixture *f, const char *filesystem, const char *readahead, const char *scheduler,
                  const char *label)
{
	struct cell c = cell_of(filesystem, readahead, scheduler, label);

	text_clear(&seen.calls);
	return runner_change(&f->r, &c, &f->e);
}

static void the_first_cell_runs_every_step_that_applies_from_the_bottom_up(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	assert_string_equal(text_str(&seen.calls), "+claim +queue +format +mount +tune +confine ");
	assert_ptr_equal(seen.cell_in_run, &f->r.cell);
	assert_int_equal(seen.cancel_fd_in_run, 77);
}

static void only_what_differs_and_what_stands_on_it_is_done_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	assert_int_equal(change(f, "ext4", "8192", "none", "a"), 0);
	assert_string_equal(text_str(&seen.calls), "-confine -tune +tune +confine ");
	assert_true(seen.was_moving_on);
	assert_false(f->w.is_moving_on);
	assert_int_equal(change(f, "xfs", "8192", "none", "a"), 0);
	assert_string_equal(text_str(&seen.calls), "-confine -tune -mount -format +format +mount +tune +confine ");
	assert_int_equal(change(f, "xfs", "8192", "bfq", "a"), 0);
	assert_string_equal(text_str(&seen.calls),
	                    "-confine -tune -mount -format -queue +queue +format +mount +tune +confine ");
}

static void cells_that_differ_in_a_label_alone_share_everything(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	assert_int_equal(change(f, "ext4", "4096", "none", "b"), 0);
	assert_string_equal(text_str(&seen.calls), "");
}

static void a_fresh_filesystem_for_every_cell_counts_format_as_different(void **state)
{
	struct fixture *f = *state;

	f->r.fresh = FRESH_CELL;
	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	assert_int_equal(change(f, "ext4", "8192", "none", "a"), 0);
	assert_string_equal(text_str(&seen.calls), "-confine -tune -mount -format +format +mount +tune +confine ");
}

static void a_fresh_filesystem_for_every_trial_leaves_the_queue_alone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	text_clear(&seen.calls);
	assert_int_equal(runner_refresh(&f->r, &f->e), 0);
	assert_string_equal(text_str(&seen.calls), "-confine -tune -mount -format +format +mount +tune +confine ");
}

static void a_step_that_fails_is_undone_and_the_next_cell_goes_on_from_below_it(void **state)
{
	struct fixture *f = *state;

	seen.run_fails = "mount";
	assert_int_equal(change(f, "ext4", "4096", "none", "a"), -1);
	assert_string_equal(text_str(&seen.calls), "+claim +queue +format +mount -mount ");
	assert_string_equal(f->e.text, "mount: no such mount");
	assert_int_equal(f->e.kind, ERR_INFEASIBLE);
	assert_false(f->r.has_undo_failed);
	seen.run_fails = NULL;
	assert_int_equal(change(f, "ext4", "8192", "none", "a"), 0);
	assert_string_equal(text_str(&seen.calls), "+mount +tune +confine ");
}

static void a_failed_undo_after_a_failed_step_is_remembered(void **state)
{
	struct fixture *f = *state;

	seen.run_fails = seen.undo_fails = "tune";
	assert_int_equal(change(f, "ext4", "4096", "none", "a"), -1);
	assert_string_equal(f->e.text, "tune: no such tune");
	assert_true(f->r.has_undo_failed);
	assert_string_equal(f->r.undo_error.text, "undo 'tune': tune is stuck");
}

static void every_undo_is_tried_and_the_first_failure_is_told(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	seen.undo_fails = "mount";
	seen.other_undo_fails = "queue";
	text_clear(&seen.calls);
	assert_int_equal(runner_down(&f->r, &f->e), -1);
	assert_string_equal(text_str(&seen.calls), "-confine -tune -mount -format -queue -claim ");
	assert_string_equal(f->e.text, "undo 'mount': mount is stuck");
	assert_false(seen.was_moving_on);
	text_clear(&seen.calls);
	assert_int_equal(runner_down(&f->r, &f->e), 0);
	assert_string_equal(text_str(&seen.calls), "");
}

static void nothing_runs_after_an_undo_that_failed_on_the_way(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	seen.undo_fails = "mount";
	assert_int_equal(change(f, "xfs", "4096", "none", "a"), -1);
	assert_string_equal(text_str(&seen.calls), "-confine -tune -mount -format ");
	assert_true(f->r.has_undo_failed);
}

static void undo_cannot_be_cancelled(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	assert_int_equal(runner_down(&f->r, &f->e), 0);
	assert_int_equal(seen.cancel_fd_in_undo, -1);
	assert_int_equal(f->w.tools.cancel_fd, 77);
}

static void times_and_details_of_every_step_are_kept(void **state)
{
	struct fixture *f = *state;

	seen.run_fails = "mount";
	assert_int_equal(change(f, "ext4", "4096", "none", "a"), -1);
	assert_int_equal(f->r.n_times, 5);
	assert_string_equal(f->r.times[2].step, "format");
	assert_string_equal(f->r.times[2].state, "done");
	assert_string_equal(f->r.times[2].detail, "block size 4096");
	assert_string_equal(f->r.times[3].step, "mount");
	assert_string_equal(f->r.times[3].state, "failed");
	assert_string_equal(f->r.times[4].state, "undone");
	assert_true(f->r.times[0].elapsed_ns >= 0);
	assert_null(f->w.step_detail);
	runner_times_clear(&f->r);
	assert_int_equal(f->r.n_times, 0);
}

static void a_tool_that_only_describes_has_a_time_of_its_own(void **state)
{
	struct fixture *f = *state;

	seen.described_ns = 7;
	assert_int_equal(change(f, "ext4", "4096", "none", "a"), 0);
	assert_string_equal(f->r.times[2].step, "format");
	assert_null(f->r.times[2].detail);
	assert_string_equal(f->r.times[3].step, "describe");
	assert_int_equal(f->r.times[3].elapsed_ns, 7);
	assert_string_equal(f->r.times[3].detail, "block size 4096");
	assert_string_equal(f->r.times[4].step, "mount");
}

static void the_step_table_has_a_row_for_every_step_under_its_stored_name(void **state)
{
	(void)state;
	for (int step = 0; step < N_STEPS; step++) {
		assert_string_equal(step_table[step].name, step_name((enum step_id)step));
		assert_non_null(step_table[step].run);
		assert_non_null(step_table[step].undo);
		assert_non_null(step_table[step].applies);
	}
}

static void on_a_directory_only_the_claim_applies_unless_a_sysctl_is_set(void **state)
{
	struct fixture *f = *state;
	struct cell c = cell_of(KERNEL_DEFAULT, KERNEL_DEFAULT, KERNEL_DEFAULT, "a");

	f->w.claimed.kind = TARGET_DIRECTORY;
	f->w.cell = &c;
	f->w.plan = &(struct plan){ .target.kind = TARGET_DIRECTORY };
	for (int step = 0; step < N_STEPS; step++)
		assert_int_equal(step_table[step].applies(&f->w), step == STEP_CLAIM);
	c.at[c.n++] = (struct setting){ "vm.dirty_ratio", axis_find("vm.dirty_ratio"), "30", "30" };
	assert_true(step_table[STEP_TUNE].applies(&f->w));
}

static void without_a_filesystem_there_is_nothing_to_make_or_mount(void **state)
{
	struct fixture *f = *state;
	struct cell c = cell_of("none", "4096", "none", "a");

	f->w.claimed.kind = TARGET_IMAGE;
	f->w.cell = &c;
	assert_false(step_table[STEP_FORMAT].applies(&f->w));
	assert_false(step_table[STEP_MOUNT].applies(&f->w));
	assert_true(step_table[STEP_QUEUE].applies(&f->w));
	assert_true(step_table[STEP_TUNE].applies(&f->w));
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_cell_runs_every_step_that_applies_from_the_bottom_up),
		TEST(only_what_differs_and_what_stands_on_it_is_done_again),
		TEST(cells_that_differ_in_a_label_alone_share_everything),
		TEST(a_fresh_filesystem_for_every_cell_counts_format_as_different),
		TEST(a_fresh_filesystem_for_every_trial_leaves_the_queue_alone),
		TEST(a_step_that_fails_is_undone_and_the_next_cell_goes_on_from_below_it),
		TEST(a_failed_undo_after_a_failed_step_is_remembered),
		TEST(every_undo_is_tried_and_the_first_failure_is_told),
		TEST(nothing_runs_after_an_undo_that_failed_on_the_way),
		TEST(undo_cannot_be_cancelled),
		TEST(times_and_details_of_every_step_are_kept),
		TEST(a_tool_that_only_describes_has_a_time_of_its_own),
		TEST(the_step_table_has_a_row_for_every_step_under_its_stored_name),
		TEST(on_a_directory_only_the_claim_applies_unless_a_sysctl_is_set),
		TEST(without_a_filesystem_there_is_nothing_to_make_or_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
