/* SPDX-License-Identifier: MIT
 *
 * Tables for programs and for documents: JSON, CSV, raw, markdown, html; see table.h.
 */
#include <json-c/json.h>
#include <string.h>

#include "cli/json_write.h"
#include "cli/table.h"
#include "schema/base/mem.h"

void json_print(struct json_object *j, FILE *out)
{
	fprintf(out, "%s\n",
	        json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
	                                                  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
}

static struct json_object *cell_json(const struct table_cell *c)
{
	switch (c->kind) {
	case CELL_EMPTY:
		return NULL;
	case CELL_TEXT:
		return json_object_new_string(c->text);
	case CELL_INTEGER:
		return json_object_new_int64(c->integer);
	case CELL_BOOL:
		return json_object_new_boolean(c->integer != 0);
	case CELL_NUMBER:
		return number_json(c->number);
	}
	return NULL;
}

static void json_write(struct table *t, const size_t *chosen, size_t n, bool is_last, FILE *out)
{
	if (t->json == NULL) {
		t->json = xcalloc(1, sizeof(*t->json));
		t->json->out = out;
		json_begin(t->json, NULL, '{');
		json_begin(t->json, t->name, '[');
	}
	for (size_t r = 0; r < t->n_rows; r++) {
		struct json_object *row = json_object_new_object();

		for (size_t i = 0; i < n; i++)
			json_object_object_add(row, t->columns[chosen[i]].name,
			                       cell_json(&t->rows[r].cells[chosen[i]]));
		json_put(t->json, NULL, row);
	}
	if (!is_last)
		return;
	json_end(t->json);
	json_end(t->json);
}

void csv_field(const char *s, FILE *out)
{
	size_t n = 0;

	while (s[n] != '\0' && s[n] != ',' && s[n] != '"' && s[n] != '\r' && s[n] != '\n')
		n++;
	if (s[n] == '\0') {
		fwrite(s, 1, n, out);
		return;
	}
	fputc('"', out);
	for (; *s != '\0'; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	fputc('"', out);
}

void raw_field(const char *s, FILE *out)
{
	for (; *s != '\0'; s++)
		fputc(*s == '\t' || *s == '\n' || *s == '\r' ? ' ' : *s, out);
}

static void markdown_field(const char *s, FILE *out)
{
	for (; *s != '\0'; s++) {
		if (*s == '|' || *s == '*' || *s == '_' || *s == '<' || *s == '`')
			fputc('\\', out);
		fputc(*s == '\n' ? ' ' : *s, out);
	}
}

static void html_field(const char *s, FILE *out)
{
	for (; *s != '\0'; s++) {
		const char *entity = *s == '<' ? "&lt;" : *s == '>' ? "&gt;" : *s == '&' ? "&amp;" : *s == '"' ? "&quot;" : NULL;

		if (entity != NULL)
			fputs(entity, out);
		else
			fputc(*s, out);
	}
}

/* What surrounds the fields of a line in each format. */
static const struct layout {
	void (*field)(const char *s, FILE *out);
	const char *line, *between, *end;
	bool for_people;
} layouts[] = {
	[TABLE_CSV] = { csv_field, "", ",", "\r\n", false },
	[TABLE_RAW] = { raw_field, "", "\t", "\n", false },
	[TABLE_MARKDOWN] = { markdown_field, "| ", " | ", " |\n", true },
	[TABLE_HTML] = { html_field, "<tr><td>", "</td><td>", "</td></tr>\n", true },
};

static void header_write(const struct table *t, enum table_format format, const size_t *chosen, size_t n, FILE *out)
{
	const struct layout *l = &layouts[format];

	if (format == TABLE_RAW || t->n_flushed > 0)
		return;
	if (format == TABLE_HTML)
		fputs("<table>\n<tr><th>", out);
	else
		fputs(l->line, out);
	for (size_t i = 0; i < n; i++) {
		const struct table_column *c = &t->columns[chosen[i]];

		fputs(i == 0 ? "" : format == TABLE_HTML ? "</th><th>" : l->between, out);
		l->field(l->for_people ? c->title : c->name, out);
	}
	fputs(format == TABLE_HTML ? "</th></tr>\n" : l->end, out);
	for (size_t i = 0; format == TABLE_MARKDOWN && i < n; i++)
		fprintf(out, "%s%s%s", i == 0 ? "|" : "", t->columns[chosen[i]].flags & TABLE_RIGHT ? "---:|" : "---|",
		        i + 1 == n ? "\n" : "");
}

void table_print_text(struct table *t, enum table_format format, const size_t *chosen, size_t n, bool is_last,
                      FILE *out)
{
	const struct layout *l = &layouts[format];
	char buf[SIZE_TEXT];

	if (format == TABLE_JSON) {
		json_write(t, chosen, n, is_last, out);
		return;
	}
	header_write(t, format, chosen, n, out);
	for (size_t r = 0; r < t->n_rows; r++) {
		fputs(l->line, out);
		for (size_t i = 0; i < n; i++) {
			fputs(i > 0 ? l->between : "", out);
			l->field(table_cell_text(&t->rows[r].cells[chosen[i]], l->for_people, buf), out);
		}
		fputs(l->end, out);
	}
	if (format == TABLE_HTML && is_last)
		fputs("</table>\n", out);
}
