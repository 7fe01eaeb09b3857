/* SPDX-License-Identifier: MIT
 *
 * Short-lived children that answer on their standard output; see child.h.  A child is over when it has ended and its
 * output is closed; its deadline kills it, and if the kernel will not let it die (a sick disk) the caller is answered
 * all the same and the child keeps its place among CHILDREN_MAX until it is gone.
 */
#include "daemon/child.h"

#include <signal.h>
#include <string.h>

#include "daemon/daemon.h"
#include "schema/base/log.h"
#include "schema/base/text.h"
#include "schema/message.h"

#define READ_BYTES 16384

struct child {
	struct child *next;      /* in `children` */
	struct daemon *daemon;
	const char *what;
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t deadline;
	uint64_t deadline_ms;
	uv_write_t write;
	int open_handles;        /* of the four above */
	char *input;             /* owned: lives until it is written */
	struct text answer;
	bool is_out_over, is_exited, is_answered;
	int64_t exit_status;
	int exit_signal;
	child_cb cb;
	void *data;
	char buffer[READ_BYTES];
};

static struct child *children;
static size_t n_children;

static void child_closed(uv_handle_t *handle)
{
	struct child *child = handle->data, **slot = &children;

	if (--child->open_handles > 0)
		return;
	while (*slot != child)
		slot = &(*slot)->next;
	*slot = child->next;
	n_children--;
	text_done(&child->answer);
	free(child->input);
	free(child);
}

static void handle_close(uv_handle_t *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, child_closed);
}

/* Not one that has ended, whose number may be another process's by now; its output may be open still in a child of
 * its own. */
static void child_kill(struct child *child)
{
	if (!child->is_exited)
		uv_process_kill(&child->process, SIGKILL);
}

static void child_answer(struct child *child, struct json_object *answer, const struct err *e)
{
	if (child->is_answered)
		return;
	child->is_answered = true;
	uv_timer_stop(&child->deadline);
	child->cb(child->daemon, answer, e, child->data);
}

static int child_result(struct child *child, struct json_object **ret, struct err *e)
{
	if (child->exit_signal != 0)
		return err_set(e, ERR_TOOL, "%s was ended by signal %d", child->what, child->exit_signal);
	if (child->answer.n == 0)
		return err_set(e, ERR_TOOL, "%s ended with status %d and no answer", child->what,
		               (int)child->exit_status);
	while (child->answer.n > 0 && child->answer.s[child->answer.n - 1] == '\n')
		child->answer.s[--child->answer.n] = '\0';
	if (message_decode(child->answer.s, child->answer.n, ret, e) < 0) {
		e->kind = ERR_TOOL;
		return err_in(e, "the answer of %s", child->what);
	}
	return 0;
}

/* Ends only when both have come, in whatever order: the exit and the end of the output. */
static void child_check_over(struct child *child)
{
	struct json_object *answer = NULL;
	struct err e = { 0 };

	if (!child->is_out_over || !child->is_exited)
		return;
	if (child->is_answered)
		;
	else if (child_result(child, &answer, &e) < 0)
		child_answer(child, NULL, &e);
	else
		child_answer(child, answer, NULL);
	json_object_put(answer);
	handle_close((uv_handle_t *)&child->process);
	handle_close((uv_handle_t *)&child->in);
	handle_close((uv_handle_t *)&child->out);
	handle_close((uv_handle_t *)&child->deadline);
}

static void child_exited(uv_process_t *process, int64_t status, int signal)
{
	struct child *child = process->data;

	child->is_exited = true;
	child->exit_status = status;
	child->exit_signal = signal;
	child_check_over(child);
}

static void child_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct child *child = handle->data;

	(void)suggested;
	*buf = uv_buf_init(child->buffer, READ_BYTES);
}

static void child_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct child *child = stream->data;
	struct err e;

	if (n < 0) {
		uv_read_stop(stream);
		child->is_out_over = true;
		child_check_over(child);
		return;
	}
	text_add_n(&child->answer, buf->base, (size_t)n);
	if (child->answer.n <= CHILD_OUTPUT_MAX_BYTES)
		return;
	err_set_(&e, ERR_TOOL, "%s printed more than %zu bytes", child->what, CHILD_OUTPUT_MAX_BYTES);
	child_answer(child, NULL, &e);
	text_clear(&child->answer);
	child_kill(child);
}

static void child_is_late(uv_timer_t *timer)
{
	struct child *child = timer->data;
	struct err e;

	err_set_(&e, ERR_TIMEOUT, "%s took longer than %d s", child->what, (int)(child->deadline_ms / 1000));
	child_kill(child);
	child_answer(child, NULL, &e);
}

static void child_wrote(uv_write_t *write, int status)
{
	struct child *child = write->data;

	(void)status; /* a child that does not read says by its answer what is wrong */
	handle_close((uv_handle_t *)&child->in);
}

static int child_spawn(struct child *child, const char *const *args, struct err *e)
{
	struct daemon *d = child->daemon;
	const char *argv[4 + CHILD_ARGS_MAX] = { d->program, "--config", d->config_file };
	uv_stdio_container_t stdio[3] = {
		{ .flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&child->in },
		{ .flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&child->out },
		{ .flags = UV_INHERIT_FD, .data.fd = 2 },
	};
	uv_process_options_t options = {
		.exit_cb = child_exited, .file = d->program, .stdio_count = 3, .stdio = stdio,
	};
	int status;

	for (size_t i = 0; i < CHILD_ARGS_MAX && args[i] != NULL; i++)
		argv[3 + i] = args[i];
	options.args = (char **)argv;
	status = uv_spawn(&d->loop, &child->process, &options);
	return status == 0 ? 0 : err_set(e, ERR_SYSTEM, "start %s: %s", child->what, uv_strerror(status));
}

static void child_feed(struct child *child, const char *input, size_t n)
{
	uv_buf_t buf;

	if (n == 0) {
		handle_close((uv_handle_t *)&child->in);
		return;
	}
	child->input = xmalloc(n);
	memcpy(child->input, input, n);
	buf = uv_buf_init(child->input, (unsigned)n);
	child->write.data = child;
	if (uv_write(&child->write, (uv_stream_t *)&child->in, &buf, 1, child_wrote) < 0)
		handle_close((uv_handle_t *)&child->in);
}

static struct child *child_new(struct daemon *d, const char *what, child_cb cb, void *data)
{
	struct child *child = xcalloc(1, sizeof(*child));

	*child = (struct child){ .next = children, .daemon = d, .what = what, .open_handles = 4, .cb = cb, .data = data };
	children = child;
	n_children++;
	uv_pipe_init(&d->loop, &child->in, 0);
	uv_pipe_init(&d->loop, &child->out, 0);
	uv_timer_init(&d->loop, &child->deadline);
	child->process.data = child->in.data = child->out.data = child->deadline.data = child;
	return child;
}

int child_start(struct daemon *d, const char *what, const char *const *args, const char *input, size_t n_input,
                uint64_t deadline_ms, child_cb cb, void *data, struct err *e)
{
	struct child *child;

	if (n_children >= CHILDREN_MAX)
		return err_set(e, ERR_BUSY, "%zu such questions are being answered already; try again", n_children);
	child = child_new(d, what, cb, data);
	if (child_spawn(child, args, e) < 0) {
		handle_close((uv_handle_t *)&child->process); /* also a handle that uv_spawn failed on is closed */
		handle_close((uv_handle_t *)&child->in);
		handle_close((uv_handle_t *)&child->out);
		handle_close((uv_handle_t *)&child->deadline);
		return -1;
	}
	uv_read_start((uv_stream_t *)&child->out, child_alloc, child_read);
	child->deadline_ms = deadline_ms;
	uv_timer_start(&child->deadline, child_is_late, deadline_ms, 0);
	child_feed(child, input, n_input);
	return 0;
}

size_t child_n_stuck(void)
{
	size_t n = 0;

	for (const struct child *child = children; child != NULL; child = child->next)
		n += child->is_answered && !child->is_exited;
	return n;
}

void child_kill_all(struct daemon *d)
{
	(void)d;
	for (struct child *child = children; child != NULL; child = child->next)
		if (!uv_is_closing((uv_handle_t *)&child->process))
			child_kill(child);
}
