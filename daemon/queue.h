/* SPDX-License-Identifier: MIT
 *
 * Which sweep runs next: pure policy over a small list, no loop, no store, no clock.  The list mirrors the sweeps of
 * the store that have not ended (the store is what survives); tens of entries are usual, QUEUE_MAX the limit.
 *
 *   waiting ──────────────▶ running ──queue_release──▶ waiting   (again, after a crash or a stop of the daemon)
 *      ▲ queue_release │ queue_hold       │ queue_hold
 *      └─────────── held ◀────────────────┘                      (paused)
 *   any ──queue_remove──▶ gone                                    (done, failed, cancelled)
 */
#ifndef IOSWEEP_QUEUE_H
#define IOSWEEP_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/base/err.h"
#include "schema/base/text.h"
#include "schema/model.h"
#include "schema/store.h"

#define QUEUE_MAX 10000
#define QUEUE_CRASHES_MAX 3 /* restarts in a row of one sweep without a good trial in between */

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_HELD };

struct queue_entry {
	int64_t sweep_id;
	int priority;          /* higher first */
	enum queue_state state;
	char *target;          /* owned: "device md1120", equal for sweeps that work on the same thing */
	bool awaits_device;    /* held until its device is back (comeback.h), not until somebody resumes */
	bool is_looked_at;     /* then: the device has been looked for since */
	int crashes;           /* in a row */
	int64_t trials_at_crash;
};

struct queue {
	struct queue_entry *at; /* owned; in no order */
	size_t n, cap;
	char **aside;           /* owned: targets that no sweep may use until queue_readmit */
	size_t n_aside, cap_aside;
};

void queue_done(struct queue *q);

/* What a sweep's target is called here. */
void queue_target(enum target_kind kind, const char *name, struct text *ret);

/* The same by the sweep's id: one that has ended is in the store alone.  false: in neither. */
bool queue_target_of(const struct queue *q, struct store *store, int64_t sweep_id, struct text *ret);

/* Adds a sweep.  ERR_BUSY beyond QUEUE_MAX.  The same id twice is a mistake of the caller. */
int queue_add(struct queue *q, int64_t sweep_id, int priority, const char *target, enum queue_state state,
              struct err *e);
struct queue_entry *queue_find(const struct queue *q, int64_t sweep_id); /* valid until the next add or remove */
void queue_remove(struct queue *q, int64_t sweep_id);                    /* no such sweep: nothing happens */

/* The waiting sweep with the highest priority, of those the one submitted first (lowest id), whose target is not put
 * aside; NULL if there is none or one is running: one sweep at a time on a host. */
struct queue_entry *queue_next(const struct queue *q);
struct queue_entry *queue_running(const struct queue *q); /* or NULL */

/* Holds a sweep, or lets it wait for its turn again. */
void queue_hold(struct queue_entry *entry, bool awaits_device);
void queue_release(struct queue_entry *entry);
/* As the store has it now; one that has ended is removed.  An unknown sweep is none of the queue's. */
void queue_follow(struct queue *q, int64_t sweep_id, enum sweep_state state, const char *reason);
/* Of the sweeps that await their devices the one with the lowest id above `after`; NULL if there is none. */
struct queue_entry *queue_next_awaiting(const struct queue *q, int64_t after);

/* Counts a crash of the sweep's worker, or a loss of its device; trials_ok: its good trials so far, of which a new
 * one ends the row.  True if it may be started again. */
bool queue_crashed(struct queue_entry *entry, int64_t trials_ok);

/* A target whose settings could not be put back. */
void queue_put_aside(struct queue *q, const char *target);
bool queue_is_aside(const struct queue *q, const char *target);
void queue_readmit(struct queue *q, const char *target);

#endif
