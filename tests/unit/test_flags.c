/* SPDX-License-Identifier: MIT
 *
 * What makes a good trial doubtful, from counters alone; and the frames that the helper's answers come in.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/worker/flags.h"
#include "daemon/worker/frame.h"
#include "daemon/worker/probe.h"

#define MIB INT64_C(1048576)

static struct io_count count_of(int64_t read, int64_t written, int64_t disk_read)
{
	return (struct io_count){ true, { read, written }, { disk_read, written } };
}

static void nothing_is_flagged_on_a_quiet_device(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial_io io = { count_of(0, 0, 0), count_of(0, 4096, 0), count_of(512 * MIB, 4096, 512 * MIB), 512 * MIB, false };
	struct measured m = { .name = "throughput", .unit = "B/s", .value = 512e6 };
	struct flags f = { 0 };

	(void)state;
	flags_foreign(&f, a, &io);
	flags_cached(&f, a, &io, true, &m, 1, 1000000000);
	assert_int_equal(f.n, 0);
}

static void bytes_that_move_while_nothing_of_ours_runs_disturb(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial_io io = { count_of(0, 0, 0), count_of(2 * MIB, MIB, 2 * MIB), count_of(2 * MIB, MIB, 2 * MIB), 0, false };
	struct flags f = { 0 };

	(void)state;
	flags_foreign(&f, a, &io);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.at[0].flag, "disturbed");
	assert_string_equal(f.at[0].reason, "3MiB moved on the target while nothing of ours ran");
}

static void io_on_the_rest_of_the_disk_disturbs_a_partition(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial_io io = { count_of(0, 0, 0), count_of(0, 0, 0), count_of(100 * MIB, 0, 120 * MIB), 100 * MIB, false };
	struct flags f = { 0 };

	(void)state;
	flags_foreign(&f, a, &io);
	assert_string_equal(f.at[0].reason, "20MiB moved on the rest of the disk");
}

static void reads_that_no_tool_of_ours_made_disturb(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial_io io = { count_of(0, 0, 0), count_of(0, 0, 0), count_of(400 * MIB, 0, 400 * MIB), 100 * MIB, false };
	struct flags f = { 0 };

	(void)state;
	flags_foreign(&f, a, &io);
	assert_string_equal(f.at[0].reason, "400MiB were read from the target, 100MiB of them by our tools");
	io.is_shared = true; /* a directory: the device serves others by right */
	f.n = 0;
	flags_foreign(&f, a, &io);
	assert_int_equal(f.n, 0);
}

static void a_read_that_the_device_did_not_see_is_cached(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial_io io = { count_of(0, 0, 0), count_of(0, 0, 0), count_of(MIB, 0, MIB), MIB, false };
	struct measured m[] = { { .name = "cpu", .unit = "%", .value = 1e12 },
		                { .name = "throughput", .unit = "B/s", .value = 64.0 * 1048576 } };
	struct flags f = { 0 };

	(void)state;
	flags_cached(&f, a, &io, true, m, 2, 1000000000);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.at[0].flag, "cached");
	assert_string_equal(f.at[0].reason, "the device moved 1MiB for about 64MiB read");
	f.n = 0;
	flags_cached(&f, a, &io, false, m, 2, 1000000000); /* a write workload is not asked */
	assert_int_equal(f.n, 0);
}

static void a_tool_that_reads_for_a_part_of_its_run_is_not_cached(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct trial_io io = { count_of(0, 0, 0), count_of(0, 0, 0), count_of(300 * MIB, 0, 300 * MIB), 300 * MIB, false };
	struct measured m[] = { { .name = "throughput", .unit = "B/s", .value = 100.0 * 1048576 },
		                { .name = "cached_reads", .unit = "B/s", .value = 1e10, .better = BETTER_NEITHER },
		                { .name = "read_total", .unit = "B", .value = 300.0 * 1048576, .better = BETTER_NEITHER } };
	struct flags f = { 0 };

	(void)state;
	flags_cached(&f, a, &io, true, m, 3, INT64_C(60000000000)); /* most of it a sync before */
	assert_int_equal(f.n, 0);
	m[2].value = 1200.0 * 1048576; /* but what it says that it read is held against the device */
	flags_cached(&f, a, &io, true, m, 3, INT64_C(60000000000));
	assert_string_equal(f.at[0].reason, "the device moved 300MiB for about 1200MiB read");
}

static void one_flag_collects_all_its_reasons(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct flags f = { 0 };

	(void)state;
	flag_add(&f, a, "disturbed", "a %d", 1);
	flag_add(&f, a, "suspect", "b");
	flag_add(&f, a, "disturbed", "c");
	assert_int_equal(f.n, 2);
	assert_string_equal(f.at[0].reason, "a 1; c");
}

static void the_stat_file_counts_in_sectors_of_512_bytes(void **state)
{
	struct io_bytes b;

	(void)state;
	assert_true(iostat_parse("  331412   146031 19163665   102000  88 9 2048 7 0 1 2\n", &b));
	assert_int_equal(b.read, INT64_C(19163665) * 512);
	assert_int_equal(b.written, 2048 * 512);
	assert_false(iostat_parse("nothing of the kind", &b));
}

static void frames_carry_numbers_and_strings_through_a_socket(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text out = { 0 }, in = { 0 };
	struct frame_reader r;
	struct err e = { 0 };
	int ends[2];
	size_t n;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	frame_add_number(&out, -5);
	frame_add_real(&out, 0.25);
	frame_add_bytes(&out, "a\0b", 3);
	frame_add_string(&out, "end");
	assert_int_equal(frame_send(ends[0], &out, clock_ns() + 1000000000, &e), 0);
	assert_int_equal(frame_receive(ends[1], clock_ns() + 1000000000, &in, &e), 0);
	r = (struct frame_reader){ .at = in.s, .left = in.n };
	assert_int_equal(frame_number(&r), -5);
	assert_true(frame_real(&r) == 0.25);
	assert_memory_equal(frame_bytes(&r, &n), "a\0b", 3);
	assert_int_equal(n, 3);
	assert_string_equal(frame_string(&r, a), "end");
	assert_false(r.is_bad);
	assert_int_equal(frame_number(&r), 0); /* past the end */
	assert_true(r.is_bad);
	assert_int_equal(frame_receive(ends[1], clock_ns() + 20000000, &in, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	close(ends[0]);
	assert_int_equal(frame_receive(ends[1], clock_ns() + 1000000000, &in, &e), -1);
	assert_int_equal(e.kind, ERR_UNREACHABLE);
	close(ends[1]);
}

static void a_length_beyond_the_frame_is_bad_and_not_followed(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text t = { 0 };
	struct frame_reader r;

	(void)state;
	frame_add_number(&t, INT64_C(1) << 40);
	text_add(&t, "short");
	r = (struct frame_reader){ .at = t.s, .left = t.n };
	assert_string_equal(frame_string(&r, a), "");
	assert_true(r.is_bad);
	r = (struct frame_reader){ .at = t.s, .left = t.n };
	assert_int_equal(frame_count(&r, 8), 0);
	assert_true(r.is_bad);
}

static void files_say_what_counters_cannot(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct extents good = { .bytes = 512 * MIB, .holes = MIB / 2, .unwritten = MIB / 4 };
	struct extents bad = { .bytes = 64 * MIB, .holes = 8 * MIB, .unwritten = 16 * MIB, .encoded = 40 * MIB };
	struct flags f = { 0 };

	(void)state;
	flags_unwritten(&f, a, &good);
	flags_compressible(&f, a, &good);
	flags_small(&f, a, 512 * MIB, 512 * MIB);
	flags_small(&f, a, 0, 512 * MIB);
	assert_int_equal(f.n, 0);
	flags_unwritten(&f, a, &bad);
	flags_compressible(&f, a, &bad);
	flags_small(&f, a, 64 * MIB, 512 * MIB);
	assert_int_equal(f.n, 3);
	assert_string_equal(f.at[0].reason, "of 64MiB in the work directory 8MiB are holes and 16MiB are preallocated");
	assert_string_equal(f.at[1].reason,
	                    "compressible data: 40MiB of 64MiB in the work directory are stored compressed");
	assert_string_equal(f.at[2].flag, "small");
	assert_string_equal(f.at[2].reason, "the files are 64MiB, less than the memory of 512MiB");
}

/* Kernel workers come and go: one that ended takes its past with it, a number may be used again. */
static void time_of_kernel_threads_is_never_less_than_none(void **state)
{
	struct probe_thread before[] = { { 10, 1, 500 }, { 11, 1, 700 }, { 12, 1, 30 } };
	struct probe_thread after[] = { { 10, 1, 520 }, { 12, 9000, 5 }, { 13, 9000, 25 } };
	struct probe b = { .has_threads = true, .threads = before, .n_threads = 3 };
	struct probe a = { .has_threads = true, .threads = after, .n_threads = 3 };

	(void)state;
	assert_true(probe_kernel(&b, &a) == 50.0 / (double)sysconf(_SC_CLK_TCK));
	b.n_threads = 0;
	a.n_threads = 0;
	assert_true(probe_kernel(&b, &a) == 0);
}

static void threads_of_other_devices_serve_somebody_else(void **state)
{
	static const struct probe_stack md = { { "md127", "sda", "sdb" }, 3 }, unknown = { .n = 0 };
	static const char *const ours[] = { "md127_raid5", "md127_resync", "jbd2/md127-8", "xfsaild/md127", "kworker/u8:1-loop3", "kswapd0",
		                            "kworker/0:1H-xfs-log/dm-0", "btrfs-transacti", "mdadm-like" };
	static const char *const others[] = { "md5_raid6", "md1_raid5", "jbd2/sda1-8", "jbd2/md5-8", "xfsaild/dm-0", "loop3" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		assert_true(probe_thread_serves(ours[i], strlen(ours[i]), &md));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_false(probe_thread_serves(others[i], strlen(others[i]), &md));
		assert_true(probe_thread_serves(others[i], strlen(others[i]), &unknown));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_flagged_on_a_quiet_device),
		cmocka_unit_test(bytes_that_move_while_nothing_of_ours_runs_disturb),
		cmocka_unit_test(io_on_the_rest_of_the_disk_disturbs_a_partition),
		cmocka_unit_test(reads_that_no_tool_of_ours_made_disturb),
		cmocka_unit_test(a_read_that_the_device_did_not_see_is_cached),
		cmocka_unit_test(a_tool_that_reads_for_a_part_of_its_run_is_not_cached),
		cmocka_unit_test(one_flag_collects_all_its_reasons),
		cmocka_unit_test(files_say_what_counters_cannot),
		cmocka_unit_test(time_of_kernel_threads_is_never_less_than_none),
		cmocka_unit_test(the_stat_file_counts_in_sectors_of_512_bytes),
		cmocka_unit_test(frames_carry_numbers_and_strings_through_a_socket),
		cmocka_unit_test(a_length_beyond_the_frame_is_bad_and_not_followed),
		cmocka_unit_test(threads_of_other_devices_serve_somebody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
