/* SPDX-License-Identifier: MIT
 *
 * The reader of comma-separated values; see csv.h.
 */
#include "schema/csv.h"

#include <string.h>

static int csv_getc(struct csv *c)
{
	int ch = getc(c->in);

	if (ch == '\n') {
		c->line++;
		c->column = 1;
	} else {
		c->column++;
	}
	return ch;
}

static int csv_fault(struct csv *c, int line, int column, const char *what)
{
	diags_add(c->d, line, column, "%s", what);
	return -1;
}

static void field_begin(struct csv *c, int line, int column)
{
	if (c->n_fields == c->cap_fields) {
		ARRAY_GROW(c->fields, c->n_fields, c->cap_fields);
		c->offsets = xreallocarray(c->offsets, c->cap_fields, sizeof(*c->offsets));
	}
	c->fields[c->n_fields] = (struct csv_field){ .line = line, .column = column };
	c->offsets[c->n_fields++] = c->buf.n;
}

/* The rest of a quoted field.  Returns the character after the closing quote, or -2 after a fault. */
static int quoted_read(struct csv *c, int line, int column)
{
	for (;;) {
		int ch = csv_getc(c);
		char byte = (char)ch;

		if (ch == EOF)
			return csv_fault(c, line, column, "the quote is not closed"), -2;
		if (ch == '"') {
			ch = csv_getc(c);
			if (ch != '"')
				return ch;
		}
		if (ch == '\0' || c->buf.n > CSV_RECORD_MAX)
			return csv_fault(c, c->line, c->column - 1,
			                 ch == '\0' ? "a NUL" : "a record of more than 1 MiB"),
			       -2;
		text_add_n(&c->buf, &byte, 1);
	}
}

/* One field; returns the character that ended it (',' '\n' or EOF), or -2 after a fault. */
static int field_read(struct csv *c, int ch, int line, int column)
{
	bool is_quoted = ch == '"';

	field_begin(c, line, column);
	if (is_quoted)
		ch = quoted_read(c, line, column);
	while (ch != ',' && ch != '\n' && ch != EOF && ch != -2) {
		char byte = (char)ch;

		if (ch == '\r') {
			ch = csv_getc(c);
			if (ch == '\n' || ch == EOF)
				break;
			return csv_fault(c, c->line, c->column - 1, "a carriage return inside a field"), -2;
		}
		if (is_quoted)
			return csv_fault(c, c->line, c->column - 1, "characters after the closing quote"), -2;
		if (ch == '"')
			return csv_fault(c, c->line, c->column - 1,
			                 "a quote inside a field that does not begin with one"),
			       -2;
		if (ch == '\0' || c->buf.n > CSV_RECORD_MAX)
			return csv_fault(c, c->line, c->column - 1,
			                 ch == '\0' ? "a NUL" : "a record of more than 1 MiB"),
			       -2;
		text_add_n(&c->buf, &byte, 1);
		ch = csv_getc(c);
	}
	if (ch != -2)
		text_add_n(&c->buf, "", 1);
	return ch;
}

/* Reads one record whatever its number of fields.  1, 0 at the end, -1. */
static int record_read(struct csv *c)
{
	int line = c->line, column = c->column, ch = csv_getc(c);

	text_clear(&c->buf);
	c->n_fields = 0;
	if (ch == EOF)
		return 0;
	for (;;) {
		ch = field_read(c, ch, line, column);
		if (ch == -2)
			return -1;
		if (ch != ',')
			break;
		line = c->line;
		column = c->column;
		ch = csv_getc(c);
	}
	for (size_t i = 0; i < c->n_fields; i++) {
		c->fields[i].text = c->buf.s + c->offsets[i];
		if (!utf8_is_valid(c->fields[i].text, strlen(c->fields[i].text)))
			return csv_fault(c, c->fields[i].line, c->fields[i].column, "invalid UTF-8");
		if (!text_is_clean(c->fields[i].text, strlen(c->fields[i].text)))
			return csv_fault(c, c->fields[i].line, c->fields[i].column, "a control character");
	}
	return 1;
}

int csv_column(const struct csv *c, const char *name)
{
	for (size_t i = 0; i < c->n_names; i++)
		if (strcmp(c->names[i], name) == 0)
			return (int)i;
	return -1;
}

int csv_begin(struct csv *c, FILE *in, struct diags *d)
{
	*c = (struct csv){ .in = in, .d = d, .line = 1, .column = 1 };
	if (record_read(c) <= 0)
		return d->n > 0 ? -1 : csv_fault(c, 1, 1, "the file is empty: a header line is missing");
	if (text_starts(c->fields[0].text, "\xef\xbb\xbf"))
		c->fields[0].text += 3;
	c->names = xcalloc(c->n_fields, sizeof(*c->names));
	for (size_t i = 0; i < c->n_fields; i++) {
		const struct csv_field *f = &c->fields[i];

		if (f->text[0] == '\0')
			diags_add(d, f->line, f->column, "column %zu has no name", i + 1);
		else if (csv_column(c, f->text) >= 0)
			diags_add(d, f->line, f->column, "column '%s' is there twice", f->text);
		c->names[c->n_names++] = xstrdup(f->text);
	}
	return d->n > 0 ? -1 : 0;
}

int csv_next(struct csv *c)
{
	for (;;) {
		int rc = record_read(c);

		if (rc <= 0)
			return rc;
		if (c->n_fields == 1 && c->fields[0].text[0] == '\0' && c->n_names > 1)
			continue; /* an empty line */
		c->record++;
		if (c->n_fields == c->n_names)
			return 1;
		diags_add(c->d, c->fields[0].line, 1, "%zu fields, the header has %zu", c->n_fields, c->n_names);
	}
}

void csv_end(struct csv *c)
{
	for (size_t i = 0; i < c->n_names; i++)
		free(c->names[i]);
	free(c->names);
	free(c->fields);
	free(c->offsets);
	text_done(&c->buf);
	*c = (struct csv){ 0 };
}
