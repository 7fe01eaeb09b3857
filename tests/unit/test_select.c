/* SPDX-License-Identifier: MIT
 *
 * Filters against a real store, and what they select as dataset and as query.
 */
#include "store_fixture.h"

#include "schema/store_select.h"

/* One more sweep on a host of its own: a cell whose readahead was left at the default, found to be `effective`. */
static void default_sweep(struct fixture *f, uint8_t seed, const char *host, const char *effective, double throughput)
{
	const uint8_t uuid[16] = { seed };
	struct cell c = fixture_cell(0, "xfs", KERNEL_DEFAULT);
	enum cell_state before;
	int64_t cell;

	OK(store_host(f->s, uuid, host, &f->host, &f->e));
	f->sweep = fixture_submit(f, 0);
	OK(store_cell_begin(f->s, f->sweep, &c, &cell, &before, &f->e));
	OK(store_cell_effective(f->s, cell, "readahead", effective, "confirmed", &f->e));
	for (int r = 1; r <= 3; r++)
		fixture_trial(f, cell, fixture_workload(f, 0), r, throughput + r);
	OK(store_cell_end(f->s, cell, CELL_OK, "", NULL, 0, &f->e));
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_DONE, "", &f->e));
}

static size_t count(struct fixture *f, const char *words)
{
	const char *list[] = { words };
	const struct dataset_options o = { .all = true };
	struct dataset *d;
	struct filter filter;
	size_t n;

	OK(filter_parse(list, 1, f->a, &filter, &f->e));
	OK(store_dataset(f->s, &filter, &o, &d, &f->e));
	n = d->n_results;
	dataset_free(d);
	return n;
}

static void a_rehearsal_is_left_out_unless_the_sweep_is_named(void **state)
{
	struct fixture *f = *state;

	default_sweep(f, 1, "db1", "131072", 1e8);
	default_sweep(f, 2, "db2", "131072", 2e8);
	fixture_sql(f, "UPDATE sweep SET options = '{\"rehearse\":true}' WHERE id = (SELECT max(id) FROM sweep)");
	assert_int_equal(count(f, "filesystem=xfs"), 1);
	assert_int_equal(count(f, "host=db2"), 0);
	assert_int_equal(count(f, "sweep=last"), 1);
}

static void a_cell_of_two_environments_differs_by_both(void **state)
{
	struct fixture *f = *state;
	const struct environment_fact old[] = { { "kernel.release", "6.12", FACT_IDENTITY } }, new[] = { { "kernel.release", "6.18", FACT_IDENTITY } };
	const struct dataset_options o = { 0 };
	struct filter all = { 0 };
	struct difference *differences;
	struct side_cell a, b;
	struct dataset *d;
	int64_t id;
	size_t n;

	default_sweep(f, 1, "db1", "131072", 1e8);
	default_sweep(f, 2, "db2", "131072", 2e8);
	OK(store_environment(f->s, old, 1, &id, &f->e));
	OK(store_environment(f->s, new, 1, &id, &f->e));
	fixture_sql(f, "UPDATE trial SET environment_id = 1 + (cell_id = 2 AND repetition = 3)");
	OK(store_dataset(f->s, &all, &o, &d, &f->e));
	assert_int_equal(d->n_cells, 2);
	assert_int_equal(d->cells[0].environment_id, 1);
	assert_int_equal(d->cells[1].environment_id, 0);
	a = (struct side_cell){ d->cells[0].id, d->cells[0].environment_id };
	b = (struct side_cell){ d->cells[1].id, d->cells[1].environment_id };
	OK(store_differences(f->s, &a, 1, &b, 1, f->a, &differences, &n, &f->e));
	assert_int_equal(n, 1);
	assert_string_equal(differences[0].a, "6.12");
	assert_string_equal(differences[0].b, "6.12 | 6.18");
	dataset_free(d);
}

static void an_axis_of_one_cell_among_thousands_has_its_column(void **state)
{
	struct fixture *f = *state;
	const struct query_options o = { 0 };
	struct filter all = { 0 };
	struct query *q;
	const char *mixed, *const *axes;
	bool found = false;
	size_t n;

	default_sweep(f, 1, "db1", "131072", 1e8);
	fixture_sql(f, "INSERT INTO config (id, digest) WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5100) "
	               "SELECT i, CAST(printf('%032d', i) AS BLOB) FROM n");
	fixture_sql(f, "INSERT INTO cell (sweep_id, config_id, position, state, started_ms) SELECT 1, id, id, 'failed', 1 FROM config WHERE id >= 100");
	fixture_sql(f, "UPDATE sweep SET cells = 5001 WHERE id = 1");
	default_sweep(f, 2, "db2", "131072", 1e8);
	fixture_sql(f, "INSERT INTO axis (name) VALUES ('label.rare')");
	fixture_sql(f, "INSERT INTO cell_setting (cell_id, axis_id, requested, value) SELECT (SELECT max(id) FROM cell), (SELECT max(id) FROM axis), "
	               "1, 1");
	OK(store_query_open(f->s, &all, &o, f->a, &q, &mixed, &f->e));
	axes = store_query_axes(q, &n);
	for (size_t i = 0; i < n; i++)
		found = found || strcmp(axes[i], "label.rare") == 0;
	assert_true(found);
	assert_true(store_query_cells(q) > 5000 && (store_query_cells(q) - 1) % 64 != 0); /* it is not one of those asked anyway */
	store_query_close(q);
}

static void a_default_is_found_by_what_it_was(void **state)
{
	struct fixture *f = *state;
	const struct query_options o = { 0 };
	struct filter all = { 0 };
	struct query *q;
	struct query_row row;
	const char *mixed, *const *axes;
	size_t n, readahead = 0, seen = 0;

	default_sweep(f, 1, "db1", "131072", 1e8);
	default_sweep(f, 2, "db2", "2621440", 2e8);
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM config"), "1"); /* equal settings, one config */
	assert_int_equal(count(f, "readahead=kernel-default"), 2);
	assert_int_equal(count(f, "readahead=128KiB"), 1);
	assert_int_equal(count(f, "readahead>1MiB"), 1);
	assert_int_equal(count(f, "readahead!=128KiB"), 1);
	assert_int_equal(count(f, "readahead!=kernel-default"), 0);
	assert_int_equal(count(f, "readahead=128KiB host=db2"), 0);
	OK(store_query_open(f->s, &all, &o, f->a, &q, &mixed, &f->e));
	axes = store_query_axes(q, &n);
	while (readahead < n && strcmp(axes[readahead], "readahead") != 0)
		readahead++;
	while (store_query_next(q, &row, &f->e) > 0) {
		assert_string_equal(row.axes[readahead], KERNEL_DEFAULT);
		assert_string_equal(row.effective[readahead], strcmp(row.host, "db2") != 0 ? "131072" : "2621440");
		seen++;
	}
	assert_int_equal(seen, 2);
	store_query_close(q);
}

/* Not a row of empty words. */
static void a_cell_without_its_config_is_damage(void **state)
{
	struct fixture *f = *state;
	const struct query_options o = { 0 };
	struct filter all = { 0 };
	struct query *q;
	struct query_row row;
	const char *mixed;

	default_sweep(f, 1, "db1", "131072", 1e8);
	fixture_sql(f, "DELETE FROM config");
	OK(store_query_open(f->s, &all, &o, f->a, &q, &mixed, &f->e));
	FAILS(store_query_next(q, &row, &f->e), ERR_STORE,
	      arena_printf(f->a, "store '%s': damaged: the config of cell 1 is missing", f->path));
	store_query_close(q);
}

static void two_hosts_with_different_defaults_are_two_levels(void **state)
{
	struct fixture *f = *state;
	const struct dataset_options o = { 0 };
	struct filter all = { 0 };
	struct dataset *d;
	int axis;

	default_sweep(f, 1, "db1", "131072", 1e8);
	default_sweep(f, 2, "db2", "2621440", 2e8);
	OK(store_dataset(f->s, &all, &o, &d, &f->e));
	axis = dataset_axis(d, "readahead");
	assert_true(axis >= 0);
	assert_int_equal(d->axes[axis].n_values, 2);
	assert_string_equal(d->axes[axis].shown[0], "kernel-default (128KiB)");
	assert_string_equal(d->axes[axis].shown[1], "kernel-default (2560KiB)");
	dataset_free(d);
}

static void the_newest_visit_of_a_config_counts(void **state)
{
	struct fixture *f = *state;
	const struct dataset_options newest = { 0 }, every = { .all = true };
	struct filter all = { 0 };
	struct dataset *d;

	default_sweep(f, 1, "db1", "131072", 1e8);
	default_sweep(f, 1, "db1", "131072", 3e8);
	fixture_sql(f, "UPDATE cell SET started_ms = started_ms + 1000 * id");
	OK(store_dataset(f->s, &all, &newest, &d, &f->e));
	assert_int_equal(d->n_results, 1);
	assert_int_equal(d->n_superseded, 1);
	assert_true(d->results[0].value > 2e8);
	dataset_free(d);
	OK(store_dataset(f->s, &all, &every, &d, &f->e));
	assert_int_equal(d->n_results, 2);
	dataset_free(d);
}

static void filters_select_by_state_metric_value_label_and_time(void **state)
{
	struct fixture *f = *state;

	default_sweep(f, 1, "db1", "131072", 1e8);
	assert_int_equal(count(f, "state=ok metric=dd-write.throughput"), 1);
	assert_int_equal(count(f, "metric=throughput workload=dd-*"), 1);
	assert_int_equal(count(f, "dd-write.throughput>=90MB/s"), 1);
	assert_int_equal(count(f, "dd-write.throughput>90MiB/s"), 1);
	assert_int_equal(count(f, "dd-write.throughput>1GB/s"), 0);
	assert_int_equal(count(f, "plan=demo host=db*"), 1);
	assert_int_equal(count(f, "since=2000-01 until=2001"), 0);
	assert_int_equal(count(f, "since=1h"), 1);
	assert_int_equal(count(f, "filesystem=xfs sweep=last"), 1);
	assert_int_equal(count(f, "filesystem!=xfs"), 0);
	fixture_sql(f, "INSERT INTO sweep_label SELECT max(id), 'team', 'db', 1 FROM sweep");
	assert_int_equal(count(f, "label.team=db"), 1);
	assert_int_equal(count(f, "label.team!=db"), 0);
}

static void select_fails(struct fixture *f, const char *word, const char *text, const char *hint)
{
	const char *list[] = { word };
	const struct dataset_options o = { 0 };
	struct filter filter;
	struct dataset *d;

	OK(filter_parse(list, 1, f->a, &filter, &f->e));
	FAILS(store_dataset(f->s, &filter, &o, &d, &f->e), ERR_USAGE, text);
	assert_string_equal(f->e.hint, hint);
}

/* 6,000 configs that four sweeps visited, not all by each, and not in the order of their ids; some visits have no
 * result. */
static void large_store(struct fixture *f)
{
	static const char *const rows[] = {
		"CREATE TEMP VIEW n AS WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 6999) SELECT i FROM n;"
		"CREATE TEMP TABLE visit(k INTEGER PRIMARY KEY, started_ms); INSERT INTO visit VALUES (101, 30), (102, 10), (103, 40), (104, 20);"
		"INSERT INTO config SELECT i, cast(printf('%032d', i) AS BLOB) FROM n;"
		"INSERT INTO sweep (id, uuid, plan_id, host_id, state, target_kind, target, submitter_uid, submitter_gid, submitter, cells, "
		"trials_per_cell, keep, submitted_ms, started_ms) SELECT k, cast(printf('%016d', k) AS BLOB), plan_id, host_id, 'done', 'image', 'x', 0, 0, "
		"'x', 6000, 3, 'median', v.started_ms, v.started_ms FROM visit v, (SELECT * FROM sweep WHERE id = (SELECT max(id) FROM sweep));"
		"INSERT INTO sweep_workload SELECT k, x.workload_id, 0, x.name FROM visit, (SELECT * FROM sweep_workload LIMIT 1) x;"
		"INSERT INTO cell (sweep_id, config_id, position, state, started_ms) SELECT k, i, i, 'ok', v.started_ms FROM visit v, n WHERE (i * 7 + k) % 10;"
		"INSERT INTO result (cell_id, metric_id, host_id, config_id, value, min, max, n) SELECT c.id, 1, w.host_id, c.config_id, value, "
		"0.99 * value, 1.01 * value, 3 FROM (SELECT *, 1e6 + (config_id * 7919 + sweep_id * 104729) % 1000003 AS value FROM cell) c "
		"JOIN sweep w ON w.id = c.sweep_id WHERE c.sweep_id > 100 AND (c.config_id + c.sweep_id) % 17",
	};
	sqlite3 *db;
	char *message = NULL;

	default_sweep(f, 1, "db1", "131072", 1e6);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (sqlite3_exec(db, rows[i], NULL, NULL, &message) != SQLITE_OK)
			fail_msg("%s", message);
	sqlite3_close(db);
}

/* The newest visit that has a result, of each config; the best of them. */
#define BEST_SQL "SELECT coalesce(group_concat(id), '') FROM (SELECT id FROM (SELECT c.id, r.value, max(w.started_ms) FROM result r JOIN cell c ON " \
	"c.id = r.cell_id JOIN sweep w ON w.id = c.sweep_id WHERE r.metric_id = 1%s GROUP BY c.config_id ORDER BY r.value DESC LIMIT %zu) ORDER BY id)"

/* In a large store `best` walks the index instead of reading it all: what it finds is what all of it would give. */
static void the_walk_finds_the_best_of_the_newest_visits(void **state)
{
	static const char *const filters[][2] = { { "metric=throughput", "" }, { "host=db1", "" }, { "since=1970-01-01", "" }, { "host!=db1", " AND 0" } };
	struct fixture *f = *state;

	large_store(f);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		struct dataset_options o = { .all = true, .no_environments = true };
		AUTO_TEXT struct text found = { 0 };
		struct filter filter;
		struct best_walk w;
		struct dataset *d;

		OK(filter_parse(filters[i], 1, f->a, &filter, &f->e));
		OK(store_best_walk(f->s, &filter, &w, &f->e));
		assert_true(w.is_done);
		assert_true(filters[i][1][0] != '\0' ? w.n == 0 : w.n >= 100 && w.n_old > 0);
		for (size_t k = 0; k < w.n; k++)
			text_printf(&found, "%s%lld", k > 0 ? "," : "", (long long)w.at[k].cell_id);
		assert_string_equal(text_str(&found), fixture_sql(f, arena_printf(f->a, BEST_SQL, filters[i][1], w.n)));
		o.only = w.at != NULL ? w.at : &(struct cell_metric){ 0 };
		o.n_only = w.n;
		OK(store_dataset(f->s, &filter, &o, &d, &f->e));
		assert_int_equal(d->n_results, w.n);
		for (size_t k = 0; k < d->n_results; k++) /* by sweep, as the cells are */
			assert_true(d->results[k].value > 1e6 && d->results[k].n == 3);
		dataset_free(d);
		free(w.at);
	}
}

static void unknown_names_are_refused_with_the_nearest(void **state)
{
	struct fixture *f = *state;

	default_sweep(f, 1, "db1", "131072", 1e8);
	select_fails(f, "plan=demo readahed>1MiB",
	             "filter, column 11: no axis, metric or fact 'readahed' in this store\n    plan=demo readahed>1MiB\n              ^",
	             "did you mean 'readahead'?");
	select_fails(f, "host=db11", "filter, column 1: no host 'db11' in this store\n    host=db11\n    ^",
	             "did you mean 'db1'?");
	select_fails(f, "metric=dd-write.thruput",
	             "filter, column 1: no metric 'dd-write.thruput' in this store\n    metric=dd-write.thruput\n    ^",
	             "did you mean 'dd-write.throughput'?");
	select_fails(f, "dd-write.throughput>5s",
	             "filter, column 1: '5s' has the unit 's', which is not one of 'B/s'\n    dd-write.throughput>5s\n    ^",
	             "write a number alone, or with a unit such as MB/s or MiB/s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_rehearsal_is_left_out_unless_the_sweep_is_named, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_cell_of_two_environments_differs_by_both, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_axis_of_one_cell_among_thousands_has_its_column, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_default_is_found_by_what_it_was, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_cell_without_its_config_is_damage, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(two_hosts_with_different_defaults_are_two_levels, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_newest_visit_of_a_config_counts, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(filters_select_by_state_metric_value_label_and_time, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_walk_finds_the_best_of_the_newest_visits, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(unknown_names_are_refused_with_the_nearest, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
