/* SPDX-License-Identifier: MIT
 *
 * Servers that a workload starts and that run beside its tools (tool.h, tool_server).  The worker has other things to
 * do than to read along for hours: a thread for each server does, keeps what stream.h keeps, and sleeps otherwise.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/hang.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/strays.h"
#include "daemon/worker/stream.h"
#include "daemon/worker/tool.h"

#define READER_STACK_BYTES ((size_t)256 << 10)

struct tool_server {
	struct spawned at;
	struct stream out, err; /* the reader's while it runs */
	int end_fd;             /* owned; readable: the reader is to end */
	pthread_t reader;
	bool has_reader;
	int stop_signal;
};

/* The server's processes may hold the pipes open after it has ended, so that an end of file is not waited for. */
static void *outputs_read(void *arg)
{
	struct tool_server *s = arg;
	bool is_end = false;

	while (!is_end && (s->out.fd >= 0 || s->err.fd >= 0)) {
		struct pollfd polls[] = {
			{ .fd = s->out.fd, .events = POLLIN }, { .fd = s->err.fd, .events = POLLIN }, { .fd = s->end_fd, .events = POLLIN },
		};

		if (poll(polls, ARRAY_SIZE(polls), -1) < 0 && errno != EINTR)
			break;
		is_end = polls[2].revents != 0;
		stream_drain(&s->out);
		stream_drain(&s->err);
	}
	return NULL;
}

static int reader_start(struct tool_server *s, struct err *e)
{
	pthread_attr_t attr;
	int errnum;

	s->end_fd = eventfd(0, EFD_CLOEXEC);
	if (s->end_fd < 0)
		return err_sys(e, errno, "make an event descriptor");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, READER_STACK_BYTES);
	errnum = pthread_create(&s->reader, &attr, outputs_read, s);
	pthread_attr_destroy(&attr);
	s->has_reader = errnum == 0;
	return errnum == 0 ? 0 : err_sys(e, errnum, "start a reader of the server's output");
}

static void reader_end(struct tool_server *s)
{
	if (!s->has_reader)
		return;
	eventfd_write(s->end_fd, 1);
	pthread_join(s->reader, NULL);
	s->has_reader = false;
}

static void server_free(struct tool_server *s)
{
	reader_end(s);
	if (s->end_fd >= 0)
		close(s->end_fd);
	if (s->at.pidfd >= 0)
		close(s->at.pidfd);
	stream_done(&s->out);
	stream_done(&s->err);
	free(s);
}

static int server_spawn(struct tool_server *s, const struct tool_identity *as, const struct tool *tool, struct err *e)
{
	size_t keep = tool->keep > 0 ? tool->keep : TOOL_KEEP;
	AUTO_CLOSE int out_fd = -1;
	AUTO_CLOSE int err_fd = -1;

	if ((tool->discard ? stream_discard(&s->out, &out_fd, e) : stream_open(&s->out, keep, &out_fd, e)) < 0 ||
	    stream_open(&s->err, keep, &err_fd, e) < 0 || reader_start(s, e) < 0)
		return -1;
	return spawn_program(as, tool, out_fd, err_fd, &s->at, e);
}

int tool_server_start(const struct tool_env *env, const struct tool_identity *as, const struct tool *tool,
                      struct tool_server **ret, struct err *e)
{
	struct tool_server *s = xcalloc(1, sizeof(*s));

	(void)env;
	*s = (struct tool_server){ .at.pidfd = -1, .out.fd = -1, .err.fd = -1, .end_fd = -1,
	                           .stop_signal = tool->stop_signal != 0 ? tool->stop_signal : SIGTERM };
	if (server_spawn(s, as, tool, e) < 0) {
		server_free(s);
		return -1;
	}
	strays_spare(s->at.pid, false);
	*ret = s;
	return 0;
}

static bool server_wait(const struct tool_server *s, int64_t limit_ns)
{
	struct pollfd p = { .fd = s->at.pidfd, .events = POLLIN };
	int64_t deadline_ns = clock_ns() + limit_ns;

	for (;;) {
		int64_t left_ms = (deadline_ns - clock_ns()) / 1000000;
		int rc = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);

		if (rc > 0)
			return true;
		if (rc == 0 || errno != EINTR)
			return false;
	}
}

bool tool_server_is_running(const struct tool_server *server)
{
	return !server_wait(server, 0);
}

void tool_server_stop(struct tool_server *server, int64_t grace_ns, struct tool_end *ret)
{
	struct rusage use = { 0 };
	int status = 0;

	*ret = (struct tool_end){ .exit_status = -1 };
	strays_spare_no_more(server->at.pid);
	kill(server->at.pid, server->stop_signal);
	if (!server_wait(server, grace_ns)) {
		kill(-server->at.pid, SIGKILL);
		if (!server_wait(server, hang_after_ns())) {
			hang_begin(server->at.pid, "a server of the workload");
			while (!server_wait(server, hang_after_ns()))
				continue;
			hang_end();
		}
	}
	if (wait4(server->at.pid, &status, 0, &use) == server->at.pid) {
		ret->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		ret->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		ret->elapsed_ns = clock_ns() - server->at.started_ns;
		ret->user_ns = use.ru_utime.tv_sec * INT64_C(1000000000) + use.ru_utime.tv_usec * 1000;
		ret->system_ns = use.ru_stime.tv_sec * INT64_C(1000000000) + use.ru_stime.tv_usec * 1000;
	}
	reader_end(server);
	ret->out_bytes = server->out.bytes;
	ret->err_bytes = server->err.bytes;
	stream_take(&server->out, &ret->out);
	stream_take(&server->err, &ret->err);
	server_free(server);
}
