/* SPDX-License-Identifier: MIT
 *
 * What a definition says of a rehearsal: `rehearse: {at-most: {size: 64MiB}, set: {fast: yes}}`.  A plan written for
 * a week on 24 disks is tried in minutes on an image, with the same tools and the same cells.
 */
#include <string.h>

#include "schema/workload_read.h"

/* Memory for "2x ram": any such size is larger than what a rehearsal allows. */
#define RAM_BYTES (INT64_C(1) << 44)

enum quantity { QUANTITY_NONE, QUANTITY_NUMBER, QUANTITY_SIZE, QUANTITY_DURATION };

static enum quantity quantity_read(const char *text, double *ret)
{
	int64_t whole;

	if (number_parse(text, ret) == 0)
		return QUANTITY_NUMBER;
	if (workload_size(text, RAM_BYTES, &whole, NULL) == 0) {
		*ret = (double)whole;
		return QUANTITY_SIZE;
	}
	if (duration_parse(text, &whole, NULL) == 0) {
		*ret = (double)whole;
		return QUANTITY_DURATION;
	}
	return QUANTITY_NONE;
}

/* The smaller of two values of one kind; the limit if they cannot be compared.  An empty value is none, and stays so.
 * */
static const char *value_limit(const char *value, const char *limit)
{
	double v, l;

	if (value[0] == '\0' || (quantity_read(value, &v) == quantity_read(limit, &l) && v <= l))
		return value;
	return limit;
}

static const char *param_value(const struct workload_param *params, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(params[i].name, name) == 0)
			return params[i].value;
	return NULL;
}

const char *workload_rehearsed(const struct workload *w, const char *name, const char *value)
{
	const char *set = param_value(w->rehearse_set, w->n_rehearse_set, name);
	const char *limit = param_value(w->rehearse_at_most, w->n_rehearse_at_most, name);

	if (set != NULL)
		return set;
	return limit != NULL ? value_limit(value, limit) : value;
}

static struct workload_param *values_read(struct workload *w, const struct node *map, const char *what, size_t *ret_n,
                                          struct diags *d)
{
	struct workload_param *params = arena_array(w->arena, map->n + 1, sizeof(*params));

	if (map->kind != NODE_MAP) {
		diags_add(d, map->line, map->column, "'%s' must be a map of parameters and their values", what);
		return params;
	}
	for (size_t i = 0; i < map->n; i++) {
		const struct node *key = map->keys[i], *value = map->at[i];

		if (!workload_takes(w, key->text))
			diags_add(d, key->line, key->column, "'%s' is not a parameter of this definition", key->text);
		else if (value->kind != NODE_SCALAR)
			diags_add(d, value->line, value->column, "'%s' takes one value", key->text);
		else
			params[(*ret_n)++] = (struct workload_param){ arena_strdup(w->arena, key->text),
				                                      arena_strdup(w->arena, value->text) };
	}
	return params;
}

/* Each must be a number, a size or a duration, or it could not be held against the plan's. */
static void limits_check(const struct workload *w, const struct node *map, struct diags *d)
{
	double ignored;

	for (size_t i = 0; i < w->n_rehearse_at_most; i++)
		if (quantity_read(w->rehearse_at_most[i].value, &ignored) == QUANTITY_NONE)
			diags_add(d, map->line, map->column,
			          "'at-most' takes numbers, sizes and durations: '%s' is none; use 'set'",
			          w->rehearse_at_most[i].value);
}

void rehearse_read(struct workload *w, const struct node *map, struct diags *d)
{
	static const char *const known[] = { "at-most", "set", NULL };
	const struct node *at_most = node_get(map, "at-most"), *set = node_get(map, "set");

	if (map->kind != NODE_MAP) {
		diags_add(d, map->line, map->column, "'rehearse' must be a map with 'at-most' and 'set'");
		return;
	}
	node_check_keys(map, known, "rehearse", d);
	if (set != NULL)
		w->rehearse_set = values_read(w, set, "set", &w->n_rehearse_set, d);
	if (at_most == NULL)
		return;
	w->rehearse_at_most = values_read(w, at_most, "at-most", &w->n_rehearse_at_most, d);
	limits_check(w, at_most, d);
}
