/* SPDX-License-Identifier: MIT
 *
 * Published tables: the four studies with their maps, and every fault with its line and column.
 */
#include "store_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include "schema/import.h"

static const char map_head[] =
	"import: t\nsource: a table\npublished: 2008\nkeep: single\nhost: {value: h}\n"
	"axes: {filesystem: {column: fs}, readahead: {column: ra, unit: sectors}}\n";
static const char map_metric[] = "metrics: {dd-write.throughput: {column: w, unit: MB/s, better: higher}}\n";

static const char *file_write(struct fixture *f, const char *name, const char *text)
{
	char *path = arena_printf(f->a, "%s/%s", f->dir, name);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return path;
}

/* Imports and gives all diagnostics as "map:L:C: text" and "csv:L:C: text" lines, or "". */
static const char *import_texts(struct fixture *f, const char *csv, const char *map, struct import_report *ret)
{
	AUTO_TEXT struct text all = { 0 };
	struct diags faults[2];
	int rc;

	diags_init(&faults[0], "map");
	diags_init(&faults[1], "csv");
	rc = import_table(f->s, csv, map, f->a, &faults[0], &faults[1], ret, &f->e);
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < faults[i].n; k++)
			text_printf(&all, "%s:%d:%d: %s\n", faults[i].file, faults[i].at[k].line,
			            faults[i].at[k].column, faults[i].at[k].message);
		diags_done(&faults[i]);
	}
	if (rc < 0 && all.n == 0)
		text_printf(&all, "%s\n", f->e.text);
	return arena_strdup(f->a, text_str(&all));
}

/* A small table with a fault. */
static void refused(struct fixture *f, const char *csv, const char *map_end, const char *texts)
{
	struct import_report r;
	AUTO_FREE char *map = xasprintf("%s%s", map_head, map_end);

	assert_string_equal(import_texts(f, file_write(f, "t.csv", csv), file_write(f, "t.yaml", map), &r), texts);
	assert_int_equal(f->e.kind, ERR_USAGE);
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM sweep WHERE state = 'imported'"), "0");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM cell"), "0");
}

static void a_missing_column_is_named_with_the_nearest(void **state)
{
	refused(*state, "fs,ra,writ\nxfs,256,540\n",
	        "metrics: {dd-write.throughput: {column: write, unit: MB/s, better: higher}}\n",
	        "map:7:32: the table has no column 'write', did you mean 'writ'?\n");
}

static void what_is_no_number_is_refused_with_line_and_column(void **state)
{
	refused(*state, "fs,ra,w\nxfs,256,540\nxfs,4096,fast\next3,256,\"1,035\"\next3,512,\n", map_metric,
	        "csv:3:10: dd-write.throughput: 'fast' is not a number\n"
	        "csv:4:10: dd-write.throughput: '1,035' is not a number\n"
	        "csv:5:10: dd-write.throughput: the field is empty; a metric that is not always measured says optional: yes in the map\n");
	/* a number, but none in bytes per second */
	refused(*state, "fs,ra,w\nxfs,256,1e307\n", map_metric,
	        "csv:2:9: dd-write.throughput: '1e307' is not a number\n");
}

static void a_duplicate_key_is_refused(void **state)
{
	refused(*state, "fs,ra,w\nxfs,256,540\nxfs,512,541\nxfs,256,542\n", map_metric,
	        "csv:4:9: dd-write.throughput: an earlier row has the same axes; an axis or 'repetition' is missing in the map\n");
}

static void a_table_that_is_no_table_is_refused(void **state)
{
	struct fixture *f = *state;

	refused(f, "", map_metric, "csv:1:1: the file is empty: a header line is missing\n");
	refused(f, "fs,ra,w\nxfs,256\n", map_metric, "csv:2:1: 2 fields, the header has 3\n");
	refused(f, "fs,ra,ra\n", map_metric, "csv:1:7: column 'ra' is there twice\n");
	refused(f, "fs,ra,w\nxfs,\"256,540\n", map_metric, "csv:2:5: the quote is not closed\n");
	refused(f, "fs,ra,w\nxfs,25\"6,540\n", map_metric,
	        "csv:2:7: a quote inside a field that does not begin with one\n");
	refused(f, "fs,ra,w\n", map_metric, "nothing was imported: 'csv' has no row with a figure\n");
	refused(f, "fs,ra,w\nxfs,25\033[1m6,540\n", map_metric, "csv:2:5: a control character\n");
	refused(f, "fs,ra,w\nxfs,-1,540\n", map_metric,
	        "csv:2:5: readahead: '-1sectors' is negative; a size is 0 or more\n");
}

static void a_map_says_all_its_faults(void **state)
{
	struct fixture *f = *state;

	refused(f, "fs,ra,w\nxfs,256,1\n", "metrics: {throughput: {column: w, unit: MB/s, better: higher}, dd.x: {column: w, better: up}}\nmetrix: 1\n",
	        "map:7:11: a metric is WORKLOAD.METRIC, not 'throughput'\n"
	        "map:7:70: 'dd.x' needs a unit: as MB/s, ms, 1/s, %\n"
	        "map:7:70: 'dd.x' needs better: higher, lower or neither\n"
	        "map:8:1: unknown key 'metrix' in a map of a table: did you mean 'metrics'?\n");
	refused(f, "fs,ra,w\nxfs,256,1\n", "metrics: {\"dd\\e.x\": {column: w, unit: \"M\\nB\", better: higher}}\n",
	        "map:7:11: a line break or control character in a name\n"
	        "map:7:39: unit is one line for people: write it without line breaks and control characters\n");
}

static void study_import(struct fixture *f, const char *name, struct import_report *r)
{
	const char *csv = arena_printf(f->a, "sweeps/history/%s.csv", name),
		   *map = arena_printf(f->a, "sweeps/history/%s.yaml", name);

	assert_string_equal(import_texts(f, csv, map, r), "");
}

static void the_studies_are_imported_and_importing_again_changes_nothing(void **state)
{
	static const struct {
		const char *name;
		size_t figures;
	} studies[] = { { "md1120_tests", 132 }, { "md1120_bonnie_103e", 13 }, { "md1120_pgbench", 32 }, { "pe2950_dd", 10 },
		        { "pe2950_pgbench", 7 },  { "perc5e_reads", 31 },       { "perc5e_other", 9 },    { "r910", 2 } };
	struct fixture *f = *state;

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(studies); i++) {
			struct import_report r = { 0 };
			size_t figures = 0;

			study_import(f, studies[i].name, &r);
			for (size_t k = 0; k < r.n_sweeps; k++) {
				figures += r.sweeps[k].n_figures;
				assert_int_equal(r.sweeps[k].is_known, round == 1);
			}
			assert_int_equal(figures, round == 0 ? studies[i].figures : 0);
		}
	}
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM measurement"), "236");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM sweep WHERE state = 'imported'"), "9");
}

static void figures_keep_their_meaning(void **state)
{
	struct fixture *f = *state;
	struct import_report r;

	study_import(f, "md1120_tests", &r);
	study_import(f, "pe2950_dd", &r);
	study_import(f, "r910", &r);
	study_import(f, "pe2950_pgbench", &r);
	/* what each figure is: the middle of three, single, the mean of three */
	assert_string_equal(fixture_sql(f, "SELECT group_concat(p.name || ' ' || s.keep, ', ') FROM (SELECT * FROM sweep ORDER BY id) s "
	                                   "JOIN plan p ON p.id = s.plan_id WHERE s.state = 'imported'"),
	                    "md1120 median, pe2950-dd single, r910 mean, pe2950-pgbench median, pe2950-pgbench median");
	assert_string_equal(fixture_sql(f, "SELECT group_concat(flag) FROM (SELECT DISTINCT flag FROM trial_flag ORDER BY 1)"),
	                    "approximate,single,summary");
	/* sectors are bytes, Mb/s are bytes a second, cfq stays, noop has a successor and keeps its spelling */
	assert_string_equal(fixture_sql(f, "SELECT group_concat(DISTINCT v.value) FROM axis_value v JOIN axis a ON a.id = v.axis_id "
	                                   "WHERE a.name = 'readahead'"), "131072,16777216,2097152,4194304,8388608");
	assert_string_equal(fixture_sql(f, "SELECT group_concat(DISTINCT requested || '=' || value) FROM cell_value v JOIN axis a "
	                                   "ON a.id = v.axis_id WHERE a.name = 'scheduler'"),
	                    "cfq=cfq,noop=none,deadline=mq-deadline");
	assert_string_equal(fixture_sql(f, "SELECT max(r.value) FROM result r JOIN metric m ON m.id = r.metric_id WHERE m.unit = 'B/s'"), "1094000000.0");
	/* three trials of one cell that climb by 89 % */
	assert_string_equal(fixture_sql(f, "SELECT r.value || ' ' || r.n || ' ' || r.flags FROM result r JOIN host h ON h.id = r.host_id "
	                                   "WHERE h.name = 'pe1850'"), "132.0 3 drift spread");
	assert_string_equal(fixture_sql(f, "SELECT count(*) FROM environment_fact WHERE key = 'tool.bonnie++' AND value = '1.02'"), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_missing_column_is_named_with_the_nearest, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(what_is_no_number_is_refused_with_line_and_column, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_duplicate_key_is_refused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_table_that_is_no_table_is_refused, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_map_says_all_its_faults, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_studies_are_imported_and_importing_again_changes_nothing, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(figures_keep_their_meaning, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
