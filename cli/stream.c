/* SPDX-License-Identifier: MIT
 *
 * Rows written as they come; see stream.h.
 */
#include "cli/stream.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "cli/table.h"
#include "schema/base/mem.h"

static int column_find(const char *const *names, size_t n, const char *list, size_t length, size_t *ret, struct err *e)
{
	AUTO_FREE char *name = xstrndup(list, length);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = i;
			return 0;
		}
	}
	err_set(e, ERR_USAGE, "unknown column '%s'", name);
	return text_nearest(name, names, n) != NULL ? err_hint(e, "did you mean '%s'?", text_nearest(name, names, n)) :
	                                              -1;
}

static void json_string_write(const char *s, FILE *out)
{
	struct json_object *j = json_object_new_string(s);

	fputs(json_object_to_json_string_ext(j, JSON_C_TO_STRING_NOSLASHESCAPE), out);
	json_object_put(j);
}

int stream_begin(struct stream *s, const char *name, enum table_format format, const char *const *names, size_t n,
                 const char *columns, FILE *out, struct err *e)
{
	struct stream r = { .out = out, .format = format, .names = names };
	size_t given = 1;

	for (const char *p = columns; p != NULL && *p != '\0'; p++)
		given += *p == ',';
	r.chosen = xcalloc(n + given + 1, sizeof(*r.chosen));
	for (size_t i = 0; columns == NULL && i < n; i++)
		r.chosen[r.n_chosen++] = i;
	for (const char *p = columns; p != NULL && *p != '\0'; p += strcspn(p, ","), p += *p == ',') {
		if (column_find(names, n, p, strcspn(p, ","), &r.chosen[r.n_chosen], e) < 0) {
			free(r.chosen);
			return -1;
		}
		r.n_chosen++;
	}
	if (format == TABLE_JSON)
		fprintf(out, "{\"%s\": [", name);
	for (size_t i = 0; format == TABLE_CSV && i < r.n_chosen; i++) {
		fputs(i > 0 ? "," : "", out);
		csv_field(names[r.chosen[i]], out);
	}
	if (format == TABLE_CSV)
		fputs("\r\n", out);
	*s = r;
	return 0;
}

static const char *value_text(const struct stream_value *v, char buf[SIZE_TEXT])
{
	if (v->kind == STREAM_TEXT)
		return v->text;
	if (v->kind == STREAM_NUMBER && isfinite(v->number))
		return number_plain(v->number, buf);
	if (v->kind == STREAM_INTEGER)
		snprintf(buf, SIZE_TEXT, "%lld", (long long)v->integer);
	else
		buf[0] = '\0';
	return buf;
}

static void json_field(const char *name, const struct stream_value *v, bool is_first, FILE *out)
{
	char buf[SIZE_TEXT];

	if (v->kind == STREAM_EMPTY && text_ends(name, ":effective"))
		return; /* most axes are set: what was found instead is the exception */
	fputs(is_first ? "" : ", ", out);
	json_string_write(name, out);
	fputs(": ", out);
	if (v->kind == STREAM_TEXT)
		json_string_write(v->text, out);
	else
		fputs(value_text(v, buf)[0] == '\0' ? "null" : value_text(v, buf), out);
}

void stream_row(struct stream *s, const struct stream_value *values)
{
	char buf[SIZE_TEXT];

	if (s->format == TABLE_JSON)
		fputs(s->n_rows > 0 ? ",\n  {" : "\n  {", s->out);
	for (size_t i = 0; i < s->n_chosen; i++) {
		const struct stream_value *v = &values[s->chosen[i]];

		if (s->format == TABLE_JSON) {
			json_field(s->names[s->chosen[i]], v, i == 0, s->out);
			continue;
		}
		fputs(i == 0 ? "" : s->format == TABLE_CSV ? "," : "\t", s->out);
		(s->format == TABLE_CSV ? csv_field : raw_field)(value_text(v, buf), s->out);
	}
	fputs(s->format == TABLE_JSON ? "}" : s->format == TABLE_CSV ? "\r\n" : "\n", s->out);
	if (s->n_rows++ == 0)
		fflush(s->out); /* the first row is seen at once */
}

void stream_end(struct stream *s)
{
	if (s->format == TABLE_JSON)
		fputs(s->n_rows > 0 ? "\n]}\n" : "]}\n", s->out);
	free(s->chosen);
}

void stream_to_table(struct table *t, const struct stream_value *values, size_t n)
{
	table_row(t);
	for (size_t i = 0; i < n; i++) {
		if (values[i].kind == STREAM_TEXT)
			table_text(t, i, values[i].text);
		else if (values[i].kind == STREAM_INTEGER)
			table_integer(t, i, values[i].integer);
		else if (values[i].kind == STREAM_NUMBER)
			table_number(t, i, values[i].number, NULL);
	}
}
