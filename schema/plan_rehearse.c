/* SPDX-License-Identifier: MIT
 *
 * `rehearse:` of a plan, and a plan turned into its rehearsal: the same cells and tools, an image in
 * place of a device, small sizes and one trial.  What is small for a tool stands in its definition
 * (workload_rehearse.c); a plan may say otherwise for one of its workloads.
 */
#include <string.h>

#include "schema/plan_private.h"

#define IMAGE_BYTES (INT64_C(2) << 30) /* sparse; mkfs.xfs with the stripe of 24 disks takes 1 GiB at the least */
/* Small files are to be larger than what can be cached of them, or bonnie++ and the like are too fast to give a
 * figure. */
#define MEMORY_BYTES (INT64_C(128) << 20)
#define SETTLE_NS   (2 * INT64_C(1000000000))

static struct plan_workload *workload_find(struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_workloads; i++)
		if (strcmp(p->workloads[i].name, name) == 0)
			return &p->workloads[i];
	return NULL;
}

static void workload_values_read(struct plan_reader *r, const struct node *key, const struct node *map)
{
	struct plan_workload *w = workload_find(r->p, key->text);

	if (w == NULL || map->kind != NODE_MAP) {
		PLAN_FAULT(r, w == NULL ? key : map, w == NULL ? "rehearse: the plan has no workload called '%s'" :
		           "rehearse: '%s' takes a map of parameters", key->text);
		return;
	}
	w->rehearse = arena_array(r->a, map->n, sizeof(*w->rehearse));
	for (size_t i = 0; i < map->n; i++) {
		const char *name = map->keys[i]->text;

		if (!workload_takes(w->definition, name))
			PLAN_FAULT(r, map->keys[i], "rehearse: the workload '%s' has no parameter '%s'", w->definition->name, name);
		else if (map->at[i]->kind != NODE_SCALAR)
			PLAN_FAULT(r, map->at[i], "rehearse: '%s' takes one value", name);
		else
			w->rehearse[w->n_rehearse++] = (struct workload_param){ name, map->at[i]->text };
	}
}

void plan_read_rehearse(struct plan_reader *r, const struct node *node)
{
	static const char *const known[] = { "image", "trials", "workloads", NULL };
	const struct node *image = node_get(node, "image"), *trials = node_get(node, "trials");
	const struct node *workloads = node_get(node, "workloads");

	if (node->kind != NODE_MAP) {
		PLAN_FAULT(r, node, "'rehearse' takes a map with 'image', 'trials' and 'workloads', not %s", node_kind_name(node));
		return;
	}
	node_check_keys(node, known, "rehearse", r->d);
	if (image != NULL)
		plan_image_size(r, image, &r->p->rehearse_image_bytes);
	if (trials != NULL)
		plan_trials(r, trials, &r->p->rehearse_trials);
	if (workloads != NULL && workloads->kind != NODE_MAP)
		PLAN_FAULT(r, workloads, "rehearse: 'workloads' takes a map of the plan's workloads");
	for (size_t i = 0; workloads != NULL && workloads->kind == NODE_MAP && i < workloads->n; i++)
		workload_values_read(r, workloads->keys[i], workloads->at[i]);
}

const char *plan_rehearsed(const struct plan_workload *w, const char *name, const char *value)
{
	for (size_t i = 0; i < w->n_rehearse; i++)
		if (strcmp(w->rehearse[i].name, name) == 0)
			return w->rehearse[i].value;
	return workload_rehearsed(w->definition, name, value);
}

/* A parameter that only the rehearsal gives (fio's options) is added to those that the plan gave. */
static void workload_rehearse(struct plan *p, struct plan_workload *w)
{
	struct workload_param *params = arena_array(p->arena, w->n_params + w->n_rehearse, sizeof(*params));
	size_t n = w->n_params;

	for (size_t i = 0; i < w->n_params; i++)
		params[i] = (struct workload_param){ w->params[i].name, plan_rehearsed(w, w->params[i].name, w->params[i].value) };
	for (size_t i = 0; i < w->n_rehearse; i++) {
		bool is_there = false;

		for (size_t k = 0; k < w->n_params; k++)
			is_there = is_there || strcmp(w->params[k].name, w->rehearse[i].name) == 0;
		if (!is_there)
			params[n++] = w->rehearse[i];
	}
	w->params = params;
	w->n_params = n;
}

void plan_rehearse(struct plan *p)
{
	p->is_rehearsal = true;
	/* A plan for a directory names no filesystem to make on an image, and nothing is lost by staying there. */
	if (p->target.kind != TARGET_DIRECTORY)
		p->target = (struct target){
			.kind = TARGET_IMAGE, .name = "", .direct = true,
			.image_bytes = p->rehearse_image_bytes > 0 ? p->rehearse_image_bytes : IMAGE_BYTES,
		};
	p->memory_max_bytes = MEMORY_BYTES;
	p->trials = p->rehearse_trials > 0 ? p->rehearse_trials : 1;
	if (p->settle_ns > SETTLE_NS)
		p->settle_ns = SETTLE_NS;
	for (size_t i = 0; i < p->n_workloads; i++)
		workload_rehearse(p, &p->workloads[i]);
}

void plan_workload_digest(const struct plan *p, const struct plan_workload *w, uint8_t ret[32])
{
	AUTO_FREE struct workload_param *marked = xcalloc(w->n_params + 1, sizeof(*marked));

	if (w->n_params > 0)
		memcpy(marked, w->params, w->n_params * sizeof(*marked));
	/* A blank is in no parameter's name.  The plan's name keeps two apart that differ in size alone. */
	marked[w->n_params] = (struct workload_param){ "in rehearsal", w->name };
	workload_digest(w->definition, marked, w->n_params + (p->is_rehearsal ? 1 : 0), ret);
}
