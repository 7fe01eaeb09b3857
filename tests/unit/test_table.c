/* SPDX-License-Identifier: MIT
 *
 * Tables: what people see at a width, and what programs get; units and precision of columns.
 */
// LINK: cli/table.c
// LINK: cli/table_people.c
// LINK: cli/table_text.c
// LINK: cli/json_write.c
// LINK: cli/options.c
// LINK: cli/scale.c
// LINK: cli/progress_plan.c
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <string.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/scale.h"
#include "cli/table.h"

static struct table *sample(void)
{
	struct table *t = table_new("cells");
	size_t cell = table_column(t, "cell", "CELL", TABLE_RIGHT | TABLE_KEY),
	       fs = table_column(t, "filesystem", "FS", TABLE_KEY);
	size_t read = table_column(t, "dd.read{4KiB,1MiB}", "dd\nread\nMB/s", TABLE_RIGHT);
	size_t spread = table_column(t, "spread", "spread", TABLE_RIGHT | TABLE_GLUE);
	size_t write = table_column(t, "dd.write", "dd\nwrite\nMB/s", TABLE_RIGHT);
	size_t hidden = table_column(t, "config", "CONFIG", TABLE_EXTRA),
	       why = table_column(t, "reason", "REASON", TABLE_WRAP);

	table_row(t);
	table_integer(t, cell, 1);
	table_text(t, fs, "ext4");
	table_number(t, read, 117.3e6, "117.3*");
	table_text(t, spread, "4%");
	table_number(t, write, 98e6, "98.0 ");
	table_text(t, hidden, "c0ffee");
	table_row(t);
	table_integer(t, cell, 2);
	table_text(t, fs, "xfs");
	table_text(t, why, "mount: unknown parameter \"nobarrier\", says the kernel");
	return t;
}

static char *printed(struct table *t, enum table_format format, const char *columns, size_t width, struct err *e)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int rc = table_print_as(t, format, columns, width, out, e);

	fclose(out);
	if (rc == 0)
		return text;
	free(text);
	return NULL;
}

static void assert_printed(enum table_format format, const char *columns, size_t width, const char *expected)
{
	AUTO_TABLE struct table *t = sample();
	struct err e = { 0 };
	AUTO_FREE char *text = printed(t, format, columns, width, &e);

	assert_non_null(text);
	assert_string_equal(text, expected);
}

static void titles_of_several_lines_stand_on_the_same_floor(void **state)
{
	(void)state;
	assert_printed(TABLE_PEOPLE, "cell,filesystem,dd.read{4KiB,1MiB},spread", 0,
	               "                dd  \n"
	               "              read  \n"
	               "CELL  FS      MB/s  spread\n"
	               "   1  ext4  117.3*      4%\n"
	               "   2  xfs           \n");
}

static void a_wide_table_becomes_panels_with_its_keys(void **state)
{
	AUTO_TABLE struct table *t = sample();
	struct err e = { 0 };
	AUTO_FREE char *text = printed(t, TABLE_PEOPLE, "cell,filesystem,dd.read{4KiB,1MiB},spread,dd.write", 30, &e);
	size_t keys = 0;

	(void)state;
	assert_non_null(text);
	for (const char *p = text; (p = strstr(p, "CELL  FS")) != NULL; p++)
		keys++;
	assert_int_equal(keys, 2);
	assert_non_null(strstr(text, "\n\n")); /* a blank line between panels */
	assert_true(strstr(text, "spread") < strstr(text, "\n\n")); /* glued to the column before it */
}

static void free_text_wraps_at_blanks_where_the_terminal_is_narrow(void **state)
{
	(void)state;
	assert_printed(TABLE_PEOPLE, "filesystem,reason", 32,
	               "FS    REASON\n"
	               "ext4  \n"
	               "xfs   mount: unknown parameter\n"
	               "      \"nobarrier\", says the\n"
	               "      kernel\n");
	assert_printed(TABLE_PEOPLE, "filesystem,reason", 0,
	               "FS    REASON\n"
	               "ext4  \n"
	               "xfs   mount: unknown parameter \"nobarrier\", says the kernel\n");
}

static void csv_quotes_what_needs_it_and_has_every_column(void **state)
{
	(void)state;
	assert_printed(TABLE_CSV, NULL, 0,
	               "cell,filesystem,\"dd.read{4KiB,1MiB}\",spread,dd.write,config,reason\r\n"
	               "1,ext4,117300000,4%,98000000,c0ffee,\r\n"
	               "2,xfs,,,,,\"mount: unknown parameter \"\"nobarrier\"\", says the kernel\"\r\n");
}

static void raw_has_tabs_and_no_header(void **state)
{
	(void)state;
	assert_printed(TABLE_RAW, "filesystem,cell", 0, "ext4\t1\nxfs\t2\n");
}

static void json_has_values_and_nulls(void **state)
{
	(void)state;
	assert_printed(TABLE_JSON, "cell,dd.write", 0,
	               "{\n  \"cells\": [\n    {\n      \"cell\": 1,\n      \"dd.write\": 98000000\n    },\n    {\n      \"cell\": 2,\n"
	               "      \"dd.write\": null\n    }\n  ]\n}\n");
}

static void markdown_and_html_are_for_people(void **state)
{
	(void)state;
	assert_printed(TABLE_MARKDOWN, "cell,dd.read{4KiB,1MiB}", 0,
	               "| CELL | dd read MB/s |\n|---:|---:|\n| 1 | 117.3\\* |\n| 2 |  |\n");
	assert_printed(TABLE_HTML, "cell,filesystem", 0,
	               "<table>\n<tr><th>CELL</th><th>FS</th></tr>\n<tr><td>1</td><td>ext4</td></tr>\n"
	               "<tr><td>2</td><td>xfs</td></tr>\n</table>\n");
}

static void an_unknown_column_names_the_nearest(void **state)
{
	AUTO_TABLE struct table *t = sample();
	struct err e = { 0 };

	(void)state;
	assert_null(printed(t, TABLE_CSV, "cell,filesystme", 0, &e));
	assert_int_equal(e.kind, ERR_USAGE);
	assert_string_equal(e.text, "unknown column 'filesystme', did you mean 'filesystem'?");
	assert_string_equal(e.hint, "the columns are cell,filesystem,dd.read{4KiB,1MiB},spread,dd.write,config,reason");
	assert_null(printed(t, TABLE_CSV, "cell,cell", 0, &e));
	assert_string_equal(e.text, "column 'cell' is named twice");
}

static void assert_scale(const char *base, double a, double b, enum scale_style style, const char *name,
                         const char *low)
{
	const double values[] = { a, b };
	struct scale u = scale_choose(base, values, 2, style);
	char buf[SIZE_TEXT];

	assert_string_equal(u.name, name);
	assert_string_equal(scale_format(&u, a, buf), low);
}

static void one_unit_and_precision_serve_a_whole_column(void **state)
{
	(void)state;
	assert_scale("B/s", 98.04e6, 1.2e9, SCALE_DECIMAL, "MB/s", "98.0");
	assert_scale("B/s", 1048576, 2097152, SCALE_BINARY, "MiB/s", "1.00");
	assert_scale("B/s", 98.04e6, 1.2e9, SCALE_BASE, "B/s", "98040000");
	assert_scale("ns", 740000, 9.5e6, SCALE_DECIMAL, "ms", "0.740");
	assert_scale("%", 8.125, 99, SCALE_DECIMAL, "%", "8.12");
	assert_scale("", 3, 12, SCALE_DECIMAL, "", "3");
	assert_scale("1/s", 0, 0, SCALE_DECIMAL, "1/s", "0");
}

static void unknown_units_of_columns_are_refused(void **state)
{
	struct err e = { 0 };
	enum scale_style style;

	(void)state;
	assert_int_equal(scale_style_parse("metric", &style, &e), -1);
	assert_string_equal(e.text, "unknown units 'metric'");
	assert_int_equal(scale_style_parse(NULL, &style, &e), 0);
	assert_int_equal(style, SCALE_DECIMAL);
}

static void the_time_left_is_learnt_from_the_trials_so_far(void **state)
{
	struct pace p = { 0 };

	(void)state;
	assert_int_equal(pace_left_ms(&p, 5, true, 0), -1);
	pace_add(&p, 1, 1000, 800);
	pace_add(&p, 2, 2000, 800);
	pace_add(&p, 3, 5000, 800); /* a new cell was prepared before it */
	assert_int_equal(pace_left_ms(&p, 5, true, 5500), 4 * 2000 + 1500);
	assert_int_equal(pace_left_ms(&p, 5, true, 50000), 4 * 2000);
	assert_int_equal(pace_left_ms(&p, 0, true, 5500), 0);
	assert_int_equal(pace_left_ms(&p, 5, false, 5500), 5 * 2000); /* the newest has ended, the next not begun */
}

static void a_night_without_power_does_not_slow_the_estimate(void **state)
{
	struct pace p = { 0 };

	(void)state;
	pace_add(&p, 1, 1000, 800);
	pace_add(&p, 2, 2000, 800);
	pace_add(&p, 3, 2000 + 36000000, 800);
	assert_int_equal(pace_left_ms(&p, 2, true, 2000 + 36000000), 2000);
}

static void the_axes_that_a_plan_varies_are_found_in_its_text(void **state)
{
	AUTO_ARENA struct arena *a = arena_new();
	const char **axes;
	size_t n, n_workloads;

	(void)state;
	assert_int_equal(progress_plan("plan: p\n"
	                               "matrix:\n"
	                               "  - {filesystem: xfs, readahead: [1MiB, 2MiB], scheduler: none, label.hw: r10}\n"
	                               "  - {filesystem: [xfs], readahead: 1MiB, scheduler: bfq, zip: [{mount: noatime, memory: 1GiB}]}\n"
	                               "workloads: [dd-read: {}, dd-write: {}]\n", a, &axes, &n, &n_workloads), 0);
	assert_int_equal(n_workloads, 2);
	assert_int_equal(n, 5);
	assert_string_equal(axes[0], "readahead");
	assert_string_equal(axes[1], "scheduler");
	assert_string_equal(axes[2], "label.hw"); /* in one block only */
	assert_string_equal(axes[3], "mount");
	assert_string_equal(axes[4], "memory");
	assert_int_equal(progress_plan("a: [", a, &axes, &n, &n_workloads), -1);
}

/* n rows of one column, printed by flushes and a last print; format: as after --format. */
static char *flushed(const char *format, int n)
{
	static const struct option_def defs[] = { OPTIONS_TABLE, OPTIONS_END };
	static const struct command command = { .name = "x", .options = defs };
	const char *argv[] = { "--format", format, NULL };
	AUTO_TABLE struct table *t = table_new("rows");
	struct options o;
	struct err e = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(options_parse(&command, 2, argv, &o, &e), 0);
	table_column(t, "n", "N", TABLE_RIGHT);
	table_column(t, "never", "NEVER", 0); /* says nothing in any row: people do not see it */
	for (int i = 1; i <= n; i++) {
		table_row(t);
		table_integer(t, 0, i);
		assert_int_equal(table_flush(t, &o, out, &e), 0);
		assert_true(t->n_rows < 5000);
	}
	assert_int_equal(table_rows(t), n);
	assert_int_equal(table_print(t, &o, out, &e), 0);
	fclose(out);
	return text;
}

static size_t occurrences(const char *text, const char *of)
{
	size_t n = 0;

	for (; (text = strstr(text, of)) != NULL; text += strlen(of))
		n++;
	return n;
}

static void a_long_table_is_printed_in_parts_and_is_still_one(void **state)
{
	static const struct {
		const char *format, *head, *row, *end;
	} cases[] = {
		{ "csv", "n,never\r\n1,\r\n", "\r\n", "2500,\r\n" },
		{ "html", "<table>\n<tr><th>N</th></tr>\n<tr><td>1</td></tr>\n", "<tr>", "<tr><td>2500</td></tr>\n</table>\n" },
		{ "markdown", "| N |\n|---:|\n| 1 |\n", "\n", "| 2500 |\n" },
		{ "json", "{\n  \"rows\": [\n    {\n      \"n\": 1,\n      \"never\": null\n    },\n", "\"n\"", "\"n\": 2500,\n      \"never\": null\n    }\n  ]\n}\n" },
	};
	static const size_t rows[] = { 2501, 2501, 2502, 2500 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *text = flushed(cases[i].format, 2500);

		assert_true(text_starts(text, cases[i].head));
		assert_true(text_ends(text, cases[i].end));
		assert_int_equal(occurrences(text, cases[i].row), rows[i]);
	}
}

static void people_read_a_long_table_as_several(void **state)
{
	AUTO_FREE char *text = flushed("table", 10000), *more = flushed("table", 10001);

	(void)state;
	assert_true(text_starts(text, "   N\n   1\n"));
	assert_int_equal(occurrences(text, "\n5000\n\n    N\n 5001\n"), 1);
	assert_true(text_ends(text, "\n10000\n"));
	assert_true(text_ends(more, "\n10000\n\n    N\n10001\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(titles_of_several_lines_stand_on_the_same_floor),
		cmocka_unit_test(a_wide_table_becomes_panels_with_its_keys),
		cmocka_unit_test(free_text_wraps_at_blanks_where_the_terminal_is_narrow),
		cmocka_unit_test(csv_quotes_what_needs_it_and_has_every_column),
		cmocka_unit_test(raw_has_tabs_and_no_header),
		cmocka_unit_test(json_has_values_and_nulls),
		cmocka_unit_test(markdown_and_html_are_for_people),
		cmocka_unit_test(a_long_table_is_printed_in_parts_and_is_still_one),
		cmocka_unit_test(people_read_a_long_table_as_several),
		cmocka_unit_test(an_unknown_column_names_the_nearest),
		cmocka_unit_test(one_unit_and_precision_serve_a_whole_column),
		cmocka_unit_test(unknown_units_of_columns_are_refused),
		cmocka_unit_test(the_time_left_is_learnt_from_the_trials_so_far),
		cmocka_unit_test(a_night_without_power_does_not_slow_the_estimate),
		cmocka_unit_test(the_axes_that_a_plan_varies_are_found_in_its_text),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
