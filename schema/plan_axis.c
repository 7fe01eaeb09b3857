/* SPDX-License-Identifier: MIT
 *
 * The axes of a plan: which row of the table a name stands for, and the values that a scalar or a list gives it.
 * Equal canonical values of one list ("4096sectors" and "2048KiB") are one value that keeps both spellings.
 */
#include <string.h>

#include "schema/base/text.h"
#include "schema/plan_private.h"

#define VALUES_MAX 10000

/* ---- names ---- */

static const struct plan_workload *workload_by_name(const struct plan *p, const char *name, size_t n)
{
	for (size_t i = 0; i < p->n_workloads; i++)
		if (strlen(p->workloads[i].name) == n && strncmp(p->workloads[i].name, name, n) == 0)
			return &p->workloads[i];
	return NULL;
}

/* "dd-read.bs": a parameter of a workload of this plan.  A name may hold dots itself: the longest that fits counts. */
static const struct axis *parameter_axis(struct plan_reader *r, const struct node *key)
{
	const struct plan_workload *w = NULL;
	const char *param = NULL;

	for (const char *dot = strchr(key->text, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
		const struct plan_workload *found = workload_by_name(r->p, key->text, (size_t)(dot - key->text));

		if (found != NULL) {
			w = found;
			param = dot + 1;
		}
	}
	if (w == NULL)
		return NULL;
	if (workload_takes(w->definition, param))
		return &axis_workload;
	PLAN_FAULT(r, key, "the workload '%s' has no parameter '%s' to vary", w->name, param);
	return &axis_workload; /* reported: the rest of the axis is read all the same */
}

/* A directory's disk is not the plan's to change: only what acts on the workload is left. */
static bool target_allows(const struct plan *p, const struct axis *def)
{
	return p->target.kind != TARGET_DIRECTORY || def->step == N_STEPS || def->place == AXIS_VM ||
	       def->place == AXIS_CGROUP;
}

const struct axis *plan_find_axis(struct plan_reader *r, const struct node *key)
{
	const struct axis *def = axis_find(key->text);
	const char *nearest;

	if (def == NULL)
		def = parameter_axis(r, key);
	if (def == NULL) {
		nearest = axis_nearest(key->text);
		if (text_starts(key->text, "label."))
			PLAN_FAULT(r, key, "'%s' is no name of a label: after 'label.' come lower-case letters, digits and '_', as in 'label.hw'",
			           key->text);
		else if (nearest != NULL)
			PLAN_FAULT(r, key, "unknown axis '%s': did you mean '%s%s'?", key->text, nearest,
			           text_ends(nearest, ".") ? "NAME" : "");
		else
			PLAN_FAULT(r, key, "unknown axis '%s': only those that iosweep-plan(5) lists can be set, such as "
			           "filesystem, readahead, scheduler, queue.nr_requests, vm.dirty_ratio", key->text);
		return NULL;
	}
	if (def->not_yet != NULL) {
		PLAN_FAULT(r, key, "'%s' is not to be had yet: %s", key->text, def->not_yet);
		return NULL;
	}
	if (!target_allows(r->p, def)) {
		PLAN_FAULT(r, key, "'%s' needs a device or an image: the disk below a directory is left as it is", key->text);
		return NULL;
	}
	return def;
}

/* ---- values ---- */

static const char *words_join(struct plan_reader *r, char *const *words)
{
	AUTO_TEXT struct text joined = { 0 };

	for (size_t i = 0; words[i] != NULL; i++)
		text_printf(&joined, "%s%s", i > 0 ? " " : "", words[i]);
	return arena_strdup(r->a, text_str(&joined));
}

/* Whether the ${...} of option words can be replaced; the families are checked when the cells are known (matrix.c). */
static int words_value(struct plan_reader *r, const struct node *key, const struct node *node, struct axis_value *ret)
{
	char **expanded;
	struct err e;
	size_t n;

	ret->words = plan_words(r, node, key->text);
	if (ret->words == NULL)
		return -1;
	if (plan_expand(r->p, ret->words, r->a, &expanded, &n, &e) < 0) {
		plan_fault_err(r, node, key->text, &e);
		return -1;
	}
	ret->value = ret->words[0] != NULL ? words_join(r, ret->words) : KERNEL_DEFAULT;
	ret->requested = node->kind == NODE_SCALAR ? node->text : ret->value;
	return 0;
}

static int filesystem_value(struct plan_reader *r, const struct node *node, struct axis_value *ret)
{
	const char *names[64], *nearest;
	size_t n = 0;

	ret->filesystem = plan_find_filesystem(r->p, node->text);
	if (ret->filesystem != NULL) {
		ret->value = ret->filesystem->name;
		return 0;
	}
	for (size_t i = 0; i < r->p->n_filesystems && n < ARRAY_SIZE(names); i++)
		names[n++] = r->p->filesystems[i].name;
	nearest = text_nearest(node->text, names, n);
	if (nearest != NULL)
		PLAN_FAULT(r, node, "unknown filesystem '%s': did you mean '%s'?", node->text, nearest);
	else
		PLAN_FAULT(r, node, "unknown filesystem '%s': write one of ext2 ext3 ext4 xfs btrfs none, or define it under "
		           "'define: filesystem:'", node->text);
	return -1;
}

static int parameter_value(struct plan_reader *r, const struct node *key, const struct node *node)
{
	for (size_t i = 0; i < r->p->n_workloads; i++) {
		const struct plan_workload *w = &r->p->workloads[i];
		size_t n = strlen(w->name);

		if (strncmp(w->name, key->text, n) != 0 || key->text[n] != '.')
			continue;
		for (size_t j = 0; j < w->definition->n_params; j++)
			if (strcmp(w->definition->params[j].name, key->text + n + 1) == 0)
				return plan_check_parameter(r, node, key->text, w->definition->params[j].value);
	}
	return 0;
}

static int scalar_value(struct plan_reader *r, const struct node *key, const struct axis *def, const struct node *node,
                        struct axis_value *ret)
{
	struct err e;

	if (plan_scalar(r, node, key->text, "a value or a list of values") == NULL)
		return -1;
	ret->requested = node->text;
	if (def->kind == AXIS_FILESYSTEM)
		return filesystem_value(r, node, ret);
	if (def == &axis_workload && parameter_value(r, key, node) < 0)
		return -1;
	if (axis_canonical(def, node->text, r->a, &ret->value, &e) < 0) {
		plan_fault_err(r, node, key->text, &e);
		return -1;
	}
	return 0;
}

static int value_read(struct plan_reader *r, const struct node *key, const struct axis *def, const struct node *node,
                      struct axis_value *ret)
{
	*ret = (struct axis_value){ .line = node->line, .column = node->column };
	if (def->kind == AXIS_WORDS)
		return words_value(r, key, node, ret);
	return scalar_value(r, key, def, node, ret);
}

/* Open addressing over the canonical values, so that a list of 100,000 values is read in no time. */
static size_t value_slot(const size_t *slots, size_t n_slots, const struct axis_value *values, const char *value)
{
	uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

	for (const char *c = value; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
	for (size_t i = hash % n_slots;; i = (i + 1) % n_slots)
		if (slots[i] == 0 || strcmp(values[slots[i] - 1].value, value) == 0)
			return i;
}

/* The same spelling twice is a slip; another spelling of the same value is kept with it. */
static void value_again(struct plan_reader *r, const struct node *key, const struct node *node,
                        struct axis_value *first, const struct axis_value *again)
{
	if (strcmp(first->requested, again->requested) == 0)
		PLAN_FAULT(r, node, "%s: '%s' stands here a second time", key->text, again->requested);
	else
		first->requested = arena_printf(r->a, "%s, %s", first->requested, again->requested);
}

static int list_read(struct plan_reader *r, const struct node *key, const struct node *list, struct plan_axis *ret)
{
	size_t n_slots = 2 * list->n + 1;
	AUTO_FREE size_t *slots = xcalloc(n_slots, sizeof(*slots)); /* index + 1 into values; 0: free */
	int rc = 0;

	ret->values = arena_array(r->a, list->n, sizeof(*ret->values));
	for (size_t i = 0; i < list->n; i++) {
		struct axis_value *value = &ret->values[ret->n];
		size_t slot;

		if (value_read(r, key, ret->def, list->at[i], value) < 0) {
			rc = -1;
			continue;
		}
		slot = value_slot(slots, n_slots, ret->values, value->value);
		if (slots[slot] != 0)
			value_again(r, key, list->at[i], &ret->values[slots[slot] - 1], value);
		else
			slots[slot] = ++ret->n;
	}
	return rc;
}

int plan_axis_values(struct plan_reader *r, const struct node *key, const struct node *node, bool is_single,
                     struct plan_axis *ret)
{
	if (node->kind == NODE_LIST && node->n == 0) {
		PLAN_FAULT(r, node, "'%s' has an empty list: name a value, or leave the axis out", key->text);
		return -1;
	}
	if (node->kind == NODE_LIST && node->n > VALUES_MAX) {
		PLAN_FAULT(r, node, "'%s' has more than %d values", key->text, VALUES_MAX);
		return -1;
	}
	if (node->kind == NODE_LIST && !is_single)
		return list_read(r, key, node, ret);
	ret->values = arena_array(r->a, 1, sizeof(*ret->values));
	ret->n = 1;
	return value_read(r, key, ret->def, node, ret->values);
}
