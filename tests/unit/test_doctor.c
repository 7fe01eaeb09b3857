/* SPDX-License-Identifier: MIT
 *
 * What doctor finds: on recorded trees that lack one thing each, and with programs of this host masked.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/worker/doctor.h"
#include "daemon/worker/sysroot.h"
#include "tests/unit/tree.h"

static char root[64];
static struct text report; /* a line a check: "STATE NAME: FOUND | WHAT TO DO" */
static struct config config;

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *s = full + strlen(root) + 1; (s = strchr(s, '/')) != NULL; *s++ = '/') {
		*s = '\0';
		mkdir(full, 0755);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void take(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(remove(full), 0);
}

static void note(void *data, const char *name, enum doctor_state state, const char *text, const char *hint)
{
	(void)data;
	text_printf(&report, "%s %s: %s%s%s\n", doctor_state_name(state), name, text, *hint != '\0' ? " | " : "", hint);
}

static void assert_said(const char *line)
{
	AUTO_FREE char *whole = xasprintf("%s\n", line);

	text_clear(&report);
	doctor_examine(&config, note, NULL);
	if (strstr(text_str(&report), whole) == NULL)
		fail_msg("no line '%s' in:\n%s", line, text_str(&report));
}

/* A host on which nothing is missing, as far as files below /sys, /proc, /etc and /run tell. */
static int setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/iosweep-doctor.XXXXXX");
	assert_non_null(mkdtemp(root));
	sysroot_set(root);
	put("/sys/block/sda/queue/scheduler", "[mq-deadline] kyber bfq none\n");
	put("/proc/sys/kernel/osrelease", "0.0.0-nowhere\n");
	put("/proc/filesystems", "nodev\tsysfs\n\text4\n\txfs\n\tbtrfs\n");
	put("/proc/self/cgroup", "0::/system.slice/iosweepd.service\n");
	put("/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
	put("/sys/fs/cgroup/system.slice/iosweepd.service/cgroup.controllers", "memory pids\n");
	put("/run/udev/control", "");
	put("/usr/lib/udev/rules.d/60-block.rules",
	    "ATTR{queue/scheduler}==\"bfq\", GOTO=\"x\"\n# ATTR{queue/scheduler}=\"bfq\"\n");
	put("/state/x", "");
	config = (struct config){ .state = xasprintf("%s/state", root) };
	assert_int_equal(chmod(config.state, 0750), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sysroot_set("");
	free((char *)config.state);
	text_done(&report);
	return tree_remove(root);
}

static void what_is_in_order_is_said_to_be(void **state)
{
	(void)state;
	assert_said("ok scheduler kyber: the kernel offers 'kyber'");
	assert_said("ok filesystem xfs: the kernel knows 'xfs'");
	assert_said("ok memory controller: cgroup v2 limits memory");
	assert_said("ok udev: udevd runs");
	assert_said("ok udev rules: no udev rule sets a queue attribute");
	assert_said("ok tuned: tuned does not run");
}

static void what_the_kernel_lacks_is_named(void **state)
{
	(void)state;
	put("/sys/block/sda/queue/scheduler", "[mq-deadline] none\n");
	put("/proc/filesystems", "nodev\tsysfs\n\text4\n\tbtrfs\n");
	assert_said("warning scheduler bfq: 'bfq' is not in this kernel: cells with it will be infeasible | "
	            "use another kernel, or leave the scheduler out of the plan");
	assert_said("ok scheduler mq-deadline: the kernel offers 'mq-deadline'");
	assert_said("warning filesystem xfs: 'xfs' is not loaded; the kernel may have it as a module | modprobe xfs");
	assert_said("ok filesystem ext4: the kernel knows 'ext4'");
}

static void a_memory_controller_that_is_missing_or_not_delegated_is_told(void **state)
{
	(void)state;
	put("/sys/fs/cgroup/system.slice/iosweepd.service/cgroup.controllers", "pids\n");
	assert_said("warning memory controller: the axis 'memory' cannot be set: the memory controller is not delegated to "
	            "'/sys/fs/cgroup/system.slice/iosweepd.service' (the unit needs Delegate=memory) | "
	            "mount cgroup v2 with the memory controller, and set Delegate=memory in the unit");
	take("/sys/fs/cgroup/cgroup.controllers");
	assert_said("warning memory controller: the axis 'memory' cannot be set: no memory controller is mounted below '/sys/fs/cgroup' | "
	            "mount cgroup v2 with the memory controller, and set Delegate=memory in the unit");
}

/* In a mount namespace of this process alone. */
static void mounts_of_its_own(void)
{
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL); /* fails below a chroot, where nothing propagates to the host either */
}

/* A container is shown the controllers of its host, and may not write there. */
static void a_memory_controller_that_may_not_be_written_to_is_none(void **state)
{
	char dir[512];

	(void)state;
	if (geteuid() != 0)
		skip();
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1\n");
	assert_said("ok memory controller: cgroup v1 limits memory");
	mounts_of_its_own();
	snprintf(dir, sizeof(dir), "%s/sys/fs/cgroup/memory", root);
	assert_int_equal(mount(dir, dir, NULL, MS_BIND, NULL), 0);
	assert_int_equal(mount(NULL, dir, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
	assert_said("warning memory controller: the axis 'memory' cannot be set: '/sys/fs/cgroup/memory' is mounted read-only | "
	            "mount cgroup v2 with the memory controller, and set Delegate=memory in the unit");
	assert_int_equal(umount(dir), 0);
}

#define RULES_HINT " | exclude the target from these rules; a change during a trial is flagged"

static void udev_rules_that_set_what_a_sweep_sets_are_named(void **state)
{
	(void)state;
	put("/etc/udev/rules.d/60-io.rules", "ACTION==\"add\", ATTR{queue/scheduler}=\"bfq\"\n");
	assert_said("warning udev rules: udev rules would fight over settings: '/etc/udev/rules.d/60-io.rules' sets queue/scheduler" RULES_HINT);
	put("/etc/udev/rules.d/60-io.rules", "ACTION==\"add\", ATTR{bdi/read_ahead_kb}:=\"4096\", ATTR{queue/nr_requests} = \"64\"\n");
	assert_said("warning udev rules: udev rules would fight over settings: '/etc/udev/rules.d/60-io.rules' sets bdi/read_ahead_kb; "
	            "'/etc/udev/rules.d/60-io.rules' sets queue/nr_requests" RULES_HINT);
}

/* udev(7): of files with one name that of /etc counts; an empty one, or a link to /dev/null, turns the other off. */
static void a_rule_that_is_turned_off_is_not_in_the_way(void **state)
{
	(void)state;
	put("/usr/lib/udev/rules.d/60-io.rules", "ATTR{queue/scheduler}=\"bfq\"\n");
	assert_said("warning udev rules: udev rules would fight over settings: '/usr/lib/udev/rules.d/60-io.rules' sets queue/scheduler"
	            RULES_HINT);
	put("/etc/udev/rules.d/60-io.rules", "");
	assert_said("ok udev rules: no udev rule sets a queue attribute");
}

static void an_udevd_that_does_not_run_is_told(void **state)
{
	(void)state;
	take("/run/udev/control");
	assert_said("warning udev: udevd does not run: devices are known by what sysfs says of them alone | "
	            "start systemd-udevd if devices are to be listed by wwn or by-id");
}

static void a_tuned_that_runs_is_named_with_its_profile(void **state)
{
	(void)state;
	put("/etc/tuned/active_profile", "throughput-performance\n");
	assert_said("ok tuned: tuned does not run");
	put("/run/tuned/tuned.pid", "1\n");
	assert_said("warning tuned: tuned runs with profile 'throughput-performance', which may set read-ahead, scheduler and sysctls | "
	            "systemctl stop tuned while sweeps run, or take the disk plug-in out of the profile");
}

static void places_that_cannot_be_used_are_problems(void **state)
{
	struct config_directory directories[] = { { "scratch", "/nonexistent/scratch" } };
	AUTO_FREE char *line = xasprintf("problem state directory: '%s' is open to everybody (mode 0755) | "
	                                 "chmod o= on it: whoever can read the store's -shm file can hold its lock", config.state);

	(void)state;
	assert_said("warning images: this host offers no images | add `images: {path: DIRECTORY}` to iosweepd.conf(5)");
	assert_int_equal(chmod(config.state, 0755), 0);
	assert_said(line);
	config.images_path = "/nonexistent/images";
	assert_said("problem images: images directory '/nonexistent/images' does not exist | make it, owned by root");
	config.images_path = config.state;
	config.images_keep_free_bytes = INT64_C(1) << 50;
	text_clear(&report);
	doctor_examine(&config, note, NULL);
	assert_non_null(strstr(text_str(&report), " free and is to keep 1024TiB free | make room, or lower keep-free\n"));
	config.directories = directories;
	config.n_directories = 1;
	assert_said("problem directory scratch: '/nonexistent/scratch' is not a directory | make it, or take it out of the configuration");
}

/* What is no program takes the place of one. */
static void programs_that_are_missing_are_named_with_their_package(void **state)
{
	(void)state;
	if (geteuid() != 0 || access("/usr/sbin/mkfs.xfs", X_OK) < 0 || access("/usr/bin/fio", X_OK) < 0)
		skip();
	mounts_of_its_own();
	assert_said("ok tool mkfs.xfs: 'mkfs.xfs' is installed");
	assert_int_equal(mount("/dev/null", "/usr/sbin/mkfs.xfs", NULL, MS_BIND, NULL), 0);
	assert_int_equal(mount("/dev/null", "/usr/bin/fio", NULL, MS_BIND, NULL), 0);
	assert_said("problem tool mkfs.xfs: 'mkfs.xfs' is not installed; it is needed for xfs | apt-get install xfsprogs");
	assert_said("warning tool fio: 'fio' is not installed; it is needed for the workload fio | apt-get install fio");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_in_order_is_said_to_be),
		TEST(what_the_kernel_lacks_is_named),
		TEST(a_memory_controller_that_is_missing_or_not_delegated_is_told),
		TEST(a_memory_controller_that_may_not_be_written_to_is_none),
		TEST(udev_rules_that_set_what_a_sweep_sets_are_named),
		TEST(a_rule_that_is_turned_off_is_not_in_the_way),
		TEST(an_udevd_that_does_not_run_is_told),
		TEST(a_tuned_that_runs_is_named_with_its_profile),
		TEST(places_that_cannot_be_used_are_problems),
		TEST(programs_that_are_missing_are_named_with_their_package),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
