/* SPDX-License-Identifier: MIT
 *
 * Running programs to their end; see tool.h.  One poll(2) watches every program's pidfd and both its outputs, the
 * cancel descriptor and the deadline.  How a program is started is in spawn.c, what it leaves behind is ended by
 * strays.c.
 */
#include "daemon/worker/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/fault.h"
#include "daemon/worker/hang.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/strays.h"
#include "daemon/worker/stream.h"

#define KILL_AFTER_NS INT64_C(5000000000)

struct running {
	struct spawned at; /* pid 0: not started, or ended and reaped */
	struct stream out, err;
};

/* What a set of programs that run together waits for; only ever moves down this list. */
enum run_phase {
	RUN_TO_THE_END,
	RUN_AFTER_TERM, /* TERM was sent; KILL follows */
	RUN_AFTER_KILL, /* KILL was sent; there is nothing left to do but wait */
	RUN_HANGS       /* for a device that does not answer: as long as it takes */
};

struct run {
	const struct tool_env *env;
	const struct tool *tools;
	struct running *at; /* owned */
	size_t n, n_alive;
	struct tool_end *ends; /* the caller's */
	struct pollfd *polls;  /* owned: cancel, orphans, then pidfd, out, err of each */
	int orphan_fd;         /* signalfd of SIGCHLD; -1 outside of a PID namespace of our own */
	enum run_phase phase;
	int64_t deadline_ns;   /* when the phase ends */
	enum err_kind why;     /* ERR_NONE, ERR_TIMEOUT or ERR_CANCELLED */
};

void tool_end_done(struct tool_end *end)
{
	text_done(&end->out);
	text_done(&end->err);
}

static int64_t timeval_ns(struct timeval t)
{
	return t.tv_sec * INT64_C(1000000000) + t.tv_usec * 1000;
}

static void end_fill(struct tool_end *end, int status, const struct rusage *use, int64_t elapsed_ns)
{
	end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	end->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->elapsed_ns = elapsed_ns;
	end->user_ns = timeval_ns(use->ru_utime);
	end->system_ns = timeval_ns(use->ru_stime);
	end->read_bytes = use->ru_inblock * INT64_C(512); /* units of 512 bytes: getrusage(2) */
}

static void running_reap(struct run *r, size_t i)
{
	struct running *p = &r->at[i];
	int64_t now_ns = clock_ns();
	struct rusage use;
	int status;

	if (wait4(p->at.pid, &status, WNOHANG, &use) != p->at.pid)
		return;
	end_fill(&r->ends[i], status, &use, now_ns - p->at.started_ns);
	close(p->at.pidfd);
	p->at = (struct spawned){ .pidfd = -1 };
	r->n_alive--;
}

static void run_signal(struct run *r, int signal)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].at.pid > 0)
			kill(-r->at[i].at.pid, signal); /* its process group: it leads one */
}

static void run_hangs(const struct run *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].at.pid > 0) {
			hang_begin(r->at[i].at.pid, r->tools[i].argv[0]);
			return;
		}
}

static void run_advance(struct run *r, enum err_kind why)
{
	int64_t kill_after_ns = r->env->kill_after_ns > 0 ? r->env->kill_after_ns : KILL_AFTER_NS;

	if (r->why == ERR_NONE)
		r->why = why;
	switch (r->phase) {
	case RUN_TO_THE_END:
		run_signal(r, SIGTERM);
		run_signal(r, SIGCONT); /* a stopped program takes no TERM */
		r->phase = RUN_AFTER_TERM;
		r->deadline_ns = clock_ns() + kill_after_ns;
		break;
	case RUN_AFTER_TERM:
		run_signal(r, SIGKILL);
		r->phase = RUN_AFTER_KILL;
		r->deadline_ns = clock_ns() + hang_after_ns();
		break;
	case RUN_AFTER_KILL:
	case RUN_HANGS:
		r->phase = RUN_HANGS;
		r->deadline_ns = INT64_MAX;
		run_hangs(r);
		break;
	}
}

static bool pid_is_running(pid_t pid, const void *arg)
{
	const struct run *r = arg;

	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].at.pid == pid)
			return true;
	return false;
}

static void orphans_reap(struct run *r)
{
	struct signalfd_siginfo info;

	while (read(r->orphan_fd, &info, sizeof(info)) == sizeof(info))
		continue;
	strays_reap(pid_is_running, r);
}

static size_t polls_fill(struct run *r)
{
	size_t n = 0;

	r->polls[n++] = (struct pollfd){ .fd = r->phase == RUN_TO_THE_END ? r->env->cancel_fd : -1, .events = POLLIN };
	r->polls[n++] = (struct pollfd){ .fd = r->orphan_fd, .events = POLLIN };
	for (size_t i = 0; i < r->n; i++) {
		r->polls[n++] = (struct pollfd){ .fd = r->at[i].at.pid > 0 ? r->at[i].at.pidfd : -1, .events = POLLIN };
		r->polls[n++] = (struct pollfd){ .fd = r->at[i].out.fd, .events = POLLIN };
		r->polls[n++] = (struct pollfd){ .fd = r->at[i].err.fd, .events = POLLIN };
	}
	return n;
}

/* One look at everything; false on a failure of poll itself. */
static bool run_turn(struct run *r)
{
	size_t n = polls_fill(r);
	int64_t left_ns = r->deadline_ns - clock_ns();
	struct timespec left = { left_ns / 1000000000, left_ns % 1000000000 };
	int rc;

	if (left_ns <= 0) {
		run_advance(r, ERR_TIMEOUT);
		return true;
	}
	rc = ppoll(r->polls, n, &left, NULL);
	if (rc < 0)
		return errno == EINTR;
	/* Ends first: elapsed time is taken when it is seen. */
	for (size_t i = 0; i < r->n; i++)
		if (r->polls[2 + 3 * i].revents != 0)
			running_reap(r, i);
	for (size_t i = 0; i < r->n; i++) {
		if (r->polls[3 + 3 * i].revents != 0)
			stream_drain(&r->at[i].out);
		if (r->polls[4 + 3 * i].revents != 0)
			stream_drain(&r->at[i].err);
	}
	if (r->polls[1].revents != 0 && r->n_alive > 0)
		orphans_reap(r);
	if (r->polls[0].revents != 0)
		run_advance(r, ERR_CANCELLED);
	return true;
}

static int running_start(struct run *r, const struct tool_identity *wanted, size_t i, struct err *e)
{
	struct running *p = &r->at[i];
	struct tool_identity as = *wanted;
	size_t keep = r->tools[i].keep > 0 ? r->tools[i].keep : TOOL_KEEP;
	AUTO_CLOSE int out_fd = -1;
	AUTO_CLOSE int err_fd = -1;

	if ((r->tools[i].discard ? stream_discard(&p->out, &out_fd, e) : stream_open(&p->out, keep, &out_fd, e)) < 0)
		return -1;
	if (stream_open(&p->err, keep, &err_fd, e) < 0)
		return -1;
	if (as.is_root && as.room == NULL)
		as.room = r->env->room;
	if (spawn_program(&as, &r->tools[i], out_fd, err_fd, &p->at, e) < 0)
		return -1;
	r->n_alive++;
	return 0;
}

/* Opened once in the life of a worker, in which SIGCHLD is blocked; -1 in any other process. */
static int orphan_fd_get(void)
{
	static int fd = -1;
	sigset_t child;

	if (getpid() != 1)
		return -1;
	if (fd < 0) {
		sigemptyset(&child);
		sigaddset(&child, SIGCHLD);
		fd = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC);
	}
	return fd;
}

static void run_init(struct run *r, const struct tool_env *env, const struct tool *tools, size_t n,
                     struct tool_end *ends)
{
	int64_t timeout_ns = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t own_ns = tools[i].timeout_ns > 0 ? tools[i].timeout_ns : TOOL_TIMEOUT_NS;

		ends[i] = (struct tool_end){ .exit_status = -1 };
		timeout_ns = timeout_ns == 0 || own_ns < timeout_ns ? own_ns : timeout_ns;
	}
	*r = (struct run){
		.env = env, .tools = tools, .n = n, .ends = ends, .orphan_fd = orphan_fd_get(),
		.deadline_ns = clock_ns() + timeout_ns,
		.at = xcalloc(n, sizeof(*r->at)), .polls = xcalloc(2 + 3 * n, sizeof(*r->polls)),
	};
	for (size_t i = 0; i < n; i++)
		r->at[i] = (struct running){ .at.pidfd = -1, .out.fd = -1, .err.fd = -1 };
}

static void run_done(struct run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct running *p = &r->at[i];

		/* What had been printed when the last writer ended; a stray that was killed just now may have been
		 * one. */
		stream_drain(&p->out);
		stream_drain(&p->err);
		r->ends[i].out_bytes = p->out.bytes;
		r->ends[i].err_bytes = p->err.bytes;
		stream_take(&p->out, &r->ends[i].out);
		stream_take(&p->err, &r->ends[i].err);
		stream_done(&p->out);
		stream_done(&p->err);
		if (p->at.pidfd >= 0)
			close(p->at.pidfd);
	}
	free(r->at);
	free(r->polls);
}

static int run_verdict(const struct run *r, struct err *e)
{
	const char *name = r->tools[0].argv[0];
	char buf[SIZE_TEXT];

	if (r->why == ERR_CANCELLED)
		return err_set(e, ERR_CANCELLED, "'%s' was ended: asked to stop", name);
	if (r->why == ERR_TIMEOUT)
		return err_set(e, ERR_TIMEOUT, "'%s' did not end within %s", name,
		               duration_format(r->tools[0].timeout_ns > 0 ? r->tools[0].timeout_ns : TOOL_TIMEOUT_NS,
		                               buf));
	return 0;
}

int tools_run(const struct tool_env *env, const struct tool_identity *as, const struct tool *tools, size_t n,
              struct tool_end *ret, struct err *e)
{
	struct run r;
	int rc = 0;

	hang_disarm();
	/* one that cannot be cancelled is for undoing */
	if (env->cancel_fd >= 0 && hang_check(e) < 0) {
		memset(ret, 0, n * sizeof(*ret));
		hang_arm();
		return -1;
	}
	tools = fault_tools(tools, n);
	run_init(&r, env, tools, n, ret);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = running_start(&r, as, i, e);
	if (rc < 0) { /* those that did start have nothing to do without the others */
		r.phase = RUN_AFTER_TERM;
		run_advance(&r, ERR_NONE);
	} else {
		fault_during();
	}
	while (r.n_alive > 0)
		if (!run_turn(&r))
			break;
	if (rc == 0)
		rc = run_verdict(&r, e);
	if (strays_end(rc == 0 ? e : NULL) < 0)
		rc = -1;
	if (r.phase == RUN_HANGS && hang_end())
		rc = err_set(e, ERR_DEVICE_LOST, "'%s' waited for the device, which did not answer", tools[0].argv[0]);
	hang_arm();
	run_done(&r);
	return rc;
}

int tool_run(const struct tool_env *env, const struct tool_identity *as, const struct tool *tool, struct tool_end *ret,
             struct err *e)
{
	return tools_run(env, as, tool, 1, ret, e);
}

/* The last line with something on it: where tools say what is wrong. */
static void last_words(const struct text *t, struct text *ret)
{
	size_t n;
	const char *words = text_last_words(text_str(t), t->n, &n);

	text_add_printable(ret, words, n);
}

void tool_end_describe(const struct tool_end *end, const char *name, struct text *ret)
{
	AUTO_TEXT struct text line = { 0 };

	if (end->exit_signal != 0)
		text_printf(ret, "'%s' was killed by signal %d (%s)", name, end->exit_signal,
		            strsignal(end->exit_signal));
	else
		text_printf(ret, "'%s' exited with status %d", name, end->exit_status);
	last_words(&end->err, &line);
	if (line.n == 0)
		last_words(&end->out, &line);
	if (line.n > 0)
		text_printf(ret, ": %.400s", text_str(&line));
}

int tool_must(const struct tool_env *env, struct text *ret_out, struct err *e, const char *const *argv,
              int64_t timeout_ns)
{
	const struct tool_identity root = { .is_root = true, .cgroup_fd = -1 };
	const struct tool tool = { .argv = (char *const *)argv, .timeout_ns = timeout_ns };
	AUTO_TEXT struct text what = { 0 };
	struct tool_end end;
	int rc = tool_run(env, &root, &tool, &end, e);

	if (rc == 0 && end.exit_status != 0) {
		tool_end_describe(&end, argv[0], &what);
		rc = err_set(e, ERR_TOOL, "%s", text_str(&what));
	}
	if (rc == 0 && ret_out != NULL)
		text_add_n(ret_out, text_str(&end.out), end.out.n);
	tool_end_done(&end);
	return rc;
}
