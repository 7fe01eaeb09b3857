/* SPDX-License-Identifier: MIT
 *
 * Targets claimed and released on a real kernel: images, devices, directories.
 */
#include "tests/unit/worker_fixture.h"

#include <sys/file.h>
#include <sys/sysmacros.h>

#define ONE_CELL "  filesystem: ext4\n"

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

static void an_image_is_attached_and_goes_without_a_trace(void **state)
{
	struct fixture *f = *state;
	char file[512], backing[256];
	struct stat st;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", ONE_CELL);
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	assert_int_equal(f->w.claimed.size_bytes, 64 << 20);
	assert_int_equal(stat(f->w.claimed.image_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(st.st_blocks * 512 < 1 << 20); /* sparse */
	assert_int_equal(stat(f->w.claimed.private_node, &st), 0);
	assert_true(S_ISBLK(st.st_mode) && st.st_rdev == f->w.claimed.devno);
	assert_int_equal(f->w.claimed.n_queues, 1);
	snprintf(file, sizeof(file), "%s", f->w.claimed.image_path);
	snprintf(backing, sizeof(backing), "%s/loop/backing_file", f->w.claimed.sysfs);
	assert_string_equal(file_value(backing), file);
	OK(target_release(&f->w, &f->e));
	assert_int_equal(access(file, F_OK), -1);
	assert_int_equal(pending(f), 0);
	assert_true(access(backing, F_OK) < 0 || strcmp(file_value(backing), file) != 0);
	OK(target_release(&f->w, &f->e)); /* may be repeated */
}

static void an_image_larger_than_the_host_allows_is_refused(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 5GiB}", ONE_CELL);
	fixture_cell(f);
	FAILS(target_claim(&f->w, &f->e), ERR_REFUSED, "an image of 5GiB is larger than this host allows (4GiB)");
	assert_int_equal(pending(f), 0);
	OK(target_release(&f->w, &f->e));
}

static void an_image_that_would_fill_the_disk_is_refused(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", ONE_CELL);
	fixture_cell(f);
	f->w.config->images_keep_free_bytes = INT64_C(1) << 59;
	assert_int_equal(target_claim(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_NO_SPACE);
	assert_non_null(strstr(f->e.text, "an image of 64MiB does not fit in '"));
	OK(target_release(&f->w, &f->e));
}

static void a_listed_device_is_claimed_by_its_identity(void **state)
{
	struct fixture *f = *state;
	char expected[128];

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", ONE_CELL);
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	assert_string_equal(f->w.claimed.node, f->loop);
	snprintf(expected, sizeof(expected), "device 'disk' (%s)", f->loop);
	assert_string_equal(f->w.claimed.name, expected);
	OK(target_release(&f->w, &f->e));
}

static void a_device_locked_by_another_program_is_busy(void **state)
{
	struct fixture *f = *state;
	char expected[128];

	NEEDS_MACHINE();
	fixture_loop(f, 64 << 20);
	fixture_start(f, "{device: disk}", ONE_CELL);
	fixture_cell(f);
	assert_int_equal(flock(f->loop_fd, LOCK_EX), 0);
	snprintf(expected, sizeof(expected), "device 'disk' (%s): another program holds a lock on it", f->loop);
	FAILS(target_claim(&f->w, &f->e), ERR_BUSY, expected);
	OK(target_release(&f->w, &f->e));
}

static void an_unlisted_device_is_refused(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{device: disk}", ONE_CELL);
	fixture_cell(f);
	FAILS(target_claim(&f->w, &f->e), ERR_REFUSED, "device 'disk' is not listed by this host's configuration");
	OK(target_release(&f->w, &f->e));
}

static void a_directory_keeps_its_queue_settings(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{directory: here}", "  label.x: y\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	assert_int_equal(f->w.claimed.n_queues, 0);
	OK(target_release(&f->w, &f->e));
	assert_int_equal(access(f->dir, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_image_is_attached_and_goes_without_a_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(an_image_larger_than_the_host_allows_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(an_image_that_would_fill_the_disk_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_listed_device_is_claimed_by_its_identity, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_locked_by_another_program_is_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unlisted_device_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_directory_keeps_its_queue_settings, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
