/* SPDX-License-Identifier: MIT
 *
 * Programs of `iosweep workloads try`: posix_spawn(3), output in memory files, a deadline.  Each leads a process
 * group, so that its children end with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cli/try.h"

#define OUTPUT_MAX ((size_t)16 << 20)
#define KILL_AFTER_MS 5000

static volatile sig_atomic_t asked_to_stop;

static void stop_note(int signal)
{
	asked_to_stop = signal;
}

void try_signals_catch(void)
{
	struct sigaction action = { .sa_handler = stop_note };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int spawn_actions(const struct try_program *p, posix_spawn_file_actions_t *actions)
{
	int rc = posix_spawn_file_actions_init(actions);

	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
	if (rc == 0 && p->discard)
		rc = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
	if (rc == 0 && !p->discard)
		rc = posix_spawn_file_actions_adddup2(actions, p->out_fd, 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, p->err_fd, 2);
	if (rc == 0)
		rc = posix_spawn_file_actions_addchdir_np(actions, p->dir);
	return rc;
}

/* Signals as a new program expects them, and a process group of its own. */
static void spawn_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(attr);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setpgroup(attr, 0);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int try_program_start(struct try_program *p, struct err *e)
{
	static char path[] = "PATH=" WORKLOAD_PATH, lc[] = "LC_ALL=C", lang[] = "LANG=C", home[] = "HOME=/";
	char *env[] = { path, lc, lang, home, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	p->out_fd = memfd_create("stdout", MFD_CLOEXEC);
	p->err_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (p->out_fd < 0 || p->err_fd < 0)
		return err_sys(e, errno, "make a memory file");
	rc = spawn_actions(p, &actions);
	spawn_attributes(&attr);
	p->started_ns = clock_ns();
	if (rc == 0)
		rc = posix_spawnp(&p->pid, p->argv[0], &actions, &attr, p->argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (rc == 0)
		return 0;
	p->pid = 0;
	if (rc == ENOENT)
		return err_set(e, ERR_INFEASIBLE, "needs '%s', which is not installed", p->argv[0]);
	return err_sys(e, rc, "start '%s'", p->argv[0]);
}

static int64_t timeval_ns(struct timeval t)
{
	return t.tv_sec * INT64_C(1000000000) + t.tv_usec * 1000;
}

/* Collects the program if it has ended. */
static bool program_reap(struct try_program *p, int options)
{
	struct rusage use;

	if (p->pid == 0)
		return true;
	if (wait4(p->pid, &p->status, options, &use) != p->pid)
		return false;
	p->elapsed_ns = clock_ns() - p->started_ns;
	p->user_ns = timeval_ns(use.ru_utime);
	p->system_ns = timeval_ns(use.ru_stime);
	p->pid = 0;
	return true;
}

bool try_program_is_running(struct try_program *p)
{
	return !program_reap(p, WNOHANG);
}

/* Waits for one program, at most until the deadline. */
static bool program_wait(struct try_program *p, int64_t deadline_ns)
{
	struct pollfd poll_fd = { .events = POLLIN };
	bool has_ended;

	if (p->pid == 0)
		return true;
	poll_fd.fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	while (!(has_ended = program_reap(p, WNOHANG)) && asked_to_stop == 0) {
		int64_t left_ms = (deadline_ns - clock_ns()) / 1000000;

		if (left_ms <= 0)
			break;
		poll(&poll_fd, 1, left_ms < 1000 ? (int)left_ms : 1000);
	}
	if (poll_fd.fd >= 0)
		close(poll_fd.fd);
	return has_ended;
}

void try_program_stop(struct try_program *p, int signal)
{
	sig_atomic_t before = asked_to_stop;

	if (p->pid == 0)
		return;
	kill(-p->pid, signal);
	asked_to_stop = 0; /* the wait below is the stopping */
	if (!program_wait(p, clock_ns() + KILL_AFTER_MS * INT64_C(1000000))) {
		kill(-p->pid, SIGKILL);
		program_reap(p, 0);
	}
	asked_to_stop = before;
}

int try_programs_wait(struct try_program *p, size_t n, int64_t timeout_ns, struct err *e)
{
	int64_t deadline_ns = clock_ns() + timeout_ns;
	bool all_ended = true;
	char buf[SIZE_TEXT];

	for (size_t i = 0; i < n && all_ended; i++)
		all_ended = program_wait(&p[i], deadline_ns);
	if (all_ended && asked_to_stop == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		try_program_stop(&p[i], SIGTERM);
	if (asked_to_stop != 0)
		return err_set(e, ERR_CANCELLED, "'%s' was ended: asked to stop", p[0].argv[0]);
	return err_set(e, ERR_TIMEOUT, "'%s' did not end within %s", p[0].argv[0], duration_format(timeout_ns, buf));
}

static void output_take(int *fd, struct arena *a, struct capture *c)
{
	off_t size = lseek(*fd, 0, SEEK_END);
	size_t n = size > 0 ? (size_t)size : 0;
	ssize_t got;
	char *data;

	c->is_cut = n > OUTPUT_MAX;
	n = c->is_cut ? OUTPUT_MAX : n;
	data = arena_alloc(a, n + 1);
	got = pread(*fd, data, n, 0);
	c->data = data;
	c->n = got > 0 ? (size_t)got : 0;
	close(*fd);
	*fd = -1;
}

void try_program_output(struct try_program *p, struct arena *a, struct capture *out, struct capture *err)
{
	out->stream = "stdout";
	err->stream = "stderr";
	output_take(&p->out_fd, a, out);
	output_take(&p->err_fd, a, err);
}

int try_exit_status(const struct try_program *p)
{
	return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}
