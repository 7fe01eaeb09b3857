/* SPDX-License-Identifier: MIT
 *
 * The workloads of a plan: which definition, under which name, with which parameters.  What a definition is and does is
 * workload.c's.
 */
#include <string.h>

#include "schema/base/text.h"
#include "schema/plan_private.h"

#define WORKLOADS_MAX 1000

static bool is_bare(const char *value)
{
	return strcmp(value, "0") != 0 && strspn(value, "0123456789.") == strlen(value);
}

int plan_check_parameter(struct plan_reader *r, const struct node *node, const char *name, const char *standard)
{
	const int64_t some_ram = INT64_C(1) << 30;
	int64_t bytes;
	struct err e;

	if (is_bare(standard) || workload_size(standard, some_ram, &bytes, NULL) < 0 ||
	    strstr(node->text, "${") != NULL)
		return 0;
	if ((is_bare(node->text) ? size_parse(node->text, 0, &bytes, &e) :
	                           workload_size(node->text, some_ram, &bytes, &e)) == 0)
		return 0;
	plan_fault_err(r, node, name, &e);
	return -1;
}

static void parameter_unknown(struct plan_reader *r, const struct node *key, const struct workload *w)
{
	const char **names = arena_array(r->a, w->n_params + 1, sizeof(*names)), *nearest;
	AUTO_TEXT struct text list = { 0 };

	for (size_t i = 0; i < w->n_params; i++) {
		names[i] = w->params[i].name;
		text_printf(&list, " %s", names[i]);
	}
	nearest = text_nearest(key->text, names, w->n_params);
	if (nearest != NULL)
		PLAN_FAULT(r, key, "the workload '%s' has no parameter '%s': did you mean '%s'?", w->name, key->text, nearest);
	else
		PLAN_FAULT(r, key, "the workload '%s' has no parameter '%s': it has%s", w->name, key->text,
		           list.n > 0 ? text_str(&list) : " none");
}

/* Keys beside the parameters: under which name, and in which cells. */
static bool is_about_cells(const char *key)
{
	return strcmp(key, "as") == 0 || strcmp(key, "only") == 0;
}

/* The parameters: all of the definition's with the plan's values in, then those that it does not name. */
static void parameters_read(struct plan_reader *r, const struct node *body, struct plan_workload *w)
{
	const struct workload *definition = w->definition;
	size_t n_given = body != NULL ? body->n : 0;

	w->params = arena_array(r->a, definition->n_params + n_given + 1, sizeof(*w->params));
	w->n_params = definition->n_params;
	for (size_t i = 0; i < w->n_params; i++)
		w->params[i] = definition->params[i];
	for (size_t i = 0; i < n_given; i++) {
		const struct node *key = body->keys[i], *value = body->at[i];
		size_t at = 0;

		if (is_about_cells(key->text))
			continue;
		if (value->kind != NODE_SCALAR) {
			PLAN_FAULT(r, value, "a parameter is a text or number, not %s: to sweep it, write '%s.%s: [...]' in the matrix",
			           node_kind_name(value), w->name, key->text);
			continue;
		}
		while (at < definition->n_params && strcmp(definition->params[at].name, key->text) != 0)
			at++;
		if (at < definition->n_params) {
			plan_check_parameter(r, value, key->text, definition->params[at].value);
			w->params[at].value = value->text;
		} else if (workload_takes(definition, key->text)) {
			w->params[w->n_params++] = (struct workload_param){ .name = key->text, .value = value->text };
		} else {
			parameter_unknown(r, key, definition);
		}
	}
}

/* `command`: the definition itself stands in the plan. */
static const struct workload *command_read(struct plan_reader *r, const struct node *body)
{
	struct node *rest = arena_alloc(r->a, sizeof(*rest)); /* without as: and only:, which are the plan's */
	struct workload *definition;

	*rest = *body;
	rest->keys = arena_array(r->a, body->n + 1, sizeof(struct node *));
	rest->at = arena_array(r->a, body->n + 1, sizeof(struct node *));
	rest->n = 0;
	for (size_t i = 0; i < body->n; i++) {
		if (is_about_cells(body->keys[i]->text))
			continue;
		rest->keys[rest->n] = body->keys[i];
		rest->at[rest->n++] = body->at[i];
	}
	if (workload_from_plan(rest, r->data, r->n_data, r->d, &definition) < 0)
		return NULL;
	r->p->own = xreallocarray(r->p->own, r->p->n_own + 1, sizeof(struct workload *));
	r->p->own[r->p->n_own++] = definition;
	return definition;
}

static void definition_unknown(struct plan_reader *r, const struct node *key)
{
	size_t n = r->registry != NULL ? registry_count(r->registry) : 0;
	const char **names = arena_array(r->a, n + 2, sizeof(*names)), *nearest;
	AUTO_TEXT struct text list = { 0 };

	names[n] = "command";
	for (size_t i = 0; i < n; i++)
		names[i] = registry_at(r->registry, i)->name;
	for (size_t i = 0; i <= n; i++)
		text_printf(&list, " %s", names[i]);
	nearest = text_nearest(key->text, names, n + 1);
	if (nearest != NULL)
		PLAN_FAULT(r, key, "no workload '%s' is defined: did you mean '%s'?", key->text, nearest);
	else
		PLAN_FAULT(r, key, "no workload '%s' is defined: there are%s", key->text, text_str(&list));
}

static bool name_is_free(struct plan_reader *r, const struct node *where, const char *name)
{
	static const char *const families[] = { "queue", "iosched", "md", "vm", "label", "layout" };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		if (strcmp(families[i], name) == 0) {
			PLAN_FAULT(r, where, "'%s' cannot be a workload's name: axes are called '%s.X'", name, name);
			return false;
		}
	}
	for (size_t i = 0; i < r->p->n_workloads; i++) {
		if (strcmp(r->p->workloads[i].name, name) == 0) {
			PLAN_FAULT(r, where, "a second workload is called '%s' (the first in line %d): give it a name of its own with 'as:'",
			           name, r->p->workloads[i].line);
			return false;
		}
	}
	return true;
}

/* key: the definition's name; body: NULL, or the map of parameters. */
static void workload_entry_read(struct plan_reader *r, const struct node *key, const struct node *body)
{
	const struct node *as = body != NULL ? node_get(body, "as") : NULL;
	struct plan_workload w = { .line = key->line, .column = key->column };

	w.only_node = body != NULL ? node_get(body, "only") : NULL;
	w.name = as != NULL ? plan_name(r, as, "as") : plan_name(r, key, "workloads");
	if (strcmp(key->text, "command") == 0 && body != NULL) {
		w.definition = command_read(r, body);
		body = NULL;
	} else if (strcmp(key->text, "command") == 0) {
		PLAN_FAULT(r, key, "'command' needs the command: add 'run: [PROGRAM, WORD, ...]' and 'metrics:' below it");
	} else {
		w.definition = r->registry != NULL ? registry_find(r->registry, key->text) : NULL;
		if (w.definition == NULL)
			definition_unknown(r, key);
	}
	if (w.definition == NULL || w.name == NULL || !name_is_free(r, as != NULL ? as : key, w.name))
		return;
	parameters_read(r, body, &w);
	r->p->workloads[r->p->n_workloads++] = w;
}

void plan_read_workloads(struct plan_reader *r, const struct node *node)
{
	if (node->kind != NODE_LIST || node->n == 0) {
		PLAN_FAULT(r, node, "'workloads' takes a list with at least one workload, such as [dd-write, dd-read]");
		return;
	}
	if (node->n > WORKLOADS_MAX) {
		PLAN_FAULT(r, node, "more than %d workloads", WORKLOADS_MAX);
		return;
	}
	r->p->workloads = arena_array(r->a, node->n, sizeof(*r->p->workloads));
	for (size_t i = 0; i < node->n; i++) {
		const struct node *item = node->at[i];

		if (item->kind == NODE_SCALAR && item->text[0] != '\0')
			workload_entry_read(r, item, NULL);
		else if (item->kind == NODE_MAP && item->n == 1 && item->at[0]->kind == NODE_MAP)
			workload_entry_read(r, item->keys[0], item->at[0]);
		else if (item->kind == NODE_MAP && item->n == 1 && item->at[0]->kind == NODE_SCALAR &&
		         item->at[0]->text[0] == '\0')
			workload_entry_read(r, item->keys[0], NULL);
		else
			PLAN_FAULT(r, item, "a workload is a name, or a name with its parameters: '- dd-read: {size: 4GiB}'");
	}
}
