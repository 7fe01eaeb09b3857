/* SPDX-License-Identifier: MIT
 *
 * What a client may ask; see requests.h.  How a plan is submitted is in submit.c.
 */
#include "daemon/requests.h"

#include <inttypes.h>
#include <string.h>

#include "daemon/child.h"
#include "daemon/daemon.h"
#include "daemon/server.h"
#include "daemon/submit.h"
#include "daemon/supervisor.h"
#include "schema/base/log.h"
#include "schema/message.h"

#define DESCRIBE_DEADLINE_MS 30000 /* a disk that spins up takes 10 s; beyond this it is sick */

static struct json_object *reply_new(void)
{
	struct json_object *m = json_object_new_object();

	json_object_object_add(m, "ok", json_object_new_boolean(1));
	return m;
}

static void add_integer(struct json_object *m, const char *key, int64_t v)
{
	json_object_object_add(m, key, json_object_new_int64(v));
}

static void add_string(struct json_object *m, const char *key, const char *s)
{
	json_object_object_add(m, key, json_object_new_string(s));
}

/* ---- hello ---- */

static int hello(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	AUTO_FREE char *db = xasprintf("%s/iosweep.db", d->config->state);
	struct json_object *m = reply_new();

	(void)request, (void)e;
	add_integer(m, "version", MESSAGE_VERSION);
	add_string(m, "program", "iosweepd " IOSWEEP_VERSION);
	add_integer(m, "pid", getpid());
	add_string(m, "state", d->config->state);
	add_string(m, "db", db);
	add_integer(m, "running", supervisor_sweep(d->supervisor));
	client_reply(c, m);
	return 0;
}

/* ---- one sweep ---- */

static int sweep_named(struct daemon *d, struct json_object *request, int64_t *ret, struct err *e)
{
	const char *name;

	if (message_integer(request, "sweep", ret, NULL) == 0)
		return 0;
	if (message_string(request, "sweep", &name, e) < 0)
		return -1;
	return store_sweep_find(d->store, name, ret, e);
}

/* The sweep of a request whose sender may steer it. */
static int sweep_to_steer(struct daemon *d, struct client *c, struct json_object *request, struct arena *a,
                          struct sweep *ret, struct err *e)
{
	const struct peer *peer = client_peer(c);
	int64_t id;

	if (sweep_named(d, request, &id, e) < 0 || store_sweep_get(d->store, id, a, ret, e) < 0)
		return -1;
	if (peer->uid == 0 || (int64_t)peer->uid == ret->submitter_uid)
		return 0;
	return err_set(e, ERR_REFUSED, "sweep %" PRId64 " belongs to '%s': only that user and root may do this", id, ret->submitter);
}

static int sweep_is_over(const struct sweep *sweep, struct err *e)
{
	return err_set(e, ERR_USAGE, "sweep %" PRId64 " is over: %s", sweep->id, sweep_state_name(sweep->state));
}

static void reply_state(struct client *c, int64_t sweep_id, enum sweep_state state)
{
	struct json_object *m = reply_new();

	add_integer(m, "sweep", sweep_id);
	add_string(m, "state", sweep_state_name(state));
	client_reply(c, m);
}

/* The reason of a state that somebody asked for: "by alice". */
static void by_whom(const struct client *c, const struct sweep *sweep, char *buf, size_t n)
{
	const struct peer *peer = client_peer(c);

	snprintf(buf, n, "by %s", (int64_t)peer->uid == sweep->submitter_uid ? sweep->submitter : "root");
}

/* A sweep that does not run changes at once, in store and queue.  Its worker may be about to exit all the same: what
 * was wanted before must not come true after this. */
static int sweep_move(struct daemon *d, struct client *c, const struct sweep *sweep, enum sweep_state state,
                      const char *reason, struct err *e)
{
	struct queue_entry *entry = queue_find(&d->queue, sweep->id);

	if (sweep->wanted != WANT_NOTHING && store_sweep_set_wanted(d->store, sweep->id, WANT_NOTHING, e) < 0)
		return -1;
	if (store_sweep_set_state(d->store, sweep->id, state, reason, e) < 0)
		return -1;
	if (state == SWEEP_CANCELLED)
		queue_remove(&d->queue, sweep->id);
	else if (entry != NULL && state == SWEEP_PAUSED)
		queue_hold(entry, false);
	else if (entry != NULL)
		queue_release(entry);
	log_info("sweep %" PRId64 ": %s%s%s", sweep->id, sweep_state_name(state), reason[0] != '\0' ? ": " : "", reason);
	server_event(d, sweep_state_name(state), sweep->id, reason);
	reply_state(c, sweep->id, state);
	supervisor_go(d->supervisor);
	return 0;
}

/* One that runs is told, and changes when its worker has undone everything. */
static int sweep_want(struct daemon *d, struct client *c, const struct sweep *sweep, enum wanted wanted, struct err *e)
{
	char by[160];

	if (store_sweep_set_wanted(d->store, sweep->id, wanted, e) < 0)
		return -1;
	by_whom(c, sweep, by, sizeof(by));
	supervisor_tell(d->supervisor, sweep->id, wanted, by);
	reply_state(c, sweep->id, SWEEP_RUNNING);
	return 0;
}

/* Also one that is 'paused' since its device hangs: its worker is there, and obeys when the device answers. */
static bool is_at_work(struct daemon *d, const struct sweep *sweep)
{
	return sweep->state == SWEEP_RUNNING ||
	       (sweep->state == SWEEP_PAUSED && supervisor_sweep(d->supervisor) == sweep->id &&
	        supervisor_hangs(d->supervisor, sweep->id) != NULL);
}

static int cancel(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;
	char reason[160];

	if (sweep_to_steer(d, c, request, a, &sweep, e) < 0)
		return -1;
	by_whom(c, &sweep, reason, sizeof(reason));
	if (is_at_work(d, &sweep))
		return sweep_want(d, c, &sweep, WANT_CANCEL, e);
	if (sweep.state == SWEEP_QUEUED || sweep.state == SWEEP_PAUSED)
		return sweep_move(d, c, &sweep, SWEEP_CANCELLED, reason, e);
	return sweep_is_over(&sweep, e);
}

static int pause_request(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;
	char reason[160];

	if (sweep_to_steer(d, c, request, a, &sweep, e) < 0)
		return -1;
	by_whom(c, &sweep, reason, sizeof(reason));
	if (is_at_work(d, &sweep) && sweep.wanted == WANT_NOTHING)
		return sweep_want(d, c, &sweep, WANT_PAUSE, e);
	if (sweep.state == SWEEP_QUEUED || (sweep_awaits_device(&sweep) && !is_at_work(d, &sweep)))
		return sweep_move(d, c, &sweep, SWEEP_PAUSED, reason, e); /* the latter: it stays when the device is back */
	if (sweep.state != SWEEP_RUNNING && sweep.state != SWEEP_PAUSED)
		return sweep_is_over(&sweep, e);
	reply_state(c, sweep.id, sweep.state);
	return 0;
}

static int resume_paused(struct daemon *d, struct client *c, const struct sweep *sweep, struct err *e)
{
	struct queue_entry *entry = queue_find(&d->queue, sweep->id);

	if (entry != NULL && queue_is_aside(&d->queue, entry->target)) {
		err_set_(e, ERR_REFUSED, "%s is put aside: what an earlier sweep changed could not be put back",
		         entry->target);
		return err_hint(e, "'iosweep restore' tries again and says what stands in the way");
	}
	if (entry != NULL)
		entry->crashes = 0;
	return sweep_move(d, c, sweep, SWEEP_QUEUED, "", e);
}

static int device_hangs(struct daemon *d, int64_t sweep_id, struct err *e)
{
	const char *why = supervisor_hangs(d->supervisor, sweep_id);

	err_set_(e, ERR_BUSY, "%s", why != NULL ? why : supervisor_hangs(d->supervisor, 0));
	return err_hint(e, "when the device answers, all goes on (or is undone, if that was asked for) by itself");
}

static int resume(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;

	if (sweep_to_steer(d, c, request, a, &sweep, e) < 0)
		return -1;
	if (is_at_work(d, &sweep) && sweep.wanted == WANT_PAUSE)
		return sweep_want(d, c, &sweep, WANT_NOTHING, e);
	if (sweep.state == SWEEP_PAUSED && sweep.wanted == WANT_NOTHING &&
	    supervisor_hangs(d->supervisor, sweep.id) != NULL)
		return device_hangs(d, sweep.id, e);
	if (sweep.state == SWEEP_PAUSED && !is_at_work(d, &sweep))
		return resume_paused(d, c, &sweep, e);
	if (is_at_work(d, &sweep) && sweep.wanted != WANT_NOTHING)
		return err_set(e, ERR_BUSY, "sweep %" PRId64 " is being stopped; resume it when that is done", sweep.id);
	if (sweep.state != SWEEP_RUNNING && sweep.state != SWEEP_QUEUED)
		return sweep_is_over(&sweep, e);
	reply_state(c, sweep.id, sweep.state);
	return 0;
}

/* ---- the whole host ---- */

struct stop {
	uint64_t client_id;
	int64_t sweep_id;
	struct json_object *paused; /* owned */
};

static void stop_finish(struct daemon *d, void *data)
{
	struct stop *stop = data;
	struct client *c = server_client(d, stop->client_id);

	if (c != NULL) {
		struct json_object *m = reply_new();

		add_integer(m, "sweep", stop->sweep_id);
		json_object_object_add(m, "paused", json_object_get(stop->paused));
		client_reply(c, m);
	}
	json_object_put(stop->paused);
	free(stop);
}

static bool may_steer(const struct client *c, const struct sweep *sweep)
{
	return client_peer(c)->uid == 0 || (int64_t)client_peer(c)->uid == sweep->submitter_uid;
}

/* Holds what waits, for its turn or for its device, so that nothing takes the place of the one that is stopped. */
static int stop_waiting(struct daemon *d, struct client *c, struct json_object *paused, struct err *e)
{
	for (size_t i = 0; i < d->queue.n; i++) {
		AUTO_ARENA struct arena *a = arena_new();
		struct queue_entry *entry = &d->queue.at[i];
		struct sweep sweep;
		char by[160];

		if (entry->state != QUEUE_WAITING && !entry->awaits_device)
			continue;
		if (store_sweep_get(d->store, entry->sweep_id, a, &sweep, e) < 0)
			return -1;
		if (!may_steer(c, &sweep) || (sweep.state != SWEEP_QUEUED && !sweep_awaits_device(&sweep)))
			continue;
		by_whom(c, &sweep, by, sizeof(by));
		if (store_sweep_set_state(d->store, sweep.id, SWEEP_PAUSED, by, e) < 0)
			return -1;
		queue_hold(entry, false);
		json_object_array_add(paused, json_object_new_int64(sweep.id));
		server_event(d, "paused", sweep.id, by);
	}
	return 0;
}

static int stop_running(struct daemon *d, struct client *c, int64_t sweep_id, struct json_object *paused, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct sweep sweep;
	char by[160];

	if (store_sweep_get(d->store, sweep_id, a, &sweep, e) < 0)
		return -1;
	if (!may_steer(c, &sweep))
		return err_set(e, ERR_REFUSED, "sweep %" PRId64 " belongs to '%s': only that user and root may stop it", sweep_id,
		               sweep.submitter);
	/* One that has just lost its device is about to end, and would return by itself. */
	if (!is_at_work(d, &sweep) && !sweep_awaits_device(&sweep))
		return 0; /* an old journal is being replayed */
	if (sweep.wanted != WANT_CANCEL && store_sweep_set_wanted(d->store, sweep_id, WANT_STOP, e) < 0)
		return -1;
	by_whom(c, &sweep, by, sizeof(by));
	supervisor_tell(d->supervisor, sweep_id, WANT_STOP, by);
	json_object_array_add(paused, json_object_new_int64(sweep_id));
	return 0;
}

static int stop(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	int64_t sweep_id = supervisor_sweep(d->supervisor);
	struct json_object *paused = json_object_new_array();
	struct stop *stop;

	(void)request;
	if ((sweep_id != 0 && stop_running(d, c, sweep_id, paused, e) < 0) || stop_waiting(d, c, paused, e) < 0 ||
	    (supervisor_hangs(d->supervisor, 0) != NULL && device_hangs(d, sweep_id, e) < 0)) {
		json_object_put(paused);
		return -1;
	}
	log_notice("uid %u stops the host: sweep %" PRId64, (unsigned)client_peer(c)->uid, sweep_id);
	stop = xcalloc(1, sizeof(*stop));
	*stop = (struct stop){ .client_id = client_id(c), .sweep_id = sweep_id, .paused = paused };
	supervisor_when_quiet(d->supervisor, stop_finish, stop);
	return 0;
}

/* ---- restore ---- */

struct restore {
	uint64_t client_id;
	struct arena *arena;       /* owned; of the two below */
	struct json_object *entries; /* owned */
	int64_t *ids;
	size_t n;
};

static void restore_free(struct restore *r)
{
	json_object_put(r->entries);
	arena_free(r->arena);
	free(r);
}

static struct json_object *entry_json(int64_t sweep_id, const struct undo_entry *u)
{
	struct json_object *m = json_object_new_object();

	add_integer(m, "id", u->id);
	add_integer(m, "sweep", sweep_id);
	add_string(m, "kind", u->kind);
	add_string(m, "object", u->object);
	add_string(m, "original", u->original);
	add_string(m, "state", "pending");
	return m;
}

static int restore_collect(struct daemon *d, struct restore *r, struct err *e)
{
	if (store_sweep_orphans(d->store, r->arena, &r->ids, &r->n, e) < 0)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		struct undo_entry *entries;
		size_t n;

		if (store_undo_pending(d->store, r->ids[i], r->arena, &entries, &n, e) < 0)
			return -1;
		for (size_t j = 0; j < n; j++)
			json_object_array_add(r->entries, entry_json(r->ids[i], &entries[j]));
	}
	return 0;
}

/* What is pending still has failed, if its target is put aside for it; else its device is away. */
static void entry_end(struct daemon *d, struct json_object *entry)
{
	int64_t sweep_id = message_integer_or(entry, "sweep", 0), id = message_integer_or(entry, "id", 0);
	AUTO_ARENA struct arena *a = arena_new();
	const char *state = "failed", *reason = "";
	struct err e = { 0 };
	struct sweep sweep;

	if (store_undo_end(d->store, id, a, &state, &reason, &e) < 0 ||
	    store_sweep_get(d->store, sweep_id, a, &sweep, &e) < 0) {
		state = "failed";
		reason = e.text;
	} else if (strcmp(state, "pending") == 0) {
		AUTO_TEXT struct text target = { 0 };
		bool is_failed;

		queue_target(sweep.target_kind, sweep.target, &target);
		is_failed = sweep.target_kind != TARGET_DEVICE || queue_is_aside(&d->queue, text_str(&target));
		state = is_failed ? "failed" : "pending";
		reason = is_failed ? "see the sweep's events and the daemon's log" : "the device is not there";
	}
	add_string(entry, "state", state);
	add_string(entry, "reason", reason);
}

static void restore_finish(struct daemon *d, void *data)
{
	struct restore *r = data;
	struct client *c = server_client(d, r->client_id);
	struct json_object *m;

	for (size_t i = 0; i < json_object_array_length(r->entries); i++)
		entry_end(d, json_object_array_get_idx(r->entries, i));
	if (c != NULL) {
		m = reply_new();
		json_object_object_add(m, "entries", json_object_get(r->entries));
		client_reply(c, m);
	}
	restore_free(r);
}

static int restore_check(struct daemon *d, struct client *c, struct err *e)
{
	if (client_peer(c)->uid != 0)
		return err_set(e, ERR_REFUSED, "only root may replay journals; anybody may look with '--dry-run'");
	if (queue_running(&d->queue) == NULL)
		return 0;
	err_set_(e, ERR_BUSY, "sweep %" PRId64 " is running, and puts its own changes back", supervisor_sweep(d->supervisor));
	return err_hint(e, "'iosweep stop --now' ends it");
}

static int restore(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	bool is_dry = message_bool_or(request, "dry-run", false);
	struct restore *r;

	if (!is_dry && restore_check(d, c, e) < 0)
		return -1;
	r = xcalloc(1, sizeof(*r));
	*r = (struct restore){ .client_id = client_id(c), .arena = arena_new(), .entries = json_object_new_array() };
	if (restore_collect(d, r, e) < 0) {
		restore_free(r);
		return -1;
	}
	if (is_dry) {
		struct json_object *m = reply_new();

		json_object_object_add(m, "entries", json_object_get(r->entries));
		restore_free(r);
		client_reply(c, m);
		return 0;
	}
	for (size_t i = 0; i < r->n; i++)
		supervisor_undo(d->supervisor, r->ids[i]);
	supervisor_go(d->supervisor);
	supervisor_when_quiet(d->supervisor, restore_finish, r);
	return 0;
}

/* ---- what children tell about the host ---- */

static void describe_finish(struct daemon *d, struct json_object *answer, const struct err *e, void *data)
{
	uint64_t *id = data;
	struct client *c = server_client(d, *id);
	struct err said = { 0 };

	free(id);
	if (c == NULL)
		return;
	if (e == NULL && message_reply_check(answer, NULL, &said) < 0)
		e = &said;
	if (e != NULL) {
		client_fail(c, e, NULL);
	} else {
		struct json_object *m = reply_new();

		json_object_object_add(m, "report", json_object_get(answer));
		client_reply(c, m);
	}
}

static int describe(struct daemon *d, struct client *c, const char *what, struct err *e)
{
	const char *const args[] = { "--describe", what, NULL };
	uint64_t *id = xmalloc(sizeof(*id));

	*id = client_id(c);
	if (child_start(d, "the look at this host", args, NULL, 0, DESCRIBE_DEADLINE_MS, describe_finish, id, e) == 0)
		return 0;
	free(id);
	return -1;
}

static int devices(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	(void)request;
	return describe(d, c, "devices", e);
}

static int doctor(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	(void)request;
	return describe(d, c, "doctor", e);
}

/* ---- watch ---- */

static int watch(struct daemon *d, struct client *c, struct json_object *request, struct err *e)
{
	int64_t sweep_id = 0;

	if (json_object_object_get_ex(request, "sweep", NULL) && sweep_named(d, request, &sweep_id, e) < 0)
		return -1;
	client_reply(c, reply_new());
	client_watch(c, sweep_id);
	return 0;
}

/* ---- the table ---- */

/* serve: replies now or later (0), or fails (-1) and the error is the reply. */
static const struct request {
	const char *name;
	int (*serve)(struct daemon *d, struct client *c, struct json_object *request, struct err *e);
} table[] = {
	{ "hello", hello },       { "submit", submit }, { "cancel", cancel },   { "pause", pause_request },
	{ "resume", resume },     { "stop", stop },     { "restore", restore }, { "devices", devices },
	{ "doctor", doctor },     { "watch", watch },
};

static int request_find(struct json_object *m, const struct request **ret, struct err *e)
{
	const char *name;
	int64_t version;

	if (message_integer(m, "version", &version, e) < 0 || message_string(m, "request", &name, e) < 0)
		return -1;
	if (version != MESSAGE_VERSION) {
		err_set_(e, ERR_PROTOCOL, "the message is of version %" PRId64 ", this daemon speaks version %d", version,
		         MESSAGE_VERSION);
		return err_hint(e, "iosweep and iosweepd are of different releases");
	}
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(table[i].name, name) == 0) {
			*ret = &table[i];
			return 0;
		}
	return err_set(e, ERR_PROTOCOL, "there is no request '%.40s'", name);
}

void request_serve(struct daemon *d, struct client *c, const char *line, size_t n)
{
	struct json_object *m = NULL;
	const struct request *request;
	struct err e = { 0 };

	if (message_decode(line, n, &m, &e) < 0 || request_find(m, &request, &e) < 0)
		client_drop(c, &e);
	else if (request->serve(d, c, m, &e) < 0)
		client_fail(c, &e, NULL);
	json_object_put(m);
}
