/* SPDX-License-Identifier: MIT
 *
 * Mount options as asked against what kernels show of them; and filesystems mounted for real on images.
 */
#include "tests/unit/worker_fixture.h"

#include <signal.h>
#include <sys/wait.h>

#include "daemon/worker/mount.h"

#define EXT4_PROC "rw\nbsddf\nnogrpid\nblock_validity\ndioread_nolock\nnodiscard\ndelalloc\nnowarn_on_error\njournal_checksum\n" \
	"barrier\nauto_da_alloc\nuser_xattr\nacl\nnoquota\nresuid=0\nresgid=0\nerrors=continue\ncommit=5\nmin_batch_time=0\n" \
	"max_batch_time=15000\nstripe=0\ndata=ordered\ninode_readahead_blks=32\ninit_itable=10\nmax_dir_size_kb=0\n"

static const struct row {
	const char *wanted; /* words */
	const char *shown, *proc;
	enum verdict verdict;
	const char *why;
} rows[] = {
	{ "noatime", "rw,nosuid,nodev,noatime,rw", "", VERDICT_CONFIRMED, "" },
	{ "noatime", "rw,nosuid,nodev,relatime,rw", "", VERDICT_CONTRADICTED, "'noatime' was asked for and is not in force" },
	{ "commit=30", "rw,noatime,rw,commit=30", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "commit=30s", "rw,rw,commit=30", "", VERDICT_CONFIRMED, "" },
	{ "commit=30", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'commit=30' was asked for, 'commit=5' is in force" },
	{ "data=writeback", "rw,rw,data=writeback", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "data=ordered", "rw,rw", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "data=writeback", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'data=writeback' was asked for, 'data=ordered' is in force" },
	{ "barrier=1", "rw,rw", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "barrier=0", "rw,rw,nobarrier", "", VERDICT_CONFIRMED, "" },
	{ "nobarrier", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'nobarrier' was asked for, 'barrier' is in force" },
	{ "nodelalloc", "rw,rw", EXT4_PROC, VERDICT_CONTRADICTED, "'nodelalloc' was asked for, 'delalloc' is in force" },
	{ "logbsize=262144", "rw,rw,attr2,inode64,logbufs=8,logbsize=256k,noquota", "", VERDICT_CONFIRMED, "" },
	{ "logbsize=256k", "rw,rw,logbsize=32k", "", VERDICT_CONTRADICTED, "'logbsize=256k' was asked for, 'logbsize=32k' is in force" },
	{ "allocsize=1m", "rw,rw,allocsize=1024k", "", VERDICT_CONFIRMED, "" },
	{ "allocsize=64k", "rw,rw", "", VERDICT_UNCONFIRMED, "'allocsize=64k' is not shown by the kernel" },
	{ "compress=zstd", "rw,rw,compress=zstd:3,ssd", "", VERDICT_CONFIRMED, "" },
	{ "compress=zstd:1", "rw,rw,compress=zstd:3,ssd", "", VERDICT_CONTRADICTED,
	  "'compress=zstd:1' was asked for, 'compress=zstd:3' is in force" },
	{ "nodatacow", "rw,rw,nodatasum,nodatacow", "", VERDICT_CONFIRMED, "" },
	{ "autodefrag", "rw,rw,space_cache=v2", "", VERDICT_UNCONFIRMED, "'autodefrag' is not shown by the kernel" },
	{ "relatime", "rw,nosuid,noatime,rw", "", VERDICT_CONTRADICTED, "'relatime' was asked for, 'noatime' is in force" },
	{ "discard=sync", "rw,relatime,rw,discard,space_cache=v2", "", VERDICT_CONFIRMED, "" },
	{ "discard=async", "rw,relatime,rw,discard=async", "", VERDICT_CONFIRMED, "" },
	{ "discard=sync", "rw,relatime,rw,discard=async", "", VERDICT_CONTRADICTED, "'discard=sync' was asked for, 'discard=async' is in force" },
	{ "discard", "rw,relatime,rw,discard", EXT4_PROC, VERDICT_CONFIRMED, "" },
	{ "nodiscard", "rw,relatime,rw,discard", "", VERDICT_CONTRADICTED, "'nodiscard' was asked for, 'discard' is in force" },
	{ "defaults", "rw,relatime", "", VERDICT_IMPLIED, "" },
	{ "sync", "rw,relatime,rw,sync", "", VERDICT_CONFIRMED, "" },
	{ "noatime commit=30", "rw,noatime,rw,commit=5", "", VERDICT_CONTRADICTED, "'commit=30' was asked for, 'commit=5' is in force" },
};

static void each_option_gets_the_verdict_that_the_kernel_supports(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		AUTO_ARENA struct arena *a = arena_new();
		AUTO_TEXT struct text why = { 0 };
		char **words;
		enum verdict v;
		size_t n;

		assert_int_equal(words_split(a, rows[i].wanted, &words, &n, NULL), 0);
		v = mount_options_verdict(words, rows[i].shown, rows[i].proc, &why);
		if (v != rows[i].verdict)
			fail_msg("%s against %s: %s (%s)", rows[i].wanted, rows[i].shown, verdict_name(v),
			         text_str(&why));
		assert_string_equal(text_str(&why), rows[i].why);
	}
}

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

	mount_busy_wait_ns = 10 * INT64_C(1000000000);
	fixture_end(f);
	free(f);
	return 0;
}

static void up_to_mount(struct fixture *f)
{
	fixture_cell(f);
	if (!f->w.claimed.is_begun)
		OK(target_claim(&f->w, &f->e));
	OK(queue_apply(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	OK(mount_make(&f->w, &f->e));
	OK(tune_apply(&f->w, &f->e));
}

static void down_to_claim(struct fixture *f)
{
	OK(tune_restore(&f->w, &f->e));
	OK(mount_undo(&f->w, &f->e));
	OK(format_undo(&f->w, &f->e));
	OK(queue_restore(&f->w, &f->e));
}

/* The stored effective value and verdict of an axis of the current cell. */
static void shown(struct fixture *f, const char *axis, char *effective, const char *verdict)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct shown_cell *cells;
	size_t n;

	OK(store_show_cells(f->w.store, f->w.sweep_id, a, &cells, &n, &f->e));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; cells[i].id == f->w.cell_id && k < cells[i].n_values; k++)
			if (strcmp(cells[i].values[k].axis, axis) == 0) {
				snprintf(effective, 512, "%s",
				         cells[i].values[k].effective == NULL ? "" : cells[i].values[k].effective);
				assert_string_equal(cells[i].values[k].verdict, verdict);
				return;
			}
	fail_msg("no axis '%s'", axis);
}

static void each_filesystem_uses_the_readahead_of_its_own_bdi(void **state)
{
	struct fixture *f = *state;
	char path[256], effective[512], expected[64];
	const char *types[] = { "ext4", "xfs", "btrfs" };

	NEEDS_MACHINE();
	fixture_start(f, "{image: 400MiB}",
	              "  filesystem: [ext4, xfs, btrfs]\n  readahead: 1MiB\n  scheduler: mq-deadline\n  mount: noatime\n");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		up_to_mount(f);
		OK(settings_verify(&f->w, "after the mount", &f->e));
		snprintf(path, sizeof(path), "%s/read_ahead_kb", f->w.claimed.bdi);
		assert_string_equal(file_value(path), "1024");
		shown(f, "filesystem", effective, "confirmed");
		assert_string_equal(effective, types[i]);
		shown(f, "readahead", effective, "confirmed");
		assert_string_equal(effective, "1048576");
		shown(f, "mount", effective, "confirmed");
		snprintf(expected, sizeof(expected), "rw,nosuid,nodev,noatime");
		assert_non_null(strstr(effective, expected));
		OK(caches_drop(&f->w, &f->e));
		f->w.is_moving_on = true;
		down_to_claim(f);
		f->w.is_moving_on = false;
	}
	down_to_claim(f);
	OK(target_release(&f->w, &f->e));
	assert_int_equal(pending(f), 0);
}

static void the_data_mode_comes_from_the_superblock_too(void **state)
{
	struct fixture *f = *state;
	char effective[512];

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: ext4\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	{
		const char *argv[] = { "tune2fs", "-o", "journal_data_writeback", f->w.claimed.private_node, NULL };

		OK(tool_must(&f->w.tools, NULL, &f->e, argv, 0));
	}
	OK(mount_make(&f->w, &f->e));
	OK(settings_verify(&f->w, "after the mount", &f->e));
	shown(f, "mount", effective, "implied");
	assert_non_null(strstr(effective, "data=writeback"));
	assert_memory_equal(effective, "rw,", 3);
	assert_null(strstr(effective + 2, ",rw")); /* of the mount and of the superblock: once */
}

static void an_unknown_option_is_infeasible_in_the_kernels_words(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 320MiB}", "  filesystem: xfs\n  mount: nobarrier\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	assert_int_equal(mount_make(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_INFEASIBLE);
	assert_non_null(strstr(f->e.text, "mount xfs: nobarrier: "));
	assert_non_null(strstr(f->e.text, "Unknown parameter 'nobarrier'"));
}

static void a_value_refused_at_the_end_is_told_in_the_kernels_words(void **state)
{
	struct fixture *f = *state;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 320MiB}", "  filesystem: xfs\n  mount: logbsize=48KiB\n");
	fixture_cell(f);
	OK(target_claim(&f->w, &f->e));
	OK(format_make(&f->w, &f->e));
	assert_int_equal(mount_make(&f->w, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_INFEASIBLE);
	assert_non_null(strstr(f->e.text, "invalid logbufsize: 49152"));
}

static void who_keeps_the_filesystem_busy_is_named_and_it_stays_mounted(void **state)
{
	struct fixture *f = *state;
	char expected[512];
	int ready[2];
	pid_t pid;
	char c;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: ext4\n");
	up_to_mount(f);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		close(f->w.claimed.mount_fd);
		if (chdir(f->w.claimed.mount_path) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	mount_busy_wait_ns = 100000000;
	snprintf(expected, sizeof(expected), "unmount %s: still used by process %d (test_mount), working directory",
	         f->w.claimed.name, (int)pid);
	FAILS(mount_undo(&f->w, &f->e), ERR_BUSY, expected);
	assert_string_equal(f->e.hint, "the device is left in peace until it is free");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	OK(mount_undo(&f->w, &f->e));
	close(ready[0]);
	close(ready[1]);
}

static void a_plan_that_asks_for_lazy_initialisation_is_noted(void **state)
{
	struct fixture *f = *state;
	AUTO_TEXT struct text note = { 0 };

	NEEDS_MACHINE();
	if (access("/proc/2/comm", R_OK) < 0) /* kthreadd: in a PID namespace of its own nobody sees the kernel's threads */
		skip();
	fixture_start(f, "{image: 2GiB}", "  filesystem: ext4\n  mkfs: -E lazy_itable_init=1\n");
	up_to_mount(f);
	assert_true(f->w.claimed.is_lazy);
	f->w.plan->settle_ns = 0;
	for (int i = 0; i < 100 && note.n == 0; i++) { /* the thread is started a moment after the mount */
		OK(settle_wait(&f->w, &note, &f->e));
		usleep(10000);
	}
	assert_string_equal(text_str(&note), "ext4 initialises its tables lazily (ext4lazyinit)");
}

static void a_quiet_device_is_not_waited_for(void **state)
{
	struct fixture *f = *state;
	AUTO_TEXT struct text note = { 0 };
	int64_t begun_ns;

	NEEDS_MACHINE();
	fixture_start(f, "{image: 64MiB}", "  filesystem: ext4\n");
	up_to_mount(f);
	OK(caches_drop(&f->w, &f->e));
	begun_ns = clock_ns();
	OK(settle_wait(&f->w, &note, &f->e));
	assert_string_equal(text_str(&note), "");
	assert_true(clock_ns() - begun_ns < 1500000000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option_gets_the_verdict_that_the_kernel_supports),
		TEST(each_filesystem_uses_the_readahead_of_its_own_bdi),
		TEST(the_data_mode_comes_from_the_superblock_too),
		TEST(an_unknown_option_is_infeasible_in_the_kernels_words),
		TEST(a_value_refused_at_the_end_is_told_in_the_kernels_words),
		TEST(who_keeps_the_filesystem_busy_is_named_and_it_stays_mounted),
		TEST(a_plan_that_asks_for_lazy_initialisation_is_noted),
		TEST(a_quiet_device_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
