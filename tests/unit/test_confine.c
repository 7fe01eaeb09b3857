/* SPDX-License-Identifier: MIT
 *
 * The memory limit of a cell, on the controller that this machine has.
 */
#include "tests/unit/worker_fixture.h"

#include "daemon/worker/confine.h"

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

	fixture_end(f);
	free(f);
	return 0;
}

#define NEEDS_CONTROLLER() \
	do { \
		char why_[256]; \
		if (!machine_can() || strcmp(confine_controller(why_, sizeof(why_)), "v1") != 0) \
			skip(); /* needs root and the v1 memory controller; v2 is tested in the guest */ \
	} while (0)

static void group_dir(const struct fixture *f, char *ret, size_t size)
{
	char uuid[UUID_TEXT];

	snprintf(ret, size, "/sys/fs/cgroup/memory/iosweep-%s", uuid_format(f->w.sweep.uuid, uuid));
}

static void a_workload_is_held_to_the_limit_with_its_page_cache(void **state)
{
	struct fixture *f = *state;
	char in[64], out[96], dir[96];
	const char *argv[] = { "dd", "if=/dev/zero", out, "bs=1M", "count=96", NULL };
	struct tool tool = { .argv = (char *const *)argv };
	struct tool_end end = { 0 };
	struct stat st;
	int64_t limit, peak;

	NEEDS_CONTROLLER();
	fixture_start(f, "{image: 256MiB}", "  filesystem: ext4\n  memory: 32MiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	OK(mount_make(&f->w, &f->e));
	OK(confine_enter(&f->w, &f->e));
	OK(settings_verify(&f->w, "after setting", &f->e));
	OK(confine_read(&f->w, &limit, &f->e));
	assert_int_equal(limit, 32 << 20);
	assert_int_equal(f->w.ram_bytes, 32 << 20);
	group_dir(f, dir, sizeof(dir));
	assert_int_equal(stat(dir, &st), 0);
	snprintf(in, sizeof(in), "%.60s", f->w.claimed.mount_path);
	snprintf(out, sizeof(out), "of=%s/file", in);
	OK(tool_run(&f->w.tools, &f->w.submitter, &tool, &end, &f->e));
	assert_int_equal(end.exit_status, 0);
	tool_end_done(&end);
	group_dir(f, dir, sizeof(dir));
	snprintf(dir + strlen(dir), sizeof(dir) - strlen(dir), "/memory.max_usage_in_bytes");
	assert_int_equal(integer_parse(file_value(dir), 0, INT64_MAX, &peak), 0);
	assert_true(peak > 8 << 20 && peak <= 32 << 20); /* the 96 MiB written passed through it */
	OK(confine_leave(&f->w, &f->e));
	*strrchr(dir, '/') = '\0';
	assert_int_equal(stat(dir, &st), -1);
	assert_true(f->w.ram_bytes == host_ram_bytes());
	OK(confine_leave(&f->w, &f->e)); /* may be repeated */
}

static void more_memory_than_the_host_has_is_infeasible(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	char dir[96];

	NEEDS_CONTROLLER();
	fixture_start(f, "{directory: here}", "  label.x: y\n  memory: 64TiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	assert_int_equal(confine_enter(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_INFEASIBLE);
	assert_non_null(strstr(f->e.text, "memory: 64TiB is more than the "));
	group_dir(f, dir, sizeof(dir));
	assert_int_equal(stat(dir, &st), -1);
}

static void a_cgroup_that_a_dead_worker_left_is_removed(void **state)
{
	struct fixture *f = *state;
	char dir[128];
	struct stat st;

	NEEDS_CONTROLLER();
	fixture_start(f, "{directory: here}", "  label.x: y\n  memory: 64MiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(confine_enter(&f->w, &f->e));
	group_dir(f, dir, sizeof(dir));
	close(f->w.submitter.cgroup_fd);
	f->w.submitter.cgroup_fd = -1;
	assert_int_equal(stat(dir, &st), 0);
	OK(undo_replay(&f->w, &f->e));
	assert_int_equal(stat(dir, &st), -1);
	assert_int_equal(pending(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_workload_is_held_to_the_limit_with_its_page_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(more_memory_than_the_host_has_is_infeasible, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cgroup_that_a_dead_worker_left_is_removed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
