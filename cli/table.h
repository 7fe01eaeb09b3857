/* SPDX-License-Identifier: MIT
 *
 * Rows and columns, for people and for programs.
 *
 * For people (libsmartcols): fitted to the terminal; a table too wide for it is printed in panels, one below the other,
 * each with the key columns.  Where standard output is no terminal the width is unlimited unless $COLUMNS is set.
 * For programs: JSON, CSV (RFC 4180), raw (tabs), markdown, html; every value in its base unit, not as shown.
 *
 *     struct table *t = table_new("sweeps");
 *     size_t id = table_column(t, "id", "ID", TABLE_RIGHT | TABLE_KEY);
 *     table_row(t);
 *     table_integer(t, id, 12);
 *     rc = table_print(t, o, stdout, e);   // reads --json --csv --raw --format --columns of the command
 *     table_free(t);
 */
#ifndef IOSWEEP_CLI_TABLE_H
#define IOSWEEP_CLI_TABLE_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"
#include "schema/base/err.h"
#include "schema/base/text.h"

struct json_object;
struct json_writer;
struct table;

enum {
	TABLE_RIGHT = 1 << 0, /* numbers: right-aligned */
	TABLE_KEY = 1 << 1,   /* identifies the row: repeated in every panel */
	TABLE_GLUE = 1 << 2,  /* stays beside the column before it when panels are made */
	TABLE_WRAP = 1 << 3,  /* free text: wrapped at blanks where the terminal is narrow */
	TABLE_EXTRA = 1 << 4  /* shown to people only if --columns names it; programs get it always */
};

/* name: the key of the array in JSON, borrowed. */
struct table *table_new(const char *name);
void table_free(struct table *t); /* NULL is fine */
static inline void auto_table(struct table **t)
{
	table_free(*t);
}
#define AUTO_TABLE __attribute__((cleanup(auto_table)))

/* Adds a column and returns its number.  name: for --columns, JSON and CSV; title: for people, lines separated by
 * '\n'. */
size_t table_column(struct table *t, const char *name, const char *title, unsigned flags);
/* Begins a row; the setters fill the newest one.  A cell that is not set is empty (JSON: null). */
void table_row(struct table *t);
void table_text(struct table *t, size_t column, const char *text); /* copied; NULL: empty */
void table_integer(struct table *t, size_t column, int64_t v);
void table_bool(struct table *t, size_t column, bool v);           /* "yes" or "no"; JSON: true, false */
/* shown: what people see, e.g. "117.3 *"; NULL: the number itself. */
void table_number(struct table *t, size_t column, double v, const char *shown);
/* Replaces what people see of a cell that was set; programs still get the value. */
void table_show(struct table *t, size_t column, const char *shown);
size_t table_rows(const struct table *t); /* those that were flushed, too */

enum table_format { TABLE_PEOPLE, TABLE_JSON, TABLE_CSV, TABLE_RAW, TABLE_MARKDOWN, TABLE_HTML };
/* The format the options ask for; ERR_USAGE for an unknown --format.  The command has OPTIONS_TABLE. */
int table_format_of(const struct options *o, enum table_format *ret, struct err *e);
/* Prints in that format; columns as chosen by --columns.  ERR_USAGE for an unknown column, with the nearest name. */
int table_print(struct table *t, const struct options *o, FILE *out, struct err *e);
/* After a row of a table that may get long: prints what is there and drops it, if that are more rows than should be
 * kept in memory. table_print prints the rest.  People get one table after the other, everybody else one. */
int table_flush(struct table *t, const struct options *o, FILE *out, struct err *e);
/* The same without a command line: columns is the text of --columns or NULL; width 0: unlimited. */
int table_print_as(struct table *t, enum table_format format, const char *columns, size_t width, FILE *out,
                   struct err *e);

/* Columns that fit on one line of out: its terminal's width, $COLUMNS, or 0 for no limit. */
size_t table_width(FILE *out);

/* A number for programs: whole ones without an exponent up to 15 digits, else the shortest text that reads back the
 * same. */
const char *number_plain(double v, char buf[SIZE_TEXT]);
struct json_object *number_json(double v); /* the same in JSON, which has no infinite numbers: null for those */
/* Prints a JSON value as iosweep prints all its JSON: two blanks of indent, slashes plain, a newline at the end.
 * Takes the value over. */
void json_print(struct json_object *j, FILE *out);

/* One value of a CSV line (RFC 4180: quoted if it holds a comma, a quote or a line end), and of a raw one (tabs and
 * line ends inside a value would break the line: they become blanks).  Without separators. */
void csv_field(const char *s, FILE *out);
void raw_field(const char *s, FILE *out);

/* ---- between table*.c ---- */
struct table_cell {
	enum { CELL_EMPTY, CELL_TEXT, CELL_INTEGER, CELL_BOOL, CELL_NUMBER } kind;
	char *text;  /* owned: CELL_TEXT's value */
	char *shown; /* owned, or NULL: as the value */
	int64_t integer;
	double number;
};
struct table_column {
	char *name, *title; /* owned */
	unsigned flags;
};
struct table {
	const char *name;
	struct table_column *columns;
	size_t n_columns, cap_columns;
	struct table_row {
		struct table_cell *cells; /* n_columns of them: all columns are added before the first row */
	} *rows;
	size_t n_rows, cap_rows;
	size_t n_flushed;     /* rows that were printed and dropped */
	size_t *chosen;       /* owned: the columns, once something was printed */
	size_t n_chosen;
	struct json_writer *json; /* owned: open while a JSON table is flushed */
};
/* The cell as text: for_people chooses between shown and value.  Returns text of the cell or buf. */
const char *table_cell_text(const struct table_cell *c, bool for_people, char buf[SIZE_TEXT]);
/* chosen: column numbers. */
int table_print_people(const struct table *t, const size_t *chosen, size_t n, size_t width, FILE *out, struct err *e);
void table_print_text(struct table *t, enum table_format format, const size_t *chosen, size_t n, bool is_last,
                      FILE *out);

#endif
