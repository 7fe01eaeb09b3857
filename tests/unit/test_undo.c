/* SPDX-License-Identifier: MIT
 *
 * The undo journal: saved before the change, replayed newest first, every entry tried; on a real store.
 */
#include "tests/unit/store_fixture.h"

#include "daemon/worker/steps.h"
#include "daemon/worker/undo.h"

static struct {
	struct text calls;
	const char *fails, *also_fails; /* objects */
} seen;

static int said_put_back(struct worker *w, const struct undo_entry *u, const char **ret_dropped, struct err *e)
{
	(void)w;
	text_printf(&seen.calls, "%s=%s ", u->object, u->original);
	*ret_dropped = strcmp(u->object, "gone") == 0 ? "the device is gone" : NULL;
	if ((seen.fails != NULL && strcmp(u->object, seen.fails) == 0) ||
	    (seen.also_fails != NULL && strcmp(u->object, seen.also_fails) == 0))
		return err_set(e, ERR_SYSTEM, "write: Input/output error");
	return 0;
}

static const struct undo_kind kinds[] = {
	{ "sysfs", true, said_put_back },
	{ "image", false, said_put_back },
};

static struct worker worker_of(struct fixture *f)
{
	struct worker w = { .store = f->s, .sweep_id = f->sweep, .boot_id = "boot-2" };

	text_clear(&seen.calls);
	seen.fails = seen.also_fails = NULL;
	snprintf(w.claimed.identity, sizeof(w.claimed.identity), "diskseq=9");
	return w;
}

static const char *journal(struct fixture *f)
{
	return fixture_sql(f,
	                   "SELECT group_concat(object || ':' || state || ':' || reason, ' ') FROM undo ORDER BY id");
}

static void an_original_is_saved_with_step_boot_and_identity(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_QUEUE, "sysfs", "/sys/block/loop0/queue/scheduler", "none", &f->e));
	assert_string_equal(fixture_sql(f, "SELECT boot_id || ' ' || step || ' ' || kind || ' ' || object || ' ' || identity || ' ' || "
	                                   "original || ' ' || state FROM undo"),
	                    "boot-2 queue sysfs /sys/block/loop0/queue/scheduler diskseq=9 none pending");
}

static void the_first_original_counts(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_QUEUE, "sysfs", "scheduler", "none", &f->e));
	OK(undo_save(&w, STEP_QUEUE, "sysfs", "scheduler", "bfq", &f->e));
	assert_string_equal(fixture_sql(f, "SELECT group_concat(original) FROM undo"), "none");
}

static void entries_are_put_back_newest_first_and_looked_at_twice(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_CLAIM, "image", "img", "", &f->e));
	OK(undo_save(&w, STEP_QUEUE, "sysfs", "readahead", "128", &f->e));
	OK(undo_save(&w, STEP_QUEUE, "sysfs", "scheduler", "none", &f->e));
	OK(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e));
	assert_string_equal(text_str(&seen.calls),
	                    "scheduler=none readahead=128 img= scheduler=none readahead=128 img= ");
	assert_string_equal(journal(f), "img:done: readahead:done: scheduler:done:");
	text_clear(&seen.calls);
	OK(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e));
	assert_string_equal(text_str(&seen.calls), "");
}

static void every_entry_is_tried_and_those_that_failed_stay_pending(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_CLAIM, "image", "img", "", &f->e));
	OK(undo_save(&w, STEP_QUEUE, "sysfs", "readahead", "128", &f->e));
	OK(undo_save(&w, STEP_QUEUE, "sysfs", "scheduler", "none", &f->e));
	seen.fails = "scheduler";
	seen.also_fails = "img";
	FAILS(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e), ERR_SYSTEM,
	      "2 of 3 changes could not be put back: put back 'scheduler': write: Input/output error");
	assert_string_equal(journal(f), "img:pending: readahead:done: scheduler:pending:");
	seen.fails = seen.also_fails = NULL;
	OK(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e));
	assert_string_equal(journal(f), "img:done: readahead:done: scheduler:done:");
}

static void kernel_state_of_another_boot_is_dropped_and_files_are_not(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_CLAIM, "image", "img", "", &f->e));
	OK(undo_save(&w, STEP_QUEUE, "sysfs", "scheduler", "none", &f->e));
	snprintf(w.boot_id, sizeof(w.boot_id), "boot-3");
	OK(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e));
	assert_string_equal(text_str(&seen.calls), "img= img= ");
	assert_string_equal(journal(f), "img:done: scheduler:dropped:the machine has been started anew since");
}

static void an_object_that_is_gone_is_dropped_with_the_reason(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_QUEUE, "sysfs", "gone", "none", &f->e));
	OK(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e));
	assert_string_equal(journal(f), "gone:dropped:the device is gone");
}

static void an_unknown_kind_is_not_silently_forgotten(void **state)
{
	struct fixture *f = *state;
	struct worker w = worker_of(f);

	OK(undo_save(&w, STEP_QUEUE, "firmware", "mode", "it", &f->e));
	FAILS(undo_replay_kinds(&w, kinds, ARRAY_SIZE(kinds), &f->e), ERR_STORE,
	      "1 of 1 changes could not be put back: the journal has an entry of the unknown kind 'firmware'");
	assert_string_equal(journal(f), "mode:pending:");
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_original_is_saved_with_step_boot_and_identity),
		TEST(the_first_original_counts),
		TEST(entries_are_put_back_newest_first_and_looked_at_twice),
		TEST(every_entry_is_tried_and_those_that_failed_stay_pending),
		TEST(kernel_state_of_another_boot_is_dropped_and_files_are_not),
		TEST(an_object_that_is_gone_is_dropped_with_the_reason),
		TEST(an_unknown_kind_is_not_silently_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
