/* SPDX-License-Identifier: MIT
 *
 * Whether the argument lists of a plan's workloads can be made: each is made once with the plan's parameters, and once
 * more for every value of an axis WORKLOAD.PARAM.  What would fail in the first trial of the night fails here.
 */
#include <string.h>

#include "schema/plan_private.h"

/* Any memory will do: sizes relative to it are rounded, and no fault depends on it. */
#define SOME_RAM (INT64_C(1) << 30)

struct place {
	int line, column;
};

static int steps_expand(const struct workload *definition, const struct expansion *x, struct err *e)
{
	for (int phase = 0; phase < N_PHASES; phase++) {
		for (size_t i = 0; i < definition->n_steps[phase]; i++) {
			const struct workload_step *step = &definition->steps[phase][i];
			AUTO_ARENA struct arena *a = arena_new();
			bool is_wanted;
			char **argv;
			int copies;

			if (workload_step_wanted(step, x, &is_wanted, e) < 0 ||
			    workload_copies(step, x, &copies, e) < 0 ||
			    (is_wanted && workload_expand(step, x, a, &argv, e) < 0))
				return err_in(e, "%s", phase_name((enum workload_phase)phase));
		}
	}
	return 0;
}

static void workload_check(struct plan_reader *r, const struct plan_workload *w, const struct workload_param *params,
                           size_t n, struct place at)
{
	const struct expansion x = { .dir = "/", .ram_bytes = SOME_RAM, .copy = 1, .copies = 1, .repetition = 1, .params = params,
		                     .n_params = n, .device = r->p->target.kind == TARGET_DIRECTORY ? NULL : "/dev/target" };
	struct err e;

	/* A directory has no ${device}: the cell is infeasible, which is no fault of the plan. */
	if (steps_expand(w->definition, &x, &e) < 0 && e.kind != ERR_INFEASIBLE)
		diags_add(r->d, at.line, at.column, "%s: %s", w->name, e.text);
}

/* KERNEL_DEFAULT leaves the plan's own value, as in the worker. */
static void param_put(struct workload_param *params, size_t *n, const char *name, const char *value)
{
	size_t i = 0;

	if (strcmp(value, KERNEL_DEFAULT) == 0)
		return;
	while (i < *n && strcmp(params[i].name, name) != 0)
		i++;
	params[i] = (struct workload_param){ .name = name, .value = value };
	*n += i == *n;
}

/* The axes of all blocks that vary a parameter of the workload. */
static const struct plan_axis **axes_of(struct plan_reader *r, const struct plan_workload *w, size_t *ret_n)
{
	const struct plan_axis **axes;
	size_t n = 0;

	for (size_t i = 0; i < r->p->n_blocks; i++)
		n += r->p->blocks[i].n;
	axes = arena_array(r->a, n + 1, sizeof(*axes));
	n = 0;
	for (size_t i = 0; i < r->p->n_blocks; i++) {
		for (size_t j = 0; j < r->p->blocks[i].n; j++) {
			const struct plan_axis *axis = &r->p->blocks[i].axes[j];

			if (axis_parameter(axis->def, axis->name, w->name) != NULL && axis->n > 0)
				axes[n++] = axis;
		}
	}
	*ret_n = n;
	return axes;
}

static void workload_values_check(struct plan_reader *r, const struct plan_workload *w)
{
	size_t n_axes, n = w->n_params;
	const struct plan_axis **axes = axes_of(r, w, &n_axes);
	struct workload_param *params = arena_array(r->a, n + n_axes + 1, sizeof(*params));

	for (size_t i = 0; i < n; i++)
		params[i] = w->params[i];
	/* No cell sees the plan's own value of a parameter that is varied. */
	for (size_t i = 0; i < n_axes; i++)
		param_put(params, &n, axis_parameter(axes[i]->def, axes[i]->name, w->name), axes[i]->values[0].value);
	if (n_axes == 0)
		workload_check(r, w, params, n, (struct place){ w->line, w->column });
	for (size_t i = 0; i < n_axes; i++) {
		const char *name = axis_parameter(axes[i]->def, axes[i]->name, w->name);

		for (size_t k = 0; k < axes[i]->n; k++) {
			const struct axis_value *value = &axes[i]->values[k];

			param_put(params, &n, name, value->value);
			workload_check(r, w, params, n, (struct place){ value->line, value->column });
		}
		param_put(params, &n, name, axes[i]->values[0].value);
	}
}

void plan_check_expansion(struct plan_reader *r)
{
	for (size_t i = 0; i < r->p->n_workloads; i++)
		workload_values_check(r, &r->p->workloads[i]);
}
