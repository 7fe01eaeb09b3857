/* SPDX-License-Identifier: MIT
 *
 * Frames between the worker and its helper: a length, then numbers and strings one after the other.  Both ends are one
 * program, so there are no versions; but the helper runs as the submitter, so what it sends is read with distrust.
 */
#ifndef IOSWEEP_FRAME_H
#define IOSWEEP_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/mem.h"
#include "schema/base/text.h"

#define FRAME_MAX_BYTES ((size_t)256 << 20)

void frame_add_number(struct text *frame, int64_t v);
void frame_add_real(struct text *frame, double v);
void frame_add_bytes(struct text *frame, const void *data, size_t n);
void frame_add_string(struct text *frame, const char *s);

/* A cursor over a frame.  A read past its end, or of a string longer than it, gives 0 or "" and sets is_bad. */
struct frame_reader {
	const char *at;
	size_t left;
	bool is_bad;
};
int64_t frame_number(struct frame_reader *r);
double frame_real(struct frame_reader *r);
const char *frame_bytes(struct frame_reader *r, size_t *ret_n);                /* borrowed from the frame */
const char *frame_string(struct frame_reader *r, struct arena *a); /* up to the first NUL */
/* A count of things of which each takes at least min_bytes. */
size_t frame_count(struct frame_reader *r, size_t min_bytes);

/* Whole frames over a socket.  ERR_UNREACHABLE: the other end is gone; ERR_TIMEOUT: deadline_ns (CLOCK_MONOTONIC) has
 * passed. */
int frame_send(int fd, const struct text *frame, int64_t deadline_ns, struct err *e);
int frame_receive(int fd, int64_t deadline_ns, struct text *ret, struct err *e);

#endif
