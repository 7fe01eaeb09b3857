/* SPDX-License-Identifier: MIT
 *
 * Tables for people, by libsmartcols; see table.h.  Headings are printed as lines of the table, since the library's own
 * are one line high and titles such as "dd-read / throughput / MB/s" would make every column as wide as its name.
 */
#include <errno.h>
#include <libsmartcols.h>
#include <string.h>
#include <wchar.h>

#include "cli/table.h"
#include "schema/base/mem.h"

#define WRAP_MIN 24 /* columns of free text are not made narrower than this */
#define GAP 2       /* blanks between columns */

static size_t text_columns(const char *s, size_t n)
{
	AUTO_FREE char *copy = xstrndup(s, n);
	size_t length = mbstowcs(NULL, copy, 0);
	AUTO_FREE wchar_t *wide = NULL;
	int width;

	if (length == (size_t)-1)
		return n;
	wide = xcalloc(length + 1, sizeof(*wide));
	mbstowcs(wide, copy, length + 1);
	width = wcswidth(wide, length);
	return width < 0 ? n : (size_t)width;
}

static size_t title_lines(const char *title)
{
	size_t n = 1;

	for (; *title != '\0'; title++)
		n += *title == '\n';
	return n;
}

/* Line i (from 0) of a title as its own string. */
static char *title_line(const char *title, size_t i)
{
	for (; i > 0; i--)
		title = strchr(title, '\n') + 1;
	return xstrndup(title, strcspn(title, "\n"));
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t width = 0;
	char buf[SIZE_TEXT];

	for (const char *p = t->columns[column].title; p != NULL; p = strchr(p, '\n') != NULL ? strchr(p, '\n') + 1 : NULL) {
		size_t w = text_columns(p, strcspn(p, "\n"));

		width = w > width ? w : width;
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		const char *s = table_cell_text(&t->rows[r][column], true, buf);
		size_t w = text_columns(s, strlen(s));

		width = w > width ? w : width;
	}
	return width;
}

/* What a column takes at least, with the gap after it. */
static size_t column_needs(const struct table *t, size_t column)
{
	size_t width = column_width(t, column);

	if (t->columns[column].flags & TABLE_WRAP && width > WRAP_MIN)
		width = WRAP_MIN;
	return width + GAP;
}

static int line_add(struct libscols_table *tb, size_t *ret_cells, struct libscols_line **ret)
{
	*ret = scols_table_new_line(tb, NULL);
	*ret_cells = 0;
	return *ret == NULL ? -1 : 0;
}

static int headings_add(struct libscols_table *tb, const struct table *t, const size_t *panel, size_t n)
{
	size_t lines = 1;

	for (size_t i = 0; i < n; i++)
		if (title_lines(t->columns[panel[i]].title) > lines)
			lines = title_lines(t->columns[panel[i]].title);
	for (size_t l = 0; l < lines; l++) {
		struct libscols_line *line;
		size_t cell;

		if (line_add(tb, &cell, &line) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			size_t own = title_lines(t->columns[panel[i]].title);
			AUTO_FREE char *text = l + own >= lines ? title_line(t->columns[panel[i]].title, l + own - lines) : NULL;

			if (scols_line_set_data(line, cell++, text != NULL ? text : "") < 0)
				return -1;
		}
	}
	return 0;
}

static int rows_add(struct libscols_table *tb, const struct table *t, const size_t *panel, size_t n)
{
	char buf[SIZE_TEXT];

	for (size_t r = 0; r < t->n_rows; r++) {
		struct libscols_line *line;
		size_t cell;

		if (line_add(tb, &cell, &line) < 0)
			return -1;
		for (size_t i = 0; i < n; i++)
			if (scols_line_set_data(line, cell++, table_cell_text(&t->rows[r][panel[i]], true, buf)) < 0)
				return -1;
	}
	return 0;
}

static int columns_add(struct libscols_table *tb, const struct table *t, const size_t *panel, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned flags = t->columns[panel[i]].flags;
		int scols = (flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0) | (flags & TABLE_WRAP ? SCOLS_FL_WRAP : 0);

		if (scols_table_new_column(tb, t->columns[panel[i]].name, 0, scols) == NULL)
			return -1;
	}
	return 0;
}

static int panel_print(const struct table *t, const size_t *panel, size_t n, size_t width, FILE *out, struct err *e)
{
	struct libscols_table *tb = scols_new_table();
	int rc = tb == NULL ? -1 : 0;

	if (rc == 0) {
		scols_table_enable_noheadings(tb, 1);
		scols_table_set_column_separator(tb, "  ");
		scols_table_set_stream(tb, out);
		scols_table_set_termforce(tb, width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
		if (width > 0)
			scols_table_set_termwidth(tb, width);
	}
	if (rc < 0 || columns_add(tb, t, panel, n) < 0 || headings_add(tb, t, panel, n) < 0 || rows_add(tb, t, panel, n) < 0 ||
	    scols_print_table(tb) < 0)
		rc = err_sys(e, errno, "print a table");
	scols_unref_table(tb);
	return rc;
}

/* Columns from `from` on that go into the next panel beside keys of keys_width; at least one group, glued ones together. */
static size_t panel_end(const struct table *t, const size_t *others, size_t n, size_t from, size_t keys_width, size_t width)
{
	size_t used = keys_width, end = from;

	while (end < n) {
		size_t group = end + 1, needs = column_needs(t, others[end]);

		while (group < n && t->columns[others[group]].flags & TABLE_GLUE)
			needs += column_needs(t, others[group++]);
		if (width > 0 && used + needs > width + GAP && end > from)
			break;
		used += needs;
		end = group;
	}
	return end;
}

int table_print_people(const struct table *t, const size_t *chosen, size_t n, size_t width, FILE *out, struct err *e)
{
	AUTO_FREE size_t *panel = xcalloc(2 * n + 1, sizeof(*panel)), *others = xcalloc(n + 1, sizeof(*others));
	size_t n_keys = 0, n_others = 0, keys_width = 0, from = 0;

	for (size_t i = 0; i < n; i++) {
		if (t->columns[chosen[i]].flags & TABLE_KEY) {
			panel[n_keys++] = chosen[i];
			keys_width += column_needs(t, chosen[i]);
		} else {
			others[n_others++] = chosen[i];
		}
	}
	if (n_others == 0)
		return n_keys > 0 ? panel_print(t, panel, n_keys, width, out, e) : 0;
	while (from < n_others) {
		size_t end = panel_end(t, others, n_others, from, keys_width, width);

		memcpy(panel + n_keys, others + from, (end - from) * sizeof(*panel));
		if (from > 0)
			fputc('\n', out);
		if (panel_print(t, panel, n_keys + end - from, width, out, e) < 0)
			return -1;
		from = end;
	}
	return 0;
}
