/* SPDX-License-Identifier: MIT
 *
 * What each type of JSON line adds to the scratch store; see store_lines.h.  Lines come after what they name, so that
 * names are looked up at once; the newest sweep, cell and environment are remembered, since lines of one come
 * together.
 */
#include <string.h>

#include "schema/stats.h"
#include "schema/store_lines_private.h"

/* What SQLite refused (a state that does not exist, a trial that is there twice) is a fault of the line. */
static int refused(const struct lines_reader *r, int rc, struct err *e)
{
	struct err why = *e;

	if (rc >= 0 || (sqlite3_extended_errcode(r->s->db) & 0xff) != SQLITE_CONSTRAINT)
		return rc < 0 ? -1 : 0;
	return line_fault(r, 1, e, "not as a store has it: %s",
	                  strstr(why.text, "': ") ? strstr(why.text, "': ") + 3 : why.text);
}

/* ---- what the store has of what a line names ---- */

static void known_clear(struct known_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].name);
	l->n = 0;
}

/* Looks a name up by SQL (its parameters: id, name) unless it was looked up before; 0 in *ret: there is none. */
static int known_find(struct lines_reader *r, struct known_list *l, const char *sql, int64_t id, const char *name,
                      int64_t *ret, struct err *e)
{
	*ret = 0;
	for (size_t i = l->n; i-- > 0;)
		if (l->at[i].of == id && strcmp(l->at[i].name, name) == 0) {
			*ret = l->at[i].id;
			return 0;
		}
	if (statement_int(r->s, ret, e, sql, "it", id, name) < 0)
		return -1;
	if (*ret == 0)
		return 0;
	ARRAY_GROW(l->at, l->n, l->cap);
	l->at[l->n++] = (struct known){ *ret, id, xstrdup(name) };
	return 0;
}

static int sweep_use(struct lines_reader *r, const uint8_t uuid[16], struct err *e)
{
	int found;

	if (r->sweep_id != 0 && memcmp(uuid, r->sweep_uuid, 16) == 0)
		return 0;
	found = statement_int(r->s, &r->sweep_id, e, "SELECT id FROM sweep WHERE uuid = ?", "u", uuid);
	if (found <= 0) {
		r->sweep_id = 0;
		return found < 0 ? -1 : FAULT(r, "sweep", e, "no line before this one has that sweep");
	}
	memcpy(r->sweep_uuid, uuid, 16);
	r->cell_id = 0;
	known_clear(&r->workloads);
	return 0;
}

static int cell_use(struct lines_reader *r, const uint8_t config[DIGEST_SIZE], struct err *e)
{
	int found;

	if (r->cell_id != 0 && memcmp(config, r->cell_config, DIGEST_SIZE) == 0)
		return 0;
	found = statement_int(r->s, &r->cell_id, e,
	                      "SELECT c.id FROM config k JOIN cell c ON c.sweep_id = ? AND c.config_id = k.id "
	                      "WHERE k.digest = ?",
	                      "id", r->sweep_id, config);
	if (found <= 0) {
		r->cell_id = 0;
		return found < 0 ? -1 : FAULT(r, "config", e, "no line before this one has that cell");
	}
	memcpy(r->cell_config, config, DIGEST_SIZE);
	return 0;
}

/* ---- the lines ---- */

static int workload_add(struct lines_reader *r, struct err *e)
{
	static const struct line_field fields[] = {
		{ "name", 't' }, { "label", 't' }, { "unit", 't' }, { "better", 't' }, { "detail", 'I' }, { NULL, 0 }
	};
	struct json_object *metrics = r->v[4].json;
	int64_t id;

	if (refused(r,
	            statement_insert(r->s, &id, e,
	                             "INSERT INTO workload (digest, name, definition, parameters) VALUES (?, ?, ?, ?)",
	                             "dttt", r->v[0].bytes, r->v[1].text, r->v[2].text, r->v[3].text),
	            e) < 0)
		return -1;
	for (size_t i = 0; i < json_object_array_length(metrics); i++) {
		struct value v[5];
		struct json_object *metric = json_object_array_get_idx(metrics, i);

		if (json_object_get_type(metric) != json_type_object)
			return FAULT(r, "metrics", e, "a metric is not an object");
		if (line_fields_read(r, metric, "a metric", fields, v, e) < 0 ||
		    refused(r, statement_run(r->s, e, "INSERT INTO metric (workload_id, name, label, unit, better, is_detail) VALUES (?, ?, ?, ?, ?, ?)",
		                             "itttti", id, v[0].text, v[1].text, v[2].text, v[3].text, v[4].integer), e) < 0)
			return -1;
	}
	return 0;
}

static int environment_add(struct lines_reader *r, struct err *e)
{
	static const enum fact_class classes[] = { FACT_IDENTITY, FACT_CONTEXT, FACT_VOLATILE };
	AUTO_FREE struct environment_fact *facts = NULL;
	size_t n = 0, cap = 0;
	int64_t id, same;
	int found;

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		json_object_object_foreach(r->v[1 + i].json, key, value) {
			if (json_object_get_type(value) != json_type_string)
				return FAULT(r, key, e, "'%s' is not text", key);
			ARRAY_GROW(facts, n, cap);
			facts[n++] = (struct environment_fact){ key, json_object_get_string(value), classes[i] };
		}
	}
	if (refused(r, store_environment(r->s, facts, n, &id, e), e) < 0)
		return -1;
	found = statement_int(r->s, &same, e, "SELECT 1 FROM environment WHERE id = ? AND digest = ?", "id", id,
	                      r->v[0].bytes);
	if (found == 0)
		return FAULT(r, "digest", e, "not the digest of these facts");
	return found < 0 ? -1 : 0;
}

static int sweep_workloads_add(struct lines_reader *r, int64_t sweep_id, struct err *e)
{
	static const struct line_field fields[] = { { "name", 't' }, { "digest", 'd' }, { "position", 'i' }, { NULL, 0 } };
	struct json_object *workloads = line_field(r, LINE_SWEEP, "workloads")->json;

	for (size_t i = 0; i < json_object_array_length(workloads); i++) {
		struct json_object *workload = json_object_array_get_idx(workloads, i);
		struct value v[3];
		int64_t id;
		int found;

		if (json_object_get_type(workload) != json_type_object)
			return FAULT(r, "workloads", e, "a workload is not an object");
		if (line_fields_read(r, workload, "a sweep's workload", fields, v, e) < 0)
			return -1;
		found = statement_int(r->s, &id, e, "SELECT id FROM workload WHERE digest = ?", "d", v[1].bytes);
		if (found <= 0)
			return found < 0 ? -1 : FAULT(r, "workloads", e, "no line before this one has workload '%s'", v[0].text);
		if (refused(r, statement_run(r->s, e, "INSERT INTO sweep_workload (sweep_id, workload_id, position, name) VALUES (?, ?, ?, ?)",
		                             "iiit", sweep_id, id, v[2].integer, v[0].text), e) < 0)
			return -1;
	}
	return 0;
}

/* When a label was set; 0 if the line does not say. */
static int label_time(struct lines_reader *r, const char *name, int64_t *ret_ms, struct err *e)
{
	struct json_object *times = line_field(r, LINE_SWEEP, "labels_ms")->json, *at;

	*ret_ms = 0;
	if (times == NULL || !json_object_object_get_ex(times, name, &at))
		return 0;
	if (json_object_get_type(at) != json_type_int)
		return FAULT(r, "labels_ms", e, "when label '%s' was set is not a whole number", name);
	*ret_ms = json_object_get_int64(at);
	return 0;
}

static int labels_add(struct lines_reader *r, int64_t sweep_id, struct err *e)
{
	int64_t set_ms;

	json_object_object_foreach(line_field(r, LINE_SWEEP, "labels")->json, key, value) {
		if (json_object_get_type(value) != json_type_string)
			return FAULT(r, key, e, "label '%s' is not text", key);
		if (label_time(r, key, &set_ms, e) < 0 ||
		    statement_run(r->s, e,
		                  "INSERT INTO sweep_label (sweep_id, name, value, set_ms) VALUES (?, ?, ?, ?)", "itti",
		                  sweep_id, key, json_object_get_string(value), set_ms) < 0)
			return -1;
	}
	return 0;
}

static int plan_add(struct lines_reader *r, int64_t *ret_id, struct err *e)
{
	const char *source = line_field(r, LINE_SWEEP, "plan_source")->text;
	uint8_t digest[DIGEST_SIZE];
	int found;

	digest_of(source, strlen(source), digest);
	found = statement_int(r->s, ret_id, e, "SELECT id FROM plan WHERE digest = ?", "d", digest);
	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(r->s, ret_id, e, "INSERT INTO plan (digest, name, about, source) VALUES (?, ?, ?, ?)",
	                        "dttt", digest, line_field(r, LINE_SWEEP, "plan")->text,
	                        line_field(r, LINE_SWEEP, "about")->text, source);
}

/* A sweep that has not ended would be taken for one of this host's queue. */
static int sweep_check(struct lines_reader *r, struct err *e)
{
	static const char *const states[] = { "done", "failed", "cancelled", "imported" };
	const char *state = line_field(r, LINE_SWEEP, "state")->text;
	int64_t format = line_field(r, LINE_SWEEP, "format")->integer;

	if (format > LINES_FORMAT)
		return FAULT(r, "format", e, "format %lld: this iosweep knows formats up to %d", (long long)format,
		             LINES_FORMAT);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (strcmp(state, states[i]) == 0)
			return 0;
	return FAULT(r, "state", e, "'%s' is not how a sweep ends: done, failed, cancelled or imported", state);
}

static int sweep_add(struct lines_reader *r, struct err *e)
{
	const struct value *v = r->v, *started = line_field(r, LINE_SWEEP, "started_ms"),
	                   *ended = line_field(r, LINE_SWEEP, "ended_ms"), *note = line_field(r, LINE_SWEEP, "note_ms");
	int64_t host_id, plan_id, id;

	if (sweep_check(r, e) < 0 ||
	    store_host(r->s, line_field(r, LINE_SWEEP, "host_uuid")->bytes, line_field(r, LINE_SWEEP, "host")->text,
	               &host_id, e) < 0 ||
	    plan_add(r, &plan_id, e) < 0)
		return -1;
	/* in the order of the fields, from "state" to "submitted_ms" */
	if (refused(r, statement_insert(r->s, &id, e,
	                                "INSERT INTO sweep (uuid, host_id, plan_id, state, reason, priority, target_kind, target, submitter, "
	                                "submitter_uid, submitter_gid, cells, trials_per_cell, keep, strict, options, source, note, "
	                                "cells_ended, trials_ok, submitted_ms, started_ms, ended_ms, note_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
	                                "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	                                "uiittitttiiiititttiiiIIi", v[0].bytes, host_id, plan_id, v[7].text, v[8].text, v[9].integer, v[10].text,
	                                v[11].text, v[12].text, v[13].integer, v[14].integer, v[15].integer, v[16].integer, v[17].text,
	                                v[18].integer, v[19].text, v[20].text, v[21].text, v[22].integer, v[23].integer, v[24].integer,
	                                started->integer, ended->integer, note->integer), e) < 0)
		return -1;
	return labels_add(r, id, e) < 0 ? -1 : sweep_workloads_add(r, id, e);
}

static int setting_compare(const void *a, const void *b)
{
	return strcmp(((const struct setting *)a)->axis, ((const struct setting *)b)->axis);
}

static const struct line_field axis_fields[] = {
	{ "requested", 't' }, { "value", 't' }, { "effective", 'T' }, { "verdict", 'T' }, { NULL, 0 },
};

static int axis_read(struct lines_reader *r, const char *axis, struct json_object *j, struct value v[4], struct err *e)
{
	if (json_object_get_type(j) != json_type_object)
		return FAULT(r, axis, e, "axis '%s' is not an object", axis);
	return line_fields_read(r, j, "an axis", axis_fields, v, e);
}

/* The settings that the config is made of; those that were only found to matter are recorded as effective afterwards.
 * */
static int settings_read(struct lines_reader *r, struct json_object *axes, struct cell *ret, struct err *e)
{
	json_object_object_foreach(axes, axis, j) {
		struct value v[4];

		if (axis_read(r, axis, j, v, e) < 0)
			return -1;
		if (ret->n == CELL_SETTINGS_MAX && strcmp(v[1].text, KERNEL_DEFAULT) == 0)
			continue;
		if (ret->n == CELL_SETTINGS_MAX)
			return FAULT(r, "axes", e, "more than %d axes", CELL_SETTINGS_MAX);
		ret->at[ret->n++] = (struct setting){ .axis = axis, .requested = v[0].text, .value = v[1].text };
	}
	qsort(ret->at, ret->n, sizeof(ret->at[0]), setting_compare);
	return 0;
}

static int effectives_add(struct lines_reader *r, int64_t cell_id, struct json_object *axes, struct err *e)
{
	json_object_object_foreach(axes, axis, j) {
		struct value v[4];

		if (axis_read(r, axis, j, v, e) < 0)
			return -1;
		if ((v[2].is_there || v[3].is_there) &&
		    store_cell_effective(r->s, cell_id, axis, v[2].is_there ? v[2].text : NULL,
		                         v[3].is_there ? v[3].text : "", e) < 0)
			return FAULT(r, axis, e, "axis '%s': '%s' is no verdict", axis, v[3].is_there ? v[3].text : "");
	}
	return 0;
}

static int steps_add(struct lines_reader *r, int64_t cell_id, struct json_object *steps, struct err *e)
{
	static const struct line_field fields[] = {
		{ "n", 'i' }, { "step", 't' }, { "run_ns", 'I' }, { "undo_ns", 'I' }, { "failed", 'i' }, { NULL, 0 },
	};

	for (size_t i = 0; i < json_object_array_length(steps); i++) {
		struct json_object *step = json_object_array_get_idx(steps, i);
		struct value v[5];

		if (json_object_get_type(step) != json_type_object)
			return FAULT(r, "steps", e, "a step is not an object");
		if (line_fields_read(r, step, "a step", fields, v, e) < 0 ||
		    refused(r, statement_run(r->s, e,
		                             "INSERT INTO step_time (cell_id, n, step, run_ns, undo_ns, failed) VALUES (?1, ?2, ?3, "
		                             "CASE WHEN ?4 THEN ?5 END, CASE WHEN ?6 THEN ?7 END, ?8)",
		                             "iitiiiii", cell_id, v[0].integer, v[1].text, (int64_t)v[2].is_there, v[2].integer,
		                             (int64_t)v[3].is_there, v[3].integer, v[4].integer), e) < 0)
			return -1;
	}
	return 0;
}

static int cell_add(struct lines_reader *r, struct err *e)
{
	const struct value *v = r->v;
	struct json_object *axes = line_field(r, LINE_CELL, "axes")->json;
	struct cell c = { .position = (uint64_t)v[2].integer };
	AUTO_TEXT struct text canonical = { 0 };
	uint8_t digest[DIGEST_SIZE];
	enum cell_state before;
	bool exists;
	int64_t id;

	if (sweep_use(r, v[0].bytes, e) < 0 || settings_read(r, axes, &c, e) < 0)
		return -1;
	cell_config(&c, &canonical, digest);
	if (memcmp(digest, v[1].bytes, DIGEST_SIZE) != 0)
		return FAULT(r, "config", e, "not the digest of these axes");
	if (store_cell_find(r->s, r->sweep_id, digest, &exists, &id, &before, e) < 0)
		return -1;
	if (exists)
		return FAULT(r, "config", e, "this cell was on an earlier line");
	if (strcmp(v[3].text, "running") == 0)
		return FAULT(r, "state", e, "a cell of a sweep that has ended is not running");
	if (store_cell_begin(r->s, r->sweep_id, &c, &id, &before, e) < 0 ||
	    refused(r,
	            statement_run(r->s, e,
	                          "UPDATE cell SET state = ?, reason = ?, started_ms = ?, ended_ms = ? WHERE id = ?",
	                          "ttiIi", v[3].text, v[4].text, v[5].integer, v[6].integer, id),
	            e) < 0)
		return -1;
	return effectives_add(r, id, axes, e) < 0 ? -1 : steps_add(r, id, line_field(r, LINE_CELL, "steps")->json, e);
}

static int trial_insert(struct lines_reader *r, int64_t workload_id, int64_t *ret_id, struct err *e)
{
	const struct value *v = r->v;

	return refused(r, statement_insert(r->s, ret_id, e,
	                                   "INSERT INTO trial (cell_id, workload_id, repetition, state, reason, environment_id, started_ms, "
	                                   "elapsed_ns, user_ns, system_ns, read_bytes, written_bytes, exit_status, exit_signal) VALUES (?1, ?2, "
	                                   "?3, ?4, ?5, ?6, ?7, CASE WHEN ?8 THEN ?9 END, CASE WHEN ?10 THEN ?11 END, CASE WHEN ?12 THEN ?13 END, "
	                                   "CASE WHEN ?14 THEN ?15 END, CASE WHEN ?16 THEN ?17 END, CASE WHEN ?18 THEN ?19 END, "
	                                   "CASE WHEN ?20 THEN ?21 END)",
	                                   "iiittIiiiiiiiiiiiiiii", r->cell_id, workload_id, v[3].integer, v[4].text, v[5].text,
	                                   v[6].is_there ? r->environment_id : INT64_C(0), v[7].integer, (int64_t)v[8].is_there, v[8].integer,
	                                   (int64_t)v[9].is_there, v[9].integer, (int64_t)v[10].is_there, v[10].integer,
	                                   (int64_t)v[11].is_there, v[11].integer, (int64_t)v[12].is_there, v[12].integer,
	                                   (int64_t)v[13].is_there, v[13].integer, (int64_t)v[14].is_there, v[14].integer), e);
}

static int number_read(struct lines_reader *r, const char *key, struct json_object *j, double *ret, struct err *e)
{
	enum json_type type = json_object_get_type(j);

	if (type != json_type_double && type != json_type_int)
		return FAULT(r, key, e, "'%s' is not a number", key);
	*ret = json_object_get_double(j);
	return 0;
}

static int measurements_add(struct lines_reader *r, int64_t trial_id, int64_t workload_id, struct json_object *metrics,
                            struct err *e)
{
	json_object_object_foreach(metrics, key, j) {
		int64_t metric_id;
		double v = 0;

		if (known_find(r, &r->metrics,
		               "SELECT m.id FROM metric m WHERE m.workload_id = ? AND " LINE_METRIC_KEY " = ?",
		               workload_id, key, &metric_id, e) < 0 ||
		    number_read(r, key, j, &v, e) < 0)
			return -1;
		if (metric_id == 0)
			return FAULT(r, key, e, "the workload's line has no metric '%s'", key);
		if (refused(r, statement_run(r->s, e, "INSERT INTO measurement (cell_id, metric_id, trial_id, value) VALUES (?, ?, ?, ?)", "iiir",
		                             r->cell_id, metric_id, trial_id, v), e) < 0)
			return -1;
	}
	return 0;
}

static int flags_add(struct lines_reader *r, int64_t trial_id, struct err *e)
{
	json_object_object_foreach(line_field(r, LINE_TRIAL, "flags")->json, key, j) {
		if (json_object_get_type(j) != json_type_string)
			return FAULT(r, key, e, "flag '%s' has no reason as text", key);
		if (store_trial_flag(r->s, trial_id, key, json_object_get_string(j), e) < 0)
			return -1;
	}
	return 0;
}

static int facts_add(struct lines_reader *r, int64_t trial_id, struct err *e)
{
	json_object_object_foreach(line_field(r, LINE_TRIAL, "facts")->json, key, j) {
		double v = 0;

		if (number_read(r, key, j, &v, e) < 0 ||
		    statement_run(r->s, e, "INSERT INTO trial_fact (trial_id, key, value) VALUES (?, ?, ?)", "itr",
		                  trial_id, key, v) < 0)
			return -1;
	}
	return 0;
}

static int environment_use(struct lines_reader *r, const struct value *v, struct err *e)
{
	int found;

	if (!v->is_there || (r->environment_id != 0 && memcmp(v->bytes, r->environment, DIGEST_SIZE) == 0))
		return 0;
	found = statement_int(r->s, &r->environment_id, e, "SELECT id FROM environment WHERE digest = ?", "d",
	                      v->bytes);
	if (found <= 0) {
		r->environment_id = 0;
		return found < 0 ? -1 : FAULT(r, "environment", e, "no line before this one has that environment");
	}
	memcpy(r->environment, v->bytes, DIGEST_SIZE);
	return 0;
}

static int trial_add(struct lines_reader *r, struct err *e)
{
	const struct value *v = r->v;
	struct json_object *metrics = line_field(r, LINE_TRIAL, "metrics")->json;
	int64_t workload_id, id;

	if (sweep_use(r, v[0].bytes, e) < 0 || cell_use(r, v[1].bytes, e) < 0 || environment_use(r, &v[6], e) < 0 ||
	    known_find(r, &r->workloads, "SELECT workload_id FROM sweep_workload WHERE sweep_id = ? AND name = ?",
	               r->sweep_id, v[2].text, &workload_id, e) < 0)
		return -1;
	if (workload_id == 0)
		return FAULT(r, "workload", e, "the sweep has no workload '%s'", v[2].text);
	if (strcmp(v[4].text, "running") == 0)
		return FAULT(r, "state", e, "a trial of a sweep that has ended is not running");
	if (strcmp(v[4].text, "ok") != 0 && json_object_object_length(metrics) > 0)
		return FAULT(r, "metrics", e, "only a trial in state ok has metrics");
	if (trial_insert(r, workload_id, &id, e) < 0 || measurements_add(r, id, workload_id, metrics, e) < 0)
		return -1;
	return flags_add(r, id, e) < 0 ? -1 : facts_add(r, id, e);
}

static int event_add(struct lines_reader *r, struct err *e)
{
	if (sweep_use(r, r->v[0].bytes, e) < 0)
		return -1;
	return refused(r,
	               statement_run(r->s, e, "INSERT INTO event (sweep_id, at_ms, kind, text) VALUES (?, ?, ?, ?)",
	                             "iitt", r->sweep_id, r->v[1].integer, r->v[2].text, r->v[3].text),
	               e);
}

static int end_check(struct lines_reader *r, struct err *e)
{
	uint8_t digest[DIGEST_SIZE];

	SHA256Final(digest, &r->sha);
	if (r->v[0].integer != r->n)
		return FAULT(r, "lines", e, "%lld lines were written, %lld are here", (long long)r->v[0].integer,
		             (long long)r->n);
	if (r->v[1].is_there && memcmp(digest, r->v[1].bytes, DIGEST_SIZE) != 0)
		return FAULT(r, "sha256", e, "the lines before this one are not those that were written");
	return 0;
}

/* ---- results, which are made of the trials ---- */

int lines_results_make(struct store *s, struct err *e)
{
	AUTO_STATEMENT struct statement *cells = NULL, *sweeps = NULL;
	int rc;

	/* cells and trials were counted as they were recorded; the sweep's line says how many there are */
	if (statement_open(s, &cells, e, "SELECT id FROM cell WHERE id IN (SELECT cell_id FROM trial) ORDER BY id",
	                   "") < 0)
		return -1;
	while ((rc = statement_next(cells, e)) > 0)
		if (store_result_update(s, column_int(cells, 0), e) < 0)
			return -1;
	if (rc < 0 || statement_open(s, &sweeps, e, "SELECT id FROM sweep", "") < 0)
		return -1;
	while ((rc = statement_next(sweeps, e)) > 0)
		if (store_sweep_drift(s, column_int(sweeps, 0), e) < 0)
			return -1;
	return rc;
}

int line_add(struct lines_reader *r, enum line_kind kind, struct err *e)
{
	static int (*const adders[N_LINE_KINDS])(struct lines_reader *, struct err *) = {
		[LINE_WORKLOAD] = workload_add, [LINE_ENVIRONMENT] = environment_add, [LINE_SWEEP] = sweep_add, [LINE_CELL] = cell_add,
		[LINE_TRIAL] = trial_add,       [LINE_EVENT] = event_add,             [LINE_END] = end_check,
	};

	return adders[kind](r, e);
}

void lines_names_done(struct lines_reader *r)
{
	known_clear(&r->workloads);
	known_clear(&r->metrics);
	free(r->workloads.at);
	free(r->metrics.at);
}
