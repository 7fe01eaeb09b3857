/* SPDX-License-Identifier: MIT
 *
 * Settings of the kernel: set, read back, put back, on a loop device of the test's own.
 */
#include "tests/unit/worker_fixture.h"

#include "daemon/worker/sysroot.h"

static int setup(void **state)
{
	struct fixture *f = xmalloc(sizeof(*f));

	fixture_new(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	sysroot_set("");
	setting_timeout_ns = 30 * INT64_C(1000000000);
	fixture_end(f);
	free(f);
	return 0;
}

static const char *const watched[] = { "scheduler", "nr_requests", "read_ahead_kb", "max_sectors_kb", "rotational", "write_cache",
	                               "wbt_lat_usec", "nomerges", "rq_affinity", "iostats", "add_random" };

/* All settings of the claimed loop device in one text. */
static char *queue_state(struct fixture *f)
{
	AUTO_TEXT struct text t = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		text_printf(&t, "%s=%s\n", watched[i], queue_value(f, watched[i]));
	return xstrdup(text_str(&t));
}

#define STATE_IS(f, before) \
	do { \
		AUTO_FREE char *now_ = queue_state(f); \
		assert_string_equal(now_, before); \
	} while (0)

static void settings_take_effect_and_go_back(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *before = NULL;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}",
	              "  filesystem: none\n  scheduler: bfq\n  queue.nr_requests: 77\n  queue.max_sectors_kb: 512KiB\n  queue.rotational: 1\n"
	              "  iosched.slice_idle: 0ms\n  readahead: 776KiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	before = queue_state(f);
	OK(queue_apply(&f->w, &f->e));
	OK(tune_apply(&f->w, &f->e));
	assert_string_equal(queue_value(f, "scheduler"), "bfq");
	assert_string_equal(queue_value(f, "nr_requests"), "77");
	assert_string_equal(queue_value(f, "max_sectors_kb"), "512");
	assert_string_equal(queue_value(f, "rotational"), "1");
	assert_string_equal(queue_value(f, "iosched/slice_idle"), "0");
	OK(settings_verify(&f->w, "after setting", &f->e));
	OK(tune_restore(&f->w, &f->e));
	OK(queue_restore(&f->w, &f->e));
	STATE_IS(f, before);
	OK(target_release(&f->w, &f->e));
	assert_int_equal(pending(f), 0);
}

static void a_cell_without_a_setting_finds_it_as_it_was(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *before = NULL;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}",
	              "  - {filesystem: none, scheduler: bfq, queue.nomerges: 2, readahead: 4MiB, iosched.low_latency: 0}\n"
	              "  - {filesystem: none, scheduler: bfq, label.x: y}\n  - {filesystem: none, label.x: z}\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	before = queue_state(f);
	for (int i = 0; i < 3; i++) {
		bool sets = strcmp(cell_get(&f->cell, "queue.nomerges")->value, "2") == 0;
		bool is_bfq = strcmp(cell_get(&f->cell, "scheduler")->value, "bfq") == 0;

		OK(queue_apply(&f->w, &f->e));
		OK(tune_apply(&f->w, &f->e));
		OK(settings_verify(&f->w, "after setting", &f->e));
		assert_string_equal(queue_value(f, "nomerges"), sets ? "2" : "0");
		if (sets)
			assert_string_equal(queue_value(f, "read_ahead_kb"), "4096");
		if (is_bfq)
			assert_string_equal(queue_value(f, "iosched/low_latency"), sets ? "0" : "1");
		if (!is_bfq)
			STATE_IS(f, before);
		f->w.is_moving_on = true;
		OK(tune_restore(&f->w, &f->e));
		OK(queue_restore(&f->w, &f->e));
		f->w.is_moving_on = false;
		fixture_cell(f);
	}
	OK(target_release(&f->w, &f->e));
}

static void what_a_dead_worker_left_is_put_back(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *before = NULL;
	char node[64], image[512];

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}",
	              "  filesystem: none\n  scheduler: kyber\n  queue.nr_requests: 64\n  readahead: 2MiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	before = queue_state(f);
	OK(queue_apply(&f->w, &f->e));
	OK(tune_apply(&f->w, &f->e));
	/* As by SIGKILL: the descriptors are closed, and nothing is remembered. */
	snprintf(node, sizeof(node), "%s", f->w.claimed.node);
	snprintf(image, sizeof(image), "%s", f->w.claimed.image_path);
	close(f->w.claimed.fd);
	free(f->w.claimed.queues[0]);
	unlink(f->w.claimed.private_node);
	claimed_init(&f->w.claimed);
	tunables_free(&f->w);
	assert_true(pending(f) > 3);
	OK(undo_replay(&f->w, &f->e));
	assert_int_equal(pending(f), 0);
	assert_int_equal(access(image, F_OK), -1);
	snprintf(f->w.claimed.node, sizeof(f->w.claimed.node), "%s", node);
	STATE_IS(f, before);
}

static void entries_of_another_boot_are_dropped(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: none\n  scheduler: kyber\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(queue_apply(&f->w, &f->e));
	snprintf(f->w.boot_id, sizeof(f->w.boot_id), "another boot");
	OK(undo_replay(&f->w, &f->e));
	assert_string_equal(queue_value(f, "scheduler"), "kyber");
	{
		char path[128];

		snprintf(path, sizeof(path), "%s/queue/scheduler", f->w.claimed.queues[0]);
		OK(setting_change(path, "none", &f->e));
	}
}

static void a_scheduler_that_is_not_built_in_is_infeasible(void **state)
{
	struct fixture *f = *state;
	char expected[400], raw[SETTING_TEXT], path[128];

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: none\n  scheduler: cfq\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	snprintf(path, sizeof(path), "%s/queue/scheduler", f->w.claimed.queues[0]);
	OK(setting_read_raw(path, raw, sizeof(raw), &f->e));
	snprintf(expected, sizeof(expected),
	         "set scheduler: scheduler 'cfq' is not in this kernel: '%.100s' offers %.100s", path, raw);
	FAILS(queue_apply(&f->w, &f->e), ERR_INFEASIBLE, expected);
}

static void a_value_that_the_kernel_refuses_is_infeasible(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: none\n  scheduler: none\n  queue.nr_requests: 10240\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	assert_int_equal(queue_apply(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_INFEASIBLE);
	assert_non_null(strstr(f->e.text, "the kernel refused '10240' for '/sys/block/loop"));
}

static void a_value_that_the_kernel_clamps_is_a_mismatch(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: none\n  queue.max_sectors_kb: 1GiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	assert_int_equal(queue_apply(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_MISMATCH);
	assert_non_null(strstr(f->e.text, "wrote '1048576', it reads '"));
}

static void a_setting_changed_behind_our_back_is_told(void **state)
{
	struct fixture *f = *state;
	AUTO_TEXT struct text changed = { 0 };
	char path[128];

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: none\n  queue.nomerges: 1\n  readahead: 256KiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(queue_apply(&f->w, &f->e));
	OK(tune_apply(&f->w, &f->e));
	OK(settings_verify(&f->w, "after setting", &f->e));
	OK(settings_changed(&f->w, &changed, &f->e));
	assert_string_equal(text_str(&changed), "");
	snprintf(path, sizeof(path), "%s/queue/read_ahead_kb", f->w.claimed.queues[0]);
	OK(setting_write(path, "64", &f->e));
	OK(settings_changed(&f->w, &changed, &f->e));
	assert_string_equal(text_str(&changed), "readahead: 262144 became 65536");
	FAILS(settings_verify(&f->w, "after the mount", &f->e), ERR_MISMATCH,
	      "after the mount: readahead: asked for 262144, it reads 65536");
}

static void a_sysctl_of_a_pair_goes_back_to_the_one_that_was_in_force(void **state)
{
	struct fixture *f = *state;
	char ratio[32], bytes[32];

	NEEDS_MACHINE();
	snprintf(ratio, sizeof(ratio), "%.30s", file_value("/proc/sys/vm/dirty_background_ratio"));
	snprintf(bytes, sizeof(bytes), "%.30s", file_value("/proc/sys/vm/dirty_background_bytes"));
	fixture_start(f, "{image: 64MiB}",
	              "  filesystem: none\n  vm.dirty_background_bytes: 64MiB\n  vm.swappiness: 61\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(tune_apply(&f->w, &f->e));
	assert_string_equal(file_value("/proc/sys/vm/dirty_background_bytes"), "67108864");
	OK(settings_verify(&f->w, "after setting", &f->e));
	OK(tune_restore(&f->w, &f->e));
	assert_string_equal(file_value("/proc/sys/vm/dirty_background_ratio"), ratio);
	assert_string_equal(file_value("/proc/sys/vm/dirty_background_bytes"), bytes);
}

/* Or the next cell would save what this one has set as the original. */
static void a_disk_that_cannot_be_saved_does_not_make_the_sysctls_forgotten(void **state)
{
	struct fixture *f = *state;
	AUTO_ARENA struct arena *a = arena_new();
	struct undo_entry *entries;
	size_t n;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: none\n  vm.dirty_background_bytes: 64MiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(tune_apply(&f->w, &f->e));
	free(f->w.claimed.queues[0]);
	f->w.claimed.queues[0] = xstrdup("/sys/block/nosuch");
	assert_int_equal(queue_baseline_save(&f->w, &f->e), -1);
	OK(sysctl_save(&f->w, "/proc/sys/vm/dirty_background_bytes", &f->e));
	OK(store_undo_pending(f->w.store, f->w.sweep_id, a, &entries, &n, &f->e));
	for (size_t i = 0; i < n; i++)
		assert_string_not_equal(entries[i].original, "67108864");
	OK(tune_restore(&f->w, &f->e));
}

/* ---- single settings, in a tree of the test's own ---- */

static void tree_make(struct fixture *f)
{
	char path[160];

	for (size_t i = 0; i < 4; i++) {
		static const char *const dirs[] = { "/sys", "/sys/block", "/sys/block/sdx", "/sys/block/sdx/queue" };

		snprintf(path, sizeof(path), "%s%s", f->dir, dirs[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/sys/block/sdx/queue/nr_requests", f->dir);
	file_put(path, "128\n");
	sysroot_set(f->dir);
}

static void a_write_that_hangs_meets_its_limit_and_the_disk_is_left_alone(void **state)
{
	struct fixture *f = *state;
	char path[160], value[SETTING_TEXT];
	int64_t begun_ns;
	int fd;

	tree_make(f);
	snprintf(path, sizeof(path), "%s/sys/block/sdx/queue/scheduler", f->dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	setting_timeout_ns = 200000000;
	begun_ns = clock_ns();
	FAILS(setting_write("/sys/block/sdx/queue/scheduler", "bfq", &f->e), ERR_TIMEOUT,
	      "writing 'bfq' to '/sys/block/sdx/queue/scheduler' still hangs after 1 s");
	assert_true(clock_ns() - begun_ns < 2000000000);
	FAILS(setting_read("/sys/block/sdx/queue/nr_requests", value, sizeof(value), &f->e), ERR_TIMEOUT,
	      "'/sys/block/sdx/queue/nr_requests' is left alone: an earlier write to that disk still hangs");
	/* The device answers again: so do we. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && read(fd, value, sizeof(value)) == 3);
	close(fd);
	for (int i = 0; i < 100 && setting_read("/sys/block/sdx/queue/nr_requests", value, sizeof(value), NULL) < 0;
	     i++)
		usleep(10000);
	OK(setting_read("/sys/block/sdx/queue/nr_requests", value, sizeof(value), &f->e));
	assert_string_equal(value, "128");
}

static void a_value_that_stands_is_not_written_again(void **state)
{
	struct fixture *f = *state;
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	char path[160];
	struct stat st;

	tree_make(f);
	snprintf(path, sizeof(path), "%s/sys/block/sdx/queue/nr_requests", f->dir);
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	OK(setting_change("/sys/block/sdx/queue/nr_requests", "128", &f->e));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	OK(setting_change("/sys/block/sdx/queue/nr_requests", "129", &f->e));
	assert_int_equal(stat(path, &st), 0);
	assert_int_not_equal(st.st_mtim.tv_sec, 1000);
}

static void a_setting_that_does_not_exist_is_infeasible(void **state)
{
	struct fixture *f = *state;

	tree_make(f);
	FAILS(setting_change("/sys/block/sdx/queue/wbt_lat_usec", "0", &f->e), ERR_INFEASIBLE,
	      "'/sys/block/sdx/queue/wbt_lat_usec' does not exist: this kernel or device has no such setting");
}

static void the_bracketed_choice_is_the_value(void **state)
{
	struct fixture *f = *state;
	char path[160], value[SETTING_TEXT];

	tree_make(f);
	snprintf(path, sizeof(path), "%s/sys/block/sdx/queue/scheduler", f->dir);
	file_put(path, "none [mq-deadline] kyber\n");
	OK(setting_read("/sys/block/sdx/queue/scheduler", value, sizeof(value), &f->e));
	assert_string_equal(value, "mq-deadline");
	OK(setting_read_raw("/sys/block/sdx/queue/scheduler", value, sizeof(value), &f->e));
	assert_string_equal(value, "none [mq-deadline] kyber");
}

static void sizes_are_bytes_here_and_kibibytes_in_the_kernel(void **state)
{
	const struct axis *readahead = axis_find("readahead"), *bytes = axis_find("vm.dirty_bytes");
	char text[32];

	(void)state;
	tunable_to_kernel(readahead, "131072", text, sizeof(text));
	assert_string_equal(text, "128");
	tunable_from_kernel(readahead, "128", text, sizeof(text));
	assert_string_equal(text, "131072");
	tunable_to_kernel(bytes, "131072", text, sizeof(text));
	assert_string_equal(text, "131072");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(settings_take_effect_and_go_back),
		TEST(a_cell_without_a_setting_finds_it_as_it_was),
		TEST(what_a_dead_worker_left_is_put_back),
		TEST(entries_of_another_boot_are_dropped),
		TEST(a_scheduler_that_is_not_built_in_is_infeasible),
		TEST(a_value_that_the_kernel_refuses_is_infeasible),
		TEST(a_value_that_the_kernel_clamps_is_a_mismatch),
		TEST(a_setting_changed_behind_our_back_is_told),
		TEST(a_sysctl_of_a_pair_goes_back_to_the_one_that_was_in_force),
		TEST(a_disk_that_cannot_be_saved_does_not_make_the_sysctls_forgotten),
		TEST(a_write_that_hangs_meets_its_limit_and_the_disk_is_left_alone),
		TEST(a_value_that_stands_is_not_written_again),
		TEST(a_setting_that_does_not_exist_is_infeasible),
		TEST(the_bracketed_choice_is_the_value),
		TEST(sizes_are_bytes_here_and_kibibytes_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
