/* SPDX-License-Identifier: MIT
 *
 * How much space a workload's files take, by its definition: `space: [size, streams]` is a product of parameters and
 * quantities.  Of several products, each with conditions, the first that holds counts.
 */
#include <string.h>

#include "schema/workload_read.h"

static const char *param_value(const struct expansion *x, const char *name)
{
	for (size_t i = 0; i < x->n_params; i++)
		if (strcmp(x->params[i].name, name) == 0)
			return x->params[i].value;
	return NULL;
}

/* A factor; 1 for a parameter that is empty or was not given.  False if it is no quantity. */
static bool factor_read(const struct workload *w, const struct expansion *x, const char *item, double *ret)
{
	const char *value = param_value(x, item);
	AUTO_ARENA struct arena *a = arena_new();
	int64_t bytes;

	*ret = 1;
	if (value != NULL && workload_expand_text(value, x, a, &value, NULL) < 0)
		return false;
	if (value != NULL ? value[0] == '\0' : workload_takes(w, item))
		return true;
	value = value != NULL ? value : item;
	if (number_parse(value, ret) == 0)
		return true;
	if (workload_size(value, x->ram_bytes, &bytes, NULL) < 0)
		return false;
	*ret = (double)bytes;
	return true;
}

/* "if NAME" and "unless NAME"; the name, or NULL. */
static const char *condition_name(const char *item, bool *ret_if)
{
	*ret_if = text_starts(item, "if ");
	return *ret_if ? item + 3 : text_starts(item, "unless ") ? item + 7 : NULL;
}

static bool conditions_hold(char *const *product, const struct expansion *x)
{
	for (; *product != NULL; product++) {
		bool is_if;
		const char *name = condition_name(*product, &is_if);

		if (name != NULL && workload_param_is_set(x, name) != is_if)
			return false;
	}
	return true;
}

static int64_t product_bytes(const struct workload *w, char *const *product, const struct expansion *x,
                             struct text *ret_factors)
{
	double bytes = 1, factor;
	bool is_if;

	for (; *product != NULL; product++) {
		if (condition_name(*product, &is_if) != NULL)
			continue;
		if (!factor_read(w, x, *product, &factor))
			return 0;
		bytes *= factor;
		text_printf(ret_factors, "%s%s", ret_factors->n > 0 ? " x " : "", *product);
	}
	return bytes > 0 && bytes < 9e18 ? (int64_t)bytes : 0;
}

int64_t workload_space(const struct workload *w, const struct expansion *x, struct text *ret_factors)
{
	for (char ***product = w->space; *product != NULL; product++)
		if (conditions_hold(*product, x))
			return product_bytes(w, *product, x, ret_factors);
	return 0;
}

static void item_check(const struct workload *w, const char *item, const struct node *node, struct diags *d)
{
	const struct expansion none = { .ram_bytes = 1 };
	const char *name;
	double ignored;
	bool is_if;

	name = condition_name(item, &is_if);
	if (name != NULL && !workload_takes(w, name))
		diags_add(d, node->line, node->column, "'space': '%s' names no parameter", item);
	else if (name == NULL && !factor_read(w, &none, item, &ignored))
		diags_add(d, node->line, node->column,
		          "'space' takes parameters, numbers and sizes: '%s' is none of them", item);
}

void workload_space_check(const struct workload *w, const struct node *node, struct diags *d)
{
	for (char ***product = w->space; *product != NULL; product++)
		for (char **item = *product; *item != NULL; item++)
			item_check(w, *item, node, d);
}
