/* SPDX-License-Identifier: MIT
 *
 * Parameters as identity and in the store (digest, JSON), and where a definition's programs are.
 */
#include <glob.h>
#include <json-c/json.h>
#include <string.h>

#include "schema/workload.h"

static int param_compare(const void *a, const void *b)
{
	return strcmp(((const struct workload_param *)a)->name, ((const struct workload_param *)b)->name);
}

/* "8KiB", "8k" and "8192B" are one value; "2x ram" and "2xram" another, whatever the host's memory is. */
static void value_canonical(const char *value, struct text *t)
{
	const char *x = strchr(value, 'x');
	char buf[SIZE_TEXT];
	int64_t bytes;
	double times;

	if (x != NULL && strcmp(x + 1 + strspn(x + 1, " "), "ram") == 0 &&
	    number_parse_n(value, (size_t)(x - value), &times) == 0)
		text_printf(t, "%s x ram", number_format(times, buf));
	else if (size_parse(value, 0, &bytes, NULL) == 0)
		text_printf(t, "%lldB", (long long)bytes);
	else
		text_add(t, value);
}

void workload_digest(const struct workload *w, const struct workload_param *params, size_t n, uint8_t ret[32])
{
	AUTO_FREE struct workload_param *sorted = xcalloc(n + 1, sizeof(*sorted));
	AUTO_TEXT struct text t = { 0 };

	if (n > 0)
		memcpy(sorted, params, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), param_compare);
	text_add_n(&t, (const char *)w->digest, sizeof(w->digest));
	for (size_t i = 0; i < n; i++) {
		AUTO_TEXT struct text value = { 0 };

		value_canonical(sorted[i].value, &value);
		text_printf(&t, "%zu:%s=%zu:%s,", strlen(sorted[i].name), sorted[i].name, value.n, text_str(&value));
	}
	digest_of(t.s, t.n, ret);
}

void workload_params_json(const struct workload_param *params, size_t n, struct text *ret)
{
	struct json_object *map = json_object_new_object();

	for (size_t i = 0; i < n; i++)
		json_object_object_add(map, params[i].name, json_object_new_string(params[i].value));
	text_add(ret, json_object_to_json_string_ext(map, JSON_C_TO_STRING_PLAIN));
	json_object_put(map);
}

int workload_params_from_json(const char *json, struct arena *a, struct workload_param **ret, size_t *ret_n,
                              struct err *e)
{
	struct json_object *map = json_tokener_parse(json);
	struct workload_param *params;
	size_t n = 0;

	if (map == NULL || !json_object_is_type(map, json_type_object)) {
		json_object_put(map);
		return err_set(e, ERR_STORE, "the parameters '%.100s' are no JSON object", json);
	}
	params = arena_array(a, (size_t)json_object_object_length(map) + 1, sizeof(*params));
	json_object_object_foreach(map, key, value)
		params[n++] = (struct workload_param){ arena_strdup(a, key), arena_strdup(a, json_object_get_string(value)) };
	json_object_put(map);
	*ret = params;
	*ret_n = n;
	return 0;
}

static char *program_in(const char *dir, size_t n, const char *name, struct arena *a)
{
	char *path = arena_printf(a, "%.*s/%s", (int)n, dir, name);

	return access(path, X_OK) == 0 ? path : NULL;
}

/* The directories that a pattern stands for, highest version first: of /usr/lib/postgresql/9.6 and 15 the latter. */
static char *program_in_pattern(const char *pattern, const char *name, struct arena *a)
{
	char *best = NULL;
	glob_t found;

	if (glob(pattern, GLOB_NOSORT | GLOB_ONLYDIR, NULL, &found) != 0)
		return NULL;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *path = program_in(found.gl_pathv[i], strlen(found.gl_pathv[i]), name, a);

		if (path != NULL && (best == NULL || strverscmp(path, best) > 0))
			best = path;
	}
	globfree(&found);
	return best;
}

char *workload_program(const struct workload *w, const char *name, struct arena *a)
{
	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == 0 ? arena_strdup(a, name) : NULL;
	for (char **dir = w->path; dir != NULL && *dir != NULL; dir++) {
		char *path = program_in_pattern(*dir, name, a);

		if (path != NULL)
			return path;
	}
	for (const char *dir = WORKLOAD_PATH; *dir != '\0';) {
		size_t n = strcspn(dir, ":");
		char *path = program_in(dir, n, name, a);

		if (path != NULL)
			return path;
		dir += n + (dir[n] == ':');
	}
	return NULL;
}

const char *workload_missing(const struct workload *w)
{
	AUTO_ARENA struct arena *a = arena_new();

	for (char **need = w->needs; *need != NULL; need++)
		if (workload_program(w, *need, a) == NULL)
			return *need;
	return NULL;
}

int workload_installed(const struct workload *w, struct err *e)
{
	const char *missing = workload_missing(w);

	if (missing == NULL)
		return 0;
	return err_set(e, ERR_INFEASIBLE, "needs '%s', which is not installed%s%s", missing,
	               w->package[0] != '\0' ? ": package " : "", w->package);
}
