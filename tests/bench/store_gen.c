/* SPDX-License-Identifier: MIT
 *
 * usage: store_gen PATH [SWEEPS [CELLS [SEED]]]
 *
 * Makes a store as years of sweeps would: SWEEPS (334) of CELLS (1,000) cells each, three trials a cell, five metrics
 * a trial, on four hosts and ten plans.  Every run with the same arguments gives the same numbers, ids and digests.
 * Cells have five axes; the settings have planted effects, so that analyses find something:
 *
 *     throughput  100 MB/s x filesystem (1.00 0.95 0.90 0.80 0.70) x (1 + 0.08 x step of readahead, 0..9)
 *                 x host (1.0 1.1 1.2 1.3) x noise of 3 %; the scheduler has no effect
 *
 * Rows are written by plain SQL in one transaction, past the functions of store.h, since those commit trial by trial.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "schema/stats.h"
#include "schema/store.h"

#define TRIALS  3
#define METRICS 5
#define HOSTS   4
#define PLANS   10

static const char *const filesystems[] = { "xfs", "ext4", "ext3", "btrfs", "ext2" };
static const double filesystem_factor[] = { 1.00, 0.95, 0.90, 0.80, 0.70 };
static const char *const schedulers[] = { "none", "mq-deadline", "bfq", "kyber" };
static const char *const axes[] = { "filesystem", "label.hw", "queue.nr_requests", "readahead", "scheduler" };
static const struct {
	const char *name, *unit, *better;
} metrics[METRICS] = {
	{ "throughput", "B/s", "higher" }, { "cpu", "%", "lower" },        { "latency", "ns", "lower" },
	{ "iops", "1/s", "higher" },       { "p99", "ns", "lower" },
};

enum insert { CONFIG, CONFIG_VALUE, SWEEP, SWEEP_WORKLOAD, CELL, CELL_VALUE, STEP, TRIAL, MEASUREMENT, RESULT, RESULT_FLAG, EVENT, N_INSERTS };
static const char *const inserts[N_INSERTS] = {
	[CONFIG] = "INSERT INTO config (digest) VALUES (?)",
	[CONFIG_VALUE] = "INSERT INTO config_value (axis_value_id, config_id) VALUES (?, ?)",
	[SWEEP] = "INSERT INTO sweep (uuid, plan_id, host_id, state, target_kind, target, submitter_uid, submitter_gid, submitter, "
	          "cells, trials_per_cell, keep, cells_ended, trials_ok, submitted_ms, started_ms, ended_ms) "
	          "VALUES (?, ?, ?, 'done', 'device', 'md1120', 0, 0, 'root', ?, 3, 'median', ?, ?, ?, ?, ?)",
	[SWEEP_WORKLOAD] = "INSERT INTO sweep_workload (sweep_id, workload_id, position, name) VALUES (?, 1, 0, 'fio')",
	[CELL] = "INSERT INTO cell (sweep_id, config_id, position, state, started_ms, ended_ms) VALUES (?, ?, ?, 'ok', ?, ?)",
	[CELL_VALUE] = "INSERT INTO cell_setting (cell_id, axis_id, requested, value, effective, verdict) "
	               "SELECT ?1, ?2, id, id, CASE ?4 WHEN 1 THEN id END, ?4 FROM spelling WHERE text = ?3",
	[STEP] = "INSERT INTO step_time (cell_id, n, step, run_ns, undo_ns) VALUES (?, ?, ?, ?, ?)",
	[TRIAL] = "INSERT INTO trial (cell_id, workload_id, repetition, state, environment_id, started_ms, elapsed_ns, user_ns, "
	          "system_ns, read_bytes, written_bytes, exit_status) VALUES (?, 1, ?, 'ok', 1, ?, ?, ?, ?, ?, ?, 0)",
	[MEASUREMENT] = "INSERT INTO measurement (cell_id, metric_id, trial_id, value) VALUES (?, ?, ?, ?)",
	[RESULT] = "INSERT INTO result (cell_id, metric_id, host_id, config_id, value, min, max, n, trial_id, flags) "
	           "VALUES (?, ?, ?, ?, ?, ?, ?, 3, ?, ?)",
	[RESULT_FLAG] = "INSERT INTO result_flag (cell_id, metric_id, flag, origin, reason) VALUES (?, ?, 'spread', 'cell', ?)",
	[EVENT] = "INSERT INTO event (sweep_id, at_ms, kind, text) VALUES (?, ?, 'cell', 'ended: ok')",
};

static sqlite3 *db;
static sqlite3_stmt *statements[N_INSERTS];
static uint64_t random_state;
static int64_t clock_ms = INT64_C(1700000000000);

static void die(const char *what)
{
	fprintf(stderr, "store_gen: %s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static void sql_run(const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		die(sql);
}

/* i: int64_t, r: double, t: text, u: 16 bytes, d: 32 bytes. */
static int64_t row_insert(enum insert which, const char *types, ...)
{
	sqlite3_stmt *st = statements[which];
	va_list ap;

	va_start(ap, types);
	for (int i = 1; types[i - 1] != '\0'; i++) {
		char type = types[i - 1];

		if (type == 'i')
			sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
		else if (type == 'r')
			sqlite3_bind_double(st, i, va_arg(ap, double));
		else if (type == 't')
			sqlite3_bind_text(st, i, va_arg(ap, const char *), -1, SQLITE_STATIC);
		else
			sqlite3_bind_blob(st, i, va_arg(ap, const void *), type == 'u' ? 16 : DIGEST_SIZE,
			                  SQLITE_STATIC);
	}
	va_end(ap);
	if (sqlite3_step(st) != SQLITE_DONE)
		die(inserts[which]);
	sqlite3_reset(st);
	return sqlite3_last_insert_rowid(db);
}

/* splitmix64 (public domain, Sebastiano Vigna's description): the same on every machine. */
static uint64_t random_next(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* About normal, mean 1, standard deviation 3 %: the sum of twelve uniform numbers has variance 1. */
static double noise(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_next() >> 11) * 0x1p-53;
	return 1 + 0.03 * sum;
}

/* A UUID whose front is the time, as version 7 has it, so that indexes grow at their end. */
static void uuid_next(uint8_t ret[16])
{
	uint64_t r = random_next();

	for (int i = 0; i < 6; i++)
		ret[i] = (uint8_t)(clock_ms >> (40 - 8 * i));
	memcpy(ret + 8, &r, 8);
	ret[6] = 0x70 | (uint8_t)(r >> 60);
	ret[7] = (uint8_t)(r >> 52);
	ret[8] = (ret[8] & 0x3f) | 0x80;
}

/* The settings of configuration i of a plan, as text, by axis. */
static void settings_of(int64_t plan, int64_t i, char ret[5][32])
{
	snprintf(ret[0], 32, "%s", filesystems[i % 5]);
	snprintf(ret[1], 32, "raid-%02lld", (long long)plan);
	snprintf(ret[2], 32, "%lld", 64LL << (i / 5 / 4 / 10 % 5));
	snprintf(ret[3], 32, "%lld", 131072LL << (i / 5 / 4 % 10));
	snprintf(ret[4], 32, "%s", schedulers[i / 5 % 4]);
}

static double throughput_of(int64_t host, int64_t i)
{
	return 100e6 * filesystem_factor[i % 5] * (1 + 0.08 * (double)(i / 5 / 4 % 10)) *
	       (1 + 0.1 * (double)(host - 1));
}

static int64_t value_id(int64_t axis, const char *value)
{
	sqlite3_stmt *st;
	int64_t id;

	sqlite3_prepare_v2(db, "INSERT INTO axis_value (axis_id, value, number) VALUES (?1, ?2, "
	                       "CASE WHEN ?2 GLOB '[0-9]*' THEN CAST(?2 AS REAL) END) ON CONFLICT DO UPDATE SET value = value RETURNING id",
	                   -1, &st, NULL);
	sqlite3_bind_int64(st, 1, axis);
	sqlite3_bind_text(st, 2, value, -1, SQLITE_STATIC);
	if (sqlite3_step(st) != SQLITE_ROW)
		die("axis_value");
	id = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return id;
}

static void spelling_make(const char *text)
{
	sqlite3_stmt *st;

	sqlite3_prepare_v2(db, "INSERT OR IGNORE INTO spelling (text) VALUES (?)", -1, &st, NULL);
	sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
	if (sqlite3_step(st) != SQLITE_DONE)
		die("spelling");
	sqlite3_finalize(st);
}

static void configs_make(int64_t cells)
{
	for (int64_t plan = 1; plan <= PLANS; plan++) {
		for (int64_t i = 0; i < cells; i++) {
			AUTO_TEXT struct text canonical = { 0 };
			uint8_t digest[DIGEST_SIZE];
			char at[5][32];
			int64_t config;

			settings_of(plan, i, at);
			for (int k = 0; k < 5; k++)
				text_printf(&canonical, "%s=%s\n", axes[k], at[k]);
			if (i >= 1000) /* more cells than settings: told apart by a label's number */
				text_printf(&canonical, "label.n=%lld\n", (long long)(i / 1000));
			digest_of(canonical.s, canonical.n, digest);
			config = row_insert(CONFIG, "d", digest);
			for (int64_t k = 0; k < 5; k++) {
				spelling_make(at[k]);
				row_insert(CONFIG_VALUE, "ii", value_id(k + 1, at[k]), config);
			}
		}
	}
}

static void base_make(void)
{
	static const char facts[] = "kernel.release=6:6.18.0\n"; /* as store_environment.c has it */
	AUTO_FREE char *environment = NULL;
	uint8_t digest[DIGEST_SIZE];
	char text[DIGEST_TEXT];

	digest_of(facts, strlen(facts), digest);
	environment = xasprintf("INSERT INTO environment (id, digest) VALUES (1, x'%s')", digest_format(digest, text));
	sql_run(environment);
	sql_run("INSERT INTO environment_fact VALUES (1, 'kernel.release', '6.18.0', 'identity');"
	        "INSERT INTO workload (id, digest, name, definition, parameters) VALUES (1, zeroblob(32), 'fio', 'workload: fio', '{}')");
	for (int i = 0; i < METRICS; i++) {
		AUTO_FREE char *sql = xasprintf("INSERT INTO metric (id, workload_id, name, unit, better) VALUES (%d, 1, '%s', '%s', '%s')",
		                                i + 1, metrics[i].name, metrics[i].unit, metrics[i].better);
		sql_run(sql);
	}
	for (int i = 0; i < 5; i++) {
		AUTO_FREE char *sql = xasprintf("INSERT INTO axis (id, name) VALUES (%d, '%s')", i + 1, axes[i]);
		sql_run(sql);
	}
	for (int i = 1; i <= HOSTS; i++) {
		AUTO_FREE char *sql = xasprintf("INSERT INTO host (id, uuid, name) VALUES (%d, x'%032d', 'db%d')", i, i,
		                                i);
		sql_run(sql);
	}
	for (int i = 1; i <= PLANS; i++) {
		AUTO_FREE char *sql = xasprintf("INSERT INTO plan (id, digest, name, source) VALUES (%d, x'%064d', 'plan-%02d', 'plan: plan-%02d')",
		                                i, i, i, i);
		sql_run(sql);
	}
}

static void results_make(int64_t cell, int64_t host, int64_t config, double v[METRICS][TRIALS],
                         const int64_t trials[TRIALS])
{
	for (int64_t m = 0; m < METRICS; m++) {
		double min = fmin(v[m][0], fmin(v[m][1], v[m][2])), max = fmax(v[m][0], fmax(v[m][1], v[m][2]));
		double median = stats_median(v[m], TRIALS);
		bool is_wide = stats_spread(min, max, median) > 0.10;

		row_insert(RESULT, "iiiirrrit", cell, m + 1, host, config, median, min, max,
		           trials[stats_middle(v[m], TRIALS)], is_wide ? "spread" : "");
		if (is_wide)
			row_insert(RESULT_FLAG, "iit", cell, m + 1, "from 90 to 110: 20.0 % of the median");
	}
}

static void trials_make(int64_t cell, int64_t host, int64_t config, double throughput)
{
	double v[METRICS][TRIALS];
	int64_t trials[TRIALS];

	for (int64_t t = 0; t < TRIALS; t++) {
		double rate = throughput * noise();
		int64_t elapsed = (int64_t)(4e9 / rate * 1e9);

		trials[t] = row_insert(TRIAL, "iiiiiiii", cell, t + 1, clock_ms, elapsed, elapsed / 50 + 12345,
		                       elapsed / 9 + 54321, INT64_C(4294967296) + t * 4096, INT64_C(1048576));
		v[0][t] = rate;
		v[1][t] = 12.5 * noise();
		v[2][t] = 1e9 / (rate / 8192) * noise();
		v[3][t] = rate / 8192;
		v[4][t] = v[2][t] * 4 * noise();
		for (int64_t m = 0; m < METRICS; m++)
			row_insert(MEASUREMENT, "iiir", cell, m + 1, trials[t], v[m][t]);
		clock_ms += elapsed / 1000000 + 100;
	}
	results_make(cell, host, config, v, trials);
}

static void cell_make(int64_t sweep, int64_t plan, int64_t host, int64_t cells, int64_t i)
{
	static const char *const steps[] = { "queue", "format", "mount", "tune" };
	int64_t config = (plan - 1) * cells + i + 1, cell;
	char at[5][32];

	cell = row_insert(CELL, "iiiii", sweep, config, i, clock_ms, clock_ms + 5000);
	settings_of(plan, i, at);
	for (int64_t k = 0; k < 5; k++)
		row_insert(CELL_VALUE, "iiti", cell, k + 1, at[k], (int64_t)(k != 1)); /* a label has no effective value */
	/* Format, mount and tune in each cell, queue where the scheduler changes. */
	for (int64_t k = 0, n = 1; k < (int64_t)ARRAY_SIZE(steps); k++)
		if (k > 0 || i % 5 == 0)
			row_insert(STEP, "iitii", cell, n++, steps[k], (int64_t)(1000000 + random_next() % 30000000),
			           (int64_t)(100000 + random_next() % 3000000));
	trials_make(cell, host, config, throughput_of(host, i));
	row_insert(EVENT, "ii", sweep, clock_ms);
}

int main(int argc, char **argv)
{
	int64_t sweeps = 334, cells = 1000, seed = 1;
	struct store *s;
	struct err e = { 0 };

	if (argc < 2 || (argc > 2 && integer_parse(argv[2], 1, 100000, &sweeps) < 0) ||
	    (argc > 3 && integer_parse(argv[3], 1, 1000000, &cells) < 0) ||
	    (argc > 4 && integer_parse(argv[4], 0, INT64_MAX, &seed) < 0)) {
		fprintf(stderr, "usage: store_gen PATH [SWEEPS [CELLS [SEED]]]\n");
		return 2;
	}
	if (store_open(argv[1], STORE_WRITE, &s, &e) < 0) {
		err_print(stderr, "store_gen", &e);
		return 1;
	}
	store_close(s);
	random_state = (uint64_t)seed;
	if (sqlite3_open(argv[1], &db) != SQLITE_OK)
		die(argv[1]);
	sql_run("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-262144; BEGIN");
	for (int i = 0; i < N_INSERTS; i++)
		if (sqlite3_prepare_v2(db, inserts[i], -1, &statements[i], NULL) != SQLITE_OK)
			die(inserts[i]);
	base_make();
	configs_make(cells);
	for (int64_t k = 0; k < sweeps; k++) {
		int64_t plan = k % PLANS + 1, host = k / PLANS % HOSTS + 1, id;
		uint8_t uuid[16];

		uuid_next(uuid);
		id = row_insert(SWEEP, "uiiiiiiii", uuid, plan, host, cells, cells, cells * TRIALS, clock_ms, clock_ms,
		                clock_ms + cells * 60000);
		row_insert(SWEEP_WORKLOAD, "i", id);
		for (int64_t i = 0; i < cells; i++)
			cell_make(id, plan, host, cells, i);
	}
	for (int i = 0; i < N_INSERTS; i++)
		sqlite3_finalize(statements[i]);
	sql_run("COMMIT; PRAGMA journal_mode=WAL");
	sqlite3_close(db);
	return 0;
}
