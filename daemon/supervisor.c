/* SPDX-License-Identifier: MIT
 *
 * What follows from a worker's start and end; see supervisor.h.  How a process is started and watched is in process.c.
 *
 * The store is the truth.  Should it refuse a write of the supervisor (locked, disk full), the write is tried again
 * until it succeeds, and nothing is started before.
 */
#include "daemon/supervisor.h"

#include <string.h>
#include <sys/wait.h>

#include "daemon/comeback.h"
#include "daemon/daemon.h"
#include "daemon/notify.h"
#include "daemon/parked.h"
#include "daemon/process.h"
#include "daemon/server.h"
#include "daemon/undo_queue.h"
#include "daemon/worker/worker.h"
#include "schema/base/log.h"

#define RETRY_MS   2000
#define FORMER_MS  500  /* between two looks whether the worker of a dead daemon is still there */
#define UNDO_TRIES 3 /* undo-only workers in a row that die on the same sweep */

struct waiter {
	supervisor_cb cb;
	void *data;
};

struct supervisor {
	struct daemon *daemon; /* borrowed */
	struct process *worker;/* the one that runs, or NULL */
	int64_t sweep_id;      /* what it is for; 0: none runs */
	bool is_undo;
	char hangs[512];       /* why it waits for its device; "" if it does not */
	char by[160];          /* who wants what is wanted of its sweep; "" after a restart of the daemon */
	char last_words[512];  /* how the worker said that its sweep ended; the store may not have taken it */
	struct undo_queue undo;
	struct waiter *waiters;/* owned */
	size_t n_waiters, cap_waiters;
	uv_timer_t retry;
	int64_t unsettled;     /* a sweep whose worker has ended while the store took no writes; 0: none */
	int unsettled_status;  /* how it ended */
	int64_t ended_ns;      /* when the last worker did: clock_ns() */
	supervisor_cb stopped;
};

int64_t supervisor_sweep(const struct supervisor *s)
{
	return s->sweep_id;
}

const char *supervisor_hangs(const struct supervisor *s, int64_t sweep_id)
{
	if (s->hangs[0] != '\0' && (sweep_id == 0 || s->sweep_id == sweep_id))
		return s->hangs;
	return parked_why(sweep_id);
}

/* ---- what is told to others ---- */

void supervisor_say(struct supervisor *s, enum log_level level, int64_t sweep_id, const char *kind, const char *text)
{
	struct err e;

	log_line(level, "sweep %lld: %s", (long long)sweep_id, text);
	if (store_event(s->daemon->store, sweep_id, kind, &e, "%s", text) < 0)
		log_err(LOG_LEVEL_WARNING, &e, "sweep %lld: note the event", (long long)sweep_id);
	server_event(s->daemon, kind, sweep_id, text);
}

static void waiters_call(struct supervisor *s)
{
	struct waiter *list = TAKE(s->waiters);
	size_t n = s->n_waiters;

	s->n_waiters = s->cap_waiters = 0;
	for (size_t i = 0; i < n; i++)
		list[i].cb(s->daemon, list[i].data);
	free(list);
}

/* What cannot be undone yet is not waited for. */
static bool is_quiet(struct supervisor *s)
{
	return s->worker == NULL && s->unsettled == 0 && !undo_queue_ready(&s->undo, s->daemon->config);
}

void supervisor_when_quiet(struct supervisor *s, supervisor_cb cb, void *data)
{
	if (is_quiet(s)) {
		cb(s->daemon, data);
		return;
	}
	ARRAY_GROW(s->waiters, s->n_waiters, s->cap_waiters);
	s->waiters[s->n_waiters++] = (struct waiter){ .cb = cb, .data = data };
}

/* ---- the queue follows the store ---- */

int supervisor_settle(struct supervisor *s, int64_t sweep_id, enum sweep_state state, const char *reason, struct err *e)
{
	struct store *store = s->daemon->store;

	if (store_sweep_set_wanted(store, sweep_id, WANT_NOTHING, e) < 0 ||
	    store_sweep_set_state(store, sweep_id, state, reason, e) < 0)
		return -1;
	queue_follow(&s->daemon->queue, sweep_id, state, reason);
	return 0;
}

/* What becomes of a sweep that was stopped by its submitter's wish, or by ours. */
static int settle_wanted(struct supervisor *s, const struct sweep *sweep, struct err *e)
{
	const char *reason = sweep->reason[0] != '\0' ? sweep->reason : s->by[0] != '\0' ? s->by : "by request";

	switch (sweep->wanted) {
	case WANT_CANCEL:
		return supervisor_settle(s, sweep->id, SWEEP_CANCELLED, reason, e);
	case WANT_PAUSE:
	case WANT_STOP:
		return supervisor_settle(s, sweep->id, SWEEP_PAUSED, reason, e);
	case WANT_NOTHING:
		break;
	}
	return supervisor_settle(s, sweep->id, SWEEP_QUEUED, "", e);
}

static void target_put_aside(struct supervisor *s, const struct sweep *sweep)
{
	AUTO_TEXT struct text target = { 0 }, text = { 0 };

	queue_target(sweep->target_kind, sweep->target, &target);
	if (sweep->target_kind != TARGET_IMAGE)
		queue_put_aside(&s->daemon->queue, target.s);
	text_printf(&text, "%s is put aside: not everything could be put back", target.s);
	supervisor_say(s, LOG_LEVEL_ERROR, sweep->id, "aside", text.s);
}

static int settle_aside(struct supervisor *s, const struct sweep *sweep, struct err *e)
{
	target_put_aside(s, sweep);
	if (sweep->state == SWEEP_RUNNING || sweep->state == SWEEP_QUEUED)
		return supervisor_settle(s, sweep->id, SWEEP_PAUSED,
		                         "the machine could not be put back; see 'iosweep restore'", e);
	if (sweep->wanted != WANT_NOTHING && store_sweep_set_wanted(s->daemon->store, sweep->id, WANT_NOTHING, e) < 0)
		return -1;
	queue_follow(&s->daemon->queue, sweep->id, sweep->state, sweep->reason);
	return 0;
}

/* ---- how a worker ended ---- */

/* The worker has recorded how its sweep ended; who wished it is known here alone. */
static int settle_recorded(struct supervisor *s, const struct sweep *sweep, struct err *e)
{
	bool is_wish = sweep->wanted != WANT_NOTHING &&
	               (sweep->state == SWEEP_CANCELLED || sweep->state == SWEEP_PAUSED) &&
	               (reason_is_wish(sweep->reason) || reason_awaits_device(sweep->reason));

	if (sweep->state == SWEEP_QUEUED && sweep->wanted != WANT_NOTHING)
		return settle_wanted(s, sweep, e); /* it was ended in the middle of a trial, and did not ask by whom */
	if (is_wish && s->by[0] != '\0')
		return supervisor_settle(s, sweep->id, sweep->state, s->by, e);
	if (sweep->wanted != WANT_NOTHING && store_sweep_set_wanted(s->daemon->store, sweep->id, WANT_NOTHING, e) < 0)
		return -1;
	queue_follow(&s->daemon->queue, sweep->id, sweep->state, sweep->reason);
	return 0;
}

/* It could not: the store took no writes, or was not even open. */
static int settle_unrecorded(struct supervisor *s, const struct sweep *sweep, int exit_status, struct err *e)
{
	const char *reason = s->last_words[0] != '\0' ? s->last_words :
	                                                "the worker could not record why; see the daemon's log";

	if (exit_status == WORKER_DONE)
		return supervisor_settle(s, sweep->id, SWEEP_DONE, "", e);
	if (exit_status == WORKER_FAILED)
		return supervisor_settle(s, sweep->id, SWEEP_FAILED, reason, e);
	if (exit_status == WORKER_CANCELLED || sweep->wanted != WANT_NOTHING || s->daemon->is_stopping)
		return settle_wanted(s, sweep, e);
	return supervisor_settle(s, sweep->id, SWEEP_PAUSED, reason, e);
}

static int run_settle(struct supervisor *s, const struct sweep *sweep, int status, struct err *e)
{
	int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	char text[160];

	switch (exit_status) {
	case WORKER_DONE:
	case WORKER_FAILED:
	case WORKER_CANCELLED:
	case WORKER_PAUSED:
		if (sweep->state == SWEEP_RUNNING)
			return settle_unrecorded(s, sweep, exit_status, e);
		return settle_recorded(s, sweep, e);
	case WORKER_UNDO_FAILED:
		return settle_aside(s, sweep, e);
	}
	process_status_text(status, text, sizeof(text));
	supervisor_say(s, LOG_LEVEL_ERROR, sweep->id, "crashed", text);
	undo_queue_add(&s->undo, sweep->id, s->ended_ns);
	return 0;
}

/* After the undo-only worker: the sweep goes on, unless it keeps crashing or somebody wants otherwise. */
static int undone_settle(struct supervisor *s, const struct sweep *sweep, bool is_crash, struct err *e)
{
	struct queue_entry *entry = queue_find(&s->daemon->queue, sweep->id);
	char reason[160];

	if (sweep->state != SWEEP_RUNNING) { /* an old journal of a sweep that has ended or waits */
		queue_follow(&s->daemon->queue, sweep->id, sweep->state, sweep->reason);
		return 0;
	}
	if (store_trials_interrupt(s->daemon->store, sweep->id, "the worker died", e) < 0)
		return -1;
	if (sweep->wanted == WANT_NOTHING && is_crash && entry != NULL && !queue_crashed(entry, sweep->trials_ok)) {
		snprintf(reason, sizeof(reason), "the worker died %d times in a row", entry->crashes);
		supervisor_say(s, LOG_LEVEL_ERROR, sweep->id, "paused", reason);
		return supervisor_settle(s, sweep->id, SWEEP_PAUSED, reason, e);
	}
	return settle_wanted(s, sweep, e);
}

static int undo_settle(struct supervisor *s, const struct sweep *sweep, int status, struct err *e)
{
	AUTO_TEXT struct text target = { 0 };
	char text[160];

	if (WIFEXITED(status) && WEXITSTATUS(status) == WORKER_DONE) {
		if (undone_settle(s, sweep, s->undo.at[0].crash_ns != 0, e) < 0)
			return -1;
		queue_target(sweep->target_kind, sweep->target, &target);
		queue_readmit(&s->daemon->queue, target.s);
		undo_queue_take(&s->undo);
		return 0;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != WORKER_UNDO_FAILED) {
		process_status_text(status, text, sizeof(text));
		supervisor_say(s, LOG_LEVEL_ERROR, sweep->id, "crashed", text);
		if (++s->undo.at[0].tries < UNDO_TRIES)
			return 0; /* it stays first */
	}
	if (settle_aside(s, sweep, e) < 0)
		return -1;
	undo_queue_take(&s->undo);
	return 0;
}

static int ended_settle(struct supervisor *s, int64_t sweep_id, bool is_undo, int status, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;

	if (store_sweep_get(s->daemon->store, sweep_id, a, &sweep, e) < 0)
		return -1;
	return is_undo ? undo_settle(s, &sweep, status, e) : run_settle(s, &sweep, status, e);
}

static void retry_settle(uv_timer_t *timer);

/* Once: that nothing need be waited for any more. */
static bool stopped_tell(struct supervisor *s)
{
	supervisor_cb stopped = s->stopped;

	s->stopped = NULL;
	if (stopped != NULL)
		stopped(s->daemon, NULL);
	return stopped != NULL;
}

static void worker_ended(struct supervisor *s, int64_t sweep_id, bool is_undo, int status)
{
	struct err e;

	if (ended_settle(s, sweep_id, is_undo, status, &e) < 0) {
		log_err(LOG_LEVEL_WARNING, &e, "sweep %lld: store how its worker ended; trying again",
		        (long long)sweep_id);
		s->unsettled = is_undo ? -sweep_id : sweep_id;
		s->unsettled_status = status;
		uv_timer_start(&s->retry, retry_settle, RETRY_MS, 0);
		stopped_tell(s); /* the next start finds it as an orphan */
		return;
	}
	s->unsettled = 0;
	if (stopped_tell(s))
		return;
	if (is_quiet(s))
		waiters_call(s);
	supervisor_go(s);
}

static void retry_settle(uv_timer_t *timer)
{
	struct supervisor *s = timer->data;

	if (s->unsettled != 0)
		worker_ended(s, s->unsettled < 0 ? -s->unsettled : s->unsettled, s->unsettled < 0, s->unsettled_status);
	else
		supervisor_go(s);
}

/* ---- a running worker ---- */

/* The worker has stored it, if the store takes anything. */
static void device_hangs(struct supervisor *s, const char *why)
{
	AUTO_TEXT struct text target = { 0 };

	if (s->hangs[0] != '\0')
		return;
	snprintf(s->hangs, sizeof(s->hangs), "%s", why);
	log_error("sweep %lld: %s", (long long)s->sweep_id, why);
	notify_status("sweep %lld: %s", (long long)s->sweep_id, why);
	if (queue_target_of(&s->daemon->queue, s->daemon->store, s->sweep_id, &target))
		queue_put_aside(&s->daemon->queue, target.s);
	stopped_tell(s); /* it undoes when the device answers; the next daemon waits for that */
}

static void device_answers(struct supervisor *s)
{
	AUTO_TEXT struct text target = { 0 };

	if (s->hangs[0] == '\0')
		return;
	s->hangs[0] = '\0';
	log_notice("sweep %lld: its device answers again", (long long)s->sweep_id);
	notify_status("%s sweep %lld", s->is_undo ? "undoing" : "running", (long long)s->sweep_id);
	if (queue_target_of(&s->daemon->queue, s->daemon->store, s->sweep_id, &target))
		queue_readmit(&s->daemon->queue, target.s);
}

static int parked_settle(struct supervisor *s, int64_t sweep_id, bool has_failed, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;

	if (store_sweep_get(s->daemon->store, sweep_id, a, &sweep, e) < 0)
		return -1;
	if (has_failed)
		return settle_aside(s, &sweep, e);
	if (sweep.state == SWEEP_PAUSED && sweep.wanted != WANT_NOTHING)
		return settle_wanted(s, &sweep, e);
	queue_follow(&s->daemon->queue, sweep_id, sweep.state, sweep.reason);
	return 0;
}

/* It has given up its turn.  What somebody wants of its sweep comes true at once; the rest of the undoing follows. */
static void worker_parks(struct supervisor *s)
{
	AUTO_TEXT struct text target = { 0 };
	int64_t sweep_id = s->sweep_id;
	struct queue_entry *entry;
	struct err e;

	if (s->worker == NULL || s->hangs[0] == '\0' ||
	    !queue_target_of(&s->daemon->queue, s->daemon->store, sweep_id, &target))
		return;
	if (s->is_undo)
		undo_queue_take(&s->undo);
	parked_take(s->daemon, TAKE(s->worker), sweep_id, target.s, s->hangs);
	s->hangs[0] = '\0';
	s->sweep_id = 0;
	notify_status("idle");
	if (parked_settle(s, sweep_id, false, &e) < 0)
		log_err(LOG_LEVEL_WARNING, &e, "sweep %lld: store what is wanted of it", (long long)sweep_id);
	entry = queue_find(&s->daemon->queue, sweep_id);
	if (entry != NULL) /* not before its worker has ended */
		queue_hold(entry, false);
	if (is_quiet(s))
		waiters_call(s);
	supervisor_go(s);
}

void supervisor_parked_ended(struct supervisor *s, int64_t sweep_id, int status)
{
	struct err e;

	if (s->daemon->is_stopping)
		return;
	if (!WIFEXITED(status))
		supervisor_undo(s, sweep_id);
	if (parked_settle(s, sweep_id, WIFEXITED(status) && WEXITSTATUS(status) == WORKER_UNDO_FAILED, &e) < 0)
		log_err(LOG_LEVEL_WARNING, &e, "sweep %lld: store how its worker ended", (long long)sweep_id);
	supervisor_go(s);
}

/* "trial 12 dd-write.throughput 180 MB/s": the first word is the kind of the event. */
static void worker_said(void *data, char *line)
{
	struct supervisor *s = data;
	char *rest = line + strcspn(line, " ");

	if (*rest != '\0')
		*rest++ = '\0';
	if (strcmp(line, "paused") == 0 || strcmp(line, "failed") == 0)
		snprintf(s->last_words, sizeof(s->last_words), "%s", rest);
	else if (strcmp(line, "hangs") == 0)
		device_hangs(s, rest);
	else if (strcmp(line, "answers") == 0)
		device_answers(s);
	else if (strcmp(line, "parked") == 0)
		worker_parks(s);
	if (line[0] != '\0')
		server_event(s->daemon, line, s->sweep_id, rest);
}

static void worker_exited(void *data, int status)
{
	struct supervisor *s = data;
	int64_t sweep_id = s->sweep_id;

	log_info("sweep %lld: %sworker ended: %s %d", (long long)sweep_id, s->is_undo ? "undo-only " : "",
	         WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	device_answers(s);
	s->worker = NULL;
	s->sweep_id = 0;
	s->ended_ns = clock_ns();
	notify_status("idle");
	worker_ended(s, sweep_id, s->is_undo, status);
}

static int worker_try_start(struct supervisor *s, int64_t sweep_id, bool is_undo, struct err *e)
{
	if (!is_undo && supervisor_settle(s, sweep_id, SWEEP_RUNNING, "", e) < 0)
		return -1;
	if (process_start(s->daemon, sweep_id, is_undo ? undo_queue_duty(&s->undo) : WORKER_RUNS, worker_said,
	                  worker_exited, s, &s->worker, e) < 0)
		return -1;
	s->sweep_id = sweep_id;
	s->is_undo = is_undo;
	s->last_words[0] = '\0';
	if (!is_undo)
		s->by[0] = '\0';
	log_info("sweep %lld: %sworker %d started", (long long)sweep_id, is_undo ? "undo-only " : "",
	         (int)process_pid(s->worker));
	notify_status("%s sweep %lld", is_undo ? "undoing" : "running", (long long)sweep_id);
	return 0;
}

/* A host that cannot start a worker now (no memory, no processes) is asked again; the sweep keeps its place. */
static void worker_start(struct supervisor *s, int64_t sweep_id, bool is_undo)
{
	struct err e, again;

	if (worker_try_start(s, sweep_id, is_undo, &e) == 0)
		return;
	log_err(LOG_LEVEL_ERROR, &e, "sweep %lld: start a worker; trying again", (long long)sweep_id);
	if (!is_undo && queue_running(&s->daemon->queue) != NULL &&
	    supervisor_settle(s, sweep_id, SWEEP_QUEUED, "", &again) < 0)
		queue_find(&s->daemon->queue, sweep_id)->state = QUEUE_WAITING;
	uv_timer_start(&s->retry, retry_settle, RETRY_MS, 0);
}

/* Nobody starts on its target, nor goes on with its sweep. */
static void former_worker_await(struct supervisor *s, int64_t sweep_id)
{
	struct queue_entry *entry = queue_find(&s->daemon->queue, sweep_id);
	AUTO_TEXT struct text target = { 0 };

	if (entry != NULL && entry->state == QUEUE_WAITING)
		queue_hold(entry, false);
	if (!queue_target_of(&s->daemon->queue, s->daemon->store, sweep_id, &target) ||
	    queue_is_aside(&s->daemon->queue, target.s))
		return;
	log_notice("sweep %lld: its former worker is still there; %s is put aside until it has ended",
	           (long long)sweep_id, target.s);
	queue_put_aside(&s->daemon->queue, target.s);
}

/* ---- what others ask ---- */

void supervisor_go(struct supervisor *s)
{
	struct queue_entry *next;

	comeback_look(s->daemon->comeback);
	if (s->worker != NULL || s->unsettled != 0 || s->daemon->is_stopping)
		return;
	if (undo_queue_ready(&s->undo, s->daemon->config)) {
		worker_start(s, s->undo.at[0].sweep_id, true);
		return;
	}
	for (size_t i = 0; i < s->undo.n; i++)
		former_worker_await(s, s->undo.at[i].sweep_id);
	if (s->undo.n > 0 && !uv_is_active((uv_handle_t *)&s->retry))
		uv_timer_start(&s->retry, retry_settle, FORMER_MS, 0);
	next = queue_next(&s->daemon->queue);
	if (next != NULL)
		worker_start(s, next->sweep_id, false);
}

void supervisor_tell(struct supervisor *s, int64_t sweep_id, enum wanted wanted, const char *by)
{
	if (s->worker == NULL || s->sweep_id != sweep_id)
		return;
	snprintf(s->by, sizeof(s->by), "%s", wanted == WANT_NOTHING ? "" : by);
	if (s->is_undo)
		return; /* the sweep obeys when all is undone */
	if (wanted == WANT_CANCEL || wanted == WANT_STOP)
		process_end(s->worker);
	/* a pause is read from the store between two trials: nothing may disturb the one that runs */
}

bool supervisor_undoes(const struct supervisor *s, int64_t sweep_id)
{
	return undo_queue_has(&s->undo, sweep_id);
}

void supervisor_undo(struct supervisor *s, int64_t sweep_id)
{
	if (!supervisor_undoes(s, sweep_id))
		undo_queue_add(&s->undo, sweep_id, 0);
}

void supervisor_stop(struct supervisor *s, supervisor_cb cb)
{
	s->stopped = cb;
	uv_timer_stop(&s->retry);
	if (s->worker != NULL)
		process_end(s->worker);
	if (s->worker == NULL || s->hangs[0] != '\0')
		stopped_tell(s);
}

/* ---- start and end ---- */

static int load_queue(struct supervisor *s, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep *sweeps;
	size_t n;

	if (store_sweep_list(s->daemon->store, 0, a, &sweeps, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		AUTO_TEXT struct text target = { 0 };
		const struct sweep *w = &sweeps[i];

		if (w->state != SWEEP_QUEUED && w->state != SWEEP_RUNNING && w->state != SWEEP_PAUSED)
			continue;
		queue_target(w->target_kind, w->target, &target);
		/* 'running' is an orphan: it waits, behind its own undo */
		if (queue_add(&s->daemon->queue, w->id, w->priority, target.s, QUEUE_WAITING, e) < 0)
			return -1;
		if (w->state == SWEEP_PAUSED)
			queue_follow(&s->daemon->queue, w->id, w->state, w->reason);
	}
	return 0;
}

int supervisor_load(struct supervisor *s, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	int64_t *orphans;
	size_t n;

	if (load_queue(s, e) < 0 || store_sweep_orphans(s->daemon->store, a, &orphans, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		log_notice("sweep %lld: was interrupted, or left something to put back; that comes first",
		           (long long)orphans[i]);
		undo_queue_add(&s->undo, orphans[i], 0);
	}
	return 0;
}

struct supervisor *supervisor_new(struct daemon *d)
{
	struct supervisor *s = xcalloc(1, sizeof(*s));

	s->daemon = d;
	uv_timer_init(&d->loop, &s->retry);
	s->retry.data = s;
	return s;
}

void supervisor_close(struct supervisor *s)
{
	uv_close((uv_handle_t *)&s->retry, NULL);
	if (s->worker != NULL) /* its device hangs */
		process_let_go(TAKE(s->worker));
	parked_let_go();
}

void supervisor_free(struct supervisor *s)
{
	if (s == NULL)
		return;
	undo_queue_done(&s->undo);
	free(s->waiters);
	free(s);
}
