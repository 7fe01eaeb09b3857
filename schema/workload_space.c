/* SPDX-License-Identifier: MIT
 *
 * How much space a workload's files take, by its definition: `space: [size, streams]` is a product of parameters and
 * quantities.
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

int64_t workload_space(const struct workload *w, const struct expansion *x)
{
	double product = 1, factor;

	if (w->space[0] == NULL)
		return 0;
	for (char **item = w->space; *item != NULL; item++) {
		if (!factor_read(w, x, *item, &factor))
			return 0;
		product *= factor;
	}
	return product > 0 && product < 9e18 ? (int64_t)product : 0;
}

void workload_space_text(const struct workload *w, struct text *ret)
{
	for (char **item = w->space; *item != NULL; item++)
		text_printf(ret, "%s%s", ret->n > 0 ? " x " : "", *item);
}

void workload_space_check(const struct workload *w, const struct node *node, struct diags *d)
{
	const struct expansion none = { .ram_bytes = 1 };
	double ignored;

	for (char **item = w->space; *item != NULL; item++)
		if (!factor_read(w, &none, *item, &ignored))
			diags_add(d, node->line, node->column, "'space' takes parameters, numbers and sizes: '%s' is none of them", *item);
}
