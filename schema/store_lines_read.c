/* SPDX-License-Identifier: MIT
 *
 * Reading JSON lines: lines, their fields, and faults in them; see store_lines.h.  One line at a time: memory grows
 * with the longest line, not with the file.  A fault ends the reading, with its line and column.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "schema/store_lines_private.h"

#define LINE_BYTES_MAX ((size_t)16 << 20) /* a plan is at most 4 MiB */

/* ---- faults ---- */

void line_fault_(const struct lines_reader *r, size_t column, struct err *e, const char *fmt, ...)
{
	AUTO_FREE char *message = NULL;
	va_list ap;

	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	err_set(e, ERR_USAGE, "%s:%lld:%zu: %s", r->name, (long long)r->number, column, message);
	err_hint(e, "nothing was imported");
}

size_t line_key_column(const struct lines_reader *r, const char *key)
{
	AUTO_FREE char *quoted = xasprintf("\"%s\"", key);

	for (const char *p = strstr(r->line.s, quoted); p != NULL; p = strstr(p + 1, quoted))
		if (p == r->line.s || p[-1] != '\\')
			return (size_t)(p - r->line.s) + 1;
	return 1;
}

/* ---- fields ---- */

static bool type_fits(char type, enum json_type found)
{
	switch (type | 0x20) {
	case 'i':
		return found == json_type_int;
	case 'o':
	case 'x':
		return found == json_type_object;
	case 'a':
		return found == json_type_array;
	}
	return found == json_type_string;
}

static const char *type_words(char type)
{
	switch (type | 0x20) {
	case 'i':
		return "a whole number";
	case 'o':
	case 'x':
		return "an object";
	case 'a':
		return "an array";
	case 'd':
		return "a digest of 64 hexadecimal digits";
	case 'u':
		return "a UUID";
	}
	return "text";
}

/* One value of an object, by its type.  where: "a trial". */
static int value_read(struct lines_reader *r, struct json_object *from, const char *where, const struct line_field *f,
                      struct value *ret, struct err *e)
{
	struct json_object *j = NULL;
	bool fits;

	*ret = (struct value){ 0 };
	if (!json_object_object_get_ex(from, f->key, &j) || j == NULL) {
		if (f->type < 'a' || f->type == 'x')
			return 0;
		return line_fault(r, 1, e, "%s without '%s'", where, f->key);
	}
	fits = type_fits(f->type, json_object_get_type(j));
	ret->is_there = true;
	ret->json = j;
	ret->text = fits && json_object_get_type(j) == json_type_string ? json_object_get_string(j) : "";
	ret->integer = fits && json_object_get_type(j) == json_type_int ? json_object_get_int64(j) : 0;
	if (fits && (f->type | 0x20) == 'd')
		fits = digest_parse(ret->text, ret->bytes) == 0;
	if (fits && f->type == 'u')
		fits = strlen(ret->text) == UUID_TEXT - 1 && uuid_parse(ret->text, ret->bytes) == 0;
	return fits ? 0 : FAULT(r, f->key, e, "'%s' is not %s", f->key, type_words(f->type));
}

static int keys_check(struct lines_reader *r, struct json_object *from, const char *where,
                      const struct line_field *fields, struct err *e)
{
	const char *names[LINE_FIELDS_MAX];
	size_t n = 0;

	while (fields[n].key != NULL) {
		names[n] = fields[n].key;
		n++;
	}
	json_object_object_foreach(from, key, value) {
		size_t i = 0;

		(void)value;
		while (i < n && strcmp(names[i], key) != 0)
			i++;
		if (i == n && strcmp(key, "type") != 0) {
			const char *nearest = text_nearest(key, names, n);

			return FAULT(r, key, e, "%s has no '%s'%s%s%s", where, key, nearest ? ", did you mean '" : "",
			             nearest ? nearest : "", nearest ? "'?" : "");
		}
	}
	return 0;
}

int line_fields_read(struct lines_reader *r, struct json_object *from, const char *where,
                     const struct line_field *fields, struct value *ret, struct err *e)
{
	for (size_t i = 0; fields[i].key != NULL; i++)
		if (value_read(r, from, where, &fields[i], &ret[i], e) < 0)
			return -1;
	return keys_check(r, from, where, fields, e);
}

const struct value *line_field(const struct lines_reader *r, enum line_kind kind, const char *key)
{
	size_t i = 0;

	while (strcmp(line_shapes[kind].fields[i].key, key) != 0)
		i++;
	return &r->v[i];
}

/* ---- lines ---- */

/* The next line without its end: 1, 0 at the end of the file, -1. */
static int line_next(struct lines_reader *r, struct err *e)
{
	char chunk[4096];
	size_t n = 0;
	int c;

	text_clear(&r->line);
	r->number++;
	while ((c = getc_unlocked(r->in)) != EOF && c != '\n' && c != '\0') {
		chunk[n++] = (char)c;
		if (n < sizeof(chunk))
			continue;
		text_add_n(&r->line, chunk, n);
		n = 0;
		if (r->line.n > LINE_BYTES_MAX)
			return line_fault(r, r->line.n, e, "a line of more than %zu bytes", LINE_BYTES_MAX);
	}
	text_add_n(&r->line, chunk, n);
	if (ferror(r->in))
		return err_sys(e, errno, "read '%s'", r->name);
	if (c == '\0')
		return line_fault(r, r->line.n + 1, e, "a NUL");
	if (c == EOF && r->line.n > 0)
		return line_fault(r, r->line.n + 1, e, "cut short in the middle of a line");
	return c != EOF;
}

static int line_parse(struct lines_reader *r, struct json_object **ret, struct err *e)
{
	enum json_tokener_error code;

	json_tokener_reset(r->tokener);
	*ret = json_tokener_parse_ex(r->tokener, text_str(&r->line), (int)r->line.n + 1);
	code = json_tokener_get_error(r->tokener);
	if (*ret != NULL && json_object_get_type(*ret) == json_type_object)
		return 0;
	json_object_put(*ret);
	if (code == json_tokener_success || code == json_tokener_continue)
		return line_fault(r, 1, e, "not a JSON object");
	return line_fault(r, json_tokener_get_parse_end(r->tokener) + 1, e, "not JSON: %s",
	                  json_tokener_error_desc(code));
}

static int key_check(struct lines_reader *r, const char *key, struct err *e)
{
	return text_is_printable(key) ? 0 : FAULT(r, key, e, "a key that is no text of one line");
}

/* What JSON can spell, but a store does not hold: control characters and NULs; and what is no UTF-8 at all. */
static int texts_check(struct lines_reader *r, const char *key, struct json_object *j, struct err *e)
{
	if (json_object_get_type(j) == json_type_string &&
	    !text_is_clean(json_object_get_string(j), (size_t)json_object_get_string_len(j)))
		return FAULT(r, key, e, "'%s' holds a control character, or what is no UTF-8", key);
	if (json_object_get_type(j) == json_type_array)
		for (size_t i = 0; i < json_object_array_length(j); i++)
			if (texts_check(r, key, json_object_array_get_idx(j, i), e) < 0)
				return -1;
	if (json_object_get_type(j) == json_type_object) {
		json_object_object_foreach(j, inner, value) {
			if (key_check(r, inner, e) < 0 || texts_check(r, inner, value, e) < 0)
				return -1;
		}
	}
	return 0;
}

static int kind_find(struct lines_reader *r, struct json_object *j, enum line_kind *ret, struct err *e)
{
	static const struct line_field type = { "type", 't' };
	const char *names[N_LINE_KINDS], *nearest;
	struct value v;

	if (value_read(r, j, "a line", &type, &v, e) < 0)
		return -1;
	for (*ret = 0; *ret < N_LINE_KINDS; (*ret)++) {
		if (strcmp(line_shapes[*ret].type, v.text) == 0)
			return 0;
		names[*ret] = line_shapes[*ret].type;
	}
	nearest = text_nearest(v.text, names, N_LINE_KINDS);
	return FAULT(r, "type", e, "no line is of type '%s'%s%s%s", v.text, nearest ? ", did you mean '" : "",
	             nearest ? nearest : "", nearest ? "'?" : "");
}

static int line_take(struct lines_reader *r, struct json_object *j, bool *ret_end, struct err *e)
{
	AUTO_FREE char *where = NULL;
	enum line_kind kind;

	if (texts_check(r, "", j, e) < 0 || kind_find(r, j, &kind, e) < 0)
		return -1;
	*ret_end = kind == LINE_END;
	where = xasprintf("a line of type '%s'", line_shapes[kind].type);
	return line_fields_read(r, j, where, line_shapes[kind].fields, r->v, e) < 0 ? -1 : line_add(r, kind, e);
}

/* One run of lines, up to its end: 1, 0 if there is none any more, -1. */
static int lines_take(struct lines_reader *r, struct err *e)
{
	bool is_end = false;
	int rc = 0;

	while (!is_end && (rc = line_next(r, e)) > 0) {
		struct json_object *j;

		if (line_parse(r, &j, e) < 0)
			return -1;
		rc = line_take(r, j, &is_end, e);
		json_object_put(j);
		if (rc < 0)
			return -1;
		SHA256Update(&r->sha, (const uint8_t *)text_str(&r->line), r->line.n);
		SHA256Update(&r->sha, (const uint8_t *)"\n", 1);
		r->n++;
	}
	if (rc < 0 || is_end)
		return rc < 0 ? -1 : 1;
	return r->n == 0 ? 0 : line_fault(r, 1, e, "cut short: the line of type 'end' is missing");
}

int store_lines_read(struct store *to, FILE *in, const char *name, int64_t *line, struct err *e)
{
	struct lines_reader r = { .s = to, .name = name, .in = in, .number = *line, .tokener = json_tokener_new() };
	int rc = store_begin(to, e), found = 0;

	json_tokener_set_flags(r.tokener, JSON_TOKENER_STRICT);
	SHA256Init(&r.sha);
	if (rc == 0) {
		found = lines_take(&r, e);
		rc = store_finish(to, found > 0 ? lines_results_make(to, e) : found, e);
	}
	*line = r.number;
	json_tokener_free(r.tokener);
	text_done(&r.line);
	lines_names_done(&r);
	return rc < 0 ? -1 : found;
}
