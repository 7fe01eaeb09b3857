/* SPDX-License-Identifier: MIT
 *
 * Records that follow each other with nothing between them share one commit: the end of a trial and the beginning of
 * the next, the end of a cell and the beginning of the next.  Each is still committed before anything runs, and what
 * a trial measured is on the disk before anybody is told.  Where only a beginning or the end of a cell is committed,
 * nobody waits for the disk: a power cut may take it back, and the sweep goes on from the trials there are.  With
 * trials of a millisecond that is most of all waiting (0.25 ms a commit); with real ones nobody notices.
 */
#ifndef IOSWEEP_RECORD_H
#define IOSWEEP_RECORD_H

#include "daemon/worker/context.h"

/* Opens the shared transaction, if it is not open.  is_lazy: a power cut may take it back. */
int record_batch(struct worker *w, bool is_lazy, struct err *e);
/* Commits it, if it is open, and sends the hints that waited for it.  Called before anything runs or is waited for. */
int record_commit(struct worker *w, struct err *e);

/* Tells the daemon that the store has news: "KIND TEXT".  A hint; lost if nobody reads. */
void record_hint(struct worker *w, const char *kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same at once, whatever waits for a commit; from any thread. */
void record_line(const struct worker *w, const char *kind, const char *text);

#endif
