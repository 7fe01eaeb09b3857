/* SPDX-License-Identifier: MIT
 *
 * Which sweep runs next; see queue.h.  Every question is one pass over the list: at QUEUE_MAX entries that is some
 * microseconds, and it is asked once a sweep.
 */
#include "daemon/queue.h"

#include <assert.h>
#include <string.h>

#include "schema/base/mem.h"

void queue_done(struct queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		free(q->at[i].target);
	for (size_t i = 0; i < q->n_aside; i++)
		free(q->aside[i]);
	free(q->at);
	free(q->aside);
	*q = (struct queue){ 0 };
}

void queue_target(enum target_kind kind, const char *name, struct text *ret)
{
	switch (kind) {
	case TARGET_DEVICE:
		text_printf(ret, "device '%s'", name);
		return;
	case TARGET_DIRECTORY:
		text_printf(ret, "directory '%s'", name);
		return;
	case TARGET_IMAGE: /* each sweep has one of its own */
		text_printf(ret, "image");
		return;
	}
}

bool queue_target_of(const struct queue *q, struct store *store, int64_t sweep_id, struct text *ret)
{
	const struct queue_entry *entry = queue_find(q, sweep_id);
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;

	if (entry != NULL)
		text_add(ret, entry->target);
	else if (store_sweep_get(store, sweep_id, a, &sweep, NULL) == 0)
		queue_target(sweep.target_kind, sweep.target, ret);
	return ret->n > 0;
}

int queue_add(struct queue *q, int64_t sweep_id, int priority, const char *target, enum queue_state state,
              struct err *e)
{
	assert(queue_find(q, sweep_id) == NULL);
	if (q->n == QUEUE_MAX) {
		err_set_(e, ERR_BUSY, "the queue is full: %d sweeps have not ended", QUEUE_MAX);
		return err_hint(e, "cancel some of them");
	}
	ARRAY_GROW(q->at, q->n, q->cap);
	q->at[q->n++] = (struct queue_entry){
		.sweep_id = sweep_id, .priority = priority, .state = state, .target = xstrdup(target),
	};
	return 0;
}

struct queue_entry *queue_find(const struct queue *q, int64_t sweep_id)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->at[i].sweep_id == sweep_id)
			return &q->at[i];
	return NULL;
}

void queue_remove(struct queue *q, int64_t sweep_id)
{
	struct queue_entry *entry = queue_find(q, sweep_id);

	if (entry == NULL)
		return;
	free(entry->target);
	*entry = q->at[--q->n];
}

static bool entry_is_before(const struct queue_entry *a, const struct queue_entry *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->sweep_id < b->sweep_id;
}

struct queue_entry *queue_running(const struct queue *q)
{
	for (size_t i = 0; i < q->n; i++)
		if (q->at[i].state == QUEUE_RUNNING)
			return &q->at[i];
	return NULL;
}

struct queue_entry *queue_next(const struct queue *q)
{
	struct queue_entry *best = NULL;

	if (queue_running(q) != NULL)
		return NULL;
	for (size_t i = 0; i < q->n; i++) {
		struct queue_entry *entry = &q->at[i];

		if (entry->state == QUEUE_WAITING && !queue_is_aside(q, entry->target) &&
		    (best == NULL || entry_is_before(entry, best)))
			best = entry;
	}
	return best;
}

void queue_hold(struct queue_entry *entry, bool awaits_device)
{
	entry->state = QUEUE_HELD;
	entry->awaits_device = awaits_device;
	entry->is_looked_at = false;
}

void queue_release(struct queue_entry *entry)
{
	entry->state = QUEUE_WAITING;
	entry->awaits_device = false;
}

void queue_follow(struct queue *q, int64_t sweep_id, enum sweep_state state, const char *reason)
{
	struct queue_entry *entry = queue_find(q, sweep_id);

	if (entry == NULL)
		return;
	switch (state) {
	case SWEEP_QUEUED:
		queue_release(entry);
		break;
	case SWEEP_RUNNING:
		entry->state = QUEUE_RUNNING;
		break;
	case SWEEP_PAUSED:
		queue_hold(entry, reason_awaits_device(reason));
		break;
	case SWEEP_DONE:
	case SWEEP_FAILED:
	case SWEEP_CANCELLED:
	case SWEEP_IMPORTED:
	case N_SWEEP_STATES:
		queue_remove(q, sweep_id);
		break;
	}
}

struct queue_entry *queue_next_awaiting(const struct queue *q, int64_t after)
{
	struct queue_entry *best = NULL;

	for (size_t i = 0; i < q->n; i++) {
		struct queue_entry *entry = &q->at[i];

		if (entry->state == QUEUE_HELD && entry->awaits_device && entry->sweep_id > after &&
		    (best == NULL || entry->sweep_id < best->sweep_id))
			best = entry;
	}
	return best;
}

bool queue_crashed(struct queue_entry *entry, int64_t trials_ok)
{
	if (trials_ok > entry->trials_at_crash)
		entry->crashes = 0;
	entry->trials_at_crash = trials_ok;
	return ++entry->crashes <= QUEUE_CRASHES_MAX;
}

static char **aside_find(const struct queue *q, const char *target)
{
	for (size_t i = 0; i < q->n_aside; i++)
		if (strcmp(q->aside[i], target) == 0)
			return &q->aside[i];
	return NULL;
}

void queue_put_aside(struct queue *q, const char *target)
{
	if (queue_is_aside(q, target))
		return;
	ARRAY_GROW(q->aside, q->n_aside, q->cap_aside);
	q->aside[q->n_aside++] = xstrdup(target);
}

bool queue_is_aside(const struct queue *q, const char *target)
{
	return aside_find(q, target) != NULL;
}

void queue_readmit(struct queue *q, const char *target)
{
	char **slot = aside_find(q, target);

	if (slot == NULL)
		return;
	free(*slot);
	*slot = q->aside[--q->n_aside];
}
