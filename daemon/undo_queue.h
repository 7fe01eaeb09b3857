/* SPDX-License-Identifier: MIT
 *
 * Sweeps whose leftover journal is to be replayed by a worker that only undoes, before anything else runs.  One whose
 * former worker is still there (its daemon died, and it waits for a device that does not answer) is not ready: its
 * turn comes when that worker has ended, and others go first.
 */
#ifndef IOSWEEP_UNDO_QUEUE_H
#define IOSWEEP_UNDO_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/worker/worker.h"
#include "schema/config.h"

struct undo_task {
	int64_t sweep_id;
	int tries;
	int64_t crash_ns;       /* its worker has died, which counts against the sweep: clock_ns() then; 0: not that is known */
};

struct undo_queue {
	struct undo_task *at;   /* owned; the first is the one that runs, or is next if it is ready */
	size_t n, cap;
};

void undo_queue_done(struct undo_queue *q);
void undo_queue_add(struct undo_queue *q, int64_t sweep_id, int64_t crash_ns);
bool undo_queue_has(const struct undo_queue *q, int64_t sweep_id);
struct undo_task undo_queue_take(struct undo_queue *q); /* the first */
/* Of the worker for the first. */
enum worker_duty undo_queue_duty(const struct undo_queue *q);
/* Brings the first one that is ready to the front; false if there is none. */
bool undo_queue_ready(struct undo_queue *q, const struct config *c);

#endif
