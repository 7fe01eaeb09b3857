/* SPDX-License-Identifier: MIT
 *
 * A published table as rows of the store; see store_import.h.
 */
#include "schema/store_import.h"

#include <string.h>

#include "schema/store_internal.h"

/* A UUID that depends on the text alone (RFC 9562, version 8). */
static void uuid_of_text(const char *text, uint8_t ret[16])
{
	uint8_t digest[DIGEST_SIZE];

	digest_of(text, strlen(text), digest);
	memcpy(ret, digest, 16);
	ret[6] = (uint8_t)((ret[6] & 0x0f) | 0x80);
	ret[8] = (uint8_t)((ret[8] & 0x3f) | 0x80);
}

static int plan_find(struct store *s, const struct import_new *n, int64_t *ret_id, struct err *e)
{
	uint8_t digest[DIGEST_SIZE];
	int found;

	digest_of(n->text, strlen(n->text), digest);
	found = statement_int(s, ret_id, e, "SELECT id FROM plan WHERE digest = ?", "d", digest);
	if (found != 0)
		return found < 0 ? -1 : 0;
	return statement_insert(s, ret_id, e, "INSERT INTO plan (digest, name, about, source) VALUES (?, ?, ?, ?)",
	                        "dtst", digest, n->plan, n->about, n->text);
}

int store_import_sweep(struct store *s, const struct import_new *n, int64_t *ret_id, bool *ret_exists, struct err *e)
{
	AUTO_FREE char *seed = xasprintf("iosweep import host %s", n->host);
	uint8_t host_uuid[16];
	int64_t host_id, plan_id;
	int found = statement_int(s, ret_id, e, "SELECT id FROM sweep WHERE uuid = ?", "u", n->uuid);

	*ret_exists = found > 0;
	if (found != 0)
		return found < 0 ? -1 : 0;
	uuid_of_text(seed, host_uuid);
	if (store_host(s, host_uuid, n->host, &host_id, e) < 0 || plan_find(s, n, &plan_id, e) < 0)
		return -1;
	return statement_insert(s, ret_id, e,
	                        "INSERT INTO sweep (uuid, plan_id, host_id, state, target_kind, target, submitter_uid, submitter_gid, "
	                        "submitter, cells, trials_per_cell, keep, source, submitted_ms, started_ms) "
	                        "VALUES (?, ?, ?, 'imported', 'import', '', ?, ?, ?, 0, 0, ?, ?, ?, ?)", "uiiiittsii", n->uuid, plan_id,
	                        host_id, n->uid, n->gid, n->submitter, keep_name(n->keep), n->source, n->at_ms, n->at_ms);
}

int store_import_workload(struct store *s, int64_t sweep_id, int64_t position, const char *name, const char *definition,
                          const char *parameters, int64_t *ret_id, struct err *e)
{
	AUTO_FREE char *both = xasprintf("%s\n%s", definition, parameters);
	uint8_t digest[DIGEST_SIZE];
	int found;

	digest_of(both, strlen(both), digest);
	found = statement_int(s, ret_id, e, "SELECT id FROM workload WHERE digest = ?", "d", digest);
	if (found == 0)
		found = statement_insert(s, ret_id, e, "INSERT INTO workload (digest, name, definition, parameters) VALUES (?, ?, ?, ?)",
		                         "dttt", digest, name, definition, parameters);
	if (found < 0)
		return -1;
	return statement_run(s, e,
	                     "INSERT INTO sweep_workload (sweep_id, workload_id, position, name) VALUES (?, ?, ?, ?)",
	                     "iiit", sweep_id, *ret_id, position, name);
}

int store_import_cell(struct store *s, int64_t sweep_id, const struct cell *c, int64_t at_ms, int64_t *ret_id,
                      struct err *e)
{
	uint8_t digest[DIGEST_SIZE];
	AUTO_TEXT struct text canonical = { 0 };
	enum cell_state before;
	bool exists;

	cell_config(c, &canonical, digest);
	if (store_cell_find(s, sweep_id, digest, &exists, ret_id, &before, e) < 0)
		return -1;
	if (exists)
		return 0;
	if (store_cell_begin(s, sweep_id, c, ret_id, &before, e) < 0)
		return -1;
	return statement_run(s, e, "UPDATE cell SET started_ms = ? WHERE id = ?", "ii", at_ms, *ret_id);
}

/* Whether the trial has a number of this metric: 1, 0 or -1. */
static int measurement_exists(struct store *s, const struct import_trial *t, int64_t trial_id, int64_t metric_id,
                              struct err *e)
{
	int64_t one;

	return statement_int(s, &one, e,
	                     "SELECT 1 FROM measurement WHERE cell_id = ? AND metric_id = ? AND trial_id = ?", "iii",
	                     t->cell_id, metric_id, trial_id);
}

static int trial_insert(struct store *s, const struct import_trial *t, int64_t *ret_id, struct err *e)
{
	if (statement_insert(s, ret_id, e,
	                     "INSERT INTO trial (cell_id, workload_id, repetition, state, environment_id, started_ms) "
	                     "VALUES (?, ?, ?, 'ok', ?, ?)", "iiiIi", t->cell_id, t->workload_id, (int64_t)t->repetition,
	                     t->environment_id, t->at_ms) < 0)
		return -1;
	for (size_t i = 0; i < t->n_flags; i++)
		if (statement_run(s, e, "INSERT OR IGNORE INTO trial_flag (trial_id, flag, reason) VALUES (?, ?, ?)",
		                  "its", *ret_id, t->flags[i].flag, t->flags[i].reason) < 0)
			return -1;
	return 0;
}

int store_import_trial(struct store *s, const struct import_trial *t, int *ret_duplicate, struct err *e)
{
	int64_t trial_id, metric_id;
	int found = statement_int(s, &trial_id, e,
	                          "SELECT id FROM trial WHERE cell_id = ? AND workload_id = ? AND repetition = ?",
	                          "iii", t->cell_id, t->workload_id, (int64_t)t->repetition);

	*ret_duplicate = -1;
	for (size_t i = 0; found > 0 && i < t->n_measured; i++) {
		int there;

		if (store_metric_id(s, t->workload_id, &t->measured[i], &metric_id, e) < 0)
			return -1;
		there = measurement_exists(s, t, trial_id, metric_id, e);
		if (there < 0)
			return -1;
		if (there > 0) {
			*ret_duplicate = (int)i;
			return 0;
		}
	}
	if (found < 0 || (found == 0 && trial_insert(s, t, &trial_id, e) < 0))
		return -1;
	for (size_t i = 0; i < t->n_measured; i++)
		if (store_metric_id(s, t->workload_id, &t->measured[i], &metric_id, e) < 0 ||
		    statement_run(s, e,
		                  "INSERT INTO measurement (cell_id, metric_id, trial_id, value) VALUES (?, ?, ?, ?)",
		                  "iiir", t->cell_id, metric_id, trial_id, t->measured[i].value) < 0)
			return -1;
	return 0;
}

static int cells_end(struct store *s, int64_t sweep_id, int64_t at_ms, struct err *e)
{
	AUTO_STATEMENT struct statement *st = NULL;
	int rc;

	if (statement_open(s, &st, e, "SELECT id FROM cell WHERE sweep_id = ? AND state = 'running'", "i", sweep_id) <
	    0)
		return -1;
	while ((rc = statement_next(st, e)) > 0) {
		int64_t id = column_int(st, 0);

		if (store_result_update(s, id, e) < 0 ||
		    statement_run(s, e, "UPDATE cell SET state = 'ok', ended_ms = ? WHERE id = ?", "ii", at_ms, id) < 0)
			return -1;
	}
	return rc;
}

int store_import_end(struct store *s, int64_t sweep_id, int64_t at_ms, struct err *e)
{
	if (cells_end(s, sweep_id, at_ms, e) < 0 || store_sweep_drift(s, sweep_id, e) < 0)
		return -1;
	return statement_run(s, e,
	                     "UPDATE sweep SET ended_ms = ?1, cells = (SELECT count(*) FROM cell WHERE sweep_id = ?2), "
	                     "cells_ended = (SELECT count(*) FROM cell WHERE sweep_id = ?2), "
	                     "trials_ok = (SELECT count(*) FROM trial t JOIN cell c ON c.id = t.cell_id WHERE c.sweep_id = ?2), "
	                     "trials_per_cell = (SELECT count(*) FROM sweep_workload WHERE sweep_id = ?2) * "
	                     "(SELECT coalesce(max(repetition), 0) FROM trial t JOIN cell c ON c.id = t.cell_id WHERE c.sweep_id = ?2) "
	                     "WHERE id = ?2", "ii", at_ms, sweep_id);
}
