/* SPDX-License-Identifier: MIT
 *
 * The unix socket and its clients; see server.h.  A client has one timer, armed only while it owes us something, so
 * that an idle daemon, and one whose clients only watch, is never woken.
 */
#include "daemon/server.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "daemon/daemon.h"
#include "daemon/requests.h"
#include "schema/base/log.h"
#include "schema/message.h"

#define GROUPS_MAX 65536 /* NGROUPS_MAX of limits.h */
#define BACKLOG    64
#define READ_BYTES ((size_t)64 << 10)

enum client_state { CLIENT_READING, CLIENT_WORKING, CLIENT_WATCHING, CLIENT_LEAVING, CLIENT_CLOSED };

struct client {
	struct server *server;  /* borrowed */
	struct client *next;    /* in server->clients */
	uint64_t id;
	uv_pipe_t pipe;
	uv_timer_t silence;
	int open_handles;       /* of the two above; freed at 0 */
	enum client_state state;
	struct peer peer;
	struct text in;         /* what came and is not served yet */
	size_t searched;        /* bytes of it that hold no newline */
	bool is_pumping;
	int64_t watched_sweep;  /* CLIENT_WATCHING; 0: all */
};

struct server {
	struct daemon *daemon;  /* borrowed */
	uv_pipe_t pipe;
	struct client *clients; /* all that are not closed */
	uint64_t last_id;
	size_t input_bytes;     /* in all clients' `in` */
	char buffer[READ_BYTES];/* shared: libuv asks for it and hands it back filled in one go */
};

struct write {
	uv_write_t req;
	struct client *client;
	char data[];
};

static void client_pump(struct client *c);

/* ---- the end of a client ---- */

static void client_closed(uv_handle_t *handle)
{
	struct client *c = handle->data;

	if (--c->open_handles > 0)
		return;
	text_done(&c->in);
	free(c);
}

static void client_close(struct client *c)
{
	struct client **slot = &c->server->clients;

	if (c->state == CLIENT_CLOSED)
		return;
	c->state = CLIENT_CLOSED;
	while (*slot != c)
		slot = &(*slot)->next;
	*slot = c->next;
	c->server->input_bytes -= c->in.n;
	text_done(&c->in);
	uv_close((uv_handle_t *)&c->pipe, client_closed);
	uv_close((uv_handle_t *)&c->silence, client_closed);
}

static void client_is_silent(uv_timer_t *timer)
{
	struct client *c = timer->data;
	struct err e;

	if (c->state != CLIENT_READING || c->in.n == 0) {
		client_close(c);
		return;
	}
	err_set_(&e, ERR_PROTOCOL, "no whole message came within %d s: %zu bytes without a newline",
	         CLIENT_SILENCE_MS / 1000, c->in.n);
	client_drop(c, &e);
}

static void client_expect(struct client *c)
{
	uv_timer_start(&c->silence, client_is_silent, CLIENT_SILENCE_MS, 0);
}

/* ---- sending ---- */

static void client_wrote(uv_write_t *req, int status)
{
	struct write *w = CONTAINER_OF(req, struct write, req);
	struct client *c = w->client;

	free(w);
	if (status < 0 || (c->state == CLIENT_LEAVING && uv_stream_get_write_queue_size((uv_stream_t *)&c->pipe) == 0))
		client_close(c);
}

/* The rest of what the socket did not take at once. */
static void client_write_later(struct client *c, const char *data, size_t n)
{
	struct write *w = xmalloc(sizeof(*w) + n);
	uv_buf_t buf;

	w->client = c;
	memcpy(w->data, data, n);
	buf = uv_buf_init(w->data, (unsigned)n);
	if (uv_write(&w->req, (uv_stream_t *)&c->pipe, &buf, 1, client_wrote) < 0) {
		free(w);
		client_close(c);
	}
}

static void client_write(struct client *c, const char *data, size_t n)
{
	uv_buf_t buf = uv_buf_init((char *)data, (unsigned)n);
	int sent;

	if (uv_stream_get_write_queue_size((uv_stream_t *)&c->pipe) > CLIENT_UNREAD_MAX_BYTES) {
		log_warning("uid %u, pid %d reads too slowly: dropped", (unsigned)c->peer.uid, (int)c->peer.pid);
		client_close(c);
		return;
	}
	sent = uv_try_write((uv_stream_t *)&c->pipe, &buf, 1);
	if (sent < 0 && sent != UV_EAGAIN) {
		client_close(c);
		return;
	}
	if (sent < 0)
		sent = 0;
	if ((size_t)sent < n)
		client_write_later(c, data + sent, n - (size_t)sent);
	else if (c->state == CLIENT_LEAVING)
		client_close(c);
}

static void client_send(struct client *c, struct json_object *m)
{
	AUTO_TEXT struct text line = { 0 };

	message_encode(m, &line);
	json_object_put(m);
	client_write(c, line.s, line.n);
}

void client_reply(struct client *c, struct json_object *m)
{
	if (c->state == CLIENT_WORKING)
		c->state = CLIENT_READING;
	client_send(c, m);
	if (c->state == CLIENT_READING)
		client_pump(c);
}

void client_fail(struct client *c, const struct err *e, const struct diags *diags)
{
	client_reply(c, message_error(e, diags));
}

void client_drop(struct client *c, const struct err *e)
{
	if (c->state == CLIENT_CLOSED || c->state == CLIENT_LEAVING)
		return;
	c->state = CLIENT_LEAVING;
	uv_read_stop((uv_stream_t *)&c->pipe);
	client_expect(c);
	client_send(c, message_error(e, NULL));
}

/* ---- receiving ---- */

static void client_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *c = handle->data;

	(void)suggested;
	*buf = uv_buf_init(c->server->buffer, READ_BYTES);
}

static void client_consume(struct client *c, size_t n)
{
	c->server->input_bytes -= n;
	c->in.n -= n;
	memmove(c->in.s, c->in.s + n, c->in.n);
	c->searched = 0;
	if (c->in.n == 0)
		text_done(&c->in); /* a plan of some MiB is not kept in an idle daemon */
}

static int client_check_bounds(const struct client *c, struct err *e)
{
	if (c->in.n > MESSAGE_MAX_BYTES)
		return err_set(e, ERR_PROTOCOL, "the message is longer than %zu bytes", MESSAGE_MAX_BYTES);
	if (c->server->input_bytes > SERVER_INPUT_MAX_BYTES)
		return err_set(e, ERR_BUSY, "too many unfinished messages: %zu bytes of all clients",
		               c->server->input_bytes);
	return 0;
}

/* Serves the next whole line, if there is one. */
static bool client_serve_line(struct client *c)
{
	char *newline = c->in.n == 0 ? NULL : memchr(c->in.s + c->searched, '\n', c->in.n - c->searched);
	AUTO_FREE char *line = NULL;
	size_t n;

	if (newline == NULL) {
		c->searched = c->in.n;
		return false;
	}
	n = (size_t)(newline - c->in.s);
	line = xmalloc(n + 1);
	memcpy(line, c->in.s, n);
	line[n] = '\0';
	client_consume(c, n + 1);
	c->state = CLIENT_WORKING;
	uv_timer_stop(&c->silence);
	request_serve(c->server->daemon, c, line, n);
	return true;
}

static void client_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *c = stream->data;
	struct err e;

	if (n == 0)
		return;
	if (n < 0) {
		client_close(c);
		return;
	}
	if (c->state == CLIENT_WATCHING) {
		err_set_(&e, ERR_PROTOCOL, "a client that watches has nothing more to say");
		client_drop(c, &e);
		return;
	}
	text_add_n(&c->in, buf->base, (size_t)n);
	c->server->input_bytes += (size_t)n;
	client_pump(c);
	if (c->state == CLIENT_READING && client_check_bounds(c, &e) < 0)
		client_drop(c, &e);
}

/* Serves line after line as long as answers come at once; reading stops while one is awaited. */
static void client_pump(struct client *c)
{
	if (c->is_pumping)
		return;
	c->is_pumping = true;
	while (c->state == CLIENT_READING && client_serve_line(c))
		;
	c->is_pumping = false;
	if (c->state == CLIENT_WORKING)
		uv_read_stop((uv_stream_t *)&c->pipe);
	if (c->state != CLIENT_READING)
		return;
	if (!uv_is_active((uv_handle_t *)&c->silence))
		client_expect(c);
	uv_read_start((uv_stream_t *)&c->pipe, client_alloc, client_read); /* an error only if it reads already */
}

void client_watch(struct client *c, int64_t sweep_id)
{
	if (c->state != CLIENT_READING)
		return;
	c->state = CLIENT_WATCHING;
	c->watched_sweep = sweep_id;
	uv_timer_stop(&c->silence);
	uv_read_start((uv_stream_t *)&c->pipe, client_alloc, client_read);
}

void server_event(struct daemon *d, const char *kind, int64_t sweep_id, const char *text)
{
	struct client *next;

	for (struct client *c = d->server == NULL ? NULL : d->server->clients; c != NULL; c = next) {
		struct json_object *m;

		next = c->next;
		if (c->state != CLIENT_WATCHING || (c->watched_sweep != 0 && c->watched_sweep != sweep_id))
			continue;
		m = json_object_new_object();
		json_object_object_add(m, "event", json_object_new_string(kind));
		json_object_object_add(m, "sweep", json_object_new_int64(sweep_id));
		json_object_object_add(m, "text", json_object_new_string(text));
		client_send(c, m);
	}
}

/* ---- who is there ---- */

static bool groups_contain(int fd, gid_t gid)
{
	gid_t few[64];
	AUTO_FREE gid_t *many = NULL;
	gid_t *groups = few;
	socklen_t bytes = sizeof(few);
	int status = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &bytes);

	if (status < 0 && errno == ERANGE && bytes <= GROUPS_MAX * sizeof(gid_t)) {
		groups = many = xmalloc(bytes);
		status = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, many, &bytes);
	}
	for (size_t i = 0; status == 0 && i < bytes / sizeof(gid_t); i++)
		if (groups[i] == gid)
			return true;
	return false;
}

static int peer_of(int fd, gid_t gid, struct peer *ret, struct err *e)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return err_sys(e, errno, "ask who the client is");
	*ret = (struct peer){ .pid = cred.pid, .uid = cred.uid, .gid = cred.gid };
	ret->is_member = cred.uid == 0 || cred.gid == gid || groups_contain(fd, gid);
	return 0;
}

static int client_admit(struct client *c, struct err *e)
{
	struct server *s = c->server;
	size_t n_places, n = 0;
	uv_os_fd_t fd = -1;

	uv_fileno((uv_handle_t *)&c->pipe, &fd);
	if (peer_of(fd, s->daemon->gid, &c->peer, e) < 0)
		return -1;
	if (!c->peer.is_member) {
		err_set_(e, ERR_REFUSED, "uid %u is neither root nor in the group '%s'", (unsigned)c->peer.uid,
		         s->daemon->config->group);
		return err_hint(e, "usermod -aG %s USER, and log in again", s->daemon->config->group);
	}
	for (const struct client *other = s->clients; other != NULL; other = other->next)
		n += other != c && other->state != CLIENT_LEAVING;
	n_places = c->peer.uid == 0 ? CLIENTS_MAX : CLIENTS_MAX - CLIENTS_FOR_ROOT;
	if (n >= n_places)
		return err_set(e, ERR_BUSY, "%zu clients are connected, and no more are let in", n);
	return 0;
}

static struct client *client_new(struct server *s)
{
	struct client *c = xcalloc(1, sizeof(*c));

	*c = (struct client){ .server = s, .next = s->clients, .id = ++s->last_id, .open_handles = 2 };
	uv_pipe_init(&s->daemon->loop, &c->pipe, 0);
	uv_timer_init(&s->daemon->loop, &c->silence);
	c->pipe.data = c->silence.data = c;
	s->clients = c;
	return c;
}

static void server_accept(uv_stream_t *stream, int status)
{
	struct server *s = stream->data;
	struct client *c;
	struct err e;

	if (status < 0)
		return;
	c = client_new(s);
	if (uv_accept(stream, (uv_stream_t *)&c->pipe) < 0) {
		client_close(c);
		return;
	}
	if (client_admit(c, &e) < 0) {
		log_err(LOG_LEVEL_NOTICE, &e, "client refused");
		client_drop(c, &e);
		return;
	}
	client_pump(c);
}

const struct peer *client_peer(const struct client *c)
{
	return &c->peer;
}

uint64_t client_id(const struct client *c)
{
	return c->id;
}

struct client *server_client(struct daemon *d, uint64_t id)
{
	for (struct client *c = d->server == NULL ? NULL : d->server->clients; c != NULL; c = c->next)
		if (c->id == id)
			return c;
	return NULL;
}

/* ---- the socket itself ---- */

static void address_of(const char *path, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	memcpy(ret->sun_path, path, strnlen(path, sizeof(ret->sun_path) - 1)); /* the length is checked in config.c */
}

/* Removes a socket that nobody listens on; leaves anything else in place. */
static int socket_clear(const char *path, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	struct sockaddr_un address;
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(e, errno, "look at '%s'", path);
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_REFUSED, "'%s' exists and is not a socket", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, errno, "make a socket");
	address_of(path, &address);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno != ECONNREFUSED)
		return err_set(e, ERR_BUSY, "somebody listens on '%s' already", path);
	if (unlink(path) < 0)
		return err_sys(e, errno, "remove the dead socket '%s'", path);
	return 0;
}

static int socket_make_directory(const char *path, struct err *e)
{
	AUTO_FREE char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	if (dir[0] != '\0' && mkdir(dir, 0755) < 0 && errno != EEXIST)
		return err_sys(e, errno, "make '%s'", dir);
	return 0;
}

static int socket_bind(const char *path, gid_t gid, int *ret, struct err *e)
{
	AUTO_CLOSE int fd = -1;
	struct sockaddr_un address;
	mode_t before;
	int status;

	if (socket_make_directory(path, e) < 0 || socket_clear(path, e) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, errno, "make a socket");
	address_of(path, &address);
	before = umask(0177); /* nobody may connect before the group is set */
	status = bind(fd, (struct sockaddr *)&address, sizeof(address));
	umask(before);
	if (status < 0)
		return err_sys(e, errno, "bind '%s'", path);
	if (chown(path, 0, gid) < 0 || chmod(path, 0660) < 0)
		return err_sys(e, errno, "set owner and mode of '%s'", path);
	*ret = TAKE_FD(fd);
	return 0;
}

static void server_closed(uv_handle_t *handle)
{
	free(handle->data);
}

int server_new(struct daemon *d, struct server **ret, struct err *e)
{
	struct server *s;
	int fd, status;

	if (socket_bind(d->config->socket, d->gid, &fd, e) < 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	s->daemon = d;
	uv_pipe_init(&d->loop, &s->pipe, 0);
	s->pipe.data = s;
	status = uv_pipe_open(&s->pipe, fd);
	if (status < 0)
		close(fd);
	else
		status = uv_listen((uv_stream_t *)&s->pipe, BACKLOG, server_accept);
	if (status < 0) {
		uv_close((uv_handle_t *)&s->pipe, server_closed);
		return err_set(e, ERR_SYSTEM, "listen on '%s': %s", d->config->socket, uv_strerror(status));
	}
	*ret = s;
	return 0;
}

void server_close(struct server *s)
{
	struct daemon *d = s->daemon;

	unlink(d->config->socket);
	while (s->clients != NULL)
		client_close(s->clients);
	d->server = NULL;
	uv_close((uv_handle_t *)&s->pipe, server_closed);
}
