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

static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] < ' ' || s[i] > '~')
			return false;
	return true;
}

static size_t text_columns(const char *s, size_t n)
{
	AUTO_FREE char *copy = NULL;
	AUTO_FREE wchar_t *wide = NULL;
	size_t length;
	int width;

	if (is_plain(s, n)) /* nearly all of it */
		return n;
	copy = xstrndup(s, n);
	length = mbstowcs(NULL, copy, 0);
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

	for (const char *p = t->columns[column].title; p != NULL;
	     p = strchr(p, '\n') != NULL ? strchr(p, '\n') + 1 : NULL) {
		size_t w = text_columns(p, strcspn(p, "\n"));

		width = w > width ? w : width;
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		const char *s = table_cell_text(&t->rows[r].cells[column], true, buf);
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

/* ---- one panel ---- */

struct panel {
	const struct table *t;
	const size_t *columns;
	size_t n;
	size_t *widths; /* per column; only those of wrapped columns matter */
	struct libscols_table *tb;
};

/* Takes what is too much for the terminal off the wrapped columns, the widest first. */
static void widths_shrink(struct panel *p, size_t width)
{
	size_t total = 0;

	for (size_t i = 0; i < p->n; i++) {
		p->widths[i] = column_width(p->t, p->columns[i]);
		total += p->widths[i] + (i > 0 ? GAP : 0);
	}
	while (width > 0 && total > width) {
		size_t widest = p->n;

		for (size_t i = 0; i < p->n; i++)
			if (p->t->columns[p->columns[i]].flags & TABLE_WRAP && p->widths[i] > WRAP_MIN &&
			    (widest == p->n || p->widths[i] > p->widths[widest]))
				widest = i;
		if (widest == p->n)
			return;
		p->widths[widest]--;
		total--;
	}
}

/* Breaks at blanks into lines of at most width columns; a longer word has a line of its own. */
static void text_wrap(const char *s, size_t width, struct text *ret)
{
	size_t used = 0;

	while (*s != '\0') {
		size_t n = strcspn(s, " "), columns = text_columns(s, n);

		if (used > 0 && used + 1 + columns > width) {
			text_add(ret, "\n");
			used = 0;
		} else if (used > 0) {
			text_add(ret, " ");
			used++;
		}
		text_add_n(ret, s, n);
		used += columns;
		s += n;
		s += strspn(s, " ");
	}
}

static int headings_add(const struct panel *p)
{
	size_t lines = 1;

	for (size_t i = 0; i < p->n; i++)
		if (title_lines(p->t->columns[p->columns[i]].title) > lines)
			lines = title_lines(p->t->columns[p->columns[i]].title);
	for (size_t l = 0; l < lines; l++) {
		struct libscols_line *line = scols_table_new_line(p->tb, NULL);

		for (size_t i = 0; i < p->n; i++) {
			const char *title = p->t->columns[p->columns[i]].title;
			size_t own = title_lines(title);
			AUTO_FREE char *text = l + own >= lines ? title_line(title, l + own - lines) : NULL;

			if (line == NULL || scols_line_set_data(line, i, text != NULL ? text : "") < 0)
				return -1;
		}
	}
	return 0;
}

static int rows_add(const struct panel *p)
{
	char buf[SIZE_TEXT];

	for (size_t r = 0; r < p->t->n_rows; r++) {
		struct libscols_line *line = scols_table_new_line(p->tb, NULL);

		for (size_t i = 0; i < p->n; i++) {
			const char *s = table_cell_text(&p->t->rows[r].cells[p->columns[i]], true, buf);
			AUTO_TEXT struct text wrapped = { 0 };

			if (p->t->columns[p->columns[i]].flags & TABLE_WRAP) {
				text_wrap(s, p->widths[i], &wrapped);
				s = text_str(&wrapped);
			}
			if (line == NULL || scols_line_set_data(line, i, s) < 0)
				return -1;
		}
	}
	return 0;
}

static int columns_add(const struct panel *p)
{
	for (size_t i = 0; i < p->n; i++) {
		unsigned flags = p->t->columns[p->columns[i]].flags;
		int scols = (flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0) | (flags & TABLE_WRAP ? SCOLS_FL_WRAP : 0);
		struct libscols_column *column = scols_table_new_column(p->tb, "", 0, scols);

		if (column == NULL)
			return -1;
		if (flags & TABLE_WRAP &&
		    (scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL) < 0 ||
		     scols_column_set_safechars(column, "\n") < 0))
			return -1;
	}
	return 0;
}

/* The library's own fitting is off: it spreads a narrow table over the whole terminal, and breaks words. */
static int panel_print(const struct table *t, const size_t *columns, size_t n, size_t width, FILE *out, struct err *e)
{
	AUTO_FREE size_t *widths = xcalloc(n, sizeof(*widths));
	struct panel p = { .t = t, .columns = columns, .n = n, .widths = widths, .tb = scols_new_table() };
	int rc = p.tb == NULL ? -1 : 0;

	if (rc == 0) {
		widths_shrink(&p, width);
		scols_table_enable_noheadings(p.tb, 1);
		scols_table_set_column_separator(p.tb, "  ");
		scols_table_set_stream(p.tb, out);
		scols_table_set_termforce(p.tb, SCOLS_TERMFORCE_NEVER);
	}
	if (rc < 0 || columns_add(&p) < 0 || headings_add(&p) < 0 || rows_add(&p) < 0 || scols_print_table(p.tb) < 0)
		rc = err_sys(e, errno, "print a table");
	scols_unref_table(p.tb);
	return rc;
}

/* ---- panels ---- */

/* Columns from `from` on that go into the next panel beside keys of keys_width; at least one group, glued ones
 * together. */
static size_t panel_end(const struct table *t, const size_t *others, size_t n, size_t from, size_t keys_width,
                        size_t width)
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
