/* SPDX-License-Identifier: MIT
 *
 * For test_store*.c: a real store in a directory of its own, with one host, a plan of two workloads, and cells of
 * two axes.
 */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "schema/store.h"

#define OK(x) \
	do { \
		if ((x) < 0) \
			fail_msg("%s: %s", #x, f->e.text); \
	} while (0)
#define FAILS(x, kind_, text_) \
	do { \
		assert_int_equal((x), -1); \
		assert_string_equal(f->e.text, (text_)); \
		assert_int_equal(f->e.kind, (kind_)); \
	} while (0)

struct fixture {
	char dir[64], path[96];
	struct store *s;
	struct arena *a;
	struct err e;
	int64_t host, sweep;
	struct workload *workloads[2];
	struct plan_workload plan_workloads[2];
	struct plan plan;
};

static const char definition_write[] =
	"workload: dd-write\n"
	"about: writes\n"
	"run: [dd, if=/dev/zero, \"of=${dir}/file\"]\n"
	"metrics:\n"
	"  throughput: {match: '(?<bytes>\\d+) bytes', value: \":bytes / :elapsed\", unit: B/s, better: higher}\n";
static const char definition_read[] =
	"workload: dd-read\n"
	"about: reads\n"
	"run: [dd, \"if=${dir}/file\", of=/dev/null]\n"
	"metrics:\n"
	"  throughput: {match: '(?<bytes>\\d+) bytes', value: \":bytes / :elapsed\", unit: B/s, better: higher}\n";

static inline void fixture_plan(struct fixture *f)
{
	static const char *const definitions[] = { definition_write, definition_read };

	for (int i = 0; i < 2; i++) {
		struct diags d;

		diags_init(&d, "fixture");
		if (workload_read(definitions[i], strlen(definitions[i]), &d, &f->workloads[i]) < 0)
			fail_msg("%s", d.at[0].message);
		diags_done(&d);
		f->plan_workloads[i] = (struct plan_workload){ .name = f->workloads[i]->name, .definition = f->workloads[i] };
	}
	f->plan = (struct plan){
		.name = "demo",
		.about = "what the fixture submits",
		.target = { .kind = TARGET_IMAGE },
		.workloads = f->plan_workloads,
		.n_workloads = 2,
		.trials = 3,
	};
}

static inline int64_t fixture_submit(struct fixture *f, int priority)
{
	struct sweep_new n = {
		.plan_source = "plan: demo\n", .plan = &f->plan, .host_id = f->host, .target = "4GiB", .cells = 6, .uid = 1000,
		.gid = 1001, .submitter = "ann", .priority = priority,
	};
	int64_t id = 0;

	OK(store_sweep_submit(f->s, &n, &id, &f->e));
	return id;
}

/* A cell of two axes; readahead in bytes. */
static inline struct cell fixture_cell(uint64_t position, const char *filesystem, const char *readahead)
{
	return (struct cell){
		.position = position,
		.n = 3,
		.at = {
			{ .axis = "filesystem", .requested = filesystem, .value = filesystem },
			{ .axis = "readahead", .requested = readahead, .value = readahead },
			{ .axis = "scheduler", .requested = KERNEL_DEFAULT, .value = KERNEL_DEFAULT },
		},
	};
}

static inline int64_t fixture_workload(struct fixture *f, int which)
{
	struct sweep_workload *w = NULL;
	size_t n = 0;
	int64_t id;

	OK(store_sweep_workloads(f->s, f->sweep, f->a, &w, &n, &f->e));
	assert_int_equal(n, 2);
	id = w[which].workload_id;
	store_sweep_workloads_done(w, n);
	return id;
}

static inline int64_t fixture_trial(struct fixture *f, int64_t cell, int64_t workload, int repetition,
                                    double throughput)
{
	struct measured m = { .name = "throughput", .label = "", .unit = "B/s", .better = BETTER_HIGHER, .value = throughput };
	struct trial_end t = {
		.state = "ok", .reason = "", .elapsed_ns = 2000000000, .user_ns = 1, .system_ns = 2, .measured = &m, .n_measured = 1,
	};
	int64_t id = 0;

	OK(store_trial_begin(f->s, cell, workload, repetition, &id, &f->e));
	OK(store_trial_end(f->s, id, &t, &f->e));
	return id;
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	const uint8_t uuid[16] = { 1, 2, 3 };

	snprintf(f->dir, sizeof(f->dir), "/tmp/iosweep-store.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/iosweep.db", f->dir);
	f->a = arena_new();
	fixture_plan(f);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	OK(store_host(f->s, uuid, "db1", &f->host, &f->e));
	f->sweep = fixture_submit(f, 0);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	DIR *dir = opendir(f->dir);
	struct dirent *d;

	store_close(f->s);
	while (dir != NULL && (d = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), d->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	rmdir(f->dir);
	for (int i = 0; i < 2; i++)
		workload_free(f->workloads[i]);
	arena_free(f->a);
	free(f);
	return 0;
}

/* Looks at the file behind the store's back: the first column of the first row as text. */
static inline const char *fixture_sql(struct fixture *f, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	const char *ret;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	ret = sqlite3_step(st) == SQLITE_ROW ? arena_strdup(f->a, sqlite3_column_type(st, 0) == SQLITE_NULL ?
	                                                                  "NULL" :
	                                                                  (const char *)sqlite3_column_text(st, 0)) :
	                                       "(no row)";
	sqlite3_finalize(st);
	sqlite3_close(db);
	return ret;
}

#endif
