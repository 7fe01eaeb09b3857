/* SPDX-License-Identifier: MIT
 *
 * Stores of several hosts into one: in any order, any number of times, and nothing from a file that is not whole.
 */
#include "store_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "schema/store_merge.h"

/* A host's store with a sweep of `cells` cells and three trials each; its numbers depend on seed. */
static void host_store(struct fixture *f, const char *path, uint8_t seed, int cells)
{
	const uint8_t uuid[16] = { seed, 9, 9 };
	char name[8];
	struct store *s;

	snprintf(name, sizeof(name), "db%d", seed);
	store_close(TAKE(f->s));
	OK(store_open(path, STORE_WRITE, &s, &f->e));
	f->s = s;
	OK(store_host(s, uuid, name, &f->host, &f->e));
	f->sweep = fixture_submit(f, 0);
	for (int i = 0; i < cells; i++) {
		char readahead[SIZE_TEXT];
		enum cell_state before;
		struct cell c;
		int64_t id;

		snprintf(readahead, sizeof(readahead), "%d", 4096 << i);
		c = fixture_cell((uint64_t)i, i % 2 ? "xfs" : "ext4", readahead);
		OK(store_cell_begin(s, f->sweep, &c, &id, &before, &f->e));
		for (int w = 0; w < 2; w++)
			for (int r = 1; r <= 3; r++)
				fixture_trial(f, id, fixture_workload(f, w), r, 1e6 * (seed * 100 + i * 10 + r));
		OK(store_cell_end(s, id, CELL_OK, "", NULL, 0, &f->e));
	}
	OK(store_sweep_set_state(s, f->sweep, SWEEP_DONE, "", &f->e));
	store_close(s);
	f->s = NULL;
}

static char *file_of(struct fixture *f, const char *name)
{
	return arena_printf(f->a, "%s/%s", f->dir, name);
}

/* Exports all of a store. */
static void export_all(struct fixture *f, const char *db, const char *to)
{
	const struct merge_options o = { .with_outputs = true };
	struct merge_report r;
	struct store *s;

	OK(store_open(db, STORE_READ, &s, &f->e));
	OK(store_export(s, &o, to, -1, &r, &f->e));
	assert_int_equal(r.sweeps_new, 1);
	store_close(s);
}

static struct merge_report import_one(struct fixture *f, const char *db, const char *file)
{
	struct merge_report r = { 0 };
	struct store *s;

	OK(store_open(db, STORE_WRITE, &s, &f->e));
	OK(store_import_file(s, file, &r, &f->e));
	store_close(s);
	return r;
}

/* Everything a store says, without its own numbers: ids differ with the order of imports, the content must not. */
static const char *content(struct fixture *f, const char *db)
{
	static const char sql[] =
		"SELECT group_concat(line, char(10)) FROM (SELECT hex(w.uuid) || h.name || w.state || w.trials_ok || '/' || w.cells_ended || "
		"' ' || hex(k.digest) || c.state || ' ' || hex(o.digest) || m.name || r.value || ',' || r.min || ',' || r.max || ',' || r.n || "
		"',' || r.flags || ' ' || (SELECT group_concat(v) FROM (SELECT x.value || ':' || t.repetition || ':' || t.started_ms AS v "
		"FROM measurement x JOIN trial t ON t.id = x.trial_id WHERE x.cell_id = c.id AND x.metric_id = m.id ORDER BY t.repetition)) || "
		"(SELECT group_concat(v) FROM (SELECT a.name || '=' || s.value AS v FROM cell_value s JOIN axis a ON a.id = s.axis_id WHERE "
		"s.cell_id = c.id ORDER BY 1)) AS line FROM sweep w JOIN host h ON h.id = w.host_id JOIN cell c ON c.sweep_id = w.id "
		"JOIN config k ON k.id = c.config_id JOIN result r ON r.cell_id = c.id JOIN metric m ON m.id = r.metric_id "
		"JOIN workload o ON o.id = m.workload_id AND r.host_id = h.id AND r.config_id = k.id ORDER BY 1)";
	char old[sizeof(f->path)];
	const char *text;

	memcpy(old, f->path, sizeof(old));
	snprintf(f->path, sizeof(f->path), "%s", db);
	text = fixture_sql(f, sql);
	memcpy(f->path, old, sizeof(old));
	return text;
}

static void import_in_any_order_and_repetition_gives_the_same_store(void **state)
{
	struct fixture *f = *state;
	char *files[3], *first = file_of(f, "first.db"), *second = file_of(f, "second.db");
	static const int orders[][5] = { { 0, 1, 2, 0, 1 }, { 2, 2, 1, 0, 1 } };

	store_close(TAKE(f->s));
	for (int i = 0; i < 3; i++) {
		char *db = file_of(f, (const char *[]){ "a.db", "b.db", "c.db" }[i]);

		host_store(f, db, (uint8_t)(i + 1), 3 + i);
		files[i] = file_of(f, (const char *[]){ "a.iosweep", "b.iosweep", "c.iosweep" }[i]);
		export_all(f, db, files[i]);
	}
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 5; i++)
			import_one(f, k == 0 ? first : second, files[orders[k][i]]);
	assert_string_equal(content(f, first), content(f, second));
	assert_int_equal(import_one(f, first, files[1]).trials, 0);
	assert_string_equal(content(f, first), content(f, second));
}

static void what_is_exported_and_imported_is_what_was_there(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *file = file_of(f, "a.iosweep"), *to = file_of(f, "to.db");
	struct merge_report r;

	store_close(TAKE(f->s));
	host_store(f, db, 7, 4);
	export_all(f, db, file);
	r = import_one(f, to, file);
	assert_int_equal(r.sweeps_new, 1);
	assert_int_equal(r.cells, 4);
	assert_int_equal(r.trials, 24);
	assert_string_equal(content(f, db), content(f, to));
	r = import_one(f, to, file);
	assert_int_equal(r.sweeps_known, 1);
	assert_int_equal(r.sweeps_new + r.sweeps_updated + r.trials + r.cells, 0);
}

static void a_sweep_that_went_on_brings_what_is_new(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *early = file_of(f, "early.iosweep"), *late = file_of(f, "late.iosweep");
	char *one = file_of(f, "one.db"), *other = file_of(f, "other.db");
	struct cell c = fixture_cell(9, "btrfs", "1048576");
	enum cell_state before;
	int64_t id;

	store_close(TAKE(f->s));
	host_store(f, db, 1, 2);
	export_all(f, db, early);
	OK(store_open(db, STORE_WRITE, &f->s, &f->e));
	OK(store_cell_begin(f->s, f->sweep, &c, &id, &before, &f->e));
	fixture_trial(f, id, fixture_workload(f, 0), 1, 5e8);
	OK(store_cell_end(f->s, id, CELL_OK, "", NULL, 0, &f->e));
	store_close(TAKE(f->s));
	export_all(f, db, late);
	import_one(f, one, early);
	assert_int_equal(import_one(f, one, late).sweeps_updated, 1);
	import_one(f, other, late);
	assert_int_equal(import_one(f, other, early).sweeps_updated, 0);
	assert_string_equal(content(f, one), content(f, other));
	assert_string_equal(content(f, one), content(f, db));
}

/* Copies n bytes of a file; flip >= 0: with that byte changed. */
static void file_copy(const char *from, const char *to, size_t n, ssize_t flip)
{
	AUTO_TEXT struct text t = { 0 };
	AUTO_CLOSE int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(file_read(AT_FDCWD, from, 1 << 24, &t, NULL), 0);
	if (n > t.n)
		n = t.n;
	if (flip >= 0)
		t.s[flip] ^= 0x55;
	assert_int_equal(write(fd, t.s, n), (ssize_t)n);
}

static void a_file_that_is_not_whole_changes_nothing(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *file = file_of(f, "a.iosweep"), *bad = file_of(f, "bad"), *to = file_of(f, "to.db");
	const char *before;
	struct merge_report r;
	struct stat st;
	struct store *s;

	store_close(TAKE(f->s));
	host_store(f, db, 1, 2);
	export_all(f, db, file);
	import_one(f, to, file);
	before = content(f, to);
	assert_int_equal(stat(file, &st), 0);
	OK(store_open(to, STORE_WRITE, &s, &f->e));
	for (off_t n = 0; n < st.st_size; n += st.st_size / 40 + 1) {
		file_copy(file, bad, (size_t)n, -1);
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_int_equal(f->e.kind, ERR_USAGE);
		file_copy(file, bad, (size_t)st.st_size, n > 9 ? n : 10);
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
	}
	file_copy(file, bad, 0, -1);
	assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
	assert_string_equal(f->e.text, arena_printf(f->a, "'%s' is empty", bad));
	file_copy("Makefile", bad, 5000, -1);
	assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
	assert_string_equal(f->e.text, arena_printf(f->a, "'%s' cannot be imported: not an SQLite file", bad));
	store_close(s);
	assert_string_equal(content(f, to), before);
}

static void a_newer_store_is_refused(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *to = file_of(f, "to.db");
	struct merge_report r;
	struct store *s;

	store_close(TAKE(f->s));
	host_store(f, db, 1, 1);
	snprintf(f->path, sizeof(f->path), "%s", db);
	fixture_sql(f, "PRAGMA journal_mode=DELETE");
	fixture_sql(f, "PRAGMA user_version=99");
	OK(store_open(to, STORE_WRITE, &s, &f->e));
	assert_int_equal(store_import_file(s, db, &r, &f->e), -1);
	assert_non_null(strstr(f->e.text, "has version 99, this iosweep knows versions up to"));
	store_close(s);
}

static void what_has_not_ended_is_not_exported(void **state)
{
	struct fixture *f = *state;
	const struct merge_options o = { .sweep_ids = &f->sweep, .n_sweep_ids = 1 };
	struct merge_report r;

	FAILS(store_export(f->s, &o, file_of(f, "x"), -1, &r, &f->e), ERR_USAGE, "sweep 1 is queued: only what has ended can be exported");
	assert_int_equal(access(file_of(f, "x"), F_OK), -1);
}

static void a_list_tells_what_another_store_lacks(void **state)
{
	struct fixture *f = *state;
	char uuid[37], *db = file_of(f, "a.db"), line[256];
	bool lacks;
	FILE *list = tmpfile();
	struct store *s;

	host_store(f, db, 1, 1);
	OK(store_open(db, STORE_READ, &s, &f->e));
	OK(store_export_list(s, list, &f->e));
	rewind(list);
	assert_non_null(fgets(line, sizeof(line), list));
	OK(store_lacks(s, line, &lacks, uuid, &f->e));
	assert_false(lacks);
	store_close(s);
	OK(store_open(f->path, STORE_WRITE, &f->s, &f->e));
	OK(store_lacks(f->s, line, &lacks, uuid, &f->e));
	assert_true(lacks);
	assert_int_equal(store_lacks(f->s, "Welcome to db1!", &lacks, uuid, &f->e), -1);
	assert_int_equal(f->e.kind, ERR_PROTOCOL);
	fclose(list);
}

static void a_backup_is_consistent_while_the_store_is_written(void **state)
{
	struct fixture *f = *state;
	char *copy = file_of(f, "copy.db");
	struct cell c = fixture_cell(0, "xfs", "4096");
	enum cell_state before;
	struct store *reader;
	int64_t id, trial;

	OK(store_cell_begin(f->s, f->sweep, &c, &id, &before, &f->e));
	fixture_trial(f, id, fixture_workload(f, 0), 1, 1e8);
	OK(store_begin(f->s, &f->e)); /* a writer in the middle of a transaction */
	OK(store_trial_begin(f->s, id, fixture_workload(f, 0), 2, &trial, &f->e));
	OK(store_open(f->path, STORE_READ, &reader, &f->e));
	OK(store_backup(reader, copy, &f->e));
	store_close(reader);
	OK(store_commit(f->s, &f->e));
	snprintf(f->path, sizeof(f->path), "%s", copy);
	assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM trial"), "1");
	FAILS(store_backup(f->s, copy, &f->e), ERR_USAGE, arena_printf(f->a, "'%s' exists", copy));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(import_in_any_order_and_repetition_gives_the_same_store, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_exported_and_imported_is_what_was_there, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_sweep_that_went_on_brings_what_is_new, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_not_whole_changes_nothing, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_newer_store_is_refused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_has_not_ended_is_not_exported, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_list_tells_what_another_store_lacks, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_backup_is_consistent_while_the_store_is_written, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
