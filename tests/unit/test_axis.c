/* SPDX-License-Identifier: MIT
 *
 * The table of axes: which names are in it, and the canonical value or the exact refusal of each spelling.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>

#include "schema/axis.h"
#include "schema/base/text.h"
#include "schema/option_table.h"

static void assert_value(const char *axis, const char *spelling, const char *expected)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *value = NULL;
	struct err e = { 0 };

	if (axis_canonical(axis_find(axis), spelling, a, &value, &e) < 0)
		print_message("%s: %s: %s\n", axis, e.text, e.hint);
	assert_non_null(value);
	assert_string_equal(value, expected);
}

static void assert_refused(const char *axis, const char *spelling, const char *text, const char *hint)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char *value = "untouched";
	struct err e = { 0 };

	assert_int_equal(axis_canonical(axis_find(axis), spelling, a, &value, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.text, text);
	assert_string_equal(e.hint, hint);
	assert_string_equal(value, "untouched");
}

static void sizes_become_bytes(void **state)
{
	(void)state;
	assert_value("readahead", "2MiB", "2097152");
	assert_value("readahead", "2m", "2097152");
	assert_value("readahead", "0KiB", "0");
	assert_value("readahead", KERNEL_DEFAULT, KERNEL_DEFAULT);
	assert_value("queue.max_sectors_kb", "512KiB", "524288");
	assert_value("vm.dirty_bytes", "1GiB", "1073741824");
	assert_value("memory", "2GiB", "2147483648");
}

static void sectors_and_kibibytes_are_one_readahead(void **state)
{
	(void)state;
	assert_value("readahead", "4096sectors", "2097152");
	assert_value("readahead", "4096s", "2097152");
	assert_value("readahead", "2048KiB", "2097152");
	assert_refused("queue.max_sectors_kb", "1024s", "'1024s' has the unknown unit 's'",
	               "sectors are for readahead only: write KiB, MiB or GiB");
}

static void a_bare_readahead_names_both_readings(void **state)
{
	(void)state;
	assert_refused("readahead", "256",
	               "'256' has no unit: it could be 256 sectors of 512 bytes (as blockdev --setra takes, = 128KiB) or 256KiB",
	               "write 256sectors or 256KiB");
}

static void what_the_kernel_would_clamp_or_round_is_refused(void **state)
{
	(void)state;
	assert_refused("readahead", "777KiB", "'777KiB' is not a multiple of 4KiB: the kernel would keep another value",
	               "write 776KiB or 780KiB");
	assert_refused("readahead", "2GiB", "'2GiB' is out of range", "'readahead' is 0B to 1GiB");
	assert_refused("readahead", "-1", "'-1' is negative; a size is 0 or more", "");
	assert_refused("queue.nr_requests", "-1", "'-1' is out of range", "'queue.nr_requests' is 4 to 10240 requests");
	assert_refused("queue.nr_requests", "3", "'3' is out of range", "'queue.nr_requests' is 4 to 10240 requests");
	assert_refused("queue.wbt_lat_usec", "-1", "'-1' is out of range", "'queue.wbt_lat_usec' is 0 to 10000000 us");
	assert_refused("vm.dirty_ratio", "101", "'101' is out of range", "'vm.dirty_ratio' is 0 to 100 percent");
	assert_refused("vm.dirty_bytes", "4KiB", "'4KiB' is out of range", "'vm.dirty_bytes' is 8KiB to 1TiB");
	assert_refused("queue.rotational", "yes", "'yes' is not a whole number", "'queue.rotational' is 0 to 1");
}

static void times_carry_a_unit_unless_the_name_says_it(void **state)
{
	(void)state;
	assert_value("iosched.read_expire", "500ms", "500");
	assert_value("iosched.read_expire", "1s", "1000");
	assert_value("iosched.slice_idle_us", "8000", "8000");
	assert_value("queue.wbt_lat_usec", "2ms", "2000");
	assert_value("vm.dirty_expire_centisecs", "3000", "3000");
	assert_value("vm.dirty_expire_centisecs", "30s", "3000");
	assert_value("iosched.back_seek_max", "16MiB", "16384");
	assert_value("vm.dirty_ratio", "20%", "20");
	assert_value("vm.dirty_ratio", "20", "20");
	assert_refused("iosched.read_expire", "500", "'500' has no unit", "the kernel's unit here is ms: write 500ms");
	assert_refused("iosched.back_seek_max", "16384", "'16384' has no unit",
	               "the kernel's unit here is KiB: write 16384KiB");
	assert_refused("vm.dirty_expire_centisecs", "5ms", "'5ms' is not a whole number of centiseconds",
	               "'vm.dirty_expire_centisecs' is 0 to 2147483647");
}

static void schedulers_with_one_successor_become_it(void **state)
{
	(void)state;
	assert_value("scheduler", "deadline", "mq-deadline");
	assert_value("scheduler", "mq-deadline", "mq-deadline");
	assert_value("scheduler", "noop", "none");
	assert_value("scheduler", "cfq", "cfq");
	assert_refused("scheduler", "none\n", "'none\n' is not a scheduler's name",
	               "write none, mq-deadline, bfq or kyber");
}

static void choices_are_listed_when_missed(void **state)
{
	(void)state;
	assert_value("queue.write_cache", "write back", "write back");
	assert_refused("queue.write_cache", "writeback", "'writeback' is not a value of 'queue.write_cache'",
	               "write 'write back' or 'write through'");
	assert_refused("layout", "md", "'md' is not a value of 'layout'", "write 'plain'");
}

static void labels_are_free_text_on_one_line(void **state)
{
	char longest[300];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_value("label.hw", "24 disks, RAID 10", "24 disks, RAID 10");
	assert_refused("label.hw", "", "an empty text is not a value", "");
	assert_refused("label.hw", "a\nb", "a control character or line break in a value", "");
	assert_refused("label.hw", longest, "a text of 299 bytes: 256 are the most", "");
}

static void names_outside_the_table_are_unknown(void **state)
{
	static const char *const names[] = {
		"sysctl.kernel.core_pattern", "vm.core_pattern", "queue.../../../../proc/sys/kernel/core_pattern", "queue/scheduler",
		"label.", "label.a.b", "label.a/b", "label...", "workload.", "", ".", "queue.", "vm.dirty_ratio ", "readahead.x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_null(axis_find(names[i]));
	assert_string_equal(axis_find("label.hw")->name, "label.");
	assert_string_equal(axis_find("vm.dirty_ratio")->attr, "dirty_ratio");
}

static void the_nearest_name_is_offered(void **state)
{
	(void)state;
	assert_string_equal(axis_nearest("nr_requests"), "queue.nr_requests");
	assert_string_equal(axis_nearest("sysctl.vm.dirty_ratio"), "vm.dirty_ratio");
	assert_string_equal(axis_nearest("read_ahead_kb"), "readahead");
	assert_string_equal(axis_nearest("readahaed"), "readahead");
	assert_string_equal(axis_nearest("elevator"), "scheduler");
	assert_string_equal(axis_nearest("lable.hw"), "label.");
	assert_null(axis_nearest("sysctl.kernel.core_pattern"));
}

static void every_row_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < axis_table_n; i++) {
		const struct axis *row = &axis_table[i];

		assert_non_null(row->unit);
		assert_true(strlen(row->about) > 10);
		assert_true(row->min <= row->max);
		assert_int_equal(row->kind == AXIS_CHOICE, row->choices != NULL);
		if (row->kind == AXIS_SIZE)
			assert_true(row->granule > 0 && row->min % row->granule == 0 && row->max % row->granule == 0);
		if (row->place != AXIS_NOWHERE)
			assert_non_null(row->attr);
		if (row->name[strlen(row->name) - 1] != '.')
			assert_ptr_equal(axis_find(row->name), row);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(axis_table[j].name, row->name);
	}
	assert_non_null(axis_find("md.stripe_cache_size")->not_yet);
}

static void assert_in_manual(const char *manual, const char *before, const char *name, const char *after)
{
	AUTO_FREE char *wanted = xasprintf("%s%s%s", before, name, after);

	if (strstr(manual, wanted) == NULL)
		print_message("man/iosweep-plan.5 lacks '%s'\n", wanted);
	assert_non_null(strstr(manual, wanted));
}

static void the_manual_lists_every_axis_and_option(void **state)
{
	AUTO_TEXT struct text manual = { 0 };

	(void)state;
	assert_int_equal(file_read(AT_FDCWD, "man/iosweep-plan.5", 1 << 20, &manual, NULL), 0);
	for (size_t i = 0; i < axis_table_n; i++)
		assert_in_manual(text_str(&manual), ".It Ic ", axis_table[i].name, "");
	for (const struct option_family *f = option_families; f->name != NULL; f++)
		for (const struct option_letter *l = f->letters; l->letter.key != NULL; l++) {
			assert_in_manual(text_str(&manual), ".Fl ", l->letter.key + 1, "");
			for (const struct option_key *k = l->keys; k != NULL && k->key != NULL; k++)
				assert_in_manual(text_str(&manual), " ", k->key, " ");
		}
	for (const struct option_key *k = option_mount_keys; k->key != NULL; k++)
		assert_in_manual(text_str(&manual), "", k->key, k->grammar == VALUE_NONE ? "" : "=");
}

static void steps_have_names(void **state)
{
	(void)state;
	assert_string_equal(step_name(STEP_CLAIM), "claim");
	assert_string_equal(step_name(STEP_CONFINE), "confine");
	assert_string_equal(step_name(N_STEPS), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_become_bytes),
		cmocka_unit_test(sectors_and_kibibytes_are_one_readahead),
		cmocka_unit_test(a_bare_readahead_names_both_readings),
		cmocka_unit_test(what_the_kernel_would_clamp_or_round_is_refused),
		cmocka_unit_test(times_carry_a_unit_unless_the_name_says_it),
		cmocka_unit_test(schedulers_with_one_successor_become_it),
		cmocka_unit_test(choices_are_listed_when_missed),
		cmocka_unit_test(labels_are_free_text_on_one_line),
		cmocka_unit_test(names_outside_the_table_are_unknown),
		cmocka_unit_test(the_nearest_name_is_offered),
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(the_manual_lists_every_axis_and_option),
		cmocka_unit_test(steps_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
