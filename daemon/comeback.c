/* SPDX-License-Identifier: MIT
 *
 * Devices that come back; see comeback.h.
 *
 * The monitor's source is the kernel, not udevd: udevd need not run, and the messages it passes on stay in its own
 * network namespace, which the unit's PrivateNetwork= is not.  What udevd's rules add to a device (by-id names) may
 * come a moment after the kernel's event; so the device is looked for more than once.
 */
#include "daemon/comeback.h"

#include <libudev.h>
#include <string.h>

#include "daemon/child.h"
#include "daemon/daemon.h"
#include "daemon/parked.h"
#include "daemon/supervisor.h"
#include "schema/base/log.h"
#include "schema/message.h"

#define LOOK_DEADLINE_MS 30000

/* From an event to the first look, and then from look to look.  The last is for events that were lost. */
static const uint64_t pauses_ms[] = { 300, 2000, 10000, 60000 };

/* A sweep that has ended, or is held by somebody's wish, and has something to be put back on a device that was away. */
struct left {
	int64_t sweep_id;
	bool is_looked_at;      /* its device has been looked for since */
};

struct comeback {
	struct daemon *daemon;  /* borrowed */
	struct left *left;      /* owned; by id */
	size_t n_left;
	struct udev *udev;      /* these two from the first sweep that waited */
	struct udev_monitor *monitor;
	uv_poll_t events;       /* made with the monitor */
	uv_timer_t timer;       /* armed while a sweep waits and nothing is looked at */
	size_t pause;           /* index of the next in pauses_ms */
	bool is_watching;
	int64_t looked_at;      /* sweep whose device a child looks at, or the last one of this round */
	bool is_looking;
	char told[300];         /* last reason of a refusal that was logged */
};

/* Whose device is looked for, and whether that was done since it began to wait. */
struct place {
	int64_t sweep_id;       /* 0: nobody's */
	bool *is_looked_at;
};

static void round_begin(uv_timer_t *timer);
static void look_next(struct comeback *c);

static void timer_set(struct comeback *c)
{
	uv_timer_start(&c->timer, round_begin, pauses_ms[c->pause], 0);
}

/* ---- who waits ---- */

/* One whose target is put aside failed to be put back, and waits for root; one at work is none of ours. */
static bool is_left(struct daemon *d, int64_t sweep_id)
{
	const struct queue_entry *entry = queue_find(&d->queue, sweep_id);
	AUTO_ARENA struct arena *a = arena_new();
	AUTO_TEXT struct text target = { 0 };
	struct sweep sweep;

	if ((entry != NULL && entry->state != QUEUE_HELD) || (entry != NULL && entry->awaits_device) ||
	    supervisor_sweep(d->supervisor) == sweep_id || supervisor_undoes(d->supervisor, sweep_id) ||
	    parked_why(sweep_id) != NULL || store_sweep_get(d->store, sweep_id, a, &sweep, NULL) < 0)
		return false;
	queue_target(sweep.target_kind, sweep.target, &target);
	return !queue_is_aside(&d->queue, target.s);
}

static bool was_looked_at(const struct comeback *c, int64_t sweep_id)
{
	for (size_t i = 0; i < c->n_left; i++)
		if (c->left[i].sweep_id == sweep_id)
			return c->left[i].is_looked_at;
	return false;
}

/* A store that does not answer just now is asked again at the next occasion. */
static void left_read(struct comeback *c)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct left *left;
	size_t n, n_left = 0;
	int64_t *ids;

	if (store_sweep_left(c->daemon->store, a, &ids, &n, NULL) < 0)
		return;
	left = xcalloc(n + 1, sizeof(*left));
	for (size_t i = 0; i < n; i++)
		if (is_left(c->daemon, ids[i]))
			left[n_left++] = (struct left){ ids[i], was_looked_at(c, ids[i]) };
	free(c->left);
	c->left = left;
	c->n_left = n_left;
}

/* The lowest id above `after` that waits, of the queue's and of those that have left something. */
static struct place place_next(struct comeback *c, int64_t after)
{
	struct queue_entry *entry = c->daemon->is_stopping ? NULL : queue_next_awaiting(&c->daemon->queue, after);
	struct place best = { 0 };

	if (entry != NULL)
		best = (struct place){ entry->sweep_id, &entry->is_looked_at };
	for (size_t i = 0; i < c->n_left && !c->daemon->is_stopping; i++)
		if (c->left[i].sweep_id > after && (best.sweep_id == 0 || c->left[i].sweep_id < best.sweep_id))
			best = (struct place){ c->left[i].sweep_id, &c->left[i].is_looked_at };
	return best;
}

/* ---- events ---- */

static void events_drain(struct comeback *c)
{
	struct udev_device *device;

	while ((device = udev_monitor_receive_device(c->monitor)) != NULL)
		udev_device_unref(device);
}

/* A burst of them, as of a disk with its partitions, is one. */
static void event_came(uv_poll_t *poll, int status, int events)
{
	struct comeback *c = poll->data;

	(void)status, (void)events;
	events_drain(c);
	if (c->pause == 0 && uv_is_active((uv_handle_t *)&c->timer))
		return;
	c->pause = 0;
	if (!c->is_looking)
		timer_set(c);
}

/* Without a monitor the seldom looks remain. */
static void monitor_make(struct comeback *c)
{
	struct daemon *d = c->daemon;

	if (c->udev == NULL)
		c->udev = udev_new();
	c->monitor = c->udev == NULL ? NULL : udev_monitor_new_from_netlink(c->udev, "kernel");
	if (c->monitor == NULL || udev_monitor_filter_add_match_subsystem_devtype(c->monitor, "block", NULL) < 0 ||
	    udev_monitor_enable_receiving(c->monitor) < 0) {
		log_warning("no events of devices can be had: a device that comes back is seen within %d s",
		            (int)(pauses_ms[ARRAY_SIZE(pauses_ms) - 1] / 1000));
		udev_monitor_unref(c->monitor);
		c->monitor = NULL;
		return;
	}
	uv_poll_init(&d->loop, &c->events, udev_monitor_get_fd(c->monitor));
	c->events.data = c;
}

static void watch_begin(struct comeback *c)
{
	c->is_watching = true;
	if (c->monitor == NULL)
		monitor_make(c);
	if (c->monitor == NULL)
		return;
	events_drain(c);
	uv_poll_start(&c->events, UV_READABLE, event_came);
}

static void watch_end(struct comeback *c)
{
	c->is_watching = false;
	uv_timer_stop(&c->timer);
	if (c->monitor != NULL)
		uv_poll_stop(&c->events);
}

/* ---- looking ---- */

static void refusal_tell(struct comeback *c, int64_t sweep_id, const char *why)
{
	char text[sizeof(c->told)];

	snprintf(text, sizeof(text), "sweep %lld still waits for its device: %.200s", (long long)sweep_id, why);
	if (strcmp(text, c->told) == 0)
		return;
	memcpy(c->told, text, sizeof(c->told));
	log_info("%s", text);
}

/* Unless that has happened too often in a row without a good trial in between. */
static int sweep_queue_again(struct daemon *d, struct queue_entry *entry, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;
	char reason[400];

	if (store_sweep_get(d->store, entry->sweep_id, a, &sweep, e) < 0)
		return -1;
	if (!sweep_awaits_device(&sweep))
		return 0;
	if (!queue_crashed(entry, sweep.trials_ok)) {
		snprintf(reason, sizeof(reason), "%d times in a row: %.300s", entry->crashes, sweep.reason);
		supervisor_say(d->supervisor, LOG_LEVEL_ERROR, sweep.id, "paused", reason);
		return supervisor_settle(d->supervisor, sweep.id, SWEEP_PAUSED, reason, e);
	}
	if (supervisor_settle(d->supervisor, sweep.id, SWEEP_QUEUED, "", e) < 0)
		return -1;
	supervisor_say(d->supervisor, LOG_LEVEL_NOTICE, sweep.id, "returned",
	               "the device is back, and the sweep goes on");
	return 0;
}

static void device_is_back(struct daemon *d, struct queue_entry *entry)
{
	struct err e;

	if (supervisor_undoes(d->supervisor, entry->sweep_id))
		return; /* first that; it is looked for again */
	if (sweep_queue_again(d, entry, &e) < 0)
		log_err(LOG_LEVEL_WARNING, &e, "sweep %lld: queue it again; trying again", (long long)entry->sweep_id);
	supervisor_go(d->supervisor);
}

static bool has_left(const struct comeback *c, int64_t sweep_id)
{
	for (size_t i = 0; i < c->n_left; i++)
		if (c->left[i].sweep_id == sweep_id)
			return true;
	return false;
}

/* What it is to wait for is as before. */
static void left_undo(struct daemon *d, int64_t sweep_id)
{
	log_notice("sweep %lld: its device is back, and what the sweep has left there is undone", (long long)sweep_id);
	supervisor_undo(d->supervisor, sweep_id);
	supervisor_go(d->supervisor);
}

static void looked(struct daemon *d, struct json_object *answer, const struct err *failed, void *data)
{
	struct comeback *c = data;
	struct queue_entry *entry = queue_find(&d->queue, c->looked_at);
	bool awaits = entry != NULL && entry->awaits_device;
	struct err e = { 0 };

	c->is_looking = false;
	if (failed != NULL)
		e = *failed;
	if (!awaits && !has_left(c, c->looked_at))
		;
	else if (failed != NULL || message_reply_check(answer, NULL, &e) < 0)
		refusal_tell(c, c->looked_at, e.text);
	else if (awaits)
		device_is_back(d, entry);
	else
		left_undo(d, c->looked_at);
	look_next(c);
}

/* `erase`: what stands on the device is judged by the worker, which knows this sweep's own filesystems. */
static int look_at(struct comeback *c, int64_t sweep_id, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;

	if (store_sweep_get(c->daemon->store, sweep_id, a, &sweep, e) < 0)
		return -1;
	return child_start(c->daemon, "the look for the device", (const char *const[]){ "--describe", "guard", sweep.target, "erase", NULL },
	                   NULL, 0, LOOK_DEADLINE_MS, looked, c, e);
}

static void look_next(struct comeback *c)
{
	struct place next = place_next(c, c->looked_at);
	struct err e = { 0 };

	if (next.sweep_id != 0) {
		c->looked_at = next.sweep_id;
		*next.is_looked_at = true;
		if (look_at(c, next.sweep_id, &e) == 0) {
			c->is_looking = true;
			return;
		}
		log_err(LOG_LEVEL_DEBUG, &e, "sweep %lld: look for its device", (long long)next.sweep_id);
	}
	if (c->is_watching)
		timer_set(c);
}

/* A look that hangs on a sick disk is followed by no other before it is gone: children have few places. */
static void round_begin(uv_timer_t *timer)
{
	struct comeback *c = timer->data;

	if (c->pause + 1 < ARRAY_SIZE(pauses_ms))
		c->pause++;
	c->looked_at = 0;
	if (child_n_stuck() > 0)
		timer_set(c);
	else
		look_next(c);
}

void comeback_look(struct comeback *c)
{
	struct place next;

	left_read(c);
	next = place_next(c, 0);
	if (next.sweep_id == 0) {
		if (c->is_watching)
			watch_end(c);
		return;
	}
	if (!c->is_watching)
		watch_begin(c);
	while (next.sweep_id != 0 && *next.is_looked_at)
		next = place_next(c, next.sweep_id);
	if (next.sweep_id == 0 || c->is_looking)
		return;
	/* one that is new here: its device may have come back before anybody listened */
	c->pause = 0;
	timer_set(c);
}

/* ---- start and end ---- */

struct comeback *comeback_new(struct daemon *d)
{
	struct comeback *c = xcalloc(1, sizeof(*c));

	c->daemon = d;
	uv_timer_init(&d->loop, &c->timer);
	c->timer.data = c;
	return c;
}

void comeback_close(struct comeback *c)
{
	c->is_watching = false;
	uv_close((uv_handle_t *)&c->timer, NULL);
	if (c->monitor != NULL)
		uv_close((uv_handle_t *)&c->events, NULL);
}

void comeback_free(struct comeback *c)
{
	if (c == NULL)
		return;
	udev_monitor_unref(c->monitor);
	udev_unref(c->udev);
	free(c->left);
	free(c);
}
