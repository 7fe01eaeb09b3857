/* SPDX-License-Identifier: MIT
 *
 * Frames; see frame.h.
 */
#include "daemon/worker/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

void frame_add_number(struct text *frame, int64_t v)
{
	text_add_n(frame, (const char *)&v, sizeof(v));
}

void frame_add_real(struct text *frame, double v)
{
	text_add_n(frame, (const char *)&v, sizeof(v));
}

void frame_add_bytes(struct text *frame, const void *data, size_t n)
{
	frame_add_number(frame, (int64_t)n);
	text_add_n(frame, data, n);
}

void frame_add_string(struct text *frame, const char *s)
{
	frame_add_bytes(frame, s, strlen(s));
}

static const char *frame_take(struct frame_reader *r, size_t n)
{
	const char *p = r->at;

	if (r->is_bad || n > r->left) {
		r->is_bad = true;
		return NULL;
	}
	r->at += n;
	r->left -= n;
	return p;
}

int64_t frame_number(struct frame_reader *r)
{
	const char *p = frame_take(r, sizeof(int64_t));
	int64_t v = 0;

	if (p != NULL)
		memcpy(&v, p, sizeof(v));
	return v;
}

double frame_real(struct frame_reader *r)
{
	const char *p = frame_take(r, sizeof(double));
	double v = 0;

	if (p != NULL)
		memcpy(&v, p, sizeof(v));
	return v;
}

const char *frame_bytes(struct frame_reader *r, size_t *ret_n)
{
	size_t n = frame_count(r, 1);
	const char *p = frame_take(r, n);

	*ret_n = p != NULL ? n : 0;
	return p != NULL ? p : "";
}

const char *frame_string(struct frame_reader *r, struct arena *a)
{
	size_t n;
	const char *p = frame_bytes(r, &n);

	return arena_strndup(a, p, n);
}

size_t frame_count(struct frame_reader *r, size_t min_bytes)
{
	int64_t n = frame_number(r);

	if (n < 0 || (uint64_t)n > r->left / min_bytes) {
		r->is_bad = true;
		return 0;
	}
	return (size_t)n;
}

static int socket_wait(int fd, short events, int64_t deadline_ns, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left_ns = deadline_ns - clock_ns();
	struct timespec left = { left_ns / 1000000000, left_ns % 1000000000 };
	int rc = left_ns <= 0 ? 0 : ppoll(&p, 1, &left, NULL);

	if (rc == 0)
		return err_set(e, ERR_TIMEOUT, "no answer in time");
	if (rc < 0 && errno != EINTR)
		return err_sys(e, errno, "wait for a socket");
	return 0;
}

/* Tries the call first and waits only if it would block: an answer is usually there. */
static int socket_move(int fd, char *data, size_t n, bool is_out, int64_t deadline_ns, struct err *e)
{
	while (n > 0) {
		ssize_t done = is_out ? send(fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) :
		                        recv(fd, data, n, MSG_DONTWAIT);

		if (done > 0) {
			data += done;
			n -= (size_t)done;
			continue;
		}
		if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (socket_wait(fd, is_out ? POLLOUT : POLLIN, deadline_ns, e) < 0)
				return -1;
			continue;
		}
		return err_set(e, ERR_UNREACHABLE, "the other end is gone");
	}
	return 0;
}

int frame_send(int fd, const struct text *frame, int64_t deadline_ns, struct err *e)
{
	uint64_t n = frame->n;

	if (frame->n > FRAME_MAX_BYTES)
		return err_set(e, ERR_PROTOCOL, "a message of %zu bytes is too long", frame->n);
	if (socket_move(fd, (char *)&n, sizeof(n), true, deadline_ns, e) < 0)
		return -1;
	return socket_move(fd, frame->s, frame->n, true, deadline_ns, e);
}

int frame_receive(int fd, int64_t deadline_ns, struct text *ret, struct err *e)
{
	char buf[16384];
	uint64_t n;

	if (socket_move(fd, (char *)&n, sizeof(n), false, deadline_ns, e) < 0)
		return -1;
	if (n > FRAME_MAX_BYTES)
		return err_set(e, ERR_PROTOCOL, "a message of %llu bytes is too long", (unsigned long long)n);
	text_clear(ret);
	while (n > 0) {
		size_t part = n < sizeof(buf) ? n : sizeof(buf);

		if (socket_move(fd, buf, part, false, deadline_ns, e) < 0)
			return -1;
		text_add_n(ret, buf, part);
		n -= part;
	}
	return 0;
}
