/* SPDX-License-Identifier: MIT
 *
 * SQL that people write, and the views it is written for.
 */
#include "tests/unit/store_fixture.h"

#include <fcntl.h>

#include "schema/store_sql.h"

/* The first value of the first row as text. */
static const char *ask(struct fixture *f, const char *text)
{
	AUTO_SQL struct sql *q = NULL;
	struct sql_value v;
	char buf[SIZE_TEXT];

	OK(store_sql_open(f->s, text, &q, &f->e));
	if (store_sql_next(q, &f->e) <= 0)
		fail_msg("%s: %s", text, f->e.text);
	v = store_sql_value(q, 0);
	switch (v.kind) {
	case SQL_NULL:
		return "NULL";
	case SQL_INTEGER:
		return arena_printf(f->a, "%lld", (long long)v.integer);
	case SQL_REAL:
		return arena_strdup(f->a, number_format(v.real, buf));
	case SQL_TEXT:
		return arena_strdup(f->a, v.text);
	}
	return "";
}

static void refused(struct fixture *f, const char *text, const char *message)
{
	struct sql *q;

	FAILS(store_sql_open(f->s, text, &q, &f->e), ERR_USAGE, message);
}

static void values_come_in_their_own_kind(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(ask(f, "SELECT 12"), "12");
	assert_string_equal(ask(f, "SELECT 1.5"), "1.5");
	assert_string_equal(ask(f, "SELECT 'a b'"), "a b");
	assert_string_equal(ask(f, "SELECT NULL"), "NULL");
	assert_string_equal(ask(f, "SELECT x'00ff7a'"), "00ff7a");
	assert_string_equal(ask(f, "SELECT 1; -- that was all\n /* really */ ;"), "1");
}

static void faults_are_named_with_their_column(void **state)
{
	struct fixture *f = *state;

	refused(f, "SELECT sweep, colour FROM sweeps", "SQL, column 15: no such column: colour");
	refused(f, "SELECT * FROM nowhere", "SQL: no such table: nowhere");
	refused(f, "SELEC 1", "SQL, column 1: near \"SELEC\": syntax error");
	refused(f, "SELECT 1; SELECT 2", "SQL, column 10: a second statement");
	refused(f, " -- nothing", "SQL: the statement is empty");
	refused(f, "", "SQL: the statement is empty");
}

static void what_would_write_is_refused(void **state)
{
	static const char *const statements[] = {
		"DELETE FROM trial", "UPDATE sweep SET note = 'x'", "INSERT INTO host VALUES (9, zeroblob(16), 'x')", "DROP TABLE trial",
		"CREATE TEMP TABLE t (x)", "ATTACH '/tmp/iosweep-other.db' AS o", "VACUUM", "VACUUM INTO '/tmp/iosweep-other.db'",
		"PRAGMA user_version = 9", "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = 1", "BEGIN IMMEDIATE", "REINDEX",
		"SELECT load_extension('/tmp/x.so')",
	};
	struct fixture *f = *state;
	struct sql *q;

	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (store_sql_open(f->s, statements[i], &q, &f->e) == 0)
			fail_msg("accepted: %s", statements[i]);
		assert_int_equal(f->e.kind, ERR_USAGE);
	}
	assert_int_equal(access("/tmp/iosweep-other.db", F_OK), -1);
	refused(f, "DELETE FROM trial", "only statements that read are allowed here");
	assert_string_equal(ask(f, "PRAGMA user_version"), "2");
}

static void a_fault_while_running_is_the_statements(void **state)
{
	struct fixture *f = *state;
	AUTO_SQL struct sql *q = NULL;

	OK(store_sql_open(f->s, "SELECT json_extract('{', '$.a')", &q, &f->e));
	FAILS(store_sql_next(q, &f->e), ERR_USAGE, "SQL: malformed JSON");
}

static void median_leaves_nulls_out(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(ask(f, "SELECT median(column1) FROM (VALUES (9), (NULL), (1), (5))"), "5");
	assert_string_equal(ask(f, "SELECT median(column1) FROM (VALUES (1), (2))"), "1.5");
	assert_string_equal(ask(f, "SELECT median(column1) FROM (VALUES (NULL))"), "NULL");
}

static void unpack_gives_the_text_back(void **state)
{
	struct fixture *f = *state;
	struct cell c = fixture_cell(0, "xfs", "131072");
	struct capture capture = { "run", "stdout", "4194304 bytes copied\n", 21, false };
	struct trial_end t = { .state = "failed", .reason = "", .captures = &capture, .n_captures = 1 };
	enum cell_state before;
	int64_t cell, trial;

	OK(store_cell_begin(f->s, f->sweep, &c, &cell, &before, &f->e));
	OK(store_trial_begin(f->s, cell, fixture_workload(f, 0), 1, &trial, &f->e));
	OK(store_trial_end(f->s, trial, &t, &f->e));
	assert_string_equal(ask(f, "SELECT unpack(data) FROM output"), "4194304 bytes copied\n");
	assert_string_equal(ask(f, "SELECT unpack(x'1234')"), "NULL");
	assert_string_equal(ask(f, "SELECT unpack('text')"), "NULL");
}

static void the_views_show_a_sweep(void **state)
{
	struct fixture *f = *state;
	struct cell c = fixture_cell(0, "xfs", "131072");
	struct step_time step = { "mount", 500000000, "done", NULL };
	enum cell_state before;
	int64_t cell;

	OK(store_cell_begin(f->s, f->sweep, &c, &cell, &before, &f->e));
	for (int r = 1; r <= 3; r++)
		fixture_trial(f, cell, fixture_workload(f, 0), r, 100 * r);
	OK(store_cell_end(f->s, cell, CELL_OK, "", &step, 1, &f->e));
	assert_string_equal(ask(f, "SELECT plan || ' ' || host || ' ' || state || ' ' || cells_ended || ' ' || trials_ok FROM sweeps"),
	                    "demo db1 queued 1 3");
	assert_string_equal(ask(f, "SELECT settings || ' ' || state FROM cells"), "filesystem=xfs readahead=131072 ok");
	assert_string_equal(ask(f, "SELECT number FROM settings WHERE axis = 'readahead'"), "131072");
	assert_string_equal(ask(f, "SELECT workload || ' ' || metric || ' ' || value || ' ' || spread || ' ' || unit || ' ' || flags FROM results"),
	                    "dd-write throughput 200.0 1.0 B/s drift spread");
	assert_string_equal(ask(f, "SELECT count(*) || ' ' || sum(elapsed) FROM trials"), "3 6.0");
	assert_string_equal(ask(f, "SELECT sum(value) FROM measurements"), "600");
	assert_string_equal(ask(f,
	                        "SELECT group_concat(flag || ':' || metric) FROM (SELECT * FROM flags ORDER BY flag)"),
	                    "drift:throughput,spread:throughput");
	assert_string_equal(ask(f, "SELECT step || ' ' || seconds FROM steps"), "mount 0.5");
	assert_string_equal(ask(f, "SELECT text FROM events WHERE kind = 'submitted'"), "by ann");
}

static void every_column_of_every_view_is_described_here_and_in_the_manual(void **state)
{
	struct fixture *f = *state;
	AUTO_TEXT struct text manual = { 0 };
	struct view *views;
	size_t n;

	OK(file_read(AT_FDCWD, "man/iosweep-schema.7", 1 << 20, &manual, &f->e));
	OK(store_sql_views(f->s, f->a, &views, &n, &f->e));
	assert_true(n >= 10);
	for (size_t i = 0; i < n; i++) {
		const char *section = strstr(manual.s, arena_printf(f->a, "\n.Ss %s\n", views[i].name));
		const char *end;

		if (section == NULL)
			fail_msg("view %s is not in the manual", views[i].name);
		assert_string_not_equal(views[i].about, "");
		end = strstr(section, "\n.El\n");
		for (size_t k = 0; k < views[i].n_columns; k++) {
			const struct view_column *c = &views[i].columns[k];
			const char *item = strstr(section, arena_printf(f->a, "\n.It Cm %s\n%s\n", c->name, c->about));

			if (c->about[0] == '\0' || item == NULL || item > end)
				fail_msg("%s.%s is not described, or not as the manual does: '%s'", views[i].name,
				         c->name, c->about);
		}
	}
}

static void the_schema_is_printed_with_its_comments(void **state)
{
	struct fixture *f = *state;
	AUTO_TEXT struct text sql = { 0 };

	OK(store_sql_schema(f->s, "trial_flag", &sql, &f->e));
	assert_non_null(strstr(sql.s, "'cached' 'disturbed' 'suspect'"));
	text_clear(&sql);
	OK(store_sql_schema(f->s, NULL, &sql, &f->e));
	assert_non_null(strstr(sql.s, "CREATE VIEW results AS"));
	FAILS(store_sql_schema(f->s, "nowhere", &sql, &f->e), ERR_NOT_FOUND, "there is no table or view 'nowhere'");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(values_come_in_their_own_kind),
		TEST(faults_are_named_with_their_column),
		TEST(what_would_write_is_refused),
		TEST(a_fault_while_running_is_the_statements),
		TEST(median_leaves_nulls_out),
		TEST(unpack_gives_the_text_back),
		TEST(the_views_show_a_sweep),
		TEST(every_column_of_every_view_is_described_here_and_in_the_manual),
		TEST(the_schema_is_printed_with_its_comments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
