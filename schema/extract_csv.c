/* SPDX-License-Identifier: MIT
 *
 * The source `csv`: lines of separated fields in an output; the first field chooses the layout, the number of fields
 * tells such a line from any other text.  Fields that are quoted ("a,b") keep separators.
 */
#include "schema/definition.h"

#include <string.h>

#define FIELDS_MAX 256

struct csv_line {
	const struct layout *layout;
	struct field fields[FIELDS_MAX];
	size_t n;
};

static const char *field_scan(const char *s, const char *end, char separator, struct field *ret)
{
	const char *from = s;

	if (s < end && *s == '"') {
		const char *close = memchr(s + 1, '"', (size_t)(end - s - 1));

		if (close != NULL && (close + 1 == end || close[1] == separator)) {
			*ret = (struct field){ .s = s + 1, .n = (size_t)(close - s - 1) };
			return close + 1;
		}
	}
	while (s < end && *s != separator)
		s++;
	*ret = (struct field){ .s = from, .n = (size_t)(s - from) };
	return s;
}

static void line_split(const char *s, const char *end, char separator, struct csv_line *line)
{
	line->n = 0;
	for (;;) {
		s = field_scan(s, end, separator, &line->fields[line->n++]);
		if (s >= end || line->n == FIELDS_MAX)
			return;
		s++;
	}
}

/* "1.98", or "1.9*" for all that begin so. */
static bool field_is(const struct field *f, const char *want)
{
	size_t n = strlen(want);

	if (n > 0 && want[n - 1] == '*')
		return f->n >= n - 1 && memcmp(f->s, want, n - 1) == 0;
	return f->n == n && memcmp(f->s, want, n) == 0;
}

/* A first field that some layout names leaves "*" out: a line that was cut is not one of another layout. */
static const struct layout *layout_find(const struct csv *csv, const struct csv_line *line)
{
	bool is_named = false;

	for (size_t i = 0; i < csv->n; i++) {
		const struct layout *l = &csv->layouts[i];

		if (l->first != NULL ? !field_is(&line->fields[0], l->first) : is_named)
			continue;
		is_named = true;
		if (line->n >= l->min && line->n <= l->n)
			return l;
	}
	return NULL;
}

static int csv_get(const struct row *row, const char *name, struct field *ret)
{
	const struct csv_line *line = row->data;
	const struct csv *csv = row->source->csv;

	for (size_t i = 0; i < line->layout->n; i++) {
		if (strcmp(line->layout->names[i], name) == 0) {
			*ret = i < line->n ? line->fields[i] : (struct field){ .s = "" };
			return 0;
		}
	}
	for (size_t i = 0; i < csv->n; i++) /* a field of another layout is absent in this one */
		for (size_t k = 0; k < csv->layouts[i].n; k++)
			if (strcmp(csv->layouts[i].names[k], name) == 0) {
				*ret = (struct field){ .s = "" };
				return 0;
			}
	return -1;
}

int csv_rows(const struct source *s, const struct capture *c, struct row *row, row_cb cb, void *arg, struct err *e)
{
	const char *p = c->data, *end = c->data + c->n;
	AUTO_FREE struct csv_line *line = xmalloc(sizeof(*line));

	row->data = line;
	row->get = csv_get;
	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p)), *stop;

		eol = eol != NULL ? eol : end;
		stop = eol > p && eol[-1] == '\r' ? eol - 1 : eol;
		if (memchr(p, s->csv->separator, (size_t)(stop - p)) != NULL) {
			line_split(p, stop, s->csv->separator, line);
			line->layout = layout_find(s->csv, line);
			if (line->layout != NULL) {
				row->match++;
				if (cb(row, arg, e) < 0)
					return -1;
			}
		}
		p = eol + 1;
	}
	return 0;
}
