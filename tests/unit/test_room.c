/* SPDX-License-Identifier: MIT
 *
 * What a tool sees and can reach from inside the room.  Needs root and mount namespaces; skips without.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/helper.h"
#include "daemon/worker/namespace.h"
#include "daemon/worker/room.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/workplace.h"

static char state_dir[] = "/tmp/test_room.XXXXXX";
static char directory[64];
static struct config_directory directories[1];
static struct config config;
static struct worker w;
static struct text seen;

#define UID 4240
#define GID 4241

/* In the new namespaces: everything as the worker has it when a trial begins. */
static int worker_begin(struct err *e)
{
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	w = (struct worker){ .config = &config, .sweep_id = 12, .line_fd = -1, .cancel_fd = -1, .tools.cancel_fd = -1 };
	w.claimed.mount_fd = w.claimed.fd = w.claimed.lease_fd = -1;
	w.submitter = (struct tool_identity){ .uid = UID, .gid = GID, .cgroup_fd = -1 };
	w.is_directory_noted = true; /* without a store */
	if (namespace_enter(&w.host_proc_fd, e) < 0 || room_make(&w, e) < 0)
		return -1;
	w.submitter.room = w.room;
	w.tools.room = w.room;
	w.claimed.kind = TARGET_DIRECTORY;
	snprintf(w.claimed.directory, sizeof(w.claimed.directory), "%s", directory);
	return room_directory_attach(&w, e) < 0 ? -1 : helper_start(&w.submitter, NULL, 0, &w.helper, e);
}

static int script_run(bool as_root, const char *script, struct text *out, struct err *e)
{
	const struct tool_identity root = { .is_root = true, .cgroup_fd = -1 };
	char sh[] = "sh", c[] = "-c", text[1000];
	char *argv[] = { sh, c, text, NULL };
	struct tool tool = { .argv = argv, .timeout_ns = INT64_C(20000000000), .dir = "/" };
	struct tool_end end;
	int rc;

	snprintf(text, sizeof(text), "%s", script);
	rc = tool_run(&w.tools, as_root ? &root : &w.submitter, &tool, &end, e);
	text_add_n(out, text_str(&end.out), end.out.n);
	text_add_n(out, text_str(&end.err), end.err.n);
	tool_end_done(&end);
	return rc;
}

/* Runs body in namespaces of its own; what it prints into its text comes back in `seen`. */
static void in_room(int (*body)(struct text *out, struct err *e))
{
	int ends[2], pidfd = -1, status;
	char buf[4096];
	ssize_t n;
	pid_t pid;

	text_clear(&seen);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = namespace_clone(&pidfd);
	assert_true(pid >= 0);
	if (pid == 0) {
		struct text out = { 0 };
		struct err e = { 0 };

		if (worker_begin(&e) < 0 || body(&out, &e) < 0)
			text_printf(&out, "error: %s", e.text);
		if (write(ends[1], text_str(&out), out.n) < 0)
			_exit(2);
		helper_stop(w.helper);
		text_done(&out);
		_exit(0);
	}
	close(ends[1]);
	close(pidfd);
	while ((n = read(ends[0], buf, sizeof(buf))) > 0)
		text_add_n(&seen, buf, (size_t)n);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define NEEDS_ROOT() \
	do { \
		if (geteuid() != 0) \
			skip(); \
	} while (0)

static int look_at_dev(struct text *out, struct err *e)
{
	return script_run(false,
	                  "cd /dev; for f in *; do test -e $f && echo $f; done; echo x >null; head -c 2 zero | wc -c",
	                  out, e);
}

static void dev_holds_harmless_nodes_only(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(look_at_dev);
	assert_string_equal(text_str(&seen),
	                    "fd\nfull\nnull\nrandom\nshm\nstderr\nstdin\nstdout\ntty\nurandom\nzero\n2\n");
}

static int write_everywhere(struct text *out, struct err *e)
{
	return script_run(false, "for d in / /etc /usr /var /home /dev /proc /sys /run /dev/shm /tmp /target; do "
	                         "(: >$d/iosweep-was-here) 2>/dev/null && echo $d && rm $d/iosweep-was-here; done; true", out, e);
}

static int write_everywhere_as_root(struct text *out, struct err *e)
{
	return script_run(true, "for d in / /etc /usr /var /home /proc /sys; do "
	                        "(: >$d/iosweep-was-here) 2>/dev/null && echo $d; done; "
	                        "echo 1 >/proc/sys/vm/laptop_mode; true", out, e);
}

static void only_the_target_and_memory_can_be_written(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(write_everywhere);
	assert_string_equal(text_str(&seen), "/dev/shm\n/tmp\n/target\n");
	in_room(write_everywhere_as_root);
	assert_non_null(strstr(text_str(&seen), "/proc/sys/vm/laptop_mode: Read-only file system"));
	assert_null(strstr(text_str(&seen), "/etc\n"));
}

static int reach_out(struct text *out, struct err *e)
{
	return script_run(false, "ls /proc/1/root /proc/2/root 2>&1; ls /proc | grep -c '^[0-9]'; cat /proc/1/cmdline; "
	                         "cat /proc/2/status; mknod /tmp/d b 7 0; true", out, e);
}

static void other_processes_and_their_roots_are_out_of_sight(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(reach_out);
	/* Neither the worker nor the helper, which is of the same user. */
	assert_non_null(strstr(text_str(&seen), "/proc/1/root': No such file or directory"));
	assert_null(strstr(text_str(&seen), "Name:"));
	assert_non_null(strstr(text_str(&seen), "mknod: /tmp/d: Operation not permitted"));
}

static int reach_out_as_root(struct text *out, struct err *e)
{
	return script_run(true,
	                  "mknod /tmp/d b 7 0; chroot /proc/1/root true; ls /dev/loop-control; ls -d "
	                  "/proc/1/root/dev; true",
	                  out, e);
}

static void roots_tools_cannot_leave_the_room_either(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(reach_out_as_root);
	assert_non_null(strstr(text_str(&seen), "mknod: /tmp/d: Operation not permitted"));
	assert_non_null(strstr(text_str(&seen), "chroot: "));
	assert_non_null(strstr(text_str(&seen), "/dev/loop-control"));
	assert_non_null(strstr(text_str(&seen), "No such file or directory"));
	assert_null(strstr(text_str(&seen), "\n/proc/1/root/dev\n"));
}

static int open_device_nodes(struct text *out, struct err *e)
{
	char path[400];

	/* A node that lies about on the host, readable by everybody: here in the target itself. */
	snprintf(path, sizeof(path), "%s/disk", directory);
	if (mknod(path, S_IFCHR | 0666, makedev(1, 5)) < 0 || chmod(path, 0666) < 0)
		return -1;
	return script_run(false, "head -c 1 /target/disk; true", out, e);
}

static void device_nodes_outside_of_dev_cannot_be_opened(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(open_device_nodes);
	assert_non_null(strstr(text_str(&seen), "Permission denied"));
}

static int grant_the_node(struct text *out, struct err *e)
{
	snprintf(w.claimed.private_node, sizeof(w.claimed.private_node), "%.280s/target", w.device_dir);
	w.node_gid = 4321;
	if (mknod(w.claimed.private_node, S_IFBLK | 0600, makedev(7, 200)) < 0 || room_target_grant(&w, e) < 0 ||
	    script_run(false, "stat -c '%n %a %u %g %t:%T' /dev/target", out, e) < 0)
		return -1;
	w.claimed.kind = TARGET_IMAGE; /* an offered directory would keep its owner */
	w.claimed.mount_fd = open(w.target_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* stands for a filesystem's root */
	return room_target_grant(&w, e) < 0 ? -1 : script_run(false, "stat -c '%n %a %u' /dev/target /target", out, e);
}

static void the_targets_node_is_for_tools_and_read_only_under_a_filesystem(void **state)
{
	struct stat before;

	(void)state;
	NEEDS_ROOT();
	assert_int_equal(stat(directory, &before), 0);
	in_room(grant_the_node);
	assert_int_equal(chown(directory, before.st_uid, before.st_gid), 0);
	assert_string_equal(text_str(&seen), "/dev/target 660 0 4321 7:c8\n/dev/target 440 0\n/target 777 4240\n");
}

/* Directories in directories, deeper than a process may have descriptors open. */
static int dig(const char *below_target)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s%s", w.target_dir, below_target);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 5000 && fd >= 0; i++) {
		int next;

		if (mkdirat(fd, "d", 0700) < 0 || fchownat(fd, "d", UID, GID, 0) < 0)
			break;
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	return fd < 0 ? -1 : close(fd);
}

static int work_in_the_workplace(struct text *out, struct err *e)
{
	if (workplace_open(&w, e) < 0 || workplace_check(&w, e) < 0 ||
	    script_run(false, "cd /target/iosweep-12 && stat -c '%a %u' . && "
	                      "mkdir -p a/b/c locked && echo x >a/b/c/file && ln -s /etc/passwd link && ln -s / root && "
	                      "mkfifo pipe && echo y >locked/z && chmod 0 locked a/b", out, e) < 0)
		return -1;
	if (dig("/iosweep-12") < 0)
		return err_set(e, ERR_SYSTEM, "cannot dig");
	if (workplace_close(&w, e) < 0)
		return -1;
	return script_run(false, "ls -A /target | grep iosweep; wc -l </etc/passwd | grep -q 0 || echo kept", out, e);
}

static void the_work_directory_is_the_submitters_and_goes_with_all_that_is_in_it(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(work_in_the_workplace);
	assert_non_null(strstr(text_str(&seen), "700 4240\n"));
	assert_null(strstr(text_str(&seen), "error"));
	assert_null(strstr(text_str(&seen), "iosweep-12"));
}

static int replace_the_workplace(struct text *out, struct err *e)
{
	if (workplace_open(&w, e) < 0 ||
	    script_run(false, "rmdir /target/iosweep-12 && ln -s /tmp /target/iosweep-12", out, e) < 0)
		return -1;
	if (workplace_check(&w, e) == 0)
		return err_set(e, ERR_SYSTEM, "a link passed for the work directory");
	text_printf(out, "%s\n", e->text);
	if (script_run(false, "rm /target/iosweep-12; mkdir /target/iosweep-12", out, e) < 0)
		return -1;
	w.claimed.mount_dev ^= 0x100; /* as if the mount had not happened */
	return workplace_check(&w, e);
}

static void a_work_directory_that_is_not_on_the_target_is_refused(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(replace_the_workplace);
	assert_non_null(strstr(text_str(&seen), "the work directory '/target/iosweep-12' is no directory any more\n"));
	assert_non_null(strstr(text_str(&seen), "error: the work directory '/target/iosweep-12' lies on device "));
}

static int find_a_foreign_workplace(struct text *out, struct err *e)
{
	char path[400];

	(void)out;
	snprintf(path, sizeof(path), "%s/iosweep-12", directory);
	workplace_close(&w, e);
	if (mkdir(path, 0777) < 0) /* root's: somebody else's for the submitter */
		return err_set(e, ERR_SYSTEM, "mkdir");
	return workplace_open(&w, e);
}

static void a_name_taken_by_somebody_else_is_refused(void **state)
{
	char path[400];

	(void)state;
	NEEDS_ROOT();
	in_room(find_a_foreign_workplace);
	assert_string_equal(text_str(&seen),
	                    "error: the work directory's name '/target/iosweep-12' is taken by somebody else");
	snprintf(path, sizeof(path), "%s/iosweep-12", directory);
	rmdir(path);
}

static int kill_the_helper(struct text *out, struct err *e)
{
	if (script_run(false, "kill -9 -1; true", out, e) < 0)
		return -1;
	return workplace_open(&w, e) < 0 || workplace_close(&w, e) < 0 ? -1 : 0;
}

static void a_helper_that_a_tool_killed_is_replaced(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(kill_the_helper);
	assert_string_equal(text_str(&seen), "");
}

static int look_for_the_host_mounts(struct text *out, struct err *e)
{
	return script_run(false, "grep -c ' /target ' /proc/mounts; grep ' /target ' /proc/mounts | cut -d' ' -f4 | tr , '\\n' | "
	                         "grep -x -e nosuid -e nodev | sort; grep ' /usr ' /proc/mounts | cut -d' ' -f4 | cut -c1-2", out, e);
}

static void the_target_is_mounted_nosuid_and_nodev(void **state)
{
	(void)state;
	NEEDS_ROOT();
	in_room(look_for_the_host_mounts);
	assert_string_equal(text_str(&seen), "1\nnodev\nnosuid\nro\n");
}

static void the_host_sees_none_of_it(void **state)
{
	char path[400];
	struct stat st, below;

	(void)state;
	NEEDS_ROOT();
	snprintf(path, sizeof(path), "%s/room", state_dir);
	assert_int_equal(stat(state_dir, &st), 0);
	assert_int_equal(stat(path, &below), 0);
	assert_int_equal(st.st_dev, below.st_dev);
	rmdir(path);
}

static int group_setup(void **state)
{
	(void)state;
	if (mkdtemp(state_dir) == NULL)
		return -1;
	snprintf(directory, sizeof(directory), "%s/scratch", state_dir);
	directories[0] = (struct config_directory){ "scratch", directory };
	config = (struct config){ .state = state_dir, .directories = directories, .n_directories = 1 };
	return mkdir(directory, 0777) < 0 || chmod(directory, 0777) < 0 ? -1 : 0;
}

static int group_teardown(void **state)
{
	char path[400];

	(void)state;
	snprintf(path, sizeof(path), "%s/disk", directory);
	unlink(path);
	rmdir(directory);
	rmdir(state_dir);
	text_done(&seen);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dev_holds_harmless_nodes_only),
		cmocka_unit_test(only_the_target_and_memory_can_be_written),
		cmocka_unit_test(other_processes_and_their_roots_are_out_of_sight),
		cmocka_unit_test(roots_tools_cannot_leave_the_room_either),
		cmocka_unit_test(device_nodes_outside_of_dev_cannot_be_opened),
		cmocka_unit_test(the_targets_node_is_for_tools_and_read_only_under_a_filesystem),
		cmocka_unit_test(the_work_directory_is_the_submitters_and_goes_with_all_that_is_in_it),
		cmocka_unit_test(a_work_directory_that_is_not_on_the_target_is_refused),
		cmocka_unit_test(a_name_taken_by_somebody_else_is_refused),
		cmocka_unit_test(a_helper_that_a_tool_killed_is_replaced),
		cmocka_unit_test(the_target_is_mounted_nosuid_and_nodev),
		cmocka_unit_test(the_host_sees_none_of_it),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
