/* SPDX-License-Identifier: MIT
 *
 * One output pipe of a program: what it prints is kept up to a bound, its beginning and its end, since results stand
 * at either; the rest is read, counted and dropped, so that a flood never blocks the program nor fills the memory.
 */
#ifndef IOSWEEP_STREAM_H
#define IOSWEEP_STREAM_H

#include "schema/base/err.h"
#include "schema/base/text.h"

struct stream {
	int fd;            /* owned: the reading end, non-blocking; -1 once closed */
	size_t keep;       /* bytes */
	size_t bytes;      /* printed so far */
	struct text head;  /* owned: the first keep / 2 bytes */
	char *tail;        /* owned ring of keep / 2 bytes, made when head is full */
	size_t tail_bytes; /* put into it so far */
};

/* ret_write_fd: the program's end (O_CLOEXEC, above descriptor 2). */
int stream_open(struct stream *s, size_t keep, int *ret_write_fd, struct err *e);
/* The same for an output that nobody wants: it goes to /dev/null. */
int stream_discard(struct stream *s, int *ret_write_fd, struct err *e);
/* Reads what there is now; closes at the end of file. */
void stream_drain(struct stream *s);
/* What was kept; where something was dropped, a newline stands for it.  ret is owned by the caller. */
void stream_take(struct stream *s, struct text *ret);
void stream_done(struct stream *s);

#endif
