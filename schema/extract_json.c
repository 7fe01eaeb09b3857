/* SPDX-License-Identifier: MIT
 *
 * The source `json`: a path leads to rows (objects or values) of the documents in an output, `take` names fields of a
 * row. The documents are found and decoded once for an output, however many metrics ask (a fio report of 1 MB: 30 of
 * them).
 */
#include "schema/definition.h"
#include "schema/extract_cache.h"

#include <ctype.h>
#include <string.h>

#define PATH_STEPS_MAX 32

static const char *key_scan(struct arena *a, const char *s, const char **ret_key)
{
	size_t n = 0;

	if (*s == '"') {
		const char *end = strchr(s + 1, '"');

		if (end == NULL || end == s + 1)
			return NULL;
		*ret_key = arena_strndup(a, s + 1, (size_t)(end - s - 1));
		return end + 1;
	}
	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-' || (unsigned char)s[n] >= 0x80)
		n++;
	if (n == 0)
		return NULL;
	*ret_key = arena_strndup(a, s, n);
	return s + n;
}

/* "[*]", "[3]", "[-1]" */
static const char *index_scan(const char *s, struct json_step *ret)
{
	char *end;

	if (s[1] == '*') {
		ret->kind = JSON_ALL;
		return s[2] == ']' ? s + 3 : NULL;
	}
	if (!isdigit((unsigned char)s[1]) && !(s[1] == '-' && isdigit((unsigned char)s[2])))
		return NULL;
	ret->kind = JSON_INDEX;
	ret->index = strtol(s + 1, &end, 10);
	return *end == ']' ? end + 1 : NULL;
}

int json_path_parse(struct arena *a, const char *text, struct json_path *ret, struct err *e)
{
	struct json_step *steps = arena_array(a, PATH_STEPS_MAX, sizeof(*steps));
	const char *s = text;
	size_t n = 0;

	if (*s == '$')
		s++;
	while (*s != '\0' && n < PATH_STEPS_MAX) {
		struct json_step *step = &steps[n++];
		const char *next = NULL;

		if (*s == '[') {
			next = index_scan(s, step);
		} else if (*s == '.' || s == text) {
			const char *key = s + (*s == '.');

			step->kind = *key == '*' ? JSON_ALL : JSON_KEY;
			next = *key == '*' ? key + 1 : key_scan(a, key, &step->key);
		}
		if (next == NULL)
			return err_set(e, ERR_USAGE, "'%s' is not a JSON path: '%s' is no key, [number], [*] or .*",
			               text, s);
		s = next;
	}
	if (*s != '\0' || *text == '\0')
		return err_set(e, ERR_USAGE, "'%s' is not a JSON path", text);
	*ret = (struct json_path){ .text = text, .steps = steps, .n = n };
	return 0;
}

static const struct json *child_at(const struct json *j, const struct json_step *step)
{
	const struct json *child = j->first;
	long i = step->index;

	if (step->kind == JSON_KEY) {
		if (j->kind != JSON_OBJECT)
			return NULL;
		while (child != NULL && strcmp(child->key, step->key) != 0)
			child = child->next;
		return child;
	}
	if (j->kind != JSON_LIST)
		return NULL;
	for (i = i < 0 ? i + (long)j->n : i; child != NULL && i > 0; i--)
		child = child->next;
	return i < 0 ? NULL : child;
}

struct walk {
	const struct json_path *path;
	int (*found)(const struct json *j, void *arg, struct err *e);
	void *arg;
};

static int path_walk(const struct walk *w, const struct json *j, size_t i, struct err *e)
{
	for (; i < w->path->n; i++) {
		const struct json_step *step = &w->path->steps[i];

		if (step->kind == JSON_ALL) {
			for (const struct json *child = j->first; child != NULL; child = child->next)
				if (path_walk(w, child, i + 1, e) < 0)
					return -1;
			return 0;
		}
		j = child_at(j, step);
		if (j == NULL)
			return 0;
	}
	return w->found(j, w->arg, e);
}

static int first_found(const struct json *j, void *arg, struct err *e)
{
	const struct json **ret = arg;

	(void)e;
	if (*ret == NULL && j->kind != JSON_NULL)
		*ret = j;
	return 0;
}

static int field_of(const struct json *j, struct field *ret)
{
	if (j->kind == JSON_STRING || j->kind == JSON_NUMBER)
		*ret = (struct field){ .s = j->s, .n = j->len };
	else if (j->kind == JSON_TRUE || j->kind == JSON_FALSE)
		*ret = (struct field){ .number = j->kind == JSON_TRUE };
	else
		*ret = (struct field){ .s = "" };
	return 0;
}

static int json_get(const struct row *row, const char *name, struct field *ret)
{
	const struct json *j = row->data;

	for (size_t i = 0; i < row->source->n_takes; i++) {
		const struct take *take = &row->source->takes[i];
		const struct json *found = NULL;

		if (strcmp(take->name, name) != 0)
			continue;
		for (size_t k = 0; k < take->n && found == NULL; k++)
			path_walk(&(struct walk){ &take->paths[k], first_found, &found }, j, 0, NULL);
		if (found != NULL)
			return field_of(found, ret);
		*ret = (struct field){ .s = "" };
		return 0;
	}
	if (strcmp(name, "document") == 0) {
		*ret = (struct field){ .number = (double)row->document };
		return 0;
	}
	return strcmp(name, "value") == 0 ? field_of(j, ret) : -1;
}

struct emit {
	struct row *row;
	row_cb cb;
	void *arg;
	size_t n;
};

static int row_found(const struct json *j, void *arg, struct err *e)
{
	struct emit *emit = arg;

	emit->n++;
	emit->row->data = j;
	emit->row->get = json_get;
	emit->row->match++;
	return emit->cb(emit->row, emit->arg, e);
}

int json_rows(const struct source *s, const struct capture *c, struct output_cache *cache, struct row *row, row_cb cb,
              void *arg, struct err *e)
{
	const struct json_documents *documents = output_documents(cache, c);
	struct emit emit = { .row = row, .cb = cb, .arg = arg };

	for (size_t i = 0; i < s->n_rows && emit.n == 0; i++) {
		struct walk walk = { &s->rows[i], row_found, &emit };

		for (size_t k = 0; k < documents->n; k++) {
			row->document = k + 1;
			if (path_walk(&walk, documents->at[k], 0, e) < 0)
				return -1;
		}
	}
	return 0;
}
