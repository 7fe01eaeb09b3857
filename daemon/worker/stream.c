/* SPDX-License-Identifier: MIT
 *
 * Bounded capture of a pipe; see stream.h.
 */
#include "daemon/worker/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)64 * 1024) /* a pipe's default capacity: pipe(7) */

/* A descriptor above 2, so that the child can move it there. */
static int fd_raise(int fd)
{
	int raised;

	if (fd > 2)
		return fd;
	raised = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return raised;
}

int stream_open(struct stream *s, size_t keep, int *ret_write_fd, struct err *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(e, errno, "make a pipe");
	ends[0] = fd_raise(ends[0]);
	ends[1] = fd_raise(ends[1]);
	if (ends[0] < 0 || ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_sys(e, errno, "make a pipe");
	}
	*s = (struct stream){ .fd = ends[0], .keep = keep };
	*ret_write_fd = ends[1];
	return 0;
}

int stream_discard(struct stream *s, int *ret_write_fd, struct err *e)
{
	*s = (struct stream){ .fd = -1 };
	*ret_write_fd = fd_raise(open("/dev/null", O_WRONLY | O_CLOEXEC));
	return *ret_write_fd < 0 ? err_sys(e, errno, "open '/dev/null'") : 0;
}

static void stream_add(struct stream *s, const char *data, size_t n)
{
	size_t half = s->keep / 2, room = half - s->head.n;
	size_t first = n < room ? n : room;

	s->bytes += n;
	text_add_n(&s->head, data, first);
	data += first;
	n -= first;
	if (n == 0 || half == 0)
		return;
	if (s->tail == NULL)
		s->tail = xmalloc(half);
	if (n > half) {
		s->tail_bytes += n - half;
		data += n - half;
		n = half;
	}
	for (size_t done = 0; done < n;) {
		size_t at = s->tail_bytes % half;
		size_t run = n - done < half - at ? n - done : half - at;

		memcpy(s->tail + at, data + done, run);
		s->tail_bytes += run;
		done += run;
	}
}

void stream_drain(struct stream *s)
{
	char buf[READ_BYTES]; /* on the stack: servers have readers of their own */

	while (s->fd >= 0) {
		ssize_t n = read(s->fd, buf, sizeof(buf));

		if (n > 0) {
			stream_add(s, buf, (size_t)n);
			if ((size_t)n < sizeof(buf))
				return;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		close(s->fd);
		s->fd = -1;
	}
}

void stream_take(struct stream *s, struct text *ret)
{
	size_t half = s->keep / 2;

	*ret = s->head;
	s->head = (struct text){ 0 };
	if (s->tail_bytes > half) {
		size_t at = s->tail_bytes % half;

		text_add(ret, "\n");
		text_add_n(ret, s->tail + at, half - at);
		text_add_n(ret, s->tail, at);
	} else if (s->tail_bytes > 0) {
		text_add_n(ret, s->tail, s->tail_bytes);
	}
}

void stream_done(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	text_done(&s->head);
	free(s->tail);
	*s = (struct stream){ .fd = -1 };
}
