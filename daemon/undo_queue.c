/* SPDX-License-Identifier: MIT
 *
 * Sweeps that are to be undone; see undo_queue.h.
 */
#include "daemon/undo_queue.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/state.h"
#include "schema/base/mem.h"
#include "schema/base/text.h"

#define JUST_NOW_NS INT64_C(30000000000) /* since a crash: nobody else has made anything on its device by then */

void undo_queue_done(struct undo_queue *q)
{
	free(q->at);
	*q = (struct undo_queue){ 0 };
}

void undo_queue_add(struct undo_queue *q, int64_t sweep_id, int64_t crash_ns)
{
	ARRAY_GROW(q->at, q->n, q->cap);
	q->at[q->n++] = (struct undo_task){ .sweep_id = sweep_id, .crash_ns = crash_ns };
}

bool undo_queue_has(const struct undo_queue *q, int64_t sweep_id)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->at[i].sweep_id == sweep_id)
			return true;
	return false;
}

struct undo_task undo_queue_take(struct undo_queue *q)
{
	struct undo_task first = q->at[0];

	memmove(q->at, q->at + 1, --q->n * sizeof(*q->at));
	return first;
}

enum worker_duty undo_queue_duty(const struct undo_queue *q)
{
	int64_t crash_ns = q->at[0].crash_ns;

	return crash_ns != 0 && clock_ns() - crash_ns < JUST_NOW_NS ? WORKER_UNDOES_A_CRASH : WORKER_UNDOES;
}

bool undo_queue_ready(struct undo_queue *q, const struct config *c)
{
	for (size_t i = 0; i < q->n; i++) {
		struct undo_task task = q->at[i];

		if (state_worker_is_there(c, task.sweep_id))
			continue;
		memmove(q->at + 1, q->at, i * sizeof(*q->at));
		q->at[0] = task;
		return true;
	}
	return false;
}
