/* SPDX-License-Identifier: MIT
 *
 * The helper; see helper.h.  One request at a time over a socket pair, in frames.  It is made by a plain clone(2)
 * without exit signal, so that the worker's search for strays does not see it (strays.c), and is not dumpable: the
 * tools run as the same user and must not reach into it (ptrace(2), PTRACE_MODE_READ_FSCREDS).
 */
#include "daemon/worker/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/worker/frame.h"
#include "daemon/worker/helper_serve.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/strays.h"

#define EXTRACT_LIMIT_NS (60 * INT64_C(1000000000))
#define FILES_LIMIT_NS (1800 * INT64_C(1000000000)) /* removing the files of a large target can take minutes */
#define MEASURED_MAX 100000
#define BURY_PAUSE_NS 1000000
#define BURY_TRIES 5000

struct helper {
	const struct tool_identity *as;         /* borrowed */
	const struct sweep_workload *workloads; /* borrowed */
	size_t n_workloads;
	pid_t pid;                              /* 0: not running */
	int fd;                                 /* owned; -1 */
	struct text frame, answer;              /* kept for their memory */
};

/* In the child: everything but the socket goes, then root goes.  ends here. */
static void __attribute__((noreturn)) child_main(const struct helper *h, int fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0 || dup2(fd, 3) < 0 ||
	    syscall(SYS_close_range, 4, ~0U, 0) < 0)
		_exit(120);
	if (spawn_become(h->as) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(121);
	helper_serve(3, h->workloads, h->n_workloads);
	_exit(0);
}

static int helper_launch(struct helper *h, struct err *e)
{
	int ends[2];
	long pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, errno, "make a socket pair");
	pid = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
	if (pid == 0)
		child_main(h, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return err_sys(e, errno, "start the helper");
	}
	h->pid = (pid_t)pid;
	h->fd = ends[0];
	strays_spare(h->pid, true);
	return 0;
}

/* How it ended, for the message. */
static void helper_bury(struct helper *h, bool kill_it, int *ret_status)
{
	if (h->pid == 0)
		return;
	if (kill_it)
		kill(h->pid, SIGKILL);
	strays_spare_no_more(h->pid);
	/* One that hangs in the kernel is left to strays_end, which says so. */
	for (int i = 0; i < BURY_TRIES && waitpid(h->pid, ret_status, __WALL | WNOHANG) == 0; i++)
		nanosleep(&(struct timespec){ .tv_nsec = BURY_PAUSE_NS }, NULL);
	close(h->fd);
	h->fd = -1;
	h->pid = 0;
}

int helper_start(const struct tool_identity *as, const struct sweep_workload *workloads, size_t n_workloads,
                 struct helper **ret, struct err *e)
{
	struct helper *h = xcalloc(1, sizeof(*h));

	*h = (struct helper){ .as = as, .workloads = workloads, .n_workloads = n_workloads, .fd = -1 };
	if (helper_launch(h, e) < 0) {
		free(h);
		return -1;
	}
	*ret = h;
	return 0;
}

void helper_stop(struct helper *h)
{
	int status;

	if (h == NULL)
		return;
	helper_bury(h, true, &status);
	text_done(&h->frame);
	text_done(&h->answer);
	free(h);
}

static bool helper_is_dead(const struct helper *h)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 || info.si_pid != 0;
}

/* A tool that kills all it can reach (kill -1) may hit the helper just before the question: dead this soon, it was
 * not the question that killed it. */
#define AT_ONCE_NS INT64_C(50000000)

/* One question to a helper that is alive, as far as one can see: 0, or -1 with own and how it ended. */
static int helper_exchange(struct helper *h, int64_t deadline_ns, int *ret_status, struct err *own, struct err *e)
{
	if (h->pid != 0 && helper_is_dead(h))
		helper_bury(h, false, ret_status);
	if (h->pid == 0 && helper_launch(h, e) < 0)
		return -1;
	if (frame_send(h->fd, &h->frame, deadline_ns, own) == 0 &&
	    frame_receive(h->fd, deadline_ns, &h->answer, own) == 0)
		return 0;
	helper_bury(h, true, ret_status);
	return -1;
}

/* Sends h->frame and reads the answer: 0 and a reader behind its status word, or the error that it carries. */
static int helper_ask(struct helper *h, const char *what, int64_t limit_ns, struct frame_reader *ret, struct err *e)
{
	int64_t start_ns = clock_ns();
	AUTO_ARENA struct arena *a = NULL;
	struct frame_reader r;
	struct err own = { 0 };
	int status = 0;
	int rc = helper_exchange(h, start_ns + limit_ns, &status, &own, e);

	if (rc < 0 && own.kind != ERR_NONE && own.kind != ERR_TIMEOUT && clock_ns() - start_ns < AT_ONCE_NS) {
		own.kind = ERR_NONE;
		rc = helper_exchange(h, start_ns + limit_ns, &status, &own, e);
	}
	if (rc < 0 && own.kind == ERR_NONE)
		return -1; /* it could not be started; e says why */
	if (rc < 0 && own.kind == ERR_TIMEOUT)
		return err_set(e, ERR_TOOL, "%s: did not end in time", what);
	if (rc < 0)
		return err_set(e, ERR_TOOL, "%s: its process was killed by signal %d (%s)", what, WTERMSIG(status),
		               strsignal(WTERMSIG(status)));
	r = (struct frame_reader){ .at = h->answer.s, .left = h->answer.n };
	status = (int)frame_number(&r);
	if (status != ERR_NONE) {
		a = arena_new();
		/* A full target is a tool's trouble; ERR_NO_SPACE would mean the store. */
		return err_set(e, status == ERR_REFUSED ? ERR_REFUSED : ERR_TOOL, "%.900s", frame_string(&r, a));
	}
	*ret = r;
	return 0;
}

static void extract_request(struct text *frame, size_t workload, const struct workload_param *params, size_t n_params,
                            const struct capture *captures, size_t n_captures, const struct fact *facts, size_t n_facts,
                            int exit_status)
{
	text_clear(frame);
	frame_add_number(frame, HELPER_EXTRACT);
	frame_add_number(frame, (int64_t)workload);
	frame_add_number(frame, exit_status);
	frame_add_number(frame, (int64_t)n_params);
	for (size_t i = 0; i < n_params; i++) {
		frame_add_string(frame, params[i].name);
		frame_add_string(frame, params[i].value);
	}
	frame_add_number(frame, (int64_t)n_captures);
	for (size_t i = 0; i < n_captures; i++) {
		frame_add_string(frame, captures[i].step);
		frame_add_string(frame, captures[i].stream);
		frame_add_number(frame, captures[i].is_cut);
		frame_add_bytes(frame, captures[i].data, captures[i].n);
	}
	frame_add_number(frame, (int64_t)n_facts);
	for (size_t i = 0; i < n_facts; i++) {
		frame_add_string(frame, facts[i].name);
		frame_add_real(frame, facts[i].value);
	}
}

static void measured_read(struct frame_reader *r, struct arena *a, struct measured *m)
{
	int64_t better;

	m->name = frame_string(r, a);
	m->label = frame_string(r, a);
	m->unit = frame_string(r, a);
	better = frame_number(r);
	m->better = better == BETTER_HIGHER ? BETTER_HIGHER : better == BETTER_LOWER ? BETTER_LOWER : BETTER_NEITHER;
	m->is_detail = frame_number(r) != 0;
	m->value = frame_real(r);
	m->found_by = frame_string(r, a);
	if (!isfinite(m->value))
		r->is_bad = true;
}

static int outcome_read(struct frame_reader *r, struct arena *a, struct outcome *ret, struct err *e)
{
	struct outcome o = { 0 };
	int64_t state = frame_number(r);

	if (state < EXTRACT_OK || state > EXTRACT_PARTIAL)
		r->is_bad = true;
	o.state = r->is_bad ? EXTRACT_UNPARSABLE : (enum extract_state)state;
	o.reason = frame_string(r, a);
	o.suspect = frame_number(r) != 0 ? frame_string(r, a) : NULL;
	o.n = frame_count(r, 6 * sizeof(int64_t));
	if (o.n > MEASURED_MAX)
		r->is_bad = true;
	if (!r->is_bad)
		o.at = arena_array(a, o.n, sizeof(*o.at));
	for (size_t i = 0; i < o.n && !r->is_bad; i++)
		measured_read(r, a, &o.at[i]);
	if (r->is_bad)
		return err_set(e, ERR_TOOL, "the extraction gave a malformed answer");
	*ret = o;
	return 0;
}

int helper_extract(struct helper *h, size_t workload, const struct workload_param *params, size_t n_params,
                   const struct capture *captures, size_t n_captures, const struct fact *facts, size_t n_facts,
                   int exit_status, struct arena *a, struct outcome *ret, struct err *e)
{
	struct frame_reader r;

	extract_request(&h->frame, workload, params, n_params, captures, n_captures, facts, n_facts, exit_status);
	if (helper_ask(h, "the extraction of metrics", EXTRACT_LIMIT_NS, &r, e) < 0)
		return -1;
	return outcome_read(&r, a, ret, e);
}

static int path_ask(struct helper *h, int64_t op, const char *what, const char *path, struct frame_reader *ret,
                    struct err *e)
{
	text_clear(&h->frame);
	frame_add_number(&h->frame, op);
	frame_add_string(&h->frame, path);
	return helper_ask(h, what, FILES_LIMIT_NS, ret, e);
}

static int helper_path(struct helper *h, int64_t op, const char *what, const char *path, struct err *e)
{
	struct frame_reader r;

	return path_ask(h, op, what, path, &r, e);
}

int helper_make_dir(struct helper *h, const char *path, struct err *e)
{
	return helper_path(h, HELPER_MAKE_DIR, "make the work directory", path, e);
}

int helper_remove_dir(struct helper *h, const char *path, struct err *e)
{
	return helper_path(h, HELPER_REMOVE_DIR, "remove the work directory", path, e);
}

int helper_extents(struct helper *h, const char *path, struct extents *ret, struct err *e)
{
	struct frame_reader r;

	if (path_ask(h, HELPER_EXTENTS, "look where the data is", path, &r, e) < 0)
		return -1;
	ret->bytes = frame_number(&r);
	ret->holes = frame_number(&r);
	ret->unwritten = frame_number(&r);
	ret->encoded = frame_number(&r);
	return r.is_bad ? err_set(e, ERR_TOOL, "the look at the extents gave a malformed answer") : 0;
}
