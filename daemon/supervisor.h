/* SPDX-License-Identifier: MIT
 *
 * Starts, watches and stops workers: one at a time.  Whatever a worker leaves behind when it dies is put back by a
 * second one that only undoes, before anything else runs.
 *
 *   idle ──start──▶ RUNNING ── exit status 0..12 ──────────────▶ idle, next
 *     │                │ a signal, another status
 *     │ orphans        ▼
 *     └───────────▶ UNDOING ── 0 ──▶ sweep waits again (or is paused after too many crashes) ──▶ idle, next
 *                      └── cannot put it back ──▶ target put aside, sweep paused ──▶ idle, next
 *
 * A worker whose device does not answer waits, whatever it is told: the sweep is 'paused' in the store and its target
 * put aside until the device answers.  If it can, it gives up its turn (parked.h).  The daemon does not wait with it
 * when it is to end.
 */
#ifndef IOSWEEP_SUPERVISOR_H
#define IOSWEEP_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/log.h"
#include "schema/store.h"

struct daemon;
struct supervisor;

struct supervisor *supervisor_new(struct daemon *d);
void supervisor_free(struct supervisor *s); /* after the loop has ended */

/* Looks for sweeps that a dead daemon left running or not undone; they are undone first.  Fills the queue. */
int supervisor_load(struct supervisor *s, struct err *e);
/* Starts whatever is next, if nothing runs.  To be called after every change of the queue. */
void supervisor_go(struct supervisor *s);

/* What a client wants of a sweep that runs: stored by the caller; this tells the worker.  by: "by alice", the reason
 * that is stored when it comes true. */
void supervisor_tell(struct supervisor *s, int64_t sweep_id, enum wanted wanted, const char *by);

/* The worker that waited for its device outside of its turn (parked.h) has ended. */
void supervisor_parked_ended(struct supervisor *s, int64_t sweep_id, int status);

/* Asks for an undo-only worker for a sweep with a leftover journal. */
void supervisor_undo(struct supervisor *s, int64_t sweep_id);
bool supervisor_undoes(const struct supervisor *s, int64_t sweep_id); /* it waits or runs */

/* Calls cb once, when no worker runs and nothing waits to be undone, before the next sweep starts: at once if that is
 * so. */
typedef void (*supervisor_cb)(struct daemon *d, void *data);
void supervisor_when_quiet(struct supervisor *s, supervisor_cb cb, void *data);

/* State and reason into the store, nothing wanted any more, and the queue follows. */
int supervisor_settle(struct supervisor *s, int64_t sweep_id, enum sweep_state state, const char *reason,
                      struct err *e);
/* To the log, to the sweep's events, to those who watch. */
void supervisor_say(struct supervisor *s, enum log_level level, int64_t sweep_id, const char *kind, const char *text);

/* Ends the running worker, waits for its undo (bounded) and then calls cb; its sweep goes on at the next start. */
void supervisor_stop(struct supervisor *s, supervisor_cb cb);

/* Closes what it has in the loop, once it is stopped. */
void supervisor_close(struct supervisor *s);

int64_t supervisor_sweep(const struct supervisor *s); /* of the worker that runs; 0: none */
/* Why the worker of this sweep (0: of any) waits for its device, or NULL if it does not. */
const char *supervisor_hangs(const struct supervisor *s, int64_t sweep_id);

#endif
