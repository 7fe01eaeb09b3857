/* SPDX-License-Identifier: MIT
 *
 * Sweeps: submission, the queue, states, and events.  What a sweep measured is in store_trial.c.
 */
#include "schema/store_internal.h"

#include <ctype.h>
#include <string.h>

static const char *const states[N_SWEEP_STATES] = {
	[SWEEP_QUEUED] = "queued",
	[SWEEP_RUNNING] = "running",
	[SWEEP_PAUSED] = "paused",
	[SWEEP_DONE] = "done",
	[SWEEP_FAILED] = "failed",
	[SWEEP_CANCELLED] = "cancelled",
	[SWEEP_IMPORTED] = "imported",
};
static const char *const wanted_names[] = {
	[WANT_NOTHING] = "",
	[WANT_PAUSE] = "pause",
	[WANT_CANCEL] = "cancel",
	[WANT_STOP] = "stop",
};
static const char *const target_names[] = {
	[TARGET_DEVICE] = "device",
	[TARGET_IMAGE] = "image",
	[TARGET_DIRECTORY] = "directory",
};

const char *sweep_state_name(enum sweep_state state)
{
	return states[state];
}

bool reason_awaits_device(const char *reason)
{
	return text_starts(reason, REASON_LOST) || text_starts(reason, REASON_HANGS);
}

bool reason_is_wish(const char *reason)
{
	return reason[0] == '\0' || text_starts(reason, "by ") || text_ends(reason, " by request");
}

bool sweep_awaits_device(const struct sweep *s)
{
	return s->state == SWEEP_PAUSED && reason_awaits_device(s->reason);
}

/* Index of name, or 0: the CHECK constraints keep other names out. */
static int name_index(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return 0;
}

enum keep store_keep(const char *name)
{
	for (enum keep keep = KEEP_MEDIAN; keep < KEEP_SINGLE; keep++)
		if (strcmp(keep_name(keep), name) == 0)
			return keep;
	return KEEP_SINGLE;
}

/* ---- submission ---- */

static int plan_write(struct store *s, const struct sweep_new *n, int64_t *ret_id, struct err *e)
{
	uint8_t digest[DIGEST_SIZE];
	int found;

	digest_of(n->plan_source, strlen(n->plan_source), digest);
	found = statement_int(s, ret_id, e, "SELECT id FROM plan WHERE digest = ?", "d", digest);
	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(s, ret_id, e, "INSERT INTO plan (digest, name, about, source) VALUES (?, ?, ?, ?)",
	                        "dtst", digest, n->plan->name, n->plan->about, n->plan_source);
}

static int workload_write(struct store *s, const struct plan *p, const struct plan_workload *w, int64_t *ret_id,
                          struct err *e)
{
	AUTO_TEXT struct text parameters = { 0 };
	uint8_t digest[DIGEST_SIZE];
	int found;

	plan_workload_digest(p, w, digest);
	found = statement_int(s, ret_id, e, "SELECT id FROM workload WHERE digest = ?", "d", digest);
	if (found != 0)
		return found < 0 ? -1 : 0;
	workload_params_json(w->params, w->n_params, &parameters);
	return statement_insert(s, ret_id, e,
	                        "INSERT INTO workload (digest, name, definition, parameters) VALUES (?, ?, ?, ?)", "dtts",
	                        digest, w->definition->name, w->definition->source, parameters.s);
}

/* Results are kept by workload: two names for the same one could not be told apart. */
static int workload_is_new(struct store *s, int64_t sweep_id, int64_t workload_id, const char *name, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT name FROM sweep_workload WHERE sweep_id = ? AND workload_id = ?", "ii",
	                   sweep_id, workload_id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc;
	err_set(e, ERR_USAGE, "workloads '%s' and '%s' are the same, with the same parameters", column_borrow(st, 0),
	        name);
	return err_hint(e, "raise trials: to measure one more often");
}

static int workloads_write(struct store *s, int64_t sweep_id, const struct plan *p, struct err *e)
{
	for (size_t i = 0; i < p->n_workloads; i++) {
		int64_t workload_id;

		if (workload_write(s, p, &p->workloads[i], &workload_id, e) < 0 ||
		    workload_is_new(s, sweep_id, workload_id, p->workloads[i].name, e) < 0 ||
		    statement_run(s, e, "INSERT INTO sweep_workload (sweep_id, workload_id, position, name) VALUES (?, ?, ?, ?)", "iiit",
		                  sweep_id, workload_id, (int64_t)i, p->workloads[i].name) < 0)
			return -1;
	}
	return 0;
}

static int sweep_insert(struct store *s, const struct sweep_new *n, int64_t *ret_id, struct err *e)
{
	int64_t plan_id;
	uint8_t uuid[16];

	uuid_make(uuid);
	if (plan_write(s, n, &plan_id, e) < 0)
		return -1;
	return statement_insert(
		s, ret_id, e,
		"INSERT INTO sweep (uuid, plan_id, host_id, state, priority, target_kind, target, submitter_uid, submitter_gid, "
		"submitter, cells, trials_per_cell, keep, strict, options, submitted_ms) "
		"VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"uiiitsiisiititi", uuid, plan_id, n->host_id, (int64_t)n->priority, target_names[n->plan->target.kind],
		n->target, n->uid, n->gid, n->submitter, (int64_t)n->cells,
		(int64_t)n->plan->trials * (int64_t)n->plan->n_workloads, keep_name(n->plan->keep), (int64_t)n->strict,
		n->options != NULL ? n->options : "{}", now_ms());
}

int store_sweep_submit(struct store *s, const struct sweep_new *n, int64_t *ret_id, struct err *e)
{
	int64_t id = 0;
	int rc;

	if (store_begin(s, e) < 0)
		return -1;
	rc = sweep_insert(s, n, &id, e);
	if (rc == 0)
		rc = workloads_write(s, id, n->plan, e);
	if (rc == 0)
		rc = store_event(s, id, "submitted", e, "by %s", n->submitter != NULL ? n->submitter : "");
	if (store_finish(s, rc, e) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

/* ---- reading ---- */

#define SWEEP_COLUMNS \
	"SELECT s.id, s.uuid, p.name, p.about, " HOST_LABEL ", s.state, s.reason, s.wanted, s.priority, s.target_kind, s.target, " \
	"s.submitter_uid, s.submitter_gid, s.submitter, s.cells, s.trials_per_cell, s.keep, s.strict, s.options, " \
	"s.submitted_ms, s.started_ms, s.ended_ms, s.cells_ended, s.trials_ok, " \
	"s.trials_per_cell / max(1, (SELECT count(*) FROM sweep_workload x WHERE x.sweep_id = s.id)), " \
	"s.options ->> '$.rehearse' " \
	"FROM sweep s JOIN plan p ON p.id = s.plan_id JOIN host h ON h.id = s.host_id "

static void sweep_read(struct statement *st, struct arena *a, struct sweep *ret)
{
	*ret = (struct sweep){
		.id = column_int(st, 0),
		.plan_name = column_text(st, 2, a),
		.about = column_text(st, 3, a),
		.host = column_text(st, 4, a),
		.state = name_index(states, N_SWEEP_STATES, column_borrow(st, 5)),
		.reason = column_text(st, 6, a),
		.wanted = name_index(wanted_names, ARRAY_SIZE(wanted_names), column_borrow(st, 7)),
		.priority = (int)column_int(st, 8),
		.target_kind = name_index(target_names, ARRAY_SIZE(target_names), column_borrow(st, 9)),
		.target = column_text(st, 10, a),
		.submitter_uid = column_int(st, 11),
		.submitter_gid = column_int(st, 12),
		.submitter = column_text(st, 13, a),
		.cells = column_int(st, 14),
		.trials_per_cell = column_int(st, 15),
		.keep = store_keep(column_borrow(st, 16)),
		.strict = column_int(st, 17) != 0,
		.options = column_text(st, 18, a),
		.submitted_ms = column_int(st, 19),
		.started_ms = column_int(st, 20),
		.ended_ms = column_int(st, 21),
		.cells_ended = column_int(st, 22),
		.trials_ok = column_int(st, 23),
		.repetitions = column_int(st, 24),
		.is_rehearsal = column_int(st, 25) != 0,
	};
	column_copy(st, 1, ret->uuid, sizeof(ret->uuid));
}

static int sweep_missing(struct err *e, int64_t id)
{
	return err_set(e, ERR_NOT_FOUND, "there is no sweep %lld", (long long)id);
}

int store_sweep_get(struct store *s, int64_t id, struct arena *a, struct sweep *ret, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, SWEEP_COLUMNS "WHERE s.id = ?", "i", id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : sweep_missing(e, id);
	sweep_read(st, a, ret);
	return 0;
}

int store_sweep_list(struct store *s, int64_t limit, struct arena *a, struct sweep **ret, size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct sweep *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e,
	                   SWEEP_COLUMNS "WHERE s.id IN (SELECT id FROM sweep ORDER BY id DESC LIMIT ?) ORDER BY s.id",
	                   "i", limit > 0 ? limit : -1) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		sweep_read(st, a, &at[n++]);
	}
	if (rc < 0)
		return -1;
	*ret = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}

static int sweep_find_last(struct store *s, const char *name, int64_t *ret_id, struct err *e)
{
	int64_t back = 0;
	int found;

	if (name[4] != '\0' && (name[4] != '~' || integer_parse(name + 5, 0, INT64_MAX, &back) < 0))
		return err_set(e, ERR_USAGE, "'%s' is no sweep: write last, last~1, last~2 ...", name);
	found = statement_int(s, ret_id, e, "SELECT id FROM sweep ORDER BY id DESC LIMIT 1 OFFSET ?", "i", back);
	if (found < 0)
		return -1;
	if (found == 0 && back == 0)
		return err_set(e, ERR_NOT_FOUND, "there is no sweep yet");
	if (found == 0)
		return err_set(e, ERR_NOT_FOUND, "there is no '%s': fewer sweeps were submitted", name);
	return 0;
}

static int sweep_name_wrong(const char *name, struct err *e)
{
	static const char *const words[] = { "last" };

	err_set(e, ERR_USAGE, "'%s' is no sweep: write its number, last, or the front of its UUID", name);
	return text_nearest(name, words, ARRAY_SIZE(words)) != NULL ? err_hint(e, "did you mean 'last'?") : -1;
}

/* A UUID or the front of one, with or without its dashes. */
static int sweep_find_uuid(struct store *s, const char *name, int64_t *ret_id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	char hex[33];
	size_t n = 0;
	int64_t id;
	int rc;

	for (const char *p = name; *p != '\0'; p++) {
		if (*p == '-')
			continue;
		if (!isxdigit((unsigned char)*p) || n == 32)
			return sweep_name_wrong(name, e);
		hex[n++] = (char)toupper((unsigned char)*p);
	}
	hex[n] = '\0';
	if (n < 4)
		return err_set(e, ERR_USAGE, "'%s' is too short for the front of a UUID: 4 digits at least", name);
	if (statement_open(s, &st, e, "SELECT id FROM sweep WHERE substr(hex(uuid), 1, ?) = ? LIMIT 2", "it",
	                   (int64_t)n, hex) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "there is no sweep '%s'", name);
	id = column_int(st, 0);
	rc = statement_next(st, e);
	if (rc != 0)
		return rc < 0 ? -1 :
		                err_set(e, ERR_USAGE, "'%s' is the front of several sweeps' UUIDs: write more of it",
		                        name);
	*ret_id = id;
	return 0;
}

/* There is no sweep of that number: says which there are. */
static int sweep_find_near(struct store *s, int64_t id, struct err *e)
{
	int64_t newest = 0;

	if (statement_int(s, &newest, e, "SELECT max(id) FROM sweep", "") < 0)
		return -1;
	sweep_missing(e, id);
	if (newest == 0)
		return err_hint(e, "there is none at all yet");
	return err_hint(e, "the newest is %lld; 'iosweep list' shows the sweeps there are", (long long)newest);
}

int store_sweep_find(struct store *s, const char *name, int64_t *ret_id, struct err *e)
{
	int64_t id;
	int found;

	if (text_starts(name, "last"))
		return sweep_find_last(s, name, ret_id, e);
	if (integer_parse(name, 1, INT64_MAX, &id) == 0) {
		found = statement_int(s, ret_id, e, "SELECT id FROM sweep WHERE id = ?", "i", id);
		if (found != 0)
			return found < 0 ? -1 : 0;
		if (strlen(name) < 4 || sweep_find_uuid(s, name, ret_id, e) < 0)
			return sweep_find_near(s, id, e);
		return 0;
	}
	return sweep_find_uuid(s, name, ret_id, e);
}

int store_sweep_plan(struct store *s, int64_t id, struct arena *a, const char **ret_source, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT p.source FROM sweep s JOIN plan p ON p.id = s.plan_id WHERE s.id = ?",
	                   "i", id) < 0)
		return -1;
	rc = statement_next(st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : sweep_missing(e, id);
	*ret_source = column_text(st, 0, a);
	return 0;
}

/* ---- the queue ---- */

int store_sweep_next(struct store *s, int64_t *ret_id, struct err *e)
{
	int64_t id = 0;

	if (statement_int(s, &id, e, "SELECT id FROM sweep WHERE state = 'queued' ORDER BY priority DESC, id LIMIT 1",
	                  "") < 0)
		return -1;
	*ret_id = id;
	return 0;
}

static int sweep_state_write(struct store *s, int64_t id, enum sweep_state state, const char *reason, struct err *e)
{
	bool is_ended = state == SWEEP_DONE || state == SWEEP_FAILED || state == SWEEP_CANCELLED;
	int64_t now = now_ms();

	if (statement_run(s, e,
	                  "UPDATE sweep SET state = ?, reason = ?, started_ms = coalesce(started_ms, ?), ended_ms = ? WHERE id = ?",
	                  "tsIIi", states[state], reason, state == SWEEP_RUNNING ? now : INT64_C(0), is_ended ? now : INT64_C(0),
	                  id) < 0)
		return -1;
	if (sqlite3_changes(s->db) == 0)
		return sweep_missing(e, id);
	if (reason != NULL && reason[0] != '\0')
		return store_event(s, id, "state", e, "%s: %s", states[state], reason);
	return store_event(s, id, "state", e, "%s", states[state]);
}

int store_sweep_set_state(struct store *s, int64_t id, enum sweep_state state, const char *reason, struct err *e)
{
	if (store_begin(s, e) < 0)
		return -1;
	return store_finish(s, sweep_state_write(s, id, state, reason, e), e);
}

int store_sweep_set_wanted(struct store *s, int64_t id, enum wanted wanted, struct err *e)
{
	if (statement_run(s, e, "UPDATE sweep SET wanted = ? WHERE id = ?", "ti", wanted_names[wanted], id) < 0)
		return -1;
	return sqlite3_changes(s->db) == 0 ? sweep_missing(e, id) : 0;
}

static int ids_read(struct store *s, const char *sql, struct arena *a, int64_t **ret_ids, size_t *ret_n, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE int64_t *at = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (statement_open(s, &st, e, sql, "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(at, n, cap);
		at[n++] = column_int(st, 0);
	}
	if (rc < 0)
		return -1;
	*ret_ids = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}

int store_sweep_orphans(struct store *s, struct arena *a, int64_t **ret_ids, size_t *ret_n, struct err *e)
{
	return ids_read(s, "SELECT id FROM sweep WHERE state = 'running' "
	                "UNION SELECT sweep_id FROM undo WHERE state = 'pending' ORDER BY 1", a, ret_ids, ret_n, e);
}

int store_sweep_left(struct store *s, struct arena *a, int64_t **ret_ids, size_t *ret_n, struct err *e)
{
	return ids_read(s, "SELECT id FROM sweep WHERE id IN (SELECT sweep_id FROM undo WHERE state = 'pending') "
	                "AND target_kind = 'device' AND state <> 'running' ORDER BY 1", a, ret_ids, ret_n, e);
}

/* ---- the workloads of a sweep ---- */

static int sweep_workload_read(struct statement *st, struct arena *a, struct sweep_workload *ret, struct err *e)
{
	const char *definition = column_borrow(st, 2);
	struct diags d;
	int rc;

	*ret = (struct sweep_workload){ .workload_id = column_int(st, 0), .name = column_text(st, 1, a) };
	if (workload_params_from_json(column_borrow(st, 3), a, &ret->params, &ret->n_params, e) < 0)
		return err_in(e, "workload '%s'", ret->name);
	diags_init(&d, ret->name);
	rc = workload_read(definition, strlen(definition), &d, &ret->definition);
	if (rc < 0)
		err_set(e, ERR_STORE, "the stored definition of workload '%s' cannot be read: line %d: %s", ret->name,
		        d.n > 0 ? d.at[0].line : 0, d.n > 0 ? d.at[0].message : "");
	diags_done(&d);
	return rc;
}

static int sweep_workloads_gather(struct statement *st, struct arena *a, struct sweep_workload **at, size_t *n,
                                  struct err *e)
{
	size_t cap = 0;
	int rc;

	while ((rc = statement_next(st, e)) > 0) {
		ARRAY_GROW(*at, *n, cap);
		if (sweep_workload_read(st, a, &(*at)[*n], e) < 0)
			return -1;
		++*n;
	}
	return rc;
}

int store_sweep_workloads(struct store *s, int64_t id, struct arena *a, struct sweep_workload **ret, size_t *ret_n,
                          struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	AUTO_FREE struct sweep_workload *at = NULL;
	size_t n = 0;

	if (statement_open(s, &st, e,
	                   "SELECT w.id, sw.name, w.definition, w.parameters FROM sweep_workload sw "
	                   "JOIN workload w ON w.id = sw.workload_id WHERE sw.sweep_id = ? ORDER BY sw.position", "i", id) < 0)
		return -1;
	if (sweep_workloads_gather(st, a, &at, &n, e) < 0) {
		store_sweep_workloads_done(at, n);
		return -1;
	}
	*ret = rows_keep(a, at, n, sizeof(*at));
	*ret_n = n;
	return 0;
}

void store_sweep_workloads_done(struct sweep_workload *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		workload_free(w[i].definition);
		w[i].definition = NULL;
	}
}

/* ---- events ---- */

int store_event(struct store *s, int64_t sweep_id, const char *kind, struct err *e, const char *fmt, ...)
{
	AUTO_FREE char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return statement_run(s, e, "INSERT INTO event (sweep_id, at_ms, kind, text) VALUES (?, ?, ?, ?)", "iitt",
	                     sweep_id, now_ms(), kind, text);
}
