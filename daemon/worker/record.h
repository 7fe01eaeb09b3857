/* SPDX-License-Identifier: MIT
 *
 * Records that follow each other with nothing between them share one commit: the end of a trial and the beginning of
 * the next, the end of a cell and the beginning of the next.  Each is still durable before anything runs.  With
 * trials of a millisecond that is half of all commits (0.25 ms each); with real ones nobody notices.
 */
#ifndef IOSWEEP_RECORD_H
#define IOSWEEP_RECORD_H

#include "daemon/worker/context.h"

/* Opens the shared transaction, if it is not open. */
int record_batch(struct worker *w, struct err *e);
/* Commits it, if it is open, and sends the hints that waited for it.  Called before anything runs or is waited for. */
int record_commit(struct worker *w, struct err *e);

/* Tells the daemon that the store has news: "KIND TEXT".  A hint; lost if nobody reads. */
void record_hint(struct worker *w, const char *kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same at once, whatever waits for a commit; from any thread. */
void record_line(const struct worker *w, const char *kind, const char *text);

#endif
