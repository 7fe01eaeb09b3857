/* SPDX-License-Identifier: MIT
 *
 * Starts, watches and stops workers: one at a time.  Whatever a worker leaves behind when it dies is put back by a second
 * one that only undoes, before anything else runs.
 *
 *   idle ──start──▶ RUNNING ── exit status 0..12 ──────────────▶ idle, next
 *     │                │ a signal, another status
 *     │ orphans        ▼
 *     └───────────▶ UNDOING ── 0 ──▶ sweep waits again (or is paused after too many crashes) ──▶ idle, next
 *                      └── cannot put it back ──▶ target put aside, sweep paused ──▶ idle, next
 *
 * A worker whose device does not answer waits, whatever it is told: the sweep is 'paused' in the store and its target put
 * aside until the device answers.  The daemon does not wait with it when it is to end.
 */
#ifndef IOSWEEP_SUPERVISOR_H
#define IOSWEEP_SUPERVISOR_H

#include <stdint.h>

#include "schema/base/err.h"
#include "schema/store.h"

struct daemon;
struct supervisor;

struct supervisor *supervisor_new(struct daemon *d);
void supervisor_free(struct supervisor *s); /* after the loop has ended */

/* Looks for sweeps that a dead daemon left running or not undone; they are undone first.  Fills the queue. */
int supervisor_load(struct supervisor *s, struct err *e);
/* Starts whatever is next, if nothing runs.  To be called after every change of the queue. */
void supervisor_go(struct supervisor *s);

/* What a client wants of a sweep that runs: stored by the caller; this tells the worker.  by: "by alice", the reason that
 * is stored when it comes true. */
void supervisor_tell(struct supervisor *s, int64_t sweep_id, enum wanted wanted, const char *by);

/* Asks for an undo-only worker for a sweep with a leftover journal. */
void supervisor_undo(struct supervisor *s, int64_t sweep_id);

/* Calls cb once, when no worker runs and nothing waits to be undone, before the next sweep starts: at once if that is so. */
typedef void (*supervisor_cb)(struct daemon *d, void *data);
void supervisor_when_quiet(struct supervisor *s, supervisor_cb cb, void *data);

/* The device of a sweep that awaits it can be had again: the sweep is queued, unless that has happened too often in a row
 * without a good trial in between. */
void supervisor_device_is_back(struct supervisor *s, int64_t sweep_id);

/* Ends the running worker, waits for its undo (bounded) and then calls cb; its sweep goes on at the next start. */
void supervisor_stop(struct supervisor *s, supervisor_cb cb);

/* Closes what it has in the loop, once it is stopped. */
void supervisor_close(struct supervisor *s);

int64_t supervisor_sweep(const struct supervisor *s); /* of the worker that runs; 0: none */
/* Why the worker of this sweep waits for its device, or NULL if it does not. */
const char *supervisor_hangs(const struct supervisor *s, int64_t sweep_id);

#endif
