/* SPDX-License-Identifier: MIT
 *
 * The queue's policy, by table: what runs next among these sweeps?
 */
// LINK: daemon/queue.c
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/queue.h"
#include "schema/base/mem.h"

struct given {
	int64_t id; /* 0 ends */
	int priority;
	const char *target;
	enum queue_state state;
};

static const struct row {
	const char *what;
	struct given sweeps[5];
	const char *aside;
	int64_t next; /* 0: none */
} rows[] = {
	{ "an empty queue", { { 0 } }, NULL, 0 },
	{ "one that waits", { { 7, 0, "device 'a'", QUEUE_WAITING } }, NULL, 7 },
	{ "the first submitted of equals", { { 9, 0, "x", QUEUE_WAITING }, { 4, 0, "x", QUEUE_WAITING }, { 6, 0, "x", QUEUE_WAITING } },
	  NULL, 4 },
	{ "the higher priority before the earlier", { { 1, 0, "x", QUEUE_WAITING }, { 2, 5, "x", QUEUE_WAITING } }, NULL, 2 },
	{ "a negative priority last", { { 1, -1, "x", QUEUE_WAITING }, { 2, 0, "x", QUEUE_WAITING } }, NULL, 2 },
	{ "not a paused one", { { 1, 9, "x", QUEUE_HELD }, { 2, 0, "x", QUEUE_WAITING } }, NULL, 2 },
	{ "none but paused ones", { { 1, 9, "x", QUEUE_HELD } }, NULL, 0 },
	{ "nothing while one runs, whatever its target", { { 1, 0, "x", QUEUE_RUNNING }, { 2, 99, "y", QUEUE_WAITING } }, NULL, 0 },
	{ "not on a target put aside", { { 1, 9, "x", QUEUE_WAITING }, { 2, 0, "y", QUEUE_WAITING } }, "x", 2 },
	{ "none where all targets are put aside", { { 1, 9, "x", QUEUE_WAITING } }, "x", 0 },
};

static void the_next_sweep_is_chosen_by_priority_then_age(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct queue q = { 0 };
		const struct queue_entry *next;

		for (const struct given *g = rows[i].sweeps; g->id != 0; g++)
			assert_int_equal(queue_add(&q, g->id, g->priority, g->target, g->state, NULL), 0);
		if (rows[i].aside != NULL)
			queue_put_aside(&q, rows[i].aside);
		next = queue_next(&q);
		if ((next == NULL ? 0 : next->sweep_id) != rows[i].next)
			fail_msg("%s: %lld is next", rows[i].what, next == NULL ? 0LL : (long long)next->sweep_id);
		queue_done(&q);
	}
}

static void a_sweep_that_awaits_its_device_is_held_until_it_is_released(void **state)
{
	struct queue q = { 0 };

	(void)state;
	for (int64_t id = 1; id <= 4; id++)
		assert_int_equal(queue_add(&q, id, 0, "x", QUEUE_WAITING, NULL), 0);
	queue_hold(queue_find(&q, 1), false);
	queue_hold(queue_find(&q, 2), true);
	queue_hold(queue_find(&q, 3), true);
	assert_int_equal(queue_next(&q)->sweep_id, 4);
	assert_int_equal(queue_next_awaiting(&q, 0)->sweep_id, 2);
	assert_int_equal(queue_next_awaiting(&q, 2)->sweep_id, 3);
	assert_null(queue_next_awaiting(&q, 3));
	queue_hold(queue_find(&q, 2), false); /* somebody wants it to stay */
	queue_release(queue_find(&q, 3));
	assert_null(queue_next_awaiting(&q, 0));
	assert_int_equal(queue_next(&q)->sweep_id, 3);
	queue_done(&q);
}

static void a_removed_sweep_is_gone_and_the_others_stay(void **state)
{
	struct queue q = { 0 };

	(void)state;
	for (int64_t id = 1; id <= 20; id++)
		queue_add(&q, id, 0, "x", QUEUE_WAITING, NULL);
	queue_remove(&q, 1);
	queue_remove(&q, 20);
	queue_remove(&q, 77);
	assert_null(queue_find(&q, 1));
	assert_null(queue_find(&q, 20));
	assert_int_equal(q.n, 18);
	assert_int_equal(queue_next(&q)->sweep_id, 2);
	queue_done(&q);
}

static void the_queue_has_a_limit(void **state)
{
	struct queue q = { 0 };
	struct err e = { 0 };

	(void)state;
	for (int64_t id = 1; id <= QUEUE_MAX; id++)
		assert_int_equal(queue_add(&q, id, 0, "x", QUEUE_HELD, &e), 0);
	assert_int_equal(queue_add(&q, QUEUE_MAX + 1, 0, "x", QUEUE_WAITING, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_string_equal(e.text, "the queue is full: 10000 sweeps have not ended");
	queue_done(&q);
}

static void a_sweep_is_restarted_three_times_in_a_row(void **state)
{
	struct queue q = { 0 };
	struct queue_entry *entry;

	(void)state;
	queue_add(&q, 1, 0, "x", QUEUE_RUNNING, NULL);
	entry = queue_find(&q, 1);
	assert_true(queue_crashed(entry, 0));
	assert_true(queue_crashed(entry, 0));
	assert_true(queue_crashed(entry, 0));
	assert_false(queue_crashed(entry, 0));
	assert_int_equal(entry->crashes, 4);
	queue_done(&q);
}

static void a_good_trial_in_between_ends_the_row_of_crashes(void **state)
{
	struct queue q = { 0 };
	struct queue_entry *entry;

	(void)state;
	queue_add(&q, 1, 0, "x", QUEUE_RUNNING, NULL);
	entry = queue_find(&q, 1);
	for (int64_t trials = 1; trials < 50; trials++)
		assert_true(queue_crashed(entry, trials));
	queue_done(&q);
}

static void a_target_put_aside_twice_is_readmitted_once(void **state)
{
	struct queue q = { 0 };

	(void)state;
	queue_put_aside(&q, "device 'a'");
	queue_put_aside(&q, "device 'a'");
	queue_put_aside(&q, "device 'b'");
	queue_readmit(&q, "device 'a'");
	queue_readmit(&q, "device 'c'");
	assert_false(queue_is_aside(&q, "device 'a'"));
	assert_true(queue_is_aside(&q, "device 'b'"));
	queue_done(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_sweep_is_chosen_by_priority_then_age),
		cmocka_unit_test(a_sweep_that_awaits_its_device_is_held_until_it_is_released),
		cmocka_unit_test(a_removed_sweep_is_gone_and_the_others_stay),
		cmocka_unit_test(the_queue_has_a_limit),
		cmocka_unit_test(a_sweep_is_restarted_three_times_in_a_row),
		cmocka_unit_test(a_good_trial_in_between_ends_the_row_of_crashes),
		cmocka_unit_test(a_target_put_aside_twice_is_readmitted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
