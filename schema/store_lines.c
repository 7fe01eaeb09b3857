/* SPDX-License-Identifier: MIT
 *
 * Sweeps as JSON lines, for other programs and for import; see store_lines.h.  Numbers are in the units of the store.
 */
#include "schema/store_lines.h"

#include <json-c/json.h>
#include <sha256.h>
#include <math.h>
#include <string.h>

#include "schema/store_merge.h"

const struct line_shape line_shapes[N_LINE_KINDS] = {
	[LINE_WORKLOAD] = { "workload", { { "digest", 'd' }, { "name", 't' }, { "definition", 't' }, { "parameters", 't' }, { "metrics", 'a' } } },
	[LINE_ENVIRONMENT] = { "environment", { { "digest", 'd' }, { "identity", 'o' }, { "context", 'o' }, { "volatile", 'o' } } },
	[LINE_SWEEP] = { "sweep",
	                 { { "uuid", 'u' },         { "format", 'i' },       { "host", 't' },          { "host_uuid", 'u' },
	                   { "plan", 't' },         { "about", 't' },        { "plan_source", 't' },   { "state", 't' },
	                   { "reason", 't' },       { "priority", 'i' },     { "target_kind", 't' },   { "target", 't' },
	                   { "submitter", 't' },    { "submitter_uid", 'i' }, { "submitter_gid", 'i' }, { "cells", 'i' },
	                   { "trials_per_cell", 'i' }, { "keep", 't' },      { "strict", 'i' },        { "options", 't' },
	                   { "source", 't' },       { "note", 't' },         { "cells_ended", 'i' },   { "trials_ok", 'i' },
	                   { "submitted_ms", 'i' }, { "started_ms", 'I' },   { "ended_ms", 'I' },      { "note_ms", 'I' },
	                   { "labels", 'o' },       { "labels_ms", 'x' },    { "workloads", 'a' } } },
	[LINE_CELL] = { "cell",
	                { { "sweep", 'u' },
	                  { "config", 'd' },
	                  { "position", 'i' },
	                  { "state", 't' },
	                  { "reason", 't' },
	                  { "started_ms", 'i' },
	                  { "ended_ms", 'I' },
	                  { "axes", 'o' },
	                  { "steps", 'a' } } },
	[LINE_TRIAL] = { "trial",
	                 { { "sweep", 'u' },        { "config", 'd' },        { "workload", 't' },    { "repetition", 'i' },
	                   { "state", 't' },        { "reason", 't' },        { "environment", 'D' }, { "started_ms", 'i' },
	                   { "elapsed_ns", 'I' },   { "user_ns", 'I' },       { "system_ns", 'I' },   { "read_bytes", 'I' },
	                   { "written_bytes", 'I' }, { "exit_status", 'I' },  { "exit_signal", 'I' }, { "axes", 'x' },
	                   { "metrics", 'o' },      { "flags", 'o' },         { "facts", 'o' } } },
	[LINE_EVENT] = { "event", { { "sweep", 'u' }, { "at_ms", 'i' }, { "kind", 't' }, { "text", 't' } } },
	[LINE_END] = { "end", { { "lines", 'i' }, { "sha256", 'D' } } },
};

/* A file in the making. */
struct lines {
	struct store *s;
	FILE *out;
	SHA256_CTX sha;
	int64_t n;
};

static void line_write(struct lines *l, struct json_object *j)
{
	size_t n;
	const char *text = json_object_to_json_string_length(j, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
	                                                     &n);

	fwrite(text, 1, n, l->out);
	fputc('\n', l->out);
	SHA256Update(&l->sha, (const uint8_t *)text, n);
	SHA256Update(&l->sha, (const uint8_t *)"\n", 1);
	l->n++;
	json_object_put(j);
}

static struct json_object *field_json(struct statement *st, int i, char type)
{
	uint8_t bytes[DIGEST_SIZE];
	char text[DIGEST_TEXT];

	switch (type | 0x20) {
	case 't':
		return json_object_new_string(column_borrow(st, i));
	case 'i':
		return json_object_new_int64(column_int(st, i));
	case 'd':
		column_copy(st, i, bytes, DIGEST_SIZE);
		return json_object_new_string(digest_format(bytes, text));
	}
	column_copy(st, i, bytes, 16);
	return json_object_new_string(uuid_format(bytes, text));
}

/* A line with the columns of the row, which are the first fields of its shape.  *ret_next: the field after them. */
static struct json_object *line_begin(enum line_kind kind, struct statement *st, const struct line_field **ret_next)
{
	struct json_object *j = json_object_new_object();
	const struct line_field *f = line_shapes[kind].fields;
	int column = 0;

	json_object_object_add(j, "type", json_object_new_string(line_shapes[kind].type));
	for (; f->key != NULL && strchr("oax", f->type) == NULL; f++, column++)
		if (!column_is_null(st, column))
			json_object_object_add(j, f->key, field_json(st, column, f->type));
	*ret_next = f;
	return j;
}

/* Rows of key and value as an object; of more columns: as an array of objects, whose keys are the names. */
struct part {
	const char *sql;         /* with one parameter, the id */
	const char *types;       /* of the columns, as in line_field; "kt", "ki", "kr": a key and its text or number */
	const char *names[8];
};

static struct json_object *number_json(double v)
{
	char buf[SIZE_TEXT];

	return isfinite(v) ? json_object_new_double_s(v, number_format(v, buf)) : NULL; /* JSON has no other numbers */
}

/* Columns from `first` on by their names. */
static struct json_object *row_json(const struct part *p, struct statement *st, int first)
{
	struct json_object *j = json_object_new_object();

	for (int i = first; p->types[i] != '\0'; i++)
		if (!column_is_null(st, i))
			json_object_object_add(j, p->names[i], field_json(st, i, p->types[i]));
	return j;
}

/* Rows whose first column is the key of what the others say. */
static struct json_object *keyed_json(const struct part *p, struct statement *st)
{
	if (strcmp(p->types, "kr") == 0)
		return number_json(column_real(st, 1));
	if (strcmp(p->types, "kt") == 0 || strcmp(p->types, "ki") == 0)
		return field_json(st, 1, p->types[1]);
	return row_json(p, st, 1);
}

static int part_add(struct lines *l, struct json_object *j, const char *key, int64_t id, const struct part *p,
                    struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	bool is_keyed = p->types[0] == 'k';
	struct json_object *part = is_keyed ? json_object_new_object() : json_object_new_array();
	int rc;

	json_object_object_add(j, key, part);
	if (statement_open(l->s, &st, e, p->sql, "i", id) < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		if (is_keyed)
			json_object_object_add(part, column_borrow(st, 0), keyed_json(p, st));
		else
			json_object_array_add(part, row_json(p, st, 0));
	}
	return rc;
}

/* The objects and arrays of a line, one of `parts` for each field from `f` on; then the line is written. */
static int line_end(struct lines *l, struct json_object *j, const struct line_field *f, int64_t id,
                    const struct part *parts, struct err *e)
{
	for (; f->key != NULL; f++, parts++) {
		if (part_add(l, j, f->key, id, parts, e) < 0) {
			json_object_put(j);
			return -1;
		}
	}
	line_write(l, j);
	return 0;
}

/* Writes a line for each row of the statement; the column after the fields is the id. */
static int rows_write(struct lines *l, enum line_kind kind, struct statement *st, const struct part *parts,
                      struct err *e)
{
	int rc;

	while ((rc = statement_next(st, e)) > 0) {
		const struct line_field *f;
		struct json_object *j = line_begin(kind, st, &f);

		if (line_end(l, j, f, column_int(st, (int)(f - line_shapes[kind].fields)), parts, e) < 0)
			return -1;
	}
	return rc;
}

/* ---- what the sweeps share: each once, before the first sweep ---- */

static int workloads_write(struct lines *l, struct err *e)
{
	static const struct part parts[] = {
		{ "SELECT name, label, unit, better, is_detail FROM metric WHERE workload_id = ? ORDER BY id", "tttti",
		  { "name", "label", "unit", "better", "detail" } },
	};
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(l->s, &st, e, "SELECT digest, name, definition, parameters, id FROM workload WHERE id IN (SELECT workload_id FROM "
	                   "sweep_workload WHERE sweep_id IN (SELECT id FROM lines_chosen)) ORDER BY id", "") < 0)
		return -1;
	return rows_write(l, LINE_WORKLOAD, st, parts, e);
}

static int environments_write(struct lines *l, struct err *e)
{
#define FACTS_OF(class) "SELECT key, value FROM environment_fact WHERE environment_id = ? AND class = '" class "' ORDER BY key"
	static const struct part parts[] = {
		{ FACTS_OF("identity"), "kt", { NULL } }, { FACTS_OF("context"), "kt", { NULL } }, { FACTS_OF("volatile"), "kt", { NULL } },
	};
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(l->s, &st, e, "SELECT digest, id FROM environment WHERE id IN (SELECT t.environment_id FROM lines_chosen w "
	                   "JOIN cell c ON c.sweep_id = w.id JOIN trial t ON t.cell_id = c.id) ORDER BY id", "") < 0)
		return -1;
	return rows_write(l, LINE_ENVIRONMENT, st, parts, e);
}

/* ---- one sweep ---- */

static int sweep_write(struct lines *l, int64_t id, struct err *e)
{
	static const struct part parts[] = {
		{ "SELECT name, value FROM sweep_label WHERE sweep_id = ? ORDER BY name", "kt", { NULL } },
		{ "SELECT name, set_ms FROM sweep_label WHERE sweep_id = ? ORDER BY name", "ki", { NULL } },
		{ "SELECT x.name, w.digest, x.position FROM sweep_workload x JOIN workload w ON w.id = x.workload_id WHERE x.sweep_id = ? "
		  "ORDER BY x.position", "tdi", { "name", "digest", "position" } },
	};
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(l->s, &st, e,
	                   "SELECT w.uuid, ?2, h.name, h.uuid, p.name, p.about, p.source, w.state, w.reason, w.priority, w.target_kind, "
	                   "w.target, w.submitter, w.submitter_uid, w.submitter_gid, w.cells, w.trials_per_cell, w.keep, w.strict, w.options, "
	                   "w.source, w.note, w.cells_ended, w.trials_ok, w.submitted_ms, w.started_ms, w.ended_ms, w.note_ms, w.id "
	                   "FROM sweep w "
	                   "JOIN host h ON h.id = w.host_id JOIN plan p ON p.id = w.plan_id WHERE w.id = ?1", "ii", id,
	                   (int64_t)LINES_FORMAT) < 0)
		return -1;
	return rows_write(l, LINE_SWEEP, st, parts, e);
}

static int cells_write(struct lines *l, int64_t id, struct err *e)
{
	static const struct part parts[] = {
		{ "SELECT a.name, v.requested, v.value, v.effective, nullif(v.verdict, '') FROM cell_value v JOIN axis a ON a.id = v.axis_id "
		  "WHERE v.cell_id = ? ORDER BY a.name", "ktttt", { NULL, "requested", "value", "effective", "verdict" } },
		{ "SELECT n, step, run_ns, undo_ns, failed FROM step_time WHERE cell_id = ? ORDER BY n", "itiii",
		  { "n", "step", "run_ns", "undo_ns", "failed" } },
	};
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(l->s, &st, e, "SELECT w.uuid, k.digest, c.position, c.state, c.reason, c.started_ms, c.ended_ms, c.id FROM cell c "
	                   "JOIN sweep w ON w.id = c.sweep_id JOIN config k ON k.id = c.config_id WHERE c.sweep_id = ? "
	                   "ORDER BY c.position, c.id", "i", id) < 0)
		return -1;
	return rows_write(l, LINE_CELL, st, parts, e);
}

static int trials_write(struct lines *l, int64_t id, struct err *e)
{
	static const struct part parts[] = {
		{ "SELECT a.name, coalesce(v.effective, v.value) FROM trial t JOIN cell_value v ON v.cell_id = t.cell_id "
		  "JOIN axis a ON a.id = v.axis_id WHERE t.id = ? ORDER BY a.name", "kt", { NULL } },
		{ "SELECT " LINE_METRIC_KEY ", x.value FROM trial t JOIN measurement x ON x.cell_id = t.cell_id AND x.trial_id = t.id "
		  "JOIN metric m ON m.id = x.metric_id WHERE t.id = ? ORDER BY m.id", "kr", { NULL } },
		{ "SELECT flag, reason FROM trial_flag WHERE trial_id = ? ORDER BY flag", "kt", { NULL } },
		{ "SELECT key, value FROM trial_fact WHERE trial_id = ? ORDER BY key", "kr", { NULL } },
	};
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(l->s, &st, e,
	                   "SELECT w.uuid, k.digest, x.name, t.repetition, t.state, t.reason, v.digest, t.started_ms, t.elapsed_ns, t.user_ns, "
	                   "t.system_ns, t.read_bytes, t.written_bytes, t.exit_status, t.exit_signal, t.id FROM cell c "
	                   "CROSS JOIN sweep w ON w.id = c.sweep_id CROSS JOIN config k ON k.id = c.config_id "
	                   "CROSS JOIN trial t ON t.cell_id = c.id CROSS JOIN sweep_workload x ON x.sweep_id = w.id AND "
	                   "x.workload_id = t.workload_id LEFT JOIN environment v ON v.id = t.environment_id WHERE c.sweep_id = ? "
	                   "ORDER BY c.position, t.id", "i", id) < 0)
		return -1;
	return rows_write(l, LINE_TRIAL, st, parts, e);
}

static int events_write(struct lines *l, int64_t id, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;

	if (statement_open(l->s, &st, e, "SELECT w.uuid, v.at_ms, v.kind, v.text, v.id FROM event v JOIN sweep w ON w.id = v.sweep_id "
	                   "WHERE v.sweep_id = ? ORDER BY v.id", "i", id) < 0)
		return -1;
	return rows_write(l, LINE_EVENT, st, NULL, e);
}

static int sweeps_write(struct lines *l, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(l->s, &st, e, "SELECT id FROM lines_chosen ORDER BY id", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		int64_t id = column_int(st, 0);

		if (sweep_write(l, id, e) < 0 || cells_write(l, id, e) < 0 || trials_write(l, id, e) < 0 ||
		    events_write(l, id, e) < 0)
			return -1;
	}
	return rc;
}

static void end_write(struct lines *l)
{
	struct json_object *j = json_object_new_object();
	uint8_t digest[DIGEST_SIZE];
	char text[DIGEST_TEXT];

	SHA256Final(digest, &l->sha);
	json_object_object_add(j, "type", json_object_new_string(line_shapes[LINE_END].type));
	json_object_object_add(j, "lines", json_object_new_int64(l->n));
	json_object_object_add(j, "sha256", json_object_new_string(digest_format(digest, text)));
	line_write(l, j);
}

static int sweeps_choose(struct lines *l, const struct merge_options *o, struct err *e)
{
	if (o->sweep_ids == NULL)
		return statement_run(l->s, e, "INSERT INTO lines_chosen SELECT id FROM sweep "
		                     "WHERE state NOT IN ('queued', 'running', 'paused')", "");
	for (size_t i = 0; i < o->n_sweep_ids; i++)
		if (statement_run(l->s, e, "INSERT OR IGNORE INTO lines_chosen VALUES (?)", "i", o->sweep_ids[i]) < 0)
			return -1;
	return 0;
}

static int lines_write(struct lines *l, const struct merge_options *o, struct err *e)
{
	if (statement_run(l->s, e, "CREATE TEMP TABLE lines_chosen (id INTEGER PRIMARY KEY)", "") < 0)
		return -1;
	if (sweeps_choose(l, o, e) < 0)
		return -1;
	if (workloads_write(l, e) < 0 || environments_write(l, e) < 0 || sweeps_write(l, e) < 0)
		return -1;
	end_write(l);
	return 0;
}

int store_export_lines(struct store *s, const struct merge_options *o, FILE *out, struct err *e)
{
	struct lines l = { .s = s, .out = out };
	int rc;

	if (store_export_check(s, o, e) < 0 || store_begin(s, e) < 0) /* one snapshot */
		return -1;
	SHA256Init(&l.sha);
	rc = store_finish(s, lines_write(&l, o, e), e);
	statements_free(s);
	statement_run(s, NULL, "DROP TABLE IF EXISTS temp.lines_chosen", "");
	return rc;
}
