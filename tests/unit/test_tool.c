/* SPDX-License-Identifier: MIT
 *
 * Running programs: ends, outputs, deadlines, cancelling, credentials, and what is left behind.  The tests that need
 * root (credentials, a PID namespace) skip themselves without it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/namespace.h"
#include "daemon/worker/strays.h"
#include "daemon/worker/tool.h"

#define MS INT64_C(1000000)

static const struct tool_env env = { .cancel_fd = -1, .kill_after_ns = 300 * MS };
static const struct tool_identity root = { .is_root = true, .cgroup_fd = -1 };

static int run(const struct tool_identity *as, int64_t timeout_ns, size_t keep, struct tool_end *end, struct err *e,
               char *const *argv)
{
	struct tool tool = { .argv = argv, .timeout_ns = timeout_ns, .keep = keep };

	return tool_run(&env, as, &tool, end, e);
}

static int run_sh(const char *script, int64_t timeout_ns, struct tool_end *end, struct err *e)
{
	char sh[] = "sh", c[] = "-c", text[400];
	char *argv[] = { sh, c, text, NULL };

	snprintf(text, sizeof(text), "%s", script);
	return run(&root, timeout_ns, 0, end, e, argv);
}

static void both_outputs_and_the_status_are_kept(void **state)
{
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_sh("echo out; echo err >&2; exit 3", 0, &end, &e), 0);
	assert_int_equal(end.exit_status, 3);
	assert_int_equal(end.exit_signal, 0);
	assert_string_equal(text_str(&end.out), "out\n");
	assert_string_equal(text_str(&end.err), "err\n");
	assert_int_equal(end.out_bytes, 4);
	assert_int_equal(end.err_bytes, 4);
	assert_true(end.elapsed_ns > 0);
	tool_end_done(&end);
}

static void a_killed_program_has_a_signal_and_no_status(void **state)
{
	struct tool_end end;
	struct err e = { 0 };
	AUTO_TEXT struct text what = { 0 };

	(void)state;
	assert_int_equal(run_sh("echo last words >&2; kill -SEGV $$", 0, &end, &e), 0);
	assert_int_equal(end.exit_status, -1);
	assert_int_equal(end.exit_signal, SIGSEGV);
	tool_end_describe(&end, "sh", &what);
	assert_string_equal(text_str(&what), "'sh' was killed by signal 11 (Segmentation fault): last words");
	tool_end_done(&end);
}

static void a_program_that_is_not_there_is_infeasible(void **state)
{
	char name[] = "iozone-that-nobody-has";
	char *argv[] = { name, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&root, 0, 0, &end, &e, argv), -1);
	assert_int_equal(e.kind, ERR_INFEASIBLE);
	assert_string_equal(e.text, "needs 'iozone-that-nobody-has', which is not installed");
	tool_end_done(&end);
}

static void a_file_that_is_no_program_is_an_error_of_the_tool(void **state)
{
	char name[] = "/etc/passwd";
	char *argv[] = { name, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&root, 0, 0, &end, &e, argv), -1);
	assert_int_equal(e.kind, ERR_TOOL);
	assert_string_equal(e.text, "start '/etc/passwd': Permission denied");
	tool_end_done(&end);
}

static void a_directory_that_is_missing_is_named(void **state)
{
	char name[] = "true";
	char *argv[] = { name, NULL };
	struct tool tool = { .argv = argv, .dir = "/nowhere/at/all" };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tool_run(&env, &root, &tool, &end, &e), -1);
	assert_string_equal(e.text, "start 'true': chdir to '/nowhere/at/all': No such file or directory");
	tool_end_done(&end);
}

static void a_deadline_ends_the_program_with_term(void **state)
{
	struct tool_end end;
	struct err e = { 0 };
	int64_t before_ns = clock_ns();

	(void)state;
	assert_int_equal(run_sh("echo begun; exec sleep 60", 100 * MS, &end, &e), -1);
	assert_true(clock_ns() - before_ns < 5000 * MS);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_string_equal(e.text, "'sh' did not end within 100ms");
	assert_int_equal(end.exit_signal, SIGTERM);
	assert_string_equal(text_str(&end.out), "begun\n");
	tool_end_done(&end);
}

static void a_program_that_ignores_term_is_killed(void **state)
{
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_sh("trap '' TERM; while :; do sleep 0.05; done", 200 * MS, &end, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(end.exit_signal, SIGKILL);
	tool_end_done(&end);
}

static void a_stopped_program_ends_at_its_deadline(void **state)
{
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_sh("kill -STOP $$", 100 * MS, &end, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(end.exit_signal, SIGTERM);
	tool_end_done(&end);
}

static void a_readable_cancel_descriptor_ends_the_program(void **state)
{
	char sleep_name[] = "sleep", sixty[] = "60";
	char *argv[] = { sleep_name, sixty, NULL };
	struct tool tool = { .argv = argv };
	struct tool_env cancelled = { .kill_after_ns = 300 * MS };
	struct tool_end end;
	struct err e = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[1]); /* end of file: as when the daemon dies */
	cancelled.cancel_fd = ends[0];
	assert_int_equal(tool_run(&cancelled, &root, &tool, &end, &e), -1);
	assert_int_equal(e.kind, ERR_CANCELLED);
	assert_string_equal(e.text, "'sleep' was ended: asked to stop");
	close(ends[0]);
	tool_end_done(&end);
}

static void a_flood_keeps_its_beginning_and_its_end(void **state)
{
	char sh[] = "sh", c[] = "-c", script[] = "echo first; head -c 20000000 /dev/zero; echo; echo last";
	char *argv[] = { sh, c, script, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&root, 0, 4096, &end, &e, argv), 0);
	assert_int_equal(end.out_bytes, 20000000 + 6 + 1 + 5);
	assert_int_equal(end.out.n, 4096 + 1);
	assert_memory_equal(end.out.s, "first\n", 6);
	assert_memory_equal(end.out.s + end.out.n - 6, "\nlast\n", 6);
	assert_int_equal(end.out.s[2048], '\n'); /* stands for what was dropped */
	tool_end_done(&end);
}

static void output_up_to_the_bound_is_kept_whole(void **state)
{
	char sh[] = "sh", c[] = "-c",
	     script[] = "head -c 3000 /dev/zero | tr '\\0' a; head -c 1096 /dev/zero | tr '\\0' b";
	char *argv[] = { sh, c, script, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run(&root, 0, 4096, &end, &e, argv), 0);
	assert_int_equal(end.out.n, 4096);
	assert_int_equal(strspn(end.out.s, "a"), 3000);
	assert_int_equal(strspn(end.out.s + 3000, "b"), 1096);
	tool_end_done(&end);
}

static void the_environment_is_clean_and_in_the_c_locale(void **state)
{
	char name[] = "env";
	char *argv[] = { name, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	setenv("LD_PRELOAD_OF_SOMEBODY", "x", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	assert_int_equal(run(&root, 0, 0, &end, &e, argv), 0);
	assert_string_equal(text_str(&end.out),
	                    "PATH=" TOOL_PATH "\nLC_ALL=C\nLANG=C\nTMPDIR=/tmp\nSHELL=/bin/sh\nHOME=/\n"
	                    "USER=root\nLOGNAME=root\n");
	tool_end_done(&end);
}

static void standard_input_is_empty_and_nothing_else_is_open(void **state)
{
	struct tool_end end;
	struct err e = { 0 };
	int leaked = open("/etc/passwd", O_RDONLY); /* not close-on-exec, as a careless library would leave it */

	(void)state;
	assert_true(leaked >= 0);
	assert_int_equal(run_sh("cat; for f in 0 1 2 3 4 5 6 7 8 9; do test -e /proc/$$/fd/$f && printf '%s ' $f; done",
	                        0, &end, &e),
	                 0);
	assert_string_equal(text_str(&end.out), "0 1 2 ");
	close(leaked);
	tool_end_done(&end);
}

static void ignored_and_blocked_signals_are_not_inherited(void **state)
{
	struct tool_end end;
	struct err e = { 0 };
	sigset_t all, before;

	(void)state;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(run_sh("grep -E '^Sig(Blk|Ign)' /proc/self/status", 0, &end, &e), 0);
	assert_string_equal(text_str(&end.out), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	tool_end_done(&end);
}

static void the_program_leads_a_session_of_its_own(void **state)
{
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_sh("read -r pid comm st ppid pgrp session tty rest </proc/$$/stat; "
	                        "[ $pid = $pgrp ] && [ $pid = $session ] && [ $tty = 0 ] && echo yes", 0, &end, &e), 0);
	assert_string_equal(text_str(&end.out), "yes\n");
	tool_end_done(&end);
}

static void cpu_time_includes_the_children(void **state)
{
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(run_sh("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'", 0, &end, &e), 0);
	assert_true(end.user_ns + end.system_ns > 20 * MS);
	assert_true(end.elapsed_ns > 20 * MS);
	tool_end_done(&end);
}

static void copies_run_at_the_same_time(void **state)
{
	char sleep_name[] = "sleep", half[] = "0.3", sh[] = "sh", c[] = "-c", script[] = "sleep 0.3; exit 4";
	char *one[] = { sleep_name, half, NULL }, *two[] = { sh, c, script, NULL };
	struct tool tools[] = { { .argv = one }, { .argv = two }, { .argv = one } };
	struct tool_end ends[3];
	struct err e = { 0 };
	int64_t before_ns = clock_ns();

	(void)state;
	assert_int_equal(tools_run(&env, &root, tools, 3, ends, &e), 0);
	assert_true(clock_ns() - before_ns < 850 * MS);
	assert_int_equal(ends[0].exit_status, 0);
	assert_int_equal(ends[1].exit_status, 4);
	assert_int_equal(ends[2].exit_status, 0);
	for (int i = 0; i < 3; i++)
		tool_end_done(&ends[i]);
}

static void a_copy_that_cannot_start_ends_the_others(void **state)
{
	char sleep_name[] = "sleep", sixty[] = "60", missing[] = "nobody-has-this";
	char *one[] = { sleep_name, sixty, NULL }, *two[] = { missing, NULL };
	struct tool tools[] = { { .argv = one }, { .argv = two } };
	struct tool_end ends[2];
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tools_run(&env, &root, tools, 2, ends, &e), -1);
	assert_int_equal(e.kind, ERR_INFEASIBLE);
	assert_string_equal(e.text, "needs 'nobody-has-this', which is not installed");
	assert_int_equal(ends[0].exit_signal, SIGKILL);
	tool_end_done(&ends[0]);
	tool_end_done(&ends[1]);
}

static void a_tool_that_must_succeed_tells_its_last_line(void **state)
{
	const char *const bad[] = { "sh", "-c", "echo begin; echo 'no such block size' >&2; exit 1", NULL };
	const char *const good[] = { "echo", "fine", NULL };
	AUTO_TEXT struct text out = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(tool_must(&env, NULL, &e, bad, 0), -1);
	assert_int_equal(e.kind, ERR_TOOL);
	assert_string_equal(e.text, "'sh' exited with status 1: no such block size");
	assert_int_equal(tool_must(&env, &out, &e, good, 0), 0);
	assert_string_equal(text_str(&out), "fine\n");
}

/* ---- with root ---- */

static const gid_t groups[] = { 4242, 4243 };
static const struct tool_identity nobody = {
	.uid = 4240, .gid = 4241, .groups = groups, .n_groups = 2, .home = "/home/nobody", .login = "nobody", .cgroup_fd = -1,
};

static void a_tool_of_a_user_has_his_ids_and_nothing_of_root(void **state)
{
	char sh[] = "sh", c[] = "-c";
	char script[] = "grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs)' /proc/self/status; ulimit -c; echo $HOME $USER";
	char *argv[] = { sh, c, script, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(run(&nobody, 0, 0, &end, &e, argv), 0);
	assert_string_equal(text_str(&end.out),
	                    "Uid:\t4240\t4240\t4240\t4240\nGid:\t4241\t4241\t4241\t4241\nGroups:\t4242 4243 \n"
	                    "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
	                    "CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\n0\n/home/nobody nobody\n");
	assert_int_equal(geteuid(), 0); /* the credentials changed in the child alone */
	tool_end_done(&end);
}

static void a_tool_of_root_cannot_make_nodes_or_touch_other_processes(void **state)
{
	char sh[] = "sh", c[] = "-c";
	/* Opening another process's memory asks for PTRACE_MODE_ATTACH: ptrace(2). */
	char script[] = "cd /tmp && mknod test_tool.$$ b 7 0; s=$?; rm -f test_tool.$$; (: <>/proc/1/mem) && s=0; exit $s";
	char *argv[] = { sh, c, script, NULL };
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(run(&root, 0, 0, &end, &e, argv), 0);
	assert_int_equal(end.exit_status, 1);
	assert_non_null(strstr(text_str(&end.err), "Operation not permitted"));
	tool_end_done(&end);
}

static void a_room_hides_the_rest_of_the_file_system(void **state)
{
	char room[] = "/tmp/test_tool.XXXXXX", path[64], argument[64];
	char name[] = "/busybox-less";
	char *argv[] = { name, argument, NULL };
	struct tool_identity as = nobody;
	struct tool_end end;
	struct err e = { 0 };

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_non_null(mkdtemp(room));
	assert_int_equal(chmod(room, 0755), 0);
	as.room = room;
	snprintf(argument, sizeof(argument), "%s/x", room);
	assert_int_equal(run(&as, 0, 0, &end, &e, argv), -1);
	assert_string_equal(e.text, "start '/busybox-less': open '/dev/null': No such file or directory");
	tool_end_done(&end);
	snprintf(path, sizeof(path), "%s/dev", room);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/dev/null", room);
	assert_int_equal(mknod(path, S_IFCHR | 0666, makedev(1, 3)), 0);
	assert_int_equal(run(&as, 0, 0, &end, &e, argv), -1);
	assert_string_equal(e.text, "needs '/busybox-less', which is not installed");
	tool_end_done(&end);
	unlink(path);
	snprintf(path, sizeof(path), "%s/dev", room);
	rmdir(path);
	rmdir(room);
}

/* Runs a function as the init of a new PID namespace with a /proc of its own, as the worker is. */
static int as_init(int (*body)(void))
{
	pid_t pid;
	int status;

	pid = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, NULL, NULL, NULL, 0);
	assert_true(pid >= 0);
	if (pid == 0) {
		sigset_t child;

		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		sigprocmask(SIG_BLOCK, &child, NULL);
		if (namespace_hide_mounts(NULL) < 0 || mount("proc", "/proc", "proc", 0, NULL) < 0)
			_exit(99);
		_exit(body());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int processes_left(void)
{
	struct tool_end end;
	struct err e = { 0 };
	int n = -1;

	/* The shell itself and nobody else beside init. */
	if (run_sh("n=0; for p in /proc/[0-9]*; do n=$((n+1)); done; echo $n", 0, &end, &e) == 0)
		n = (int)strtol(text_str(&end.out), NULL, 10) - 2;
	tool_end_done(&end);
	return n;
}

static int run_escapee_after_good_end(void)
{
	struct tool_end end;
	struct err e = { 0 };
	int rc = run_sh("(setsid sh -c 'trap \"\" TERM; sleep 600' &) ; (sleep 600 &) ; exit 0", 0, &end, &e);

	return rc == 0 && end.exit_status == 0 ? processes_left() : 100;
}

static int run_escapee_at_deadline(void)
{
	struct tool_end end;
	struct err e = { 0 };
	int rc = run_sh("setsid sh -c 'setsid sleep 600 & sleep 600' & sleep 600", 200 * MS, &end, &e);

	return rc < 0 && e.kind == ERR_TIMEOUT ? processes_left() : 100;
}

static int run_many_orphans(void)
{
	struct tool_end end;
	struct err e = { 0 };
	int rc = run_sh("i=0; while [ $i -lt 50 ]; do (true &) ; i=$((i+1)); done; sleep 0.1; "
	                "grep -l '^State:.Z' /proc/[0-9]*/status | wc -l", 0, &end, &e);

	/* Orphans are reaped while the tool runs, so that none is a zombie at its end. */
	return rc == 0 ? (int)strtol(text_str(&end.out), NULL, 10) + processes_left() : 100;
}

static void what_a_tool_leaves_running_is_ended(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(as_init(run_escapee_after_good_end), 0);
	assert_int_equal(as_init(run_escapee_at_deadline), 0);
}

static void orphans_are_reaped_while_a_tool_runs(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(as_init(run_many_orphans), 0);
}

static int run_beside_server(void)
{
	char sh[] = "sh", c[] = "-c",
	     script[] = "trap 'echo bye; exit 7' TERM; echo up; sleep 600 & while :; do wait; done";
	char *argv[] = { sh, c, script, NULL };
	struct tool tool = { .argv = argv };
	struct tool_server *server;
	struct tool_end end, server_end;
	struct err e = { 0 };
	int left;

	if (tool_server_start(&env, &root, &tool, &server, &e) < 0)
		return 101;
	if (run_sh("(setsid sleep 600 &) ; sleep 0.2", 0, &end, &e) < 0)
		return 102;
	tool_end_done(&end);
	left = processes_left();
	if (left != 2) /* the server and its child; the stray is gone */
		return 110 + left;
	tool_server_stop(server, 2000 * MS, &server_end);
	if (server_end.exit_status < 0 && server_end.exit_signal == 0)
		return 103;
	if (server_end.exit_status != 7 || strcmp(text_str(&server_end.out), "up\nbye\n") != 0)
		return 104;
	tool_end_done(&server_end);
	return strays_end(&e) < 0 ? 105 : processes_left();
}

static void a_server_outlives_the_tools_beside_it_until_it_is_stopped(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(as_init(run_beside_server), 0);
}

/* While the worker is busy with something else, and then no more than the bound is there, of both ends. */
static int run_talkative_server(void)
{
	char sh[] = "sh", c[] = "-c",
	     script[] = "echo first; head -c 300000000 /dev/zero; echo; echo last; echo why >&2; exit 3";
	char *argv[] = { sh, c, script, NULL };
	struct tool tool = { .argv = argv, .keep = 4096 };
	struct tool_server *server;
	struct tool_end end;
	struct err e = { 0 };

	if (tool_server_start(&env, &root, &tool, &server, &e) < 0)
		return 101;
	for (int i = 0; i < 3000 && tool_server_is_running(server); i++)
		usleep(10000);
	if (tool_server_is_running(server))
		return 102;
	tool_server_stop(server, 0, &end);
	if (end.exit_status != 3 || end.out_bytes != 300000012 || strcmp(text_str(&end.err), "why\n") != 0)
		return 103;
	if (end.out.n != 4096 + 1 || memcmp(end.out.s, "first\n", 6) != 0 ||
	    memcmp(end.out.s + end.out.n - 6, "\nlast\n", 6) != 0)
		return 104;
	tool_end_done(&end);
	return strays_end(&e) < 0 ? 105 : processes_left();
}

static void what_a_server_prints_is_taken_all_along_and_kept_up_to_the_bound(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(as_init(run_talkative_server), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_outputs_and_the_status_are_kept),
		cmocka_unit_test(a_killed_program_has_a_signal_and_no_status),
		cmocka_unit_test(a_program_that_is_not_there_is_infeasible),
		cmocka_unit_test(a_file_that_is_no_program_is_an_error_of_the_tool),
		cmocka_unit_test(a_directory_that_is_missing_is_named),
		cmocka_unit_test(a_deadline_ends_the_program_with_term),
		cmocka_unit_test(a_program_that_ignores_term_is_killed),
		cmocka_unit_test(a_stopped_program_ends_at_its_deadline),
		cmocka_unit_test(a_readable_cancel_descriptor_ends_the_program),
		cmocka_unit_test(a_flood_keeps_its_beginning_and_its_end),
		cmocka_unit_test(output_up_to_the_bound_is_kept_whole),
		cmocka_unit_test(the_environment_is_clean_and_in_the_c_locale),
		cmocka_unit_test(standard_input_is_empty_and_nothing_else_is_open),
		cmocka_unit_test(ignored_and_blocked_signals_are_not_inherited),
		cmocka_unit_test(the_program_leads_a_session_of_its_own),
		cmocka_unit_test(cpu_time_includes_the_children),
		cmocka_unit_test(copies_run_at_the_same_time),
		cmocka_unit_test(a_copy_that_cannot_start_ends_the_others),
		cmocka_unit_test(a_tool_that_must_succeed_tells_its_last_line),
		cmocka_unit_test(a_tool_of_a_user_has_his_ids_and_nothing_of_root),
		cmocka_unit_test(a_tool_of_root_cannot_make_nodes_or_touch_other_processes),
		cmocka_unit_test(a_room_hides_the_rest_of_the_file_system),
		cmocka_unit_test(what_a_tool_leaves_running_is_ended),
		cmocka_unit_test(orphans_are_reaped_while_a_tool_runs),
		cmocka_unit_test(a_server_outlives_the_tools_beside_it_until_it_is_stopped),
		cmocka_unit_test(what_a_server_prints_is_taken_all_along_and_kept_up_to_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
