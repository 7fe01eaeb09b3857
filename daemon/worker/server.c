/* SPDX-License-Identifier: MIT
 *
 * Servers that a workload starts and that run beside its tools (tool.h, tool_server).  Their output goes to memory
 * files instead of pipes, since nobody reads along.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/worker/hang.h"
#include "daemon/worker/spawn.h"
#include "daemon/worker/strays.h"
#include "daemon/worker/tool.h"

struct tool_server {
	struct spawned at;
	int out_fd, err_fd; /* owned */
	size_t keep;
	int stop_signal;
};

static void server_free(struct tool_server *s)
{
	if (s->at.pidfd >= 0)
		close(s->at.pidfd);
	if (s->out_fd >= 0)
		close(s->out_fd);
	if (s->err_fd >= 0)
		close(s->err_fd);
	free(s);
}

int tool_server_start(const struct tool_env *env, const struct tool_identity *as, const struct tool *tool,
                      struct tool_server **ret, struct err *e)
{
	struct tool_server *s = xcalloc(1, sizeof(*s));

	(void)env;
	*s = (struct tool_server){ .at.pidfd = -1, .keep = tool->keep > 0 ? tool->keep : TOOL_KEEP,
	                           .stop_signal = tool->stop_signal != 0 ? tool->stop_signal : SIGTERM };
	s->out_fd = memfd_create("stdout", MFD_CLOEXEC);
	s->err_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (s->out_fd < 0 || s->err_fd < 0) {
		err_sys(e, errno, "make a memory file");
		server_free(s);
		return -1;
	}
	if (spawn_program(as, tool, s->out_fd, s->err_fd, &s->at, e) < 0) {
		server_free(s);
		return -1;
	}
	strays_spare(s->at.pid, false);
	*ret = s;
	return 0;
}

static void output_read(int fd, size_t keep, struct text *ret, size_t *ret_bytes)
{
	off_t size = lseek(fd, 0, SEEK_END);
	size_t n = size < 0 ? 0 : (size_t)size;
	char *buf;
	ssize_t got;

	*ret_bytes = n;
	n = n < keep ? n : keep;
	buf = xmalloc(n);
	got = pread(fd, buf, n, 0);
	if (got > 0)
		text_add_n(ret, buf, (size_t)got);
	free(buf);
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
		if (!server_wait(server, HANG_AFTER_NS)) {
			hang_begin(server->at.pid, "a server of the workload");
			while (!server_wait(server, HANG_AFTER_NS))
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
	output_read(server->out_fd, server->keep, &ret->out, &ret->out_bytes);
	output_read(server->err_fd, server->keep, &ret->err, &ret->err_bytes);
	server_free(server);
}
