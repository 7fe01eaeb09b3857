/* SPDX-License-Identifier: MIT
 *
 * The wire between iosweep and iosweepd; see message.h.  Both sides read what a stranger may have written, so a line is
 * bounded, must be one strict JSON object of valid UTF-8, and nothing is taken from a field of another type.
 */
#include "schema/message.h"

#include <string.h>

/* json-c counts the object itself as a level, and a scalar in it as one more. */
#define TOKENER_DEPTH (MESSAGE_MAX_DEPTH + 1)

static int message_parse(const char *line, size_t n, struct json_object **ret, struct err *e)
{
	struct json_tokener *t = json_tokener_new_ex(TOKENER_DEPTH);
	struct json_object *m;
	enum json_tokener_error status;
	size_t end;

	if (t == NULL)
		return err_set(e, ERR_SYSTEM, "no memory for a JSON reader");
	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	m = json_tokener_parse_ex(t, line, (int)n);
	status = json_tokener_get_error(t);
	end = json_tokener_get_parse_end(t);
	json_tokener_free(t);
	if (status == json_tokener_continue)
		err_set_(e, ERR_PROTOCOL, "the message ends in the middle, after %zu bytes", n);
	else if (status == json_tokener_error_depth)
		err_set_(e, ERR_PROTOCOL, "the message is nested deeper than %d levels", MESSAGE_MAX_DEPTH);
	else if (status != json_tokener_success)
		err_set_(e, ERR_PROTOCOL, "the message is not JSON: %s at byte %zu", json_tokener_error_desc(status),
		         end + 1);
	else if (end < n)
		err_set_(e, ERR_PROTOCOL, "the message goes on after its end at byte %zu", end + 1);
	else {
		*ret = m;
		return 0;
	}
	json_object_put(m);
	return -1;
}

int message_decode(const char *line, size_t n, struct json_object **ret, struct err *e)
{
	const char *nul;
	size_t first = 0;

	if (n > MESSAGE_MAX_BYTES)
		return err_set(e, ERR_PROTOCOL, "the message is longer than %zu bytes", MESSAGE_MAX_BYTES);
	while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t' || line[n - 1] == '\r'))
		n--;
	if (n == 0)
		return err_set(e, ERR_PROTOCOL, "the message is empty");
	nul = memchr(line, '\0', n);
	if (nul != NULL)
		return err_set(e, ERR_PROTOCOL, "the message holds a NUL at byte %zu", (size_t)(nul - line) + 1);
	if (!utf8_is_valid(line, n))
		return err_set(e, ERR_PROTOCOL, "the message is not valid UTF-8");
	while (line[first] == ' ' || line[first] == '\t') /* ends: the last byte is neither */
		first++;
	if (line[first] != '{')
		return err_set(e, ERR_PROTOCOL, "the message is not a JSON object");
	return message_parse(line, n, ret, e);
}

void message_encode(struct json_object *m, struct text *ret)
{
	text_add(ret, json_object_to_json_string_ext(m, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	text_add(ret, "\n");
}

int message_string(struct json_object *m, const char *key, const char **ret, struct err *e)
{
	struct json_object *field;
	const char *s;

	if (!json_object_object_get_ex(m, key, &field))
		return err_set(e, ERR_PROTOCOL, "the message has no '%s'", key);
	if (!json_object_is_type(field, json_type_string))
		return err_set(e, ERR_PROTOCOL, "'%s' in the message is not a string", key);
	s = json_object_get_string(field);
	if (strlen(s) != (size_t)json_object_get_string_len(field))
		return err_set(e, ERR_PROTOCOL, "'%s' in the message holds a NUL", key);
	*ret = s;
	return 0;
}

int message_integer(struct json_object *m, const char *key, int64_t *ret, struct err *e)
{
	struct json_object *field;

	if (!json_object_object_get_ex(m, key, &field))
		return err_set(e, ERR_PROTOCOL, "the message has no '%s'", key);
	if (!json_object_is_type(field, json_type_int))
		return err_set(e, ERR_PROTOCOL, "'%s' in the message is not a whole number", key);
	*ret = json_object_get_int64(field);
	return 0;
}

const char *message_string_or(struct json_object *m, const char *key, const char *otherwise)
{
	const char *s;

	return message_string(m, key, &s, NULL) < 0 ? otherwise : s;
}

int64_t message_integer_or(struct json_object *m, const char *key, int64_t otherwise)
{
	int64_t v;

	return message_integer(m, key, &v, NULL) < 0 ? otherwise : v;
}

bool message_bool_or(struct json_object *m, const char *key, bool otherwise)
{
	struct json_object *field;

	if (!json_object_object_get_ex(m, key, &field) || !json_object_is_type(field, json_type_boolean))
		return otherwise;
	return json_object_get_boolean(field);
}

/* Texts may quote what a tool, a kernel or a file name says: bytes that are not UTF-8 would spoil the whole line. */
static struct json_object *string_clean(const char *s)
{
	AUTO_FREE char *copy = NULL;

	if (utf8_is_valid(s, strlen(s)))
		return json_object_new_string(s);
	copy = xstrdup(s);
	for (char *p = copy; *p != '\0'; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return json_object_new_string(copy);
}

static struct json_object *diags_encode(const struct diags *d)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < d->n; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "line", json_object_new_int(d->at[i].line));
		json_object_object_add(o, "column", json_object_new_int(d->at[i].column));
		json_object_object_add(o, "message", string_clean(d->at[i].message));
		json_object_array_add(list, o);
	}
	return list;
}

struct json_object *message_error(const struct err *e, const struct diags *d)
{
	struct json_object *m = json_object_new_object(), *error = json_object_new_object();

	json_object_object_add(error, "kind", json_object_new_string(err_kind_name(e->kind)));
	json_object_object_add(error, "text", string_clean(e->text));
	json_object_object_add(error, "hint", string_clean(e->hint));
	json_object_object_add(m, "ok", json_object_new_boolean(0));
	json_object_object_add(m, "error", error);
	if (d != NULL && d->n > 0) {
		json_object_object_add(m, "diags", diags_encode(d));
		if (d->n_lost > 0)
			json_object_object_add(m, "diags_lost", json_object_new_int64((int64_t)d->n_lost));
	}
	return m;
}

static void diags_decode(struct json_object *reply, struct diags *d)
{
	struct json_object *list;
	int64_t lost;

	if (!json_object_object_get_ex(reply, "diags", &list) || !json_object_is_type(list, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (!json_object_is_type(o, json_type_object))
			continue;
		diags_add(d, (int)message_integer_or(o, "line", 0), (int)message_integer_or(o, "column", 0), "%s",
		          message_string_or(o, "message", "an error without a text"));
	}
	lost = message_integer_or(reply, "diags_lost", 0);
	d->n_lost += lost > 0 ? (size_t)lost : 0;
}

int message_reply_check(struct json_object *reply, struct diags *d, struct err *e)
{
	struct json_object *error;

	if (message_bool_or(reply, "ok", false))
		return 0;
	if (!json_object_object_get_ex(reply, "error", &error) || !json_object_is_type(error, json_type_object))
		return err_set(e, ERR_PROTOCOL, "the daemon's reply is neither a success nor an error");
	if (d != NULL)
		diags_decode(reply, d);
	err_set_(e, err_kind_by_name(message_string_or(error, "kind", "system")), "%s",
	         message_string_or(error, "text", "an error without a text"));
	err_hint_(e, "%s", message_string_or(error, "hint", ""));
	return -1;
}
