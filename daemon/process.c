/* SPDX-License-Identifier: MIT
 *
 * One worker as a process of the host; see process.h.
 */
#include "daemon/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/worker/worker.h"
#include "schema/base/log.h"

#define LINE_MAX_BYTES 4096 /* the rest of a longer line is dropped */

struct process {
	int64_t sweep_id;      /* for messages */
	pid_t pid;
	int pidfd;
	uv_poll_t exit;
	uv_pipe_t line;
	uv_timer_t patience;   /* armed only while it was told to end and has not */
	int open_handles;      /* of the three above; freed at 0 */
	struct text partial;   /* of a line */
	process_line_cb on_line;
	process_exit_cb on_exit;
	void *data;
	char buffer[LINE_MAX_BYTES];
};

pid_t process_pid(const struct process *p)
{
	return p->pid;
}

static void process_closed(uv_handle_t *handle)
{
	struct process *p = handle->data;

	if (--p->open_handles > 0)
		return;
	close(p->pidfd);
	text_done(&p->partial);
	free(p);
}

static void process_close(struct process *p)
{
	uv_close((uv_handle_t *)&p->exit, process_closed);
	uv_close((uv_handle_t *)&p->line, process_closed);
	uv_close((uv_handle_t *)&p->patience, process_closed);
}

void process_hand_on(struct process *p, process_line_cb on_line, process_exit_cb on_exit, void *data)
{
	p->on_line = on_line;
	p->on_exit = on_exit;
	p->data = data;
}

void process_let_go(struct process *p)
{
	process_close(p);
}

/* ---- its line ---- */

static void line_take(struct process *p, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] != '\n') {
			if (p->partial.n < LINE_MAX_BYTES)
				text_add_n(&p->partial, data + i, 1);
			continue;
		}
		if (p->partial.n > 0)
			p->on_line(p->data, p->partial.s);
		text_clear(&p->partial);
	}
}

static void line_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct process *p = handle->data;

	(void)suggested;
	*buf = uv_buf_init(p->buffer, sizeof(p->buffer));
}

static void line_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct process *p = stream->data;

	if (n < 0)
		uv_read_stop(stream); /* the exit follows */
	else
		line_take(p, buf->base, (size_t)n);
}

/* What it said last is still in the socket when its exit is seen first. */
static void line_drain(struct process *p)
{
	uv_os_fd_t fd = -1;
	ssize_t n;

	uv_read_stop((uv_stream_t *)&p->line);
	if (uv_fileno((uv_handle_t *)&p->line, &fd) < 0)
		return;
	while ((n = recv(fd, p->buffer, sizeof(p->buffer), MSG_DONTWAIT)) > 0)
		line_take(p, p->buffer, (size_t)n);
}

/* ---- its end ---- */

static void process_exited(uv_poll_t *poll, int poll_status, int events)
{
	struct process *p = poll->data;
	int status;

	(void)poll_status, (void)events;
	if (waitpid(p->pid, &status, WNOHANG | __WALL) != p->pid)
		return;
	line_drain(p);
	p->on_exit(p->data, status);
	process_close(p);
}

static void process_signal(const struct process *p, int signal)
{
	if (syscall(SYS_pidfd_send_signal, p->pidfd, signal, NULL, 0) < 0 && errno != ESRCH)
		log_error("sweep %lld: signal worker %d: %s", (long long)p->sweep_id, (int)p->pid, strerror(errno));
}

static void process_is_stuck(uv_timer_t *timer)
{
	struct process *p = timer->data;

	log_error("sweep %lld: worker %d has not ended %d s after it was told to: killed", (long long)p->sweep_id,
	          (int)p->pid, PROCESS_PATIENCE_MS / 1000);
	process_signal(p, SIGKILL);
}

void process_end(struct process *p)
{
	uv_os_fd_t fd = -1;

	process_signal(p, SIGTERM);
	/* A signal that comes before it listens is lost, for it is the init of its namespace: pid_namespaces(7).  The
	 * end of the line stays to be seen. */
	if (uv_fileno((uv_handle_t *)&p->line, &fd) == 0)
		shutdown(fd, SHUT_WR);
	if (!uv_is_active((uv_handle_t *)&p->patience))
		uv_timer_start(&p->patience, process_is_stuck, PROCESS_PATIENCE_MS, 0);
}

/* ---- its start ---- */

static struct process *process_new(struct daemon *d, pid_t pid, int pidfd, int line_fd)
{
	struct process *p = xcalloc(1, sizeof(*p));

	*p = (struct process){ .pid = pid, .pidfd = pidfd, .open_handles = 3 };
	uv_poll_init(&d->loop, &p->exit, pidfd);
	uv_pipe_init(&d->loop, &p->line, 0);
	uv_timer_init(&d->loop, &p->patience);
	p->exit.data = p->line.data = p->patience.data = p;
	uv_poll_start(&p->exit, UV_READABLE, process_exited); /* pidfd_open(2): readable once it has ended */
	if (uv_pipe_open(&p->line, line_fd) == 0)
		uv_read_start((uv_stream_t *)&p->line, line_alloc, line_read);
	else
		close(line_fd); /* the worker takes it for our death, undoes and ends */
	return p;
}

int process_start(struct daemon *d, int64_t sweep_id, enum worker_duty duty, process_line_cb on_line,
                  process_exit_cb on_exit, void *data, struct process **ret, struct err *e)
{
	int ends[2], pidfd, status;
	struct process *p;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_sys(e, errno, "make the worker's line");
	status = worker_spawn(d->program, d->config_file, sweep_id, duty, ends[1], &pid, &pidfd, e);
	close(ends[1]);
	if (status < 0) {
		close(ends[0]);
		return -1;
	}
	p = process_new(d, pid, pidfd, ends[0]);
	p->sweep_id = sweep_id;
	p->on_line = on_line;
	p->on_exit = on_exit;
	p->data = data;
	*ret = p;
	return 0;
}

void process_status_text(int status, char *buf, size_t n)
{
	if (WIFSIGNALED(status))
		snprintf(buf, n, "the worker was killed by signal %d (%s)", WTERMSIG(status),
		         strsignal(WTERMSIG(status)));
	else
		snprintf(buf, n, "the worker ended with the unexpected status %d", WEXITSTATUS(status));
}
