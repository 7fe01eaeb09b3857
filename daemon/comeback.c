/* SPDX-License-Identifier: MIT
 *
 * Devices that come back; see comeback.h.
 *
 * The monitor's source is the kernel, not udevd: udevd need not run, and the messages it passes on stay in its own network
 * namespace, which the unit's PrivateNetwork= is not.  What udevd's rules add to a device (by-id names) may come a moment
 * after the kernel's event; so the device is looked for more than once.
 */
#include "daemon/comeback.h"

#include <libudev.h>
#include <string.h>

#include "daemon/child.h"
#include "daemon/daemon.h"
#include "daemon/supervisor.h"
#include "schema/base/log.h"
#include "schema/message.h"

#define LOOK_DEADLINE_MS 30000

/* From an event to the first look, and then from look to look.  The last is for events that were lost. */
static const uint64_t pauses_ms[] = { 300, 2000, 10000, 60000 };

struct comeback {
	struct daemon *daemon;  /* borrowed */
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

static void round_begin(uv_timer_t *timer);
static void look_next(struct comeback *c);

static void timer_set(struct comeback *c)
{
	uv_timer_start(&c->timer, round_begin, pauses_ms[c->pause], 0);
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
	supervisor_say(d->supervisor, LOG_LEVEL_NOTICE, sweep.id, "returned", "the device is back, and the sweep goes on");
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

static void looked(struct daemon *d, struct json_object *answer, const struct err *failed, void *data)
{
	struct comeback *c = data;
	struct queue_entry *entry = queue_find(&d->queue, c->looked_at);
	struct err e = { 0 };

	c->is_looking = false;
	if (failed != NULL)
		e = *failed;
	if (entry == NULL || !entry->awaits_device)
		;
	else if (failed == NULL && message_reply_check(answer, NULL, &e) == 0)
		device_is_back(d, entry);
	else
		refusal_tell(c, entry->sweep_id, e.text);
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
	struct queue_entry *entry = c->daemon->is_stopping ? NULL : queue_next_awaiting(&c->daemon->queue, c->looked_at);
	struct err e = { 0 };

	if (entry != NULL) {
		c->looked_at = entry->sweep_id;
		entry->is_looked_at = true;
		if (look_at(c, entry->sweep_id, &e) == 0) {
			c->is_looking = true;
			return;
		}
		log_err(LOG_LEVEL_DEBUG, &e, "sweep %lld: look for its device", (long long)entry->sweep_id);
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
	struct queue_entry *entry = c->daemon->is_stopping ? NULL : queue_next_awaiting(&c->daemon->queue, 0);

	if (entry == NULL) {
		if (c->is_watching)
			watch_end(c);
		return;
	}
	if (!c->is_watching)
		watch_begin(c);
	while (entry != NULL && entry->is_looked_at)
		entry = queue_next_awaiting(&c->daemon->queue, entry->sweep_id);
	if (entry == NULL || c->is_looking)
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
	free(c);
}
