/* SPDX-License-Identifier: MIT
 *
 * Requests to iosweepd over its unix socket; see client.h.  Replies are one line each (schema/message.h).
 */
#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "schema/base/mem.h"
#include "schema/base/text.h"
#include "schema/config.h"
#include "schema/message.h"

struct client {
	int fd;
	struct text in; /* received and not used yet */
};

static int connect_failed(const char *path, int errnum, struct err *e)
{
	if (errnum == EACCES || errnum == EPERM) {
		err_set(e, ERR_REFUSED, "connect to '%s': %s", path, strerror(errnum));
		return err_hint(e, "only root and the group of the socket may ask the daemon: see 'group' in iosweepd.conf(5)");
	}
	if (errnum == EAGAIN) { /* what SO_SNDTIMEO makes of it */
		err_set(e, ERR_UNREACHABLE, "the daemon at '%s' takes no connection within %d s", path,
		        CLIENT_GREETING_MS / 1000);
		return err_hint(e, "fuser(1) names its process, and ps(1) says whether that is stopped");
	}
	err_set(e, ERR_UNREACHABLE, "no daemon answers at '%s': %s", path, strerror(errnum));
	return err_hint(e, "start it with 'systemctl start iosweepd', or set IOSWEEP_SOCKET to the socket of a running one");
}

/* A plan is for the daemon, and so is belief in an answer: whoever can write where the socket is could listen there. */
static int server_check(int fd, const char *path, struct err *e)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return err_sys(e, errno, "ask who listens on '%s'", path);
	if (cred.uid == 0)
		return 0;
	err_set_(e, ERR_REFUSED, "'%s' is served by uid %u, not by root: that is no iosweepd", path,
	         (unsigned)cred.uid);
	return err_hint(e, "see whose it is with 'ss -xlp', and what IOSWEEP_SOCKET says");
}

int client_open(struct client **ret, struct err *e)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = CLIENT_GREETING_MS / 1000 };
	const char *path = config_default_socket();
	AUTO_CLOSE int fd = -1;

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(e, ERR_USAGE, "the socket's path '%s' is longer than %zu bytes", path,
		               sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, errno, "make a socket");
	/* Of connect(2) too, which waits while as many as may wait do so already: unix(7) */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return connect_failed(path, errno, e);
	if (server_check(fd, path, e) < 0)
		return -1;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->fd = TAKE_FD(fd);
	return 0;
}

void client_close(struct client *c)
{
	if (c == NULL)
		return;
	close(c->fd);
	text_done(&c->in);
	free(c);
}

int client_fd(const struct client *c)
{
	return c->fd;
}

struct json_object *client_request(const char *name)
{
	struct json_object *request = json_object_new_object();

	json_object_object_add(request, "version", json_object_new_int(MESSAGE_VERSION));
	json_object_object_add(request, "request", json_object_new_string(name));
	return request;
}

static int line_lost(struct err *e)
{
	err_set(e, ERR_UNREACHABLE, "the daemon closed the line before it answered");
	return err_hint(e, "its log tells why: journalctl -u iosweepd");
}

static bool is_stopped(pid_t pid)
{
	AUTO_TEXT struct text stat = { 0 };
	char path[40];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(AT_FDCWD, path, 4096, &stat, NULL) < 0)
		return false;
	end = strrchr(text_str(&stat), ')'); /* the name before it may hold anything: proc(5) */
	return end != NULL && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

static int daemon_is_stuck(const struct client *c, struct err *e)
{
	struct ucred cred = { 0 };
	socklen_t n = sizeof(cred);

	getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &n);
	err_set(e, ERR_UNREACHABLE, "the daemon (process %d) %s", (int)cred.pid,
	        is_stopped(cred.pid) ? "is stopped, and answers nobody" : "does not answer even a greeting");
	return err_hint(e,
	                is_stopped(cred.pid) ? "'kill -CONT %d' makes it go on" :
	                                       "see what process %d does, and its log",
	                (int)cred.pid);
}

static int bytes_send(struct client *c, const char *data, size_t n, struct err *e)
{
	while (n > 0) {
		ssize_t sent = send(c->fd, data, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0; /* the reply may be there all the same: the daemon says why it hangs up */
		if (sent < 0 && errno == EAGAIN)
			return daemon_is_stuck(c, e);
		if (sent < 0)
			return err_sys(e, errno, "send a request to the daemon");
		data += sent;
		n -= (size_t)sent;
	}
	return 0;
}

/* Waits for input and appends it to c->in.  1: something came; 0: time-out; -1: the line is closed. */
static int bytes_receive(struct client *c, int timeout_ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	char buf[65536];
	ssize_t n;
	int rc = poll(&p, 1, timeout_ms);

	if (rc < 0)
		return errno == EINTR ? 0 : -1;
	if (rc == 0)
		return 0;
	n = recv(c->fd, buf, sizeof(buf), 0);
	if (n < 0 && errno == EINTR)
		return 1;
	if (n <= 0)
		return -1;
	text_add_n(&c->in, buf, (size_t)n);
	return 1;
}

static void bytes_drop(struct client *c, size_t n)
{
	memmove(c->in.s, c->in.s + n, c->in.n - n);
	c->in.n -= n;
}

/* Until a whole line is there.  1: it is; 0: time-out; -1. */
static int line_wait(struct client *c, int timeout_ms, struct err *e)
{
	int64_t deadline_ns = clock_ns() + timeout_ms * INT64_C(1000000);

	while (c->in.n == 0 || memchr(c->in.s, '\n', c->in.n) == NULL) {
		int64_t left_ms = (deadline_ns - clock_ns()) / 1000000;

		if (left_ms <= 0)
			return 0;
		if (c->in.n > MESSAGE_MAX_BYTES)
			return err_set(e, ERR_PROTOCOL, "the daemon's answer is longer than %zu bytes",
			               MESSAGE_MAX_BYTES);
		if (bytes_receive(c, (int)left_ms) < 0)
			return line_lost(e);
	}
	return 1;
}

/* Its loop waits for nothing, so a daemon that is well answers this at once, whatever else it is still looking at. */
static int daemon_greets(struct err *e)
{
	AUTO_CLIENT struct client *c = NULL;
	AUTO_TEXT struct text line = { 0 };
	struct json_object *request;
	int rc;

	if (client_open(&c, e) < 0 || c == NULL)
		return -1;
	request = client_request("hello");
	message_encode(request, &line);
	json_object_put(request);
	if (bytes_send(c, line.s, line.n, e) < 0)
		return -1;
	rc = line_wait(c, CLIENT_GREETING_MS, e);
	return rc == 0 ? daemon_is_stuck(c, e) : rc < 0 ? -1 : 0;
}

static int line_receive(struct client *c, struct json_object **ret, struct err *e)
{
	const char *end;
	int rc = line_wait(c, CLIENT_GREETING_MS, e);

	if (rc == 0 && daemon_greets(e) < 0)
		return -1;
	if (rc == 0)
		rc = line_wait(c, CLIENT_TIMEOUT_MS, e);
	if (rc == 0)
		return err_set(e, ERR_TIMEOUT, "the daemon did not answer within %d s", CLIENT_TIMEOUT_MS / 1000);
	if (rc < 0)
		return -1;
	end = memchr(c->in.s, '\n', c->in.n);
	rc = message_decode(c->in.s, (size_t)(end - c->in.s), ret, e);
	bytes_drop(c, (size_t)(end - c->in.s) + 1);
	return rc;
}

int client_call(struct client *c, struct json_object *request, struct json_object **ret, struct diags *d, struct err *e)
{
	AUTO_TEXT struct text line = { 0 };
	struct json_object *reply = NULL;
	int rc;

	message_encode(request, &line);
	json_object_put(request);
	if (bytes_send(c, line.s, line.n, e) < 0 || line_receive(c, &reply, e) < 0)
		return -1;
	rc = message_reply_check(reply, d, e);
	if (rc == 0 && ret != NULL)
		*ret = TAKE(reply);
	json_object_put(reply);
	return rc;
}

int client_ask(struct json_object *request, struct json_object **ret, struct diags *d, struct err *e)
{
	AUTO_CLIENT struct client *c = NULL;

	if (client_open(&c, e) < 0) {
		json_object_put(request);
		return -1;
	}
	return client_call(c, request, ret, d, e);
}

static bool event_is_small(const char *line, size_t n)
{
	struct json_object *m = NULL;
	const char *kind;
	bool is_small;

	if (message_decode(line, n, &m, NULL) < 0)
		return false;
	kind = message_string_or(m, "event", "");
	is_small = strcmp(kind, "trial") == 0 || strcmp(kind, "cell") == 0;
	json_object_put(m);
	return is_small;
}

enum client_event client_events_wait(struct client *c, int timeout_ms)
{
	enum client_event found = CLIENT_EVENT_NONE;
	int rc = bytes_receive(c, timeout_ms);
	const char *end;

	while (rc > 0 && bytes_receive(c, 0) > 0)
		;
	while ((end = c->in.n > 0 ? memchr(c->in.s, '\n', c->in.n) : NULL) != NULL) {
		if (!event_is_small(c->in.s, (size_t)(end - c->in.s)))
			found = CLIENT_EVENT_STATE;
		else if (found == CLIENT_EVENT_NONE)
			found = CLIENT_EVENT_SMALL;
		bytes_drop(c, (size_t)(end - c->in.s) + 1);
	}
	return rc < 0 ? CLIENT_EVENT_LOST : found;
}
