/* SPDX-License-Identifier: MIT
 *
 * One store into another, set by set; see store_merge.h.
 *
 * The source is attached as `src`.  For each table whose rows are referred to, a temporary table map_X(old, new) is
 * made: first the rows that are missing are added by identity, then old ids are joined to new ones by identity.  Each
 * step is one statement over all rows, so that memory does not grow (temporary tables are files) and 100,000 trials
 * take about a second.
 */
#include "schema/store_merge.h"

#include <string.h>

#include "schema/store_internal.h"

/* Run in this order.  Identities first, then what hangs on them. */
static const char *const identities[] = {
	"INSERT INTO host (uuid, name) SELECT uuid, name FROM src.host WHERE id IN (SELECT host_id FROM src.sweep WHERE id IN "
	"(SELECT id FROM chosen)) AND uuid NOT IN (SELECT uuid FROM main.host)",
	"CREATE TEMP TABLE map_host AS SELECT s.id AS old, d.id AS new FROM src.host s JOIN main.host d ON d.uuid = s.uuid",
	/* A host that was renamed is called as the side with its newest sweep calls it, whichever is imported first. */
	"UPDATE host SET name = (SELECT s.name FROM map_host m JOIN src.host s ON s.id = m.old WHERE m.new = host.id) WHERE id IN "
	"(SELECT m.new FROM map_host m JOIN src.host s ON s.id = m.old JOIN main.host d ON d.id = m.new WHERE s.name <> d.name AND "
	"((SELECT max(w.submitted_ms) FROM src.sweep w JOIN chosen c ON c.id = w.id WHERE w.host_id = s.id), s.name) > "
	"((SELECT coalesce(max(w.submitted_ms), 0) FROM main.sweep w WHERE w.host_id = d.id), d.name))",

	"INSERT INTO plan (digest, name, about, source) SELECT digest, name, about, source FROM src.plan WHERE id IN (SELECT plan_id "
	"FROM src.sweep WHERE id IN (SELECT id FROM chosen)) AND digest NOT IN (SELECT digest FROM main.plan)",
	"CREATE TEMP TABLE map_plan AS SELECT s.id AS old, d.id AS new FROM src.plan s JOIN main.plan d ON d.digest = s.digest",

	"INSERT INTO sweep (uuid, plan_id, host_id, state, reason, priority, target_kind, target, submitter_uid, submitter_gid, "
	"submitter, cells, trials_per_cell, keep, strict, options, source, note, note_ms, cells_ended, trials_ok, submitted_ms, started_ms, "
	"ended_ms) SELECT s.uuid, p.new, h.new, s.state, s.reason, s.priority, s.target_kind, s.target, s.submitter_uid, "
	"s.submitter_gid, s.submitter, s.cells, s.trials_per_cell, s.keep, s.strict, s.options, s.source, s.note, s.note_ms, s.cells_ended, "
	"s.trials_ok, s.submitted_ms, s.started_ms, s.ended_ms FROM src.sweep s JOIN map_plan p ON p.old = s.plan_id "
	"JOIN map_host h ON h.old = s.host_id WHERE s.id IN (SELECT id FROM chosen) AND s.uuid NOT IN (SELECT uuid FROM main.sweep) "
	"ORDER BY s.submitted_ms, s.id",
	"CREATE TEMP TABLE map_sweep AS SELECT s.id AS old, d.id AS new, d.id > (SELECT last FROM before) AS is_new, "
	"(s.cells_ended, s.trials_ok, coalesce(s.ended_ms, 0), s.state) > (d.cells_ended, d.trials_ok, coalesce(d.ended_ms, 0), d.state) "
	"AS is_further FROM src.sweep s JOIN main.sweep d ON d.uuid = s.uuid WHERE s.id IN (SELECT id FROM chosen)",
	"CREATE UNIQUE INDEX temp.map_sweep_old ON map_sweep(old)",

	"INSERT OR IGNORE INTO axis (name) SELECT name FROM src.axis",
	"CREATE TEMP TABLE map_axis AS SELECT s.id AS old, d.id AS new FROM src.axis s JOIN main.axis d ON d.name = s.name",
	"CREATE UNIQUE INDEX temp.map_axis_old ON map_axis(old)",

	/* configs of the chosen sweeps that are missing, with their values */
	"CREATE TEMP TABLE new_config AS SELECT id, digest FROM src.config WHERE id IN (SELECT config_id FROM src.cell WHERE sweep_id IN "
	"(SELECT id FROM chosen)) AND digest NOT IN (SELECT digest FROM main.config)",
	"INSERT INTO config (digest) SELECT digest FROM new_config ORDER BY id",
	"INSERT OR IGNORE INTO axis_value (axis_id, value, number) SELECT a.new, v.value, v.number FROM src.axis_value v "
	"JOIN map_axis a ON a.old = v.axis_id WHERE v.id IN (SELECT axis_value_id FROM src.config_value WHERE config_id IN "
	"(SELECT id FROM new_config))",
	"INSERT OR IGNORE INTO config_value (axis_value_id, config_id) SELECT dv.id, d.id FROM new_config n "
	"JOIN main.config d ON d.digest = n.digest JOIN src.config_value cv ON cv.config_id = n.id "
	"JOIN src.axis_value v ON v.id = cv.axis_value_id JOIN map_axis a ON a.old = v.axis_id "
	"JOIN main.axis_value dv ON dv.axis_id = a.new AND dv.value = v.value",

	"INSERT OR IGNORE INTO workload (digest, name, definition, parameters) SELECT digest, name, definition, parameters FROM "
	"src.workload WHERE id IN (SELECT workload_id FROM src.sweep_workload WHERE sweep_id IN (SELECT id FROM chosen))",
	"CREATE TEMP TABLE map_workload AS SELECT s.id AS old, d.id AS new FROM src.workload s JOIN main.workload d ON d.digest = s.digest",
	"CREATE UNIQUE INDEX temp.map_workload_old ON map_workload(old)",
	"INSERT OR IGNORE INTO sweep_workload (sweep_id, workload_id, position, name) SELECT m.new, w.new, s.position, s.name "
	"FROM src.sweep_workload s JOIN map_sweep m ON m.old = s.sweep_id JOIN map_workload w ON w.old = s.workload_id",
	"INSERT OR IGNORE INTO metric (workload_id, name, label, unit, better, is_detail) SELECT w.new, s.name, s.label, s.unit, "
	"s.better, s.is_detail FROM src.metric s JOIN map_workload w ON w.old = s.workload_id",
	"CREATE TEMP TABLE map_metric AS SELECT s.id AS old, d.id AS new FROM src.metric s JOIN map_workload w ON w.old = s.workload_id "
	"JOIN main.metric d ON d.workload_id = w.new AND d.name = s.name AND d.label = s.label",
	"CREATE UNIQUE INDEX temp.map_metric_old ON map_metric(old)",

	/* what somebody set last, or took away, on whichever host */
	"INSERT INTO sweep_label (sweep_id, name, value, set_ms) SELECT m.new, s.name, s.value, s.set_ms FROM src.sweep_label s "
	"JOIN map_sweep m ON m.old = s.sweep_id WHERE 1 ON CONFLICT (sweep_id, name) DO UPDATE SET value = excluded.value, "
	"set_ms = excluded.set_ms WHERE (excluded.set_ms, excluded.value) > (sweep_label.set_ms, sweep_label.value)",
};

/* Of sweeps that both know, only cells in which something differs are looked into; the others are there already. */
static const char *const cells[] = {
	"CREATE TEMP TABLE map_cell AS SELECT s.id AS old, d.id AS new, dc.id AS config, m.new AS sweep, m.is_new, d.id IS NULL AS is_added "
	"FROM src.cell s JOIN map_sweep m ON m.old = s.sweep_id JOIN src.config sc ON sc.id = s.config_id "
	"JOIN main.config dc ON dc.digest = sc.digest LEFT JOIN main.cell d ON d.sweep_id = m.new AND d.config_id = dc.id",
	/* the same number of trials and of measurements: a cell that is whole on both sides */
	"DELETE FROM map_cell WHERE NOT is_added AND "
	"(SELECT count(*) FROM src.trial t WHERE t.cell_id = old) = (SELECT count(*) FROM main.trial t WHERE t.cell_id = new) AND "
	"(SELECT count(*) FROM src.measurement t WHERE t.cell_id = old) = (SELECT count(*) FROM main.measurement t WHERE t.cell_id = new) AND "
	"((SELECT count(*) FROM src.trial_flag) = 0 OR "
	"(SELECT count(*) FROM src.trial_flag f JOIN src.trial t ON t.id = f.trial_id WHERE t.cell_id = old) = "
	"(SELECT count(*) FROM main.trial_flag f JOIN main.trial t ON t.id = f.trial_id WHERE t.cell_id = new)) AND "
	"(SELECT state || coalesce(ended_ms, 0) FROM src.cell WHERE id = old) = (SELECT state || coalesce(ended_ms, 0) FROM main.cell WHERE id = new)",
	"INSERT INTO cell (sweep_id, config_id, position, state, reason, started_ms, ended_ms) SELECT m.sweep, m.config, s.position, "
	"s.state, s.reason, s.started_ms, s.ended_ms FROM map_cell m JOIN src.cell s ON s.id = m.old WHERE m.is_added ORDER BY s.id",
	"UPDATE map_cell SET new = (SELECT id FROM main.cell d WHERE d.sweep_id = sweep AND d.config_id = config) WHERE is_added",
	"CREATE UNIQUE INDEX temp.map_cell_old ON map_cell(old)",
	"UPDATE cell SET (state, reason, started_ms, ended_ms) = (SELECT s.state, s.reason, s.started_ms, s.ended_ms FROM map_cell m "
	"JOIN src.cell s ON s.id = m.old WHERE m.new = cell.id) WHERE id IN (SELECT m.new FROM map_cell m JOIN src.cell s ON s.id = m.old "
	"JOIN main.cell d ON d.id = m.new WHERE NOT m.is_added AND (coalesce(s.ended_ms, 0), s.state) > (coalesce(d.ended_ms, 0), d.state))",

	"INSERT OR IGNORE INTO spelling (text) SELECT text FROM src.spelling",
	"CREATE TEMP TABLE map_spelling AS SELECT s.id AS old, d.id AS new FROM src.spelling s JOIN main.spelling d ON d.text = s.text",
	"CREATE UNIQUE INDEX temp.map_spelling_old ON map_spelling(old)",
	"INSERT INTO cell_setting (cell_id, axis_id, requested, value, effective, verdict) SELECT m.new, a.new, r.new, v.new, f.new, "
	"s.verdict FROM map_cell m JOIN src.cell_setting s ON s.cell_id = m.old JOIN map_axis a ON a.old = s.axis_id "
	"JOIN map_spelling r ON r.old = s.requested JOIN map_spelling v ON v.old = s.value LEFT JOIN map_spelling f ON f.old = s.effective "
	"WHERE 1 ON CONFLICT (cell_id, axis_id) DO UPDATE SET effective = excluded.effective, verdict = excluded.verdict "
	"WHERE cell_setting.effective IS NULL",
	"INSERT OR IGNORE INTO step_time (cell_id, n, step, run_ns, undo_ns, failed) SELECT m.new, s.n, s.step, s.run_ns, s.undo_ns, "
	"s.failed FROM map_cell m JOIN src.step_time s ON s.cell_id = m.old",
};

static const char *const trials[] = {
	"INSERT OR IGNORE INTO environment (digest) SELECT digest FROM src.environment WHERE digest NOT IN (SELECT digest FROM "
	"main.environment)",
	"CREATE TEMP TABLE map_environment AS SELECT s.id AS old, d.id AS new FROM src.environment s "
	"JOIN main.environment d ON d.digest = s.digest",
	"CREATE UNIQUE INDEX temp.map_environment_old ON map_environment(old)",
	"INSERT OR IGNORE INTO environment_fact (environment_id, key, value, class) SELECT m.new, s.key, s.value, s.class "
	"FROM src.environment_fact s JOIN map_environment m ON m.old = s.environment_id",

	"INSERT OR IGNORE INTO trial (cell_id, workload_id, repetition, state, reason, environment_id, started_ms, elapsed_ns, user_ns, "
	"system_ns, read_bytes, written_bytes, exit_status, exit_signal) SELECT c.new, w.new, s.repetition, s.state, s.reason, v.new, "
	"s.started_ms, s.elapsed_ns, s.user_ns, s.system_ns, s.read_bytes, s.written_bytes, s.exit_status, s.exit_signal "
	"FROM map_cell c JOIN src.trial s ON s.cell_id = c.old JOIN map_workload w ON w.old = s.workload_id "
	"LEFT JOIN map_environment v ON v.old = s.environment_id WHERE s.state <> 'running' ORDER BY s.id",
	"CREATE TEMP TABLE map_trial AS SELECT s.id AS old, d.id AS new, c.old AS old_cell FROM map_cell c JOIN src.trial s ON s.cell_id = c.old "
	"JOIN map_workload w ON w.old = s.workload_id JOIN main.trial d ON d.cell_id = c.new AND d.workload_id = w.new "
	"AND d.repetition = s.repetition AND CASE d.state WHEN 'ok' THEN 0 ELSE d.started_ms END = CASE s.state WHEN 'ok' THEN 0 ELSE "
	"s.started_ms END",
	"CREATE UNIQUE INDEX temp.map_trial_old ON map_trial(old)",
	"INSERT OR IGNORE INTO trial_flag (trial_id, flag, reason) SELECT t.new, s.flag, s.reason FROM map_trial t "
	"JOIN src.trial_flag s ON s.trial_id = t.old",
	"INSERT OR IGNORE INTO trial_fact (trial_id, key, value) SELECT t.new, s.key, s.value FROM map_trial t "
	"JOIN src.trial_fact s ON s.trial_id = t.old",
	"INSERT OR IGNORE INTO measurement (cell_id, metric_id, trial_id, value) SELECT c.new, x.new, t.new, s.value FROM map_cell c "
	"JOIN src.measurement s ON s.cell_id = c.old JOIN map_metric x ON x.old = s.metric_id JOIN map_trial t ON t.old = s.trial_id",
};

static const char *const outputs[] = {
	"INSERT OR IGNORE INTO output (trial_id, step, stream, bytes, kept, data) SELECT t.new, s.step, s.stream, s.bytes, s.kept, s.data "
	"FROM map_trial t JOIN src.output s ON s.trial_id = t.old",
	"INSERT OR IGNORE INTO step_output (cell_id, n, bytes, kept, data) SELECT m.new, s.n, s.bytes, s.kept, s.data FROM map_cell m "
	"JOIN src.step_output s ON s.cell_id = m.old",
};

/* Results of cells that are new as a whole are copied; those of the others are made anew afterwards. */
static const char *const results[] = {
	"INSERT OR IGNORE INTO result (cell_id, metric_id, host_id, config_id, value, min, max, n, left_out, trial_id, flags) "
	"SELECT c.new, x.new, w.host_id, c.config, s.value, s.min, s.max, s.n, s.left_out, t.new, s.flags FROM map_cell c "
	"CROSS JOIN main.sweep w ON w.id = c.sweep CROSS JOIN src.result s ON s.cell_id = c.old CROSS JOIN map_metric x ON x.old = s.metric_id "
	"LEFT JOIN map_trial t ON t.old = s.trial_id WHERE c.is_added",
	"INSERT OR IGNORE INTO result_flag (cell_id, metric_id, flag, origin, reason) SELECT c.new, x.new, s.flag, s.origin, s.reason "
	"FROM map_cell c CROSS JOIN src.result_flag s ON s.cell_id = c.old CROSS JOIN map_metric x ON x.old = s.metric_id WHERE c.is_added",
	"INSERT INTO event (sweep_id, at_ms, kind, text) SELECT m.new, s.at_ms, s.kind, s.text FROM src.event s "
	"JOIN map_sweep m ON m.old = s.sweep_id WHERE m.is_new ORDER BY s.id",
	"INSERT INTO event (sweep_id, at_ms, kind, text) SELECT * FROM (SELECT m.new, s.at_ms, s.kind, s.text FROM map_sweep m "
	"CROSS JOIN src.event s ON s.sweep_id = m.old WHERE NOT m.is_new AND (SELECT count(*) FROM src.event x WHERE x.sweep_id = m.old) <> "
	"(SELECT count(*) FROM main.event x WHERE x.sweep_id = m.new) EXCEPT SELECT d.sweep_id, d.at_ms, d.kind, d.text FROM map_sweep m "
	"CROSS JOIN main.event d ON d.sweep_id = m.new WHERE NOT m.is_new) ORDER BY 2",
	"UPDATE sweep SET (state, reason, cells_ended, trials_ok, started_ms, ended_ms) = (SELECT s.state, s.reason, s.cells_ended, "
	"s.trials_ok, s.started_ms, s.ended_ms FROM map_sweep m JOIN src.sweep s ON s.id = m.old WHERE m.new = sweep.id) "
	"WHERE id IN (SELECT new FROM map_sweep WHERE NOT is_new AND is_further) AND state NOT IN ('queued', 'running', 'paused')",
	"UPDATE sweep SET (note, note_ms) = (SELECT s.note, s.note_ms FROM map_sweep m JOIN src.sweep s ON s.id = m.old "
	"WHERE m.new = sweep.id) WHERE id IN (SELECT m.new FROM map_sweep m JOIN src.sweep s ON s.id = m.old "
	"JOIN main.sweep d ON d.id = m.new WHERE NOT m.is_new AND (s.note_ms, s.note) > (d.note_ms, d.note))",
};

static const char *const tables[] = { "chosen",     "before",       "map_host",     "map_plan", "map_sweep",    "map_axis",
	                              "new_config", "map_workload", "map_metric",   "map_cell", "map_spelling", "map_environment",
	                              "map_trial" };

static int statements_run(struct store *s, const char *const *sql, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (statement_run(s, e, sql[i], "") < 0)
			return -1;
	return 0;
}

static int statement_count(struct store *s, const char *sql, int64_t *ret, struct err *e)
{
	if (statement_run(s, e, sql, "") < 0)
		return -1;
	*ret += sqlite3_changes64(s->db);
	return 0;
}

static int sweeps_choose(struct store *s, const struct merge_options *o, struct err *e)
{
	if (statement_run(s, e, "CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY)", "") < 0 ||
	    statement_run(s, e, "CREATE TEMP TABLE before AS SELECT coalesce(max(id), 0) AS last FROM main.sweep", "") <
	            0)
		return -1;
	if (o->sweep_ids == NULL)
		return statement_run(s, e, "INSERT INTO chosen SELECT id FROM src.sweep WHERE state NOT IN ('queued', 'running', 'paused')", "");
	for (size_t i = 0; i < o->n_sweep_ids; i++)
		if (statement_run(s, e, "INSERT OR IGNORE INTO chosen VALUES (?)", "i", o->sweep_ids[i]) < 0)
			return -1;
	return 0;
}

/* Cells that existed and got trials: their results are those of all trials together. */
static int results_update(struct store *s, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL, *sweeps = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT new FROM map_cell WHERE NOT is_added", "") < 0)
		return -1;
	while ((rc = statement_next(st, e)) > 0)
		if (store_result_update(s, column_int(st, 0), e) < 0)
			return -1;
	if (rc < 0 || statement_open(s, &sweeps, e, "SELECT DISTINCT sweep FROM map_cell WHERE NOT is_new", "") < 0)
		return -1;
	while ((rc = statement_next(sweeps, e)) > 0)
		if (store_sweep_drift(s, column_int(sweeps, 0), e) < 0)
			return -1;
	return rc;
}

static int report_make(struct store *s, struct merge_report *ret, struct err *e)
{
	int64_t touched = 0, known = 0;

	if (statement_int(s, &ret->sweeps_new, e, "SELECT count(*) FROM map_sweep WHERE is_new", "") < 0 ||
	    statement_int(s, &known, e, "SELECT count(*) FROM map_sweep WHERE NOT is_new", "") < 0 ||
	    statement_int(s, &touched, e,
	                  "SELECT count(*) FROM map_sweep m WHERE NOT is_new AND (is_further OR EXISTS (SELECT 1 FROM "
	                  "map_cell c WHERE c.sweep = m.new))",
	                  "") < 0)
		return -1;
	ret->sweeps_updated = touched;
	ret->sweeps_known = known - touched;
	return statement_int(s, &ret->cells, e, "SELECT count(*) FROM map_cell WHERE is_added", "") < 0 ? -1 : 0;
}

static int merge_run(struct store *s, const struct merge_options *o, struct merge_report *ret, struct err *e)
{
	if (sweeps_choose(s, o, e) < 0 || statements_run(s, identities, ARRAY_SIZE(identities), e) < 0 ||
	    statements_run(s, cells, ARRAY_SIZE(cells), e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(trials); i++) {
		bool is_trial = text_starts(trials[i], "INSERT OR IGNORE INTO trial ("),
		     is_last = i + 1 == ARRAY_SIZE(trials);
		int64_t ignored = 0;

		if (statement_count(s, trials[i], is_trial ? &ret->trials : is_last ? &ret->measurements : &ignored, e) < 0)
			return -1;
	}
	if (o->with_outputs && statements_run(s, outputs, ARRAY_SIZE(outputs), e) < 0)
		return -1;
	if (statements_run(s, results, ARRAY_SIZE(results), e) < 0 || results_update(s, e) < 0)
		return -1;
	return report_make(s, ret, e);
}

static void tables_drop(struct store *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		AUTO_FREE char *sql = xasprintf("DROP TABLE IF EXISTS temp.%s", tables[i]);

		statement_run(s, NULL, sql, "");
	}
}

/* Read-only, so that detaching cannot checkpoint or remove another process's log; see
 * https://www.sqlite.org/uri.html. */
static void source_uri(const char *path, struct text *ret)
{
	AUTO_FREE char *log = xasprintf("%s-wal", path);

	text_add(ret, "file:");
	for (; *path != '\0'; path++) {
		if (strchr("?#%", *path) != NULL)
			text_printf(ret, "%%%02x", (unsigned char)*path);
		else
			text_add_n(ret, path, 1);
	}
	text_add(ret, access(log, F_OK) == 0 ? "?mode=ro" : "?mode=ro&immutable=1");
}

/* A scratch store never checks (store.c).  Outside of a transaction only, see pragma.html#pragma_foreign_keys. */
static void references_check(struct store *s, bool is_on)
{
	if (s->mode == STORE_WRITE)
		statement_run(s, NULL, is_on ? "PRAGMA foreign_keys=ON" : "PRAGMA foreign_keys=OFF", "");
}

int store_merge(struct store *to, const char *source, const struct merge_options *o, struct merge_report *ret,
                struct err *e)
{
	AUTO_TEXT struct text uri = { 0 };
	struct merge_report report = { 0 };
	int rc;

	source_uri(source, &uri);
	/* 16 MiB: the index on values is filled in no order, and two megabytes of pages would be written over and
	 * over.  An index that is made anew is sorted in as much again. */
	if (statement_run(to, e, "PRAGMA cache_size=-16384", "") < 0)
		return -1;
	if (statement_run(to, e, "ATTACH ? AS src", "t", uri.s) < 0)
		return -1;
	/* Every reference is joined to the row it refers to, above: looking each up once more takes half of the time.
	 * */
	references_check(to, false);
	rc = store_begin(to, e);
	if (rc == 0)
		rc = store_finish(to, merge_run(to, o, &report, e), e);
	statements_free(to); /* a prepared statement keeps the source attached */
	tables_drop(to);
	statements_free(to);
	references_check(to, true);
	if (statement_run(to, rc == 0 ? e : NULL, "DETACH src", "") < 0)
		rc = -1;
	if (rc == 0)
		*ret = report;
	return rc;
}
