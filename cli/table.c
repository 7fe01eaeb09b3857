/* SPDX-License-Identifier: MIT
 *
 * The table itself: columns, rows, which of them to print and how; see table.h.  The layouts are in table_people.c and
 * table_text.c.  Tables have up to some thousand rows and some tens of columns.
 */
#include "cli/table.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cli/command.h"
#include "schema/base/mem.h"

struct table *table_new(const char *name)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->name = name;
	return t;
}

static void rows_drop(struct table *t)
{
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_columns; c++) {
			free(t->rows[r].cells[c].text);
			free(t->rows[r].cells[c].shown);
		}
		free(t->rows[r].cells);
	}
	t->n_rows = 0;
}

void table_free(struct table *t)
{
	if (t == NULL)
		return;
	rows_drop(t);
	for (size_t c = 0; c < t->n_columns; c++) {
		free(t->columns[c].name);
		free(t->columns[c].title);
	}
	free(t->rows);
	free(t->columns);
	free(t->chosen);
	free(t->json);
	free(t);
}

size_t table_column(struct table *t, const char *name, const char *title, unsigned flags)
{
	assert(t->n_rows == 0);
	ARRAY_GROW(t->columns, t->n_columns, t->cap_columns);
	t->columns[t->n_columns] = (struct table_column){ xstrdup(name), xstrdup(title), flags };
	return t->n_columns++;
}

void table_row(struct table *t)
{
	ARRAY_GROW(t->rows, t->n_rows, t->cap_rows);
	t->rows[t->n_rows++].cells = xcalloc(t->n_columns, sizeof(struct table_cell));
}

size_t table_rows(const struct table *t)
{
	return t->n_flushed + t->n_rows;
}

static struct table_cell *table_cell_fresh(struct table *t, size_t column)
{
	struct table_cell *c;

	assert(t->n_rows > 0 && column < t->n_columns);
	c = &t->rows[t->n_rows - 1].cells[column];
	free(c->text);
	free(c->shown);
	*c = (struct table_cell){ 0 };
	return c;
}

void table_text(struct table *t, size_t column, const char *text)
{
	struct table_cell *c = table_cell_fresh(t, column);

	if (text == NULL)
		return;
	c->kind = CELL_TEXT;
	c->text = xstrdup(text);
}

void table_integer(struct table *t, size_t column, int64_t v)
{
	struct table_cell *c = table_cell_fresh(t, column);

	c->kind = CELL_INTEGER;
	c->integer = v;
}

void table_bool(struct table *t, size_t column, bool v)
{
	struct table_cell *c = table_cell_fresh(t, column);

	c->kind = CELL_BOOL;
	c->integer = v;
}

void table_number(struct table *t, size_t column, double v, const char *shown)
{
	struct table_cell *c = table_cell_fresh(t, column);

	c->kind = isfinite(v) ? CELL_NUMBER : CELL_EMPTY; /* no program reads "inf" */
	c->number = v;
	c->shown = shown != NULL ? xstrdup(shown) : NULL;
}

void table_show(struct table *t, size_t column, const char *shown)
{
	struct table_cell *c;

	assert(t->n_rows > 0 && column < t->n_columns);
	c = &t->rows[t->n_rows - 1].cells[column];
	free(c->shown);
	c->shown = xstrdup(shown);
}

const char *number_plain(double v, char buf[SIZE_TEXT])
{
	if (v != floor(v) || fabs(v) >= 1e15)
		return number_format(v, buf);
	snprintf(buf, SIZE_TEXT, "%.0f", v);
	return buf;
}

struct json_object *number_json(double v)
{
	char buf[SIZE_TEXT];

	return isfinite(v) ? json_object_new_double_s(v, number_plain(v, buf)) : NULL;
}

const char *table_cell_text(const struct table_cell *c, bool for_people, char buf[SIZE_TEXT])
{
	if (for_people && c->shown != NULL)
		return c->shown;
	switch (c->kind) {
	case CELL_EMPTY:
		return "";
	case CELL_TEXT:
		return c->text;
	case CELL_BOOL:
		return c->integer ? "yes" : "no";
	case CELL_INTEGER:
		snprintf(buf, SIZE_TEXT, "%lld", (long long)c->integer);
		return buf;
	case CELL_NUMBER:
		return number_plain(c->number, buf);
	}
	return "";
}

size_t table_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int64_t n;

	if (columns != NULL && integer_parse(columns, 1, 10000, &n) == 0)
		return (size_t)n;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 0;
}

static const char *const format_names[] = {
	[TABLE_PEOPLE] = "table", [TABLE_JSON] = "json",         [TABLE_CSV] = "csv",
	[TABLE_RAW] = "raw",      [TABLE_MARKDOWN] = "markdown", [TABLE_HTML] = "html",
};

int table_format_of(const struct options *o, enum table_format *ret, struct err *e)
{
	const char *name = options_text(o, "format"), *nearest;
	enum table_format format = TABLE_PEOPLE;
	int n = 0;

	for (enum table_format f = TABLE_JSON; f <= TABLE_RAW; f++) {
		if (options_has(o, format_names[f])) {
			format = f;
			n++;
		}
	}
	if (n + (name != NULL) > 1)
		return err_set(e, ERR_USAGE, "%s: one of --json, --csv, --raw and --format at a time",
		               o->command->name);
	for (size_t f = 0; name != NULL && f <= ARRAY_SIZE(format_names); f++) {
		if (f == ARRAY_SIZE(format_names)) {
			nearest = text_nearest(name, format_names, f);
			err_set(e, ERR_USAGE, "%s: unknown format '%s'", o->command->name, name);
			return err_hint(e, "%s%s%sknown are table, json, csv, raw, markdown and html",
			                nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? " : "");
		}
		if (strcmp(name, format_names[f]) == 0) {
			format = (enum table_format)f;
			break;
		}
	}
	*ret = format;
	return 0;
}

static int column_unknown(const struct table *t, const char *name, size_t length, struct err *e)
{
	AUTO_FREE const char **names = xcalloc(t->n_columns + 1, sizeof(*names));
	AUTO_FREE char *word = xstrndup(name, length);
	AUTO_TEXT struct text all = { 0 };
	const char *nearest;

	for (size_t c = 0; c < t->n_columns; c++) {
		names[c] = t->columns[c].name;
		text_printf(&all, "%s%s", c > 0 ? "," : "", names[c]);
	}
	nearest = text_nearest(word, names, t->n_columns);
	if (nearest != NULL)
		err_set(e, ERR_USAGE, "unknown column '%s', did you mean '%s'?", word, nearest);
	else
		err_set(e, ERR_USAGE, "unknown column '%s'", word);
	return err_hint(e, "the columns are %s", text_str(&all));
}

/* A column's name may hold commas, "fio.lat{4KiB,1MiB}": the longest name that fits is taken. */
static const char *column_match(const struct table *t, const char *list, size_t *ret)
{
	size_t best = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		size_t n = strlen(t->columns[c].name);

		if (n > best && strncmp(list, t->columns[c].name, n) == 0 && (list[n] == ',' || list[n] == '\0')) {
			best = n;
			*ret = c;
		}
	}
	return best > 0 ? list + best : NULL;
}

/* People need not see a column that says nothing in any row. */
static bool column_is_empty(const struct table *t, size_t column)
{
	char buf[SIZE_TEXT];

	for (size_t r = 0; r < t->n_rows; r++)
		if (table_cell_text(&t->rows[r].cells[column], true, buf)[0] != '\0')
			return false;
	return t->n_rows > 0;
}

static bool column_is_chosen(const struct table *t, enum table_format format, size_t column)
{
	if (format != TABLE_PEOPLE && format != TABLE_MARKDOWN && format != TABLE_HTML)
		return true;
	return !(t->columns[column].flags & TABLE_EXTRA) && !column_is_empty(t, column);
}

static int columns_choose(const struct table *t, enum table_format format, const char *list, size_t *ret, size_t *ret_n,
                          struct err *e)
{
	size_t n = 0;

	for (size_t c = 0; list == NULL && c < t->n_columns; c++)
		if (column_is_chosen(t, format, c))
			ret[n++] = c;
	while (list != NULL && *list != '\0') {
		size_t c = 0;
		const char *rest = column_match(t, list, &c);

		if (rest == NULL)
			return column_unknown(t, list, strcspn(list, ","), e);
		for (size_t i = 0; i < n; i++)
			if (ret[i] == c)
				return err_set(e, ERR_USAGE, "column '%s' is named twice", t->columns[c].name);
		ret[n++] = c;
		list = *rest == ',' ? rest + 1 : rest;
	}
	*ret_n = n;
	return 0;
}

/* People read thousands of rows in tables of their own, since a column's width is that of all its rows. */
#define FLUSH_ROWS 1000
#define FLUSH_ROWS_PEOPLE 5000

static int rows_print(struct table *t, enum table_format format, const char *columns, size_t width, bool is_last,
                      FILE *out, struct err *e)
{
	if (t->chosen == NULL) {
		AUTO_FREE size_t *chosen = xcalloc(t->n_columns + 1, sizeof(*chosen));

		if (columns_choose(t, format, columns, chosen, &t->n_chosen, e) < 0)
			return -1;
		t->chosen = TAKE(chosen);
	}
	if (format != TABLE_PEOPLE) {
		table_print_text(t, format, t->chosen, t->n_chosen, is_last, out);
		return 0;
	}
	if (t->n_flushed > 0 && t->n_rows == 0)
		return 0;
	if (t->n_flushed > 0)
		fputc('\n', out);
	return table_print_people(t, t->chosen, t->n_chosen, width, out, e);
}

int table_print_as(struct table *t, enum table_format format, const char *columns, size_t width, FILE *out,
                   struct err *e)
{
	if (columns != NULL && strcmp(columns, "help") == 0) {
		for (size_t c = 0; c < t->n_columns; c++)
			fprintf(out, "%s\n", t->columns[c].name);
		return 0;
	}
	return rows_print(t, format, columns, width, true, out, e);
}

int table_print(struct table *t, const struct options *o, FILE *out, struct err *e)
{
	enum table_format format;

	if (table_format_of(o, &format, e) < 0)
		return -1;
	return table_print_as(t, format, options_text(o, "columns"), table_width(out), out, e);
}

int table_flush(struct table *t, const struct options *o, FILE *out, struct err *e)
{
	const char *columns = options_text(o, "columns");
	enum table_format format;

	if (t->n_rows < FLUSH_ROWS)
		return 0;
	if (table_format_of(o, &format, e) < 0)
		return -1;
	if (format == TABLE_PEOPLE && t->n_rows < FLUSH_ROWS_PEOPLE)
		return 0;
	if (columns == NULL || strcmp(columns, "help") != 0) {
		if (rows_print(t, format, columns, table_width(out), false, out, e) < 0)
			return -1;
		t->n_flushed += t->n_rows;
	}
	rows_drop(t);
	return 0;
}
