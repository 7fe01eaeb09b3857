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

/* Exports all of a store, which has n sweeps. */
static void export_sweeps(struct fixture *f, const char *db, const char *to, int n)
{
	const struct merge_options o = { .with_outputs = true };
	struct merge_report r;
	struct store *s;

	OK(store_open(db, STORE_READ, &s, &f->e));
	OK(store_export(s, &o, to, -1, &r, &f->e));
	assert_int_equal(r.sweeps_new, n);
	store_close(s);
}

static void export_all(struct fixture *f, const char *db, const char *to)
{
	export_sweeps(f, db, to, 1);
}

static void export_lines(struct fixture *f, const char *db, const char *to)
{
	const struct merge_options o = { 0 };
	FILE *out = fopen(to, "we");
	struct store *s;

	assert_non_null(out);
	OK(store_open(db, STORE_READ, &s, &f->e));
	OK(store_export_lines(s, &o, out, &f->e));
	store_close(s);
	assert_int_equal(fclose(out), 0);
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
	/* the connection checks references again afterwards */
	OK(store_open(to, STORE_WRITE, &f->s, &f->e));
	OK(store_import_file(f->s, file, &r, &f->e));
	assert_int_equal(store_event(f->s, 4711, "note", &f->e, "of no sweep"), -1);
	assert_non_null(strstr(f->e.text, "FOREIGN KEY constraint failed"));
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
/* Cells `from` to `to` of a sweep, whose three trials rise by 4 % each, or fall; the sweep ends anew. */
static void moving_cells_record(struct fixture *f, const char *db, int from, int to, bool rise)
{
	OK(store_open(db, STORE_WRITE, &f->s, &f->e));
	for (int i = from; i < to; i++) {
		AUTO_FREE char *readahead = xasprintf("%d", 4096 << i);
		struct cell c = fixture_cell((uint64_t)i, "xfs", readahead);
		enum cell_state before;
		int64_t id;

		OK(store_cell_begin(f->s, f->sweep, &c, &id, &before, &f->e));
		for (int r = 1; r <= 3; r++)
			fixture_trial(f, id, fixture_workload(f, 0), r, 1e8 * (1 + 0.04 * (rise ? r : -r)));
		OK(store_cell_end(f->s, id, CELL_OK, "", NULL, 0, &f->e));
	}
	OK(store_sweep_drift(f->s, f->sweep, &f->e));
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_DONE, "", &f->e));
	store_close(TAKE(f->s));
}

/* Which cells carry a drift of the sweep as a whole, with its reason, and what their results say of it. */
static const char *sweep_drift(struct fixture *f, const char *db)
{
	snprintf(f->path, sizeof(f->path), "%s", db);
	return fixture_sql(f, "SELECT coalesce(group_concat(line, char(10)), '') FROM (SELECT c.position || ':' || coalesce(f.reason, '') || ':' || r.flags "
	                      "AS line FROM result r JOIN cell c ON c.id = r.cell_id LEFT JOIN result_flag f ON f.cell_id = r.cell_id AND "
	                      "f.metric_id = r.metric_id AND f.origin = 'sweep' ORDER BY c.position)");
}

/* Drift is what a sweep's cells show together: more cells may show it, or show that there was none. */
static void drift_is_judged_anew_when_a_sweep_s_cells_come_together(void **state)
{
	static const struct {
		int n;
		bool rise;
	} later[] = { { 3, true }, { 6, false } };
	struct fixture *f = *state;

	store_close(TAKE(f->s));
	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		int first = i == 0 ? 4 : SWEEP_DRIFT_CELLS; /* four cells show nothing yet */
		char *db = file_of(f, arena_printf(f->a, "%zu.db", i)),
		     *early = file_of(f, arena_printf(f->a, "%zu.early", i));
		char *late = file_of(f, arena_printf(f->a, "%zu.late", i)),
		     *lines = file_of(f, arena_printf(f->a, "%zu.lines", i));
		char *to[3];

		host_store(f, db, (uint8_t)(i + 1), 0);
		moving_cells_record(f, db, 0, first, true);
		assert_int_equal(strstr(sweep_drift(f, db), "rises") != NULL, i == 1);
		export_all(f, db, early);
		moving_cells_record(f, db, first, first + later[i].n, later[i].rise);
		assert_int_equal(strstr(sweep_drift(f, db), "rises") != NULL, i == 0);
		assert_int_equal(strstr(sweep_drift(f, db), "drift") != NULL, i == 0); /* in what the results say, too */
		export_all(f, db, late);
		export_lines(f, db, lines);
		for (int k = 0; k < 3; k++) {
			to[k] = file_of(f, arena_printf(f->a, "%zu.to.%d", i, k));
			import_one(f, to[k], k == 1 ? late : early);
			import_one(f, to[k], k == 0 ? late : k == 1 ? early : lines);
			assert_string_equal(sweep_drift(f, to[k]), sweep_drift(f, db));
		}
	}
}

static void a_host_is_called_as_its_newest_sweep_calls_it(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *early = file_of(f, "early"), *late = file_of(f, "late"), *to[2] = { file_of(f, "x.db"), file_of(f, "y.db") };
	const uint8_t uuid[16] = { 1, 9, 9 };

	store_close(TAKE(f->s));
	host_store(f, db, 1, 1);
	export_all(f, db, early);
	OK(store_open(db, STORE_WRITE, &f->s, &f->e));
	OK(store_host(f->s, uuid, "aa-renamed", &f->host, &f->e)); /* before the old name in the alphabet */
	f->sweep = fixture_submit(f, 0);
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_DONE, "", &f->e));
	store_close(TAKE(f->s));
	snprintf(f->path, sizeof(f->path), "%s", db);
	fixture_sql(f, "UPDATE sweep SET submitted_ms = submitted_ms + 10000 WHERE id = 2");
	export_sweeps(f, db, late, 2);
	for (int i = 0; i < 2; i++) {
		import_one(f, to[i], i == 0 ? early : late);
		import_one(f, to[i], i == 0 ? late : early);
		import_one(f, to[i], early);
		snprintf(f->path, sizeof(f->path), "%s", to[i]);
		assert_string_equal(fixture_sql(f, "SELECT group_concat(name) FROM host"), "aa-renamed");
	}
}

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

/* Labels and the note of the only sweep, with their times. */
static const char *remarks(struct fixture *f, const char *db)
{
	snprintf(f->path, sizeof(f->path), "%s", db);
	return fixture_sql(f, "SELECT note || note_ms || ' ' || (SELECT group_concat(l) FROM (SELECT name || value || set_ms AS l "
	                      "FROM sweep_label ORDER BY name)) FROM sweep");
}

static void of_labels_and_notes_the_last_counts_whatever_is_imported_first(void **state)
{
	static const char *const notes[2] = { "UPDATE sweep SET note = 'later', note_ms = 20",
		                              "UPDATE sweep SET note = 'early', note_ms = 10" };
	static const char *const labels_of[2] = {
		"INSERT INTO sweep_label VALUES (1, 'a', 'early', 10), (1, 'b', '', 30), (1, 'c', 'x', 5)",
		"INSERT INTO sweep_label VALUES (1, 'a', 'later', 11), (1, 'b', 'early', 29), (1, 'c', 'y', 5), (1, 'd', 'z', 1)",
	};
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *to[4], *files[2], *lines[2];

	store_close(TAKE(f->s));
	host_store(f, db, 7, 2);
	for (int i = 0; i < 2; i++) {
		snprintf(f->path, sizeof(f->path), "%s", db);
		fixture_sql(f, notes[i]);
		fixture_sql(f, "DELETE FROM sweep_label");
		fixture_sql(f, labels_of[i]);
		export_all(f, db, files[i] = arena_printf(f->a, "%s/%d.iosweep", f->dir, i));
		export_lines(f, db, lines[i] = arena_printf(f->a, "%s/%d.jsonl", f->dir, i));
	}
	for (int i = 0; i < 4; i++) {
		char **from = i < 2 ? files : lines;

		to[i] = arena_printf(f->a, "%s/to%d.db", f->dir, i);
		import_one(f, to[i], from[i % 2]);
		import_one(f, to[i], from[(i + 1) % 2]);
		import_one(f, to[i], from[i % 2]);
		assert_string_equal(remarks(f, to[i]), "later20 alater11,b30,cy5,dz1");
	}
	/* what was taken away is there for nobody, and what never was there is not taken away */
	OK(store_open(to[3], STORE_WRITE, &f->s, &f->e));
	for (int i = 0; i < 2; i++) {
		struct sweep_label *labels;
		size_t n;

		OK(store_labels(f->s, 1, f->a, &labels, &n, &f->e));
		assert_int_equal(n, 3 - i);
		OK(store_label(f->s, 1, "a", "", &f->e));
		OK(store_label(f->s, 1, "nothing", "", &f->e));
	}
	assert_string_equal(fixture_sql(f, "SELECT group_concat(name || value) FROM sweep_label WHERE name < 'b' OR name > 'd'"), "a");
}

static void a_file_that_is_not_whole_changes_nothing(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *file = file_of(f, "a.iosweep"), *bad = file_of(f, "bad"),
	     *to = file_of(f, "to.db");
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

/* A page of the table of results as a bad disk leaves it. */
static void results_page_break(struct fixture *f, const char *db)
{
	char bytes[4096];
	off_t page;
	int fd;

	snprintf(f->path, sizeof(f->path), "%s", db);
	fixture_sql(f, "PRAGMA journal_mode=DELETE");
	page = (off_t)strtol(fixture_sql(f, "SELECT rootpage FROM sqlite_schema WHERE name = 'result'"), NULL, 10);
	fd = open(db, O_WRONLY | O_CLOEXEC);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(pwrite(fd, bytes, sizeof(bytes), (page - 1) * (off_t)sizeof(bytes)), sizeof(bytes));
	close(fd);
}

static void a_damaged_store_is_named_and_not_what_was_to_be_made_of_it(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *damaged = arena_printf(f->a, "store '%s': damaged: ", db),
	     *to = file_of(f, "to");
	const struct merge_options o = { 0 };
	struct merge_report r;
	struct store *s;

	store_close(TAKE(f->s));
	host_store(f, db, 1, 2);
	results_page_break(f, db);
	OK(store_open(db, STORE_READ, &s, &f->e));
	assert_int_equal(store_export(s, &o, to, -1, &r, &f->e), -1);
	assert_true(text_starts(f->e.text, damaged));
	assert_non_null(strstr(f->e.hint, db));
	assert_int_equal(store_backup(s, to, &f->e), -1);
	assert_true(text_starts(f->e.text, damaged));
	assert_non_null(strstr(f->e.hint, db));
	assert_int_equal(access(to, F_OK), -1);
	store_close(s);
	OK(store_open(to, STORE_WRITE, &s, &f->e));
	assert_int_equal(store_import_file(s, db, &r, &f->e), -1);
	assert_true(text_starts(f->e.text, arena_printf(f->a, "'%s' is damaged: ", db)));
	assert_null(strchr(f->e.text, '\n'));
	store_close(s);
}

/* A store with a row in every table. */
static void full_store(struct fixture *f, const char *db)
{
	static const char *const rows[] = {
		"PRAGMA journal_mode=DELETE",
		"INSERT INTO sweep_label VALUES (1, 'rack', 'b7', 5)",
		"INSERT INTO trial_flag VALUES (1, 'cached', 'x')",
		"INSERT INTO trial_fact VALUES (1, 'psi', 1)",
		"INSERT INTO result_flag SELECT cell_id, metric_id, 'spread', 'cell', 'x' FROM result LIMIT 1",
		"INSERT INTO step_time VALUES (1, 1, 'format', 1, 1, 0)",
		"INSERT INTO environment VALUES (99, zeroblob(32))",
		"INSERT INTO environment_fact VALUES (99, 'kernel.release', '6.18', 'identity')",
		"INSERT INTO undo (sweep_id, boot_id, step, kind, object, original, at_ms) VALUES (1, 'b', 's', 'k', char(27), char(27), 1)",
	};

	host_store(f, db, 1, 2);
	snprintf(f->path, sizeof(f->path), "%s", db);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fixture_sql(f, rows[i]);
}

/* A store that another host's administrator may have made by hand. */
static void texts_that_are_none_are_refused_and_nothing_is_merged(void **state)
{
	static const char *const texts[][2] = {
		{ "host", "name" },          { "plan", "name" },           { "plan", "about" },          { "plan", "source" },
		{ "sweep", "reason" },       { "sweep", "target" },        { "sweep", "submitter" },     { "sweep", "options" },
		{ "sweep", "source" },       { "sweep", "note" },          { "sweep_label", "name" },    { "sweep_label", "value" },
		{ "axis", "name" },          { "axis_value", "value" },    { "cell", "reason" },         { "spelling", "text" },
		{ "step_time", "step" },     { "workload", "name" },       { "workload", "definition" }, { "workload", "parameters" },
		{ "sweep_workload", "name" }, { "metric", "name" },        { "metric", "label" },        { "metric", "unit" },
		{ "environment_fact", "key" }, { "environment_fact", "value" }, { "trial", "reason" },  { "trial_flag", "flag" },
		{ "trial_flag", "reason" },  { "trial_fact", "key" },      { "result", "flags" },        { "result_flag", "flag" },
		{ "result_flag", "reason" }, { "event", "kind" },          { "event", "text" },
	};
	static const char *const poisons[] = { "char(27) || '[31m'", "cast(x'ff' AS TEXT)", "char(7)", "'a' || char(0) || 'b'", "char(155)" };
	static const char *const spoilt[] = { /* names have one line, numbers an end */
		"UPDATE host SET name = name || char(10) || 'db9'", "UPDATE measurement SET value = 9e999", "UPDATE result SET value = -9e999",
		"UPDATE result SET max = 9e999", "UPDATE trial_fact SET value = 9e999", "UPDATE axis_value SET number = -9e999",
		"UPDATE cell SET position = 9223372036854775807", "UPDATE sweep SET started_ms = 7258118400001", "UPDATE event SET at_ms = -9223372036854775807",
		"UPDATE trial SET user_ns = 9223372036854775807", "UPDATE result SET left_out = -9223372036854775807",
	};
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *to = file_of(f, "to.db"), *bad = file_of(f, "bad.db");
	struct merge_report r;
	struct store *s;

	store_close(TAKE(f->s));
	full_store(f, db);
	OK(store_open(to, STORE_WRITE, &s, &f->e));
	snprintf(f->path, sizeof(f->path), "%s", bad);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *table = texts[i][0], *column = texts[i][1];

		file_copy(db, bad, 1 << 24, -1);
		fixture_sql(f, arena_printf(f->a, "UPDATE %s SET %s = %s || %s", table, column, column,
		                            poisons[i % ARRAY_SIZE(poisons)]));
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_int_equal(f->e.kind, ERR_USAGE);
		if (!text_starts(f->e.text,
		                 arena_printf(f->a, "'%s' cannot be imported: %s.%s holds what no store has: '", bad,
		                              table, column)))
			fail_msg("%s.%s: %s", table, column, f->e.text);
		assert_true(text_is_printable(f->e.text));
		assert_string_equal(f->e.hint, "nothing was imported");
	}
	for (size_t i = 0; i < ARRAY_SIZE(spoilt); i++) {
		file_copy(db, bad, 1 << 24, -1);
		fixture_sql(f, spoilt[i]);
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_non_null(strstr(f->e.text, "cannot be imported"));
	}
	snprintf(f->path, sizeof(f->path), "%s", to);
	assert_string_equal(fixture_sql(f, "SELECT (SELECT count(*) FROM sweep) + (SELECT count(*) FROM host) + (SELECT count(*) FROM spelling)"), "0");
	/* several lines are no harm where there are several, and as it was the store is taken */
	snprintf(f->path, sizeof(f->path), "%s", db);
	fixture_sql(f, "UPDATE plan SET source = source || char(10) || char(9) || '# \xc3\xa9'");
	OK(store_import_file(s, db, &r, &f->e));
	store_close(s);
}

/* Whoever wrote it: what is read of a store is UTF-8 and speaks to no terminal; but the journal's paths are what they
 * are. */
static void what_a_store_gives_is_clean(void **state)
{
	struct fixture *f = *state;
	struct undo_entry u = { .boot_id = "b", .step = "image", .kind = "image", .object = "/x/\xff\033", .identity = "", .original = "\x07" };
	struct undo_entry *pending;
	struct sweep w;
	int64_t id;
	size_t n;

	OK(store_undo_add(f->s, f->sweep, &u, &id, &f->e));
	OK(store_undo_add(f->s, f->sweep, &u, &id, &f->e));
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_FAILED, "dd: \033[31m\xff", &f->e));
	assert_string_equal(fixture_sql(f, "SELECT reason FROM sweep"), "dd: \\x1b[31m\\xff");
	fixture_sql(f, "UPDATE sweep SET reason = char(27) || char(10) || cast(x'c0' AS TEXT) || char(0) || 'x', target = 'ok'");
	OK(store_sweep_get(f->s, f->sweep, f->a, &w, &f->e));
	assert_string_equal(w.reason, "\\x1b\n\\xc0\\x00x");
	assert_string_equal(w.target, "ok");
	OK(store_undo_pending(f->s, f->sweep, f->a, &pending, &n, &f->e));
	assert_int_equal(n, 1);
	assert_string_equal(pending[0].object, u.object);
	assert_string_equal(pending[0].original, u.original);
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

/* ---- JSON lines ---- */

static const char *whole(struct fixture *f, const char *path)
{
	AUTO_TEXT struct text t = { 0 };

	assert_int_equal(file_read(AT_FDCWD, path, 1 << 24, &t, NULL), 0);
	return arena_strdup(f->a, text_str(&t));
}

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* More than the numbers: what a real sweep has beside them. */
static void details_add(struct fixture *f, const char *db)
{
	const struct environment_fact facts[] = { { "kernel.release", "6.18.0", FACT_IDENTITY },
		                                  { "device.model", "Virtual \"disk\"\n2", FACT_CONTEXT },
		                                  { "memory.free", "12", FACT_VOLATILE } };
	int64_t environment;

	OK(store_open(db, STORE_WRITE, &f->s, &f->e));
	OK(store_environment(f->s, facts, ARRAY_SIZE(facts), &environment, &f->e));
	OK(store_cell_effective(f->s, 1, "readahead", "8192", "contradicted", &f->e));
	OK(store_cell_effective(f->s, 1, "vm.swappiness", "60", "", &f->e));
	OK(store_trial_flag(f->s, 2, "cached", "read 1 of 2, \xc3\xa9", &f->e));
	OK(store_label(f->s, f->sweep, "rack", "b/7", &f->e));
	OK(store_annotate(f->s, f->sweep, "after the \"move\"", &f->e));
	OK(store_result_update(f->s, 1, &f->e));
	store_close(TAKE(f->s));
	snprintf(f->path, sizeof(f->path), "%s", db);
	fixture_sql(f,
	            arena_printf(f->a,
	                         "UPDATE trial SET environment_id = %d, exit_status = 0, read_bytes = 9007199254740993",
	                         (int)environment));
	fixture_sql(f, "UPDATE measurement SET value = value / 3 WHERE metric_id = 1");
	fixture_sql(f, "INSERT INTO trial_fact VALUES (3, 'psi.io', 0.1)");
	fixture_sql(f, "INSERT INTO step_time VALUES (1, 1, 'format', 5, NULL, 1)");
	fixture_sql(f, "INSERT INTO trial (cell_id, workload_id, repetition, state, reason, started_ms) VALUES (2, 1, 1, 'failed', 'exit 1', 77)");
	OK(store_open(db, STORE_WRITE, &f->s, &f->e));
	for (int64_t cell = 1; cell <= 3; cell++)
		OK(store_result_update(f->s, cell, &f->e));
	store_close(TAKE(f->s));
}

/* As content(), and what has no place there: all columns that are not the store's own numbers. */
static const char *details(struct fixture *f, const char *db)
{
	static const char *const sql[] = {
		"SELECT group_concat(l) FROM (SELECT key || '=' || value || class || hex(digest) AS l FROM environment_fact JOIN environment v "
		"ON v.id = environment_id ORDER BY key)",
		"SELECT group_concat(l) FROM (SELECT s.name || s.value || s.set_ms || note || note_ms || options || target || target_kind || submitter || keep || "
		"cells || submitted_ms || coalesce(started_ms, 0) || p.source || hex(p.digest) AS l FROM sweep w JOIN sweep_label s ON s.sweep_id = w.id "
		"JOIN plan p ON p.id = w.plan_id)",
		"SELECT group_concat(l) FROM (SELECT c.position || a.name || requested || value || coalesce(effective, '-') || verdict AS l "
		"FROM cell c JOIN cell_value v ON v.cell_id = c.id JOIN axis a ON a.id = v.axis_id ORDER BY c.position, a.name)",
		"SELECT group_concat(l) FROM (SELECT c.position || n || step || run_ns || coalesce(undo_ns, '-') || failed || c.started_ms || "
		"c.ended_ms AS l FROM cell c JOIN step_time t ON t.cell_id = c.id)",
		"SELECT group_concat(l) FROM (SELECT c.position || t.repetition || t.state || t.reason || coalesce(t.exit_status, '-') || "
		"coalesce(t.elapsed_ns, '-') || coalesce(t.read_bytes, '-') || coalesce(t.exit_signal, '-') || (t.environment_id IS NULL) || "
		"coalesce(f.flag || f.reason, '') || coalesce(x.key || x.value, '') AS l FROM cell c JOIN trial t ON t.cell_id = c.id "
		"LEFT JOIN trial_flag f ON f.trial_id = t.id LEFT JOIN trial_fact x ON x.trial_id = t.id JOIN workload o ON o.id = t.workload_id "
		"ORDER BY c.position, o.name, t.repetition, t.state)",
		"SELECT group_concat(l) FROM (SELECT at_ms || kind || text AS l FROM event ORDER BY id)",
		"SELECT group_concat(l) FROM (SELECT printf('%d %s %!.20g', position, m.name, value) AS l FROM measurement x JOIN cell c ON "
		"c.id = x.cell_id JOIN metric m ON m.id = x.metric_id JOIN workload o ON o.id = m.workload_id JOIN trial t ON t.id = trial_id "
		"ORDER BY position, o.name, t.repetition)",
		"SELECT group_concat(l) FROM (SELECT position || r.left_out || r.flags AS l FROM result r JOIN cell c ON c.id = r.cell_id "
		"JOIN metric m ON m.id = r.metric_id JOIN workload o ON o.id = m.workload_id ORDER BY position, o.name)",
	};
	AUTO_TEXT struct text all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(sql); i++) {
		snprintf(f->path, sizeof(f->path), "%s", db);
		text_printf(&all, "%s\n", fixture_sql(f, sql[i]));
	}
	assert_null(strstr(text_str(&all), "NULL"));
	return arena_strdup(f->a, text_str(&all));
}

static void lines_bring_back_what_was_there(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *lines = file_of(f, "a.jsonl"), *to = file_of(f, "to.db"),
	     *again = file_of(f, "again.jsonl");
	struct merge_report r;

	store_close(TAKE(f->s));
	host_store(f, db, 7, 3);
	details_add(f, db);
	export_lines(f, db, lines);
	r = import_one(f, to, lines);
	assert_int_equal(r.sweeps_new, 1);
	assert_int_equal(r.cells, 3);
	assert_int_equal(r.trials, 19);
	assert_string_equal(content(f, db), content(f, to));
	assert_string_equal(details(f, db), details(f, to));
	r = import_one(f, to, lines);
	assert_int_equal(r.sweeps_known, 1);
	assert_int_equal(r.sweeps_new + r.sweeps_updated + r.trials + r.cells, 0);
	export_lines(f, to, again);
	assert_string_equal(whole(f, lines), whole(f, again));
}

static void lines_come_in_any_order_with_files_and_one_after_the_other(void **state)
{
	struct fixture *f = *state;
	char *first = file_of(f, "first.db"), *second = file_of(f, "second.db"), *joined = file_of(f, "joined.jsonl");
	char *lines[2], *file = file_of(f, "a.iosweep");

	store_close(TAKE(f->s));
	for (int i = 0; i < 2; i++) {
		char *db = file_of(f, i == 0 ? "a.db" : "b.db");

		lines[i] = file_of(f, i == 0 ? "a.jsonl" : "b.jsonl");
		host_store(f, db, (uint8_t)(i + 1), 3 + i);
		export_lines(f, db, lines[i]);
	}
	export_all(f, file_of(f, "a.db"), file);
	import_one(f, first, lines[1]);
	import_one(f, first, file);
	import_one(f, first, lines[0]);
	write_text(joined, arena_printf(f->a, "%s%s%s", whole(f, lines[0]), whole(f, lines[1]), whole(f, lines[0])));
	assert_int_equal(import_one(f, second, joined).sweeps_new, 2);
	assert_string_equal(content(f, first), content(f, second));
}

static void lines_that_are_not_whole_change_nothing(void **state)
{
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *lines = file_of(f, "a.jsonl"), *bad = file_of(f, "bad"),
	     *to = file_of(f, "to.db");
	struct merge_report r;
	size_t n, n_lines = 0;
	struct store *s;

	store_close(TAKE(f->s));
	host_store(f, db, 1, 2);
	export_lines(f, db, lines);
	n = strlen(whole(f, lines));
	OK(store_open(to, STORE_WRITE, &s, &f->e));
	for (size_t i = 0; i < n; i += n / 60 + 1) {
		file_copy(lines, bad, i, -1);
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_int_equal(f->e.kind, ERR_USAGE);
		file_copy(lines, bad, n, (ssize_t)i);
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_int_equal(f->e.kind, ERR_USAGE);
	}
	for (const char *all = whole(f, lines), *end = all; (end = strchr(end, '\n')) != NULL && *++end != '\0';
	     n_lines++) {
		write_text(bad, arena_strndup(f->a, all, (size_t)(end - all))); /* cut between two lines */
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_non_null(strstr(f->e.text, "cut short: the line of type 'end' is missing"));
	}
	assert_true(n_lines > 15);
	store_close(s);
	snprintf(f->path, sizeof(f->path), "%s", to);
	assert_string_equal(fixture_sql(f, "SELECT (SELECT count(*) FROM sweep) + (SELECT count(*) FROM host) + (SELECT count(*) FROM axis)"), "0");
}

/* ---- the property: any files, in any order, any number of times ---- */

static uint64_t random_state;

static unsigned random_below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(random_state >> 33) % n;
}

/* What a visit of a cell leaves: the next repetitions of a workload, some after a failed attempt, some with a flag. */
static void visit_record(struct fixture *f, int64_t cell, int workload, int *repetition, int more)
{
	for (int i = 0; i < more && *repetition < 3; i++) {
		const struct trial_end failed = { .state = "failed", .reason = "exit status 1" };
		int64_t workload_id = fixture_workload(f, workload), id;

		if (random_below(3) == 0) {
			OK(store_trial_begin(f->s, cell, workload_id, *repetition + 1, &id, &f->e));
			OK(store_trial_end(f->s, id, &failed, &f->e));
		}
		id = fixture_trial(f, cell, workload_id, ++*repetition, 1e6 * (100 + random_below(60)));
		if (random_below(4) == 0)
			OK(store_trial_flag(f->s, id, "disturbed", "by chance", &f->e));
	}
}

/* A sweep of up to 6 cells goes on by a few visits and is exported, as one file or as lines; *ret_n files so far. */
static void stage_record(struct fixture *f, const char *db, int repetitions[6][2], char **files, size_t *ret_n)
{
	OK(store_open(db, STORE_SCRATCH, &f->s, &f->e));
	for (unsigned visits = 1 + random_below(3); visits > 0; visits--) {
		unsigned which = random_below(6);
		char readahead[SIZE_TEXT];
		enum cell_state before;
		struct cell c;
		int64_t id;

		snprintf(readahead, sizeof(readahead), "%d", 4096 << which);
		c = fixture_cell(which, "xfs", readahead);
		OK(store_cell_begin(f->s, f->sweep, &c, &id, &before, &f->e));
		for (int w = 0; w < 2; w++)
			visit_record(f, id, w, &repetitions[which][w], (int)random_below(3));
		OK(store_cell_end(f->s, id, repetitions[which][0] + repetitions[which][1] == 6 ? CELL_OK : CELL_PARTIAL, "", NULL, 0, &f->e));
	}
	OK(store_event(f->s, f->sweep, "note", &f->e, "stage %zu", *ret_n));
	OK(store_sweep_drift(f->s, f->sweep, &f->e));
	OK(store_sweep_set_state(f->s, f->sweep, SWEEP_DONE, "", &f->e));
	store_close(TAKE(f->s));
	files[*ret_n] = file_of(f, arena_printf(f->a, "stage.%zu", *ret_n));
	(random_below(2) ? export_all : export_lines)(f, db, files[*ret_n]);
	++*ret_n;
}

/* Imports every file at least once into a new store, some again, in an order of chance. */
static const char *shuffled_import(struct fixture *f, const char *db, char **files, size_t n)
{
	size_t order[64], n_order = 0;
	struct merge_report r;
	struct store *s;

	for (size_t i = 0; i < n; i++)
		for (unsigned times = 1 + random_below(2); times > 0; times--)
			order[n_order++] = i;
	for (size_t i = n_order; i-- > 1;) {
		size_t k = random_below((unsigned)i + 1), swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	OK(store_open(db, STORE_SCRATCH, &s, &f->e)); /* nothing waits for the disk */
	for (size_t i = 0; i < n_order; i++)
		OK(store_import_file(s, files[order[i]], &r, &f->e));
	store_close(s);
	return db;
}

static const char *counts(struct fixture *f, const char *db)
{
	snprintf(f->path, sizeof(f->path), "%s", db);
	return fixture_sql(f, "SELECT group_concat(n) FROM (SELECT (SELECT count(*) FROM trial) || '/' || (SELECT count(*) FROM trial_flag) || '/' || "
	                      "(SELECT count(*) FROM measurement) || '/' || (SELECT count(*) FROM result_flag) || '/' || (SELECT count(*) FROM event) "
	                      "|| '/' || (SELECT sum(left_out) FROM result) AS n)");
}

static void generated_sweeps_come_together_in_any_order_and_repetition(void **state)
{
	struct fixture *f = *state;

	store_close(TAKE(f->s));
	random_state = 5;
	for (int round = 0; round < 6; round++) {
		char *files[16], *sources[2];
		const char *stores[3], *whole_content;
		size_t n = 0;

		for (int host = 0; host < 2; host++) {
			int repetitions[6][2] = { 0 };

			sources[host] = file_of(f, arena_printf(f->a, "%d.source.%d", round, host));
			host_store(f, sources[host], (uint8_t)(10 * round + host + 1), 0);
			for (unsigned stages = 2 + random_below(3); stages > 0; stages--)
				stage_record(f, sources[host], repetitions, files, &n);
		}
		for (int i = 0; i < 3; i++)
			stores[i] = shuffled_import(f, file_of(f, arena_printf(f->a, "%d.all.%d", round, i)), files, n);
		whole_content = content(f, stores[0]);
		for (int i = 1; i < 3; i++) {
			assert_string_equal(content(f, stores[i]), whole_content);
			assert_string_equal(counts(f, stores[i]), counts(f, stores[0]));
			assert_string_equal(fixture_sql(f, "PRAGMA foreign_key_check"), "(no row)");
			assert_string_equal(fixture_sql(f, "PRAGMA integrity_check"), "ok");
		}
		/* and it is what the hosts have, line for line */
		for (int host = 0; host < 2; host++)
			assert_non_null(strstr(whole_content, content(f, sources[host])));
	}
}

/* What is put in place of what, and the message that follows. */
static void faults_of_lines_are_named_by_line_and_column(void **state)
{
	static const struct {
		const char *old, *new, *message;
	} faults[] = {
		{ "\"format\":1", "\"format\":2", "3:63: format 2: this iosweep knows formats up to 1" },
		{ "\"state\":\"done\"", "\"state\":\"running\"", ": 'running' is not how a sweep ends: done, failed, cancelled or imported" },
		{ "\"keep\":\"median\"", "\"keep\":\"medium\"", "3:1: not as a store has it: CHECK constraint failed" },
		{ "\"priority\":0,", "", "3:1: a line of type 'sweep' without 'priority'" },
		{ "\"priority\":0", "\"priority\":\"0\"", "'priority' is not a whole number" },
		{ "\"priority\":0", "\"priority\":0,\"priorty\":1", "a line of type 'sweep' has no 'priorty', did you mean 'priority'?" },
		{ "\"uuid\":\"0", "\"uuid\":\"x", "'uuid' is not a UUID" },
		{ "\"value\":\"4096\"", "\"value\":\"4097\"", "4:63: not the digest of these axes" },
		{ "\"type\":\"cell\"", "\"type\":\"sell\"", "4:2: no line is of type 'sell', did you mean 'cell'?" },
		{ "\"type\":\"event\"", "\"type\":\"event\",", "18:17: not JSON: quoted object property name expected" },
		{ "\"metrics\":{\"throughput\":", "\"metrics\":{\"throughputs\":", "the workload's line has no metric 'throughputs'" },
		{ "\"metrics\":{\"throughput\":", "\"metrics\":{\"throughput\":true,\"x\":", "'throughput' is not a number" },
		{ "\"repetition\":2", "\"repetition\":1", "not as a store has it: UNIQUE constraint failed" },
		{ "\"workload\":\"dd-write\"", "\"workload\":\"dd-wrote\"", "the sweep has no workload 'dd-wrote'" },
		{ "{\"type\":\"trial\"", "[\"type\",\"trial\"]\n{\"type\":\"trial\"", "6:1: not a JSON object" },
		{ "\"lines\":", "\"lines\":9", "lines were written, " },
		{ "\"host\":\"db1\"", "\"host\":\"db\\u001b[31m\"", "'host' holds a control character, or what is no UTF-8" },
		{ "\"host\":\"db1\"", "\"host\":\"db\xff\"", "'host' holds a control character, or what is no UTF-8" },
		{ "\"host\":\"db1\"", "\"host\":\"db\\u0000x\"", "'host' holds a control character, or what is no UTF-8" },
		{ "\"labels\":{", "\"labels\":{\"a\\nb\":\"x\"", "a key that is no text of one line" },
		{ "\"labels\":{", "\"labels\":{\"a\":\"x\\u009b\"", "'a' holds a control character" },
		{ "\"labels\":{},\"labels_ms\":{", "\"labels\":{\"a\":\"b\"},\"labels_ms\":{\"a\":\"x\"",
		  "when label 'a' was set is not a whole number" },
		{ "{\"type\":\"end\"", "{\"type\":\"event\"", "a line of type 'event' without 'sweep'" },
	};
	struct fixture *f = *state;
	char *db = file_of(f, "a.db"), *file = file_of(f, "a.jsonl"), *bad = file_of(f, "bad"),
	     *to = file_of(f, "to.db"), *sum;
	struct merge_report r;
	struct store *s;
	const char *lines;

	store_close(TAKE(f->s));
	host_store(f, db, 1, 2);
	export_lines(f, db, file);
	lines = whole(f, file);
	sum = strstr(lines, ",\"sha256\"");
	assert_non_null(sum);
	snprintf(sum, 3, "}\n"); /* whoever changes lines leaves it out */
	write_text(bad, lines);
	OK(store_open(to, STORE_WRITE, &s, &f->e));
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		const char *at = strstr(lines, faults[i].old);

		if (at == NULL)
			fail_msg("no %s in the lines", faults[i].old);
		write_text(bad, arena_printf(f->a, "%.*s%s%s", (int)(at - lines), lines, faults[i].new,
		                             at + strlen(faults[i].old)));
		assert_int_equal(store_import_file(s, bad, &r, &f->e), -1);
		assert_int_equal(f->e.kind, ERR_USAGE);
		if (strstr(f->e.text, faults[i].message) == NULL ||
		    !text_starts(f->e.text, arena_printf(f->a, "%s:", bad)))
			fail_msg("%s: %s", faults[i].new, f->e.text);
		assert_string_equal(f->e.hint, "nothing was imported");
	}
	write_text(bad, lines);
	OK(store_import_file(s, bad, &r, &f->e));
	assert_int_equal(r.sweeps_new, 1);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(import_in_any_order_and_repetition_gives_the_same_store, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_exported_and_imported_is_what_was_there, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_sweep_that_went_on_brings_what_is_new, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(drift_is_judged_anew_when_a_sweep_s_cells_come_together, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_host_is_called_as_its_newest_sweep_calls_it, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(of_labels_and_notes_the_last_counts_whatever_is_imported_first, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_file_that_is_not_whole_changes_nothing, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_damaged_store_is_named_and_not_what_was_to_be_made_of_it, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(texts_that_are_none_are_refused_and_nothing_is_merged, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_a_store_gives_is_clean, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_newer_store_is_refused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_has_not_ended_is_not_exported, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_list_tells_what_another_store_lacks, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lines_bring_back_what_was_there, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lines_come_in_any_order_with_files_and_one_after_the_other, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lines_that_are_not_whole_change_nothing, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(generated_sweeps_come_together_in_any_order_and_repetition, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(faults_of_lines_are_named_by_line_and_column, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_backup_is_consistent_while_the_store_is_written, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
