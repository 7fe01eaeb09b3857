/* SPDX-License-Identifier: MIT
 *
 * Sweeps as JSON lines, for other programs: one object a line, a sweep before its trials.  Numbers are in the units of the store;
 * a trial carries everything that is needed to read it alone.
 */
#include <json-c/json.h>
#include <string.h>

#include "schema/store_internal.h"
#include "schema/store_merge.h"

static void line_print(struct json_object *j, FILE *out)
{
	fprintf(out, "%s\n", json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
}

static void text_put(struct json_object *j, const char *key, const char *value)
{
	json_object_object_add(j, key, json_object_new_string(value));
}

static void number_put(struct json_object *j, const char *key, double v)
{
	char buf[SIZE_TEXT];

	json_object_object_add(j, key, json_object_new_double_s(v, number_format(v, buf)));
}

static int sweep_line(struct store *s, int64_t id, char ret_uuid[UUID_TEXT], FILE *out, struct err *e)
{
	AUTO_ARENA struct arena *a = arena_new();
	struct json_object *j;
	struct sweep w;

	if (store_sweep_get(s, id, a, &w, e) < 0)
		return -1;
	uuid_format(w.uuid, ret_uuid);
	j = json_object_new_object();
	text_put(j, "type", "sweep");
	text_put(j, "uuid", ret_uuid);
	text_put(j, "plan", w.plan_name);
	text_put(j, "about", w.about);
	text_put(j, "host", w.host);
	text_put(j, "state", sweep_state_name(w.state));
	text_put(j, "target", w.target);
	text_put(j, "keep", keep_name(w.keep));
	json_object_object_add(j, "cells", json_object_new_int64(w.cells));
	json_object_object_add(j, "submitted_ms", json_object_new_int64(w.submitted_ms));
	json_object_object_add(j, "started_ms", json_object_new_int64(w.started_ms));
	json_object_object_add(j, "ended_ms", json_object_new_int64(w.ended_ms));
	line_print(j, out);
	return 0;
}

static struct json_object *pairs_read(struct store *s, int64_t id, const char *sql, bool numbers, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	struct json_object *j = json_object_new_object();
	int rc;

	if (statement_open(s, &st, e, sql, "i", id) < 0) {
		json_object_put(j);
		return NULL;
	}
	while ((rc = statement_next(st, e)) > 0) {
		if (numbers)
			number_put(j, column_borrow(st, 0), column_real(st, 1));
		else
			text_put(j, column_borrow(st, 0), column_borrow(st, 1));
	}
	if (rc == 0)
		return j;
	json_object_put(j);
	return NULL;
}

static int trial_line(struct store *s, struct statement *st, const char *uuid, FILE *out, struct err *e)
{
	static const char *const times[] = { "elapsed_ns", "user_ns", "system_ns", "read_bytes", "written_bytes", "exit_status" };
	struct json_object *j = json_object_new_object(), *axes, *metrics, *facts;
	uint8_t digest[DIGEST_SIZE];
	char text[DIGEST_TEXT];

	axes = pairs_read(s, column_int(st, 1), "SELECT a.name, coalesce(v.effective, v.value) FROM cell_value v "
	                  "JOIN axis a ON a.id = v.axis_id WHERE v.cell_id = ?", false, e);
	metrics = axes == NULL ? NULL : pairs_read(s, column_int(st, 0), "SELECT m.name || CASE m.label WHEN '' THEN '' ELSE '{' || "
	                  "m.label || '}' END, x.value FROM trial t JOIN measurement x ON x.cell_id = t.cell_id AND x.trial_id = t.id "
	                  "JOIN metric m ON m.id = x.metric_id WHERE t.id = ?", true, e);
	facts = metrics == NULL ? NULL : pairs_read(s, column_int(st, 0), "SELECT f.key, f.value FROM trial t JOIN environment_fact f ON "
	                  "f.environment_id = t.environment_id WHERE t.id = ?", false, e);
	column_copy(st, 2, digest, sizeof(digest));
	text_put(j, "type", "trial");
	text_put(j, "sweep", uuid);
	text_put(j, "config", digest_format(digest, text));
	json_object_object_add(j, "axes", axes);
	text_put(j, "workload", column_borrow(st, 3));
	text_put(j, "parameters", column_borrow(st, 4));
	json_object_object_add(j, "repetition", json_object_new_int64(column_int(st, 5)));
	text_put(j, "state", column_borrow(st, 6));
	text_put(j, "reason", column_borrow(st, 7));
	json_object_object_add(j, "started_ms", json_object_new_int64(column_int(st, 8)));
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		if (!column_is_null(st, 9 + (int)i))
			json_object_object_add(j, times[i], json_object_new_int64(column_int(st, 9 + (int)i)));
	text_put(j, "flags", column_borrow(st, 15));
	json_object_object_add(j, "metrics", metrics);
	json_object_object_add(j, "environment", facts);
	if (facts == NULL) {
		json_object_put(j);
		return -1;
	}
	line_print(j, out);
	return 0;
}

static int sweep_lines(struct store *s, int64_t id, FILE *out, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	char uuid[UUID_TEXT];
	int rc;

	if (sweep_line(s, id, uuid, out, e) < 0)
		return -1;
	if (statement_open(s, &st, e,
	                   "SELECT t.id, c.id, k.digest, x.name, w.parameters, t.repetition, t.state, t.reason, t.started_ms, t.elapsed_ns, "
	                   "t.user_ns, t.system_ns, t.read_bytes, t.written_bytes, t.exit_status, (SELECT coalesce(group_concat(flag, ' '), '') "
	                   "FROM trial_flag f WHERE f.trial_id = t.id) FROM cell c JOIN config k ON k.id = c.config_id "
	                   "JOIN trial t ON t.cell_id = c.id JOIN workload w ON w.id = t.workload_id JOIN sweep_workload x "
	                   "ON x.sweep_id = c.sweep_id AND x.workload_id = t.workload_id WHERE c.sweep_id = ? ORDER BY c.position, t.id", "i",
	                   id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		if (trial_line(s, st, uuid, out, e) < 0)
			return -1;
	return rc;
}

int store_export_lines(struct store *s, const struct merge_options *o, FILE *out, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	for (size_t i = 0; i < o->n_sweep_ids; i++)
		if (sweep_lines(s, o->sweep_ids[i], out, e) < 0)
			return -1;
	if (o->sweep_ids != NULL)
		return 0;
	if (statement_open(s, &st, e, "SELECT id FROM sweep WHERE state NOT IN ('queued', 'running', 'paused') ORDER BY id", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		if (sweep_lines(s, column_int(st, 0), out, e) < 0)
			return -1;
	return rc;
}
